"""A person at the page: a real Chromium or Firefox without a window, and a daemon that serves the page."""

from __future__ import annotations

import json
import os
import re
import shutil
import urllib.request
import wave
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.wait import WebDriverWait

from edgevox.testing.serve import edgevox_serve, free_port
from tests.cli.command import home_environment
from tests.server.web.firefox import MarionetteConnection, running_firefox

BOUND_S = 120.0  # a daemon with three engines starts meanwhile, perhaps on a busy machine
TOKEN = "edgevox-token-of-the-visitor"
DESKTOP, PHONE = (1280, 860), (390, 844)
VIEWS = ("talk", "home", "plans", "timing", "tools", "system")
_LOOK_EVERY_S = 0.1
_BEFORE_S, _BEHIND_S = 1, 10
_NONE: Mapping[str, str] = {}
_LOADED = """
    const parts = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
    const ours = parts.filter(({ name }) => name.endsWith("/") || name.includes("/page/"));
    const files = [...new Map(ours.map((one) => [one.name, one])).values()]; // some are loaded again to be kept
    const sum = (size) => files.reduce((total, one) => total + one[size], 0);
    return [sum("encodedBodySize"), sum("decodedBodySize"), files.length];
"""
_PAINTED = "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0"
_SPEECH = {"model": "default", "voice": "default", "response_format": "wav"}


class ServedAssistant:
    """`edgevox serve`, or another command that serves, with the real engines; it can be ended and started again."""

    def __init__(self, home: Path, command: Sequence[str] = ("serve",), variables: Mapping[str, str] = _NONE) -> None:
        self.home = home
        self.port = free_port()  # the same after another start
        self.lines: list[str] = []
        self._command = command
        self._variables = variables
        self._running = ExitStack()
        tokens = home / "config" / "server_tokens.toml"
        tokens.parent.mkdir(parents=True)
        tokens.touch(0o600)
        tokens.write_text(f'[owner]\ntoken = "{TOKEN}"\nscopes = ["*"]\n')

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        return home_environment(self.home, EDGEVOX_SERVER__PORT=str(self.port), **self._variables)

    def start(self) -> None:
        self.lines = self._running.enter_context(edgevox_serve(self.environment, command=self._command)).lines

    def end(self) -> None:
        self._running.close()

    def speak(self, text: str, path: Path) -> None:
        """Have its voice say something into a file, with silence around it."""
        request = urllib.request.Request(
            f"{self.url}/v1/audio/speech",
            data=json.dumps({**_SPEECH, "input": text}).encode(),
            headers={"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=BOUND_S) as response:
            path.write_bytes(response.read())
        with wave.open(str(path)) as said:
            rate_hz, spoken = said.getframerate(), said.readframes(said.getnframes())
        with wave.open(str(path), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(rate_hz)
            file.writeframes(bytes(2 * rate_hz * _BEFORE_S) + spoken + bytes(2 * rate_hz * _BEHIND_S))


class BrowserPage:
    """Looks at the page, and waits for what must come."""

    def __init__(self, browser: webdriver.Remote) -> None:
        self.browser = browser
        self.bound_s = BOUND_S
        browser.set_script_timeout(BOUND_S)

    def open(self, url: str) -> None:
        self.browser.get(url)

    def one(self, selector: str) -> WebElement:
        found: WebElement = self.until(lambda: next(iter(self.browser.find_elements(By.CSS_SELECTOR, selector)), None))
        return found

    def text(self, selector: str) -> str:
        """What stands there, also where it is out of view; "" where nothing is.

        In one step: the page may draw a part of itself anew between two.
        """
        script = "return [...document.querySelectorAll(arguments[0])].at(-1)?.textContent ?? ''"
        return str(self.browser.execute_script(script, selector))

    def until(self, has_come: Callable[[], Any]) -> Any:
        """What `has_come` says once it says something; a test that waits in vain shows the page."""
        try:
            waiting = WebDriverWait(self.browser, self.bound_s, poll_frequency=_LOOK_EVERY_S)
            return waiting.until(lambda _browser: has_come())
        except TimeoutException:
            pytest.fail(f"it has not come to the page: {' '.join(self.text('main').split())[:2000]}")

    def until_connected(self) -> None:
        self.until(lambda: self.text("#connection-words") == "Connected")

    def ask(self, text: str) -> WebElement:
        """Type it, and wait until it has been answered; the turn."""
        before = len(self.turns())
        self.one("#words").send_keys(text + Keys.ENTER)
        return self.answered(before)

    def answered(self, before: int) -> WebElement:
        self.until(lambda: len(self.turns()) > before)
        turn = self.turns()[before]
        self.until(lambda: turn.get_attribute("data-outcome"))
        return turn

    def turns(self) -> list[WebElement]:
        return self.browser.find_elements(By.CSS_SELECTOR, "#turn-list > .turn")

    def state_of(self, thing: str) -> str:
        script = "return document.querySelector(`[data-thing=\"${arguments[0]}\"]`)?.dataset.state ?? ''"
        return str(self.browser.execute_script(script, thing))

    def played_s(self) -> float:
        """How much sound the page says that it has played."""
        found = re.search(r"played here([\d.]+) s", self.text("#facts"))
        return float(found[1]) if found else 0.0

    def does(self, script: str, *given: object) -> Any:
        """What an asynchronous function with this body returns."""
        return self.browser.execute_async_script(
            f"const [...given] = arguments; const done = given.pop(); (async () => {{ {script} }})()"
            ".then(done, (error) => done(`failed: ${error}`));",
            *given,
        )

    def press(self, key: str) -> None:
        """Press a key, or type a text, where the focus is; a leading Shift is held.

        As key actions, not to the active element: the page may draw that anew between two steps.
        """
        actions, is_shifted = ActionChains(self.browser), key.startswith(Keys.SHIFT)
        if is_shifted:
            actions.key_down(Keys.SHIFT)
        actions.send_keys(key.removeprefix(Keys.SHIFT))
        if is_shifted:
            actions.key_up(Keys.SHIFT)
        actions.perform()

    def size(self, width: int, height: int, *, is_phone: bool = False, scale: float = 1) -> None:
        raise NotImplementedError

    def colours(self, scheme: str) -> None:
        raise NotImplementedError

    def complaints(self) -> list[str]:
        """What the browser has said against the page."""
        raise NotImplementedError


class Chromium(BrowserPage):
    """One with Chromium."""

    browser: webdriver.Chrome

    def command(self, name: str, **given: object) -> Any:
        """One of Chromium's own commands."""
        return self.browser.execute_cdp_cmd(name, given)

    def size(self, width: int, height: int, *, is_phone: bool = False, scale: float = 1) -> None:
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=is_phone
        )

    def colours(self, scheme: str) -> None:
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def language(self, tag: str) -> None:
        """The browser's language, from the next page on."""
        agent = self.browser.execute_script("return navigator.userAgent")
        self.command("Emulation.setUserAgentOverride", userAgent=agent, acceptLanguage=tag)

    def paint_ms(self, url: str) -> float:
        """Open an address; when it painted something first, after the navigation began."""
        self.open("about:blank")
        self.open(url)
        return float(self.until(lambda: self.does(_PAINTED)))

    def loaded(self) -> tuple[int, int, int]:
        """Bytes of the page's files that were loaded, as they were sent and uncompressed, and the number of files."""
        sent, whole, files = self.does(_LOADED)
        return sent, whole, files

    def complaints(self) -> list[str]:
        entries: list[dict[str, Any]] = self.browser.get_log("browser")  # type: ignore[no-untyped-call]  # it has no types
        return [str(entry["message"]) for entry in entries]


class Firefox(BrowserPage):
    """One with Firefox, which has no phone to imitate: a small page is all."""

    def __init__(self, browser: webdriver.Remote, marionette: MarionetteConnection) -> None:
        super().__init__(browser)
        self._marionette = marionette

    def size(self, width: int, height: int, *, is_phone: bool = False, scale: float = 1) -> None:
        lengths = {"width": width, "height": height}
        style = {f"{limit}{side}": f"{px}px" for side, px in lengths.items() for limit in ("", "min-", "max-")}
        self._marionette.privileged(
            "for (const [name, value] of Object.entries(arguments[0]))"
            " gBrowser.selectedBrowser.style.setProperty(name, value);",
            style,
        )
        self.until(lambda: self.browser.execute_script("return innerWidth") == width)

    def colours(self, scheme: str) -> None:
        script = "gBrowser.selectedBrowser.browsingContext.prefersColorSchemeOverride = arguments[0];"
        self._marionette.privileged(script, scheme)

    def complaints(self) -> list[str]:
        said: list[str] = self._marionette.privileged(
            "return Services.console.getMessageArray().map(({ message }) => message)"
            ".filter((message) => message.includes('/page/'))"
        )
        return said


@contextmanager
def open_browser(microphone: Path | None, profile: Path, variables: Mapping[str, str] = _NONE) -> Iterator[Chromium]:
    """A Chromium whose microphone hears that file, again and again; else it has the machine's devices."""
    heard = () if microphone is None else (f"--use-file-for-fake-audio-capture={microphone}",)
    options = webdriver.ChromeOptions()
    options.binary_location = _program("chromium")
    for flag in (
        "--headless=new",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--window-size=1280,860",
        f"--user-data-dir={profile}",
        "--use-fake-ui-for-media-stream",
        *(("--use-fake-device-for-media-stream", *heard) if heard else ()),
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
    ):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    service = Service(_program("chromedriver"), env=dict(os.environ) | dict(variables))
    browser = webdriver.Chrome(options=options, service=service)
    try:
        yield Chromium(browser)
    finally:
        browser.quit()


@contextmanager
def visiting_with_firefox(profile: Path) -> Iterator[Firefox]:
    with running_firefox(profile) as (browser, marionette):
        yield Firefox(browser, marionette)


STRUCTURE: Mapping[str, Any] = {"rules": {"color-contrast": {"enabled": False}}}


def axe(visitor: BrowserPage, rules: Mapping[str, Any]) -> list[Any]:
    """The faults of what is in view. The driver evaluates axe-core, past the page's policy."""
    if not visitor.browser.execute_script("return 'axe' in window"):
        visitor.browser.execute_script(files("axe_core_python").joinpath("axe.min.js").read_text(encoding="utf-8"))
    options = {"resultTypes": ["violations"], "iframes": False, "preload": False, **rules}
    found = visitor.does("return (await axe.run(given[0])).violations", options)
    return [(fault["id"], [node["html"] for node in fault["nodes"]]) for fault in found]


def _program(name: str) -> str:
    path = shutil.which(name)
    if path is None:
        pytest.fail(f"{name} is missing: script/setup --dev installs it")
    return path

"""Debian's Firefox, driven by Selenium without geckodriver, which Debian does not package.

geckodriver translates the HTTP requests of WebDriver into commands of Marionette, the remote control inside Firefox;
here Selenium's commands go to Marionette directly. Each message is a JSON array with its length before it.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.common.options import ArgOptions
from selenium.webdriver.remote.client_config import ClientConfig
from selenium.webdriver.remote.command import Command
from selenium.webdriver.remote.errorhandler import ErrorHandler
from selenium.webdriver.remote.remote_connection import RemoteConnection

from edgevox.testing.virtual_audio import NullSinks

START_S = 60.0
COMMAND_S = 180.0
_COMMANDS = {
    Command.NEW_SESSION: "WebDriver:NewSession",
    Command.QUIT: "WebDriver:DeleteSession",
    Command.SET_TIMEOUTS: "WebDriver:SetTimeouts",
    Command.GET: "WebDriver:Navigate",
    Command.GET_CURRENT_URL: "WebDriver:GetCurrentURL",
    Command.FIND_ELEMENT: "WebDriver:FindElement",
    Command.FIND_ELEMENTS: "WebDriver:FindElements",
    Command.FIND_CHILD_ELEMENT: "WebDriver:FindElement",
    Command.FIND_CHILD_ELEMENTS: "WebDriver:FindElements",
    Command.CLICK_ELEMENT: "WebDriver:ElementClick",
    Command.CLEAR_ELEMENT: "WebDriver:ElementClear",
    Command.SEND_KEYS_TO_ELEMENT: "WebDriver:ElementSendKeys",
    Command.GET_ELEMENT_TEXT: "WebDriver:GetElementText",
    Command.W3C_GET_ACTIVE_ELEMENT: "WebDriver:GetActiveElement",
    Command.W3C_EXECUTE_SCRIPT: "WebDriver:ExecuteScript",
    Command.W3C_EXECUTE_SCRIPT_ASYNC: "WebDriver:ExecuteAsyncScript",
    Command.W3C_ACTIONS: "WebDriver:PerformActions",
    Command.SCREENSHOT: "WebDriver:TakeScreenshot",
}
# Whatever a new profile does by itself is off; a page may play sound, and gets a microphone, without a person.
_PREFERENCES: Mapping[str, bool | int | str] = {
    "marionette.port": 0,
    "app.normandy.enabled": False,
    "app.update.disabledForTesting": True,
    "browser.aboutwelcome.enabled": False,
    "browser.newtabpage.enabled": False,
    "browser.safebrowsing.update.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "browser.startup.homepage": "about:blank",
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "extensions.getAddons.cache.enabled": False,
    "intl.accept_languages": "en-US",
    "media.autoplay.blocking_policy": 0,
    "media.autoplay.default": 0,
    "media.navigator.permission.disabled": True,
    "media.navigator.streams.fake": True,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.proxy.type": 0,
    "remote.prefs.recommended": True,
    "services.settings.server": "data:,#remote-settings-dummy/v1",
    "toolkit.telemetry.server": "",
}


class MarionetteConnection(RemoteConnection):
    """Sends Selenium's commands to Marionette."""

    def __init__(self, port: int) -> None:
        super().__init__(client_config=ClientConfig(f"http://127.0.0.1:{port}"))
        self._socket = socket.create_connection(("127.0.0.1", port), START_S)
        self._socket.settimeout(COMMAND_S)
        self._file = self._socket.makefile("rb")
        self._last = 0
        self._read()  # what it is

    def execute(self, command: str, params: dict[str, Any]) -> dict[str, Any]:
        """Raises WebDriverException for what this driver lacks; other errors are in the answer."""
        if command == Command.QUIT:
            self._call("Marionette:Quit", {"flags": ["eForceQuit"]})
            return {"value": None}
        if command not in _COMMANDS:
            raise WebDriverException(f"{command} is not among the commands of tests/server/web/firefox.py")
        given = {name: value for name, value in params.items() if name != "sessionId"}
        if command == Command.NEW_SESSION:
            given = dict(given["capabilities"]["alwaysMatch"])
        if "id" in given:
            given["element" if command.startswith("findChild") else "id"] = given.pop("id")
        return self._call(_COMMANDS[command], given)

    def privileged(self, script: str, *given: object) -> Any:
        """Run a script in the browser itself, not in the page."""
        self._call("Marionette:SetContext", {"value": "chrome"})
        answer = self._call("WebDriver:ExecuteScript", {"script": script, "args": list(given)})
        self._call("Marionette:SetContext", {"value": "content"})
        ErrorHandler().check_response(answer)
        return answer["value"]

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def _call(self, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        self._last += 1
        message = json.dumps([0, self._last, name, given]).encode()
        self._socket.sendall(b"%d:%s" % (len(message), message))
        _kind, number, error, result = self._read()
        assert number == self._last
        if error is not None:
            return {"status": 500, "value": error}
        is_wrapped = isinstance(result, dict) and result.keys() == {"value"}
        return {"value": result["value"] if is_wrapped else result}

    def _read(self) -> Any:
        length = b""
        while (digit := self._file.read(1)) != b":":
            if not digit:
                raise WebDriverException("Firefox closed the connection")
            length += digit
        return json.loads(self._file.read(int(length)))


@contextmanager
def running_firefox(profile: Path) -> Iterator[tuple[webdriver.Remote, MarionetteConnection]]:
    """A Firefox without a window, with a new profile in that folder.

    Its sounds go to a sound server of its own: without one, pages get none, not even silent ones.
    """
    if (program := shutil.which("firefox-esr") or shutil.which("firefox")) is None:
        pytest.fail("firefox-esr is missing: script/setup --dev installs it")
    profile.mkdir(parents=True, exist_ok=True)
    lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in _PREFERENCES.items())
    (profile / "user.js").write_text("".join(lines))
    words = [program, "--headless", "--marionette", "--remote-allow-system-access", "--no-remote"]
    words += ["--profile", str(profile)]
    with NullSinks() as sinks, _running(words, sinks.environment) as process:
        connection = MarionetteConnection(_port_of(process))
        browser = webdriver.Remote(command_executor=connection, options=_Options())
        try:
            yield browser, connection
        finally:
            browser.quit()
            connection.close()


@contextmanager
def _running(words: Sequence[str], variables: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    env = {**os.environ, **variables}
    process = subprocess.Popen(words, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait(START_S)


class _Options(ArgOptions):
    @property
    def default_capabilities(self) -> dict[str, str]:
        return {"browserName": "firefox"}


def _port_of(process: subprocess.Popen[str]) -> int:
    """The port that Firefox says it listens on; what else it says is read and dropped."""
    assert process.stdout is not None
    stdout, ports, is_said = process.stdout, list[int](), threading.Event()

    def read() -> None:
        with stdout:
            for line in stdout:
                if "Listening on port" in line:
                    ports.append(int(line.split()[-1]))
                    is_said.set()
        is_said.set()

    threading.Thread(target=read, daemon=True).start()
    if not is_said.wait(START_S) or not ports:
        pytest.fail("Firefox did not start")
    return ports[0]

"""One server with scripted engines, one Chromium and one Firefox for all tests of a run, started when used."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from edgevox.core.files import Folders
from edgevox.speakers.ge2e import MODEL_ID as VOICE_ENCODER
from tests.server.web.browser import PHONE, BrowserPage, Chromium, Firefox, open_browser, visiting_with_firefox
from tests.server.web.page_server import BOUND_S, OneVoice, page_server
from tests.server.websocket.harness import OWNER, UNLOCK, VoiceServer

HEARD = "Is the counter light on?"
ANSWERS = {
    HEARD: '<tool_call>\n{"name": "get_state", "arguments": {"name": "counter light", "state": "on"}}\n</tool_call>',
    "Unlock the front door": UNLOCK,
    "lullaby": "**Two** songs:\n- `Guten Abend`\n- Brahms <b>, *slowly*, [a](https://a.test/b) [c](javascript:d)\n"
    "```\n# e\n```",
}

# A file of the checkout: it is copied, not downloaded.
SMALL_VOICE = """
[[models]]
id = "small-voice"
kind = "tts"
licence = "MIT"
[[models.files]]
name = "small.onnx"
bytes_about = 1000
sources = [{ kind = "shipped", path = "models/manifest.toml" }]
"""


SMALL_ENCODER = SMALL_VOICE.replace("small-voice", VOICE_ENCODER).replace('"tts"', '"speaker"')

# What a test may leave behind: words in a search, an open group, an unanswered question.
TIDY = """
    for (const field of document.querySelectorAll("#home-search, .history :is(input, select)")) {
      if (field.value === "") continue;
      field.value = "";
      field.dispatchEvent(new Event(field.matches("input") ? "input" : "change"));
    }
    document.querySelector(".confirmation:not([data-granted]) .no")?.click();
    for (const details of document.querySelectorAll("main details[open]")) details.open = false;
    document.querySelector("nav a[data-view=talk]").click();
"""


STATES = """
    const things = [...document.querySelectorAll("[data-thing]")];
    return Object.fromEntries(things.map(({ dataset }) => [dataset.thing, dataset.state]));
"""


@pytest.fixture(scope="session")
def voices() -> OneVoice:
    return OneVoice()


@pytest.fixture(scope="session")
def behind(tmp_path_factory: pytest.TempPathFactory, voices: OneVoice) -> Iterator[VoiceServer]:
    folder = tmp_path_factory.mktemp("behind")
    folders = Folders(folder / "config", folder / "state", folder / "models")
    folders.config.mkdir()
    (folders.config / "models.toml").write_text(SMALL_VOICE + SMALL_ENCODER)
    with page_server(folders, ANSWERS, HEARD, voices=voices, room="Kitchen") as behind:
        yield behind


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with open_browser(None, tmp_path_factory.mktemp("chromium")) as visitor:
        visitor.bound_s = BOUND_S
        yield visitor


@pytest.fixture(scope="session")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    with visiting_with_firefox(tmp_path_factory.mktemp("firefox")) as visitor:
        yield visitor


@pytest.fixture(params=["chromium"])
def visitor(request: pytest.FixtureRequest, behind: VoiceServer) -> BrowserPage:
    """The page on a phone, still open from the test before if that left it so; a test can name another browser."""
    browser: BrowserPage = request.getfixturevalue(request.param)
    browser.bound_s = BOUND_S
    if is_open(browser, behind):
        browser.does(TIDY)
        assert behind.toolbox is not None
        states = {entity.id: entity.state for entity in behind.toolbox.home.house().entities}
        browser.until(lambda: browser.does(STATES) == states)  # another browser may have changed them
        return browser
    browser.size(*PHONE, is_phone=True)
    browser.open("about:blank")
    browser.open(f"{behind.url}/#token={OWNER}")
    browser.until_connected()
    browser.until(lambda: browser.state_of("light.kitchen"))
    return browser


def is_open(browser: BrowserPage, behind: VoiceServer) -> bool:
    if browser.browser.current_url != f"{behind.url}/" or browser.text("#connection-words") != "Connected":
        return False
    return bool(browser.does("return innerWidth === given[0]", PHONE[0]))

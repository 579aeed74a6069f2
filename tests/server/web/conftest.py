"""One server with scripted engines, one Chromium and one Firefox for all tests of a run, started when used."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from edgevox.core.files import Folders
from tests.server.web.browser import PHONE, Chromium, Firefox, Visitor, visiting, visiting_with_firefox
from tests.server.web.page_server import BOUND_S, page_server
from tests.server.websocket.harness import OWNER, Lobby

HEARD = "Is the counter light on?"
ANSWERS = {
    HEARD: '<tool_call>\n{"name": "get_state", "arguments": {"name": "counter light", "state": "on"}}\n</tool_call>',
    "lullaby": "**Two** songs:\n- `Guten Abend`\n- Brahms <b>",
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


@pytest.fixture(scope="session")
def behind(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lobby]:
    folder = tmp_path_factory.mktemp("behind")
    folders = Folders(folder / "config", folder / "state", folder / "models")
    folders.config.mkdir()
    (folders.config / "models.toml").write_text(SMALL_VOICE)
    with page_server(folders, ANSWERS, HEARD) as behind:
        yield behind


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    with visiting(None, tmp_path_factory.mktemp("chromium")) as visitor:
        yield visitor


@pytest.fixture(scope="session")
def firefox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Firefox]:
    with visiting_with_firefox(tmp_path_factory.mktemp("firefox")) as visitor:
        yield visitor


@pytest.fixture(params=["chromium"])
def visitor(request: pytest.FixtureRequest, behind: Lobby) -> Visitor:
    """One who has just opened the page, on a phone; a test can name another browser."""
    browser: Visitor = request.getfixturevalue(request.param)
    browser.bound_s = BOUND_S
    browser.size(*PHONE, is_phone=True)
    browser.open("about:blank")
    browser.open(f"{behind.url}/#token={OWNER}")
    browser.until_connected()
    browser.until(lambda: browser.state_of("light.kitchen"))
    return browser

"""The page with real engines, in Chromium: it is spoken to, acts, and answers aloud."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from edgevox.audio.files import read_audio
from edgevox.models import ModelStore
from edgevox.speakers.ge2e import MODEL_ID as VOICE_ENCODER
from edgevox.testing import NullSinks
from tests.cli.command import edgevox, home_environment
from tests.dialogue.sounds import silent
from tests.satellites.test_satellite_aloud import program
from tests.server.web.browser import BOUND_S, TOKEN, BrowserPage, ServedAssistant, open_browser
from tests.server.web.test_walks import RATE_HZ, hear, recorded, show

pytestmark = [pytest.mark.engine]

DRAWN = """
    const bars = [...document.querySelectorAll("#waterfall .stage rect")];
    const label = document.querySelector("#waterfall svg").getAttribute("aria-label");
    return [Math.min(...bars.map((bar) => bar.width.baseVal.value)), label];
"""


@pytest.fixture(scope="module")
def household(
    tmp_path_factory: pytest.TempPathFactory, smollm2_path: Path, piper_voice_path: Path, whisper_base_dir: Path
) -> Iterator[ServedAssistant]:
    household = ServedAssistant(tmp_path_factory.mktemp("household"))
    try:
        household.start()
        yield household
    finally:
        household.end()


@pytest.fixture(scope="module")
def visitor(household: ServedAssistant, tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserPage]:
    folder = tmp_path_factory.mktemp("visitor")
    household.speak("Turn on the kitchen light.", folder / "microphone.wav")
    with open_browser(folder / "microphone.wav", folder / "profile") as visitor:
        visitor.open(f"{household.url}/#token={TOKEN}")
        visitor.until_connected()
        yield visitor


def test_the_home_its_tools_and_the_engines_are_shown(visitor: BrowserPage) -> None:
    visitor.until(lambda: visitor.state_of("light.kitchen") == "off")
    for engine in ("stt", "llm", "tts"):
        visitor.one(f'[data-engine="{engine}"][data-state="ready"]')
    visitor.until(lambda: "Turn on, open, lock" in visitor.text('[data-tool="turn_on"]'))
    visitor.one('nav a[data-view="system"]').click()
    visitor.until(lambda: len(visitor.browser.find_elements(By.CSS_SELECTOR, "#settings .field")) > 3)


def test_a_voice_that_is_not_in_use_is_heard(visitor: BrowserPage) -> None:
    visitor.one('nav a[data-view="system"]').click()
    visitor.one('[data-group="voice"] > summary').click()
    visitor.one('[data-voice="piper-en_US-joe-medium"] button').click()
    visitor.until(lambda: "It spoke for" in visitor.text(".voices .result"))


def test_the_call_is_shown_with_what_it_was_told_and_what_came_of_it(visitor: BrowserPage) -> None:
    turn = visitor.ask("Turn off the hallway light")
    call = turn.find_element(By.CSS_SELECTOR, '.call[data-state="done"]')
    assert call.find_element(By.CSS_SELECTOR, ".summary").text == "Turned off hallway light"
    assert call.find_element(By.CSS_SELECTOR, "code").get_attribute("textContent") == "turn_off"
    assert "hallway light" in (call.find_element(By.CSS_SELECTOR, ".argument").get_attribute("textContent") or "")
    result = call.find_element(By.CSS_SELECTOR, ".result")
    assert (result.get_attribute("textContent"), result.is_displayed()) == (
        turn.find_element(By.CSS_SELECTOR, ".reply").text,
        False,
    )
    visitor.until(lambda: visitor.state_of("light.hallway") == "off")
    reply = turn.find_element(By.CSS_SELECTOR, ".reply").text
    visitor.until(lambda: visitor.text("#announcer") == reply)
    turn.find_element(By.CSS_SELECTOR, ".foot .link").click()
    assert turn.find_elements(By.CSS_SELECTOR, "figure svg .stage")


def test_a_spoken_command_changes_the_light_and_its_answer_is_played(visitor: BrowserPage) -> None:
    before_s = visitor.played_s()
    visitor.until(lambda: visitor.state_of("light.kitchen") == "off")
    for _attempt in range(3):  # the recogniser takes a word of the synthetic voice for another now and then
        turn = spoken(visitor)
        if visitor.state_of("light.kitchen") == "on":
            break
    visitor.until(lambda: visitor.state_of("light.kitchen") == "on")
    assert turn.get_attribute("data-source") == "voice"
    visitor.until(lambda: visitor.played_s() > before_s + 0.5)
    visitor.until(lambda: visitor.browser.find_elements(By.CSS_SELECTOR, "#waterfall .stage.endpoint rect"))
    visitor.until(lambda: visitor.browser.find_elements(By.CSS_SELECTOR, "#trend svg circle"))
    narrowest, told = visitor.does(DRAWN)
    assert narrowest > 0
    assert "speak" in told
    assert visitor.one("#microphone").get_attribute("aria-pressed") == "false"


def spoken(visitor: BrowserPage) -> WebElement:
    """The turn in which the microphone was heard; it is switched off as soon as it was."""
    before = len(visitor.turns())
    visitor.one("#microphone").click()
    visitor.until(lambda: len(visitor.turns()) > before)
    visitor.one("#microphone").click()
    return visitor.answered(before)


@pytest.mark.long
def test_a_person_is_enrolled_recognised_and_found_in_the_conversation(
    household: ServedAssistant, visitor: BrowserPage, tmp_path: Path, store: ModelStore
) -> None:
    store.ensure([VOICE_ENCODER], lambda _progress: None)
    household.speak("Turn on the kitchen light.", tmp_path / "anna.wav")
    speech = read_audio(tmp_path / "anna.wav").samples[RATE_HZ : 3 * RATE_HZ]
    visitor.open(household.url)
    visitor.until_connected()
    hear(visitor, speech, is_looped=True)
    show(visitor, "system")
    visitor.one('[data-group="people"] > summary').click()
    visitor.one(".people input").send_keys("Anna" + Keys.ENTER)
    assert recorded(visitor, 3, speak_ms=3000) == "Anna is known by voice now."
    visitor.one(".people > div > .quiet").click()
    assert recorded(visitor, 1, speak_ms=3000) == "This is Anna."
    assert (household.home / "state" / "people.json").exists()
    hear(visitor, np.concatenate((silent(1.0), speech, silent(10.0))))  # the page needs a moment to listen
    turn = spoken(visitor)
    assert turn.find_element(By.CSS_SELECTOR, ".from").text == "Anna"
    visitor.one("#history-speaker").send_keys("Anna")
    visitor.until(lambda: visitor.text("#past .from") == "Anna")


@pytest.mark.long
@pytest.mark.audio_device
def test_a_satellite_is_shown_spoken_to_and_muted(
    household: ServedAssistant, visitor: BrowserPage, tmp_path: Path
) -> None:
    with NullSinks() as room:
        device = home_environment(tmp_path / "satellite") | room.environment | {"EDGEVOX_TOKEN": TOKEN}
        words = ("--server", household.url, "--room", "Kitchen", "--name", "shelf", "--wake", "off")
        with program(device, "satellite", *words) as shelf:
            shelf.until("listening", within_s=BOUND_S)
            show(visitor, "system")
            visitor.one('[data-group="rooms"] > summary').click()
            item = '[data-satellite="shelf"]'
            visitor.until(lambda: visitor.text(f"{item} .name").startswith("Kitchen"))
            with room.record(tmp_path / "said.wav"):
                visitor.one(f"{item} button").click()
                visitor.until(lambda: visitor.text(".satellites .result") == "It was said in Kitchen.")
            assert np.max(np.abs(read_audio(tmp_path / "said.wav").samples)) > 0.01
            visitor.one(f"{item} [role=switch]").click()
            visitor.until(lambda: visitor.text(f"{item} .phrase") == "muted")
            listed = edgevox("satellites", "list", env=household.environment).stdout
            assert "muted" in listed


def test_nobody_complained_and_no_token_was_written_down(household: ServedAssistant, visitor: BrowserPage) -> None:
    said = "".join(visitor.complaints())
    assert "Content Security Policy" not in said
    assert "Uncaught" not in said
    assert TOKEN not in "".join(household.lines)
    written = [path for path in (household.home / "state").rglob("*") if path.is_file()]
    assert written
    assert [path for path in written if TOKEN.encode() in path.read_bytes()] == []

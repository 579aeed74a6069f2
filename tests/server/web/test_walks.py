"""The page as a person uses it, in Chromium and in Firefox: by tap, by voice, by keys alone, and after a reload."""

from __future__ import annotations

import base64
import re

import numpy as np
import pytest
from numpy.typing import NDArray
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from edgevox.core.types import to_pcm16
from tests.dialogue.sounds import silent, voiced
from tests.server.web.browser import BrowserPage
from tests.server.websocket.harness import VoiceServer

RATE_HZ = 16_000
SPOKEN = np.concatenate((silent(0.3), voiced(0.8), silent(3.0)))
# A microphone for pages in any browser: its context has the rate of the page's, which Firefox insists on.
MICROPHONE = f"""
    const bytes = Uint8Array.from(atob(given[0]), (one) => one.charCodeAt(0));
    const samples = Float32Array.from(new Int16Array(bytes.buffer), (one) => one / 32768);
    navigator.mediaDevices.getUserMedia = async () => {{
      const context = new AudioContext();
      const buffer = context.createBuffer(1, samples.length, {RATE_HZ});
      buffer.copyToChannel(samples, 0);
      const source = new AudioBufferSourceNode(context, {{ buffer, loop: given[1] }});
      const out = context.createMediaStreamDestination();
      source.connect(out);
      source.start();
      return out.stream;
    }};
"""


def hear(visitor: BrowserPage, samples: NDArray[np.float32], *, is_looped: bool = False) -> None:
    """Let the microphone hear these samples from when it is opened."""
    visitor.does(MICROPHONE, base64.b64encode(to_pcm16(samples)).decode(), is_looped)


def recorded(visitor: BrowserPage, sentences: int, *, speak_ms: int = 300) -> str:
    """Record sentences in the people's part of the page; returns what it says then."""
    for number in range(sentences):
        visitor.until(lambda: visitor.text(".step button") == "Record")
        if sentences > 1:
            assert f"Sentence {number + 1} of {sentences}" in visitor.text(".step .note")
        visitor.one(".step button").click()
        visitor.until(lambda: visitor.text(".step button") == "Done")
        visitor.does("await new Promise((spoken) => setTimeout(spoken, given[0]))", speak_ms)
        visitor.one(".step button").click()
    visitor.until(lambda: visitor.text(".people .result"))
    return visitor.text(".people .result")


def show(visitor: BrowserPage, view: str) -> None:
    visitor.one(f'nav a[data-view="{view}"]').click()


def tap(visitor: BrowserPage, thing: str) -> None:
    show(visitor, "home")
    visitor.one(f'[data-thing="{thing}"] .tap').click()


@pytest.mark.parametrize("visitor", ["chromium", pytest.param("firefox", marks=pytest.mark.long)], indirect=True)
def test_a_light_is_switched_by_tap_seen_by_voice_and_undone_like_a_spoken_command(
    visitor: BrowserPage, behind: VoiceServer
) -> None:
    tap(visitor, "light.counter")
    visitor.until(lambda: behind.state("light.counter") == "on")
    visitor.until(lambda: visitor.one('[data-thing="light.counter"] .tap').get_attribute("aria-pressed") == "true")
    visitor.until(lambda: [record.calls for record in behind.records if record.source == "screen"][-1:])
    assert behind.records[-1].calls == ("Turned on counter light",)
    show(visitor, "talk")
    hear(visitor, SPOKEN)
    before = len(visitor.turns())
    visitor.one("#microphone").click()
    turn = visitor.answered(before)
    visitor.one("#microphone").click()
    assert turn.get_attribute("data-source") == "voice"
    assert "counter light is on" in turn.find_element(By.CSS_SELECTOR, ".reply").text
    visitor.ask("undo that")
    visitor.until(lambda: behind.state("light.counter") == "off")
    visitor.until(lambda: visitor.state_of("light.counter") == "off")


@pytest.mark.parametrize("visitor", ["chromium", pytest.param("firefox", marks=pytest.mark.long)], indirect=True)
def test_a_lock_is_opened_only_after_a_yes_and_the_no_has_the_focus(visitor: BrowserPage, behind: VoiceServer) -> None:
    if behind.state("lock.front_door") != "locked":
        tap(visitor, "lock.front_door")  # which needs no yes
        visitor.until(lambda: visitor.state_of("lock.front_door") == "locked")
    tap(visitor, "lock.front_door")
    card = visitor.one(".asked .confirmation")
    assert card.is_displayed()
    assert visitor.does("return document.activeElement.className") == "main no"
    assert re.search(r"\d+ s", visitor.text(".asked [role=timer]"))
    visitor.press(Keys.ENTER)
    visitor.until(lambda: not visitor.browser.find_elements(By.CSS_SELECTOR, ".asked .confirmation"))
    assert behind.state("lock.front_door") == "locked"
    tap(visitor, "lock.front_door")
    visitor.one(".asked .yes").click()
    visitor.until(lambda: behind.state("lock.front_door") == "unlocked")
    visitor.until(lambda: "unlocked" in visitor.text('[data-thing="lock.front_door"] .phrase'))


@pytest.mark.parametrize("visitor", ["chromium", pytest.param("firefox", marks=pytest.mark.long)], indirect=True)
def test_a_timer_rings_also_on_a_page_that_is_opened_meanwhile_and_is_snoozed(
    visitor: BrowserPage, behind: VoiceServer
) -> None:
    show(visitor, "plans")
    visitor.one("#plan-form input[type=number]").send_keys("3")
    visitor.one("#plan-form button").click()
    visitor.until(lambda: re.search(r"0[23]:\d\d", visitor.text('[data-kind="timer"] .phrase')))
    assert behind.toolbox is not None
    timers = behind.toolbox.timers
    timers.extend(timers.all()[0], -179)
    visitor.until(lambda: visitor.one("#ring").is_displayed())
    visitor.until(lambda: visitor.one("#ring").get_attribute("data-sounded"))
    visitor.open(visitor.browser.current_url)
    visitor.until(lambda: visitor.one("#ring").is_displayed())
    assert visitor.text("#ring .question") == "The 3 minute timer is done."
    visitor.one("#ring .main").click()
    visitor.until(lambda: not visitor.one("#ring").is_displayed())
    show(visitor, "plans")
    visitor.until(lambda: re.search(r"0[89]:\d\d", visitor.text('[data-kind="timer"] .phrase')))
    visitor.one('[data-kind="timer"] .row button:last-child').click()
    visitor.until(lambda: not timers.all())


@pytest.mark.parametrize("visitor", ["chromium", pytest.param("firefox", marks=pytest.mark.long)], indirect=True)
def test_what_was_said_is_there_after_a_reload_is_found_and_recalled(visitor: BrowserPage) -> None:
    visitor.ask("Turn on the printer")
    visitor.open(visitor.browser.current_url)
    visitor.until(lambda: "Turn on the printer" in visitor.text("#past"))
    assert not visitor.turns()
    visitor.one("#words").send_keys(Keys.ARROW_UP)
    assert visitor.one("#words").get_attribute("value") == "Turn on the printer"
    visitor.one("#history-search").send_keys("printer")
    visitor.until(lambda: "found" in visitor.text("#history-note"))
    assert "front door" not in visitor.text("#past")
    assert "printer" in visitor.text("#past").lower()


@pytest.mark.parametrize("visitor", ["chromium", pytest.param("firefox", marks=pytest.mark.long)], indirect=True)
def test_every_view_of_a_phone_is_reached_and_used_with_keys_alone(visitor: BrowserPage, behind: VoiceServer) -> None:
    def step_to(selector: str, key: str = Keys.TAB) -> None:
        for _step in range(200):
            visitor.press(key)
            if visitor.does("return document.activeElement.matches(given[0])", selector):
                return
        pytest.fail(f"{selector} cannot be reached")

    def choose(view: str) -> None:
        step_to(f'nav a[data-view="{view}"]', Keys.SHIFT + Keys.TAB)
        visitor.press(Keys.ENTER)
        # Firefox reports the new address after the key press has returned.
        visitor.until(lambda: visitor.does("return document.activeElement.id") == f"{view}-title")
        assert visitor.one(f"#{view}").is_displayed()

    assert behind.toolbox is not None
    behind.records.clear()  # each turn has links to step over
    visitor.open(visitor.browser.current_url)
    visitor.until(lambda: behind.state("light.bedroom") == visitor.state_of("light.bedroom"))
    before = behind.state("light.bedroom")
    visitor.one("body").send_keys(Keys.TAB)
    assert visitor.browser.switch_to.active_element.text == "Skip to the text field"
    visitor.press(Keys.ENTER)
    visitor.until(lambda: visitor.does("return document.activeElement.id") == "words")
    visitor.press("What time is it?" + Keys.ENTER)
    visitor.until(lambda: visitor.browser.find_elements(By.CSS_SELECTOR, "#turn-list [data-outcome]"))
    choose("home")
    step_to("#home-search")
    visitor.press("bedroom light")
    step_to('[data-thing="light.bedroom"] .tap')
    visitor.press(Keys.SPACE)
    visitor.until(lambda: behind.state("light.bedroom") != before)
    choose("plans")
    step_to("#plan-form input[type=number]")
    visitor.press("5" + Keys.ENTER)
    visitor.until(behind.toolbox.timers.all)
    behind.toolbox.timers.cancel(*behind.toolbox.timers.all())
    choose("timing")
    choose("tools")
    step_to("#tool-list button[aria-expanded=false]")
    visitor.press(Keys.ENTER)
    visitor.until(lambda: visitor.browser.find_elements(By.CSS_SELECTOR, "#tool-list button[aria-expanded=true]"))
    choose("system")
    # All of it: Firefox drops a key press on a group whose contents are being put in.
    for loaded in ("[data-voice]", '[data-satellite="shelf"]', "[data-group=rooms] .field", "#models li"):
        visitor.one(loaded)
    step_to('[data-group="people"] > summary')
    visitor.press(Keys.ENTER)
    visitor.until(lambda: visitor.does("return document.activeElement.parentElement.open"))
    step_to(".people :is(input, button)")  # a name, or the download that comes before it
    step_to('[data-group="rooms"] > summary')
    visitor.press(Keys.ENTER)
    doing = '[data-satellite="shelf"] .phrase'
    step_to('[data-satellite="shelf"] [role=switch]')
    visitor.press(Keys.SPACE)
    visitor.until(lambda: visitor.text(doing) == "muted")
    assert behind.hub.is_muted("shelf")
    step_to('[data-satellite="shelf"] button')
    step_to('[data-satellite="shelf"] [role=switch]', Keys.SHIFT + Keys.TAB)
    visitor.press(Keys.SPACE)
    visitor.until(lambda: visitor.text(doing) != "muted")
    choose("talk")


@pytest.mark.parametrize("visitor", ["chromium", pytest.param("firefox", marks=pytest.mark.long)], indirect=True)
def test_nothing_was_said_against_it(visitor: BrowserPage) -> None:
    said = "".join(visitor.complaints())
    assert "Content Security Policy" not in said
    assert "Uncaught" not in said

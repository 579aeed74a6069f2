"""The page in a real browser: it is spoken to, clicked, and left alone by its daemon.

One Chromium and one daemon for all of it; the daemon is started again by the last test.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from tests.server.web.browser import TOKEN, Household, Visitor, visiting

pytestmark = [pytest.mark.engine]

RESAMPLED = """
    const { Resampler } = await import("/page/resampler.js");
    return [1000, 10000].map((hertz) => {
      const resampler = new Resampler(48000, 16000);
      const out = [];
      for (let at = 0; at < 48000; at += 128) {
        out.push(...resampler.push(Float32Array.from({ length: 128 }, (_, more) =>
          Math.sin((2 * Math.PI * hertz * (at + more)) / 48000))));
      }
      const middle = out.slice(2000, 14000);
      return [out.length, Math.sqrt(middle.reduce((sum, one) => sum + one * one, 0) / middle.length)];
    });
"""
DRAWN = """
    const bars = [...document.querySelectorAll("#waterfall .stage rect")];
    const label = document.querySelector("#waterfall svg").getAttribute("aria-label");
    return [Math.min(...bars.map((bar) => bar.width.baseVal.value)), label];
"""
HEARD = """
    const { Conversation } = await import("/page/conversation.js");
    const conversation = new Conversation({ confirm: {} });
    const partial = document.getElementById("partial");
    const shown = () => [partial.textContent, partial.hidden];
    conversation.take({ type: "transcript", final: false, text: "Turn on the", turn_id: null });
    const guessed = shown();
    conversation.take({ type: "turn_begin", turn_id: "t", source: "voice" });
    conversation.take({ type: "transcript", final: true, text: "Turn on the <img src=x>", turn_id: "t" });
    return [guessed, shown()];
"""
RATE_HZ = 22_050
CUT_OFF = f"""
    const {{ Loudspeaker }} = await import("/page/loudspeaker.js");
    let told = () => {{}};
    const next = () => new Promise((done) => {{ told = (...played) => done(played); }});
    const loudspeaker = new Loudspeaker((...played) => told(...played));
    await loudspeaker.load();
    await loudspeaker.wake();
    loudspeaker.setVolume(0);
    const heard = next();
    loudspeaker.begin(1, {RATE_HZ});
    loudspeaker.samples(new Int16Array(2 * {RATE_HZ}).fill(1000).buffer);
    loudspeaker.end(1);
    await heard;
    const cut = next();
    loudspeaker.stop(1);
    const [, samples, isPlayed] = await cut;
    const whole = next();
    loudspeaker.begin(2, {RATE_HZ});
    loudspeaker.samples(new Int16Array({RATE_HZ // 4}).fill(1000).buffer);
    loudspeaker.end(2);
    let [, more, isWhole] = await whole;
    while (!isWhole) [, more, isWhole] = await next();
    return [[samples, isPlayed], [more, isWhole]];
"""


@pytest.fixture(scope="module")
def household(
    tmp_path_factory: pytest.TempPathFactory, smollm2_path: Path, piper_voice_path: Path, whisper_base_dir: Path
) -> Iterator[Household]:
    household = Household(tmp_path_factory.mktemp("household"))
    try:
        household.start()
        yield household
    finally:
        household.end()


@pytest.fixture(scope="module")
def visitor(household: Household, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Visitor]:
    folder = tmp_path_factory.mktemp("visitor")
    household.speak("Turn on the kitchen light.", folder / "microphone.wav")
    with visiting(folder / "microphone.wav", folder / "profile") as visitor:
        visitor.open(f"{household.url}/#token={TOKEN}")
        visitor.until_connected()
        yield visitor


def test_the_token_leaves_the_address_and_is_kept(household: Household, visitor: Visitor) -> None:
    assert visitor.browser.current_url == f"{household.url}/"
    visitor.open(household.url)
    visitor.until_connected()
    assert TOKEN not in visitor.browser.current_url


def test_the_home_its_tools_and_the_engines_are_shown(visitor: Visitor) -> None:
    visitor.until(lambda: visitor.state_of("light.kitchen") == "off")
    for engine in ("stt", "llm", "tts"):
        visitor.one(f'[data-engine="{engine}"][data-state="ready"]')
    visitor.until(lambda: "Turn on, open, lock" in visitor.text('[data-tool="turn_on"]'))
    visitor.until(lambda: len(visitor.browser.find_elements(By.CSS_SELECTOR, "#settings .field")) > 3)


def test_the_call_is_shown_with_what_it_was_told_and_what_came_of_it(visitor: Visitor) -> None:
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


def test_a_spoken_command_changes_the_light_and_its_answer_is_played(visitor: Visitor) -> None:
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


def spoken(visitor: Visitor) -> WebElement:
    """The turn in which the microphone was heard; it is switched off as soon as it was."""
    before = len(visitor.turns())
    visitor.one("#microphone").click()
    visitor.until(lambda: len(visitor.turns()) > before)
    visitor.one("#microphone").click()
    return visitor.answered(before)


@pytest.mark.parametrize(("button", "granted", "state"), [(".no", "false", "locked"), (".yes", "true", "unlocked")])
def test_a_question_is_answered_by_a_click(visitor: Visitor, button: str, granted: str, state: str) -> None:
    before = len(visitor.turns())
    visitor.one("#words").send_keys("Unlock the front door\n")
    visitor.one(f".answers {button}").click()
    turn = visitor.answered(before)
    decided = turn.find_element(By.CSS_SELECTOR, ".confirmation")
    assert decided.get_attribute("data-granted") == granted
    assert not decided.find_elements(By.CSS_SELECTOR, "button")
    outcome = {"false": "refused", "true": "done"}[granted]
    assert turn.find_elements(By.CSS_SELECTOR, f'.call[data-state="{outcome}"]')
    visitor.until(lambda: visitor.state_of("lock.front_door") == state)


def test_words_that_are_not_certain_are_shown_until_they_are_and_markup_stays_text(visitor: Visitor) -> None:
    guessed, final = visitor.does(HEARD)
    assert guessed == ["Turn on the", False]
    assert final == ["", True]
    assert "<img src=x>" in visitor.text(".turn:last-child .said")
    assert not visitor.browser.find_elements(By.CSS_SELECTOR, "#turn-list img")


def test_it_can_be_used_with_keys_alone(visitor: Visitor) -> None:
    visitor.open(visitor.browser.current_url)
    visitor.until_connected()
    body = visitor.one("body")
    body.send_keys(Keys.TAB)
    assert visitor.browser.switch_to.active_element.text == "Skip to the text field"
    visitor.browser.switch_to.active_element.send_keys(Keys.ENTER)
    assert visitor.does("return document.activeElement.id") == "words"
    assert visitor.does("return location.hash") in ("", "#words")


def test_the_worklets_resampler_keeps_what_fits_and_drops_what_would_fold_back(visitor: Visitor) -> None:
    """A tone of 1 kHz goes from 48 to 16 kHz as loud as it was; one of 10 kHz would come out as 6 kHz."""
    loudness = visitor.does(RESAMPLED)
    (kept_samples, kept), (_samples, folded) = loudness
    assert abs(kept_samples - 16_000) <= 1
    assert kept == pytest.approx(0.7071, rel=0.01)
    assert folded < 0.001


def test_a_passage_that_is_cut_off_is_dropped_and_says_how_much_was_heard(visitor: Visitor) -> None:
    (cut, cut_is_played), (whole, whole_is_played) = visitor.does(CUT_OFF)
    assert 0 < cut < 2 * RATE_HZ
    assert not cut_is_played
    # What was left of the first is not played before the second.
    assert (whole, whole_is_played) == (RATE_HZ // 4, True)


def test_a_setting_is_changed_and_kept(household: Household, visitor: Visitor) -> None:
    field = visitor.one("#setting-tts\\.speed")
    field.find_element(By.XPATH, "ancestor::details/summary").click()
    field.clear()
    field.send_keys("1.25")
    visitor.one("#settings button[type=submit]").click()
    visitor.until(lambda: "Saved" in visitor.text("#settings .result"))
    assert "speed = 1.25" in (household.home / "config" / "config.toml").read_text()


def test_a_wrong_token_is_said_and_another_can_be_given(household: Household, visitor: Visitor) -> None:
    visitor.open("about:blank")
    visitor.open(f"{household.url}/#token=edgevox-not-one-that-is-known")
    visitor.until(lambda: visitor.one("#key").is_displayed())
    assert "is unknown" in visitor.text("#key-why")
    visitor.one("#key-field").send_keys(TOKEN + "\n")
    visitor.until_connected()
    assert not visitor.one("#key").is_displayed()


def test_it_connects_again_when_the_daemon_is_back(household: Household, visitor: Visitor) -> None:
    household.end()
    visitor.until(lambda: "trying again" in visitor.text("#connection-words"))
    assert visitor.text("#state-words") == "Not connected"
    household.start()
    visitor.until_connected()
    visitor.until(lambda: visitor.text("#state-words") == "Ready")
    visitor.one('[data-engine="llm"][data-state="ready"]')


def test_nobody_complained_and_no_token_was_written_down(household: Household, visitor: Visitor) -> None:
    said = "".join(visitor.complaints())
    assert "Content Security Policy" not in said
    assert "Uncaught" not in said
    assert TOKEN not in "".join(household.told)
    written = [path for path in (household.home / "state").rglob("*") if path.is_file()]
    assert written
    assert [path for path in written if TOKEN.encode() in path.read_bytes()] == []

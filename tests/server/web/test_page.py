"""The parts of the page in Chromium: levels, lists, alarms, codes, settings, sound, both languages, and no server."""

from __future__ import annotations

import itertools
import re
from collections.abc import Awaitable
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from edgevox.config.editing import editable_settings
from edgevox.core.files import Folders
from edgevox.dialogue.confirm import REFUSALS
from edgevox.home.alarms.watches import Condition
from edgevox.home.backends.demo import DemoHome
from edgevox.home.entities import Action, Entities
from edgevox.server.web.static_files import page_files
from edgevox.testing.serve import free_port
from edgevox.tools.policy import USER_SAID_NO
from tests.dialogue.sounds import voiced
from tests.server.web.browser import DESKTOP, PHONE, STRUCTURE, VIEWS, BrowserPage, Chromium, axe
from tests.server.web.page_server import OneVoice, page_server
from tests.server.web.test_walks import SPOKEN, hear, recorded, show, tap
from tests.server.websocket.harness import OWNER, VoiceServer

NARROWEST = 320
MOST_VISIT_BYTES, MOST_BYTES = 75_000, 90_000
FIRST_PAINT_MS = 1_000  # of benchmarks/page.py: 150 ms; other tests may run beside it
LOADS = 3
SLIDE = """
    const slider = document.querySelector(given[0]);
    slider.value = given[1];
    slider.dispatchEvent(new Event("input"));
    slider.dispatchEvent(new Event("change"));
"""
CHOOSE = """
    const field = document.querySelector(given[0]);
    field.value = given[1];
    field.dispatchEvent(new Event("change"));
"""
KEYS = """
    const languages = ["en", "de"];
    const parts = await Promise.all(languages.map((one) => import(`/page/texts-${one}.js`)));
    return parts.map(({ TEXTS }) => Object.keys(TEXTS));
"""
OF_SERVER = "return Object.keys((await import('/page/texts-server-de.js')).SERVER_TEXTS)"
CONTRAST = {"runOnly": ["color-contrast"]}
# What sticks out of the page, and what cannot be scrolled to within its own box.
TOO_WIDE = """
    const wide = [...document.querySelectorAll("body, main, .panels, .card, button, label, nav a")];
    const isCut = (one) => one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1 && !one.matches(".unseen");
    return wide.filter((one) => one.checkVisibility() && isCut(one) && getComputedStyle(one).display !== "inline")
      .map((one) => one.outerHTML.slice(0, 120));
"""
TIMED = """
    const { trend, verdict } = await import("/page/trend.js");
    const { firstSoundMs, tookMs } = await import("/page/waterfall.js");
    const speak = { name: "speak", start_ms: 800, end_ms: 2000 };
    const confirm = { name: "confirm", start_ms: 100, end_ms: 9100 };
    const turn = (stages, hour = 9) =>
      ({ at: new Date(2026, 0, 5, hour).toISOString(), outcome: "answered", heard: "", total_ms: 9500, stages });
    const [spoken, silent] = [turn([speak]), turn([confirm])];
    const answer = { ...speak, start_ms: 9300, end_ms: 9400 };
    const asked = turn([confirm, { ...speak, start_ms: 200, end_ms: 1200 }, answer]);
    const soundMs = firstSoundMs(turn([confirm, answer]));
    const written = { name: "first_token", start_ms: 100, end_ms: 2900 };
    const slow = turn([written, { ...speak, start_ms: 3000, end_ms: 4000 }], 11);
    return [
      trend([spoken, silent], 400).textContent,
      [tookMs(silent), tookMs(asked), soundMs],
      verdict(spoken, [spoken, silent]),
      verdict(slow, [turn([speak], 8), spoken, turn([speak], 10), slow]),
    ];
"""
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
COUNTED = """
    const { Conversation } = await import("/page/conversation.js");
    const card = await new Promise((asked) => {
      const conversation = new Conversation({ confirm: {}, isHeard: () => true, asked });
      const question = { turn_id: "c", token: "1", question: "Unlock it?", level: "voice", may_answer: true };
      conversation.take({ type: "turn_begin", turn_id: "c", source: "voice" });
      conversation.take({ type: "confirmation_required", expires_in_s: 60, ...question });
      for (const state of ["asking", "speaking", "asking"]) conversation.take({ type: "state", state });
    });
    const shown = card.left.textContent;
    card.close();
    return shown;
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


def test_sliders_and_colours_set_levels(visitor: BrowserPage, behind: VoiceServer) -> None:
    assert behind.toolbox is not None
    house = behind.toolbox.home.house

    def attribute(entity_id: str, name: str) -> object:
        entity = house().entity(entity_id)
        assert entity is not None
        return entity.attributes[name]

    tap(visitor, "light.floor_lamp")
    visitor.one('[data-thing="light.floor_lamp"] input[type=range]')
    visitor.does(SLIDE, '[data-thing="light.floor_lamp"] input[type=range]', 40)
    visitor.does(SLIDE, '[data-thing="climate.thermostat"] input[type=range]', 19.5)
    visitor.does(SLIDE, '[data-thing="light.floor_lamp"] input[type=color]', "#3366ff")
    visitor.until(lambda: attribute("light.floor_lamp", "brightness") == 40)
    visitor.until(lambda: attribute("climate.thermostat", "temperature") == 19.5)
    visitor.does(SLIDE, '[data-thing="cover.living_room_blinds"] input[type=range]', 30)
    visitor.does(SLIDE, '[data-thing="media_player.tv"] input[type=range]', 15)
    visitor.until(lambda: attribute("light.floor_lamp", "color") == "#3366ff")
    visitor.until(lambda: attribute("cover.living_room_blinds", "position") == 30)
    visitor.until(lambda: attribute("media_player.tv", "volume_level") == 15)
    visitor.one('[data-thing="media_player.tv"] .extras button').click()
    visitor.until(lambda: visitor.state_of("media_player.tv") == "paused")
    visitor.one('[data-thing="media_player.tv"] .extras button').click()
    visitor.until(lambda: behind.state("media_player.tv") == "playing")


def test_the_alarm_panel_is_armed_at_once_and_disarmed_after_a_yes(visitor: BrowserPage, behind: VoiceServer) -> None:
    panel = "alarm_control_panel.house"
    tap(visitor, panel)
    visitor.until(lambda: behind.state(panel) == visitor.state_of(panel) == "armed_away")
    tap(visitor, panel)
    visitor.one(".asked .yes").click()
    visitor.until(lambda: behind.state(panel) == "disarmed")


def test_a_refused_request_says_so_and_is_asked_again_by_one_tap(visitor: BrowserPage, behind: VoiceServer) -> None:
    assert behind.toolbox is not None
    assert isinstance(behind.toolbox.home, DemoHome)
    behind.toolbox.home.set_facts("lock.front_door", {"state": "locked"})

    def refused(before: int) -> WebElement:
        visitor.one(".answers .no").click()
        turn = visitor.answered(before)
        assert turn.find_element(By.CSS_SELECTOR, ".confirmation .hint").text == "Not done: owner chose no"
        return turn

    before = len(visitor.turns())
    visitor.one("#words").send_keys("Unlock the front door" + Keys.ENTER)
    refused(before).find_element(By.XPATH, ".//button[text()='Ask again']").click()
    again = refused(before + 1)
    assert again.find_element(By.CSS_SELECTOR, ".said").text == "Unlock the front door"


def test_the_same_name_twice_is_told_apart_and_the_search_finds_rooms_and_names(visitor: BrowserPage) -> None:
    names = [visitor.text(f'[data-thing="{thing}.front_door"] .name') for thing in ("lock", "binary_sensor")]
    assert names == ["Front Door lock", "Front Door sensor"]
    show(visitor, "home")
    visitor.one("#home-search").send_keys("office lamp")
    shown = visitor.browser.find_elements(By.CSS_SELECTOR, "#rooms li:not([hidden])")
    assert [item.get_attribute("data-thing") for item in shown] == ["light.desk_lamp"]


def test_the_states_of_a_thing_over_the_day_are_shown(visitor: BrowserPage) -> None:
    tap(visitor, "light.garage")
    visitor.until(lambda: visitor.state_of("light.garage") == "on")
    tap(visitor, "light.garage")
    visitor.until(lambda: visitor.state_of("light.garage") == "off")
    visitor.one('[data-thing="light.garage"] .more').click()
    visitor.until(lambda: re.search(r"off.* on.* off$", visitor.text('[data-thing="light.garage"] .states')))


def test_items_of_a_list_are_added_ticked_off_and_put_back(visitor: BrowserPage) -> None:
    show(visitor, "plans")
    visitor.one('[data-list="todo.shopping_list"] form input').send_keys("oat milk" + Keys.ENTER)
    visitor.until(lambda: "oat milk" in visitor.text('[data-list="todo.shopping_list"] ul'))
    visitor.one('[data-list="todo.tasks"] input[type=checkbox]').click()
    visitor.until(lambda: visitor.text('[data-list="todo.tasks"] .done') == "water the plants")
    visitor.one('[data-list="todo.tasks"] input[type=checkbox]').click()
    visitor.until(lambda: not visitor.text('[data-list="todo.tasks"] .done'))


def test_an_alarm_gets_another_time_name_and_days_and_is_switched_off_and_on(
    visitor: BrowserPage, behind: VoiceServer
) -> None:
    assert behind.toolbox is not None
    alarms = behind.toolbox.alarms
    alarm = alarms.set_in("alarm", 3600, label="gym")
    show(visitor, "plans")
    item = f'[data-scheduled="{alarm.id}"]'
    visitor.one(f"{item} .row .quiet").click()
    visitor.does("document.querySelector(given[0]).value = given[1]", f"{item} input[type=time]", "06:45")
    visitor.one(f"{item} .edit input").send_keys(Keys.END + " with Ben")
    for day in (1, 3):
        visitor.one(f"{item} fieldset label:nth-of-type({day})").click()
    visitor.one(f"{item} .edit .main").click()
    visitor.until(lambda: alarms.all() and alarms.all()[0].repeat == (0, 2))
    visitor.until(lambda: "Every Mon, Wed" in visitor.text(f"{item} .phrase"))
    assert f"{alarms.all()[0].at:%H:%M} {alarms.all()[0].label}" == "06:45 gym with Ben"
    visitor.one(f"{item} [role=switch]").click()
    visitor.until(lambda: not alarms.all())
    visitor.until(lambda: visitor.browser.find_elements(By.CSS_SELECTOR, f"{item}.off"))
    visitor.one(f"{item} [role=switch]").click()
    visitor.until(alarms.all)
    alarms.cancel(*alarms.all())


def test_commands_for_later_and_what_is_watched_are_shown_and_removed(
    visitor: BrowserPage, behind: VoiceServer
) -> None:
    assert behind.toolbox is not None
    alarms, watches = behind.toolbox.alarms, behind.toolbox.watches
    alarms.set_in("schedule", 3600, label="lock the front door")
    event = "the freezer is warm"
    condition = Condition(entity_ids=("light.garage",), state="unlikely", phrase=event, fact=event)
    watches.add("tell", condition, "", is_repeating=False, is_met=False)
    show(visitor, "plans")
    visitor.until(lambda: visitor.text('[data-kind="watch"] .name') == "when the freezer is warm I will tell you")
    visitor.one('[data-kind="schedule"] .row .quiet').click()
    assert not visitor.browser.find_elements(By.CSS_SELECTOR, '[data-kind="schedule"] .edit [type=text]')
    visitor.one('[data-kind="schedule"] .edit [type=button]').click()
    for kind in ("schedule", "watch"):
        visitor.one(f'[data-kind="{kind}"] > .row > button:last-child').click()
    visitor.until(lambda: not alarms.all() and not watches.all())


def test_a_lock_that_wants_a_code_gets_one_which_is_shown_and_kept_nowhere(
    visitor: BrowserPage, behind: VoiceServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert behind.toolbox is not None
    home, applied, apply = behind.toolbox.home, list[Action](), behind.toolbox.home.apply
    assert isinstance(home, DemoHome)

    def noted(action: Action) -> Awaitable[Entities]:
        applied.append(action)
        return apply(action)

    monkeypatch.setattr(home, "apply", noted)
    home.set_facts("lock.front_door", {"state": "locked", "code_format": "number"})
    visitor.open(visitor.browser.current_url)
    visitor.until(lambda: visitor.state_of("lock.front_door") == "locked")
    tap(visitor, "lock.front_door")
    visitor.press("71384" + Keys.ENTER)
    visitor.one(".asked .yes").click()
    visitor.until(lambda: visitor.state_of("lock.front_door") == "unlocked")
    assert applied[-1].values == {"code": "71384"}
    assert "71384" not in visitor.text("body") + repr(behind.records)
    home.set_facts("lock.front_door", {"state": "locked", "code_format": ""})


def test_every_group_of_settings_can_be_tried_and_says_when_a_change_applies(visitor: BrowserPage) -> None:
    show(visitor, "system")

    def test_of(group: str) -> str:
        visitor.one(f'[data-group="{group}"] > summary').click()
        visitor.one(f'[data-group="{group}"] .test button').click()
        return f'[data-group="{group}"] .test .result'

    visitor.until(lambda: "at the next start" in visitor.text("#settings > .note"))
    groups = "return [...document.querySelectorAll('[data-group]')].map((one) => one.dataset.group)"
    tried = {"microphone", "voice", "wake", "tones", "privacy", "answers"}
    assert set(visitor.does(groups)) == tried | {"people", "rooms"}  # which have tests of their own
    hear(visitor, SPOKEN)
    level = f"return document.querySelector('{test_of('microphone')} meter')?.value"
    visitor.until(lambda: (visitor.does(level) or 0) > 0.2)
    said = test_of("voice")
    visitor.until(lambda: "was started without audio" in visitor.text(said))  # a sentence, not a fault
    said = test_of("wake")
    visitor.until(lambda: visitor.text(said))
    said = test_of("privacy")
    visitor.until(lambda: re.search(r"words of \d+ turns", visitor.text(said)))
    test_of("tones")
    visitor.until(lambda: visitor.one("#ring").is_displayed())
    visitor.one("#ring .stop").click()
    visitor.until(lambda: not visitor.one("#ring").is_displayed())
    before = len(visitor.turns())
    test_of("answers")
    visitor.answered(before)


def test_a_setting_is_changed_by_a_name_that_people_know(visitor: BrowserPage) -> None:
    show(visitor, "system")
    visitor.one('[data-group="voice"] summary').click()
    speed = visitor.one("#setting-tts\\.speed")
    assert speed.find_element(By.XPATH, "..").text.startswith("Speed")
    speed.clear()
    speed.send_keys("1.25")
    visitor.one("#settings button[type=submit]").click()
    visitor.until(lambda: "Saved. It takes effect at the next start." in visitor.text("#settings .save .result"))


def test_a_voice_is_downloaded_heard_and_chosen_from_the_list(visitor: BrowserPage, behind: VoiceServer) -> None:
    def act(voice: str, button: int) -> None:
        visitor.until(lambda: len(visitor.browser.find_elements(By.CSS_SELECTOR, f"{voice} button")) >= button)
        visitor.one(f"{voice} button:nth-of-type({button})").click()

    show(visitor, "system")
    visitor.one('[data-group="voice"] > summary').click()
    emma = '[data-voice="hibari-en_GB-emma"] .about'
    visitor.until(lambda: "British English\xa0· hibari" in visitor.text(emma))
    visitor.one(".voices details summary").click()
    assert "Thorsten" in visitor.one('.voices details [data-voice="piper-de_DE-thorsten-medium"]').text
    small = '[data-voice="small-voice"]'
    act(small, 1)  # download
    act(small, 2)  # use: the first is now the one to hear it
    visitor.until(lambda: "Saved. It takes effect at the next start." in visitor.text(".voices .result"))
    act(small, 1)
    visitor.until(lambda: "It spoke for 0.1 s." in visitor.text(".voices .result"))


def test_a_person_is_added_recognised_found_in_the_conversation_and_removed(
    visitor: BrowserPage, behind: VoiceServer, voices: OneVoice
) -> None:
    def speak() -> str:
        before = len(visitor.turns())
        visitor.one("#microphone").click()
        turn = visitor.answered(before)
        visitor.one("#microphone").click()
        return turn.find_element(By.CSS_SELECTOR, ".from").text

    hear(visitor, voiced(0.8), is_looped=True)
    show(visitor, "system")
    visitor.one('[data-group="people"] > summary').click()
    visitor.one(".people p .quiet").click()  # downloads the encoder of voices
    visitor.until(lambda: visitor.one(".people input").is_displayed())
    assert not visitor.one(".people > div > .quiet").is_displayed()  # no person is enrolled yet
    visitor.one(".people input").send_keys("Anna" + Keys.ENTER)
    assert recorded(visitor, 3) == "Anna is known by voice now."
    visitor.until(lambda: visitor.text(".people li .name") == "Anna")
    visitor.one(".people > div > .quiet").click()
    assert recorded(visitor, 1) == "This is Anna."
    show(visitor, "talk")
    hear(visitor, SPOKEN)
    assert speak() == "Anna"
    voices.number = 2
    hear(visitor, SPOKEN)
    assert speak() == "guest"
    visitor.until(lambda: len(visitor.browser.find_elements(By.CSS_SELECTOR, "#history-speaker option")) == 3)
    visitor.one("#history-speaker").send_keys("Anna")
    visitor.until(lambda: visitor.text("#past .from") == "Anna")
    assert len(visitor.browser.find_elements(By.CSS_SELECTOR, "#past .turn")) == 1
    show(visitor, "system")
    visitor.one('[data-person="Anna"] button').click()
    visitor.until(lambda: not visitor.browser.find_elements(By.CSS_SELECTOR, "[data-person]"))
    assert behind.assistant.speakers is not None
    assert not behind.assistant.speakers.people.all()


def test_the_rooms_are_seen_muted_and_spoken_to(
    visitor: BrowserPage, behind: VoiceServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = {"room": "Cellar", "kind": "wyoming", "problem": "it does not answer"}
    monkeypatch.setattr(behind.hub, "configured", lambda: {"box": gone})
    show(visitor, "system")
    visitor.one('[data-group="rooms"] > summary').click()
    kitchen, cellar = '[data-satellite="shelf"]', '[data-satellite="box"]'
    visitor.until(lambda: "does not answer" in visitor.text(f"{cellar} .phrase"))
    assert not visitor.one(f"{cellar} button").is_enabled()
    assert visitor.text(f"{kitchen} .name").startswith("Kitchen")
    visitor.one(f"{kitchen} [role=switch]").click()
    visitor.until(lambda: visitor.text(f"{kitchen} .phrase") == "muted")
    assert behind.hub.is_muted("shelf")
    # It is drawn again by then, and the focus is where it was.
    visitor.until(lambda: visitor.does("return document.activeElement.matches(given[0])", f"{kitchen} [role=switch]"))
    visitor.press(Keys.SPACE)
    visitor.until(lambda: visitor.text(f"{kitchen} .phrase") != "muted")
    assert not behind.hub.is_muted("shelf")
    visitor.one(f"{kitchen} button").click()
    visitor.until(lambda: visitor.text(".satellites .result") == "Kitchen could not be reached.")  # no engine speaks


def test_the_turns_of_a_room_are_shown_alone_and_copied_until_something_is_asked(visitor: BrowserPage) -> None:
    def stand_in(room: str) -> None:
        show(visitor, "system")
        visitor.until(lambda: visitor.browser.find_elements(By.ID, "device-room"))
        visitor.does(CHOOSE, "#device-room", room)
        visitor.until_connected()
        show(visitor, "talk")

    visitor.does("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    stand_in("Kitchen")
    visitor.ask("How warm is the kettle?")
    stand_in("")
    visitor.ask("How tall is the tower?")
    visitor.one("#history-room").send_keys("Kitchen")
    visitor.until(lambda: "kettle" in visitor.text("#past"))
    assert "tower" not in visitor.text("#past")
    assert not visitor.one("#turn-list").is_displayed()
    assert visitor.text("#past .turn .from") == "Kitchen"
    visitor.one("#history-copy").click()
    visitor.until(lambda: visitor.text("#history-copy") == "Copied")
    assert visitor.does("return copied").endswith("Kitchen: How warm is the kettle?\nHello there.")
    visitor.ask("And now?")
    assert visitor.one("#turn-list").is_displayed()
    assert visitor.one("#history-room").get_attribute("value") == ""
    visitor.turns()[-1].find_element(By.XPATH, ".//button[text()='Copy']").click()
    visitor.until(lambda: visitor.does("return copied") == "And now?\nHello there.")


def test_words_that_are_not_certain_are_shown_until_they_are_and_markup_stays_text(visitor: BrowserPage) -> None:
    guessed, final = visitor.does(HEARD)
    assert guessed == ["Turn on the", False]
    assert final == ["", True]
    assert "<img src=x>" in visitor.text(".turn:last-child .said")
    assert not visitor.browser.find_elements(By.CSS_SELECTOR, "#turn-list img")
    turn = visitor.ask("sing a lullaby")
    assert turn.find_element(By.CSS_SELECTOR, ".reply strong").text == "Two"
    reply = turn.find_element(By.CSS_SELECTOR, ".reply").text
    assert "• Brahms <b>, slowly, a [c](javascript:d)\n# e" in reply
    link = turn.find_element(By.CSS_SELECTOR, ".reply a")
    assert (link.get_attribute("href"), link.get_attribute("rel")) == ("https://a.test/b", "noopener noreferrer")
    assert turn.find_element(By.CSS_SELECTOR, ".reply pre code").text == "# e"


def test_neither_silent_turns_nor_the_wait_for_a_yes_count_as_waiting_for_an_answer(visitor: BrowserPage) -> None:
    words, lengths_ms, verdict, slow = visitor.does(TIMED)
    assert "One turn was answered, the first sound after 800\xa0ms. 1 without sound" in words
    assert lengths_ms == [500, 1500, 300]  # the question is spoken for a second of the wait
    assert "as quick as usual" in verdict
    assert "was slow: its first sound came after 3.00\xa0s, usually after 800\xa0ms. Most of it: first word" in slow
    assert slow.endswith("It has been slow since 11:00.")


def test_the_time_for_a_spoken_yes_counts_down_from_the_end_of_the_question(visitor: BrowserPage) -> None:
    assert visitor.does(COUNTED) == "No answer is a no, in 8 s."


def test_the_worklets_resampler_keeps_what_fits_and_drops_what_would_fold_back(visitor: BrowserPage) -> None:
    """A tone of 1 kHz goes from 48 to 16 kHz as loud as it was; one of 10 kHz would come out as 6 kHz."""
    loudness = visitor.does(RESAMPLED)
    (kept_samples, kept), (_samples, folded) = loudness
    assert abs(kept_samples - 16_000) <= 1
    assert kept == pytest.approx(0.7071, rel=0.01)
    assert folded < 0.001


def test_a_passage_that_is_cut_off_is_dropped_and_says_how_much_was_heard(visitor: BrowserPage) -> None:
    visitor.one("h1").click()  # without it, a browser allows no sound
    (cut, cut_is_played), (whole, whole_is_played) = visitor.does(CUT_OFF)
    assert 0 < cut < 2 * RATE_HZ
    assert not cut_is_played
    # What was left of the first is not played before the second.
    assert (whole, whole_is_played) == (RATE_HZ // 4, True)


@pytest.mark.parametrize("language", ["en", pytest.param("de", marks=pytest.mark.long)])
def test_axe_finds_nothing_and_narrow_and_enlarged_pages_fit(
    chromium: Chromium, behind: VoiceServer, language: str, request: pytest.FixtureRequest
) -> None:
    request.addfinalizer(lambda: chromium.colours("light"))
    request.addfinalizer(lambda: chromium.language("en"))
    behind.records[:] = behind.records[-3:]  # more of the same would only take longer
    chromium.language(language)
    chromium.size(*PHONE, is_phone=True)
    chromium.open("about:blank")
    chromium.open(f"{behind.url}/#token={OWNER}")
    chromium.until(lambda: chromium.state_of("light.kitchen"))
    chromium.ask("What time is it?")
    tap(chromium, "cover.garage_door")
    chromium.one(".asked .no")
    show(chromium, "system")
    chromium.one('[data-satellite="shelf"]')
    chromium.does("for (const part of document.querySelectorAll('details')) part.open = true")
    faults = axe(chromium, STRUCTURE)
    for width in (NARROWEST, DESKTOP[0] // 2):  # what 200 % leaves of a desktop
        chromium.size(width, DESKTOP[1] // 2)
        for view in VIEWS:
            show(chromium, view)
            assert chromium.does(TOO_WIDE) == [], (width, view)
    chromium.size(*DESKTOP)  # all views at once
    for scheme in ("light", "dark"):
        chromium.colours(scheme)
        faults += axe(chromium, {} if scheme == "light" else CONTRAST)
    if language == "de":
        chromium.size(*PHONE, is_phone=True)
        for view, scheme in itertools.product(VIEWS, ("light", "dark")):
            chromium.colours(scheme)
            show(chromium, view)
            faults += axe(chromium, CONTRAST)
        assert "Turn on the kitchen light" in chromium.text("#examples")  # what is said is in the assistant's language
        assert "Einschalten, öffnen, abschließen" in chromium.text('[data-tool="turn_on"]')
        assert "länger nach einem ganzen Satz" in chromium.text('[for="setting-audio.hangover_ms"]')
    chromium.does("document.querySelector('.confirmation .no')?.click()")  # unless it was too late for an answer
    assert faults == []


def test_every_text_is_in_the_catalogue_in_both_languages(visitor: BrowserPage, behind: VoiceServer) -> None:
    english, german = map(set, visitor.does(KEYS))
    assert english == german
    sources = "".join(file.decode() for name, file in page_files().items() if not name.endswith("png"))
    used = re.findall(r'\bt\("([\w.]+)"|data-(?:text|label|placeholder)="([\w.]+)"', sources)
    assert {one or other for one, other in used} <= english
    settings = {setting.name for setting in editable_settings()} - {"tts.voice"}
    assert {f"setting.{name}" for name in settings} <= english
    assert behind.toolbox is not None
    of_server = {f"about.{name}" for name in settings} | {f"tool.{tool.name}" for tool in behind.toolbox.registry}
    of_server |= {f"why.{reason}" for reason in (*REFUSALS, USER_SAID_NO)}
    assert of_server <= set(visitor.does(OF_SERVER))


def test_a_walk_through_all_views_is_small_its_first_paint_quick_and_it_can_be_installed(visitor: Chromium) -> None:
    url = visitor.browser.current_url
    visitor.command("Network.enable")
    visitor.command("Network.setBypassServiceWorker", bypass=True)  # of what it passes on, sizes are not known
    page_ms = min(visitor.paint_ms(url) for _load in range(LOADS))  # other tests may run beside it
    visitor.until_connected()
    visit_bytes, _uncompressed, _files = visitor.loaded()
    for view in VIEWS:
        show(visitor, view)
    visitor.one('[data-satellite="shelf"]')
    walk_bytes, _uncompressed, files = visitor.loaded()
    visitor.command("Network.disable")
    assert files > len(page_files()) * 3 / 4
    assert visit_bytes < MOST_VISIT_BYTES
    assert walk_bytes < MOST_BYTES
    assert page_ms < FIRST_PAINT_MS
    assert visitor.command("Page.getInstallabilityErrors") == {"installabilityErrors": []}


def test_without_a_server_the_page_opens_says_so_and_connects_when_it_is_back(
    chromium: Chromium, tmp_path: Path
) -> None:
    folders, port = Folders(tmp_path / "config", tmp_path / "state", tmp_path / "models"), free_port()
    with page_server(folders, {}, port=port) as behind:
        url = behind.url
        chromium.open(f"{url}/#token={OWNER}")
        chromium.until_connected()
        kept = "return (await (await caches.open('edgevox-page')).keys()).length"
        chromium.until(lambda: chromium.does(kept) > len(page_files()) / 2)
    chromium.open(f"{url}/")
    chromium.until(lambda: "The assistant does not answer" in chromium.text("#notice"))
    assert "trying again" in chromium.text("#connection-words")
    assert chromium.text("#state-words") == "Not connected"
    with page_server(folders, {}, port=port):
        chromium.until_connected()
        chromium.until(lambda: chromium.state_of("light.kitchen"))
        assert not chromium.one("#notice").is_displayed()
        show(chromium, "system")
        chromium.until(lambda: "edgevox satellite" in chromium.text(".satellites .note"))  # no room listens yet


def test_the_token_leaves_the_address_is_kept_and_a_wrong_or_missing_one_is_explained(
    visitor: BrowserPage, behind: VoiceServer
) -> None:
    assert visitor.browser.current_url == f"{behind.url}/"
    visitor.open(f"{behind.url}/")
    visitor.until_connected()
    visitor.open("about:blank")
    visitor.open(f"{behind.url}/#token=edgevox-not-one-that-is-known")
    visitor.until(lambda: visitor.one("#key").is_displayed())
    assert "is unknown" in visitor.text("#key-why")
    visitor.one("#key-field").send_keys(OWNER + Keys.ENTER)
    visitor.until_connected()
    assert not visitor.one("#key").is_displayed()
    visitor.does("localStorage.clear(); sessionStorage.clear();")
    visitor.open(f"{behind.url}/")
    visitor.until(lambda: visitor.one("#key").is_displayed())
    assert "edgevox open" in visitor.text("#key-why")
    assert visitor.does(TOO_WIDE) == []
    assert not visitor.one("#composer").is_displayed()  # there is one thing to do
    visitor.open(f"{behind.url}/#token={OWNER}")  # in the same tab: the page stays loaded
    visitor.until(lambda: visitor.one("#composer").is_displayed())
    visitor.until_connected()
    visitor.open(f"{behind.url}/v1/home")
    assert "edgevox open" in visitor.text("body")


def test_nothing_was_said_against_it(chromium: Chromium) -> None:
    said = "".join(chromium.complaints())
    assert "Content Security Policy" not in said
    assert "Uncaught" not in said

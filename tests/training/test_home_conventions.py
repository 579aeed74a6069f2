"""What words mean for the slots: the conventions that the data must never contradict."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from edgevox.home.entities import Area, Entity, House
from edgevox.home.intents.catalogue import catalogue
from training.home import sensor_questions, state_questions
from training.home.commands import alarms, ambiguous_names, chores, lists, media, set_values, switching, timers
from training.home.houses import DEMO, KnownHome, random_house
from training.home.lexicon.devices import LIGHT
from training.home.lexicon.values import Numbers, duration
from training.home.phrasing import phrase_request, sounds_like_a_question
from training.home.speaker import Request, Speaker, is_room_and_kind
from training.home.templates import Grammar, home_call, pattern
from training.types import Call, write_calls

_LISTED = House(
    (Entity("light.a", "Kitchen Light", "light", "off", area="kitchen"),),
    areas=(Area("kitchen", "Kitchen"), Area("office", "Office")),
)


def _drawn(builder: Callable[[Speaker], Request], house: House | None, times: int = 400) -> Iterator[Request]:
    known = KnownHome(house)
    for seed in range(times):
        speaker = Speaker(random.Random(seed), known)
        speaker.slips = False
        yield builder(speaker)


def test_a_room_and_a_kind_is_a_name_only_where_a_thing_is_called_so() -> None:
    said = [phrase for phrase in _kinds(_LISTED) if phrase.text.removeprefix("the ") == "kitchen light"]
    unlisted = [phrase for phrase in _kinds(_LISTED) if phrase.text.removeprefix("the ") == "office light"]
    assert said
    assert unlisted
    assert all(phrase.slots == {"name": "kitchen light"} for phrase in said)
    assert all(phrase.slots == {"area": "office", "domain": "light"} for phrase in unlisted)


def _kinds(house: House) -> list:  # type: ignore[type-arg]  # of phrases
    known = KnownHome(house)
    return [Speaker(random.Random(seed), known).kind(LIGHT, single=0.5) for seed in range(600)]


def test_a_plural_means_all_of_a_kind_even_where_a_thing_is_called_so() -> None:
    for made in _drawn(switching.turn_on, DEMO, 1500):
        assert made.calls[0].arguments.get("name") not in ("garden lights", "curtains", "living room blinds"), made


def test_locking_turns_on_and_unlocking_turns_off() -> None:
    assert {made.calls[0].tool for made in _drawn(switching.lock, None)} == {"turn_on"}
    assert {made.calls[0].tool for made in _drawn(switching.unlock, None)} == {"turn_off"}


@pytest.mark.parametrize("house", [None, DEMO])
def test_lights_are_set_without_a_domain(house: House | None) -> None:
    for builder in (set_values.brightness, set_values.colour):
        for made in _drawn(builder, house):
            assert "domain" not in made.calls[0].arguments


def test_binary_sensors_are_asked_about_with_their_class() -> None:
    for made in _drawn(sensor_questions.sensed_named, None):
        slots = made.calls[0].arguments
        assert slots["domain"] == "binary_sensor"
        assert slots["state"] in ("on", "off")
        assert "device_class" in slots


def test_the_shopping_list_has_no_remove_of_its_own() -> None:
    removed = [made.calls[0] for made in _drawn(lists.delete, None)]
    assert {call.tool for call in removed} == {"list_remove_item"}
    assert any(call.arguments["name"] == "shopping" for call in removed)


def test_a_volume_step_has_the_sign_of_its_words() -> None:
    for made in _drawn(media.volume_step, None):
        step = made.calls[0].arguments["volume_step"]
        if any(word in made.text for word in ("quieter", "softer", "lower", "reduce")):
            assert step == "down" or (isinstance(step, int) and step < 0), made


def test_here_fills_no_slot() -> None:
    for made in _drawn(switching.light_on, DEMO):
        if made.text.endswith(("in here", "in this room")):
            assert made.calls[0].arguments == {"domain": "light"}


def test_a_later_command_is_kept_in_its_own_words() -> None:
    for made in _drawn(timers.later, DEMO, 100):
        assert str(made.calls[0].arguments["conversation_command"]) in made.text


@pytest.mark.parametrize("house", [None, DEMO])
def test_stopping_a_vacuum_sends_it_to_its_dock(house: House | None) -> None:
    for builder in (chores.stopped, ambiguous_names.stopped):
        for made in _drawn(builder, house):
            assert made.calls[0].tool in ("vacuum_return_to_base", "lawn_mower_dock"), made


@pytest.mark.parametrize("house", [None, DEMO])
def test_music_that_is_turned_off_is_neither_muted_nor_paused(house: House | None) -> None:
    for made in _drawn(media.music_off, house):
        assert made.calls[0].tool == "turn_off"
        assert made.calls[0].arguments["domain"] == "media_player"


def test_water_in_a_garden_is_its_valve_unless_a_thing_is_called_so() -> None:
    areas = (Area("garden", "Garden"),)
    valve = Entity("valve.a", "Zone 1", "valve", "closed", area="garden")
    sprinkler = Entity("switch.a", "Sprinkler", "switch", "off", area="garden")
    for made in _drawn(switching.watered, House((valve,), areas=areas)):
        assert made.calls[0].arguments == {"area": "garden", "domain": "valve"}, made
    for made in _drawn(switching.watered, House((valve, sprinkler), areas=areas)):
        assert not any(words in made.text for words in ("watering", "water on", "water off", "water the")), made


def test_the_last_word_counts_in_a_correction() -> None:
    for made in _drawn(switching.corrected, None, 100):
        assert made.calls[0].tool == f"turn_{'on' if made.text.removesuffix(' instead').endswith(' on') else 'off'}"


def test_a_request_taken_back_is_forgotten() -> None:
    speaker = Speaker(random.Random(1), KnownHome(None))
    order = switching.turn_on(speaker)
    assert chores.taken_back(speaker, order).calls == (Call("nevermind", {}),)


@pytest.mark.parametrize(
    ("words", "slots"),
    [
        ("half an hour", {"minutes": 30}),
        ("an hour and a half", {"hours": 1, "minutes": 30}),
        ("a quarter of an hour", {"minutes": 15}),
        ("a minute and a half", {"minutes": 1, "seconds": 30}),
    ],
)
def test_lengths_of_time_mean_what_is_said(words: str, slots: dict[str, int]) -> None:
    drawn = (duration(rng := random.Random(seed), Numbers(rng)) for seed in range(3000))
    assert next(found for text, found, _ in drawn if text == words) == slots


def test_the_example_sentences_of_the_catalogue_are_not_needed_to_name_every_tool() -> None:
    made = {said.calls[0].tool for module in _MODULES for _, builder in module for said in _drawn(builder, DEMO, 60)}
    assert made == {tool.name for tool in catalogue().values()} - {"respond"}


_MODULES = (
    switching.BUILDERS, set_values.BUILDERS, state_questions.STATE_BUILDERS,
    state_questions.WARMTH_BUILDERS, media.BUILDERS,
    timers.BUILDERS, alarms.BUILDERS, lists.BUILDERS, chores.BUILDERS,
)  # fmt: skip


def test_calls_are_written_as_the_contract_says() -> None:
    calls = (home_call("light_set", brightness=40, name='the "big" lamp'), Call("media_pause"))
    assert write_calls(calls) == '[light_set(name="the \\"big\\" lamp", brightness=40), media_pause()]'
    assert write_calls((Call("f", {"a": True, "b": [1, "x"], "c": {"d": 0.5}, "e": None}),)) == (
        '[f(a=True, b=[1, "x"], c={"d": 0.5}, e=None)]'
    )


def test_a_pattern_draws_each_of_its_wordings() -> None:
    line = pattern("!", "(turn|switch) on [all] {t}")
    said = {line.say(random.Random(seed), {"t": "lights"}) for seed in range(60)}
    assert said == {"turn on lights", "switch on lights", "turn on all lights", "switch on all lights"}


def test_a_line_counts_as_often_as_it_says() -> None:
    assert len(Grammar("3! one\n. two").patterns) == 4


def test_orders_are_put_politely_and_questions_are_heard_as_questions() -> None:
    order = Request("!", "turn on the lamp", ())
    put_so = {phrase_request(random.Random(seed), order) for seed in range(400)}
    assert len(put_so) > 60
    assert "would you mind turning on the lamp" in put_so
    assert sounds_like_a_question("hey, can you turn on the lamp")
    assert not sounds_like_a_question("have the lamp on")


def test_random_homes_are_of_every_size() -> None:
    sizes = [len(random_house(random.Random(seed)).entities) for seed in range(200)]
    assert min(sizes) < 3
    assert max(sizes) > 35


def test_a_room_with_a_kind_is_told_from_a_name() -> None:
    assert is_room_and_kind("kitchen light")
    assert is_room_and_kind("garage door")
    assert not is_room_and_kind("desk lamp")

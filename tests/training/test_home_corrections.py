"""Words taken back, things that stay as they are, stories, lists, bare nouns: what counts of them."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

import pytest

from edgevox.home.entities import Area, Entity, Floor, House
from training.home import device_questions, state_questions
from training.home.commands import chores, corrections, lists, media, set_values, short_commands
from training.home.houses import DEMO, KnownHome
from training.home.speaker import Request, Speaker

_VERBS = re.compile(
    r"\b(turn|switch|put) (?:it |them )?(on|off)|\b(open|close|shut|raise|lower|lock|unlock|start|stop)\b"
)
_ONS = frozenset({"on", "open", "raise", "lock", "start"})
_HOUSE = House(
    (Entity("light.a", "Reef", "light", "", (), "a0"),),
    (Area("a0", "Attic", (), "f0"), Area("a1", "Study", (), "f0")),
    (Floor("f0", "Cellar"),),
)


def _drawn(builder: Callable[[Speaker], Request], house: House | None, count: int = 400) -> list[Request]:
    known = KnownHome(house)
    made = []
    for seed in range(count):
        speaker = Speaker(random.Random(seed), known)
        speaker.slips = False
        made.append(builder(speaker))
    return made


def test_the_last_verb_counts() -> None:
    for made in _drawn(corrections.verb, None):
        if made.calls[0].arguments.get("domain") == "lock":  # a lock is no verb, but looks like one
            continue
        verbs = [found[2] or found[3] for found in _VERBS.finditer(_without_name(made))]
        assert made.calls[0].tool == ("turn_on" if verbs[-1] in _ONS else "turn_off"), made


def test_the_last_state_counts() -> None:
    for made in _drawn(corrections.state, None):
        words = re.findall(r"\b(on|off|up|down|open|closed|shut)\b", _without_name(made))
        expected = "turn_off" if words[-1] in ("off", "down", "closed", "shut") else "turn_on"
        assert made.calls[0].tool == expected, made


def _without_name(made: Request) -> str:
    """The words of the command: a name may hold verbs, and a place that ends the sentence an "on"."""
    text = made.text
    for slot in ("name", "area", "floor"):
        if value := made.calls[0].arguments.get(slot):
            if slot != "name":
                text = re.sub(rf" on (the |my |our )?{re.escape(str(value))}( please)?$", "", text)
            text = text.replace(str(value), "")
    return text


def test_what_stands_before_a_noun_is_taken_back() -> None:
    for made in _drawn(corrections.qualifier, DEMO):
        name = str(made.calls[0].arguments["name"])
        assert made.text.removesuffix(" on").removesuffix(" off").endswith(name), made


def test_what_is_spared_gets_no_call() -> None:
    for made in _drawn(corrections.with_exclusion, DEMO):
        assert len(made.calls) == 1
        for value in made.calls[0].arguments.values():
            assert str(value) in made.text or value in ("light", "fan", "cover", "blind", "curtain", "shutter")
    kept = [made for made in _drawn(corrections.with_exclusion, DEMO) if re.match("(leave|keep) ", made.text)]
    assert kept
    for made in kept:
        spared = re.split(r", | but ", made.text)[0]
        name = made.calls[0].arguments.get("name")
        assert name is None or not spared.endswith((f" {name} on", f" {name} off", f" {name} open")), made


def test_a_story_fills_no_slot() -> None:
    for made in _drawn(corrections.with_story, DEMO):
        assert "area" not in made.calls[0].arguments
        assert len(made.calls) == 1


@pytest.mark.parametrize("builder", [builder for _, builder in lists.BUILDERS])
def test_items_and_lists_are_copied(builder: Callable[[Speaker], Request]) -> None:
    for made in _drawn(builder, DEMO):
        for value in made.calls[0].arguments.values():
            assert str(value) in made.text, made
            assert value not in ("one", "that one", "that", "it")


def test_a_list_of_two_words_keeps_both() -> None:
    named = [made.calls[0].arguments["name"] for made in _drawn(lists.add, None, 1500)]
    assert "cleaning rota" in named
    assert "rota" not in named


def test_the_supermarket_list_is_the_shopping_list() -> None:
    for made in _drawn(lists.buy, None):
        assert made.calls[0].tool == "shopping_list_add_item"
        assert made.calls[0].arguments.keys() == {"item"}
    assert any("supermarket list" in made.text for made in _drawn(lists.buy, None))


@pytest.mark.parametrize("house", [None, DEMO])
def test_a_named_thing_is_asked_about_without_its_domain(house: House | None) -> None:
    for builder in (
        state_questions.own_state_named,
        state_questions.cover_state,
        device_questions.robots,
        device_questions.single_of_kind,
    ):
        for made in _drawn(builder, house):
            slots = made.calls[0].arguments
            if "name" in slots:
                assert slots.get("domain") in (None, "binary_sensor"), made


def test_shut_is_closed_and_not_locked_is_unlocked() -> None:
    for made in _drawn(state_questions.own_state_named, None, 1000):
        state = made.calls[0].arguments["state"]
        if made.text.endswith(" shut"):
            assert state == "closed", made
        if made.text.endswith((" unlocked", " not locked")):
            assert state == "unlocked", made


def test_the_list_says_what_is_a_floor() -> None:
    for seed in range(500):
        speaker = Speaker(random.Random(seed), KnownHome(_HOUSE))
        assert speaker.area() != "cellar"
        assert speaker.floor() != "attic"


def test_a_bare_noun_turns_on() -> None:
    assert {made.calls[0].tool for made in _drawn(short_commands.noun, DEMO)} == {"turn_on"}


def test_a_room_that_is_to_be_vacuumed_is_an_area() -> None:
    had = [made for made in _drawn(chores.vacuum_room, None, 800) if re.match("(have|get) .* vacuumed", made.text)]
    assert had
    assert {made.calls[0].tool for made in had} == {"vacuum_clean_area"}


def test_a_notch_is_a_step_without_a_number() -> None:
    notched = [made for made in _drawn(media.volume_step, None, 1500) if "notch" in made.text]
    assert notched
    assert {made.calls[0].arguments["volume_step"] for made in notched} == {"up", "down"}


def test_colour_and_brightness_are_both_kept() -> None:
    for made in _drawn(set_values.colour_and_brightness, DEMO):
        assert {"brightness", "color"} <= made.calls[0].arguments.keys()


def test_what_stands_behind_not_is_not_meant() -> None:
    for made in _drawn(corrections.not_but, DEMO):
        name = str(made.calls[0].arguments["name"])
        qualifier = name.split(" ", 1)[0]
        assert made.calls[0].arguments.keys() == {"name"}
        assert f"not the {qualifier} " not in f"{made.text} ", made
        told = re.findall(r"\b(on|off|open|closed?|shut|raise|lower|locked|unlocked|lock|unlock)\b", made.text)
        assert told, made
        off = {"off", "close", "closed", "shut", "lower", "unlock", "unlocked"}
        # "lower" may be one of two sides as well.
        assert made.calls[0].tool == "turn_off" or set(told) - off, made


def test_the_one_that_is_called_so_is_meant_by_its_name_alone() -> None:
    for made in _drawn(corrections.called, DEMO):
        name = str(made.calls[0].arguments["name"])
        assert made.calls[0].arguments.keys() == {"name"}
        assert made.text.removesuffix(" on").removesuffix(" off").endswith(name), made


def test_the_colour_that_is_not_denied_counts() -> None:
    for made in _drawn(corrections.colour, None):
        assert f"not {made.calls[0].arguments['color']}," not in made.text, made


def test_a_reason_with_a_place_adds_no_call() -> None:
    for made in _drawn(corrections.with_reason_at_place, DEMO):
        assert len(made.calls) == 1
        assert str(made.calls[0].arguments["area"]) in made.text


def test_a_comparison_leaves_the_plain_colour() -> None:
    made = _drawn(set_values.shaded, DEMO)
    mars = [one for one in made if one.calls[0].arguments["color"] == "red"]
    assert any(" like " in one.text for one in mars)
    assert any({"brightness", "color"} <= one.calls[0].arguments.keys() for one in made)
    assert {" " in str(one.calls[0].arguments["color"]) for one in made} == {False}


def test_an_announcement_is_kept_whole() -> None:
    made = _drawn(chores.broadcast, DEMO, 800)
    assert all(str(one.calls[0].arguments["message"]) in one.text for one in made)
    ends = [one for one in made if one.form == ":"]
    assert all(one.text.endswith(str(one.calls[0].arguments["message"])) for one in ends)

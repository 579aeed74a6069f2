"""Alarms, reminders and the panel: times are copied, and the borders to timers, lists and panels hold."""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable

import pytest

from edgevox.home.entities import Area, Entity, House
from training import no_call
from training.home.commands import alarms, timers
from training.home.houses import DEMO, KnownHome
from training.home.lexicon.values import moment
from training.home.speaker import Request, Speaker
from training.scenes import scenes

_NO_PANEL = House((Entity("light.a", "Reef", "light", "", (), "a0"),), (Area("a0", "Study"),), ())
_PANEL = House(
    (Entity("alarm_control_panel.a", "Fortress", "alarm_control_panel", "", ("House Alarm",), "a0"),),
    (Area("a0", "Study"),),
    (),
)
_REMINDED = re.compile(r"remind me|wake me|set an alarm", re.IGNORECASE)


def _drawn(builder: Callable[[Speaker], Request], house: House | None, count: int = 500) -> list[Request]:
    return [builder(Speaker(random.Random(seed), KnownHome(house))) for seed in range(count)]


@pytest.mark.parametrize("builder", [builder for _, builder in alarms.BUILDERS])
def test_times_names_and_tasks_are_copied_from_what_is_said(builder: Callable[[Speaker], Request]) -> None:
    for made in _drawn(builder, DEMO):
        for value in made.calls[0].arguments.values():
            assert str(value) in made.text, made


@pytest.mark.parametrize("builder", [builder for _, builder in alarms.BUILDERS])
def test_a_time_begins_with_no_preposition_but_in(builder: Callable[[Speaker], Request]) -> None:
    for made in _drawn(builder, None):
        time = str(made.calls[0].arguments.get("time", ""))
        assert not time.startswith(("at ", "for ", "on ")), made


def test_times_are_said_in_many_ways() -> None:
    said = {moment(random.Random(seed)).text for seed in range(2000)}
    assert len(said) > 1200
    assert any(re.fullmatch(r"\d+:\d\d", text) for text in said)
    assert "half past six" in said


def test_what_is_to_be_bought_without_a_time_is_no_reminder() -> None:
    for made in _drawn(alarms.set_reminder, None, 1500):
        slots = made.calls[0].arguments
        assert "time" in slots or not str(slots["task"]).startswith(("buy ", "get ", "pick up ")), made


def test_an_alarm_for_a_length_of_time_is_a_timer() -> None:
    for made in _drawn(timers.start, None, 1500):
        if "alarm" in made.text or "remind" in made.text:
            assert made.calls[0].tool == "start_timer"
            assert made.calls[0].arguments.keys() <= {"hours", "minutes", "seconds", "name"}


def test_a_panel_is_named_only_where_it_is_listed() -> None:
    for builder in (alarms.arm, alarms.disarm, alarms.armed):
        named = {made.calls[0].arguments.get("name") for made in _drawn(builder, _PANEL)}
        assert {"fortress", "house alarm"} <= named
        assert named <= {"fortress", "house alarm", "garage alarm", "security panel", None}


def test_the_alarm_is_the_panel_where_there_is_one_and_rings_where_there_is_none() -> None:
    bare = re.compile(r"(turn|switch|shut) off the alarm|(turn|switch) the alarm off")
    for house, tool in ((_PANEL, "turn_off"), (_NO_PANEL, "cancel_alarm")):
        made = [*_drawn(alarms.cancel, house, 2000), *_drawn(alarms.disarm, house, 2000)]
        found = {one.calls[0].tool for one in made if bare.fullmatch(one.text)}
        assert found == {tool}


def test_setting_the_alarm_without_a_time_sets_the_panel() -> None:
    for made in _drawn(alarms.arm, _PANEL):
        assert made.calls[0].tool == "turn_on"
        assert "time" not in made.calls[0].arguments


def test_a_clock_time_for_the_home_itself_is_refused_but_no_reminder_is() -> None:
    refused = [
        no_call.out_of_scope(Speaker(random.Random(seed), KnownHome(None)), other_tools=False) for seed in range(2000)
    ]
    assert any(" at " in text and answer in no_call.NO_SCHEDULE for text, _, answer in refused)
    assert not any(_REMINDED.search(text) for text, _, _ in refused)


def test_nothing_that_asks_for_an_alarm_is_refused_where_alarms_are_offered() -> None:
    for scene in itertools.islice(scenes(23), 150):
        if "\nset_alarm(" not in scene.system or "\nset_reminder(" not in scene.system:
            continue
        for dialogue in scene.dialogues:
            if dialogue.category == "refusal":
                assert not _REMINDED.search(dialogue.lines[0].text), dialogue

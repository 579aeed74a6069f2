"""Calls are shown as what they do."""

from __future__ import annotations

import json

import pytest

from edgevox.core.languages import replying_in
from edgevox.core.types import ToolCall
from edgevox.core.words import past_tense
from edgevox.home.intents.call_phrases import call_phrase
from edgevox.home.intents.catalogue import known_tools
from tests.home.conftest import Bench


def summary(bench: Bench, tool: str, **arguments: object) -> str:
    return bench.executor.resolve(ToolCall("1", tool, json.dumps(arguments))).call.summary


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("turn_off", {"name": "front door"}, "Unlock front door"),
        ("turn_on", {"name": "garage door"}, "Open garage door"),
        ("turn_on", {"name": "burglar alarm"}, "Arm alarm"),
        ("turn_off", {"domain": "light"}, "Turn off 10 lights"),
        ("light_set", {"area": "living room", "brightness": 40}, "Set living room light and floor lamp to 40 percent"),
        ("climate_set_temperature", {"temperature": 21.5}, "Set thermostat to 21.5 degrees"),
        ("media_pause", {"name": "tv"}, "Pause TV"),
        ("shopping_list_add_item", {"item": "milk"}, "Add milk to shopping list"),
        ("vacuum_clean_area", {"area": "kitchen"}, "Clean kitchen with robot vacuum"),
        ("start_timer", {"minutes": 5}, "Start a timer of 5 minutes"),
        ("turn_off", {"name": "no such thing"}, "Turn off no such thing"),
        ("cancel_all_timers", {}, "Cancel all timers"),
    ],
)
def test_a_call_is_put_in_words(bench: Bench, tool: str, arguments: dict[str, object], words: str) -> None:
    assert summary(bench, tool, **arguments) == words


def test_a_call_is_put_in_german_words_and_stays_so_when_it_was_made(bench: Bench) -> None:
    with replying_in("de"):
        said = [
            summary(bench, "turn_off", name="front door"),
            summary(bench, "light_set", name="floor lamp", brightness=40),
            summary(bench, "start_timer", minutes=9, name="pasta"),
            summary(bench, "cancel_all_timers"),
        ]
    assert said == [
        "Front Door · aufschließen",
        "Floor Lamp · 40 Prozent",
        "Timer · pasta · 9 Minuten",
        "Alle Timer · abbrechen",
    ]
    assert [past_tense(one) for one in said] == said


def test_a_call_that_was_made_is_phrased_in_the_past_tense() -> None:
    commands = ("Unlock front door", "Stop blinds", "Set fan to 40 percent", "Open garage door", "Dim 3 lights")
    done = ["Unlocked front door", "Stopped blinds", "Set fan to 40 percent", "Opened garage door", "Dimmed 3 lights"]
    assert [past_tense(command) for command in commands] == done


def test_every_tool_says_what_it_does_with_a_verb(bench: Bench) -> None:
    assert summary(bench, "timer_status", name="pasta") == "Check the pasta timer"
    assert [tool for tool in known_tools() if not call_phrase(tool, {})] == []

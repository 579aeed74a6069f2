"""Relative changes start from the current value of each device."""

from __future__ import annotations

import json

import pytest

from edgevox.home.clauses.relative import parse_relative
from tests.home.conftest import Bench
from tests.home.talk import Talk


@pytest.mark.parametrize(
    ("text", "command", "step"),
    [
        ("brighter", "set the lights to 50 percent", 20),
        ("A bit brighter, please.", "set the lights to 50 percent", 10),
        ("turn the radiator up two degrees", "set the radiator to 21 degrees", 2),
        ("more light please", "set the lights to 50 percent", 20),
        ("make the lights less bright", "set the lights to 50 percent", -20),
        ("lower the intensity of the lights in my room", "set the lights to 50 percent", -20),
        ("turn the lights down in the living room", "set the lights in the living room to 50 percent", -20),
        ("the lights are too bright", "set the lights to 50 percent", -20),
        ("turn on the lights when I wake up", None, 0),
        ("please power down", None, 0),
        ("turn the chandelier all the way up", None, 0),
        ("make the desk lamp much dimmer", "set the desk lamp to 50 percent", -40),
        ("make it brighter in the kitchen", "set the lights in the kitchen to 50 percent", 20),
        ("dim the lights by 15 percent", "set the lights to 50 percent", -15),
        ("Could you warm up the living room by two degrees?", "set the living room to 21 degrees", 2),
        (
            "increase the temperature in the office by one and a half degrees",
            "set the thermostat in the office to 21 degrees",
            1.5,
        ),
        ("it's too cold in here", "set the thermostat to 21 degrees", 1),
        ("it's freezing in here", "set the thermostat to 21 degrees", 1),
        ("it's freezing outside", None, 0),
        ("cool down the attic 2 degrees", "set the attic to 21 degrees", -2),
        ("heat up the attic 22 degrees", None, 0),
        ("turn the heating up a degree", "set the heating to 21 degrees", 1),
        ("make it colder by a couple of degrees", "set the thermostat to 21 degrees", -2),
        ("crank up the heating by 2", "set the heating to 21 degrees", 2),
        ("I'm cold, can you turn up the thermostat", "set the thermostat to 21 degrees", 1),
        ("I'm cold, make it 23 degrees", None, 0),
        ("turn the fan down", "set the fan to 50 percent", -25),
        ("open the blinds a bit more", "set the blinds to 50 percent", 10),
        ("dim the lights to 20 percent", None, 0),
        ("Dim the corner lamp two ten percent.", None, 0),
        ("raise the blinds", None, 0),
        ("turn down the tv", None, 0),
        ("make the lights warmer", None, 0),
        ("is it getting warmer", None, 0),
    ],
)
def test_a_relative_change_becomes_an_absolute_command_and_a_step(text: str, command: str | None, step: float) -> None:
    change = parse_relative(text)
    assert (change and change.command, change.step if change else 0) == (command, step)


@pytest.mark.parametrize(
    ("text", "tool", "written", "reply"),
    [
        (
            "a bit brighter",
            "light_set",
            {"brightness": 50},
            "The living room light is at 90 percent. The hallway light is at 100 percent.",
        ),
        (
            "make the desk lamp brighter",
            "light_set",
            {"name": "desk lamp", "brightness": 50},
            "The desk lamp is at 20 percent.",
        ),
        ("two degrees cooler", "climate_set_temperature", {"temperature": 21}, "The thermostat is set to 19 degrees."),
        (
            "close the blinds a bit",
            "set_position",
            {"name": "living room blinds", "position": 50},
            "The living room blinds are 90 percent open.",
        ),
    ],
)
async def test_the_step_is_taken_from_the_current_value(
    bench: Bench, text: str, tool: str, written: dict[str, object], reply: str
) -> None:
    result = await Talk(bench, (tool, written)).say(text)
    assert result.reply == reply


async def test_lights_without_a_name_are_those_that_are_on(bench: Bench) -> None:
    result = await Talk(bench, ("light_set", {"brightness": 50})).say("dim the lights")
    assert result.reply == "The living room light is at 60 percent. The hallway light is at 80 percent."


async def test_a_house_in_the_dark_is_not_lit_as_a_whole(bench: Bench) -> None:
    await bench.say("turn_off", domain="light")
    result = await Talk(bench, ("light_set", {"brightness": 50})).say("a bit brighter")
    assert result.reply == "None of these lights is on. Which one do you mean?"


async def test_a_change_for_later_is_kept_in_its_own_words(bench: Bench) -> None:
    await Talk(bench, ("light_set", {"name": "desk lamp", "brightness": 50})).say(
        "make the desk lamp brighter in ten minutes"
    )
    assert [timer.command for timer in bench.timers.all()] == ["make the desk lamp brighter"]


async def test_another_call_than_the_one_for_the_quantity_is_refused(bench: Bench) -> None:
    before = bench.home.house()
    result = await Talk(bench, ("turn_off", {"domain": "light"})).say("make it a bit dimmer")
    assert bench.home.house() == before
    assert json.loads(result.calls[0].arguments) == {"domain": "light"}


async def test_several_commands_in_one_sentence_reach_the_model_as_they_are(bench: Bench) -> None:
    talk = Talk(bench, ("turn_off", {"name": "tv"}))
    await talk.say("turn off the tv and make the desk lamp brighter")
    assert talk.model.requests[0].messages[-1].content == "turn off the tv and make the desk lamp brighter"

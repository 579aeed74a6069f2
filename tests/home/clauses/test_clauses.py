"""What a command says about exceptions, times and conditions is applied, or the command is not run."""

from __future__ import annotations

import json

import pytest

from edgevox.agents import LLMAgent
from edgevox.home import HomeError, House, home_tools
from edgevox.home.clauses.hook import CommandClauses
from edgevox.home.clauses.parser import Clauses, parse_clauses
from edgevox.testing import ScriptedModel
from edgevox.tools import ToolExecutor, ToolRegistry
from tests.home.conftest import NOW, Bench
from tests.home.talk import Talk, written

MINUTE_S = 60


@pytest.mark.parametrize(
    ("text", "command", "excepted"),
    [
        ("Turn off all the lights except the kitchen.", "Turn off all the lights", "the kitchen"),
        ("turn on all lamps but not the floor lamp", "turn on all lamps", "the floor lamp"),
        ("turn off everything but the bedroom lamp", "turn off everything", "the bedroom lamp"),
        ("turn off the lights but leave the desk lamp on", "turn off the lights", "the desk lamp"),
        ("except for the kitchen, turn off all the lights", "turn off all the lights", "the kitchen"),
        ("everything downstairs except the tv off", "turn off everything downstairs", "the tv"),
        ("close the blinds apart from those in the kitchen", "close the blinds", "the kitchen"),
        ("lights off in the office, but not the desk lamp", "turn off lights in the office", "the desk lamp"),
        ("lights out everywhere, just not in the bedroom", "turn off lights everywhere", "the bedroom"),
        ("turn off all lights bar the desk lamp", "turn off all lights", "the desk lamp"),
        ("turn off the kitchen, only the speaker stays on", "turn off the kitchen", "the speaker"),
        ("turn off all the lamps except the kitchen one", "turn off all the lamps", "the kitchen"),
        ("heater two off, leave heater one alone", "turn off heater two", "heater one"),
        ("blinds down, leave the curtains alone", "close blinds", "the curtains"),
        ("kill the lights, but my desk lamp can stay", "kill the lights", "my desk lamp"),
        ("turn off every light but leave the kitchen one", "turn off every light", "the kitchen"),
        ("turn off all lights, only the desk lamp shall stay on", "turn off all lights", "the desk lamp"),
        ("every light off save the one in the kitchen", "turn off every light", "the kitchen"),
        ("kill the lights everywhere, keep the desk lamp", "kill the lights everywhere", "the desk lamp"),
        ("i want all lights off but please not the desk lamp", "turn off all lights", "the desk lamp"),
        ("lights off everywhere not the kitchen", "turn off lights everywhere", "the kitchen"),
        ("i want you turn off all lights but not the desk lamp", "turn off all lights", "the desk lamp"),
        ("leave the tv on but switch the other lights off", "switch all the lights off", "the tv"),
    ],
)
def test_an_exception_is_separated_from_the_command(text: str, command: str, excepted: str) -> None:
    assert parse_clauses(text, NOW) == Clauses(command, excepted)


@pytest.mark.parametrize(
    ("text", "later", "minutes"),
    [
        ("turn off the floor lamp at 11 pm", "turn off the floor lamp", 235),
        ("in ten minutes turn off the tv", "turn off the tv", 10),
        ("after ten minutes turn off the tv", "turn off the tv", 10),
        ("tomorrow at 7 am, open the curtains", "open the curtains", 715),
        ("set the thermostat to 20 at ten", "set the thermostat to 20", 175),
        ("turn off the light in the kitchen in ten minutes", "turn off the light in the kitchen", 10),
        ("close the blinds at 8 except in the kitchen", "close the blinds except the kitchen", 55),
        ("turn on the oven at 8 for 20 minutes", "turn on the oven for 20 minutes", 55),
    ],
)
def test_a_time_is_separated_and_other_clauses_stay_for_later(text: str, later: str, minutes: int) -> None:
    clauses = parse_clauses(text, NOW)
    assert (clauses.later, clauses.in_s, clauses.problem) == (later, minutes * MINUTE_S, "")


@pytest.mark.parametrize(
    "text",
    [
        "turn on the lights when I wake up",
        "turn the lights off at sunset",
        "turn on the fan every hour",
        "every other day run the mower",
        "when my alarm goes off open the curtains",
        "only if nobody is home start the vacuum",
        "only open the blinds if it is dark",
        "mow the lawn tomorrow",
        "turn on the lights in the morning",
        "turn off all the other lights",
        "turn off the lights except the kitchen and turn on the fan",
    ],
)
def test_a_clause_that_cannot_be_applied_is_a_problem(text: str) -> None:
    assert parse_clauses(text, NOW).problem


@pytest.mark.parametrize(
    "text",
    [
        "turn off the light on the desk",
        "turn on the lights in the kitchen",
        "turn off the lights for the night",
        "turn on the night light",
        "turn on the lights if you can",
        "turn on the tv at once",
        "set the thermostat to 21 for tonight",
        "set the thermostat at 20",
        "dim the lights at 50 percent",
        "is the light on at ten",
        "set a timer for five minutes",
        "remind me to turn off the oven at ten",
        "add everything but the milk to my list",
        "what is on except the tv",
        "when did I turn on the fan",
    ],
)
def test_other_sentences_reach_the_model_as_they_are(text: str) -> None:
    clauses = parse_clauses(text, NOW)
    assert clauses.is_plain
    assert clauses.command == text


@pytest.mark.parametrize("said", ["the hallway dear", "the hallweigh"])
async def test_a_misheard_exception_is_no_reason_to_act_on_everything(bench: Bench, said: str) -> None:
    talk = Talk(bench, ("turn_off", {"domain": "light"}))
    await talk.say(f"turn off all the lights apart from {said}")
    assert bench.state("light.hallway") == "on"


async def test_what_stays_on_may_be_of_another_kind_than_the_command(bench: Bench) -> None:
    await Talk(bench, ("turn_off", {"name": "tv"})).say("turn off the tv but keep the light on")
    assert bench.state("media_player.tv") == "off"


async def test_a_home_that_cannot_be_reached_is_reported_as_such(bench: Bench) -> None:
    def unreachable() -> House:
        raise HomeError("I cannot reach the home.")

    executor = ToolExecutor(ToolRegistry(home_tools(bench.home, bench.timers, bench.alarms, lambda: NOW)))
    talk = Talk(bench, ("turn_off", {"domain": "light"}))
    talk.agent = LLMAgent(
        "test",
        tools=executor,
        hooks=(CommandClauses(executor, unreachable, bench.timers, bench.alarms),),
        model=ScriptedModel([written("turn_off", {"domain": "light"}), "Sorry."]),
        parsers=("hermes",),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench.home, "house", unreachable)
        result = await talk.say("turn off all the lights except the kitchen")
    assert "cannot reach the home" in " ".join(tool.content for tool in result.results)


def lights_on(bench: Bench, area: str | None = None) -> set[str]:
    lights = (entity for entity in bench.home.house().entities if entity.domain == "light" and entity.state == "on")
    return {entity.name for entity in lights if area in (None, entity.area)}


async def test_an_excepted_room_keeps_its_lights(bench: Bench) -> None:
    await bench.say("turn_on", domain="light")
    before, kitchen = lights_on(bench), lights_on(bench, "kitchen")
    talk = Talk(bench, ("turn_off", {"domain": "light"}))
    result = await talk.say("turn off all the lights except the kitchen")
    assert lights_on(bench) == kitchen < before
    assert not talk.model.requests
    assert json.loads(result.calls[0].arguments) == {"name": "lights", "except": "the kitchen"}


async def test_the_rest_means_the_kind_of_what_is_left(bench: Bench) -> None:
    await bench.say("turn_on", domain="light")
    talk = Talk(bench, ("turn_off", {"domain": "light"}))
    await talk.say("leave the kitchen light on and turn off the rest")
    assert not talk.model.requests
    assert {name.casefold() for name in lights_on(bench)} == {"kitchen light"}


@pytest.mark.parametrize(
    "text", ["turn on the lamp but not too bright", "volume down but not muted", "close the blinds but not all the way"]
)
def test_how_far_is_no_exception(text: str) -> None:
    assert not parse_clauses(text, NOW).excepted


async def test_close_everything_means_covers(bench: Bench) -> None:
    talk = Talk(bench, ("turn_off", {"name": "everything"}))
    await talk.say("close everything except the garage door")
    assert bench.state("cover.living_room_blinds") == "closed"
    assert bench.state("light.living_room") == "on"


async def test_all_lamps_are_not_all_lights(bench: Bench) -> None:
    await Talk(bench, ("turn_on", {"domain": "light"})).say("all the lamps on")
    assert (bench.state("light.floor_lamp"), bench.state("light.kitchen")) == ("on", "off")


async def test_an_exception_beside_the_target_adds_nothing_to_the_call(bench: Bench) -> None:
    result = await Talk(bench, ("turn_off", {"name": "tv"})).say("tv off, but not the hallway light")
    assert json.loads(result.calls[0].arguments) == {"name": "tv"}


async def test_an_unknown_exception_changes_nothing(bench: Bench) -> None:
    before = lights_on(bench)
    result = await Talk(bench, ("turn_off", {"domain": "light"})).say("turn off all the lights except the sauna")
    assert lights_on(bench) == before
    assert "sauna" in result.reply


async def test_a_command_with_a_time_runs_later_and_once(bench: Bench) -> None:
    before = lights_on(bench)
    talk = Talk(bench, ("turn_off", {"name": "desk lamp"}), ("turn_off", {"name": "kitchen light"}))
    result = await talk.say("turn off the desk lamp and the kitchen light at 11 pm")
    [timer] = bench.timers.all()
    assert (timer.command, timer.length_s) == ("turn off the desk lamp and the kitchen light", 235 * MINUTE_S)
    assert lights_on(bench) == before
    assert result.reply == "At eleven tonight I will turn off the desk lamp and the kitchen light."


async def test_a_risky_command_is_asked_about_when_its_time_comes(bench: Bench) -> None:
    result = await Talk(bench, ("turn_off", {"name": "front door", "domain": "lock"})).say(
        "unlock the front door at ten"
    )
    assert [timer.command for timer in bench.timers.all()] == ["unlock the front door"]
    assert result.reply == "At ten tonight I will ask you whether to unlock the front door."


async def test_a_command_for_a_while_is_undone_later(bench: Bench) -> None:
    result = await Talk(bench, ("turn_on", {"name": "hallway light"})).say("turn on the hallway light for five minutes")
    [timer] = bench.timers.all()
    assert (timer.command, timer.length_s) == ("turn off the hallway light", 5 * MINUTE_S)
    assert result.reply == "The hallway light is on. In 5 minutes I will turn off the hallway light."


@pytest.mark.parametrize(
    ("text", "tool", "arguments"),
    [
        ("stop the garage door", "turn_off", {"name": "garage door"}),
        ("dim the desk lamp to 10 percent for an hour", "light_set", {"name": "desk lamp", "brightness": 10}),
        ("mow the lawn tomorrow", "lawn_mower_start_mowing", {}),
    ],
)
async def test_what_cannot_be_done_as_said_is_not_done(
    bench: Bench, text: str, tool: str, arguments: dict[str, object]
) -> None:
    before = bench.home.house()
    result = await Talk(bench, (tool, arguments)).say(text)
    assert bench.home.house() == before
    assert not bench.timers.all()
    assert [call.name for call in result.calls] == [tool]
    assert result.reply

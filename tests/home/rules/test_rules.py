"""Requests that the model's tools cannot express are carried out by rule on the demo home, without the model."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from edgevox.agents import AgentResult, Agreement, LLMAgent
from edgevox.core.turn import Turn
from edgevox.core.types import ToolCall
from edgevox.home.entities import Entity
from edgevox.home.intents.catalogue import catalogue, rule_catalogue
from edgevox.home.references.effects import EffectLog
from edgevox.home.rules import devices
from edgevox.home.rules.hooks import assistant_hooks, corrected_call
from edgevox.testing import ScriptedModel
from edgevox.tools import PendingConfirmation
from tests.home.conftest import Bench
from tests.home.talk import written

FROM_THE_MODEL = "The model answers."


class Talk:
    """An agent with the assistant's hooks, whose model only says that it was asked."""

    def __init__(self, bench: Bench, *lines: str) -> None:
        self.bench = bench
        self.questions: list[str] = []
        self.model = ScriptedModel(lines or [FROM_THE_MODEL] * 9)
        self.hooks = assistant_hooks(
            bench.executor, bench.home, bench.timers, bench.alarms, bench.watches, EffectLog(bench.clock)
        )
        self.agent = LLMAgent(
            "test",
            tools=bench.executor,
            hooks=self.hooks,
            model=self.model,
            parsers=("hermes",),
            offered=tuple(catalogue()),
            confirm=self._yes,
        )

    async def _yes(self, pending: PendingConfirmation, _turn: Turn) -> Agreement:
        self.questions.append(pending.question)
        return Agreement(granted=True)

    async def run(self, text: str) -> AgentResult:
        return await self.agent.run(text)

    async def say(self, text: str) -> str:
        return (await self.run(text)).reply


@pytest.fixture
def talk(bench: Bench) -> Talk:
    return Talk(bench)


def test_the_hooks_of_the_home_are_listed_in_the_order_in_which_they_run(talk: Talk) -> None:
    of_the_home = [hook.priority for hook in talk.hooks if type(hook).__module__.startswith("edgevox.home")]
    assert of_the_home == sorted(of_the_home, reverse=True)


async def test_covers_are_stopped_at_once_and_not_closed(talk: Talk) -> None:
    assert await talk.say("Stop the garage door!") == "The garage door has stopped."
    assert await talk.say("stop the blinds right there") == "The living room blinds have stopped."
    assert talk.bench.state("cover.living_room_blinds") == "open"
    assert (talk.questions, talk.model.requests) == ([], [])


async def test_a_vacuum_is_paused_and_not_the_television(talk: Talk) -> None:
    await talk.bench.say("vacuum_start")
    assert await talk.say("pause the vacuum") == "The robot vacuum is paused."
    assert (talk.bench.state("vacuum.robot"), talk.bench.state("media_player.tv")) == ("paused", "playing")
    assert await talk.say("resume vacuuming") == "The robot vacuum is cleaning."


async def test_a_change_by_a_number_is_no_time_of_day(talk: Talk) -> None:
    assert await talk.say("raise the thermostat by 2") == "The thermostat is set to 23 degrees."
    assert not talk.bench.timers.all()


async def test_a_relative_change_is_scheduled_like_any_other_command(talk: Talk) -> None:
    await talk.say("make the hallway light a bit dimmer in ten minutes")
    assert talk.bench.entity("light.hallway").attributes["brightness"] == 100
    assert [timer.command for timer in talk.bench.timers.all()] == ["make the hallway light a bit dimmer"]


async def test_clauses_apply_to_what_a_rule_reads(talk: Talk) -> None:
    assert await talk.say("stop the blinds in ten minutes") == "In 10 minutes I will stop the blinds."
    assert [timer.command for timer in talk.bench.timers.all()] == ["stop the blinds"]


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("What's on my shopping list?", "On the shopping list: milk and bread."),
        ("what do I need to buy", "On the shopping list: milk and bread."),
        ("read me my to-do list", "On the to-do list: water the plants."),
        ("what's on my lists", "On the shopping list: milk and bread. On the to-do list: water the plants."),
        ("is milk on the list", "Yes, milk is on the shopping list."),
        ("are eggs on the shopping list", "No, eggs are not on the shopping list."),
        ("did you put eggs on the shopping list", "No, eggs are not on the shopping list."),
        ("is milk one of my shopping list items", "Yes, milk is on the shopping list."),
    ],
)
async def test_lists_are_read(talk: Talk, said: str, answer: str) -> None:
    assert await talk.say(said) == answer


async def test_several_items_are_ticked_off_in_one_sentence(talk: Talk) -> None:
    await talk.say("tick off milk and bread")
    assert all(item.is_done for item in await talk.bench.home.items("todo.shopping_list"))


async def test_an_item_that_is_on_the_list_is_not_added_twice(talk: Talk) -> None:
    assert await talk.bench.say("shopping_list_add_item", item="Milk") == "Milk is on the shopping list already."
    assert [item.text for item in await talk.bench.home.items("todo.shopping_list")] == ["milk", "bread"]
    await talk.say("tick off milk")
    assert await talk.bench.say("shopping_list_add_item", item="milk") == "I added milk to the shopping list."


async def test_an_item_is_removed_from_the_list_that_has_it(talk: Talk) -> None:
    assert await talk.say("remove water the plants from the list") == "I took water the plants off the to-do list."


async def test_a_list_is_cleared_after_a_yes(talk: Talk) -> None:
    assert await talk.say("clear the shopping list") == "I removed 2 items from the shopping list."
    assert talk.questions == ["Remove everything from the shopping list?"]
    assert await talk.bench.home.items("todo.shopping_list") == ()


@pytest.mark.parametrize(
    "said",
    [
        "take everything off the shopping list, only the milk stays",
        "nothing but milk should be left on the shopping list",
    ],
)
async def test_what_shall_stay_on_a_list_is_kept(talk: Talk, said: str) -> None:
    await talk.say(said)
    assert [item.text for item in await talk.bench.home.items("todo.shopping_list")] == ["milk"]


async def test_a_new_list_is_created_and_used(talk: Talk) -> None:
    assert await talk.say("create a list called holiday") == "I made the holiday list."
    assert await talk.bench.say("list_add_item", item="sun cream", name="holiday list") == (
        "I added sun cream to the holiday list."
    )
    assert await talk.say("what's on the holiday list") == "On the holiday list: sun cream."
    assert await talk.say("create a list called holiday") == "There is the holiday list already."


async def test_the_current_track_is_named_and_skipped(talk: Talk) -> None:
    assert await talk.say("what song is this") == "The TV is playing the news."
    await talk.say("next")
    assert talk.bench.entity("media_player.tv").attributes["track"] == 2
    await talk.say("skip two songs")
    assert talk.bench.entity("media_player.tv").attributes["track"] == 4
    assert await talk.say("tell me what the title of this song is") == "The TV is playing the news."
    await talk.bench.say("media_pause")
    assert await talk.say("play something") == "The TV is playing again."


async def test_a_title_is_played_as_it_was_said(talk: Talk) -> None:
    assert (await talk.run("play the song let it go")).calls[0].arguments == '{"search_query": "let it go"}'


async def test_a_drink_starts_the_machine_that_makes_it(talk: Talk) -> None:
    assert await talk.say("could you make me a cup of coffee please") == "The coffee machine is on."
    assert await talk.say("make me some tea") == FROM_THE_MODEL


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("set the thermostat to cool", "The thermostat is set to cool."),
        ("switch to eco mode", "The thermostat is set to eco."),
        ("set the thermostat to turbo mode", FROM_THE_MODEL),
        ("set the thermostat to dry",
         "The thermostat has no mode dry. It has off, heat, cool, auto, comfort, eco and away."),
        ("set the fan to low", "The ceiling fan is at 33 percent."),
        ("make the floor lamp warmer", "The floor lamp is at 3300 kelvin."),
        ("set the desk lamp to candle light", "The desk lamp is candlelight."),
        ("arm the alarm in night mode", "The alarm is armed."),
    ],
)  # fmt: skip
async def test_modes_speeds_and_whites_are_set_by_name(talk: Talk, said: str, answer: str) -> None:
    assert await talk.say(said) == answer


async def test_disarming_needs_a_yes(talk: Talk) -> None:
    await talk.bench.say("turn_on", name="alarm")
    assert await talk.say("disarm the alarm with code 1 2 3 4") == "The alarm is disarmed."
    assert talk.questions == ["Disarm the alarm?"]


# The clock of these tests stands on a Sunday evening.
@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (
            "what's the weather tomorrow",
            "Tomorrow it will be rainy, between 7 and 13 degrees. The chance of rain is 80 percent.",
        ),
        ("will it rain on Friday", "Yes, rain is likely on Friday: 70 percent."),
        ("do I need an umbrella", "No, it will probably stay dry today."),
        ("how cold will it get tonight", "Tonight it will be between 7 and 16 degrees."),
        ("will it be sunny this week", "Yes, it will probably be sunny on Wednesday and Thursday."),
        ("how windy will it be tomorrow", "Tomorrow there will be wind of up to 25 km/h."),
        ("what's the weather in London", "I only have the weather for this home."),
        ("what's the weather", FROM_THE_MODEL),
    ],
)
async def test_questions_about_the_forecast_are_answered(talk: Talk, said: str, answer: str) -> None:
    assert await talk.say(said) == answer


async def test_a_home_without_a_forecast_says_so(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    async def none(*_: object) -> tuple[()]:
        return ()

    monkeypatch.setattr(bench.home, "forecast", none)
    talk = Talk(bench)
    assert await talk.say("will it rain tomorrow") == "I have no forecast, only the weather right now."
    assert await bench.say("get_weather") == "It is partly cloudy and 15 degrees."


@pytest.mark.parametrize(
    "text",
    [
        "stop the music",
        "stop the timer",
        "pause the TV",
        "stop it",
        "add what's on my mind to my list",
        "remind me to clear the shopping list",
        "add clear the gutters to my to-do list",
        "play the next episode of the news",
        "what is the capital of France",
        "create a playlist called holiday",
        "will it be cold in the bedroom tonight",
        "set the thermostat to 21",
        "set an alarm for seven",
        "turn on the desk lamp",
        "is the front door locked",
        "what did the doctor say about the rain",
    ],
)
async def test_other_sentences_are_left_to_the_model(talk: Talk, text: str) -> None:
    assert await talk.say(text) == FROM_THE_MODEL


async def test_the_home_model_is_not_offered_the_tools_of_rules(talk: Talk) -> None:
    await talk.say("what is the capital of France")
    offered = [tool["function"]["name"] for tool in talk.model.requests[0].tools]
    assert offered == list(catalogue())


def test_rule_tools_are_registered_for_other_models_and_clients(bench: Bench) -> None:
    assert set(rule_catalogue()) <= set(bench.registry.names)
    assert not rule_catalogue().keys() & catalogue().keys()


async def test_a_call_of_a_rule_is_recorded_like_one_of_the_model(talk: Talk) -> None:
    result = await talk.run("stop the garage door")
    (call,) = result.calls
    assert (call.name, json.loads(call.arguments), call.summary) == (
        "stop_moving", {"name": "garage door"}, "Stop garage door",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("blinds down, but only a third of the way", 67),
        ("open the blinds just a crack", 10),
        ("open the blinds a quarter", 25),
        ("close the living room blinds, not all the way", 20),
        ("shut the blinds but leave a gap", 10),
    ],
)
async def test_a_cover_moves_a_part_of_the_way_from_the_end_it_comes_from(talk: Talk, text: str, position: int) -> None:
    await talk.say(text)
    assert talk.bench.entity("cover.living_room_blinds").attributes["position"] == position
    assert talk.model.requests == []


async def test_a_question_about_a_level_is_answered_with_it(talk: Talk) -> None:
    assert await talk.say("how bright is the hallway light?") == "The hallway light is at 100 percent."
    assert await talk.say("how loud is the tv") == "The TV is at 40 percent."


async def test_a_bare_kind_is_asked_about_and_does_not_mean_all(talk: Talk) -> None:
    assert (await talk.say("light on")).startswith("Which")
    assert talk.bench.state("light.kitchen") == "off"


def test_one_state_for_two_things_is_not_reversed_for_the_second() -> None:
    first, second = ToolCall("1", "turn_off", '{"name": "tv"}'), ToolCall("2", "turn_on", '{"name": "desk lamp"}')
    meant = corrected_call("tv off and the desk lamp while you're at it", second, [first])
    assert meant is not None
    assert (meant.name, meant.arguments) == ("turn_off", second.arguments)
    assert corrected_call("tv off and desk lamp on", second, [first]) is None
    assert corrected_call("close the blinds and turn on the desk lamp", second, [first]) is None


def test_one_light_without_a_name_does_not_mean_all_lights() -> None:
    every_light = ToolCall("", "turn_on", '{"domain": "light"}')
    meant = corrected_call("open the garage door and switch the light on in there", every_light, [])
    assert meant is not None
    assert meant.arguments == '{"name": "light"}'
    assert corrected_call("turn on all the lights", every_light, []) is None


async def test_a_door_that_is_secured_is_not_unlocked_for_an_off_said_before(bench: Bench) -> None:
    wrote = (("turn_off", "tv"), ("turn_on", "front door"))
    calls = (json.dumps({"name": tool, "arguments": {"name": name}}) for tool, name in wrote)
    talk = Talk(bench, "\n".join(f"<tool_call>\n{one}\n</tool_call>" for one in calls))
    await talk.say("tv off and secure the front door")
    assert (bench.state("media_player.tv"), bench.state("lock.front_door")) == ("off", "locked")


async def test_stopping_what_flows_closes_its_valve_and_stops_no_movement(bench: Bench) -> None:
    fountain = Entity("valve.fountain", "Fountain", "valve", "open")
    house = replace(bench.home.house(), entities=(*bench.home.house().entities, fountain))
    (closed,) = devices.parse("stop the fountain", house)
    (stopped,) = devices.parse("stop closing the fountain", house)
    assert (closed.name, stopped.name) == ("turn_off", "stop_moving")


@pytest.mark.parametrize(
    ("said", "model", "answer"),
    [
        (
            "run the roomba in the kitchen",
            ("vacuum_start", {"name": "roomba", "area": "kitchen"}),
            "cleaning the kitchen",
        ),
        ("clean the bedroom floor", ("vacuum_clean_area", {"area": "bedroom floor"}), "cleaning the bedroom"),
        ("shuffle my playlist", ("media_next", {}), "cannot shuffle"),
        ("and bread removed", ("list_remove_item", {"item": "bread", "name": "list"}), "bread off the shopping list"),
        ("mute every player but the tv", ("media_player_mute", {}), "kitchen speaker is muted"),
        ("create a new list for the holidays", ("nevermind", {}), "holidays list"),
        ("what is the thermostat set to", ("nevermind", {}), "set to 21 degrees"),
    ],
)
async def test_everyday_wording_has_its_effect(
    bench: Bench, said: str, model: tuple[str, dict[str, object]], answer: str
) -> None:
    assert answer in await Talk(bench, written(*model), "Done.").say(said)

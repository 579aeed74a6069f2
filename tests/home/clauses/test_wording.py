"""An utterance is put into plain words before the rules and the model read it."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from edgevox.agents import LLMAgent
from edgevox.home import DemoHome
from edgevox.home.alarms.sun import SunTimes
from edgevox.home.clauses.parts import is_taken_back, split_commands
from edgevox.home.clauses.rephrasing import as_commands, with_own_time
from edgevox.home.clauses.wording import PlainWording, plain_wording
from edgevox.testing import ScriptedModel
from tests.home.conftest import Bench
from tests.home.talk import written

HOUSE = DemoHome().house()


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("turn on the kitchen, no wait, the garage light", "turn on the garage light"),
        ("blinds closed in the living room, i mean the bedroom", "blinds closed in the bedroom"),
        ("dim the desk lamp to seventy sorry fourteen percent", "dim the desk lamp to fourteen percent"),
        ("wake me at quarter past five no half past", "wake me at half past five"),
        ("switch on the desk lamp, no, off", "switch off the desk lamp"),
        ("make the floor lamp red er purple", "make the floor lamp purple"),
        ("add plums no figs to the shopping list", "add figs to the shopping list"),
        ("remind me to ring Ann no Tom at nine", "remind me to ring Tom at nine"),
        ("close the curtains, actually open the blinds", "open the blinds"),
        ("lock the no unlock the front door", "unlock the front door"),
        ("desk lamp blue no red", "desk lamp red"),
        ("switch off the kitchen light no the bedroom one", "switch off the bedroom light"),
        ("set the heating to 24 no that's too warm 21", "set the heating to 21"),
        ("desk lamp on no i meant floor lamp", "floor lamp on"),
        ("vacuum the hallway, scrap that, do the kitchen", "vacuum the kitchen"),
    ],
)
def test_a_correction_replaces_what_is_of_its_kind(said: str, meant: str) -> None:
    assert plain_wording(said, HOUSE) == meant


@pytest.mark.parametrize(
    "said",
    [
        "remind me to say no to the salesman",
        "add no sugar cookies to the shopping list",
        "no, the bedroom lamp",
        "there is no light in the hallway",
        "play no woman no cry",
    ],
)
def test_a_no_that_corrects_nothing_is_kept(said: str) -> None:
    assert plain_wording(said, HOUSE) == said
    assert not is_taken_back(said)


@pytest.mark.parametrize(
    ("said", "parts"),
    [
        ("set a timer for nine minutes oh and put rice on the shopping list", 2),
        ("pause the tv the bell is ringing turn the hallway light on", 2),
        ("desk lamp on garage light off and lock the front door", 3),
        ("set the heating to twenty and the fan off", 2),
        ("we're out of salt and start the coffee machine", 2),
        ("skip this one and turn it up", 2),
        ("open the blinds but close the curtains", 2),
    ],
)
def test_commands_that_are_each_complete_are_split(said: str, parts: int) -> None:
    assert len(split_commands(said, HOUSE)) == parts


@pytest.mark.parametrize(
    "said",
    [
        "turn off the tv and the floor lamp",
        "dim the desk lamp and make it blue",
        "remind me to open the garage and start the mower",
        "set a timer for ten minutes and turn off the tv",
        "turn on the light switch",
        "switch off light",
        "volume on the tv to sixty",
        "turn off all the lights, keep the desk lamp",
        "open the garage door and switch the light on in there",
    ],
)
def test_a_sentence_that_is_one_command_or_dictation_is_not_split(said: str) -> None:
    assert split_commands(said, HOUSE) == (said,)


@pytest.mark.parametrize(
    ("said", "plain"),
    [
        ("Hey Nora, turn on the tv.", "turn on the tv."),
        ("don t turn on the tv", "don't turn on the tv"),
        ("i've got my hands full of shopping could you open the garage door", "could you open the garage door"),
        ("before i forget, the printer on", "the printer on"),
        ("latch the front door", "lock the front door"),
        ("can we hear some Bach", "play some Bach"),
        ("make sure i'm awake by seven", "wake me up at seven"),
        ("have a look at the garage door", "what is the state of the garage door"),
        ("i can hardly see in the garage", "turn on the lights in the garage"),
        ("the living room carpet is filthy", "vacuum the living room"),
        ("turn on the flaw lamp", "turn on the Floor Lamp"),
        ("dont turn on the tv pls", "don't turn on the tv please"),
        ("hello dear could you turn on the tv", "could you turn on the tv"),
        ("turn off all lights except the tv tho", "turn off all lights except the tv"),
        ("don't leave the tv on", "turn off the tv"),
        ("make sure the printer isn't on", "turn off the printer"),
        ("make sure that the front door is not unlocked", "lock the front door"),
        ("instead of the tv turn on the radio", "turn on the radio"),
        ("don't open the curtains all the way just half way", "open the curtains half way"),
        ("only close the blinds a little", "close the blinds a little"),
        ("turn the heating on 19", "set the heating to 19"),
        ("don't open the curtains, close them", "close the curtains"),
        ("don't turn the tv up turn it down", "turn the tv down"),
        ("tv quieter, not louder", "tv quieter"),
        ("instead of dimming the desk lamp turn it off", "turn the desk lamp off"),
        ("the garage door must not stay open", "close the garage door"),
        ("turn the heating from 20 to 18", "turn the heating to 18"),
        ("turn the desk lamp of", "turn the desk lamp off"),
        ("could ya kinda dim the desk lamp", "could you dim the desk lamp"),
        ("please to close the curtain of bedroom", "please to close the curtain in the bedroom"),
        ("please to put heating on 20", "set heating to 20"),
        ("we can hear the radio through the wall", "turn down the radio"),
        ("i wish the curtains were open", "open the curtains"),
        ("don't keep the garage door open", "close the garage door"),
        ("i can't work with that fan running in the bedroom", "turn off the fan in the bedroom"),
        ("its freezing turn it up a bit", "turn the Thermostat up a bit"),
        ("it's getting a bit loud, could you turn it down", "turn the volume down"),
        ("it's so cold in here start the fan", "start the fan"),
        ("we don't need the fan on anymore", "turn off the fan"),
        ("you needn't remind me of the laundry after all", "cancel the reminder about the laundry"),
        ("if the garage door isn't closed yet please close it", "close the garage door"),
        ("unless the printer is on, turn it on", "turn on the printer"),
        ("fan on, half an hour will do", "fan on for half an hour"),
        (
            "in the office switch off all lights, apart from the desk lamp",
            "switch off all lights in the office, apart from the desk lamp",
        ),
    ],
)
def test_unusual_words_become_those_that_the_model_knows(said: str, plain: str) -> None:
    assert plain_wording(said, HOUSE) == plain


@pytest.mark.parametrize(
    "said",
    [
        "if the garage door isn't closed, turn off the fan",
        "if the printer is on, turn it on",
        "in the office turn on the desk lamp",
        "i don't need the fan",
        "turn off the lights but leave the fan",
        "don't leave the tv on for an hour",
        "instead of the tv turn it on",
        "don't turn on the tv when it rains",
        "turn on the heating from 7 to 9",
        "turn on the light in the back of",
        "turn the heating on at 7 am",
        "it's cold in the bedroom turn up the heating",
        "play its raining men",
    ],
)
def test_a_condition_or_a_place_that_matters_is_kept(said: str) -> None:
    assert plain_wording(said, HOUSE) == said


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("tell me when it's half past four", "set an alarm for 4:30 pm today"),
        ("my train goes at nine tomorrow, wake me two hours before that", "wake me at 7:00 am tomorrow"),
        ("dinner is at 7 pm, please set an alarm an hour before", "please set an alarm for 6:00 pm today"),
        ("tell me when it's dry", "tell me when it's dry"),
        ("set a timer for ten minutes before dinner", "set a timer for ten minutes before dinner"),
    ],
)
def test_a_time_that_depends_on_another_is_computed(said: str, meant: str) -> None:
    assert with_own_time(said, datetime(2026, 3, 11, 10, 0, tzinfo=UTC), SunTimes()) == meant


def test_the_only_lamp_that_should_be_on_leaves_the_others_off() -> None:
    assert as_commands("only the desk lamp should be on in the office", HOUSE) == (
        "turn on the desk lamp",
        "turn off all the lights in the office except the desk lamp",
    )
    assert as_commands("only the door should be on", HOUSE) == ()


def _agent(bench: Bench, *lines: str) -> tuple[LLMAgent, ScriptedModel]:
    model = ScriptedModel(lines)
    hooks = (PlainWording(bench.home.house, bench.alarms),)
    return LLMAgent("test", tools=bench.executor, hooks=hooks, model=model, parsers=("hermes",)), model


async def test_the_model_reads_each_command_alone_and_the_conversation_keeps_what_was_said(bench: Bench) -> None:
    said = "turn on the desk lamp oh and turn on the printer"
    agent, model = _agent(
        bench, written("turn_on", {"name": "desk lamp"}), written("turn_on", {"name": "printer"}), "You are welcome."
    )
    result = await agent.run(said)
    assert [request.messages[-1].content for request in model.requests] == [
        "turn on the desk lamp",
        "turn on the printer",
    ]
    assert result.reply == "The desk lamp is on. The printer is on."
    await agent.run("Thanks.")
    assert said in [message.content for message in model.requests[2].messages]


async def test_a_time_for_all_commands_keeps_them_together(bench: Bench) -> None:
    agent, model = _agent(bench, "Later.")
    await agent.run("turn on the desk lamp and turn on the printer at ten")
    assert len(model.requests) == 1


async def test_a_command_that_is_taken_back_does_nothing(bench: Bench) -> None:
    agent, model = _agent(bench)
    await agent.run("start the robot, no wait, don't do that")
    assert not model.requests
    assert bench.state("vacuum.robot") == "docked"

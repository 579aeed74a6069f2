"""What is forbidden, reported or supposed does not change the home."""

from __future__ import annotations

import pytest

from edgevox.agents import LLMAgent
from edgevox.home.rules.unasked import HALF, LEFT, UnrequestedActions, answer_to, is_spoken_of
from edgevox.testing import ScriptedModel
from tests.home.conftest import Bench
from tests.home.talk import written


def agent(bench: Bench, model: ScriptedModel) -> LLMAgent:
    return LLMAgent("test", tools=bench.executor, hooks=(UnrequestedActions(),), model=model, parsers=("hermes",))


async def test_what_is_forbidden_is_answered_without_the_model(bench: Bench) -> None:
    model = ScriptedModel(["unused"])
    result = await agent(bench, model).run("never switch the printer off")
    assert (result.reply, model.requests) == (LEFT, [])


@pytest.mark.parametrize(
    "text",
    [
        "Don't you dare turn the radio off!",
        "on no account unlock the back door",
        "nobody opens the shed",
        "the freezer must not be switched off",
        "no need to close the window",
        "well, the heating, don't turn it down",
        "leave the porch light burning",
        "not the radio again, leave it off",
        "i don't want the porch light on",
        "I told you not to open the shed",
        "please stop turning the lights off",
        "don't bother closing the blinds",
        "I'd rather you didn't start the dishwasher",
        "don't start the dishwasher, I'm on the phone",
        "hold the volume where it is",
        "keep the heating the way it is",
    ],
)
def test_a_sentence_that_forbids_an_act_is_known(text: str) -> None:
    assert answer_to(text)


@pytest.mark.parametrize(
    "text",
    [
        "dim the lamp but don't turn it off",
        "fan off, don't touch the lamp",
        "don't turn it off, dim it",
        "don't turn anything off except the radio",
        "why don't you turn on the lights",
        "if you don't open the door I will",
        "don't leave the lights on",
        "don't forget to lock the door",
        "don't wake me tomorrow",
        "don't make any noise",
        "did I leave the oven on",
        "leave the porch light on for ten minutes",
        "leave the porch light on for ten minutes then turn it off",
        "leave the porch light on but turn the others off",
        "keep the fan running",
        "never mind",
        "stop closing the blinds",
        "stop playing",
        "i don't need the laundry timer",
    ],
)
def test_other_sentences_with_such_words_are_left_to_the_model(text: str) -> None:
    assert not answer_to(text)


@pytest.mark.parametrize(
    "text",
    [
        "the radio just came on by itself",
        "good that you closed the blinds",
        "you shouldn't have switched off the radio",
        "thanks for turning on the fan",
        "what if we opened all the windows",
        "can you dim lamps at all",
        "could I close the garage with my phone",
        "a new report says we should keep the heating at eighteen degrees",
        "let's turn the lights on, he said",
        "close the door, shouted the guard, and the crowd ran",
        "open the gates she cried, we are coming in",
        "boys, lights out in ten minutes",
        "go and see if the fan is on",
        "they want us to close the garage",
        "we're thinking about painting the bedroom green",
        "kids turn that down",
        "sweetheart go and shut the door please",
        "dad can you open the window",
        "open your mouth",
        "put your coat on",
        "turn left at the traffic lights",
        "click start and then turn off bluetooth",
        "have you turned the fan off no not yet",
        "tell your sister to turn the radio down",
        "go upstairs and clean the bathroom",
        "hold on let me switch the fan on",
        "are you ready yes just locking the door",
        "the mower is stuck in the hedge again",
        "the dishwasher doesn't work",
    ],
)
def test_what_is_only_spoken_of_is_known(text: str) -> None:
    assert is_spoken_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "the lights went out, turn them back on",
        "it would be good if you closed the blinds",
        "could you close the blinds",
        "could the lights be turned off please",
        "suppose a train leaves at ten",
        "my wife always says it is too late so please lock the door",
        "close the blinds i said",
        "turn on the lamp i said the red lamp",
        "play he said she said",
        "turn left lamp on",
        "turn your volume down",
        "play music for the children",
        "mum wants the lamp on",
        "i'm going to bed turn off the lights",
        "the remote is broken turn the tv off",
        "the mower is stuck just send it home",
        "someone turned the lamp off turn it back on",
        "i'll be late so close the blinds",
        "do you mind closing the blinds no the curtains",
        "tell the robot to clean the kitchen",
        "can you turn on the kitchen no the bedroom light",
        "grandpa can't hear the news, a bit more volume on the tv",
        "mum is asleep, turn the tv down",
        "kids are asleep turn down the music",
        "the doctor said i should rest so dim the lights",
        "people said it's cold, turn up the heating",
        "i am thinking of going to bed, lights off",
        "take your time and turn off the light",
        "tap lights off",
        "did you turn off the heating yes or no",
        "go to the next song and turn it up",
        "come on turn the lights on and close the blinds",
    ],
)
def test_a_request_is_not_taken_for_talk(text: str) -> None:
    assert not is_spoken_of(text)


async def test_a_call_for_what_is_only_spoken_of_is_refused(bench: Bench) -> None:
    model = ScriptedModel([written("turn_off", {"name": "tv"}), "Done."])
    before = bench.state("media_player.tv")
    result = await agent(bench, model).run("the tv went off by itself")
    assert result.reply.startswith("I left everything as it is")
    assert bench.state("media_player.tv") == before != "off"


async def test_nothing_is_looked_up_for_what_is_said_to_a_person(bench: Bench) -> None:
    model = ScriptedModel([written("get_state", {"name": "front door"}), "Done."])
    result = await agent(bench, model).run("honey did you lock the front door")
    assert [one.code for one in result.results] == ["tool_denied"]


@pytest.mark.parametrize(
    "text", ["hands off the thermostat", "turn nothing off", "oh the radio, no, not the radio", "open no windows"]
)
def test_nothing_is_done_where_only_a_negation_is_said(text: str) -> None:
    assert answer_to(text) == LEFT


def test_an_exception_beside_a_command_forbids_nothing() -> None:
    assert answer_to("leave the hallway light on, everything else off") == ""


def test_half_a_sentence_is_asked_for_again() -> None:
    assert {answer_to(text) for text in ("lower the volume by", "Set the thermostat to…", "turn on the")} == {HALF}
    assert not any(answer_to(text) for text in ("what are you up to", "what is the lamp made of", "turn the lamp on"))

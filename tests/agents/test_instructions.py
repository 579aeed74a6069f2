"""System prompts that depend on the utterance or change over time, and their preparation while idle."""

from __future__ import annotations

import asyncio

import pytest

from edgevox.agents import LLMAgent
from edgevox.agents.instructions import is_self_contained
from edgevox.core.turn import CancelFlag
from edgevox.core.types import ChatRequest
from edgevox.testing import ScriptedModel


class House:
    """Instructions that name a guest where a sentence does, and begin with what can be changed."""

    def __init__(self) -> None:
        self.beginning = "The house."

    def for_utterance(self, text: str) -> str:
        return f"{self.beginning}\nAda is here." if "Ada" in text else self.beginning


def contents(request: ChatRequest) -> list[str]:
    return [message.content for message in request.messages]


async def test_the_system_prompt_follows_the_utterance() -> None:
    model = ScriptedModel(["Hello.", "Good morning."])
    agent = LLMAgent("test", instructions=House(), model=model)
    await agent.run("Greet Ada.")
    await agent.run("Greet Bob.")
    assert contents(model.requests[0])[0] == "The house.\nAda is here."
    assert contents(model.requests[1])[0] == "The house."


async def test_a_change_is_in_the_next_prompt() -> None:
    house = House()
    model = ScriptedModel(["Yes.", "No."])
    agent = LLMAgent("test", instructions=house, model=model)
    await agent.run("Is it red?")
    house.beginning = "The blue house."
    await agent.run("Is it red?")
    assert contents(model.requests[1])[0] == "The blue house."


async def test_a_follow_up_is_asked_with_the_history() -> None:
    model = ScriptedModel(["It is on.", "Done."])
    agent = LLMAgent("test", instructions=House(), model=model)
    await agent.run("Turn on the lamp.")
    await agent.run("Tell Ada about it.")
    assert contents(model.requests[1]) == [
        "The house.\nAda is here.",
        "Turn on the lamp.",
        "It is on.",
        "Tell Ada about it.",
    ]


async def test_a_self_contained_command_with_another_prompt_leaves_out_the_history() -> None:
    model = ScriptedModel(["One.", "Two.", "Three."])
    agent = LLMAgent("test", instructions=House(), model=model)
    for sentence in ("Play a song.", "Play a song for Ada.", "Play a song."):
        await agent.run(sentence)
    first, aside, last = model.requests
    assert contents(aside) == ["The house.\nAda is here.", "Play a song for Ada."]
    assert (aside.default_system, first.default_system) == ("The house.", None)
    assert first.client == last.client != aside.client
    assert contents(last)[3:5] == ["Play a song for Ada.", "Two."]  # it is remembered all the same


async def test_a_rest_prepares_again_only_when_something_has_changed() -> None:
    house = House()
    model = ScriptedModel(["", "Hello.", "", ""])
    agent = LLMAgent("test", instructions=house, model=model, takes_notes=False)
    for _ in range(3):
        await agent.warm_prefix(CancelFlag())
    assert len(model.requests) == 1
    await agent.run("Greet Ada.")
    for _ in range(3):
        await agent.warm_prefix(CancelFlag())
    assert contents(model.requests[2]) == ["The house.", "Greet Ada.", "Hello."]
    house.beginning = "The blue house."
    for _ in range(3):
        await agent.warm_prefix(CancelFlag())
    assert len(model.requests) == 4
    assert model.requests[3].prompt_only
    assert contents(model.requests[3])[0] == "The blue house."


async def test_a_rest_that_was_disturbed_is_taken_up_again() -> None:
    model = ScriptedModel(["a prompt", ""], piece_chars=1)
    agent = LLMAgent("test", instructions=House(), model=model, takes_notes=False)
    disturbed = CancelFlag()
    resting = asyncio.create_task(agent.warm_prefix(disturbed))
    await asyncio.sleep(0)
    disturbed.set()
    await resting
    await agent.warm_prefix(CancelFlag())
    assert len(model.requests) == 2


@pytest.mark.parametrize(
    "sentence", ["Turn on the pool pump.", "What's the humidity in the sauna?", "is the attic window open"]
)
def test_a_complete_command_is_self_contained(sentence: str) -> None:
    assert is_self_contained(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "",
        "Stop.",
        "And the pool pump.",
        "The pool pump too",
        "Turn it off.",
        "Turn on the pool pump again.",
        "Turn the other one off",
        "Make that thirty percent",
        "no, the attic window",
        "in the sauna",
    ],
)
def test_a_follow_up_is_not_self_contained(sentence: str) -> None:
    assert not is_self_contained(sentence)

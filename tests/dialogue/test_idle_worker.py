"""What is done between turns, and how quickly it gives way."""

from __future__ import annotations

import asyncio

from edgevox.agents import LLMAgent
from edgevox.agents.conversation import Conversation
from edgevox.config import MemorySettings
from edgevox.core.errors import EngineFailed
from edgevox.core.turn import CancelFlag, Turn
from edgevox.dialogue import Pipeline
from edgevox.dialogue.speculative import IdleWorker
from edgevox.testing.fakes import ScriptedModel


async def soon(resting: IdleWorker) -> None:
    async with asyncio.timeout(5):
        await resting.close()


async def test_a_rest_ends_when_somebody_speaks() -> None:
    ended = asyncio.Event()

    async def rest(cancel: CancelFlag) -> None:
        cancel.add_listener(ended.set)
        await ended.wait()

    resting = IdleWorker(rest)
    resting.begin()
    await asyncio.sleep(0)
    assert not ended.is_set()
    resting.end()
    await soon(resting)


async def test_a_rest_looks_again_for_what_has_changed() -> None:
    rested = 0
    often = asyncio.Event()

    async def rest(_cancel: CancelFlag) -> None:
        nonlocal rested
        rested += 1
        if rested == 3:
            often.set()

    resting = IdleWorker(rest, look_again_s=0.001)
    resting.begin()
    async with asyncio.timeout(5):
        await often.wait()
    await soon(resting)


async def test_an_engine_that_fails_while_nobody_waits_is_left_to_the_next_turn() -> None:
    async def rest(_cancel: CancelFlag) -> None:
        raise EngineFailed("it died", hint="wait")

    resting = IdleWorker(rest)
    resting.begin()
    await asyncio.sleep(0)
    await soon(resting)


async def test_between_turns_the_prompt_is_prepared_and_notes_are_taken() -> None:
    conversation = Conversation(settings=MemorySettings(max_turns=1))
    model = ScriptedModel(["", "One.", "", "Two.", "The person counts.", ""])
    agent = LLMAgent("test", instructions="Count.", model=model, conversation=conversation)
    pipeline = Pipeline(agent, preset="test", publish=lambda _event: None, rests=True)
    pipeline.rest()
    await settled(model, 1)
    assert model.requests[0].prompt_only
    await pipeline.answer("one", Turn())
    await settled(model, 3)
    assert [message.content for message in model.requests[2].messages] == ["Count.", "one", "One."]
    await pipeline.answer("two", Turn())
    await settled(model, 6)
    notes = model.requests[4]
    assert not notes.prompt_only
    assert "Person: one" in notes.messages[-1].content
    assert conversation.summary == "The person counts."
    assert "The person counts." in model.requests[5].messages[1].content
    await pipeline.close()


async def test_an_agent_that_takes_no_notes_only_prepares() -> None:
    conversation = Conversation(settings=MemorySettings(max_turns=1))
    model = ScriptedModel(["One.", "Two.", ""])
    agent = LLMAgent("test", model=model, conversation=conversation, takes_notes=False)
    await agent.run("one")
    await agent.run("two")
    await agent.rest(CancelFlag())
    assert [request.prompt_only for request in model.requests] == [False, False, True]
    assert conversation.summary == ""


async def settled(model: ScriptedModel, requests: int) -> None:
    for _ in range(500):  # a scripted model needs no time, only turns of the loop
        await asyncio.sleep(0)
    assert len(model.requests) == requests

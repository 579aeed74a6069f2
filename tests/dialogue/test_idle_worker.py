"""Idle work between turns, and its cancellation."""

from __future__ import annotations

import asyncio

from edgevox.agents import LLMAgent
from edgevox.agents.conversation import Conversation
from edgevox.config import MemorySettings
from edgevox.core.errors import EngineFailed
from edgevox.core.turn import CancelFlag, Turn
from edgevox.dialogue import Pipeline
from edgevox.dialogue.speculative import IdleWorker, IdleWorkers
from edgevox.testing import ScriptedModel


async def soon(worker: IdleWorker) -> None:
    async with asyncio.timeout(5):
        await worker.close()


async def test_idle_work_is_cancelled_when_a_turn_begins() -> None:
    ended = asyncio.Event()

    async def work(cancel: CancelFlag) -> None:
        cancel.add_listener(ended.set)
        await ended.wait()

    worker = IdleWorker(work)
    worker.begin()
    await asyncio.sleep(0)
    assert not ended.is_set()
    worker.end()
    await soon(worker)


async def test_idle_work_is_repeated() -> None:
    runs = 0
    often = asyncio.Event()

    async def work(_cancel: CancelFlag) -> None:
        nonlocal runs
        runs += 1
        if runs == 3:
            often.set()

    worker = IdleWorker(work, repeat_s=0.001)
    worker.begin()
    async with asyncio.timeout(5):
        await often.wait()
    await soon(worker)


async def test_an_engine_failure_ends_idle_work_silently() -> None:
    async def work(_cancel: CancelFlag) -> None:
        raise EngineFailed("it died", hint="wait")

    worker = IdleWorker(work)
    worker.begin()
    await asyncio.sleep(0)
    await soon(worker)


async def test_the_work_of_other_rooms_waits_for_the_end_of_a_turn() -> None:
    rooms = IdleWorkers()
    runs: list[str] = []
    going_on = asyncio.Event()

    async def work_in_kitchen(cancel: CancelFlag) -> None:
        runs.append("kitchen")
        stopped = asyncio.Event()
        cancel.add_listener(stopped.set)
        await stopped.wait()
        runs.append("kitchen stops")

    async def work_in_bedroom(_cancel: CancelFlag) -> None:
        runs.append("bedroom")

    async def prepare_bedroom(_cancel: CancelFlag) -> None:
        runs.append("bedroom again")
        going_on.set()

    kitchen = IdleWorker(work_in_kitchen, others=rooms, repeat_s=60.0)
    bedroom = IdleWorker(work_in_bedroom, prepare_bedroom, rooms, repeat_s=60.0)
    bedroom.begin()
    kitchen.begin()
    await asyncio.sleep(0)
    bedroom.attend()
    async with asyncio.timeout(5):
        await going_on.wait()
    bedroom.end()
    for _ in range(50):
        kitchen.wake()
        await asyncio.sleep(0)
    assert runs == ["bedroom", "kitchen", "bedroom again", "kitchen stops"]
    bedroom.begin()
    async with asyncio.timeout(5):
        while runs.count("kitchen") < 2:  # noqa: ASYNC110  (nothing reports it)
            await asyncio.sleep(0)
    await soon(bedroom)
    await soon(kitchen)


async def test_between_turns_the_prompt_is_prepared_and_notes_are_taken() -> None:
    conversation = Conversation(settings=MemorySettings(max_turns=1))
    model = ScriptedModel(["", "One.", "", "Two.", "The person counts.", ""])
    agent = LLMAgent("test", instructions="Count.", model=model, conversation=conversation)
    pipeline = Pipeline(agent, preset="test", publish=lambda _event: None, warms_prefix=True)
    pipeline.start_idle_work()
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
    await agent.warm_prefix(CancelFlag())
    assert [request.prompt_only for request in model.requests] == [False, False, True]
    assert conversation.summary == ""


async def settled(model: ScriptedModel, requests: int) -> None:
    for _ in range(500):  # a scripted model needs no time, only turns of the loop
        await asyncio.sleep(0)
    assert len(model.requests) == requests

"""Engines that die or hang under a conversation: it goes on, within the bound, and says that it is sorry."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import Callable

import numpy as np
import pytest

from edgevox.app.service import AssistantService
from edgevox.core.events import (
    EndpointReached,
    EngineChanged,
    EngineName,
    Event,
    PlaybackStarted,
    SynthesisStarted,
    TranscriptReady,
    TurnEnded,
    TurnEvent,
)
from edgevox.core.files import Folders
from edgevox.core.types import JsonObject
from tests.app.conversation import Happenings, ProcessSessionFactory, happenings, strike
from tests.app.harness import running_service
from tests.dialogue.sounds import silent, voiced

WITHIN_S = 15.0
"""The bound is 5 s; a machine that tests something else beside it may take three times as long."""
BOUND_S = 120.0
QUESTION = np.concatenate([voiced(0.6), silent(1.5)])

# In the middle of its work in a turn that has begun.
MOMENTS: dict[EngineName, type[TurnEvent]] = {"stt": EndpointReached, "llm": SynthesisStarted, "tts": PlaybackStarted}


@pytest.fixture
def factory(folders: Folders) -> ProcessSessionFactory:
    return ProcessSessionFactory(folders, work_s=0.3)


def records(folders: Folders) -> list[JsonObject]:
    text = (folders.state / "turns.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


async def ask(factory: ProcessSessionFactory, seen: Happenings) -> TurnEnded:
    factory.room.say(QUESTION)
    return await seen.next(TurnEnded)


async def struck(service: AssistantService, seen: Happenings, name: EngineName, how: signal.Signals) -> float:
    """Strike in the next turn; how long it took until the engine was there again and did its work.

    That is to understand what was said, or else the turn is lost and over.
    """
    await seen.next(MOMENTS[name])
    struck_s = strike(service, name, how)

    def is_back(event: Event) -> bool:
        return isinstance(event, EngineChanged) and event.engine == name and event.state == "ready"

    def is_done(event: Event) -> bool:
        return isinstance(event, TranscriptReady | TurnEnded)

    def first(is_it: Callable[[Event], bool]) -> float | None:
        return next((event.at_s for event in seen.events if event.at_s > struck_s and is_it(event)), None)

    await seen.until(lambda: first(is_back) is not None and first(is_done) is not None)
    return max(first(is_back) or 0.0, first(is_done) or 0.0) - struck_s


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "hung"])
async def test_an_engine_that_fails_costs_seconds_and_an_apology(
    factory: ProcessSessionFactory, how: signal.Signals
) -> None:
    outcomes: list[str] = []
    async with running_service(factory, within_s=BOUND_S) as service:
        with happenings(service) as seen:
            for name in MOMENTS:
                assert (await ask(factory, seen)).outcome == "answered"
                factory.room.has_apologised()

                striking = asyncio.create_task(struck(service, seen, name, how))
                await asyncio.sleep(0)
                lost = await ask(factory, seen)
                assert await striking < WITHIN_S
                if name == "stt":
                    # It is asked again behind the endpoint, for what was said is still there.
                    assert lost.outcome == "answered"
                else:
                    assert (lost.outcome, lost.error_code) == ("failed", "engine_failed")
                    assert ("hung" in lost.error) == (how is signal.SIGSTOP)

                after = await ask(factory, seen)
                assert not after.reply.startswith("I know of 1 questions."), "the conversation is kept"
                assert factory.room.has_apologised() == (lost.outcome == "failed")
                outcomes += ["answered", lost.outcome, "answered"]
    kept = records(factory.folders)
    assert [record["turn_id"] for record in kept] == [event.turn_id for event in seen.of(TurnEnded)]
    assert [record["outcome"] for record in kept] == outcomes


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "hung"])
async def test_engines_that_fail_while_nobody_speaks_cost_nothing(
    factory: ProcessSessionFactory, how: signal.Signals
) -> None:
    async with running_service(factory, within_s=BOUND_S) as service:
        with happenings(service) as seen:
            names: tuple[EngineName, ...] = ("llm", "stt", "tts")
            for name in names:
                strike(service, name, how)
            async with asyncio.timeout(WITHIN_S):
                await seen.until(lambda: {e.engine for e in seen.of(EngineChanged) if e.state == "ready"} == set(names))
            assert (await ask(factory, seen)).outcome == "answered"
            assert not factory.room.has_apologised()

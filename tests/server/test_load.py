"""Fifty clients at once that come and go: each is answered, nothing is left behind, voice goes first."""

from __future__ import annotations

import asyncio
import os
import random
import resource
import time
from collections import Counter
from collections.abc import AsyncGenerator

import aiohttp
import pytest

from benchmarks.load_clients import ask_at_once
from edgevox.config import ServerSettings
from edgevox.core.events import SpeechStarted, TurnEnded, TurnStarted
from edgevox.core.turn import CancelFlag
from edgevox.core.types import ChatDelta, ChatDone, ChatReply, ChatRequest, Message
from edgevox.server.app import create_app
from edgevox.server.engine_queues import EngineQueues
from edgevox.server.http.listener import http_listener
from tests.server.harness import OWNER, TOKENS, served, talking
from tests.server.openai_chat import USER

# The two minutes: EDGEVOX_LOAD_S=120 pytest tests/server/test_load.py
LOAD_S = float(os.environ.get("EDGEVOX_LOAD_S", "12"))
CLIENTS = 50
WORDS = 8
WORD_S = 0.002
MAX_GROWTH_KB = 40_000


class Steady:
    """A model that says so many words, one at a time, and knows whether it is at work."""

    def __init__(self, word_s: float = WORD_S) -> None:
        self._word_s = word_s
        self._one_at_a_time = asyncio.Lock()
        self.at_work = 0

    async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        async with self._one_at_a_time:
            self.at_work += 1
            try:
                for _ in range(WORDS - request.reply_prefix.count(" ")):
                    await asyncio.sleep(self._word_s)
                    if cancel.is_set():
                        return
                    yield ChatDelta("word ")
                yield ChatDone("stop", 1, 0, WORDS)
            finally:
                self.at_work -= 1


class Crowd:
    """Clients that ask until it is over; what they got is counted by client."""

    def __init__(self, url: str, until_s: float) -> None:
        self._url = f"{url}/v1/chat/completions"
        self.until_s = until_s
        self._dice = random.Random(7)
        self.asked: Counter[int] = Counter()
        self.answered: Counter[int] = Counter()
        self.statuses: Counter[int] = Counter()

    async def ask(self, number: int) -> None:
        async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(60)) as session:
            while time.monotonic() < self.until_s:
                leaves = self._dice.random() < 0.3
                body = {"model": "default", "messages": [USER], "stream": self._dice.random() < 0.5}
                async with session.post(self._url, json=body) as response:
                    self.statuses[response.status] += 1
                    self.asked[number] += 1
                    if leaves:
                        response.close()
                    else:
                        text = await response.text()
                        assert text.count("word") == WORDS, text
                        self.answered[number] += 1


async def voice_turn(queues: EngineQueues, model: Steady, number: int) -> float:
    """Seconds from the end of a sentence of half a second to its first word, as the pipeline does it."""
    queues.on_event(SpeechStarted())
    await asyncio.sleep(0.5)
    turn = f"turn {number}"
    queues.on_event(TurnStarted(turn_id=turn, source="voice", preset="home"))
    begun_s, waited_s = time.monotonic(), 0.0
    async for reply in model.stream(ChatRequest((Message("user", "?"),)), CancelFlag()):
        if isinstance(reply, ChatDelta):
            waited_s = waited_s or time.monotonic() - begun_s
    queues.on_event(TurnEnded(turn_id=turn, outcome="answered"))
    return waited_s


@pytest.mark.long
async def test_fifty_clients_that_come_and_go_are_all_served() -> None:
    model = Steady()
    assistant = talking(model)
    settings = ServerSettings(max_waiting=CLIENTS)
    queues = EngineQueues(assistant, settings)
    async with http_listener(create_app(assistant, settings, TOKENS, queues), "127.0.0.1", 0) as url:
        idle_s = await voice_turn(queues, model, 0)
        before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        crowd = Crowd(url, time.monotonic() + LOAD_S)
        waits: list[float] = []
        async with asyncio.timeout(LOAD_S + 60), asyncio.TaskGroup() as group:
            for number in range(CLIENTS):
                group.create_task(crowd.ask(number))
            while time.monotonic() < crowd.until_s - 2:
                await asyncio.sleep(2)
                waits.append(await voice_turn(queues, model, len(waits) + 1))
        grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb
    told = f"{crowd.statuses}, voice waited {max(waits):.3f} s (idle {idle_s:.3f} s), grew by {grown_kb} kB"
    print(told)
    assert set(crowd.statuses) == {200}, told
    assert len(crowd.answered) == CLIENTS, told
    assert min(crowd.asked.values()) >= max(crowd.asked.values()) / 2, told
    assert (queues.model.admitted, model.at_work) == (0, 0), told
    assert grown_kb < MAX_GROWTH_KB, told
    # The crowd and the server share this process: what is left is the event loop's own delay.
    assert sorted(waits)[len(waits) // 2] < idle_s + 0.1, told


async def test_fifty_clients_of_four_apis_at_once_get_fifty_answers() -> None:
    async with served(talking(Steady())) as url, asyncio.timeout(60):
        burst = await ask_at_once(url, OWNER)
    assert (burst["statuses"], burst["answered"]) == ({200: CLIENTS}, CLIENTS)


class Patient:
    """Clients that come back after Retry-After, until all of them together have had so many answers."""

    def __init__(self, url: str, answers: int) -> None:
        self._url = f"{url}/v1/chat/completions"
        self._answers = answers
        self.answered: Counter[int] = Counter()

    async def ask(self, number: int) -> None:
        """Half of them open a connection for each request. No two say the same."""
        body = {"model": "default", "messages": [{"role": "user", "content": "?" * (number + 1)}]}
        connector = aiohttp.TCPConnector(force_close=number % 2 == 0)
        async with aiohttp.ClientSession(connector=connector) as session:
            while self.answered.total() < self._answers:
                async with session.post(self._url, json=body) as response:
                    assert response.status in {200, 429}
                    await response.read()
                if response.status == 200:
                    self.answered[number] += 1
                else:
                    await asyncio.sleep(float(response.headers["Retry-After"]))


@pytest.mark.long
async def test_more_clients_than_may_wait_are_answered_about_as_often_as_each_other() -> None:
    # Retry-After is in whole seconds: those who wait must be enough to keep the model at work for one.
    clients, each = 16, 3
    async with served(talking(Steady(word_s=0.025)), max_waiting=6) as url, asyncio.timeout(120):
        crowd = Patient(url, clients * each)
        async with asyncio.TaskGroup() as group:
            for number in range(clients):
                group.create_task(crowd.ask(number))
    assert len(crowd.answered) == clients, crowd.answered
    assert max(crowd.answered.values()) <= 3 * each, crowd.answered

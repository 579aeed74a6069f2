"""How long the person in the room waits while fifty programs ask: `python -m benchmarks.server_load`.

The default model behind the server, fifty clients that come and go (benchmarks/load_clients.py), and turns of the
room's own conversation: for each, speech begins, and a second and a half later it is known what was
said. The first word and the whole turn beside programs are compared with those of the same turns before the crowd
came, in the same run. With `--spoken` all engines run, the turns are heard, and the first audible sample is compared,
too. EDGEVOX_LOAD_S is how long the crowd stays. After it, fifty clients of the four chat APIs ask once each, at
the same moment.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import tempfile
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import aiohttp

from benchmarks.first_audio import WARM_UP, Answered, Conversing, spoken
from benchmarks.hardware import describe
from edgevox.app.runtime import AssistantRuntime
from edgevox.config import load_settings
from edgevox.core.events import EngineName, SpeechStarted
from edgevox.core.files import Folders, user_folders
from edgevox.core.platform import anonymous_bytes
from edgevox.core.turn import Turn
from edgevox.core.types import Audio
from edgevox.dialogue import Pipeline
from edgevox.models import ModelStore, open_store
from edgevox.server.app import create_app
from edgevox.server.engine_queues import EngineQueues
from edgevox.server.http.listener import http_listener
from edgevox.server.http.tokens import Tokens
from edgevox.tools.policy import Caller

LOAD_S = 120.0
RATIO_BAR = 1.5
COMMANDS = (
    "Turn on the kitchen light.",
    "Set the desk lamp to forty percent.",
    "Turn off the hallway light.",
    "Open the curtains in the bedroom.",
    "How warm is it in the bedroom?",
    "Turn on the ceiling fan.",
    "Which lights are on?",
    "Close the curtains.",
)
# Everything is loaded and read, and the conversation is as long as it becomes.
WARM_UP_TURNS = 4
BURST_TURNS = 3
SPEECH_S = 1.5
# Between an answer and the next sentence: sometimes hardly time for a breath.
BREATHS_S = (1.5, 6.0)
_TOKEN = "token-of-the-crowd"
_LLM_ONLY: tuple[EngineName, ...] = ("llm",)
_ALL_ENGINES: tuple[EngineName, ...] = ("llm", "tts", "stt")


@dataclass(frozen=True, slots=True)
class Load:
    """What came of it: the room's turns alone and beside the crowd, and the crowd's own account."""

    idle: tuple[Answered, ...]
    loaded: tuple[Answered, ...]
    crowd: dict[str, Any]
    burst: dict[str, Any]
    pauses: int
    grown_mb: float

    @property
    def ratios(self) -> dict[str, float]:
        """Of the medians beside the crowd to those alone."""
        return {
            name: round(statistics.median(beside) / statistics.median(alone), 2)
            for name, times_ms in _TIMES_MS.items()
            if (beside := times_ms(self.loaded)) and (alone := times_ms(self.idle))
        }

    def figures(self) -> dict[str, object]:
        return {
            "ratios": self.ratios,
            "idle": _figures(self.idle),
            "loaded": _figures(self.loaded),
            "crowd": self.crowd,
            "burst": self.burst,
            "pauses": self.pauses,
            "grown_mb": round(self.grown_mb, 1),
        }


async def measure(
    runtime: AssistantRuntime, open_room: OpenRoom, *, load_s: float, idle_turns: int = len(COMMANDS)
) -> Load:
    """With a daemon that is not started. Raises EngineFailed and ModelError."""
    async with runtime:
        assistant = runtime.assistant()
        settings = runtime.settings.server
        queues = EngineQueues(assistant, settings)
        tokens = Tokens({_TOKEN: Caller("crowd", frozenset({"*"}))})
        app = create_app(assistant, settings, tokens, queues)
        async with open_room(runtime) as room, http_listener(app, "127.0.0.1", 0) as url:
            with runtime.bus.listening(queues.on_event):
                await room.converse(WARM_UP_TURNS)
                await _asked_once(url)
                idle = await room.converse(idle_turns)
                crowd = asyncio.create_task(_crowd(url, load_s))
                await asyncio.sleep(min(5.0, load_s / 4))
                before = _memory_mb(runtime)
                loaded: list[Answered] = []
                while not crowd.done():
                    loaded += await room.converse(1)
                grown_mb = _memory_mb(runtime) - before
                burst = asyncio.create_task(_crowd(url, 0))
                loaded += await room.converse(BURST_TURNS)
                await burst
    return Load(tuple(idle), tuple(loaded), await crowd, await burst, queues.model.pauses, grown_mb)


class Room(ABC):
    """Whoever is in the room, and their one conversation."""

    def __init__(self, runtime: AssistantRuntime, breaths_s: tuple[float, float]) -> None:
        self.runtime = runtime
        self._breaths_s = breaths_s
        self._dice = random.Random(5)
        self._said = 0

    async def converse(self, turns: int) -> list[Answered]:
        """So many turns, each with a breath before it."""
        answers = []
        for _ in range(turns):
            await asyncio.sleep(self._dice.uniform(*self._breaths_s))
            answered = await self.ask(self._said % len(COMMANDS))
            self._said += 1
            answers.append(answered)
            shown = {name: round(ms) for name, ms in answered.record.timings_ms.items()}
            print(f"{answered.record.heard}: {shown}, {_evaluated(answered)} tokens", file=sys.stderr)
        return answers

    @abstractmethod
    async def ask(self, number: int) -> Answered:
        """Ask the command of this number."""


class TypedRoom(Room):
    """What is said is known as soon as it has been said."""

    def __init__(self, runtime: AssistantRuntime, breaths_s: tuple[float, float], pipeline: Pipeline) -> None:
        super().__init__(runtime, breaths_s)
        self._pipeline = pipeline

    async def ask(self, number: int) -> Answered:
        self.runtime.bus.publish(SpeechStarted())
        await asyncio.sleep(SPEECH_S)
        await self._pipeline.answer(COMMANDS[number], Turn(), "voice")
        record = self.runtime.records.last
        assert record is not None
        return Answered(COMMANDS[number], None, 0, record)


class SpokenRoom(Room):
    """What is said is heard."""

    def __init__(
        self, runtime: AssistantRuntime, breaths_s: tuple[float, float], sounds: Sequence[Audio], heard_by: Conversing
    ) -> None:
        super().__init__(runtime, breaths_s)
        self._sounds = sounds
        self._heard_by = heard_by

    async def ask(self, number: int) -> Answered:
        return await self._heard_by.ask(COMMANDS[number], self._sounds[number])


@asynccontextmanager
async def typed_room(runtime: AssistantRuntime, breaths_s: tuple[float, float] = BREATHS_S) -> AsyncIterator[TypedRoom]:
    pipeline = runtime.pipeline(conversation=runtime.conversation())
    pipeline.start_idle_work()
    try:
        yield TypedRoom(runtime, breaths_s, pipeline)
    finally:
        await pipeline.close()


@asynccontextmanager
async def spoken_room(
    runtime: AssistantRuntime, breaths_s: tuple[float, float] = BREATHS_S
) -> AsyncIterator[SpokenRoom]:
    warm_up, *sounds = [sound for _said, sound in await spoken(runtime, (WARM_UP, *COMMANDS))]
    async with Conversing.with_(runtime, live=True) as conversing:
        await conversing.ask(WARM_UP, warm_up)
        yield SpokenRoom(runtime, breaths_s, sounds, conversing)


OpenRoom: TypeAlias = Callable[[AssistantRuntime], AbstractAsyncContextManager[Room]]


async def _asked_once(url: str) -> None:
    """Programs have a memory of their own in the model, made for the first of them."""
    messages = [{"role": "user", "content": "Hello."}]
    body = {"model": "default", "messages": messages, "tool_choice": "none", "max_tokens": 4}
    async with aiohttp.ClientSession() as session, session.post(f"{url}/v1/chat/completions", json=body) as answer:
        answer.raise_for_status()


async def _crowd(url: str, seconds: float) -> dict[str, Any]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "benchmarks.load_clients", url, str(seconds)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    told, _ = await process.communicate(f"{_TOKEN}\n".encode())
    if process.returncode:
        raise SystemExit("the crowd could not ask: its words are above")
    answer: dict[str, Any] = json.loads(told)
    return answer


def _memory_mb(runtime: AssistantRuntime) -> float:
    pids = (os.getpid(), runtime.engines.pid("llm"))
    return sum(anonymous_bytes(pid) for pid in pids if pid) / 1e6


def _evaluated(answered: Answered) -> int:
    return answered.record.prompt_tokens - answered.record.cached_tokens


def _stage_ms(turns: Sequence[Answered], stage: str) -> list[float]:
    """Of the turns that had the stage."""
    return [turn.record.timings_ms[stage] for turn in turns if stage in turn.record.timings_ms]


_TIMES_MS: dict[str, Callable[[Sequence[Answered]], list[float]]] = {
    "first_word": lambda turns: _stage_ms(turns, "first_token"),
    "first_audio": lambda turns: [1000 * turn.took_s for turn in turns if turn.took_s is not None],
    "turn": lambda turns: _stage_ms(turns, "total"),
}


def _figures(turns: Sequence[Answered]) -> dict[str, object]:
    times = {name: found for name, times_ms in _TIMES_MS.items() if (found := times_ms(turns))}
    return {
        "turns": len(turns),
        **{f"{name}_median_ms": round(statistics.median(found)) for name, found in times.items()},
        **{f"{name}_longest_ms": round(max(found)) for name, found in times.items()},
        "evaluated_tokens_median": statistics.median(map(_evaluated, turns)),
    }


def daemon_in(
    folders: Folders, store: ModelStore, flags: Mapping[str, object], roles: Collection[EngineName] = _LLM_ONLY
) -> AssistantRuntime:
    runtime = AssistantRuntime(load_settings(folders, flags=flags, environ={}), folders, store, roles)
    store.ensure(runtime.models.needed())
    runtime.models.prepare(print)
    return runtime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--spoken", action="store_true", help="all engines, and speech instead of words")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    args = parser.parse_args()
    load_s = float(os.environ.get("EDGEVOX_LOAD_S", LOAD_S))
    with tempfile.TemporaryDirectory() as scratch:
        folders = Folders(Path(scratch) / "config", Path(scratch) / "state", user_folders().models)
        roles = _ALL_ENGINES if args.spoken else _LLM_ONLY
        # The tone that confirms an utterance is no answer.
        flags: dict[str, object] = {"sounds.chimes": False, "sounds.acknowledge_after_s": 0}
        runtime = daemon_in(folders, open_store(folders), flags, roles)
        load = asyncio.run(measure(runtime, spoken_room if args.spoken else typed_room, load_s=load_s))
    result = {"hardware": describe(), "load_s": load_s, "roles": roles, **load.figures()}
    print(json.dumps(result, indent=2))
    print(f"times beside the crowd over those alone: {load.ratios}, bar {RATIO_BAR} for each")
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""How long the person in the room waits while fifty programs ask: `python -m benchmarks.server_load`.

The default model behind the server, fifty clients that come and go (benchmarks/load_clients.py), and turns of
the room's own conversation: for each, somebody begins to speak, and a second and a half later it is known
what they said. Its first word beside programs is compared with that of the same turns before the crowd came,
in the same run. EDGEVOX_LOAD_S is how long the crowd stays. After it, fifty clients of the four chat APIs ask once
each, at the same moment.
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from benchmarks.hardware import describe
from edgevox.app.runtime import AssistantRuntime
from edgevox.config import load_settings
from edgevox.core.events import SpeechStarted
from edgevox.core.files import Folders, user_folders
from edgevox.core.metrics import TurnMetrics
from edgevox.core.platform import anonymous_bytes
from edgevox.core.turn import Turn
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


@dataclass(frozen=True, slots=True)
class Load:
    """What came of it: the room's turns alone and beside the crowd, and the crowd's own account."""

    idle: tuple[TurnMetrics, ...]
    loaded: tuple[TurnMetrics, ...]
    crowd: dict[str, Any]
    burst: dict[str, Any]
    pauses: int
    grown_mb: float

    @property
    def ratio(self) -> float:
        """Of the medians of the time to the first word."""
        return _median_ms(self.loaded) / _median_ms(self.idle)

    def figures(self) -> dict[str, object]:
        return {
            "ratio": round(self.ratio, 2),
            "idle": _figures(self.idle),
            "loaded": _figures(self.loaded),
            "crowd": self.crowd,
            "burst": self.burst,
            "pauses": self.pauses,
            "grown_mb": round(self.grown_mb, 1),
        }


async def measure(
    runtime: AssistantRuntime,
    *,
    load_s: float,
    idle_turns: int = len(COMMANDS),
    breaths_s: tuple[float, float] = BREATHS_S,
) -> Load:
    """With a daemon that is not started. Raises EngineFailed and ModelError."""
    async with runtime:
        assistant = runtime.assistant()
        settings = runtime.settings.server
        queues = EngineQueues(assistant, settings)
        tokens = Tokens({_TOKEN: Caller("crowd", frozenset({"*"}))})
        app = create_app(assistant, settings, tokens, queues)
        room = Room(runtime, breaths_s)
        with runtime.bus.listening(queues.on_event):
            async with http_listener(app, "127.0.0.1", 0) as url:
                await room.converse(WARM_UP_TURNS)
                await _asked_once(url)
                idle = await room.converse(idle_turns)
                crowd = asyncio.create_task(_crowd(url, load_s))
                await asyncio.sleep(min(5.0, load_s / 4))
                before = _memory_mb(runtime)
                loaded: list[TurnMetrics] = []
                while not crowd.done():
                    loaded += await room.converse(1)
                grown_mb = _memory_mb(runtime) - before
                burst = asyncio.create_task(_crowd(url, 0))
                loaded += await room.converse(BURST_TURNS)
                await burst
                await room.close()
    return Load(tuple(idle), tuple(loaded), await crowd, await burst, queues.model.pauses, grown_mb)


class Room:
    """Whoever is in the room, and their one conversation."""

    def __init__(self, runtime: AssistantRuntime, breaths_s: tuple[float, float]) -> None:
        self._runtime = runtime
        self._breaths_s = breaths_s
        self._pipeline: Pipeline | None = None
        self._dice = random.Random(5)
        self._said = 0

    async def converse(self, turns: int) -> list[TurnMetrics]:
        """So many turns, each with a breath before it."""
        pipeline = self._pipeline = self._pipeline or self._runtime.pipeline(conversation=self._runtime.conversation())
        pipeline.start_idle_work()
        records = []
        for _ in range(turns):
            await asyncio.sleep(self._dice.uniform(*self._breaths_s))
            self._runtime.bus.publish(SpeechStarted())
            await asyncio.sleep(SPEECH_S)
            await pipeline.answer(COMMANDS[self._said % len(COMMANDS)], Turn(), "voice")
            self._said += 1
            record = self._runtime.records.last
            assert record is not None
            records.append(record)
            evaluated = record.prompt_tokens - record.cached_tokens
            print(f"{_first_word_ms(record):6.0f} ms, {evaluated} tokens: {record.heard}", file=sys.stderr)
        return records

    async def close(self) -> None:
        if self._pipeline is not None:
            await self._pipeline.close()


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


def _first_word_ms(record: TurnMetrics) -> float:
    return record.timings_ms["first_token"]


def _median_ms(records: tuple[TurnMetrics, ...]) -> float:
    return statistics.median(map(_first_word_ms, records))


def _figures(records: tuple[TurnMetrics, ...]) -> dict[str, object]:
    return {
        "turns": len(records),
        "first_word_median_ms": round(_median_ms(records)),
        "first_word_longest_ms": round(max(map(_first_word_ms, records))),
        "evaluated_tokens_median": statistics.median(record.prompt_tokens - record.cached_tokens for record in records),
    }


def daemon_in(folders: Folders, store: ModelStore, **flags: object) -> AssistantRuntime:
    runtime = AssistantRuntime(load_settings(folders, flags=flags, environ={}), folders, store, ["llm"])
    store.ensure(runtime.models.needed())
    runtime.models.prepare(print)
    return runtime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    args = parser.parse_args()
    load_s = float(os.environ.get("EDGEVOX_LOAD_S", LOAD_S))
    with tempfile.TemporaryDirectory() as scratch:
        folders = Folders(Path(scratch) / "config", Path(scratch) / "state", user_folders().models)
        load = asyncio.run(measure(daemon_in(folders, open_store(folders)), load_s=load_s))
    result = {"hardware": describe(), "load_s": load_s, **load.figures()}
    print(json.dumps(result, indent=2))
    print(f"the first word beside the crowd takes {load.ratio:.2f} of its time alone, bar {RATIO_BAR}")
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

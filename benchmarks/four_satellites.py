"""Four satellites on one machine: `python -m benchmarks.four_satellites`.

The real server with its real engines and four satellites over the voice socket, each in a room. A command of three to
four seconds is spoken to one of them, then two of these to two, whose speech overlaps by more than a second: the time
from the last sample of the command to the first sample of the answer, which includes the pause that ends an utterance.
The same commands are spoken to the assistant's own microphone before, without satellites: the ratio tells what the
satellites cost, also on a busy machine. The processor time is that of all its processes.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from websockets.asyncio.client import ClientConnection, connect

from benchmarks.first_audio import BREATH_S, Conversing
from benchmarks.hardware import describe
from benchmarks.speech_test_set import say_by_espeak
from edgevox.app.http_server import run_server_only
from edgevox.app.runtime import AssistantRuntime
from edgevox.config import load_settings
from edgevox.core.files import Folders, user_folders
from edgevox.core.metrics import TurnMetrics
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, to_pcm16
from edgevox.models import open_store
from edgevox.server.http.tokens import Tokens, add_token, token_file

ROOMS = ("Kitchen", "Bedroom", "Office", "Living room")
COMMANDS = (
    "could you please turn on the light here in this room for me",
    "would you please be so kind and turn off the light in this room",
    "i would like you to turn on all the lights in this room please",
    "could you please be so kind and tell me what time it is now",
)
ONE_S, TWO_S = 1.0, 2.0
_CHUNK_S = 0.04
_ANSWER_S = 60.0
_SILENCE_S = 2.5
_WORDS_PER_MINUTE = 150
# How much later the second begins: no satellite takes both wake words for one.
_LATER_S = (0.5, 0.75, 1.0, 1.25)
_LEAST_OVERLAP_S = 1.0


@dataclass
class Speaker:
    """A satellite and what is said to it."""

    socket: ClientConnection

    async def ask(self, speech: bytes) -> float:
        """Speak in real time; returns seconds from the last sample of the command to the first of the answer."""
        # Satellites ask for the server's clock, which is this one.
        wake = {"type": "wake", "score": 0.95, "level_db": 30.0, "at_s": time.monotonic()}
        await self.socket.send(json.dumps(wake))
        answered = asyncio.create_task(self._answer())
        size = round(_CHUNK_S * SAMPLE_RATE_HZ) * 2
        began_s = time.monotonic()
        silence = bytes(round(_SILENCE_S * SAMPLE_RATE_HZ) * 2)
        for number, start in enumerate(range(0, len(speech) + len(silence), size), 1):
            await self.socket.send((speech + silence)[start : start + size])
            await asyncio.sleep(began_s + number * _CHUNK_S - time.monotonic())
        ended_s = began_s + len(speech) / 2 / SAMPLE_RATE_HZ
        return (await asyncio.wait_for(answered, _ANSWER_S)) - ended_s

    async def _answer(self) -> float:
        """Play at once; returns when the first sample came, after the end of the turn."""
        first_s, passage, samples = 0.0, 0, 0
        while True:
            frame = await self.socket.recv()
            if isinstance(frame, bytes):
                first_s = first_s or time.monotonic()
                samples += len(frame) // 2
                await self.socket.send(json.dumps({"type": "played", "passage": passage, "samples": samples}))
                continue
            event = json.loads(frame)
            if event["type"] == "audio_begin":
                passage, samples = event["passage"], 0
            elif event["type"] == "done":
                if event["outcome"] != "answered":
                    raise RuntimeError(f"the turn was {event['outcome']}: {event['error']}")
                return first_s


async def measure(folders: Folders, times: int) -> dict[str, Any]:
    store = open_store(folders)
    flags = {"server.port": 0}
    runtime = AssistantRuntime(load_settings(folders, environ={}, flags=flags), folders, store, ["llm", "stt", "tts"])
    store.ensure(runtime.models.needed())
    runtime.models.prepare(print)
    Tokens.open(folders)
    token = add_token(token_file(folders), "satellites", ("voice", "read", "act"))
    sounds = [_trimmed(say_by_espeak("en-us", _WORDS_PER_MINUTE, command).samples) for command in COMMANDS]
    speech = [to_pcm16(sound) for sound in sounds]
    shortest_s = min(map(len, sounds)) / SAMPLE_RATE_HZ
    assert shortest_s - max(_LATER_S) >= _LEAST_OVERLAP_S
    local: list[float] = []
    cpu_s: dict[str, float] = {}
    async with AsyncExitStack() as running:
        await running.enter_async_context(runtime)
        async with Conversing.with_(runtime, live=True) as conversing:
            for number in range(times + 1):
                before_s = _processor_s()
                command, sound = COMMANDS[number % 4], Audio(sounds[number % 4], SAMPLE_RATE_HZ)
                took_s = (await conversing.ask(command, sound)).took_s
                await asyncio.sleep(BREATH_S)
                if number and took_s is not None:  # the first loads everything
                    local.append(took_s)
                    cpu_s["local"] = cpu_s.get("local", 0.0) + _processor_s() - before_s
        url = await running.enter_async_context(run_server_only(runtime, Console(stderr=True)))
        speakers = []
        for room in ROOMS:
            socket = await running.enter_async_context(connect(f"{url.replace('http', 'ws')}/v1/voice"))
            name = room.replace(" ", "-")
            hello = {"type": "hello", "version": 1, "token": token, "satellite": name, "room": room}
            await socket.send(json.dumps(hello))
            speakers.append(Speaker(socket))
        await speakers[0].ask(speech[0])  # everything is loaded once
        before_s = _processor_s()
        one = [await speakers[n % 4].ask(speech[n % 4]) for n in range(times)]
        cpu_s["one_speaker"] = _processor_s() - before_s
        two: list[float] = []
        for n in range(times):
            first, second, later_s = speakers[n % 4], speakers[(n + 2) % 4], _LATER_S[n // 4 % 4]
            two += await asyncio.gather(first.ask(speech[n % 4]), _later(second, speech[(n + 1) % 4], later_s))
    records = [record for record in runtime.records.turn_log.between(0.0, time.time()) if record.outcome == "answered"]
    return {
        "turns": times,
        "pairs": times,
        "shortest_command_s": round(shortest_s, 1),
        "local_median_s": round(statistics.median(local), 2),
        "one_speaker_to_local": round(statistics.median(one) / statistics.median(local), 2),
        "two_speakers_to_local": round(statistics.median(two) / statistics.median(local), 2),
        "processor_s_per_turn": {name: round(spent_s / times, 2) for name, spent_s in cpu_s.items()},
        "local_stages_ms": _stages([record for record in records if not record.room][1:]),
        "satellite_stages_ms": _stages([record for record in records if record.room][1:]),
        "one_speaker_median_s": round(statistics.median(one), 2),
        "one_speaker_most_s": round(max(one), 2),
        "two_speakers_median_s": round(statistics.median(two), 2),
        "two_speakers_most_s": round(max(two), 2),
    }


async def _later(speaker: Speaker, speech: bytes, later_s: float) -> float:
    await asyncio.sleep(later_s)
    return await speaker.ask(speech)


def _stages(records: list[TurnMetrics]) -> dict[str, float]:
    """The median of each stage, and of the tokens of the prompt that were not evaluated before."""
    names = sorted({stage.name for record in records for stage in record.stages})
    taken = {name: [record.timings_ms[name] for record in records if name in record.timings_ms] for name in names}
    tokens = [record.prompt_tokens - record.cached_tokens for record in records if record.prompt_tokens]
    stages = {name: round(statistics.median(of_name)) for name, of_name in taken.items()}
    return stages | {"model_turns": len(tokens), "new_tokens": statistics.median(tokens) if tokens else 0}


def _processor_s() -> float:
    """Processor time of this process and its children so far."""
    members = [os.getpid()]
    ticks = 0
    for pid in members:
        for children in Path(f"/proc/{pid}/task").glob("*/children"):
            members += map(int, children.read_text(encoding="ascii").split())
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def _trimmed(samples: np.typing.NDArray[np.float32]) -> np.typing.NDArray[np.float32]:
    """Without the silence at the end."""
    loud = np.flatnonzero(np.abs(samples) > 0.02)
    return samples[: loud[-1] + 1]


def main() -> None:
    parser = argparse.ArgumentParser(description="First audio with four satellites.")
    parser.add_argument("--times", type=int, default=24)
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folders = Folders(Path(scratch) / "config", Path(scratch) / "state", user_folders().models)
        bars = {"one_speaker_bar_s": ONE_S, "two_speakers_bar_s": TWO_S}
        result = {"hardware": describe(), **bars, **asyncio.run(measure(folders, args.times))}
    print(json.dumps(result, indent=2))
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    if result["one_speaker_median_s"] > ONE_S or result["two_speakers_median_s"] > TWO_S:
        sys.exit("above a bar")


if __name__ == "__main__":
    main()

"""Memory of the language model and of speech recognition: `python -m benchmarks.engine_memory --engine stt`.

The engines run in their own processes with the default models, as in the program. After each step they are left idle
until they have returned freed memory. A leak grows from step to step; a cache or a buffer reaches a plateau.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import tempfile
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.hardware import describe
from edgevox.app.runtime import AssistantRuntime
from edgevox.audio.dsp import Resampler
from edgevox.config import load_settings
from edgevox.core.events import EngineName
from edgevox.core.files import user_folders
from edgevox.core.turn import CancelFlag
from edgevox.core.types import (
    API_CLIENT,
    SAMPLE_RATE_HZ,
    Audio,
    ChatRequest,
    JsonObject,
    Message,
    Sampling,
    TranscribeRequest,
)
from edgevox.models import open_store

# Longer than a child waits before it counts as idle.
IDLE_S = 2.5
WORDS = ("the", "sea", "light", "kitchen", "lamp", "turn", "moon", "story", "egg", "water", "blue", "seven", "door")
SENTENCES = (
    "Turn on the kitchen lamp.",
    "What time is it?",
    "Set a timer for twenty seconds.",
    "Is the front door open, and are the lights in the living room on?",
    "Remind me in one minute to feed the cat.",
    "Close the blinds in the living room.",
    "How much time is left?",
    "Good night.",
)


def tool(number: int) -> JsonObject:
    place = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}
    described = {"name": f"get_thing_{number}", "description": "A thing of a place.", "parameters": place}
    return {"type": "function", "function": described}


def resident_mb(pid: int | None) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    (line,) = (line for line in status.splitlines() if line.startswith("VmRSS:"))
    return round(int(line.split()[1]) / 1024, 1)


def at_16_khz(sound: Audio) -> Audio:
    resampler = Resampler(sound.rate_hz, SAMPLE_RATE_HZ)
    return Audio(np.concatenate((resampler.feed(sound.samples), resampler.finish())), SAMPLE_RATE_HZ)


class Engines:
    def __init__(self, runtime: AssistantRuntime) -> None:
        self._engines = runtime.engines
        self._wire_format = runtime.preset.tool_call_parsers[0]
        self._rng = random.Random(1)

    async def rss_mb(self, name: EngineName) -> float:
        await asyncio.sleep(IDLE_S)
        return resident_mb(self._engines.pid(name))

    async def ask(self, client: str, words: int, tools: tuple[JsonObject, ...] = ()) -> None:
        text = " ".join(self._rng.choice(WORDS) for _ in range(words))
        request = ChatRequest(
            (Message("user", text),),
            tools=tools,
            sampling=Sampling(temperature=0.0, max_tokens=8),
            client=client,
            tool_choice="required" if tools else "none",
            wire_format=self._wire_format,
        )
        async for _reply in self._engines.llm.stream(request, CancelFlag()):
            pass

    async def llm_steps(self) -> AsyncIterator[tuple[str, float]]:
        yield "loaded", await self.rss_mb("llm")
        for part in range(2):
            for number in range(10):
                await self.ask(f"{API_CLIENT}{part}-{number}", 10)
            yield f"{10 * (part + 1)} requests of programs", await self.rss_mb("llm")
        for part in range(3):
            for number in range(10):
                await self.ask(f"{API_CLIENT}tools-{part}-{number}", 10, (tool(10 * part + number),))
            yield f"{10 * (part + 1)} with tools that are new each time", await self.rss_mb("llm")
        for words in (100, 200, 400):
            await self.ask("local", words)
            yield f"a local prompt of {words} words", await self.rss_mb("llm")
        for part in range(2):
            for _number in range(5):
                await self.ask("local", 50, (tool(0),))
            yield f"{5 * (part + 1)} local turns", await self.rss_mb("llm")

    async def stt_steps(self, voice: AssistantRuntime) -> AsyncIterator[tuple[str, float]]:
        speech = [at_16_khz(await voice.voice().sound_of(sentence)) for sentence in SENTENCES]
        yield "loaded", await self.rss_mb("stt")
        for part in range(5):
            for sound in speech[part % 2 :: 2]:
                async for _transcript in self._engines.stt.stream(TranscribeRequest(sound), CancelFlag()):
                    pass
            yield f"{4 * (part + 1)} utterances", await self.rss_mb("stt")


async def measure(name: EngineName) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as state:
        folders = replace(user_folders(), state=Path(state))
        settings = load_settings(folders, flags={"tools.enabled": False}, environ={})
        names: tuple[EngineName, ...] = ("llm",) if name == "llm" else ("stt", "tts")
        async with AssistantRuntime(settings, folders, open_store(folders), names) as runtime:
            engines = Engines(runtime)
            steps = engines.llm_steps() if name == "llm" else engines.stt_steps(runtime)
            return {step: mb async for step, mb in steps}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--engine", choices=("llm", "stt"), default="llm")
    parser.add_argument("--json", type=Path, help="also write the figures here, beside those of the other engine")
    args = parser.parse_args()
    kept = json.loads(args.json.read_text(encoding="utf-8")) if args.json and args.json.exists() else {}
    steps = asyncio.run(measure(args.engine))
    result = {"hardware": describe(), "unit": "MB of resident memory, idle", **kept, args.engine: steps}
    text = json.dumps(result, indent=1)
    print(text)
    if args.json:
        args.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

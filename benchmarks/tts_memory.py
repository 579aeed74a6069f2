"""Memory of the TTS engine over many sentences: `python -m benchmarks.tts_memory [--texts 100]`.

Two engine processes speak the same texts of varied length in turn, with a pause before each. One returns freed memory
to the system when it is idle, as engines do; the other keeps it. Also compares the times, which are those of an engine
that was idle: it has to get its memory back from the system.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.hardware import describe
from edgevox.core.files import user_folders
from edgevox.core.platform import anonymous_bytes
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, SynthesisRequest
from edgevox.engines import SupervisedEngine
from edgevox.engines.threads import plan_threads
from edgevox.models import open_store
from edgevox.tts.piper import PiperEngine

VOICE = "piper-en_US-joe-medium"
WORDS = (
    *(
        "the",
        "light",
        "in",
        "kitchen",
        "is",
        "on",
        "and",
        "it",
        "twenty",
        "two",
        "degrees",
        "outside",
        "while",
        "timer",
    ),
    *("nine", "minutes", "rings", "tomorrow", "morning", "seven", "because", "calendar", "says", "dentist", "waiting"),
)
LENGTHS = (2, 4, 8, 12, 20, 40)
# Longer than a child waits before it counts as idle.
PAUSE_S = 2.5
WARM_UP_TEXTS = 10


class HoardingEngine(PiperEngine):
    """Keeps freed memory."""

    def load(self) -> None:
        super().load()
        sys.modules["__main__"].trim_heap = lambda: None  # type: ignore[attr-defined]  # the child's main module


@dataclass
class Figures:
    idle_mb: list[float] = field(default_factory=list)
    first_sound_s: list[float] = field(default_factory=list)
    work_s: list[float] = field(default_factory=list)

    def row(self) -> dict[str, float]:
        warm = self.idle_mb[WARM_UP_TEXTS:] or self.idle_mb
        return {
            "idle_mb_first": self.idle_mb[0],
            "idle_mb_median": round(statistics.median(warm), 1),
            "idle_mb_min": min(warm),
            "idle_mb_max": max(warm),
            "first_sound_ms_median": round(1000 * statistics.median(self.first_sound_s), 1),
            "work_s_sum": round(sum(self.work_s), 2),
        }


def texts(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    return [
        " ".join(rng.choice(WORDS) for _ in range(rng.choice(LENGTHS))).capitalize() + "." for _number in range(count)
    ]


async def speak(engine: SupervisedEngine[SynthesisRequest, Audio], text: str, figures: Figures) -> None:
    assert engine.pid is not None
    figures.idle_mb.append(round(anonymous_bytes(engine.pid) / 1e6, 1))
    began_s = time.monotonic()
    is_first = True
    async for _chunk in engine.stream(SynthesisRequest(text), CancelFlag()):
        if is_first:
            figures.first_sound_s.append(time.monotonic() - began_s)
        is_first = False
    figures.work_s.append(time.monotonic() - began_s)


async def measure(voice: Path, count: int, seed: int) -> dict[str, object]:
    threads = plan_threads().tts
    engines = {
        "returned when idle": SupervisedEngine[SynthesisRequest, Audio]("tts", PiperEngine(voice, threads=threads)),
        "kept": SupervisedEngine[SynthesisRequest, Audio]("tts", HoardingEngine(voice, threads=threads)),
    }
    figures = {name: Figures() for name in engines}
    try:
        for engine in engines.values():
            await engine.start()
        for number, text in enumerate(texts(count, seed)):
            for name in list(engines)[:: 1 if number % 2 else -1]:
                await asyncio.sleep(PAUSE_S)
                await speak(engines[name], text, figures[name])
    finally:
        for engine in engines.values():
            await engine.close()
    returned, kept = figures.values()
    ratios = [a / b for a, b in zip(returned.first_sound_s, kept.first_sound_s, strict=True)]
    work = [a / b for a, b in zip(returned.work_s, kept.work_s, strict=True)]
    return {
        **{name: one.row() for name, one in figures.items()},
        "first_sound_ratio_median": round(statistics.median(ratios), 3),
        "work_ratio_median": round(statistics.median(work), 3),
        "idle_mb": {name: one.idle_mb for name, one in figures.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--texts", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="also write the figures here")
    args = parser.parse_args()
    store = open_store(user_folders())
    store.pull(VOICE)
    result = {
        "hardware": describe(),
        "texts": args.texts,
        **asyncio.run(measure(store.path(VOICE), args.texts, args.seed)),
    }
    print(json.dumps({name: value for name, value in result.items() if name != "idle_mb"}, indent=1))
    if args.json:
        text = json.dumps(result, indent=1)
        args.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    # By its name: the child imports the engine's class from there.
    from benchmarks import tts_memory

    tts_memory.main()

"""From the last voiced sample of what is said to the first audible sample of the answer, hangover included.

`python -m benchmarks.first_audio`: the voice loop with the default models as it is, beside the same loop
without what it does in advance (no early transcript, no early reply, no prefix cache, a fixed hangover), in
one run. Both are asked the same, one after the other, by a microphone that hears it as fast as it is spoken.
Commands, whose answer waits for a tool, are reported apart. What a loudspeaker delays is in none of it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.audio_onset import OnsetMeter
from benchmarks.baseline_assistant import BaselineAssistant
from benchmarks.command_turns import COMMANDS
from benchmarks.hardware import describe
from benchmarks.speech_test_set import trimmed
from edgevox.app.runtime import AssistantRuntime
from edgevox.audio.vad import BLOCK_SAMPLES
from edgevox.config import load_settings
from edgevox.core.events import Event, ToolStarted, TurnEnded
from edgevox.core.files import Folders, user_folders
from edgevox.core.metrics import TurnMetrics
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.eval.synthetic_speech import AssistantVoice
from edgevox.models import ModelStore, open_store

QUESTIONS = (
    "What is the capital of France?",
    "How many days are there in a week?",
    "Why is the sky blue?",
    "Tell me something about the moon.",
    "What is the tallest mountain in the world?",
    "How do I boil an egg?",
    "What colour is grass?",
    "Who wrote Romeo and Juliet?",
    "What is the largest ocean?",
    "How far away is the sun?",
    "What do bees make?",
    "Can you tell me a short joke?",
    "What is the opposite of hot?",
    "How many legs does a spider have?",
    "What is the best way to make tea?",
    "Where do penguins live?",
    "What is a good name for a dog?",
    "How does a bicycle stay upright?",
    "What should I cook for dinner tonight?",
    "Why do leaves fall in autumn?",
    "What is the freezing point of water?",
    "Tell me about the history of Rome.",
)
WARM_UP = "Hello, are you there?"
RATIO_BAR, BAR_S, COMMAND_BAR_S = 0.4, 0.8, 1.2
QUIET_BEFORE_S = 0.5
# A person takes a breath between two questions: the next prompt is prepared then.
BREATH_S = 1.5
ANSWERED_WITHIN_S = 120.0
_BLOCK_S = BLOCK_SAMPLES / SAMPLE_RATE_HZ
# Nowhere is there no sound at all.
_HISS = 1e-4


class Person:
    """Somebody at the microphone: says what is to be said as fast as it is spoken; else it hears the room."""

    dropped_samples = 0
    delay_s = 0.0

    def __init__(self, *, live: bool) -> None:
        self.live = live
        self.finished_s = 0.0
        """When the last voiced sample was spoken."""
        self._to_say: asyncio.Queue[Audio] = asyncio.Queue()

    def say(self, sound: Audio) -> None:
        self._to_say.put_nowait(sound)

    async def frames(self) -> AsyncGenerator[Audio, None]:
        random = np.random.default_rng(5)
        samples = np.zeros(0, np.float32)
        next_s = time.monotonic()
        while True:
            if not len(samples) and not self._to_say.empty():
                quiet = np.zeros(round(QUIET_BEFORE_S * SAMPLE_RATE_HZ), np.float32)
                samples = np.concatenate((quiet, self._to_say.get_nowait().samples))
                self.finished_s = next_s + len(samples) / SAMPLE_RATE_HZ
            block = random.standard_normal(BLOCK_SAMPLES).astype(np.float32) * _HISS
            spoken, samples = samples[:BLOCK_SAMPLES], samples[BLOCK_SAMPLES:]
            block[: len(spoken)] += spoken
            next_s += _BLOCK_S
            await asyncio.sleep(max(0.0, next_s - time.monotonic()))
            yield Audio(block, SAMPLE_RATE_HZ)
            if not self.live:  # nobody listens while it answers
                next_s = max(next_s, time.monotonic())


@dataclass(frozen=True, slots=True)
class Answered:
    """One turn. `took_s` is None when it was answered before all was said, or not at all."""

    said: str
    took_s: float | None
    tools: int
    record: TurnMetrics


class Conversing:
    """A voice loop that is under way, and whoever speaks to it."""

    def __init__(self, runtime: AssistantRuntime, person: Person, speaker: OnsetMeter) -> None:
        self._runtime = runtime
        self._person = person
        self._speaker = speaker
        self._tools = 0
        self._ended = asyncio.Event()

    @classmethod
    @asynccontextmanager
    async def with_(cls, runtime: AssistantRuntime, *, live: bool) -> AsyncIterator[Conversing]:
        person, speaker = Person(live=live), OnsetMeter()
        conversing = cls(runtime, person, speaker)
        with runtime.bus.listening(conversing._note):
            loop = asyncio.create_task(runtime.voice_loop(person, speaker).run())
            try:
                yield conversing
            finally:
                loop.cancel()
                await asyncio.gather(loop, return_exceptions=True)

    async def ask(self, said: str, sound: Audio) -> Answered:
        self._speaker.forget()
        self._tools = 0
        self._ended.clear()
        self._person.say(sound)
        async with asyncio.timeout(ANSWERED_WITHIN_S):
            await self._ended.wait()
        audible_s, finished_s = self._speaker.audible_s, self._person.finished_s
        is_whole = audible_s is not None and audible_s > finished_s
        record = self._runtime.records.last
        assert record is not None
        return Answered(said, audible_s - finished_s if is_whole and audible_s else None, self._tools, record)

    def _note(self, event: Event) -> None:
        match event:
            case ToolStarted():
                self._tools += 1
            case TurnEnded():
                self._ended.set()
            case _:
                pass


async def spoken(runtime: AssistantRuntime, texts: Sequence[str]) -> list[tuple[str, Audio]]:
    voice = AssistantVoice(runtime.engines.tts)
    return [(text, Audio(trimmed(await voice.synthesize(text, 1.0)), SAMPLE_RATE_HZ)) for text in texts]


async def measure(folder: Path, store: ModelStore, args: argparse.Namespace) -> dict[str, object]:
    as_it_is = daemon_in(folder / "as it is", store, args, AssistantRuntime)
    plain = daemon_in(folder / "plain", store, args, BaselineAssistant)
    store.ensure(as_it_is.models.needed())
    as_it_is.models.prepare(print)
    talk: list[Answered] = []
    without: list[Answered] = []
    commands: list[Answered] = []
    async with (
        as_it_is,
        plain,
        Conversing.with_(as_it_is, live=True) as conversing,
        Conversing.with_(plain, live=False) as plainly,
    ):
        for said, sound in await spoken(as_it_is, [WARM_UP]):  # everything is loaded and read once
            await conversing.ask(said, sound)
            await plainly.ask(said, sound)
        for said, sound in await spoken(as_it_is, QUESTIONS[: args.questions]):
            talk.append(tell(await conversing.ask(said, sound), "as it is"))
            await asyncio.sleep(BREATH_S)
            without.append(tell(await plainly.ask(said, sound), "without"))
        for said, sound in await spoken(as_it_is, COMMANDS[: args.commands]):
            commands.append(tell(await conversing.ask(said, sound), "command"))
            await asyncio.sleep(BREATH_S)
    ours, theirs = figures(talk), figures(without)
    return {
        "hardware": describe(),
        "preset": as_it_is.preset.name,
        "as_it_is": ours,
        "without": theirs,
        "ratio_of_medians": round(median_s(talk) / median_s(without), 3),
        "commands_with_a_tool": figures([answered for answered in commands if answered.tools]),
        "commands_without_a_tool": [answered.said for answered in commands if not answered.tools],
    }


def daemon_in(
    folder: Path, store: ModelStore, args: argparse.Namespace, kind: Callable[..., AssistantRuntime]
) -> AssistantRuntime:
    folders = Folders(folder / "config", folder / "state", user_folders().models)
    # The tone that confirms an utterance is no answer.
    flags: dict[str, object] = {"llm.seed": 1, "sounds.chimes": False, "sounds.acknowledge_after_s": 0}
    if args.preset:
        flags["preset"] = args.preset
    settings = load_settings(folders, flags=flags, environ={})
    return kind(settings, folders, store, ["llm", "tts", "stt"])


def tell(answered: Answered, name: str) -> Answered:
    took = f"{answered.took_s:6.2f} s" if answered.took_s is not None else " no answer"
    stages = {name: round(ms) for name, ms in answered.record.timings_ms.items()}
    print(f"{took} {name}: {answered.record.heard!r} → {answered.record.reply!r} {stages}", flush=True)
    return answered


def times_s(turns: Sequence[Answered]) -> list[float]:
    return [answered.took_s for answered in turns if answered.took_s is not None]


def median_s(turns: Sequence[Answered]) -> float:
    return statistics.median(times_s(turns))


def figures(turns: Sequence[Answered]) -> dict[str, object]:
    if not times_s(turns):
        return {"turns": len(turns), "answered": 0}
    return {
        "turns": len(turns),
        "answered": len(times_s(turns)),
        "median_s": round(median_s(turns), 3),
        "p95_s": round(float(np.percentile(times_s(turns), 95)), 3),
        "stage_medians_ms": stage_medians_ms([answered.record for answered in turns]),
        "evaluated_tokens_median": round(
            statistics.median(each.record.prompt_tokens - each.record.cached_tokens for each in turns)
        ),
    }


def stage_medians_ms(records: Sequence[TurnMetrics]) -> dict[str, int]:
    """Of each stage over the turns that had it; medians do not add up."""
    stages: dict[str, list[float]] = {}
    for record in records:
        for name, ms in record.timings_ms.items():
            stages.setdefault(name, []).append(ms)
    return {name: round(statistics.median(values)) for name, values in stages.items()}


def arguments(description: str, *, questions: int, commands: int) -> argparse.ArgumentParser:
    """How much is asked, and where the result is kept."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--questions", type=int, default=questions, help=f"at most {len(QUESTIONS)}")
    parser.add_argument("--commands", type=int, default=commands, help=f"at most {len(COMMANDS)}")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    return parser


def show(result: dict[str, object], bars: str, file: Path | None) -> None:
    """Print the result, and keep it in a file where there is one."""
    print(json.dumps(result, indent=2))
    print(bars)
    if file:
        file.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


def main() -> None:
    parser = arguments("Last voiced sample to first audible sample.", questions=14, commands=16)
    parser.add_argument("--preset", default="", help="another than the default one")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        result = asyncio.run(measure(Path(scratch), open_store(user_folders()), args))
    bars = f"{BAR_S} s, and {RATIO_BAR} of that without; commands with a tool {COMMAND_BAR_S} s"
    show(result, f"bars for the medians: {bars}", args.json)


if __name__ == "__main__":
    main()

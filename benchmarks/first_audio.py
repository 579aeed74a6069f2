"""From the last voiced sample of a question to the first audible sample of its answer, hangover included.

`python -m benchmarks.first_audio`: the voice loop beside the naive sequence, in one run.

Ours is the voice loop as it is, in front of a microphone that hears each question as fast as it is spoken.
The naive sequence waits for the same hangover, transcribes with faster-whisper's own defaults (full window),
and lets each stage wait for the whole of the one before: the same models, threads and language. Questions are
interleaved, half a round apart: each of the two is the first to ask half of them, so that neither gains more
than the other from what an engine remembers. What a loudspeaker delays is in neither.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.hardware import describe
from edgevox.audio.resample import Resampler
from edgevox.audio.wav_microphone import WavMicrophone
from edgevox.daemon import Daemon
from edgevox.engine.threads import plan_threads
from edgevox.events import Event, PlaybackStarted, TurnEnded
from edgevox.folders import Folders, user_folders
from edgevox.metrics import TurnRecord
from edgevox.modelstore import open_store
from edgevox.settings import load_settings
from edgevox.turn import CancelFlag, Turn
from edgevox.types import WHISPER_RATE_HZ, Audio

if TYPE_CHECKING:
    from faster_whisper import WhisperModel

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
# The default model runs the home and says little: benchmarks.command_turns measures it.
TALKING_PRESET = "smollm2-135m"
BAR = 3.0
AUDIBLE = 0.01
QUIET_BEFORE_S = 0.5
# Longer than any answer takes: the microphone is closed when it has ended.
LISTEN_S = 60.0


class FirstSound:
    """A loudspeaker that plays nothing, and notes when the first sample that can be heard would sound."""

    def __init__(self) -> None:
        self.audible_s: float | None = None
        self._busy_until_s = 0.0

    def forget(self) -> None:
        """Make ready for another turn."""
        self.audible_s = None
        self._busy_until_s = 0.0

    async def play(
        self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None]
    ) -> None:
        async for chunk in chunks:
            if not self._busy_until_s:
                on_start()
            begins_s = max(time.monotonic(), self._busy_until_s)
            self._busy_until_s = begins_s + chunk.duration_s
            if self.audible_s is None and (quiet_s := leading_silence_s(chunk)) < chunk.duration_s:
                self.audible_s = begins_s + quiet_s


def leading_silence_s(audio: Audio) -> float:
    loud = np.flatnonzero(np.abs(audio.samples) > AUDIBLE)
    return float(loud[0]) / audio.rate_hz if len(loud) else audio.duration_s


async def spoken(daemon: Daemon, text: str) -> Audio:
    """A question, with the quiet before it."""
    sound = await daemon.voice().sound_of(text)
    resampler = Resampler(sound.rate_hz, WHISPER_RATE_HZ)
    quiet = np.zeros(round(QUIET_BEFORE_S * WHISPER_RATE_HZ), dtype=np.float32)
    samples = np.concatenate((quiet, resampler.feed(sound.samples), resampler.finish()))
    return Audio(samples, WHISPER_RATE_HZ)


async def ours(daemon: Daemon, question: Audio) -> tuple[float, TurnRecord]:
    """Seconds to the first sound through the voice loop, and the turn's record."""
    speaker = FirstSound()
    microphone = WavMicrophone(question, realtime=True, silence_s=LISTEN_S)
    playing: list[Event] = []
    closing: list[asyncio.Task[None]] = []

    def note(event: Event) -> None:
        match event:
            case PlaybackStarted():
                playing.append(event)
            case TurnEnded():
                closing.append(asyncio.create_task(microphone.close()))
            case _:
                pass

    with daemon.bus.listening(note):
        await daemon.voice_loop(microphone, speaker).run()
    record = daemon.last_record
    assert record is not None
    assert speaker.audible_s is not None, record
    stages = {stage.name: stage for stage in record.stages}
    # Every record counts from the last voiced sample; playback began where the stage "speak" starts.
    return stages["speak"].start_ms / 1000 + speaker.audible_s - playing[0].at_s, record


async def naive(daemon: Daemon, whisper: WhisperModel, question: Audio, hangover_s: float) -> float:
    """Seconds to the first sound when each stage waits for the whole of the one before."""
    hangover = np.zeros(round(hangover_s * WHISPER_RATE_HZ), dtype=np.float32)
    heard = np.concatenate((question.samples, hangover))
    started_s = time.monotonic()
    segments, _ = await asyncio.to_thread(whisper.transcribe, heard, language="en")
    text = await asyncio.to_thread(lambda: " ".join(segment.text for segment in segments))
    result = await daemon.pipeline().answer(text.strip(), Turn())
    sound = await daemon.voice().sound_of(result.reply)
    return time.monotonic() - started_s + hangover_s + leading_silence_s(sound)


def load_whisper(folder: Path) -> WhisperModel:
    """As a program would that only uses faster-whisper, but with OpenMP as EdgeVox sets it."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # Not at the top of the file: OpenMP reads the variable when it is first imported.
    from faster_whisper import WhisperModel

    return WhisperModel(str(folder), device="cpu", compute_type="int8", cpu_threads=plan_threads().whisper)


async def measure(folders: Folders, count: int) -> dict[str, object]:
    store = open_store(folders)
    settings = load_settings(folders, flags={"llm.seed": 1, "preset": TALKING_PRESET}, environ={})
    daemon = Daemon(settings, folders, store, ["llama", "piper", "whisper"])
    store.ensure(daemon.needed_models())
    whisper = load_whisper(store.path(settings.stt.model))
    hangover_s = settings.audio.hangover_ms / 1000
    mine_s: list[float] = []
    theirs_s: list[float] = []
    records: list[TurnRecord] = []
    async with daemon:
        questions = [await spoken(daemon, text) for text in QUESTIONS[:count]]
        for place, question in enumerate(questions):
            took_s, record = await ours(daemon, question)
            other = (place + len(questions) // 2) % len(questions)
            naive_s = await naive(daemon, whisper, questions[other], hangover_s)
            mine_s.append(took_s)
            theirs_s.append(naive_s)
            records.append(record)
            print(
                f"{took_s:6.2f} s {record.heard!r}   naive {naive_s:6.2f} s {QUESTIONS[other]!r}", flush=True
            )
    return {
        "hardware": describe(),
        "questions": len(mine_s),
        "median_s": round(statistics.median(mine_s), 3),
        "p95_s": round(float(np.percentile(mine_s, 95)), 3),
        "naive_median_s": round(statistics.median(theirs_s), 3),
        "naive_p95_s": round(float(np.percentile(theirs_s, 95)), 3),
        "times_faster_at_the_median": round(statistics.median(theirs_s) / statistics.median(mine_s), 2),
        "stage_medians_ms": stage_medians_ms(records),
        "transcribed_early_median_ms": round(statistics.median(r.transcribed_early_ms for r in records)),
        "transcribed_early": sum(record.transcribed_early_ms > 0 for record in records),
    }


def stage_medians_ms(records: list[TurnRecord]) -> dict[str, int]:
    """Of each stage over the turns that had it; medians do not add up."""
    stages: dict[str, list[float]] = {}
    for record in records:
        for name, ms in record.timings_ms.items():
            stages.setdefault(name, []).append(ms)
    return {name: round(statistics.median(values)) for name, values in stages.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description="Last voiced sample to first audible sample.")
    parser.add_argument("--count", type=int, default=len(QUESTIONS))
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folders = Folders(Path(scratch) / "config", Path(scratch) / "state", user_folders().models)
        result = asyncio.run(measure(folders, args.count))
    print(json.dumps(result, indent=2))
    print(f"bar: {BAR} times faster than the naive sequence at the median")
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

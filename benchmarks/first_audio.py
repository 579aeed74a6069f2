"""From the last voiced sample of a question to the first audible sample of its answer, hangover included.

`python -m benchmarks.first_audio`: the voice loop beside the naive sequence (Whisper's full window, then the
whole reply, then the whole synthesis), question by question in one run, with the default models.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import numpy as np
from faster_whisper import WhisperModel

from benchmarks.hardware import describe
from edgevox.audio.wav_microphone import WavMicrophone
from edgevox.daemon import Daemon
from edgevox.events import Event, PlaybackStarted
from edgevox.folders import Folders, user_folders
from edgevox.metrics import TurnRecord
from edgevox.modelstore import open_store
from edgevox.settings import load_settings
from edgevox.stt.speech_gate import at_whisper_rate
from edgevox.turn import CancelFlag, Turn
from edgevox.types import WHISPER_RATE_HZ, Audio

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
BAR = 3.0
AUDIBLE = 0.01


class FirstSound:
    """A loudspeaker that plays nothing, and notes when the first sample that can be heard would sound."""

    def __init__(self) -> None:
        self.audible_s: float | None = None

    async def play(
        self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None]
    ) -> None:
        async for chunk in chunks:
            if self.audible_s is None:
                on_start()
                self.audible_s = time.monotonic() + leading_silence_s(chunk)


def leading_silence_s(audio: Audio) -> float:
    loud = np.flatnonzero(np.abs(audio.samples) > AUDIBLE)
    return float(loud[0]) / audio.rate_hz if len(loud) else audio.duration_s


async def spoken(daemon: Daemon, text: str) -> Audio:
    sound = await daemon.voice().sound_of(text)
    padded = np.concatenate((np.zeros(sound.rate_hz // 2, dtype=np.float32), sound.samples))
    return Audio(at_whisper_rate(Audio(padded, sound.rate_hz)), WHISPER_RATE_HZ)


async def ours(daemon: Daemon, question: Audio) -> tuple[float, TurnRecord]:
    """Seconds to the first sound through the voice loop, and the turn's record."""
    speaker = FirstSound()
    playing: list[Event] = []

    def note(event: Event) -> None:
        if isinstance(event, PlaybackStarted):
            playing.append(event)

    with daemon.bus.listening(note):
        await daemon.voice_loop(WavMicrophone(question), speaker).run()
    record = daemon.last_record
    assert record is not None
    assert speaker.audible_s is not None, record
    stages = {stage.name: stage for stage in record.stages}
    # Every record counts from the last voiced sample; playback began where the stage "speak" starts.
    return stages["speak"].start_ms / 1000 + speaker.audible_s - playing[0].at_s, record


async def naive(daemon: Daemon, whisper: WhisperModel, question: Audio, hangover_s: float) -> float:
    """Seconds to the first sound when each stage waits for the whole of the one before."""
    started_s = time.monotonic()
    segments, _ = await asyncio.to_thread(whisper.transcribe, question.samples, language="en")
    text = await asyncio.to_thread(lambda: " ".join(segment.text for segment in segments))
    result = await daemon.pipeline().answer(text.strip(), Turn())
    sound = await daemon.voice().sound_of(result.reply)
    return time.monotonic() - started_s + hangover_s + leading_silence_s(sound)


async def measure(folders: Folders, count: int) -> dict[str, object]:
    store = open_store(folders)
    settings = load_settings(folders, flags={"llm.seed": 1}, environ={})
    daemon = Daemon(settings, folders, store, ["llama", "piper", "whisper"])
    store.ensure(daemon.needed_models())
    whisper = WhisperModel(str(store.path(settings.stt.model)), compute_type="int8", cpu_threads=2)
    mine_s: list[float] = []
    theirs_s: list[float] = []
    stages: dict[str, list[float]] = {}
    async with daemon:
        for question in QUESTIONS[:count]:
            audio = await spoken(daemon, question)
            took_s, record = await ours(daemon, audio)
            for name, ms in record.timings_ms.items():
                stages.setdefault(name, []).append(ms)
            hangover_s = record.timings_ms["endpoint"] / 1000
            naive_s = await naive(daemon, whisper, audio, hangover_s)
            mine_s.append(took_s)
            theirs_s.append(naive_s)
            print(f"{took_s:6.2f} s  naive {naive_s:6.2f} s  {record.heard!r}", flush=True)
    medians = {name: round(statistics.median(values)) for name, values in stages.items()}
    return {
        "hardware": describe(),
        "questions": len(mine_s),
        "median_s": round(statistics.median(mine_s), 3),
        "p95_s": round(float(np.percentile(mine_s, 95)), 3),
        "naive_median_s": round(statistics.median(theirs_s), 3),
        "naive_p95_s": round(float(np.percentile(theirs_s, 95)), 3),
        "times_faster_at_the_median": round(statistics.median(theirs_s) / statistics.median(mine_s), 2),
        "stage_medians_ms": medians,
    }


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

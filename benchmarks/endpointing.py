"""Share of speakers who pause in mid-sentence and are cut off: `python -m benchmarks.endpointing`.

Utterances with a pause of 300 to 700 ms go through endpointing, recogniser and speculative reply of the
default models, spoken by Piper and espeak-ng and, where EDGEVOX_SPEECH_DIR names their folder, in
recordings. Transcript and reply are available as long after the pause began as they took
(benchmarks/offline_endpointer.py). From the same transcripts it is computed who would be cut off by a
machine for which nothing takes time, the strictest case, and by a fixed hangover.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.audio_onset import OnsetMeter
from benchmarks.hardware import describe
from benchmarks.offline_endpointer import Ended, OfflineEndpointer, Words
from benchmarks.paused_speech import Said, from_recordings, spoken_by_espeak, spoken_by_piper
from benchmarks.speech_test_set import SpeechCache, espeak_is_here
from edgevox.app.runtime import AssistantRuntime
from edgevox.config import load_settings
from edgevox.core.files import Folders, user_folders
from edgevox.core.turn import Turn
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.dialogue import Pipeline
from edgevox.dialogue.turn_completion import completion_of
from edgevox.models import open_store
from edgevox.tts.piper import PiperEngine

BAR_PERCENT = 2.0
# Long enough to know the room.
BEFORE_S = 3.0
READY_WITHIN_S = 120.0
_HISS = 1e-4


class EarlyWork:
    """The recogniser and the early reply; what was asked once is known."""

    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline
        self.known: dict[bytes, Words] = {}

    async def words(self, audio: Audio) -> Words:
        key = audio.samples.tobytes()
        if key not in self.known:
            self.known[key] = await self._understand(audio)
        return self.known[key]

    async def _understand(self, audio: Audio) -> Words:
        started_s = time.monotonic()
        early = self._pipeline.transcribe_speculatively(audio)
        heard = await early.transcript()
        assert heard is not None, "the recogniser has failed"
        words_s = time.monotonic() - started_s
        if heard.text and completion_of(heard) != "unfinished":
            self._pipeline.reply_speculatively(early)
        async with asyncio.timeout(READY_WITHIN_S):
            while not self._pipeline.is_ready_for(early.turn):  # noqa: ASYNC110  (a state; nobody tells of it)
                await asyncio.sleep(0.005)
        reply_s = time.monotonic() - started_s
        early.abandon()
        return Words(heard, words_s, reply_s)


@dataclass(frozen=True, slots=True)
class Cut:
    """An utterance that was ended too soon, and why."""

    voice: str
    text: str
    pause_ms: int
    waited_ms: int
    heard: str
    seemed: str


async def cut_off(listener: OfflineEndpointer, said: Said) -> Cut | None:
    """Where the utterance was ended before it was over, if it was."""
    over_s = BEFORE_S + said.audio.duration_s
    async with aclosing(listener.utterances(in_room(said))) as ends:
        async for ended in ends:
            # A tenth of a second before its end nothing is missing that could be understood.
            if ended.utterance.ended_at_s < over_s - 0.1:
                return cut_at(said, ended)
    return None


def cut_at(said: Said, ended: Ended) -> Cut:
    utterance, words = ended.utterance, ended.words
    return Cut(
        said.voice,
        said.text,
        round(1000 * said.pause_s),
        round(1000 * (utterance.ended_at_s - utterance.last_voiced_at_s)),
        words.heard.text if words else "",
        (completion_of(words.heard) or "unknown") if words else "not asked",
    )


def in_room(said: Said) -> Audio:
    """With its room before it. Nowhere is there no sound at all."""
    random = np.random.default_rng(5)
    before = max(_HISS, said.room) * random.standard_normal(round(BEFORE_S * SAMPLE_RATE_HZ))
    samples = np.concatenate([before, said.audio.samples])
    hiss = _HISS * random.standard_normal(len(samples))
    return Audio((samples + hiss).astype(np.float32), SAMPLE_RATE_HZ)


async def measure(folders: Folders, args: argparse.Namespace) -> dict[str, object]:
    store = open_store(folders)
    settings = load_settings(folders, flags={}, environ={})
    runtime = AssistantRuntime(settings, folders, store, ["llm", "tts", "stt"])
    store.ensure(runtime.models.needed())
    runtime.models.prepare(print)
    piper = PiperEngine(store.path(settings.tts.voice))
    piper.load()
    said = everything_said(piper, args)
    async with runtime:
        pipeline = runtime.pipeline(OnsetMeter(), runtime.conversation())
        understanding = EarlyWork(pipeline)
        await understanding.words(said[0].audio)  # everything is loaded and read once
        await pipeline.answer("Hello.", Turn())
        listeners = {
            "as measured": OfflineEndpointer(settings.audio, understanding),
            "at once": OfflineEndpointer(settings.audio, understanding, pace=0.0),
            "fixed hangover": OfflineEndpointer(settings.audio, None),
        }
        results = {}
        for name, listener in listeners.items():
            cuts = [cut for each in said if (cut := await cut_off(listener, each))]
            results[name] = figures(said, cuts)
            print(f"{name}: {results[name]['cut_off']} of {len(said)} cut off", flush=True)
        waited = list(understanding.known.values())
        await pipeline.close()
    return {
        "hardware": describe(),
        "utterances": dict(Counter(each.voice for each in said)),
        "hangover_ms": settings.audio.hangover_ms,
        "words_median_ms": median_ms([words.words_s for words in waited]),
        "reply_median_ms": median_ms([words.reply_s for words in waited if words.reply_s > words.words_s]),
        "bar_percent": BAR_PERCENT,
        "results": results,
    }


def everything_said(piper: PiperEngine, args: argparse.Namespace) -> list[Said]:
    random, cache = np.random.default_rng(args.seed), SpeechCache()
    said = list(spoken_by_piper(piper, cache, random, args.count))
    if espeak_is_here():
        said += spoken_by_espeak(cache, random, args.count)
    else:
        print("espeak-ng is not installed: its voices are left out")
    if folder := os.environ.get("EDGEVOX_SPEECH_DIR"):
        said += from_recordings(Path(folder), random)
    else:
        print("EDGEVOX_SPEECH_DIR is not set: real recordings are left out")
    return said


def figures(said: Sequence[Said], cuts: Sequence[Cut]) -> dict[str, object]:
    return {
        "cut_off": len(cuts),
        "cut_off_percent": round(100 * len(cuts) / len(said), 1),
        "by_voice": dict(Counter(cut.voice for cut in cuts)),
        "each": [asdict(cut) for cut in cuts],
    }


def median_ms(seconds: Sequence[float]) -> int | None:
    return round(1000 * statistics.median(seconds)) if seconds else None


def main() -> None:
    parser = argparse.ArgumentParser(description="Pauses inside what is said.")
    parser.add_argument("--count", type=int, default=80, help="sentences of each synthesised kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folders = Folders(Path(scratch) / "config", Path(scratch) / "state", user_folders().models)
        result = asyncio.run(measure(folders, args))
    print(json.dumps(result, indent=2, ensure_ascii=False))
    print(f"bar: at most {BAR_PERCENT} % cut off, as measured")
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

"""What noise costs: wrong words, and the wait for the end, beside babble and music and in a quiet room.

`python -m benchmarks.noise`: utterances of Piper, espeak-ng and, where EDGEVOX_SPEECH_DIR names their
folder, of recordings, with noise that begins before them and goes on behind them, through the segmenter and
the recogniser of the default models. Babble is six of the other voices at once. The endpoint is counted from
the last audible sample, which in a recording is a guess: its faint end is lost in noise. "Never" is not while
the noise goes on. Only the reply is not made: it is taken to be ready `--reply-ms` after the words.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.hardware import describe
from benchmarks.offline_endpointer import OfflineEndpointer, Words
from benchmarks.speech_test_set import (
    ESPEAK_VOICES,
    RECORDED_AUDIBLE_DB,
    SENTENCES,
    SpeechCache,
    espeak_is_here,
    recorded,
    say_by_espeak,
    trimmed,
)
from edgevox.app.runtime import AssistantRuntime
from edgevox.config import load_settings
from edgevox.core.files import Folders, user_folders
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.dialogue import Transcriber
from edgevox.eval.scoring import word_errors
from edgevox.eval.speech import noise_name
from edgevox.eval.synthetic_speech import AssistantVoice, Noise, NoiseKind
from edgevox.models import open_store
from edgevox.stt.text_normalizer import words_of

RECORDED = "recorded"
KINDS: tuple[NoiseKind, ...] = ("babble", "music")
SNRS_DB = (20.0, 10.0, 5.0)
# Long enough to know the room, and for the longest pause.
BEFORE_S, AFTER_S = 3.0, 4.0
# What is lost of the faint end of a word is no word.
_FAINT_S = 0.3
_ESPEAK_WORDS_PER_MINUTE = 165


@dataclass(frozen=True, slots=True)
class Said:
    """One utterance, without silence around it."""

    voice: str
    text: str
    audio: Audio


@dataclass(frozen=True, slots=True)
class Understood:
    """What became of it; `delay_s` is from its last audible sample to the endpoint, None without one.

    Then it `is_open` still, or was cut off before its end.
    """

    words: int
    errors: int
    delay_s: float | None
    is_open: bool


class Ear:
    """The recogniser, and how long it took."""

    def __init__(self, transcriber: Transcriber, reply_s: float) -> None:
        self._transcriber = transcriber
        self._reply_s = reply_s

    async def words(self, audio: Audio) -> Words:
        started_s = time.monotonic()
        heard = await self._transcriber.transcribe(audio, CancelFlag())
        words_s = time.monotonic() - started_s
        return Words(heard, words_s, words_s + self._reply_s)


async def understood(
    listener: OfflineEndpointer, ear: Ear, said: Said, noise: Noise, snr_db: float | None
) -> Understood:
    over_s = BEFORE_S + said.audio.duration_s
    heard: list[str] = []
    delay_s: float | None = None
    is_open = False
    async with aclosing(listener.utterances(in_room(said, noise, snr_db))) as ends:
        async for ended in ends:
            utterance = ended.utterance
            if utterance.ended_at_s < BEFORE_S or utterance.started_at_s >= over_s:
                continue  # somebody else's words
            words = ended.words or await ear.words(utterance.audio)
            heard.append(words.heard.text)
            is_open = not ended.by_pause
            if ended.by_pause and utterance.ended_at_s >= over_s - _FAINT_S:
                delay_s = utterance.ended_at_s - over_s
                break
    right = words_of(said.text)
    errors = word_errors(right, words_of(" ".join(heard)))
    return Understood(len(right), errors, delay_s, is_open)


def in_room(said: Said, noise: Noise, snr_db: float | None) -> Audio:
    key = f"{said.voice} {said.text} {noise_name(snr_db)}"
    heard = noise.mix(said.audio, snr_db, key, before_s=BEFORE_S, after_s=AFTER_S)
    # Nowhere is there no sound at all.
    hiss = np.random.default_rng(5).standard_normal(len(heard.samples)) * 1e-4
    return Audio(heard.samples + hiss.astype(np.float32), heard.rate_hz)


async def everything_said(runtime: AssistantRuntime, count: int) -> list[Said]:
    step = max(1, len(SENTENCES) // count)
    piper = AssistantVoice(runtime.engines.tts)
    said = [Said("piper", text, await piper.synthesize(text, 1.0)) for text in SENTENCES[::step][:count]]
    if espeak_is_here():
        for number, text in enumerate(SENTENCES[step // 2 :: step][:count]):
            voice = ESPEAK_VOICES[number % len(ESPEAK_VOICES)]
            speak = partial(say_by_espeak, voice, _ESPEAK_WORDS_PER_MINUTE)
            sound = SpeechCache().spoken(f"espeak {voice} {_ESPEAK_WORDS_PER_MINUTE}", text, speak)
            said.append(Said("espeak", text, sound))
    else:
        print("espeak-ng is not installed: its voices are left out")
    if folder := os.environ.get("EDGEVOX_SPEECH_DIR"):
        said += [
            Said(RECORDED, utterance.text, utterance.audio)
            for utterance in recorded(Path(folder))
            if utterance.text is not None
        ]
    else:
        print("EDGEVOX_SPEECH_DIR is not set: real recordings are left out")
    return [replace(each, audio=Audio(words_alone(each), SAMPLE_RATE_HZ)) for each in said]


def words_alone(said: Said) -> NDArray[np.float32]:
    return trimmed(said.audio, RECORDED_AUDIBLE_DB) if said.voice == RECORDED else trimmed(said.audio)


async def measure(folders: Folders, args: argparse.Namespace) -> dict[str, object]:
    store = open_store(folders)
    settings = load_settings(folders, flags={}, environ={})
    runtime = AssistantRuntime(settings, folders, store, ["tts", "stt"])
    store.ensure(runtime.models.needed())
    async with runtime:
        said = await everything_said(runtime, args.count)
        ear = Ear(runtime.transcriber(), args.reply_ms / 1000)
        listener = OfflineEndpointer(settings.audio, ear)
        conditions: list[tuple[NoiseKind, float | None]] = [
            (KINDS[0], None),
            *((kind, snr_db) for kind in KINDS for snr_db in SNRS_DB),
        ]
        results = {}
        for kind, snr_db in conditions:
            name = f"{kind}, {noise_name(snr_db)}" if snr_db is not None else noise_name(None)
            each = [await understood(listener, ear, one, noise_of_others(kind, one, said), snr_db) for one in said]
            by_source = {
                "synthesised": [u for u, one in zip(each, said, strict=True) if one.voice != RECORDED],
                "recorded": [u for u, one in zip(each, said, strict=True) if one.voice == RECORDED],
            }
            results[name] = {source: figures(those) for source, those in by_source.items() if those}
            print(f"{name:>14}: {results[name]}", flush=True)
    return {
        "hardware": describe(),
        "hangover_ms": settings.audio.hangover_ms,
        "reply_ms": args.reply_ms,
        "noise_behind_s": AFTER_S,
        "results": results,
    }


def noise_of_others(kind: NoiseKind, said: Said, everything: Sequence[Said]) -> Noise:
    return Noise(kind, [other.audio for other in everything if other.voice != said.voice])


def figures(each: Sequence[Understood]) -> dict[str, object]:
    delays_ms = [1000 * one.delay_s for one in each if one.delay_s is not None]
    words, errors = sum(one.words for one in each), sum(one.errors for one in each)
    return {
        "utterances": len(each),
        "words": words,
        "word_error_percent": round(100 * errors / words, 1),
        "endpoint_median_ms": round(statistics.median(delays_ms)) if delays_ms else None,
        "endpoint_p90_ms": round(float(np.percentile(delays_ms, 90))) if delays_ms else None,
        "never_ended": sum(one.is_open for one in each),
        "cut_off": sum(one.delay_s is None and not one.is_open for one in each),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Word errors and endpoints in noise.")
    parser.add_argument("--count", type=int, default=10, help="sentences of each synthesised kind")
    parser.add_argument("--reply-ms", type=float, default=300.0, help="from the words to a reply that is ready")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folders = Folders(Path(scratch) / "config", Path(scratch) / "state", user_folders().models)
        result = asyncio.run(measure(folders, args))
    print(json.dumps(result, indent=2))
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

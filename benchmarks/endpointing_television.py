"""Does an utterance end although a television goes on? `python -m benchmarks.endpointing_television`

Recordings of people (EDGEVOX_SPEECH_DIR) with the speech of other people behind them, 10 dB below: a television,
one voice after another, or babble of six voices. It begins before the utterance and goes on behind it. The endpoint
is counted from the last audible sample of the speaker; an utterance that ended more than 0.3 s before that is cut off.

The words are not recognised: each pause needs the silence of an unclear sentence (1.5 hangovers), which most
sentences have. Every second recording chose the constants of the endpointer; the others are reported.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import zlib
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.hardware import describe
from benchmarks.offline_endpointer import OfflineEndpointer, Words
from benchmarks.speech_test_set import RECORDED_AUDIBLE_DB, trimmed
from edgevox.audio.files import read_audio
from edgevox.config import AudioSettings
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, Transcript

Background: TypeAlias = Literal["none", "television", "babble"]
BACKGROUNDS: tuple[Background, ...] = ("none", "television", "babble")

BAR_PERCENT = 95.0
WITHIN_S = 1.2
SNR_DB = 10.0
BEFORE_S, AFTER_S = 8.0, 5.0
# The faint end of a word is lost in the background.
_FAINT_S = 0.3
_CLIPS_S = (1.0, 8.0)
_TALKERS = 6
_BETWEEN_SENTENCES_S = (0.1, 0.5)
_HISS = 1e-4
_LOUDEST = 0.99


@dataclass(frozen=True, slots=True)
class Recording:
    """One person's sentence, without silence around it."""

    file: str
    speaker: str
    samples: NDArray[np.float32]

    @property
    def is_tuning(self) -> bool:
        return zlib.crc32(self.file.encode()) % 2 == 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one utterance ended: `delay_s` after its last audible sample; None if it was cut off or never ended."""

    file: str
    delay_s: float | None
    cut_off: bool

    @property
    def in_time(self) -> bool:
        return self.delay_s is not None and self.delay_s <= WITHIN_S


class UnclearSentence:
    """What the recogniser returns: an unclear sentence, at once."""

    async def words(self, audio: Audio) -> Words:
        return Words(Transcript("kids are talking by the door", "en", audio.duration_s), 0.0, 0.0)


def recordings(folder: Path) -> list[Recording]:
    """Home commands and read sentences of people."""
    found = [
        Recording(path.name, "home-commands", trimmed(read_audio(path), RECORDED_AUDIBLE_DB))
        for path in sorted((folder / "home-commands").glob("*.wav"))
    ]
    for part in ("commands", "clips"):
        for line in (folder / "people" / f"{part}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if _CLIPS_S[0] <= row["seconds"] <= _CLIPS_S[1]:
                audio = read_audio(folder / "people" / row["file"])
                found.append(Recording(row["file"], row["speaker"], trimmed(audio, RECORDED_AUDIBLE_DB)))
    return found


def in_room(said: Recording, everybody: Sequence[Recording], background: Background) -> Audio:
    """The recording with what sounds behind it, before it and after it."""
    random = np.random.default_rng([0, zlib.crc32(said.file.encode())])
    around = [np.zeros(round(seconds * SAMPLE_RATE_HZ), np.float32) for seconds in (BEFORE_S, AFTER_S)]
    samples = np.concatenate([around[0], said.samples, around[1]])
    if background != "none":
        others = [other.samples for other in everybody if other.speaker != said.speaker]
        talkers = 1 if background == "television" else _TALKERS
        noise = sum((talk(others, len(samples), random) for _ in range(talkers)), np.zeros(len(samples), np.float32))
        samples = samples + noise * (_level(said.samples) / (_level(noise) * 10 ** (SNR_DB / 20)))
    samples = samples + _HISS * random.standard_normal(len(samples))
    return Audio((samples * min(1.0, _LOUDEST / np.abs(samples).max())).astype(np.float32), SAMPLE_RATE_HZ)


def talk(others: Sequence[NDArray[np.float32]], size: int, random: np.random.Generator) -> NDArray[np.float32]:
    """One voice after another, all equally loud, from the middle of a sentence on."""
    pieces: list[NDArray[np.float32]] = []
    while sum(map(len, pieces)) < size + SAMPLE_RATE_HZ:
        voice = others[int(random.integers(len(others)))]
        pause = np.zeros(round(random.uniform(*_BETWEEN_SENTENCES_S) * SAMPLE_RATE_HZ), np.float32)
        pieces += [voice / _level(voice), pause]
    return np.concatenate(pieces)[SAMPLE_RATE_HZ // 2 :][:size]


async def outcome(said: Recording, sound: Audio, settings: AudioSettings) -> Outcome:
    over_s = BEFORE_S + len(said.samples) / SAMPLE_RATE_HZ
    listener = OfflineEndpointer(settings, UnclearSentence())
    delay_s, cut_off = None, False
    async with aclosing(listener.utterances(sound)) as ends:
        async for ended in ends:
            utterance = ended.utterance
            if utterance.ended_at_s < BEFORE_S + _FAINT_S or utterance.started_at_s >= over_s:
                continue  # the television's
            if not ended.by_pause:
                continue
            if utterance.ended_at_s < over_s - _FAINT_S:
                cut_off = True
            elif delay_s is None:
                delay_s = utterance.ended_at_s - over_s
    return Outcome(said.file, None if cut_off else delay_s, cut_off)


def figures(outcomes: Sequence[Outcome]) -> dict[str, object]:
    delays_ms = [1000 * one.delay_s for one in outcomes if one.delay_s is not None]
    return {
        "utterances": len(outcomes),
        "within_1200_ms_percent": round(100 * sum(one.in_time for one in outcomes) / len(outcomes), 1),
        "median_ms": round(float(np.median(delays_ms))),
        "p95_ms": round(float(np.percentile(delays_ms, 95))),
        "cut_off": sum(one.cut_off for one in outcomes),
        "never_ended": sum(one.delay_s is None and not one.cut_off for one in outcomes),
    }


async def measure(folder: Path, *, tuning: bool) -> dict[str, object]:
    settings = AudioSettings()
    everybody = recordings(folder)
    said = [one for one in everybody if one.is_tuning == tuning]
    results = {}
    for background in BACKGROUNDS:
        outcomes = [await outcome(one, in_room(one, everybody, background), settings) for one in said]
        results[background] = figures(outcomes)
        sys.stdout.write(f"{background}: {results[background]}\n")
    return {
        "hardware": describe(),
        "snr_db": SNR_DB,
        "hangover_ms": settings.hangover_ms,
        "bar_percent": BAR_PERCENT,
        "results": results,
    }


def _level(samples: NDArray[np.float32]) -> float:
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64)))) + 1e-9


def main() -> None:
    parser = argparse.ArgumentParser(description="Utterances in front of a television.")
    parser.add_argument("--tuning", action="store_true", help="the recordings that chose the constants")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    args = parser.parse_args()
    if "EDGEVOX_SPEECH_DIR" not in os.environ:
        sys.exit("EDGEVOX_SPEECH_DIR is not set: there are no recordings of people to measure with")
    result = asyncio.run(measure(Path(os.environ["EDGEVOX_SPEECH_DIR"]), tuning=args.tuning))
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

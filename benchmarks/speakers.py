"""Speaker recognition on recordings of real people: equal error rate, households of four, time per utterance.

    EDGEVOX_SPEECH_DIR=... python -m benchmarks.speakers

Half of the LibriSpeech speakers, by a hash of their names, is the cohort; every figure is about other people. That
half alone would choose a threshold of 3.0; 2.7 was chosen with the measured people in view (docs/adr/0049). Recordings
longer than 4.5 s are cut into pieces of 3 s. What recognition adds to a turn is the difference between the recogniser
of words alone and both at once, for the same clip, in turns. `--cohort` writes the cohort instead.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import os
import platform
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.hardware import describe
from edgevox.app.runtime import AssistantRuntime
from edgevox.audio.files import read_audio
from edgevox.config import load_settings
from edgevox.core.files import Folders, user_folders
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.dialogue import Transcriber
from edgevox.models import open_store
from edgevox.speakers import people
from edgevox.speakers.ge2e import MODEL_ID, Ge2eEngine

HOUSEHOLDS = 300
TIMED_CLIPS = 40
THRESHOLDS = (2.4, 2.6, 2.7, 2.8, 3.0, 3.2, 3.6)
_PARTS = ("clips", "commands", "accents")
_SEED = 1


def is_tuning(speaker: str) -> bool:
    return speaker.startswith("libri") and hashlib.sha256(speaker.encode()).digest()[0] % 2 == 0


def clips(folder: Path) -> list[tuple[str, str, Audio]]:
    """Speaker, file and sound of every clip of 2 to 4 s."""
    found = []
    for part in _PARTS:
        for line in (folder / f"{part}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            samples = read_audio(folder / row["file"]).samples
            duration_s = len(samples) / SAMPLE_RATE_HZ
            if duration_s < 1.9:
                continue
            size = 3 * SAMPLE_RATE_HZ if duration_s > 4.5 else 4 * SAMPLE_RATE_HZ
            pieces = [samples[start : start + size] for start in range(0, len(samples) - size // 2, size)][:6]
            found += [(row["speaker"], row["file"], Audio(piece, SAMPLE_RATE_HZ)) for piece in pieces]
    return found


def equal_error_rate(same: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    same, other = np.sort(same), np.sort(other)
    cuts = np.sort(np.concatenate([same, other]))
    missed = np.searchsorted(same, cuts) / len(same)
    accepted = 1 - np.searchsorted(other, cuts) / len(other)
    best = np.argmin(np.abs(missed - accepted))
    return float(missed[best] + accepted[best]) / 2


def households(speakers: NDArray[np.str_], vectors: NDArray[np.float32], threshold: float) -> dict[str, float]:
    """Random households of four, each enrolled with three clips: right people, and strangers accepted."""
    rng = np.random.default_rng(_SEED)
    able = [name for name in sorted(set(speakers)) if np.sum(speakers == name) >= 4]
    right = wrong = heard = accepted = strangers = 0
    for _ in range(HOUSEHOLDS):
        home = rng.choice(able, 4, replace=False)
        order = {name: rng.permutation(np.flatnonzero(speakers == name)) for name in home}
        enrolled = [
            people.Person(name=name, embeddings=vectors[order[name][:3]].tolist(), added_s=0.0) for name in home
        ]
        matcher = people.SpeakerMatcher(enrolled, threshold)
        for name in home:
            said = [matcher.match(vectors[clip]) for clip in order[name][3:6]]
            heard += len(said)
            right += said.count(name)
            wrong += sum(other not in (name, "guest") for other in said)
        visitors = rng.choice(np.flatnonzero(~np.isin(speakers, home)), 6, replace=False)
        strangers += len(visitors)
        accepted += sum(matcher.match(vectors[clip]) != "guest" for clip in visitors)
    return {
        "people": len(able),
        "right": right / heard,
        "taken_for_another": wrong / heard,
        "strangers_accepted": accepted / strangers,
    }


async def added_time(timed: Sequence[Audio], vectors: NDArray[np.float32]) -> dict[str, float]:
    """How long words take, alone and with the speaker, with one person enrolled."""
    with tempfile.TemporaryDirectory() as scratch:
        folders = Folders(Path(scratch) / "config", Path(scratch) / "state", user_folders().models)
        people.People(folders.state / people.PEOPLE_FILE).add("Anna", list(vectors[:3]))
        store = open_store(folders)
        runtime = AssistantRuntime(load_settings(folders, flags={}, environ={}), folders, store, ["stt"])
        store.ensure([*runtime.models.needed(), MODEL_ID])
        async with runtime:
            ways = (Transcriber(runtime.engines.stt, language="en"), runtime.transcriber())
            for way in ways:
                await way.transcribe(timed[0], CancelFlag())
            took_ms: list[list[float]] = [[], []]
            for number, audio in enumerate(timed):
                for place in (number % 2, 1 - number % 2):
                    began_s = time.monotonic()
                    await ways[place].transcribe(audio, CancelFlag())
                    took_ms[place].append((time.monotonic() - began_s) * 1000)
    added_ms = np.subtract(took_ms[1], took_ms[0])
    return {
        "clips": len(timed),
        "words_alone_median_ms": statistics.median(took_ms[0]),
        "words_and_speaker_median_ms": statistics.median(took_ms[1]),
        "added_median_ms": float(np.median(added_ms)),
        "added_p90_ms": float(np.percentile(added_ms, 90)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cohort", type=Path, help="write the mean embeddings of the tuning speakers to this file")
    parser.add_argument("--timed", type=int, default=TIMED_CLIPS, help="how many clips the recogniser transcribes")
    args = parser.parse_args()
    if "EDGEVOX_SPEECH_DIR" not in os.environ:
        sys.exit("EDGEVOX_SPEECH_DIR is not set: there are no recordings of people to measure with")
    found = clips(Path(os.environ["EDGEVOX_SPEECH_DIR"]) / "people")
    store = open_store(user_folders())
    store.ensure([MODEL_ID])
    engine = Ge2eEngine(store.path(MODEL_ID))
    engine.load()
    timed = [audio for speaker, _file, audio in found if not is_tuning(speaker)]
    timed = timed[:: max(1, len(timed) // max(1, args.timed))][: args.timed]
    rows, took_ms = [], []
    for speaker, file, audio in found:
        began_s = time.process_time()
        (embedding,) = engine.run(audio, CancelFlag())
        took_ms.append((time.process_time() - began_s) * 1000)
        if len(embedding.vector):
            rows.append((speaker, file, embedding.vector))
    speakers, files = (np.array([row[column] for row in rows]) for column in (0, 1))
    vectors = np.stack([row[2] for row in rows])
    tuning = np.array([is_tuning(name) for name in speakers])
    if args.cohort:
        means = np.stack([vectors[speakers == name].mean(axis=0) for name in sorted(set(speakers[tuning]))])
        means /= np.linalg.norm(means, axis=1, keepdims=True)
        np.savez(args.cohort, embeddings=means.astype(np.float16))
        return
    speakers, files, vectors = speakers[~tuning], files[~tuning], vectors[~tuning]
    scores = people.normalised_scores(vectors, vectors)
    one, other = np.triu_indices(len(vectors), 1)
    values, is_same = scores[one, other], speakers[one] == speakers[other]
    source = np.array([name.partition("-")[0] for name in speakers])
    within, crossing = source[one] == source[other], files[one] != files[other]
    result = {
        "hardware": describe(),
        "people": len(set(speakers)),
        "clips": len(vectors),
        "same_pairs": int(is_same.sum()),
        "eer": equal_error_rate(values[is_same], values[~is_same]),
        "eer_between_recordings": equal_error_rate(values[is_same & crossing], values[~is_same]),
        "eer_others_of_same_corpus": equal_error_rate(values[is_same & crossing], values[~is_same & within]),
        "plain_cosine_eer": equal_error_rate(
            (vectors @ vectors.T)[one, other][is_same], (vectors @ vectors.T)[one, other][~is_same]
        ),
        "threshold": people.THRESHOLD,
        "households": households(speakers, vectors, people.THRESHOLD),
        "households_by_threshold": {f"{value:.1f}": households(speakers, vectors, value) for value in THRESHOLDS},
        "follow_ups": {
            "threshold": people.SAME_VOICE_THRESHOLD,
            "of_the_same_voice_dropped": float(np.mean(values[is_same] < people.SAME_VOICE_THRESHOLD)),
            "of_another_voice_accepted": float(np.mean(values[~is_same] >= people.SAME_VOICE_THRESHOLD)),
            "of_another_voice_in_the_same_corpus_accepted": float(
                np.mean(values[~is_same & within] >= people.SAME_VOICE_THRESHOLD)
            ),
        },
        "cpu_ms_per_utterance": statistics.median(took_ms),
        "cpu_p90_ms_per_utterance": float(np.percentile(took_ms, 90)),
        "added_to_the_recogniser": asyncio.run(added_time(timed, vectors)) if timed else None,
    }
    rounded = json.loads(json.dumps(result), parse_float=lambda text: round(float(text), 4))
    text = json.dumps(rounded, indent=1)
    Path(__file__).with_name("results").joinpath(platform.machine(), "speakers.json").write_text(
        text + "\n", encoding="utf-8"
    )
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()

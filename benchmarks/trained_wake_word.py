"""Misses and false accepts of trained wake words on recordings of people.

    EDGEVOX_SPEECH_DIR=… python -m benchmarks.trained_wake_word jarvis computer alexa

trains each word as `edgevox wake train` does (`--quick`: with its small plan), from synthesised speech and
negatives.npz, and runs it over the recordings of `people` in that folder. Those in which `wake.jsonl` has the word are
the words; the rest is all others whose sources are not in negatives.npz. The curve has the misses for
every number of false accepts. `--confirm`: the default recogniser reads each detection, as with `wake.confirm`.
`--keep FOLDER` keeps the trained words, which can be named instead of words another time.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from benchmarks.hardware import describe
from benchmarks.speech_test_set import HOME_NAMES
from benchmarks.stt import ADAPTED_MODEL, ADAPTER, ours
from edgevox.audio.files import read_audio
from edgevox.audio.wake_features import MODEL_ID, STEP_SAMPLES, EmbeddingNetwork, Floats, embed
from edgevox.audio.wake_gate import WORD_S
from edgevox.audio.wake_head import WINDOW_S, TrainedWord, WakeHead, load_word, save_word
from edgevox.audio.wake_word import _room
from edgevox.config import TtsSettings
from edgevox.core.files import user_folders
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.dialogue.transcriber import WakePhrase
from edgevox.models import ModelStore, open_store
from edgevox.stt.whisper import WhisperEngine
from edgevox.tts.speaker_bank import MODEL_ID as SPEAKERS
from edgevox.tts.speaker_bank import SpeakerBank
from edgevox.wake_training.recipe import QUICK, Plan, accepts, train_wake_word

_PARTS = ("wake", "talk", "accents", "commands", "clips", "words", "orders", "music", "noise")
# The sources of negatives.npz.
_TRAINED_ON = ("LibriSpeech", "CMU", "Picovoice/speech-to-intent", "Speech Commands", "AudioMNIST")


Read: TypeAlias = Callable[[Audio], str]


@dataclass(frozen=True, slots=True)
class Recording:
    """A recording with a quiet room around it; `word` is the wake word in it, "" if there is none."""

    word: str
    part: str
    duration_s: float
    samples: Floats
    embeddings: Floats


def recordings(folder: Path, network: EmbeddingNetwork) -> list[Recording]:
    found = []
    for part in _PARTS:
        for line in (folder / f"{part}.jsonl").read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            if not str(entry.get("source", "")).startswith(_TRAINED_ON):
                audio = read_audio(folder / entry["file"])
                samples = np.concatenate([_room(2.0), audio.samples, _room(1.0)])
                embeddings = embed(network, samples)
                found.append(Recording(entry.get("word") or "", part, audio.duration_s, samples, embeddings))
    return found


def detections(head: WakeHead, heard: Recording, cutoff: float) -> list[Audio]:
    """What the recogniser would read of each detection."""
    ends = [
        round((WINDOW_S + step * STEP_SAMPLES / SAMPLE_RATE_HZ) * SAMPLE_RATE_HZ)
        for step in accepts(head, heard.embeddings, cutoff)
    ]
    length = round(WORD_S * SAMPLE_RATE_HZ)
    return [Audio(heard.samples[max(0, end - length) : end], SAMPLE_RATE_HZ) for end in ends]


def confirmed(
    word: TrainedWord, head: WakeHead, said: Sequence[Recording], others: Sequence[Recording], read: Read
) -> dict[str, object]:
    """Misses and false accepts with `wake.confirm` at the cut-off of `eager`."""
    phrase, cutoff, texts, took_s = WakePhrase(word.phrase), word.cutoffs["eager"], list[str](), list[float]()

    def wakes(heard: Recording) -> int:
        count = 0
        for audio in detections(head, heard, cutoff):
            began_s = time.process_time()
            texts.append(read(audio))
            took_s.append(time.process_time() - began_s)
            count += phrase.is_in(texts[-1])
        return count

    missed = sum(not wakes(heard) for heard in said)
    return {
        "cutoff": cutoff,
        "missed": missed,
        "false_accepts": sum(map(wakes, others)),
        "read": len(texts),
        "median_cpu_s": round(float(np.median(took_s)), 2) if took_s else None,
    }


def measure(
    word: TrainedWord, head: WakeHead, heard: Sequence[Recording], read: Read | None = None
) -> dict[str, object]:
    said = [one for one in heard if one.word == word.phrase]
    others = [one for one in heard if one.word != word.phrase]
    best = np.array([head.confidences(one.embeddings).max(initial=0) for one in said])
    worst = sorted((float(head.confidences(one.embeddings).max(initial=0)) for one in others), reverse=True)
    return {
        "training": word.training,
        "kept_aside": word.measured,
        "words": len(said),
        "other_hours": round(sum(one.duration_s for one in others) / 3600, 2),
        "thresholds": {
            name: {
                "cutoff": cutoff,
                "missed": int((best <= cutoff).sum()),
                "false_accepts": sum(len(accepts(head, one.embeddings, cutoff)) for one in others),
            }
            for name, cutoff in word.cutoffs.items()
        },
        "missed_by_recordings_with_a_false_accept": {
            str(count): int((best <= worst[count]).sum()) for count in (0, 1, 2, 3, 5, 10)
        },
        "confirmed": confirmed(word, head, said, others, read) if read else None,
    }


def recogniser(store: ModelStore) -> Read:
    engine = WhisperEngine(store.pull(ADAPTED_MODEL), threads=1, adapter=store.pull(ADAPTER), rescoring=True)
    engine.load()
    transcribe = ours(engine, HOME_NAMES)
    return lambda audio: transcribe(audio).text


def main() -> None:
    parser = argparse.ArgumentParser(description="Misses and false accepts of trained wake words on people.")
    parser.add_argument("words", nargs="+", help="words of wake.jsonl, or the .json files of trained words")
    parser.add_argument("--quick", action="store_true", help="train with the small plan")
    parser.add_argument("--confirm", action="store_true", help="have the recogniser read each detection")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the trained words")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the result")
    args = parser.parse_args()
    store = open_store(user_folders())
    network = EmbeddingNetwork.read(store.pull(MODEL_ID))
    trained = {}
    for name in args.words:
        if name.endswith(".json"):
            trained[name] = load_word(Path(name))
            continue
        bank = SpeakerBank(store.pull(SPEAKERS).parent, store.pull(TtsSettings().voice), threads=os.cpu_count() or 1)
        word, head = trained[name] = train_wake_word(name, bank, network, plan=QUICK if args.quick else Plan())
        if args.keep:
            save_word(args.keep / f"{name}.json", head, word)
    heard = recordings(Path(os.environ["EDGEVOX_SPEECH_DIR"]) / "people", network)
    read = recogniser(store) if args.confirm else None
    words = {word.phrase: measure(word, head, heard, read) for word, head in trained.values()}
    result = {"hardware": describe(), "words": words}
    print(json.dumps(result, indent=2))
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

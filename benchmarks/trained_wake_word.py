"""Misses and false accepts of trained wake words on recordings of people.

    EDGEVOX_SPEECH_DIR=… python -m benchmarks.trained_wake_word jarvis computer alexa

trains each word as `edgevox wake train` does (`--quick`: with its small plan), from synthesised speech and
negatives.npz, and runs it over the recordings of `people` in that folder. Those in which `wake.jsonl` has the word are
the words; the rest is all others whose sources are not in negatives.npz. The curve has the misses for
every number of false accepts.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.hardware import describe
from edgevox.audio.files import read_audio
from edgevox.audio.wake_features import MODEL_ID, EmbeddingNetwork, Floats, embed
from edgevox.audio.wake_head import TrainedWord, WakeHead, load_word
from edgevox.audio.wake_word import _room
from edgevox.config import TtsSettings
from edgevox.core.files import user_folders
from edgevox.models import open_store
from edgevox.tts.speaker_bank import MODEL_ID as SPEAKERS
from edgevox.tts.speaker_bank import SpeakerBank
from edgevox.wake_training.recipe import QUICK, Plan, accepts, train_wake_word

_PARTS = ("wake", "talk", "accents", "commands", "clips", "words", "orders", "music", "noise")
# The sources of negatives.npz.
_TRAINED_ON = ("LibriSpeech", "CMU", "Picovoice/speech-to-intent", "Speech Commands", "AudioMNIST")


def recordings(folder: Path, network: EmbeddingNetwork) -> list[tuple[str, str, float, Floats]]:
    """The word, the part, the seconds and the embeddings of each recording, with a quiet room around it."""
    found = []
    for part in _PARTS:
        for line in (folder / f"{part}.jsonl").read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            if not str(entry.get("source", "")).startswith(_TRAINED_ON):
                audio = read_audio(folder / entry["file"])
                samples = np.concatenate([_room(2.0), audio.samples, _room(1.0)])
                found.append((entry.get("word") or "", part, audio.duration_s, embed(network, samples)))
    return found


def measure(word: TrainedWord, head: WakeHead, heard: Sequence[tuple[str, str, float, Floats]]) -> dict[str, object]:
    said = [embeddings for name, _, _, embeddings in heard if name == word.phrase]
    others = [(part, seconds, embeddings) for name, part, seconds, embeddings in heard if name != word.phrase]
    hours = sum(seconds for _, seconds, _ in others) / 3600
    best = np.array([head.confidences(embeddings).max(initial=0) for embeddings in said])
    worst = sorted((float(head.confidences(each).max(initial=0)) for _, _, each in others), reverse=True)
    return {
        "training": word.training,
        "kept_aside": word.measured,
        "words": len(said),
        "other_hours": round(hours, 2),
        "thresholds": {
            name: {
                "cutoff": cutoff,
                "missed": int((best <= cutoff).sum()),
                "false_accepts": sum(len(accepts(head, each, cutoff)) for _, _, each in others),
            }
            for name, cutoff in word.cutoffs.items()
        },
        "missed_by_recordings_with_a_false_accept": {
            str(count): int((best <= worst[count]).sum()) for count in (0, 1, 2, 3, 5, 10)
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="Misses and false accepts of trained wake words on people.")
    parser.add_argument("words", nargs="+", help="words of wake.jsonl, or the .json files of trained words")
    parser.add_argument("--quick", action="store_true", help="train with the small plan")
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
        trained[name] = train_wake_word(name, bank, network, plan=QUICK if args.quick else Plan())
    heard = recordings(Path(os.environ["EDGEVOX_SPEECH_DIR"]) / "people", network)
    words = {word.phrase: measure(word, head, heard) for word, head in trained.values()}
    result = {"hardware": describe(), "words": words}
    print(json.dumps(result, indent=2))
    if args.json:
        args.json.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

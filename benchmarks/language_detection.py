"""How often the language of an utterance is detected: `python -m benchmarks.language_detection [--results FILE.json]`.

The detection is that of `stt.language = "auto"`: the adapted Whisper on its short window, among two languages of a home
(English and the other one) and among seven. English is spoken by people where EDGEVOX_SPEECH_DIR names their
recordings; the other languages are the commands of tests/eval, spoken by our voices.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import soxr  # type: ignore[import-untyped]  # it has neither stubs nor py.typed
from numpy.typing import NDArray

from benchmarks.hardware import describe
from benchmarks.voices import local_engine
from edgevox.audio.files import read_audio
from edgevox.core.files import user_folders
from edgevox.core.languages import ENGLISH, OWN_NAMES
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, SynthesisRequest
from edgevox.models import ModelStore, open_store
from edgevox.stt.silero_vad import SileroVad
from edgevox.stt.whisper_decoder import WhisperDecoder
from edgevox.tts.normalize import normalize_text

SUITES = {"de": "german", "fr": "french", "es": "spanish", "it": "italian", "nl": "dutch", "pt": "portuguese"}
PEOPLE = ("orders", "commands", "accents", "clips", "words")
EVAL = Path(__file__).parents[1] / "tests" / "eval"


def recordings(folder: Path, most: int) -> Iterator[tuple[str, Audio]]:
    """Recordings of English speakers, with their texts."""
    for name in PEOPLE:
        rows = [json.loads(line) for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        random.Random(3).shuffle(rows)
        for row in rows[:most]:
            yield f"{name}: {row.get('text') or row['file']}", read_audio(folder / row["file"])


def spoken(language: str, voice: str, store: ModelStore, most: int) -> Iterator[tuple[str, Audio]]:
    """Commands of the suite in one of our voices."""
    engine = local_engine(voice, store)
    engine.load()
    rows = map(json.loads, (EVAL / f"{SUITES[language]}.jsonl").read_text(encoding="utf-8").splitlines())
    texts = [row["utterance"] for row in rows if "utterance" in row]
    for text in random.Random(3).sample(texts, min(most, len(texts))):
        request = SynthesisRequest(normalize_text(text, language), language=language)
        yield text, Audio.joined([each for each in engine.run(request, CancelFlag()) if isinstance(each, Audio)])


class Detector:
    def __init__(self, store: ModelStore) -> None:
        self._decoder = WhisperDecoder.load(
            store.pull("whisper-base"), threads=2, beam_size=1, adapter=store.pull("edgevox-hearing-base")
        )
        self._gate = SileroVad(28.0)
        self.encoding_ms: list[float] = []
        self.detection_ms: list[float] = []

    def detect(self, sound: Audio, among: tuple[str, ...]) -> str:
        """The language of the first piece of speech; "" if there is none."""
        samples: NDArray[np.float32] = soxr.resample(sound.samples, sound.rate_hz, SAMPLE_RATE_HZ).astype(np.float32)
        for piece in self._gate.pieces(Audio(samples, SAMPLE_RATE_HZ)):
            options = self._decoder.decode_options(ENGLISH)
            window = next(options.windows_for(len(piece) / SAMPLE_RATE_HZ))
            begun_s = time.monotonic()
            self._decoder._encode(piece, window)
            encoded_s = time.monotonic()
            language = self._decoder.detect_language(piece, window, among)
            self.encoding_ms.append(1000 * (encoded_s - begun_s))
            self.detection_ms.append(1000 * (time.monotonic() - encoded_s))
            return language
        return ""


def count(sounds: Iterator[tuple[str, Audio]], language: str, detector: Detector) -> dict[str, object]:
    """How many are detected among two and among seven languages, and which are not."""
    row: dict[str, object] = {}
    right = {"two": 0, "seven": 0}
    wrong: list[str] = []
    heard = 0
    for text, sound in sounds:
        other = "de" if language == ENGLISH else language
        found = {"two": detector.detect(sound, (ENGLISH, other)), "seven": detector.detect(sound, tuple(OWN_NAMES))}
        if not found["two"]:
            continue
        heard += 1
        for kind, detected in found.items():
            right[kind] += detected == language
        if set(found.values()) != {language}:
            wrong.append(f"{text} → {found['two']}, {found['seven']}")
    row |= {"utterances": heard, **{f"right_of_{kind}": number for kind, number in right.items()}, "wrong": wrong}
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--voices", nargs="*", default=[], metavar="ID", help="voices of other languages")
    parser.add_argument("--most", type=int, default=25, metavar="N", help="utterances of each kind")
    parser.add_argument("--results", type=Path, metavar="FILE.json")
    args = parser.parse_args()
    store = open_store(user_folders())
    detector = Detector(store)
    results: dict[str, object] = {"hardware": f"{describe()}; load average {os.getloadavg()[0]:.1f}"}
    if folder := os.environ.get("EDGEVOX_SPEECH_DIR"):
        results["English, people"] = count(recordings(Path(folder) / "people", args.most), ENGLISH, detector)
    for voice in args.voices:
        language = store.manifest.entry(voice).spoken_language
        results[voice] = count(spoken(language, voice, store, args.most), language, detector)
    results["encoding_ms_median"] = round(statistics.median(detector.encoding_ms))
    results["detection_ms_median"] = round(statistics.median(detector.detection_ms))
    text = json.dumps(results, indent=2, ensure_ascii=False)
    print(text)
    if args.results:
        args.results.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

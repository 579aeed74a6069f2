"""Word error rate on recordings of people, the gate for adapters: `python -m benchmarks.stt_recordings`.

Transcribes the recordings in `people` and `home-commands` of the folder in EDGEVOX_SPEECH_DIR with plain
Whisper base (faster-whisper's own `transcribe`, full window, beam 5), with the engine on plain base, with
the engine as it ships, and with each `--adapter`. Exits with 1 when an adapter is worse than the model it
was made from. `--json` keeps every transcript; a later run with the same file transcribes only what is
missing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.hardware import describe
from benchmarks.speech_test_set import HOME_NAMES, recorded
from benchmarks.stt import ADAPTED_MODEL, ADAPTER, Transcribe, faster_whisper, ours, text_scorer, theirs
from edgevox.audio.files import read_audio
from edgevox.core.files import user_folders
from edgevox.core.types import Audio
from edgevox.engines.threads import plan_threads
from edgevox.eval.scoring import word_errors
from edgevox.eval.synthetic_speech import Noise
from edgevox.models import open_store
from edgevox.stt.text_normalizer import words_of
from edgevox.stt.whisper import WhisperEngine

REFERENCE = "Whisper base, 30 s, beam 5"
ENGINE = "Whisper base in the engine"
SHIPPED = "as shipped"
READ, ORDERS = "read sentences", "orders"
BABBLE = {f"{READ}, babble {snr_db:.0f} dB": snr_db for snr_db in (10.0, 5.0)}
_FIELDS = {"near": "commands, close", "far": "commands, far", None: "commands, laptop"}
# Noise is not held against the full window: the engine's gate hears it first.
GATED = {"read": (READ, "accents", "words"), "commands": tuple(_FIELDS.values()), "orders": (ORDERS,)}


@dataclass(frozen=True, slots=True)
class Recording:
    """What one person said: its words, or the values of an order that must be heard."""

    part: str
    key: str
    speaker: str
    said: tuple[str, ...]
    audio: Callable[[], Audio]

    @property
    def is_order(self) -> bool:
        return self.part == ORDERS


@dataclass(frozen=True, slots=True)
class Score:
    """Of one part: recordings heard without a fault, and wrong words (of an order: values not heard)."""

    recordings: int
    right: int
    words: int
    errors: int

    def __str__(self) -> str:
        if not self.recordings:
            return ""
        return f"{100 * self.errors / self.words:.1f} / {100 * self.right / self.recordings:.1f}"


def recordings(folder: Path) -> Iterator[Recording]:
    """Everything that people say in the folder, and the read sentences again in babble of six others."""
    read = [*_listed(folder, "clips", READ)]
    yield from read
    for row in _rows(folder, "commands"):
        yield _recording(folder, row, _FIELDS[row.get("field")])
    for utterance in recorded(folder):
        if utterance.text is not None:
            words = tuple(words_of(utterance.text))
            yield Recording(_FIELDS[None], utterance.text, "", words, partial(_same, utterance.audio))
    for row in _rows(folder, "orders"):
        values = tuple(word for value in row["slots"].values() for word in words_of(value))
        yield Recording(ORDERS, row["file"], "", values, partial(_sound, folder / "people" / row["file"]))
    yield from _listed(folder, "accents", "accents")
    yield from _listed(folder, "words", "words")
    for part, snr_db in BABBLE.items():
        for one in read:
            others = tuple(each for each in read if each.speaker != one.speaker)
            yield Recording(part, one.key, one.speaker, one.said, partial(_in_babble, one, others, snr_db))


def score(heard: Sequence[tuple[Recording, str]]) -> Score:
    """The figures of what was heard of some recordings."""
    right = words = errors = 0
    for recording, text in heard:
        got = words_of(text)
        wrong = (
            sum(word not in got for word in recording.said) if recording.is_order else word_errors(recording.said, got)
        )
        right += wrong == 0
        words += len(recording.said)
        errors += wrong
    return Score(len(heard), right, words, errors)


def worse_groups(scores: Mapping[str, Mapping[str, Score]], name: str, reference: str = REFERENCE) -> list[str]:
    """The groups of recordings in which more words are wrong than with the reference, in words for people."""
    worse = []
    for group, parts in GATED.items():
        here, there = ([scores[who][part] for part in parts if part in scores[who]] for who in (name, reference))
        words = sum(each.words for each in here)
        if not words or words != sum(each.words for each in there):
            continue  # not all of it has been heard by both
        ours_, theirs_ = sum(each.errors for each in here), sum(each.errors for each in there)
        if ours_ > theirs_:
            worse.append(f"{group}: {100 * ours_ / words:.1f} % against {100 * theirs_ / words:.1f} %")
    return worse


class Texts:
    """What was heard, by recogniser and recording; kept in a file where one is given."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        found = json.loads(file.read_text(encoding="utf-8")) if file and file.exists() else {}
        self._texts: dict[str, dict[str, str]] = found.get("texts", {})

    def of(self, name: str, recording: Recording) -> str | None:
        return self._texts.get(name, {}).get(f"{recording.part}: {recording.key}")

    def add(self, name: str, recording: Recording, text: str) -> None:
        self._texts.setdefault(name, {})[f"{recording.part}: {recording.key}"] = text

    def keep(self) -> None:
        if self._file:
            kept = {"hardware": describe(), "texts": self._texts}
            self._file.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def recognisers(adapters: Sequence[Path], threads: int, scratch: Path) -> dict[str, Callable[[], Transcribe]]:
    """All recognisers by their names, each loaded when it is first asked for."""
    store = open_store(user_folders())
    model_dir = store.pull(ADAPTED_MODEL)

    def engine(adapter: Path | None) -> Transcribe:
        # A folder of its own: the copy with an adapter in it takes the place of any other beside the model.
        folder = scratch / (_digest(adapter) if adapter else "plain")
        folder.mkdir()
        for path in model_dir.iterdir():
            if path.is_file():
                (folder / path.name).symlink_to(path)
        loaded = WhisperEngine(
            folder, threads=threads, adapter=adapter, rescoring=True, text_scorer=text_scorer(store, threads)
        )
        loaded.load()
        return ours(loaded, HOME_NAMES)

    shipped = store.pull(ADAPTER)
    return {
        REFERENCE: lambda: theirs(faster_whisper(model_dir, threads), 5),
        ENGINE: partial(engine, None),
        f"{SHIPPED} {_digest(shipped)}": partial(engine, shipped),
        **{f"{path.parent.name}/{path.name} {_digest(path)}": partial(engine, path) for path in adapters},
    }


def report(scores: Mapping[str, Mapping[str, Score]]) -> None:
    table = Table("words wrong / heard without a fault, %", *scores)
    for part in dict.fromkeys(part for each in scores.values() for part in each):
        counts = {each[part].recordings for each in scores.values() if part in each}
        table.add_row(f"{part} ({max(counts)})", *(str(each.get(part, "")) for each in scores.values()))
    Console(width=200).print(table)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stt_recordings", description=__doc__)
    parser.add_argument("--adapter", type=Path, action="append", default=[], help="a candidate; repeatable")
    parser.add_argument("--only", action="append", help="recognisers whose names begin so; repeatable")
    parser.add_argument("--part", action="append", help="parts whose names begin so; repeatable")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop hearing after so long")
    parser.add_argument("--threads", type=int, default=plan_threads().stt)
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep what was heard, and go on from it")
    parser.add_argument("--scores", type=Path, metavar="FILE", help="keep the figures, without the texts")
    args = parser.parse_args()
    if not (speech_dir := os.environ.get("EDGEVOX_SPEECH_DIR")):
        print("EDGEVOX_SPEECH_DIR is not set: there is nobody to hear", file=sys.stderr)
        return 2
    chosen = [each for each in recordings(Path(speech_dir)) if _begins(each.part, args.part)]
    texts, until_s = Texts(args.json), time.monotonic() + 60 * args.minutes
    with tempfile.TemporaryDirectory() as scratch:
        by_name = recognisers(args.adapter, args.threads, Path(scratch))
        names = [name for name in by_name if _begins(name, args.only)]
        for name in names:
            load = cache(by_name[name])
            for recording in chosen:
                if texts.of(name, recording) is None and time.monotonic() < until_s:
                    texts.add(name, recording, load()(recording.audio()).text)
            texts.keep()
    scores = {
        name: {
            part: score(
                [(each, text) for each in chosen if each.part == part and (text := texts.of(name, each)) is not None]
            )
            for part in dict.fromkeys(each.part for each in chosen)
        }
        for name in by_name
    }
    scores = {name: each for name, each in scores.items() if any(part.recordings for part in each.values())}
    print(f"hardware: {describe()}")
    report(scores)
    if args.scores:
        figures = {
            name: {part: asdict(each) for part, each in parts.items() if each.recordings}
            for name, parts in scores.items()
        }
        kept = {"hardware": describe(), "scores": figures}
        args.scores.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    is_refused = False
    for name in scores:
        if name in (REFERENCE, ENGINE) or REFERENCE not in scores:
            continue
        if worse := worse_groups(scores, name):
            is_refused = True
            print(f"REFUSED {name}: people are heard worse than by Whisper base. {'; '.join(worse)}")
    return int(is_refused)


def _begins(name: str, wanted: Sequence[str] | None) -> bool:
    return wanted is None or name.startswith(tuple(wanted))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:8]


def _rows(folder: Path, part: str) -> list[dict[str, Any]]:
    lines = (folder / "people" / f"{part}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _listed(folder: Path, file: str, part: str) -> Iterator[Recording]:
    for row in _rows(folder, file):
        yield _recording(folder, row, part)


def _recording(folder: Path, row: dict[str, Any], part: str) -> Recording:
    words = tuple(words_of(str(row["text"])))
    path = folder / "people" / str(row["file"])
    return Recording(part, str(row["file"]), str(row["speaker"]), words, partial(_sound, path))


def _same(audio: Audio) -> Audio:
    return audio


@cache
def _sound(path: Path) -> Audio:
    return read_audio(path)


def _in_babble(one: Recording, others: Sequence[Recording], snr_db: float) -> Audio:
    noise = Noise("babble", [each.audio() for each in others])
    return noise.mix(one.audio(), snr_db, one.key)


if __name__ == "__main__":
    sys.exit(main())

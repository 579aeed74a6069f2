"""Cuts recordings into utterances at pauses: `python -m training.stt.cut_recordings --help`.

Reads a list of recordings, `{"file": …, "speaker": …, "source": …}` a line, and writes `NAME.i16`,
concatenated 16 kHz samples, and `NAME.jsonl`, the recording and the `length` of each utterance. No
transcripts are needed: `training.stt.pseudo_labels` makes them.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

RATE_HZ = 16_000
_FRAME = RATE_HZ // 50
# What is nearer to the quiet parts than to the loud ones is a pause, where it lasts.
_PAUSE_LEVEL = 0.4
_PAUSE_FRAMES = 7
_KEPT_FRAMES = 4
_SHORTEST_S, _LONGEST_S = 0.25, 15.0
# Pieces as long as commands, and as long as sentences.
_LENGTHS_S = ((1.0, 4.5), (3.0, 12.0))
_PEAK = 0.7


def utterances(samples: NDArray[np.float32], rng: random.Random) -> Iterator[NDArray[np.float32]]:
    """The recording in pieces that begin and end in pauses; twice, in short ones and in long ones."""
    levels_db = _levels_db(samples)
    quiet_db, loud_db = np.percentile(levels_db, (3, 95))
    loud = np.flatnonzero(levels_db > quiet_db + _PAUSE_LEVEL * (loud_db - quiet_db))
    if not len(loud):
        return
    spans = [list(span) for span in _stretches(loud)]
    if (spans[-1][1] - spans[0][0]) * _FRAME < 2.0 * RATE_HZ:
        yield _piece(samples, spans[0][0], spans[-1][1])
        return
    for shortest_s, longest_s in _LENGTHS_S:
        start, wanted_s = spans[0][0], rng.uniform(shortest_s, longest_s)
        for span, behind in zip(spans, [*spans[1:], None], strict=True):
            if (span[1] - start) * _FRAME >= wanted_s * RATE_HZ or behind is None:
                yield _piece(samples, start, span[1])
                wanted_s = rng.uniform(shortest_s, longest_s)
                start = behind[0] if behind else start


def _stretches(loud: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    start = end = int(loud[0])
    for frame in loud[1:]:
        if frame - end > _PAUSE_FRAMES:
            yield start, end + 1
            start = int(frame)
        end = int(frame)
    yield start, end + 1


def _piece(samples: NDArray[np.float32], start: int, end: int) -> NDArray[np.float32]:
    cut = samples[max(0, start - _KEPT_FRAMES) * _FRAME : (end + _KEPT_FRAMES) * _FRAME]
    return cut * (_PEAK / (float(np.abs(cut).max()) + 1e-6))


def _levels_db(samples: NDArray[np.float32]) -> NDArray[np.float64]:
    frames = samples[: len(samples) // _FRAME * _FRAME].reshape(-1, _FRAME)
    return np.asarray(10 * np.log10(np.mean(np.square(frames, dtype=np.float64), axis=1) + 1e-10))


def read(path: Path) -> NDArray[np.float32]:
    """The sound of a file at 16 kHz, mixed to mono."""
    # Not at the top of the file: only the machine that cuts recordings has it.
    import soundfile

    samples, rate_hz = soundfile.read(path, dtype="float32", always_2d=True)
    mono = samples.mean(axis=1)
    if rate_hz == RATE_HZ:
        return np.asarray(mono)
    length = round(len(mono) * RATE_HZ / rate_hz)
    spectrum = np.fft.rfft(mono)
    kept = np.zeros(length // 2 + 1, spectrum.dtype)
    shared = min(len(kept), len(spectrum))
    kept[:shared] = spectrum[:shared]
    return np.asarray(np.fft.irfft(kept, length) * (length / len(mono)), np.float32)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.stt.cut_recordings", description=__doc__)
    parser.add_argument("--list", type=Path, required=True, help="recordings, one JSON object a line")
    parser.add_argument("--folder", type=Path, required=True, help="where their files are")
    parser.add_argument("--out", type=Path, required=True, help="a folder for the pieces")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)  # noqa: S311 - examples, no secrets
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / options.list.stem
    lengths: list[int] = []
    with path.with_suffix(".i16").open("wb") as sound, path.with_suffix(".jsonl").open("w") as rows:
        for line in options.list.read_text(encoding="utf-8").splitlines():
            recording = json.loads(line)
            try:
                samples = read(options.folder / recording["file"])
            except RuntimeError:  # of soundfile: a file that it cannot read
                continue
            for piece in utterances(samples, rng):
                if _SHORTEST_S * RATE_HZ < len(piece) < _LONGEST_S * RATE_HZ:
                    sound.write(np.round(piece * 32767).astype(np.int16).tobytes())
                    rows.write(json.dumps(recording | {"length": len(piece)}) + "\n")
                    lengths.append(len(piece))
    seconds = sum(lengths) / RATE_HZ
    print(f"{path.name}: {len(lengths)} pieces, {seconds / 60:.1f} minutes")


if __name__ == "__main__":
    main()

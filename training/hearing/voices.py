"""Says sentences with four engines, and in throats that none of them has.

`python -m training.hearing.voices --rows rows.jsonl --piper VOICE.onnx --out FOLDER`. Needs espeak-ng,
flite and pico2wave on the path. Rows with phonemes are Piper's, the others are shared out. What
`edgevox eval --speech` measures with is left out: espeak-ng's plain American voice, and Piper's voice as it
is. Each process writes `FOLDER/NN-NNN.i16`, 16 kHz samples one behind the other, and `NN-NNN.json`, the row
and the length of each; what has both can be learnt from while the rest is still being said.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import multiprocessing
import random
import subprocess
import tempfile
import time
import wave
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # it ships no types
from numpy.typing import NDArray

RATE_HZ = 16_000

_ESPEAK = (
    "en-us",
    "en-us",
    "en-gb",
    "en-gb-x-rp",
    "en-gb-scotland",
    "en-gb-x-gbclan",
    "en-gb-x-gbcwmd",
    "en-029",
)
_ESPEAK_VARIANTS = (
    "m1",
    "m2",
    "m3",
    "m4",
    "m5",
    "m6",
    "m7",
    "m8",
    "f1",
    "f2",
    "f3",
    "f4",
    "f5",
    "klatt",
    "klatt2",
    "klatt3",
)
_FLITE = ("slt", "rms", "awb", "kal16")
_PICO = ("en-US", "en-US", "en-GB")
# Somebody else's throat: the sound a little faster and higher, or slower and lower, and never as it is.
_LOWER, _HIGHER = (0.85, 0.96), (1.04, 1.17)
_QUIET = 10 ** (-45 / 20)
_PART = 100


class Voices:
    """All voices; Piper's is read once, and takes one thread."""

    def __init__(self, piper: Path, rng: random.Random, scratch: Path) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._piper = onnxruntime.InferenceSession(piper, options, providers=["CPUExecutionProvider"])
        self._piper_rate_hz = int(json.loads(Path(f"{piper}.json").read_text())["audio"]["sample_rate"])
        self._rng = rng
        self._scratch = scratch

    def said(self, row: dict[str, Any]) -> NDArray[np.int16]:
        """The row's sentence, without the silence around it, at 16 kHz."""
        samples, rate_hz = (
            self._by_piper(row["phonemes"]) if "phonemes" in row else self._by_program(row["say"])
        )
        throat = self._rng.uniform(*self._rng.choice((_LOWER, _HIGHER)))
        length = round(len(samples) * RATE_HZ / rate_hz / throat)
        return np.round(_trimmed(_resampled(samples, length)) * 32767).astype(np.int16)

    def _by_piper(self, phonemes: list[int]) -> tuple[NDArray[np.float32], int]:
        rng = self._rng
        scales = [rng.uniform(0.4, 0.9), rng.uniform(0.8, 1.25), rng.uniform(0.5, 1.0)]
        given = {
            "input": np.array([phonemes], np.int64),
            "input_lengths": np.array([len(phonemes)], np.int64),
            "scales": np.array(scales, np.float32),
        }
        return self._piper.run(None, given)[0].reshape(-1), self._piper_rate_hz

    def _by_program(self, text: str) -> tuple[NDArray[np.float32], int]:
        command = _command(text, self._rng, str(self._scratch))
        subprocess.run(command, check=True, timeout=20, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with wave.open(io.BytesIO(self._scratch.read_bytes())) as file:
            samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
            return np.float32(1 / 32768) * samples.astype(np.float32), file.getframerate()


def _command(text: str, rng: random.Random, path: str) -> list[str]:
    engine = rng.choices(("espeak", "flite", "pico"), (30, 30, 40))[0]
    match engine:
        case "espeak":
            voice = f"{rng.choice(_ESPEAK)}+{rng.choice(_ESPEAK_VARIANTS)}"
            pace, pitch = str(rng.randint(130, 205)), str(rng.randint(30, 70))
            return ["espeak-ng", "-v", voice, "-s", pace, "-p", pitch, "-w", path, "--", text]
        case "flite":
            stretch = f"duration_stretch={rng.uniform(0.75, 1.25):.2f}"
            return ["flite", "-voice", rng.choice(_FLITE), "--setf", stretch, "-t", text, "-o", path]
        case _:
            pace, pitch = str(rng.randint(80, 130)), str(rng.randint(75, 130))
            plain = text.replace("&", " and ").replace("<", " ")
            marked = f'<speed level="{pace}"><pitch level="{pitch}">{plain}</pitch></speed>'
            return ["pico2wave", "-l", rng.choice(_PICO), "-w", path, marked]


def _resampled(samples: NDArray[np.float32], length: int) -> NDArray[np.float32]:
    spectrum = np.fft.rfft(samples)
    return np.fft.irfft(spectrum[: length // 2 + 1], length).astype(np.float32) * (length / len(samples))


def _trimmed(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """As loud as all others, from the first sound to the last."""
    samples = samples * (0.7 / (float(np.abs(samples).max()) + 1e-6))
    loud = np.flatnonzero(np.abs(samples) > _QUIET)
    return samples[loud[0] : loud[-1] + 1] if len(loud) else samples[:0]


def _work(number: int, count: int, rows: Path, piper: Path, out: Path, seconds: float) -> None:
    rng = random.Random(1000 + number)  # noqa: S311 - examples, no secrets
    until_s = time.monotonic() + seconds
    with tempfile.TemporaryDirectory() as folder:
        voices = Voices(piper, rng, Path(folder) / "said.wav")
        mine = itertools.islice(enumerate(rows.open(encoding="utf-8")), number, None, count)
        for part in itertools.count():
            said = list(_said(voices, itertools.islice(mine, _PART), until_s))
            if not said:
                break
            _write(said, out / f"{number:02}-{part:03}")


def _said(
    voices: Voices, lines: Iterable[tuple[int, str]], until_s: float
) -> Iterator[tuple[int, NDArray[np.int16]]]:
    for at, line in lines:
        if time.monotonic() > until_s:
            return
        try:
            samples = voices.said(json.loads(line))
        except (subprocess.SubprocessError, EOFError, wave.Error, ValueError, IndexError):
            continue  # an engine that chokes on a word
        if 0.3 * RATE_HZ < len(samples) < 7.2 * RATE_HZ:
            yield at, samples


def _write(said: list[tuple[int, NDArray[np.int16]]], path: Path) -> None:
    path.with_suffix(".i16").write_bytes(b"".join(samples.tobytes() for _, samples in said))
    path.with_suffix(".json").write_text(json.dumps([(at, len(samples)) for at, samples in said]))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.hearing.voices", description=__doc__)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--piper", type=Path, required=True, help="a voice of Piper's: its .onnx file")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--processes", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    count = options.processes
    shared = (count, options.rows, options.piper, options.out, options.seconds)
    workers = [multiprocessing.Process(target=_work, args=(number, *shared)) for number in range(count)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    clips = sum(len(json.loads(path.read_text())) for path in options.out.glob("*.json"))
    print(f"{clips} clips")


if __name__ == "__main__":
    main()

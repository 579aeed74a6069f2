"""Synthesizes sentences in Kokoro's English voices: `python -m training.stt.synthesize --help`.

Reads rows of `training.stt.home_sentences` that have `phonemes` (`--phonemes` adds them, with espeak-ng on
the path). Each process writes `NN.i16`, concatenated 16 kHz samples, and `NN.jsonl`, the row and the
`length` of each clip; clips that are finished after `--seconds` can be used.
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import random
import re
import subprocess
import time
from pathlib import Path

import numpy as np
import onnxruntime
from numpy.typing import NDArray

RATE_HZ = 16_000
_KOKORO_RATE_HZ = 24_000
_STYLE_WIDTH = 256
_QUIET = 10 ** (-45 / 20)
_LONGEST_S = 9.0
# Kokoro's numbers of symbols, in stretches that follow each other.
# fmt: off
_STRETCHES = {
    1: ";:,.!?", 16: " ", 18: "ʣʥʦʨ", 24: "AI", 31: "O", 33: "Q", 35: "ST", 39: "W", 41: "Yᵊabcdef",
    50: "hijklmnopqrstuvwxyzɑɐɒæ", 75: "βɔɕç", 80: "ɖðʤə", 85: "ɚɛɜ", 90: "ɟ", 92: "ɡ", 99: "ɥ",
    101: "ɨɪʝ", 110: "ɯɰŋɳɲɴø", 118: "ɸθœ", 123: "ɹ", 125: "ɾɻ", 128: "ʁɽʂʃʈʧ", 135: "ʊʋ", 138: "ʌɣɤ",
    142: "χʎ", 147: "ʒʔ", 156: "ˈˌː", 162: "ʰ", 164: "ʲ", 177: "ᵻ",
}
# fmt: on
_SYMBOLS = {symbol: first + place for first, symbols in _STRETCHES.items() for place, symbol in enumerate(symbols)}
_RESPELT = {"ʲ": "j", "r": "ɹ", "x": "k", "ɬ": "l", "g": "ɡ", "tʃ": "ʧ", "dʒ": "ʤ"}


def add_phonemes(rows: Path, out: Path) -> None:
    """Write the rows with their phonemes by espeak-ng, American and British English by turns."""
    read = [json.loads(line) for line in rows.read_text(encoding="utf-8").splitlines()]
    spoken: dict[int, str] = {}
    for part, voice in enumerate(("en-us", "en-gb")):
        mine = range(part, len(read), 2)
        plain = [re.sub(r"[^\w' ]+", " ", read[at]["say"]).strip() for at in mine]
        command = ["espeak-ng", "-q", "--ipa", "-v", voice, "-f", "/dev/stdin"]
        # One sentence a paragraph: each is one line of the answer.
        said = subprocess.run(command, input="\n\n".join(plain), capture_output=True, text=True, check=True)
        lines = [line.strip() for line in said.stdout.splitlines() if line.strip()]
        if len(lines) == len(plain):
            spoken |= dict(zip(mine, lines, strict=True))
        else:
            for at, text in zip(mine, plain, strict=True):
                done = subprocess.run([*command[:-2], text], capture_output=True, text=True, check=True)
                spoken[at] = " ".join(done.stdout.split())
    with out.open("w", encoding="utf-8") as file:
        for at, row in enumerate(read):
            phonemes = spoken[at]
            for found, put in _RESPELT.items():
                phonemes = phonemes.replace(found, put)
            mark = "?" if row["say"].endswith("?") else "."
            ids = [_SYMBOLS[symbol] for symbol in phonemes + mark if symbol in _SYMBOLS]
            file.write(json.dumps(row | {"phonemes": ids, "british": at % 2 == 1}, ensure_ascii=False) + "\n")


class Kokoro:
    """All English voices; two of them now and then speak as one that is between them."""

    def __init__(self, model: Path, voices: Path, rng: random.Random) -> None:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._model = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self._ids = next(put.name for put in self._model.get_inputs() if put.type == "tensor(int64)")
        self._styles = {
            path.stem: np.fromfile(path, np.float32).reshape(-1, _STYLE_WIDTH)
            for path in sorted(voices.glob("[ab][fm]_*.bin"))
        }
        self._rng = rng

    def say(self, phonemes: list[int], *, british: bool) -> NDArray[np.int16]:
        """The sentence at 16 kHz, without the silence around it."""
        rng = self._rng
        near = [name for name in self._styles if name.startswith("b" if british else "a")]
        share = rng.choice((0.0, 0.0, rng.random()))
        first, second = (self._styles[rng.choice(near)][len(phonemes)] for _ in range(2))
        (sound, *_) = self._model.run(
            None,
            {
                self._ids: np.array([[0, *phonemes, 0]], np.int64),
                "style": (first * (1 - share) + second * share)[None],
                "speed": np.array([rng.uniform(0.8, 1.3)], np.float32),
            },
        )
        samples = np.asarray(sound, np.float32).reshape(-1)
        length = len(samples) * RATE_HZ // _KOKORO_RATE_HZ
        spectrum = np.fft.rfft(samples)
        resampled = np.fft.irfft(spectrum[: length // 2 + 1], length) * (length / len(samples))
        resampled = resampled * (0.7 / (np.abs(resampled).max() + 1e-6))
        loud = np.flatnonzero(np.abs(resampled) > _QUIET)
        return np.asarray(np.round(resampled[loud[0] : loud[-1] + 1] * 32767), np.int16)


def _work(number: int, options: argparse.Namespace) -> None:
    until_s = time.monotonic() + options.seconds
    kokoro = Kokoro(options.model, options.voices, random.Random(1000 + number))  # noqa: S311 - no secrets
    path = options.out / f"home-{number:02}"
    with path.with_suffix(".i16").open("wb") as sound, path.with_suffix(".jsonl").open("w") as rows:
        lines = options.rows.read_text(encoding="utf-8").splitlines()
        for line in itertools.islice(lines, number, None, options.processes):
            if time.monotonic() > until_s:
                break
            row = json.loads(line)
            samples = kokoro.say(row.pop("phonemes"), british=row.pop("british"))
            if 0.3 * RATE_HZ < len(samples) < _LONGEST_S * RATE_HZ:
                sound.write(samples.tobytes())
                rows.write(json.dumps(row | {"length": len(samples)}) + "\n")
                sound.flush()
                rows.flush()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.stt.synthesize", description=__doc__)
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--phonemes", type=Path, help="only write the rows with their phonemes there")
    parser.add_argument("--model", type=Path, help="Kokoro's .onnx file")
    parser.add_argument("--voices", type=Path, help="the folder of Kokoro's voices, .bin files")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--processes", type=int, default=multiprocessing.cpu_count())
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so long")
    options = parser.parse_args()
    if options.phonemes:
        add_phonemes(options.rows, options.phonemes)
        return
    options.out.mkdir(parents=True, exist_ok=True)
    workers = [multiprocessing.Process(target=_work, args=(at, options)) for at in range(options.processes)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


if __name__ == "__main__":
    main()

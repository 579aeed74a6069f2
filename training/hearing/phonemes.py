"""Adds what Piper reads, phonemes as numbers, to rows of sentences: `python -m training.hearing.phonemes`.

It goes before `training.hearing.voices`, which then needs no more than onnxruntime for Piper's voice.
"""

from __future__ import annotations

import argparse
import itertools
import json
from pathlib import Path

# Three rows of ten.
_PIPERS = (0, 3, 7)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.hearing.phonemes", description=__doc__)
    parser.add_argument("--voice", type=Path, required=True, help="a voice of Piper's: its .onnx file")
    parser.add_argument("--rows", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    # Not at the top of the file: piper is GPL, and nothing else here should come near it.
    from piper import PiperVoice

    voice = PiperVoice.load(options.voice)
    with options.rows.open(encoding="utf-8") as rows, options.out.open("w", encoding="utf-8") as out:
        for number, line in enumerate(rows):
            row = json.loads(line)
            if number % 10 in _PIPERS:
                said = itertools.chain.from_iterable(voice.phonemize(row["say"]))
                row["phonemes"] = voice.phonemes_to_ids(list(said))
            out.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()

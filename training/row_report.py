"""What the generator's scenes look like in rows, and how fast they come: `python -m training.row_report`.

Run it before a training: a scene that cannot be written stops a training, and here it costs nothing.
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections import Counter
from pathlib import Path

from training.packing import Row, rows
from training.tokens import Tokens
from training.workers import load_generator


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.row_report", description=__doc__)
    parser.add_argument("--base", type=Path, required=True, help="the GGUF whose vocabulary it is")
    parser.add_argument("--scenes", default="training.scenes:scenes", help="module:function of the examples")
    parser.add_argument("--rows", type=int, default=100)
    parser.add_argument("--row-tokens", type=int, default=2048)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    tokens = Tokens.from_gguf(arguments.base)
    scenes = load_generator(arguments.scenes)(arguments.seed)
    begun_s = time.monotonic()
    made = list(itertools.islice(rows(scenes, tokens, arguments.row_tokens), arguments.rows))
    _print(made, arguments.row_tokens, time.monotonic() - begun_s)


def _print(made: list[Row], row_tokens: int, took_s: float) -> None:
    used: Counter[str] = sum((row.used for row in made), Counter())
    left_out: Counter[str] = sum((row.left_out for row in made), Counter())
    learnt, filled = (sum(getattr(row, name) for row in made) for name in ("learnt_tokens", "filled_tokens"))
    print(f"{len(made)} rows in {took_s:.1f} s: {used.total() / took_s:.0f} examples a second in one process")
    print(f"{used.total() / len(made):.1f} examples a row, {left_out.total()} left out")
    print(f"rows are {filled / len(made) / row_tokens:.0%} full, {learnt / filled:.0%} of that is learnt")
    for category in sorted(used | left_out):
        print(f"  {category:32} {used[category]:6d}   left out {left_out[category]:5d}")


if __name__ == "__main__":
    main()

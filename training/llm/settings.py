"""Settings of a training run and its command line."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

NumberType: TypeAlias = Literal["f16", "q8_0"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """`seconds` is for the whole command, loading included; without it there are `steps`.

    `start` is an adapter to train further, in place of a new one of `rank`. `scenes` names the generator,
    `module:function`. Without `attention`, a GPU takes flex, a CPU dense.
    """

    base: Path
    out: Path
    seconds: float | None
    steps: int | None
    rank: int
    start: Path | None
    seed: int
    rate: float
    rows: int
    row_tokens: int
    scenes: str
    processes: int
    attention: Literal["flex", "dense"] | None
    number_type: NumberType


def read_settings(arguments: Sequence[str] | None = None, *, description: str | None) -> Settings:
    """The settings of a command line: the program's own where none is given."""
    parser = argparse.ArgumentParser(prog="python -m training.llm.train", description=description)
    parser.add_argument("--base", type=Path, required=True, help="the GGUF that is deployed")
    parser.add_argument("--out", type=Path, required=True, help="a folder for the results")
    length = parser.add_mutually_exclusive_group(required=True)
    length.add_argument("--seconds", type=float, help="how long the whole command may take")
    length.add_argument("--steps", type=int)
    parser.add_argument("--rank", type=int, default=16)
    parser.add_argument("--start", type=Path, metavar="ADAPTER", help="train this adapter further (keeps its ranks)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=1.2e-3, help="the peak learning rate (%(default)s)")
    parser.add_argument("--rows", type=int, default=32, help="rows a step (%(default)s)")
    parser.add_argument("--row-tokens", type=int, default=2048)
    parser.add_argument("--scenes", default="training.scenes:scenes", help="module:function of the examples")
    parser.add_argument("--processes", type=int, default=max(1, (os.cpu_count() or 2) - 1))
    parser.add_argument("--attention", choices=("flex", "dense"))
    parser.add_argument("--number-type", choices=("f16", "q8_0"), default="f16", help="of the adapter's file")
    return Settings(**vars(parser.parse_args(arguments)))

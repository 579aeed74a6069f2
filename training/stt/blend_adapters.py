"""Blends adapters into the one that ships: `python -m training.stt.blend_adapters --help`.

Adds shares of several training runs: weights between the old and the new ones make fewer mistakes than the
new ones, and several runs together fewer than any of them. The file also holds the decoding options that
were used in training.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from edgevox.stt.decoding import DecodeOptions
from edgevox.stt.whisper_adapter import Factors, read_adapter, write_adapter

TRAINED_OPTIONS = DecodeOptions(
    margin_s=0.3, least_s=2.0, tail_s=0.0, least_seen_s=0.0, timestamps=False, name_tokens=64
)

_Numbers: TypeAlias = NDArray[np.floating]


def blend(parts: Sequence[tuple[float, Factors]], rank: int) -> dict[str, tuple[_Numbers, _Numbers]]:
    """The sum of the parts' changes, each of them `strength · B·A`, cut to a rank: A and B of each weight."""
    return {name: _cut([(strength, *factors[name]) for strength, factors in parts], rank) for name in parts[0][1]}


def _cut(changes: Sequence[tuple[float, _Numbers, _Numbers]], rank: int) -> tuple[_Numbers, _Numbers]:
    a = np.concatenate([each for _, each, _ in changes])
    b = np.concatenate([each * strength for strength, _, each in changes], axis=1)
    if len(a) <= rank:
        return a, b
    left, left_r = np.linalg.qr(b)
    right, right_r = np.linalg.qr(a.T)
    inner_left, sizes, inner_right = np.linalg.svd(left_r @ right_r.T)
    # The root of each on either side: f16 has the most room in the middle.
    roots = np.sqrt(sizes[:rank])
    return (roots[:, None] * inner_right[:rank]) @ right.T, (left @ inner_left[:, :rank]) * roots


def _part(text: str) -> tuple[Path, float]:
    name, _, share = text.rpartition(":")
    return Path(name), float(share)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.stt.blend_adapters", description=__doc__)
    parser.add_argument("--rank", type=int, default=64)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("parts", type=_part, nargs="+", metavar="ADAPTER:SHARE")
    options = parser.parse_args()
    read = [(*read_adapter(path), share) for path, share in options.parts]
    parts = [(alpha / len(next(iter(each.values()))[0]) * share, each) for alpha, each, share in read]
    factors = blend(parts, options.rank)
    write_adapter(options.out, factors, alpha=max(len(a) for a, _ in factors.values()), decode_options=TRAINED_OPTIONS)


if __name__ == "__main__":
    main()

"""The mean of several adapters: one that is steadier than each, and as true as its size allows.

`python -m training.average --out ADAPTER.gguf FIRST.gguf SECOND.gguf …`. Trainings from other seeds make
other mistakes; the mean of what they add to the weights makes fewer. It has the ranks of all, which is
much. Each weight keeps its 32 strongest directions, and 32 more wherever a byte keeps most, until
`--most-bytes` are full: `lost` says how much of the mean that leaves out.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np
from gguf import GGUFReader

from edgevox.errors import ModelError
from training.export import ALPHA, Q8_0_BLOCK, Numbers, factor_bytes, write_factors
from training.settings import NumberType

# Ranks that fill the blocks of q8_0: a rank between would be stored in twice the bytes.
_STEP = Q8_0_BLOCK
# The names of an adapter's tensors and what else its file says.
_HEADER_BYTES = 50_000


@dataclass(frozen=True, slots=True)
class Factors:
    """What an adapter adds to one weight, as B·A."""

    a: Numbers
    b: Numbers


def read_factors(path: Path) -> dict[str, Factors]:
    """The factors by the weight's name, the adapter's scale in them. Raises ModelError."""
    reader = GGUFReader(path)
    if ALPHA not in reader.fields:
        raise ModelError(f"{path} is no adapter", hint="training.train writes such files")
    alpha = float(reader.fields[ALPHA].contents())
    numbers = {
        tensor.name: np.array(gguf.dequantize(tensor.data, tensor.tensor_type), np.float32)
        for tensor in reader.tensors
    }
    weights = [name.removesuffix(".lora_a") for name in numbers if name.endswith(".lora_a")]
    return {
        weight: Factors(
            numbers[f"{weight}.lora_a"],
            numbers[f"{weight}.lora_b"] * np.float32(alpha / len(numbers[f"{weight}.lora_a"])),
        )
        for weight in weights
    }


@dataclass(frozen=True, slots=True)
class _Whole:
    """The mean of one weight before anything is cut: its directions, the strongest first."""

    a: Numbers
    b: Numbers
    strengths: Numbers

    def cut(self, rank: int) -> Factors:
        kept = np.sqrt(self.strengths[:rank])
        return Factors(kept[:, None] * self.a[:rank], self.b[:, :rank] * kept)

    def share(self, begin: int, end: int | None = None) -> float:
        """How much of the mean lies in those directions."""
        total = float(np.square(self.strengths).sum())
        return float(np.square(self.strengths[begin:end]).sum()) / total if total else 0.0

    def size_bytes(self, rank: int, number_type: NumberType) -> int:
        return factor_bytes((rank, self.a.shape[1]), number_type) + factor_bytes(
            (len(self.b), rank), number_type
        )


def mean_of(
    adapters: Sequence[Mapping[str, Factors]], most_bytes: int, number_type: NumberType = "q8_0"
) -> tuple[dict[str, Factors], float]:
    """The mean, cut to so many bytes of numbers, and the share of it that was lost. Raises ModelError."""
    first = adapters[0]
    if any(adapter.keys() != first.keys() for adapter in adapters):
        raise ModelError("these adapters are for different models", hint="take trainings of one base")
    wholes = {weight: _whole([adapter[weight] for adapter in adapters]) for weight in first}
    ranks = _ranks(wholes, most_bytes, number_type)
    lost = float(np.mean([whole.share(ranks[weight]) for weight, whole in wholes.items()]))
    return {weight: whole.cut(ranks[weight]) for weight, whole in wholes.items()}, lost


def _whole(all_factors: Sequence[Factors]) -> _Whole:
    a = np.concatenate([factors.a for factors in all_factors])
    b = np.concatenate([factors.b for factors in all_factors], axis=1) / len(all_factors)
    # The product is as large as the weight itself; its directions are found in the small middle.
    left, upper = np.linalg.qr(b)
    right, lower = np.linalg.qr(a.T)
    u, strengths, v = np.linalg.svd(upper @ lower.T)
    most = len(strengths)
    return _Whole(v[:most] @ right.T, left @ u[:, :most], strengths)


def _ranks(wholes: Mapping[str, _Whole], most_bytes: int, number_type: NumberType) -> dict[str, int]:
    ranks = {weight: min(_STEP, len(whole.strengths)) for weight, whole in wholes.items()}
    left_bytes = most_bytes - sum(
        whole.size_bytes(ranks[weight], number_type) for weight, whole in wholes.items()
    )
    if left_bytes < 0:
        raise ModelError(
            f"the mean does not fit into {most_bytes:,} bytes", hint="give it more with --most-bytes"
        )
    step_bytes = {weight: whole.size_bytes(_STEP, number_type) for weight, whole in wholes.items()}
    # The directions of a weight grow weaker, so its steps come in their order.
    steps = sorted(
        (
            (whole.share(rank, rank + _STEP) / step_bytes[weight], weight)
            for weight, whole in wholes.items()
            for rank in range(_STEP, len(whole.strengths) - _STEP + 1, _STEP)
        ),
        reverse=True,
    )
    for _, weight in steps:
        if step_bytes[weight] <= left_bytes:
            left_bytes -= step_bytes[weight]
            ranks[weight] += _STEP
    return ranks


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m training.average", description=__doc__)
    parser.add_argument("adapters", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--most-bytes", type=int, default=20_000_000, help="of the file (%(default)s)")
    parser.add_argument("--number-type", choices=("f16", "q8_0"), default="q8_0")
    args = parser.parse_args(arguments)
    adapters = [read_factors(path) for path in args.adapters]
    means, lost = mean_of(adapters, args.most_bytes - _HEADER_BYTES, args.number_type)
    # A reader divides alpha by the rank of each weight; the scale stands in the factors already.
    write_factors(
        args.out,
        {weight: (mean.a, mean.b * np.float32(len(mean.a) / _STEP)) for weight, mean in means.items()},
        alpha=float(_STEP),
        name=args.out.stem,
        number_type=args.number_type,
    )
    print(f"{args.out}: {args.out.stat().st_size:,} bytes; lost {lost:.1%} of the mean")


if __name__ == "__main__":
    main()

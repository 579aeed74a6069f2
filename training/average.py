"""The mean of several adapters: one that is steadier than each, and as small.

`python -m training.average --out ADAPTER.gguf --rank 32 FIRST.gguf SECOND.gguf …`. Trainings from other seeds
make other mistakes; the mean of what they add to the weights makes fewer. It has the ranks of all of them
together, and is cut to the strongest directions: `lost` says how much of it that leaves out.
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
from training.export import ALPHA, Numbers, write_factors


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


def mean_of(adapters: Sequence[Mapping[str, Factors]], rank: int) -> tuple[dict[str, Factors], float]:
    """The mean, cut to `rank`, and the share of it that was lost. Raises ModelError for unlike adapters."""
    first = adapters[0]
    if any(adapter.keys() != first.keys() for adapter in adapters):
        raise ModelError("these adapters are for different models", hint="take trainings of one base")
    means: dict[str, Factors] = {}
    lost = []
    for weight in first:
        mean, left_out = _mean([adapter[weight] for adapter in adapters], rank)
        means[weight] = mean
        lost.append(left_out)
    return means, float(np.mean(lost))


def _mean(all_factors: Sequence[Factors], rank: int) -> tuple[Factors, float]:
    a = np.concatenate([factors.a for factors in all_factors])
    b = np.concatenate([factors.b for factors in all_factors], axis=1) / len(all_factors)
    # The product is as large as the weight itself; its directions are found in the small middle.
    left, upper = np.linalg.qr(b)
    right, lower = np.linalg.qr(a.T)
    u, strengths, v = np.linalg.svd(upper @ lower.T)
    kept = np.sqrt(strengths[:rank])
    total = float(np.square(strengths).sum())
    left_out = float(np.square(strengths[rank:]).sum()) / total if total else 0.0
    return Factors((kept[:, None] * v[:rank]) @ right.T, (left @ u[:, :rank]) * kept), left_out


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m training.average", description=__doc__)
    parser.add_argument("adapters", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rank", type=int, default=32)
    parser.add_argument("--number-type", choices=("f16", "q8_0"), default="q8_0")
    args = parser.parse_args(arguments)
    means, lost = mean_of([read_factors(path) for path in args.adapters], args.rank)
    # The scale stands in the factors already: alpha is the rank.
    write_factors(
        args.out,
        {weight: (mean.a, mean.b) for weight, mean in means.items()},
        alpha=float(args.rank),
        name=args.out.stem,
        number_type=args.number_type,
    )
    print(f"{args.out}: {args.out.stat().st_size:,} bytes; lost {lost:.1%} of the mean")


if __name__ == "__main__":
    main()

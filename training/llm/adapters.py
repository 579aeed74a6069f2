"""LoRA layers, adapter files in llama.cpp's GGUF layout, and the mean of several adapters.

`python -m training.llm.adapters --out ADAPTER.gguf FIRST.gguf SECOND.gguf …` averages adapters that were
trained from different seeds. The mean has the ranks of all of them; each weight keeps its 32 strongest
directions, and 32 more wherever a byte preserves most, until `--most-bytes` is reached. `lost` is the share
of the mean that was cut.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as Type
from gguf import GGUFReader, GGUFWriter
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from edgevox.core.errors import ModelError
from training.llm.llama import Linear, Llama
from training.llm.settings import NumberType

MAPS = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
"""The linear maps of a block, by GGUF's names."""


class AdaptedLinear(nn.Module):
    """A frozen map and what is learnt: W·x + (alpha / rank) · B·A·x. A and B are kept in float32."""

    def __init__(self, base: Linear, rank: int, alpha: float) -> None:
        super().__init__()
        self.base = base
        rows, columns = base.weight.shape
        device = base.weight.device
        self.a = nn.Parameter(torch.empty(rank, columns, device=device))
        self.b = nn.Parameter(torch.zeros(rows, rank, device=device))
        self.scale = alpha / rank
        nn.init.kaiming_uniform_(self.a, a=math.sqrt(5))

    def take(self, a: Tensor, b: Tensor, alpha: float) -> None:
        """Put other factors in the place of these, of whatever rank."""
        device = self.base.weight.device
        self.a, self.b = nn.Parameter(a.to(device)), nn.Parameter(b.to(device))
        self.scale = alpha / len(a)

    def forward(self, x: Tensor) -> Tensor:
        inner = functional.linear(x, self.a.to(x.dtype))
        added = functional.linear(inner, (self.scale * self.b).to(x.dtype))
        said: Tensor = self.base(x) + added
        return said


def add_lora(model: Llama, rank: int, alpha: float) -> dict[str, AdaptedLinear]:
    """Put an adapter on every linear map, by GGUF's name of its weight; it changes nothing yet."""
    adapted: dict[str, AdaptedLinear] = {}
    for number, block in enumerate(model.blocks):
        for name in MAPS:
            linear = AdaptedLinear(getattr(block, name), rank, alpha)
            setattr(block, name, linear)
            adapted[f"blk.{number}.{name}.weight"] = linear
    return adapted


Numbers: TypeAlias = NDArray[np.float32]

Q8_0_BLOCK = 32
STRENGTH = 2.0
"""alpha / rank while training."""
# Ranks that fill the blocks of q8_0: a rank between would be stored in twice the bytes.
_STEP = Q8_0_BLOCK
ALPHA = "adapter.lora.alpha"


@dataclass(frozen=True, slots=True)
class Factors:
    """What an adapter adds to one weight, as B·A."""

    a: Numbers
    b: Numbers


def write_adapter(
    path: Path, adapted: Mapping[str, AdaptedLinear], *, name: str, number_type: NumberType = "f16"
) -> None:
    """Write what was learnt."""
    factors = {
        weight: Factors(_numbers(linear.a), linear.scale * _numbers(linear.b)) for weight, linear in adapted.items()
    }
    write_factors(path, factors, name=name, number_type=number_type)


def write_factors(path: Path, factors: Mapping[str, Factors], *, name: str, number_type: NumberType = "f16") -> None:
    """Write A and B of every weight. With `q8_0`, those whose rows do not fill its blocks of 32 stay f16."""
    writer = GGUFWriter(str(path), "llama")
    writer.add_type("adapter")
    writer.add_name(name)
    writer.add_string("adapter.type", "lora")
    # A reader divides alpha by the rank of each weight; the scale stands in the factors already.
    writer.add_float32(ALPHA, float(_STEP))
    for weight, one in factors.items():
        for end, factor in (("lora_a", one.a), ("lora_b", one.b * np.float32(len(one.a) / _STEP))):
            _add(writer, f"{weight}.{end}", factor, number_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def read_adapter(path: Path, model: Llama) -> dict[str, AdaptedLinear]:
    """Put the adapter of that file on the model. Raises ModelError when it is not for all of its maps."""
    reader = GGUFReader(path)
    factors = {
        tensor.name: torch.from_numpy(np.array(gguf.dequantize(tensor.data, tensor.tensor_type)))
        for tensor in reader.tensors
    }
    if ALPHA not in reader.fields:
        raise ModelError(f"{path} is no adapter", hint="training.llm.train writes such files")
    alpha = float(reader.fields[ALPHA].contents())
    adapted = add_lora(model, 1, alpha)
    wanted = {f"{weight}.{end}" for weight in adapted for end in ("lora_a", "lora_b")}
    if wanted != factors.keys():
        raise ModelError(f"{path} is for another model", hint="give the GGUF that it was trained on as --base")
    for weight, linear in adapted.items():
        linear.take(factors[f"{weight}.lora_a"], factors[f"{weight}.lora_b"], alpha)
    return adapted


def start_from(path: Path, model: Llama) -> dict[str, AdaptedLinear]:
    """Put the adapter of that file on the model to train it further, scaled as a new one. Raises ModelError.

    All ranks become that of the largest, so that the blocks share one compilation. New directions have no effect yet.
    """
    adapted = read_adapter(path, model)
    rank = max(len(linear.a) for linear in adapted.values())
    for linear in adapted.values():
        scale = math.sqrt(linear.scale / STRENGTH)
        fresh = AdaptedLinear(linear.base, rank, STRENGTH * rank)
        a, b = fresh.a.data, fresh.b.data
        a[: len(linear.a)] = scale * linear.a.data
        b[:, : len(linear.a)] = scale * linear.b.data
        linear.take(a, b, STRENGTH * rank)
    return adapted


def _numbers(factor: Tensor) -> Numbers:
    return np.asarray(factor.detach().float().cpu().numpy())


def factor_bytes(shape: tuple[int, int], number_type: NumberType) -> int:
    """How big a factor of that shape is in the file."""
    kind = _type(shape, number_type)
    block, block_bytes = gguf.GGML_QUANT_SIZES[kind]
    return shape[0] * shape[1] // block * block_bytes


def _type(shape: tuple[int, ...], number_type: NumberType) -> Type:
    return Type.Q8_0 if number_type == "q8_0" and shape[1] % Q8_0_BLOCK == 0 else Type.F16


def _add(writer: GGUFWriter, name: str, factor: Numbers, number_type: NumberType) -> None:
    numbers = np.ascontiguousarray(factor, np.float32)
    kind = _type(numbers.shape, number_type)
    writer.add_tensor(name, gguf.quantize(numbers, kind), raw_dtype=kind)


# The names of an adapter's tensors and what else its file says.
_HEADER_BYTES = 50_000


def read_factors(path: Path) -> dict[str, Factors]:
    """The factors by the weight's name, the adapter's scale in them. Raises ModelError."""
    reader = GGUFReader(path)
    if ALPHA not in reader.fields:
        raise ModelError(f"{path} is no adapter", hint="training.llm.train writes such files")
    alpha = float(reader.fields[ALPHA].contents())
    numbers = {
        tensor.name: np.array(gguf.dequantize(tensor.data, tensor.tensor_type), np.float32) for tensor in reader.tensors
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
        return factor_bytes((rank, self.a.shape[1]), number_type) + factor_bytes((len(self.b), rank), number_type)


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
    left_bytes = most_bytes - sum(whole.size_bytes(ranks[weight], number_type) for weight, whole in wholes.items())
    if left_bytes < 0:
        raise ModelError(f"the mean does not fit into {most_bytes:,} bytes", hint="give it more with --most-bytes")
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
    parser = argparse.ArgumentParser(prog="python -m training.llm.adapters", description=__doc__)
    parser.add_argument("adapters", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--most-bytes", type=int, default=20_000_000, help="of the file (%(default)s)")
    parser.add_argument("--number-type", choices=("f16", "q8_0"), default="q8_0")
    args = parser.parse_args(arguments)
    adapters = [read_factors(path) for path in args.adapters]
    means, lost = mean_of(adapters, args.most_bytes - _HEADER_BYTES, args.number_type)
    write_factors(args.out, means, name=args.out.stem, number_type=args.number_type)
    print(f"{args.out}: {args.out.stat().st_size:,} bytes; lost {lost:.1%} of the mean")


if __name__ == "__main__":
    main()

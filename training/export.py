"""Adapters as GGUF files, in the layout that llama.cpp reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as Type
from gguf import GGUFReader, GGUFWriter
from numpy.typing import NDArray
from torch import Tensor

from edgevox.errors import ModelError
from training.llama import Llama
from training.lora import AdaptedLinear, add_lora
from training.settings import NumberType

Numbers: TypeAlias = NDArray[np.float32]

Q8_0_BLOCK = 32
ALPHA = "adapter.lora.alpha"


def write_adapter(
    path: Path,
    adapted: Mapping[str, AdaptedLinear],
    *,
    alpha: float,
    name: str,
    number_type: NumberType = "f16",
) -> None:
    """Write what was learnt."""
    factors = {weight: (_numbers(linear.a), _numbers(linear.b)) for weight, linear in adapted.items()}
    write_factors(path, factors, alpha=alpha, name=name, number_type=number_type)


def write_factors(
    path: Path,
    factors: Mapping[str, tuple[Numbers, Numbers]],
    *,
    alpha: float,
    name: str,
    number_type: NumberType = "f16",
) -> None:
    """Write A and B of every weight. With `q8_0`, those whose rows do not fill its blocks of 32 stay f16."""
    writer = GGUFWriter(str(path), "llama")
    writer.add_type("adapter")
    writer.add_name(name)
    writer.add_string("adapter.type", "lora")
    writer.add_float32(ALPHA, alpha)
    for weight, (a, b) in factors.items():
        for end, factor in (("lora_a", a), ("lora_b", b)):
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
        raise ModelError(f"{path} is no adapter", hint="training.train writes such files")
    alpha = float(reader.fields[ALPHA].contents())
    adapted = add_lora(model, 1, alpha)
    wanted = {f"{weight}.{end}" for weight in adapted for end in ("lora_a", "lora_b")}
    if wanted != factors.keys():
        raise ModelError(
            f"{path} is for another model", hint="give the GGUF that it was trained on as --base"
        )
    for weight, linear in adapted.items():
        linear.take(factors[f"{weight}.lora_a"], factors[f"{weight}.lora_b"], alpha)
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

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

_Q8_0_BLOCK = 32
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
    ranks = {factor.shape[0] for name, factor in factors.items() if name.endswith("lora_a")}
    if ALPHA not in reader.fields or len(ranks) != 1:
        raise ModelError(f"{path} is not an adapter of one rank", hint="training.train writes such files")
    adapted = add_lora(model, ranks.pop(), reader.fields[ALPHA].contents())
    wanted = {f"{weight}.{end}" for weight in adapted for end in ("lora_a", "lora_b")}
    if wanted != factors.keys():
        raise ModelError(
            f"{path} is for another model", hint="give the GGUF that it was trained on as --base"
        )
    with torch.no_grad():
        for weight, linear in adapted.items():
            linear.a.copy_(factors[f"{weight}.lora_a"])
            linear.b.copy_(factors[f"{weight}.lora_b"])
    return adapted


def _numbers(factor: Tensor) -> Numbers:
    return np.asarray(factor.detach().float().cpu().numpy())


def _add(writer: GGUFWriter, name: str, factor: Numbers, number_type: NumberType) -> None:
    numbers = np.ascontiguousarray(factor, np.float32)
    if number_type == "q8_0" and numbers.shape[1] % _Q8_0_BLOCK == 0:
        writer.add_tensor(name, gguf.quantize(numbers, Type.Q8_0), raw_dtype=Type.Q8_0)
    else:
        writer.add_tensor(name, numbers.astype(np.float16))

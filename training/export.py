"""Adapters as GGUF files, in the layout that llama.cpp reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import gguf
import numpy as np
import torch
from gguf import GGMLQuantizationType as Type
from gguf import GGUFReader, GGUFWriter
from torch import Tensor

from edgevox.errors import ModelError
from training.llama import Llama
from training.lora import AdaptedLinear, add_lora
from training.settings import NumberType

_Q8_0_BLOCK = 32
_ALPHA = "adapter.lora.alpha"


def write_adapter(
    path: Path,
    adapted: Mapping[str, AdaptedLinear],
    *,
    alpha: float,
    name: str,
    number_type: NumberType = "f16",
) -> None:
    """Write what was learnt. With `q8_0`, factors whose rows do not fill its blocks of 32 stay f16."""
    writer = GGUFWriter(str(path), "llama")
    writer.add_type("adapter")
    writer.add_name(name)
    writer.add_string("adapter.type", "lora")
    writer.add_float32(_ALPHA, alpha)
    for weight, linear in adapted.items():
        for end, factor in (("lora_a", linear.a), ("lora_b", linear.b)):
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
    if _ALPHA not in reader.fields or len(ranks) != 1:
        raise ModelError(f"{path} is not an adapter of one rank", hint="training.train writes such files")
    adapted = add_lora(model, ranks.pop(), reader.fields[_ALPHA].contents())
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


def _add(writer: GGUFWriter, name: str, factor: Tensor, number_type: NumberType) -> None:
    numbers = factor.detach().float().cpu().numpy()
    if number_type == "q8_0" and numbers.shape[1] % _Q8_0_BLOCK == 0:
        writer.add_tensor(name, gguf.quantize(numbers, Type.Q8_0), raw_dtype=Type.Q8_0)
    else:
        writer.add_tensor(name, numbers.astype(np.float16))

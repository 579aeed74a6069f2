"""Merges a LoRA adapter into the model it was trained on.

A merged weight is W + scale · (alpha / rank) · B·A. Everything else is copied byte for byte; changed weights are
written as F16 and can be requantised afterwards.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import BinaryIO, TypeAlias

import numpy as np
from gguf.constants import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import dequantize
from numpy.typing import NDArray

from edgevox.core.errors import ModelError
from edgevox.models.gguf_file import GgufHeader, TensorInfo, read_header

_A, _B = ".lora_a", ".lora_b"
_EMBEDDING, _OUTPUT = "token_embd.weight", "output.weight"
_ALORA_KEY = b"adapter.alora.invocation_tokens"
_HINT = "an adapter fits only the model it was trained on"

_Factors: TypeAlias = tuple[TensorInfo, TensorInfo]
"""A and B of one weight."""


def merge(base: Path, adapter: Path, target: Path, *, scale: float = 1.0) -> None:
    """Write `base` with the adapter merged into it to `target`. Raises ModelError and OSError."""
    changes = check_adapter(base, adapter)
    try:
        with target.open("wb") as file:
            _write(file, _Tensors(base), _Tensors(adapter), changes, scale)
    except BaseException:
        target.unlink(missing_ok=True)
        raise


class _Tensors:
    """A GGUF file whose tensors are read from disk one by one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.header = read_header(path)
        self._content = np.memmap(path, np.uint8, mode="r")

    def raw(self, tensor: TensorInfo) -> NDArray[np.uint8]:
        """Return the bytes of a tensor. Raises ModelError if the file is truncated."""
        begin = self.header.data_at + tensor.offset
        size_bytes = _size_bytes(self._path, tensor)
        found = self._content[begin : begin + size_bytes]
        if len(found) != size_bytes:
            raise ModelError(f"{self._path} is truncated in {tensor.name}", hint="pull it again")
        return found

    def values(self, tensor: TensorInfo) -> NDArray[np.float32]:
        """Return the values of a tensor. Raises ModelError for an unsupported type."""
        kind = GGMLQuantizationType(tensor.type)
        try:
            flat = dequantize(self.raw(tensor), kind)
        except NotImplementedError as error:
            raise ModelError(
                f"weights of type {kind.name} cannot be merged", hint="use another quantisation of the model"
            ) from error
        return flat.astype(np.float32, copy=False).reshape(tensor.shape)


def check_adapter(base: Path, adapter: Path) -> dict[str, _Factors]:
    """Return the factors by weight name. Raises ModelError unless `adapter` is a LoRA adapter for this model."""
    model, lora = read_header(base), read_header(adapter)
    if (lora.text("general.type"), lora.text("adapter.type")) != ("adapter", "lora"):
        raise ModelError(f"{adapter} is not a LoRA adapter", hint="it must be a GGUF file of type adapter, lora")
    if _ALORA_KEY in lora.raw_metadata:
        raise ModelError(f"{adapter} is an activated LoRA and cannot be merged", hint="use it at run time")
    ours, theirs = model.text("general.architecture"), lora.text("general.architecture")
    if ours != theirs:
        raise ModelError(f"{adapter} is for the architecture {theirs}, {base.name} is {ours}", hint=_HINT)
    weights = {tensor.name: tensor for tensor in model.tensors}
    changes = _pairs(adapter, lora)
    for name, (a, b) in changes.items():
        if name not in weights:
            raise ModelError(f"{adapter} changes {name}, which {base.name} does not have", hint=_HINT)
        if name == _EMBEDDING and _OUTPUT not in weights:
            raise ModelError(
                f"{adapter} changes the embeddings, which {base.name} also uses for its output",
                hint="such an adapter cannot be merged",
            )
        if _changed_shape(name, a.shape, b.shape) != weights[name].shape:
            raise ModelError(
                f"{adapter} has {name} with the shapes {b.shape} and {a.shape}, "
                f"which does not fit {weights[name].shape} of {base.name}",
                hint=_HINT,
            )
    return changes


def _pairs(adapter: Path, lora: GgufHeader) -> dict[str, _Factors]:
    found = {tensor.name: tensor for tensor in lora.tensors}
    names = {name.removesuffix(_A).removesuffix(_B) for name in found}
    lone = [name for name in found if not name.endswith((_A, _B))]
    lone += [name + end for name in names for end in (_A, _B) if name + end not in found]
    if lone or not names:
        raise ModelError(
            f"{adapter} is not a complete LoRA adapter: {lone[0] if lone else 'it has no tensors'}",
            hint="every weight needs a .lora_a and a .lora_b, and nothing else is allowed",
        )
    return {name: (found[name + _A], found[name + _B]) for name in names}


def _changed_shape(name: str, a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    if name == _EMBEDDING:  # stored the other way round: llama.cpp looks up rows of A
        return (a[0], b[0]) if len(a) == len(b) == 2 and a[1] == b[1] else None
    if len(a) != len(b) or len(a) < 2 or a[:-2] != b[:-2] or a[-2] != b[-1]:
        return None
    return (*b[:-1], a[-1])


def _write(file: BinaryIO, weights: _Tensors, factors: _Tensors, changes: dict[str, _Factors], scale: float) -> None:
    header = weights.header
    written: list[TensorInfo] = []
    offset = 0
    for tensor in header.tensors:
        kind = GGMLQuantizationType.F16 if tensor.name in changes else tensor.type
        written.append(TensorInfo(tensor.name, tensor.shape, int(kind), offset))
        size_bytes = _size_bytes(Path(file.name), written[-1])
        offset += size_bytes + -size_bytes % header.alignment
    file.write(b"GGUF" + struct.pack("<IQQ", header.version, len(written), header.metadata_count))
    file.write(header.raw_metadata)
    for tensor in written:
        file.write(_described(tensor))
    _pad(file, header.alignment)
    for tensor in header.tensors:
        change = changes.get(tensor.name)
        file.write(_merged(tensor, weights, factors, change, scale) if change else weights.raw(tensor).data)
        _pad(file, header.alignment)


def _merged(tensor: TensorInfo, weights: _Tensors, factors: _Tensors, change: _Factors, scale: float) -> bytes:
    a, b = map(factors.values, change)
    alpha = float(factors.header.metadata.get("adapter.lora.alpha", 0.0))
    # llama.cpp takes an alpha of 0 for "not given".
    strength = scale * alpha / b.shape[-1] if alpha else scale
    added = a @ b.T if tensor.name == _EMBEDDING else b @ a
    return (weights.values(tensor) + np.float32(strength) * added).astype(np.float16).tobytes()


def _described(tensor: TensorInfo) -> bytes:
    name = tensor.name.encode()
    dimensions = tuple(reversed(tensor.shape))
    return (
        struct.pack("<Q", len(name))
        + name
        + struct.pack(f"<I{len(dimensions)}Q", len(dimensions), *dimensions)
        + struct.pack("<IQ", tensor.type, tensor.offset)
    )


def _pad(file: BinaryIO, alignment: int) -> None:
    file.write(bytes(-file.tell() % alignment))


def _size_bytes(path: Path, tensor: TensorInfo) -> int:
    try:
        block_elements, block_bytes = GGML_QUANT_SIZES[GGMLQuantizationType(tensor.type)]
    except ValueError as error:
        raise ModelError(f"{path} has weights of an unknown type", hint="update EdgeVox") from error
    return tensor.elements // block_elements * block_bytes

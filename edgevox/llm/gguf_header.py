"""The head of a GGUF file: what it says about itself and which tensors it holds, read in milliseconds.

The `gguf` package's reader makes an array of every word of the vocabulary, which takes seconds.
"""

from __future__ import annotations

import math
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from edgevox.errors import ModelError, ModelMissing

Scalar: TypeAlias = int | float | bool | str

_MAGIC: Final = b"GGUF"
_VERSIONS = (2, 3)
_DEFAULT_ALIGNMENT = 32
_STRING, _ARRAY = 8, 9
# What the format calls the types of values, as `struct` spells them.
_SCALARS = dict(enumerate(("<B", "<b", "<H", "<h", "<I", "<i", "<f", "<?"))) | {10: "<Q", 11: "<q", 12: "<d"}


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """One tensor: `shape` as numpy has it (rows first), `type` ggml's number, `offset` within the data."""

    name: str
    shape: tuple[int, ...]
    type: int
    offset: int

    @property
    def elements(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """`metadata` holds single values only, `raw_metadata` everything, byte for byte."""

    version: int
    metadata: dict[str, Scalar]
    metadata_count: int
    raw_metadata: bytes
    tensors: tuple[TensorInfo, ...]
    alignment: int
    data_at: int

    def text(self, key: str) -> str:
        """A value that is text; empty where there is none."""
        value = self.metadata.get(key)
        return value if isinstance(value, str) else ""


def read_header(path: Path) -> GgufHeader:
    """Raises ModelMissing, or ModelError when the file is not GGUF or ends too early."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return _Reader(content).header()
    except FileNotFoundError as error:
        raise ModelMissing(
            f"there is no file {path}", hint="edgevox models list shows what is here"
        ) from error
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}", hint="check its permissions") from error
    except (struct.error, KeyError, ValueError) as error:  # mmap of an empty file is a ValueError too
        raise ModelError(
            f"{path} is not a whole GGUF file", hint="choose another file, or pull it again"
        ) from error


class _Reader:
    def __init__(self, content: mmap.mmap) -> None:
        self._content = content
        self._at = 0

    def header(self) -> GgufHeader:
        if self._content[:4] != _MAGIC:
            raise ValueError("magic")
        self._at = 4
        version = self._number("<I")
        if version not in _VERSIONS:
            raise ValueError("version")
        tensor_count, metadata_count = self._number("<Q"), self._number("<Q")
        begin = self._at
        metadata: dict[str, Scalar] = {}
        for _ in range(metadata_count):
            key = self._string()
            value = self._value(self._number("<I"))
            if value is not None:
                metadata[key] = value
        raw_metadata = self._content[begin : self._at]
        tensors = tuple(self._tensor() for _ in range(tensor_count))
        alignment = int(metadata.get("general.alignment", _DEFAULT_ALIGNMENT))
        data_at = -(-self._at // alignment) * alignment
        return GgufHeader(version, metadata, metadata_count, raw_metadata, tensors, alignment, data_at)

    def _tensor(self) -> TensorInfo:
        name = self._string()
        dimensions = [self._number("<Q") for _ in range(self._number("<I"))]
        return TensorInfo(name, tuple(reversed(dimensions)), self._number("<I"), self._number("<Q"))

    def _value(self, kind: int) -> Scalar | None:
        match kind:
            case 8:  # text
                return self._string()
            case 9:  # array
                self._skip_array()
                return None
            case _:
                return self._scalar(_SCALARS[kind])

    def _skip_array(self) -> None:
        kind, count = self._number("<I"), self._number("<Q")
        if kind == _ARRAY:
            for _ in range(count):
                self._skip_array()
        elif kind == _STRING:
            at, content, length = self._at, self._content, struct.Struct("<Q")
            for _ in range(count):
                at += 8 + length.unpack_from(content, at)[0]
            self._at = at
        else:
            self._at += count * struct.calcsize(_SCALARS[kind])

    def _string(self) -> str:
        length = self._number("<Q")
        text = self._content[self._at : self._at + length]
        if len(text) != length:
            raise ValueError("cut")
        self._at += length
        return text.decode(errors="replace")

    def _number(self, form: str) -> int:
        return int(self._scalar(form))

    def _scalar(self, form: str) -> int | float | bool:
        value: int | float | bool
        (value,) = struct.unpack_from(form, self._content, self._at)
        self._at += struct.calcsize(form)
        return value

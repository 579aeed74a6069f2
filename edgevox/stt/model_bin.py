"""CTranslate2's model.bin, read and written: names, shapes and numbers one behind the other."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from edgevox.errors import ModelError

_VERSION = 6
# In the order of CTranslate2's own numbers for them.
_DTYPES = tuple(map(np.dtype, ("<f4", "i1", "<i2", "<i4", "<f2")))
_LARGEST_INT8 = 127
_HINT = "`edgevox models verify` checks the files; `edgevox models pull` fetches them again"


@dataclass(frozen=True, slots=True)
class ModelBin:
    """A model as CTranslate2 stores it: the numbers by their names, and other names for some of them."""

    spec: str
    revision: int
    variables: dict[str, NDArray[Any]]
    aliases: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises ModelError where the file cannot be read, or is no model of the known version."""
        try:
            reader = _Reader(path.read_bytes())
            version = reader.number()
            if version != _VERSION:
                raise ModelError(
                    f"{path.name} has version {version} of its format, not {_VERSION}", hint=_HINT
                )
            spec, revision = reader.text(), reader.number()
            variables = dict(reader.variable() for _ in range(reader.number()))
            aliases = tuple((reader.text(), reader.text()) for _ in range(reader.number()))
        except OSError as error:
            raise ModelError(f"{path} cannot be read: {error.strerror}", hint=_HINT) from error
        except (struct.error, ValueError, IndexError) as error:
            raise ModelError(f"{path} is damaged: {error}", hint=_HINT) from error
        return cls(spec, revision, variables, aliases)

    def in_int8(self) -> ModelBin:
        """The same with its matrices in 8 bits, as CTranslate2 makes them at every start otherwise."""
        variables: dict[str, NDArray[Any]] = {}
        for name, value in self.variables.items():
            if value.ndim == 2 and value.dtype.kind == "f" and name.endswith("/weight"):
                wide = value.astype(np.float32)
                loudest = np.abs(wide).max(axis=1, keepdims=True)
                scale = np.float32(_LARGEST_INT8) / np.where(loudest == 0, np.float32(_LARGEST_INT8), loudest)
                variables[name] = np.rint(wide * scale).astype(np.int8)
                variables[f"{name}_scale"] = scale[:, 0]
            else:
                variables[name] = value
        return ModelBin(self.spec, self.revision, variables, self.aliases)

    def write(self, file: BinaryIO) -> None:
        """Raises OSError."""
        file.write(struct.pack("<I", _VERSION) + _text(self.spec))
        file.write(struct.pack("<II", self.revision, len(self.variables)))
        for name, value in self.variables.items():
            file.write(_text(name) + struct.pack(f"<B{value.ndim}I", value.ndim, *value.shape))
            file.write(struct.pack("<BI", _DTYPES.index(value.dtype), value.nbytes))
            file.write(value.tobytes())
        file.write(struct.pack("<I", len(self.aliases)))
        for alias, name in self.aliases:
            file.write(_text(alias) + _text(name))


class _Reader:
    def __init__(self, raw: bytes) -> None:
        self._raw = raw
        self._at = 0

    def number(self) -> int:
        return int(self._unpacked("<I")[0])

    def text(self) -> str:
        (length,) = self._unpacked("<H")
        start, self._at = self._at, self._at + length
        return self._raw[start : self._at - 1].decode()

    def variable(self) -> tuple[str, NDArray[Any]]:
        name = self.text()
        (rank,) = self._unpacked("<B")
        shape = self._unpacked(f"<{rank}I")
        number_type, size = self._unpacked("<BI")
        dtype = _DTYPES[number_type]
        value = np.frombuffer(self._raw, dtype, size // dtype.itemsize, self._at).reshape(shape)
        self._at += size
        return name, value

    def _unpacked(self, layout: str) -> tuple[int, ...]:
        found = struct.unpack_from(layout, self._raw, self._at)
        self._at += struct.calcsize(layout)
        return found


def _text(text: str) -> bytes:
    """With its length before it, and the zero that C wants behind it."""
    raw = text.encode() + b"\0"
    return struct.pack("<H", len(raw)) + raw

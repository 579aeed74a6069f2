"""Reads the header of a GGUF file in milliseconds, and requantises a file.

The `gguf` package's reader builds an array of the whole vocabulary, which takes seconds. llama.cpp requantises in a
child process, because it may abort: `python -m edgevox.models.gguf_file SOURCE TARGET TYPE THREADS`.
"""

from __future__ import annotations

import ctypes
import importlib.metadata
import math
import mmap
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from edgevox.core.errors import ModelError, ModelMissing

Scalar: TypeAlias = int | float | bool | str

_MAGIC: Final = b"GGUF"
_VERSIONS = (2, 3)
_DEFAULT_ALIGNMENT = 32
_STRING, _ARRAY = 8, 9
# The value types of the format, as `struct` codes.
_SCALARS = dict(enumerate(("<B", "<b", "<H", "<h", "<I", "<i", "<f", "<?"))) | {10: "<Q", 11: "<q", 12: "<d"}


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """One tensor: `shape` in numpy order (rows first), `type` is ggml's number, `offset` is within the data."""

    name: str
    shape: tuple[int, ...]
    type: int
    offset: int

    @property
    def elements(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """`metadata` has only scalar values, `raw_metadata` everything, byte for byte."""

    version: int
    metadata: dict[str, Scalar]
    metadata_count: int
    raw_metadata: bytes
    tensors: tuple[TensorInfo, ...]
    alignment: int
    data_at: int

    def text(self, key: str) -> str:
        """Return a text value, or ""."""
        value = self.metadata.get(key)
        return value if isinstance(value, str) else ""


def read_header(path: Path) -> GgufHeader:
    """Raises ModelMissing, or ModelError if the file is not GGUF or is truncated."""
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return _Reader(content).header()
    except FileNotFoundError as error:
        raise ModelMissing(f"file not found: {path}", hint="edgevox models list shows the downloaded ones") from error
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}", hint="check its permissions") from error
    # mmap of an empty file is a ValueError too, and numbers of a damaged one are too large, or zero.
    except (struct.error, KeyError, ValueError, ArithmeticError, RecursionError) as error:
        raise ModelError(f"{path} is not a complete GGUF file", hint="choose another file, or pull it again") from error


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


TargetType: TypeAlias = Literal["Q4_0", "Q8_0", "F16"]
TARGET_TYPES: tuple[TargetType, ...] = get_args(TargetType)

# llama_ftype of each type.
FILE_TYPES: Final[dict[str, int]] = {"F16": 1, "Q4_0": 2, "Q4_1": 3, "Q8_0": 7, "Q5_0": 8, "Q5_1": 9}
_TIMEOUT_S = 3600.0


def requantise(source: Path, target: Path, to: TargetType, *, threads: int) -> None:
    """Write `source` to `target` with another weight type. Raises ModelError.

    On failure no partial target is left. It is not synced: the caller does that when renaming it.
    """
    try:
        _write(source, target, to, threads)
    except ModelError as error:
        target.unlink(missing_ok=True)
        raise ModelError(
            f"{source.name} could not be converted to {to}: {error.message}",
            hint="the original still works; `edgevox models verify` checks it; is the disk full?",
        ) from error
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def llama_build() -> str:
    """Return the version of llama.cpp, for display and comparison."""
    return f"llama-cpp-python {importlib.metadata.version('llama-cpp-python')}"


def _write(source: Path, target: Path, to: TargetType, threads: int) -> None:
    shapes = _shapes(source)
    command = [sys.executable, "-m", "edgevox.models.gguf_file", str(source), str(target), to, str(threads)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise ModelError(f"it took longer than {_TIMEOUT_S:.0f} s") from error
    if done.returncode < 0:
        raise ModelError(f"llama.cpp was killed by signal {-done.returncode}")
    if done.returncode > 0:
        said = [line for line in done.stderr.splitlines() if "failed" in line]
        raise ModelError(said[-1] if said else f"exit code {done.returncode}")
    if _shapes(target) != shapes:
        raise ModelError("the copy does not have the same tensors")


def _shapes(path: Path) -> dict[str, tuple[int, ...]]:
    return {tensor.name: tensor.shape for tensor in read_header(path).tensors}


# --- child process


def quantise(source: str, target: str, to: str, *, threads: int, pure: bool = False) -> int:
    """Write `source` in another type, in this process; returns 0 if that succeeded."""
    # Lazy: the parent process stays light.
    import llama_cpp as llama

    params = llama.llama_model_quantize_default_params()
    params.ftype, params.nthread, params.pure = FILE_TYPES[to], threads, pure
    params.allow_requantize = True
    return int(llama.llama_model_quantize(source.encode(), target.encode(), ctypes.byref(params)))


if __name__ == "__main__":
    sys.exit(1 if quantise(*sys.argv[1:4], threads=int(sys.argv[4])) else 0)

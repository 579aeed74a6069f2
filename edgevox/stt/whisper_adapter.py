"""Merges a LoRA adapter into a copy of a CTranslate2 Whisper model.

A weight becomes W + (alpha / rank) · B·A. The model's own file is not changed. The adapter's metadata
holds the decode options it was trained with. Run as `python -m edgevox.stt.whisper_adapter MODEL ADAPTER
TARGET`, because the memory that merging needs would stay with the process.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Self, TypeAlias

import numpy as np
from gguf import GGUFReader, GGUFWriter
from numpy.typing import NDArray
from tokenizers import Tokenizer

from edgevox.core.errors import ModelError
from edgevox.stt.decoding import DEFAULT_DECODE_OPTIONS, DecodeOptions

_VERSION = 6
# In the order of CTranslate2's own numbers for them.
_DTYPES = tuple(map(np.dtype, ("<f4", "i1", "<i2", "<i4", "<f2")))
_LARGEST_INT8 = 127
_HINT = "`edgevox models verify` checks the files; `edgevox models pull` fetches them again"


@dataclass(frozen=True, slots=True)
class ModelBin:
    """A CTranslate2 model file: variables by name, and aliases."""

    spec: str
    revision: int
    variables: dict[str, NDArray[Any]]
    aliases: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, path: Path) -> Self:
        """Raises ModelError if the file cannot be read, or is not a model of the known version."""
        try:
            with path.open("rb") as file:
                (version,) = _unpack(file, "<I")
                if version != _VERSION:
                    raise ModelError(f"{path.name} has version {version} of its format, not {_VERSION}", hint=_HINT)
                spec, (revision, count) = _read_text(file), _unpack(file, "<II")
                variables = dict(_read_variable(file) for _ in range(count))
                (count,) = _unpack(file, "<I")
                aliases = tuple((_read_text(file), _read_text(file)) for _ in range(count))
        except OSError as error:
            raise ModelError(f"{path} cannot be read: {error.strerror}", hint=_HINT) from error
        except (struct.error, ValueError, IndexError) as error:
            raise ModelError(f"{path} is damaged: {error}", hint=_HINT) from error
        return cls(spec, revision, variables, aliases)

    def in_int8(self) -> ModelBin:
        """The model quantised to 8 bits, which CTranslate2 would otherwise do at every start."""
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


def _unpack(file: BinaryIO, layout: str) -> tuple[int, ...]:
    return struct.unpack(layout, file.read(struct.calcsize(layout)))


def _read_text(file: BinaryIO) -> str:
    return file.read(*_unpack(file, "<H"))[:-1].decode()


def _read_variable(file: BinaryIO) -> tuple[str, NDArray[Any]]:
    name = _read_text(file)
    (rank,) = _unpack(file, "<B")
    shape = _unpack(file, f"<{rank}I")
    number_type, size = _unpack(file, "<BI")
    return name, np.frombuffer(file.read(size), _DTYPES[number_type]).reshape(shape)


def _text(text: str) -> bytes:
    """Length-prefixed and null-terminated."""
    raw = text.encode() + b"\0"
    return struct.pack("<H", len(raw)) + raw


# Without it " the" becomes " " and "the", which the decoder has hardly ever seen.
_FIRST_RULE = "Ġ t"


def read_tokens(path: Path) -> Tokenizer:
    """The tokens of a tokenizer.json, with the rule put back where it is missing. Raises ValueError."""
    return Tokenizer.from_str(whole_rules(path.read_text(encoding="utf-8")))


def whole_rules(tokenizer_json: str) -> str:
    """The same with the rule put back where it is missing. Raises ValueError."""
    content = json.loads(tokenizer_json)
    rules = content.get("model", {}).get("merges", [])
    # Newer files write a rule as a pair, and have them all.
    if not rules or not isinstance(rules[0], str) or _FIRST_RULE in rules:
        return tokenizer_json
    rules.insert(0, _FIRST_RULE)
    return json.dumps(content, ensure_ascii=False)


_A, _B = ".lora_a", ".lora_b"
_ALPHA = "adapter.lora.alpha"
_ASKING = "edgevox.asking."
_ARCHITECTURE = "whisper"
_ADAPTER_HINT = "an adapter fits only the model that it was trained on; stt.adapted = false does without"
_MODEL = "model.bin"
_TOKENS = "tokenizer.json"
_CONFIG = "config.json"
_KEPT = "adapted-"
# Changes whenever copies are made differently.
_WAY = b"int8, all rules"
_MADE_WITHIN_S = 120

Factors: TypeAlias = Mapping[str, tuple[NDArray[np.floating], NDArray[np.floating]]]


def adapted(model: ModelBin, adapter: Path) -> ModelBin:
    """The model with the adapter merged. Raises ModelError if they do not match."""
    alpha, factors = read_adapter(adapter)
    variables = dict(model.variables)
    for name, (a, b) in factors.items():
        weight = variables.get(name)
        if weight is None or b.shape[-1] != len(a) or weight.shape != (len(b), a.shape[-1]):
            raise ModelError(f"{adapter.name} does not fit the model at {name}", hint=_ADAPTER_HINT)
        added = np.float32(alpha / len(a)) * (b @ a)
        variables[name] = (weight.astype(np.float32) + added).astype(weight.dtype)
    return ModelBin(model.spec, model.revision, variables, model.aliases)


@contextmanager
def adapted_folder(model_dir: Path, adapter: Path | None) -> Iterator[Path]:
    """The folder to load the model from: its own, or a copy with the adapter merged. Raises ModelError.

    The copy is made once and kept beside the model; an unreadable copy is deleted and made again next time.
    """
    if adapter is None:
        yield model_dir
        return
    kept = model_dir / f"{_KEPT}{_digest(model_dir / _MODEL, adapter)}"
    if not (kept / _MODEL).is_file():
        _make(model_dir, adapter, kept)
    try:
        yield kept
    except (RuntimeError, ValueError):
        shutil.rmtree(kept, ignore_errors=True)
        raise


def main(arguments: Sequence[str]) -> int:
    """Write the model with the adapter merged, in 8 bits; arguments: model, adapter, target."""
    model, adapter, target = map(Path, arguments)
    try:
        changed = adapted(ModelBin.read(model), adapter).in_int8()
        with target.open("wb") as file:
            changed.write(file)
            os.fsync(file.fileno())
    except ModelError as error:
        print(error.message, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"{target} cannot be written: {error.strerror}", file=sys.stderr)
        return 1
    return 0


def _make(model_dir: Path, adapter: Path, kept: Path) -> None:
    try:
        for old in model_dir.glob(f"{_KEPT}*"):
            shutil.rmtree(old)
        with tempfile.TemporaryDirectory(dir=model_dir, ignore_cleanup_errors=True) as scratch:
            folder = Path(scratch) / kept.name
            folder.mkdir()
            for path in model_dir.iterdir():
                if path.name == _TOKENS:
                    (folder / _TOKENS).write_text(whole_rules(path.read_text("utf-8")), encoding="utf-8")
                elif path.name == _CONFIG or path.name.startswith("vocabulary."):
                    shutil.copy(path, folder)
            _write(model_dir / _MODEL, adapter, folder / _MODEL)
            folder.rename(kept)
    except OSError as error:
        raise ModelError(
            f"the recogniser's copy cannot be kept in {model_dir}: {error.strerror}",
            hint="make room there, or set stt.adapted = false",
        ) from error


def _write(model: Path, adapter: Path, target: Path) -> None:
    """Merge in a child process: its memory would otherwise stay with the process that transcribes."""
    command = [sys.executable, "-m", "edgevox.stt.whisper_adapter", str(model), str(adapter), str(target)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_MADE_WITHIN_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise ModelError(f"{adapter.name} was not added within {_MADE_WITHIN_S} s", hint=_ADAPTER_HINT) from error
    if done.returncode:
        raise ModelError(done.stderr.strip() or f"{adapter.name} could not be added", hint=_ADAPTER_HINT)


def _digest(model: Path, adapter: Path) -> str:
    """Changes with the adapter, and with a new download of the model."""
    try:
        found = model.stat()
        content = adapter.read_bytes()
    except OSError as error:
        raise ModelError(f"{adapter} cannot be read: {error.strerror}", hint=_ADAPTER_HINT) from error
    return hashlib.sha256(_WAY + content + f"{found.st_size} {found.st_mtime_ns}".encode()).hexdigest()[:12]


def read_adapter(path: Path) -> tuple[float, Factors]:
    """Its alpha, and the factors A and B of each weight. Raises ModelError."""
    try:
        reader = GGUFReader(path)
        alpha = float(reader.fields[_ALPHA].contents())
        found = {tensor.name: np.asarray(tensor.data, np.float32) for tensor in reader.tensors}
        names = [name.removesuffix(_A) for name in found if name.endswith(_A)]
        return alpha, {name: (found[name + _A], found[name + _B]) for name in names}
    except (OSError, ValueError, IndexError, KeyError) as error:
        raise ModelError(f"{path} is not a LoRA adapter: {error}", hint=_ADAPTER_HINT) from error


def decode_options_of(adapter: Path | None) -> DecodeOptions:
    """The decode options for this adapter, or for none. Raises ModelError."""
    if adapter is None:
        return DEFAULT_DECODE_OPTIONS
    try:
        fields = GGUFReader(adapter).fields
        options = {
            field.name: type(getattr(DEFAULT_DECODE_OPTIONS, field.name))(fields[_ASKING + field.name].contents())
            for field in dataclasses.fields(DecodeOptions)
            if _ASKING + field.name in fields
        }
    except (OSError, ValueError, IndexError) as error:
        raise ModelError(f"{adapter} is not a LoRA adapter: {error}", hint=_ADAPTER_HINT) from error
    return dataclasses.replace(DEFAULT_DECODE_OPTIONS, **options)


def write_adapter(
    path: Path, factors: Factors, *, alpha: float, decode_options: DecodeOptions = DEFAULT_DECODE_OPTIONS
) -> None:
    """Write the factors A and B of each weight as f16, and the decode options. Raises OSError."""
    writer = GGUFWriter(path, _ARCHITECTURE)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32(_ALPHA, alpha)
    for name, value in dataclasses.asdict(decode_options).items():
        match value:
            case bool():
                writer.add_bool(_ASKING + name, value)
            case int():
                writer.add_uint32(_ASKING + name, value)
            case _:
                writer.add_float64(_ASKING + name, value)
    for name, (a, b) in factors.items():
        writer.add_tensor(name + _A, a.astype(np.float16))
        writer.add_tensor(name + _B, b.astype(np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

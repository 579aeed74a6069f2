"""What a Whisper model has learnt since: a LoRA adapter, added to the weights of a copy.

A weight becomes W + (alpha / rank) · B·A. The model's own file stays as it is. The adapter's file says as
well how the model wants to be asked then.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import numpy as np
from gguf import GGUFReader, GGUFWriter
from numpy.typing import NDArray

from edgevox.errors import ModelError
from edgevox.stt.ladder import UNTAUGHT, Asking
from edgevox.stt.model_bin import ModelBin
from edgevox.stt.vocabulary import whole_rules

_A, _B = ".lora_a", ".lora_b"
_ALPHA = "adapter.lora.alpha"
_ASKING = "edgevox.asking."
_ARCHITECTURE = "whisper"
_HINT = "an adapter fits only the model that it was trained on; stt.adapted = false does without"
_MODEL = "model.bin"
_TOKENS = "tokenizer.json"
_CONFIG = "config.json"
_KEPT = "adapted-"
# A copy that is made in another way has another name.
_WAY = b"int8, all rules"
_MADE_WITHIN_S = 120

Factors: TypeAlias = Mapping[str, tuple[NDArray[np.floating], NDArray[np.floating]]]


def adapted(model: ModelBin, adapter: Path) -> ModelBin:
    """The model with the adapter in its weights. Raises ModelError where the two do not fit."""
    alpha, factors = read_adapter(adapter)
    variables = dict(model.variables)
    for name, (a, b) in factors.items():
        weight = variables.get(name)
        if weight is None or b.shape[-1] != len(a) or weight.shape != (len(b), a.shape[-1]):
            raise ModelError(f"{adapter.name} does not fit the model at {name}", hint=_HINT)
        added = np.float32(alpha / len(a)) * (b @ a)
        variables[name] = (weight.astype(np.float32) + added).astype(weight.dtype)
    return ModelBin(model.spec, model.revision, variables, model.aliases)


@contextmanager
def adapted_folder(model_dir: Path, adapter: Path | None) -> Iterator[Path]:
    """The folder to read the model from: its own, or a copy with the adapter in it. Raises ModelError.

    The copy is made once and kept beside the model. One that cannot be read is gone, and made anew next time.
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
    """Write the model with the adapter in it, in 8 bits: the names of both files, and of the new one."""
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
    """In a process of its own: what adding needs of memory would stay with the one that transcribes."""
    command = [sys.executable, "-m", "edgevox.stt.adapter", str(model), str(adapter), str(target)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_MADE_WITHIN_S, check=False)
    except subprocess.TimeoutExpired as error:
        raise ModelError(f"{adapter.name} was not added within {_MADE_WITHIN_S} s", hint=_HINT) from error
    if done.returncode:
        raise ModelError(done.stderr.strip() or f"{adapter.name} could not be added", hint=_HINT)


def _digest(model: Path, adapter: Path) -> str:
    """Another one for another adapter, and for a model that was fetched again."""
    try:
        found = model.stat()
        content = adapter.read_bytes()
    except OSError as error:
        raise ModelError(f"{adapter} cannot be read: {error.strerror}", hint=_HINT) from error
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
        raise ModelError(f"{path} is not a LoRA adapter: {error}", hint=_HINT) from error


def asking_of(adapter: Path | None) -> Asking:
    """How the model wants to be asked with this adapter, or without one. Raises ModelError."""
    if adapter is None:
        return UNTAUGHT
    try:
        fields = GGUFReader(adapter).fields
        told = {
            field.name: type(getattr(UNTAUGHT, field.name))(fields[_ASKING + field.name].contents())
            for field in dataclasses.fields(Asking)
            if _ASKING + field.name in fields
        }
    except (OSError, ValueError, IndexError) as error:
        raise ModelError(f"{adapter} is not a LoRA adapter: {error}", hint=_HINT) from error
    return dataclasses.replace(UNTAUGHT, **told)


def write_adapter(path: Path, factors: Factors, *, alpha: float, asking: Asking = UNTAUGHT) -> None:
    """Write the factors A and B of each weight as f16, and how to ask. Raises OSError."""
    writer = GGUFWriter(path, _ARCHITECTURE)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32(_ALPHA, alpha)
    for name, value in dataclasses.asdict(asking).items():
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

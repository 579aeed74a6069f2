"""What a Whisper model has learnt since: a LoRA adapter, added to its weights when it is read.

A weight becomes W + (alpha / rank) · B·A. The model's own file stays as it is, and the changed copy is gone
once it was read.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from gguf import GGUFReader, GGUFWriter
from numpy.typing import NDArray

from edgevox.errors import ModelError
from edgevox.stt.model_bin import ModelBin

_A, _B = ".lora_a", ".lora_b"
_ALPHA = "adapter.lora.alpha"
_ARCHITECTURE = "whisper"
_HINT = 'an adapter fits only the model that it was trained on; stt.adapter = "" does without'


def adapted(model: ModelBin, adapter: Path) -> ModelBin:
    """The model with the adapter in its weights. Raises ModelError where the two do not fit."""
    try:
        reader = GGUFReader(adapter)
        alpha = float(reader.fields[_ALPHA].contents())
    except (OSError, ValueError, IndexError, KeyError) as error:
        raise ModelError(f"{adapter} is not a LoRA adapter: {error}", hint=_HINT) from error
    factors = {tensor.name: np.asarray(tensor.data, np.float32) for tensor in reader.tensors}
    variables = dict(model.variables)
    for name in (name.removesuffix(_A) for name in factors if name.endswith(_A)):
        a, b = factors[name + _A], factors.get(name + _B)
        weight = variables.get(name)
        if b is None or weight is None or b.shape[-1] != len(a) or weight.shape != (len(b), a.shape[-1]):
            raise ModelError(f"{adapter.name} does not fit the model at {name}", hint=_HINT)
        added = np.float32(alpha / len(a)) * (b @ a)
        variables[name] = (weight.astype(np.float32) + added).astype(weight.dtype)
    return ModelBin(model.spec, model.revision, variables, model.aliases)


@contextmanager
def adapted_folder(model_dir: Path, adapter: Path | None) -> Iterator[Path]:
    """The folder to read the model from: its own, or one that is gone afterwards. Raises ModelError."""
    if adapter is None:
        yield model_dir
        return
    model = adapted(ModelBin.read(model_dir / "model.bin"), adapter)
    # Not from memory, which CTranslate2 can do: it keeps the 145 MB as long as the model.
    with tempfile.TemporaryDirectory(prefix="edgevox-whisper-") as folder:
        for path in model_dir.iterdir():
            if path.name != "model.bin" and path.is_file():
                shutil.copy(path, folder)
        try:
            with (Path(folder) / "model.bin").open("wb") as file:
                model.write(file)
        except OSError as error:
            raise ModelError(
                f"the recogniser cannot be written to {folder}: {error.strerror}",
                hint="make room there, or set stt.adapted = false",
            ) from error
        del model
        yield Path(folder)


def write_adapter(
    path: Path, factors: dict[str, tuple[NDArray[np.float16], NDArray[np.float16]]], alpha: float
) -> None:
    """Write the factors A and B of each weight. Raises OSError."""
    writer = GGUFWriter(path, _ARCHITECTURE)
    writer.add_type("adapter")
    writer.add_string("adapter.type", "lora")
    writer.add_float32(_ALPHA, alpha)
    for name, (a, b) in factors.items():
        writer.add_tensor(name + _A, a)
        writer.add_tensor(name + _B, b)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

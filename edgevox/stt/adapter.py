"""What a Whisper model has learnt since: a LoRA adapter, added to its weights while they are read.

A weight becomes W + (alpha / rank) · B·A. The model's own file stays as it is, and no copy is kept.
"""

from __future__ import annotations

import io
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


def adapted_files(model_dir: Path, adapter: Path) -> dict[str, bytes]:
    """The files of a model's folder as CTranslate2 takes them from memory. Raises ModelError."""
    model = adapted(ModelBin.read(model_dir / "model.bin"), adapter)
    content = io.BytesIO()
    model.write(content)
    names = ("config.json", "tokenizer.json", "vocabulary.txt", "vocabulary.json", "preprocessor_config.json")
    files = {name: path.read_bytes() for name in names if (path := model_dir / name).is_file()}
    return files | {"model.bin": content.getvalue()}


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

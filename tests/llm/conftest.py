"""A small real model for tests."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from filelock import FileLock
from gguf import GGUFReader, GGUFValueType, GGUFWriter

_LAYERS = 2
_WRITTEN_BY_THE_WRITER = {"general.architecture", "llama.block_count"}


@pytest.fixture(scope="session")
def shallow_path(smollm2_copy_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The default model cut down to its first layers, written once for all workers.

    It has the real vocabulary, template and shapes, evaluates a token several times as fast, and writes
    nonsense: what a grammar must hold in any case.
    """
    path = tmp_path_factory.getbasetemp().parent / "shallow.gguf"
    with FileLock(path.with_suffix(".lock")):
        if not path.exists():
            _write_shallow(smollm2_copy_path, part := path.with_suffix(".part"))
            part.rename(path)
    return path


def _write_shallow(original: Path, path: Path) -> None:
    reader = GGUFReader(original)
    writer = GGUFWriter(path, "llama")
    writer.add_block_count(_LAYERS)
    for field in reader.fields.values():
        if not field.name.startswith("GGUF.") and field.name not in _WRITTEN_BY_THE_WRITER:
            kind, *inner = field.types
            element = inner[-1] if kind == GGUFValueType.ARRAY else None
            writer.add_key_value(field.name, field.contents(), kind, sub_type=element)
    for tensor in reader.tensors:
        layer = re.match(r"blk\.(\d+)\.", tensor.name)
        if layer is None or int(layer[1]) < _LAYERS:
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

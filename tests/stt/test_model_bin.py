"""CTranslate2's model.bin."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edgevox.core.errors import ModelError
from edgevox.stt.whisper_adapter import ModelBin

MODEL = ModelBin(
    "WhisperSpec",
    3,
    {
        "a/weight": np.arange(6, dtype=np.float16).reshape(2, 3),
        "a/bias": np.ones(2, np.float32),
        "a/heads": np.array(8, np.int16),
    },
    (("b/weight", "a/weight"),),
)


def written(model: ModelBin, path: Path) -> Path:
    with path.open("wb") as file:
        model.write(file)
    return path


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    read = ModelBin.read(written(MODEL, tmp_path / "model.bin"))
    assert (read.spec, read.revision, read.aliases) == (MODEL.spec, MODEL.revision, MODEL.aliases)
    assert list(read.variables) == list(MODEL.variables)
    for name, value in MODEL.variables.items():
        assert read.variables[name].dtype == value.dtype
        np.testing.assert_array_equal(read.variables[name], value)


def test_the_deployed_model_is_written_as_it_was(whisper_base_dir: Path, tmp_path: Path) -> None:
    original = whisper_base_dir / "model.bin"
    copy = written(ModelBin.read(original), tmp_path / "model.bin")
    assert copy.read_bytes() == original.read_bytes()


@pytest.mark.parametrize("keep", [0, 3, 20, 60])
def test_a_file_that_was_cut_off_is_damaged(tmp_path: Path, keep: int) -> None:
    path = written(MODEL, tmp_path / "model.bin")
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ModelError, match="damaged"):
        ModelBin.read(path)


def test_another_version_is_not_guessed_at(tmp_path: Path) -> None:
    path = written(MODEL, tmp_path / "model.bin")
    path.write_bytes(b"\7" + path.read_bytes()[1:])
    with pytest.raises(ModelError, match="version 7"):
        ModelBin.read(path)


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="cannot be read"):
        ModelBin.read(tmp_path / "model.bin")


def test_matrices_are_stored_in_8_bits_row_by_row() -> None:
    weight = np.array([[-1, 0.5, 0.25], [0, 0, 0]], np.float16)
    kept = {"a/weight": weight, "a/bias": np.ones(2, np.float16), "conv/weight": np.ones((2, 2, 3), np.float16)}
    small = ModelBin("WhisperSpec", 3, kept, ()).in_int8().variables
    assert small["a/weight"].tolist() == [[-127, 64, 32], [0, 0, 0]]
    assert small["a/weight_scale"].tolist() == [127, 1]
    assert {name for name, value in small.items() if value.dtype == np.float16} == {"a/bias", "conv/weight"}

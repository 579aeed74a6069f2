"""What a Whisper model has learnt since."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edgevox.core.errors import ModelError
from edgevox.core.files import data_path
from edgevox.stt.decoding import DEFAULT_DECODE_OPTIONS, DecodeOptions
from edgevox.stt.whisper_adapter import ModelBin, adapted, adapted_folder, decode_options_of, write_adapter

A = np.array([[1, 2, 3]], np.float16)
B = np.array([[1], [10]], np.float16)
MODEL_FILES = {"config.json", "model.bin", "silence-of-the-model.npy", "vocabulary.txt"}


def model() -> ModelBin:
    return ModelBin("WhisperSpec", 3, {"a/weight": np.zeros((2, 3), np.float16), "a/bias": np.ones(2, np.float16)}, ())


def last_weight(folder: Path) -> float:
    """The copy is in 8 bits: a number and its row's scale."""
    kept = ModelBin.read(folder / "model.bin").variables
    return round(float(kept["a/weight"][1, 2] / kept["a/weight_scale"][1]), 3)


def adapter(path: Path, name: str = "a/weight", a: np.ndarray = A) -> Path:
    file = path / "adapter.gguf"
    write_adapter(file, {name: (a, B)}, alpha=0.5)
    return file


def test_the_factors_are_added_as_strongly_as_the_file_says(tmp_path: Path) -> None:
    changed = adapted(model(), adapter(tmp_path)).variables
    np.testing.assert_array_equal(changed["a/weight"], np.array([[0.5, 1, 1.5], [5, 10, 15]], np.float16))
    np.testing.assert_array_equal(changed["a/bias"], np.ones(2))


def test_an_adapter_of_another_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="does not fit the model at b/weight"):
        adapted(model(), adapter(tmp_path, "b/weight"))
    with pytest.raises(ModelError, match="does not fit the model at a/weight"):
        adapted(model(), adapter(tmp_path, a=np.ones((1, 4), np.float16)))


def test_a_file_that_is_no_adapter_is_refused(tmp_path: Path) -> None:
    (tmp_path / "adapter.gguf").write_bytes(b"not a GGUF file" * 10)
    with pytest.raises(ModelError, match="not a LoRA adapter"):
        adapted(model(), tmp_path / "adapter.gguf")


def test_an_adapter_says_how_the_model_wants_to_be_asked(tmp_path: Path) -> None:
    decode_options = DecodeOptions(
        margin_s=0.3, least_s=2.0, tail_s=0.0, least_seen_s=0.5, timestamps=False, name_tokens=64
    )
    write_adapter(tmp_path / "adapter.gguf", {"a/weight": (A, B)}, alpha=1.0, decode_options=decode_options)
    assert decode_options_of(tmp_path / "adapter.gguf") == decode_options
    assert decode_options_of(adapter(tmp_path)) == decode_options_of(None) == DEFAULT_DECODE_OPTIONS
    (tmp_path / "adapter.gguf").write_bytes(b"not a GGUF file" * 10)
    with pytest.raises(ModelError, match="not a LoRA adapter"):
        decode_options_of(tmp_path / "adapter.gguf")


@pytest.fixture
def model_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "whisper"
    folder.mkdir()
    with (folder / "model.bin").open("wb") as file:
        model().write(file)
    (folder / "config.json").write_text("{}")
    (folder / "vocabulary.txt").write_text("a")
    (folder / "silence-of-the-model.npy").write_bytes(b"")
    return folder


def test_the_copy_is_made_once_and_is_all_that_is_left(tmp_path: Path, model_dir: Path) -> None:
    with adapted_folder(model_dir, adapter(tmp_path)) as folder:
        assert last_weight(folder) == 15
        assert (folder / "config.json").read_text() == "{}"
    made_ns = (folder / "model.bin").stat().st_mtime_ns
    with adapted_folder(model_dir, tmp_path / "adapter.gguf") as again:
        assert again == folder
        assert (again / "model.bin").stat().st_mtime_ns == made_ns
    assert {path.name for path in folder.iterdir()} == {"config.json", "model.bin", "vocabulary.txt"}
    assert {path.name for path in model_dir.iterdir()} == {*MODEL_FILES, folder.name}


def test_another_adapter_takes_the_place_of_the_copy(tmp_path: Path, model_dir: Path) -> None:
    with adapted_folder(model_dir, adapter(tmp_path)) as before:
        pass
    with adapted_folder(model_dir, adapter(tmp_path, a=2 * A)) as folder:
        assert last_weight(folder) == 30
    assert not before.exists()


def test_a_copy_that_cannot_be_read_is_made_anew(tmp_path: Path, model_dir: Path) -> None:
    file = adapter(tmp_path)
    copy = adapted_folder(model_dir, file)
    broken = copy.__enter__() / "model.bin"
    broken.write_bytes(bytes(broken.stat().st_size))
    error = RuntimeError("as CTranslate2 has it")
    assert not copy.__exit__(type(error), error, None)
    with adapted_folder(model_dir, file) as folder:
        assert last_weight(folder) == 15


def test_without_an_adapter_the_model_is_read_as_it_is(model_dir: Path) -> None:
    with adapted_folder(model_dir, None) as folder:
        assert folder == model_dir


def test_why_it_cannot_be_added_is_said(tmp_path: Path, model_dir: Path) -> None:
    with (
        pytest.raises(ModelError, match="does not fit the model at b/weight"),
        adapted_folder(model_dir, adapter(tmp_path, "b/weight")),
    ):
        pass
    assert {path.name for path in model_dir.iterdir()} == MODEL_FILES


def test_the_shipped_adapter_fits_the_default_recogniser(whisper_base_dir: Path) -> None:
    base = ModelBin.read(whisper_base_dir / "model.bin")
    changed = adapted(base, data_path("models", "edgevox-hearing-base.lora.gguf")).variables
    differ = {name for name, value in changed.items() if value is not base.variables[name]}
    assert differ == {name for name in changed if "/layer_" in name and "/linear_" in name and name.endswith("/weight")}

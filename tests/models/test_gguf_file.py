"""Requantising a model: the result, and the clean-up after a failure."""

from __future__ import annotations

import resource
import struct
from pathlib import Path

import pytest

from edgevox.core.errors import ModelError, ModelMissing
from edgevox.models.gguf_file import TargetType, llama_build, read_header, requantise
from edgevox.models.optimise import WeightType
from edgevox.models.speed import mean_logprob

ORIGINAL_BYTES = 98_362_432


@pytest.mark.engine
@pytest.mark.parametrize("to", ["Q4_0", "Q8_0"])
def test_a_model_is_written_with_weights_of_another_type(smollm2_path: Path, tmp_path: Path, to: TargetType) -> None:
    target = tmp_path / "copy.gguf"
    requantise(smollm2_path, target, to, threads=2)
    before, after = read_header(smollm2_path), read_header(target)
    was_q4_1 = {tensor.name for tensor in before.tensors if tensor.type == WeightType.Q4_1}
    assert len(was_q4_1) == 210
    assert {tensor.type for tensor in after.tensors if tensor.name in was_q4_1} == {WeightType[to]}
    assert after.text("tokenizer.chat_template") == before.text("tokenizer.chat_template")
    assert smollm2_path.stat().st_size == ORIGINAL_BYTES


@pytest.mark.long
@pytest.mark.engine
def test_q8_0_keeps_what_the_model_knows_and_q4_0_does_not(smollm2_path: Path, tmp_path: Path) -> None:
    requantise(smollm2_path, tmp_path / "q8.gguf", "Q8_0", threads=2)
    requantise(smollm2_path, tmp_path / "q4.gguf", "Q4_0", threads=2)
    files = (smollm2_path, tmp_path / "q8.gguf", tmp_path / "q4.gguf")
    original, q8, q4 = (mean_logprob(path, threads=1) for path in files)
    assert -4 < original < -2  # random weights would come to -10.8
    assert abs(q8 - original) < 0.03
    assert q4 < original - 0.05


@pytest.mark.engine
def test_a_cut_model_is_refused_and_nothing_is_left(smollm2_path: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    with smollm2_path.open("rb") as whole:
        cut.write_bytes(whole.read(50_000_000))
    with pytest.raises(ModelError, match=r"cut\.gguf could not be converted to Q8_0") as caught:
        requantise(cut, tmp_path / "copy.gguf", "Q8_0", threads=1)
    assert "the original still works" in caught.value.hint
    assert not (tmp_path / "copy.gguf").exists()


@pytest.mark.engine
def test_a_full_disk_is_an_error_and_nothing_is_left(smollm2_path: Path, tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000_000, hard))  # the child inherits it
    try:
        with pytest.raises(ModelError, match="could not be converted"):
            requantise(smollm2_path, tmp_path / "copy.gguf", "Q8_0", threads=1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert not (tmp_path / "copy.gguf").exists()


def test_a_file_that_is_not_gguf_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "text.gguf").write_text("not a model")
    with pytest.raises(ModelError, match="not a complete GGUF file"):
        requantise(tmp_path / "text.gguf", tmp_path / "copy.gguf", "Q8_0", threads=1)
    with pytest.raises(ModelMissing):
        read_header(tmp_path / "none.gguf")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"GGUF",
        b"GGUF" + struct.pack("<IQQ", 1, 0, 0),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q", 2**62),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q1sIIQ", 1, b"k", 9, 8, 2**40),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q1sI", 1, b"k", 77),
        b"GGUF" + struct.pack("<IQQ", 3, 2**60, 0),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q17sII", 17, b"general.alignment", 4, 0),
        b"GGUF" + struct.pack("<IQQ", 3, 0, 1) + struct.pack("<Q1sI", 1, b"k", 9) + struct.pack("<IQ", 9, 1) * 5_000,
    ],
    ids=[
        "empty",
        "magic only",
        "version",
        "key length",
        "array length",
        "value type",
        "tensor count",
        "alignment",
        "nesting",
    ],
)
def test_a_damaged_head_is_refused_at_once(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "damaged.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelError, match="not a complete GGUF file"):
        read_header(path)


def test_the_build_of_llama_cpp_has_a_name() -> None:
    assert llama_build().startswith("llama-cpp-python 0.")

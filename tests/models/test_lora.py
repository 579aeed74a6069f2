"""LoRA adapters merged into their model answer as at run time; unsuitable ones are rejected."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from edgevox.core.errors import ModelError
from edgevox.models.gguf_file import read_header, requantise
from edgevox.models.lora import check_adapter, merge
from tests.models.lora_files import SMOLLM2_WEIGHTS, logits, write_adapter, write_as_f16


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_adapter(tmp_path_factory.mktemp("lora") / "random.gguf")


def distance(one: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    return float(np.abs(one - other).mean())


@pytest.fixture(scope="module")
def f16_path(smollm2_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_as_f16(smollm2_path, tmp_path_factory.mktemp("f16") / "f16.gguf")


@pytest.mark.engine
@pytest.mark.parametrize("scale", [1.0, -0.5])
def test_a_merged_adapter_equals_one_applied_at_run_time(
    f16_path: Path, adapter: Path, tmp_path: Path, scale: float
) -> None:
    merge(f16_path, adapter, tmp_path / "merged.gguf", scale=scale)
    at_run_time = logits(f16_path, adapter, scale)
    effect = distance(at_run_time, logits(f16_path))
    assert effect > 0.3  # the adapter does something
    assert distance(logits(tmp_path / "merged.gguf"), at_run_time) < 0.05 * effect


@pytest.mark.engine
def test_a_merged_model_can_be_requantised(smollm2_path: Path, adapter: Path, tmp_path: Path) -> None:
    merge(smollm2_path, adapter, tmp_path / "merged.gguf")
    requantise(tmp_path / "merged.gguf", tmp_path / "merged-Q8_0.gguf", "Q8_0", threads=2)
    at_run_time = logits(smollm2_path, adapter)
    effect = distance(at_run_time, logits(smollm2_path))
    assert distance(logits(tmp_path / "merged-Q8_0.gguf"), at_run_time) < 0.4 * effect


@pytest.mark.engine
def test_an_adapter_of_scale_zero_changes_nothing(f16_path: Path, adapter: Path, tmp_path: Path) -> None:
    merge(f16_path, adapter, tmp_path / "merged.gguf", scale=0.0)
    assert (tmp_path / "merged.gguf").read_bytes() == f16_path.read_bytes()
    assert distance(logits(f16_path, adapter, 0.0), logits(f16_path)) < 1e-6


@pytest.mark.engine
def test_all_other_tensors_are_kept(smollm2_path: Path, adapter: Path, tmp_path: Path) -> None:
    merge(smollm2_path, adapter, tmp_path / "merged.gguf")
    before, after = read_header(smollm2_path), read_header(tmp_path / "merged.gguf")
    assert after.raw_metadata == before.raw_metadata
    assert [tensor.name for tensor in after.tensors] == [tensor.name for tensor in before.tensors]
    changed = {a.name for a, b in zip(after.tensors, before.tensors, strict=True) if a.type != b.type}
    assert changed == set(SMOLLM2_WEIGHTS)


@pytest.mark.engine
def test_an_adapter_for_another_kind_of_model_is_refused(smollm2_path: Path, tmp_path: Path) -> None:
    other = write_adapter(tmp_path / "a.gguf", architecture="qwen2")
    with pytest.raises(ModelError, match="is for the architecture qwen2") as caught:
        check_adapter(smollm2_path, other)
    assert "trained on" in caught.value.hint


@pytest.mark.engine
@pytest.mark.parametrize(
    ("weights", "reason"),
    [
        ({"blk.3.attn_q.weight": (576, 960)}, "does not fit"),
        ({"blk.3.attn_k.weight": (576, 576)}, "does not fit"),
        ({"blk.31.attn_q.weight": (576, 576)}, "changes blk.31.attn_q.weight, which .* does not have"),
        ({"token_embd.weight": (49152, 576)}, "also uses for its output"),
        ({}, "not a complete LoRA adapter"),
    ],
    ids=["columns", "rows", "layer", "embedding", "empty"],
)
def test_an_adapter_of_another_size_is_refused(
    smollm2_path: Path, tmp_path: Path, weights: dict[str, tuple[int, int]], reason: str
) -> None:
    with pytest.raises(ModelError, match=reason):
        merge(smollm2_path, write_adapter(tmp_path / "a.gguf", weights), tmp_path / "merged.gguf")
    assert not (tmp_path / "merged.gguf").exists()


@pytest.mark.engine
def test_a_model_is_no_adapter(smollm2_path: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="is not a LoRA adapter"):
        check_adapter(smollm2_path, smollm2_path)
    with pytest.raises(ModelError, match="is not a LoRA adapter"):
        check_adapter(smollm2_path, write_adapter(tmp_path / "a.gguf", kind="other"))


@pytest.mark.engine
def test_a_cut_base_leaves_no_half_model(smollm2_path: Path, adapter: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gguf"
    with smollm2_path.open("rb") as whole:
        cut.write_bytes(whole.read(50_000_000))
    with pytest.raises(ModelError, match="is truncated in"):
        merge(cut, adapter, tmp_path / "merged.gguf")
    assert not (tmp_path / "merged.gguf").exists()

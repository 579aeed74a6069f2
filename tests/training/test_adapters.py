"""Adapter files work in llama.cpp as in PyTorch; the mean of adapters is the mean of their products."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from edgevox.core.errors import ModelError
from edgevox.models.lora import check_adapter
from tests.models.lora_files import write_adapter as write_random_adapter
from tests.training.logits import llama_cpp_logits, our_logits
from training.llm.adapters import (
    MAPS,
    STRENGTH,
    Factors,
    add_lora,
    factor_bytes,
    main,
    mean_of,
    read_adapter,
    read_factors,
    start_from,
    write_adapter,
    write_factors,
)
from training.llm.data_loader import Tokens
from training.llm.llama import Llama
from training.llm.settings import NumberType

CPU = torch.device("cpu")


def tiny(path: Path) -> Llama:
    return Llama.from_gguf(path, dtype=torch.float32, device=CPU)


@pytest.fixture
def prompt(byte_tokens: Tokens) -> list[int]:
    return byte_tokens.prompt("Tools: on(), off()", [])


def test_a_new_adapter_changes_nothing(tiny_llama: Path, prompt: list[int]) -> None:
    model = tiny(tiny_llama)
    before = our_logits(model, prompt)
    adapted = add_lora(model, 4, 8.0)
    assert len(adapted) == len(MAPS) * len(model.blocks)
    np.testing.assert_array_equal(our_logits(model, prompt), before)


@pytest.mark.parametrize(("number_type", "rank"), [("f16", 4), ("q8_0", 32), ("q8_0", 16)])
def test_llama_cpp_says_the_same_with_the_adapter(
    tiny_llama: Path, prompt: list[int], tmp_path: Path, number_type: NumberType, rank: int
) -> None:
    model = tiny(tiny_llama)
    before = our_logits(model, prompt)
    torch.manual_seed(0)
    adapted = add_lora(model, rank, 2.0 * rank)
    for linear in adapted.values():
        torch.nn.init.normal_(linear.b, std=0.05)
    path = tmp_path / "adapter.gguf"
    write_adapter(path, adapted, name="test", number_type=number_type)
    check_adapter(tiny_llama, path)
    with_it = our_logits(model, prompt)
    effect = np.abs(with_it - before).mean()
    assert effect > 0.1
    assert np.abs(llama_cpp_logits(tiny_llama, prompt, path) - with_it).mean() < 0.03 * effect
    read = tiny(tiny_llama)
    read_adapter(path, read)
    assert np.abs(our_logits(read, prompt) - with_it).mean() < 0.03 * effect


def test_each_map_may_have_a_rank_of_its_own(tiny_llama: Path, prompt: list[int], tmp_path: Path) -> None:
    model = tiny(tiny_llama)
    before = our_logits(model, prompt)
    torch.manual_seed(0)
    alpha = 32.0
    for number, linear in enumerate((adapted := add_lora(model, 1, alpha)).values()):
        rank = 32 if number % 2 else 64
        rows, columns = linear.base.weight.shape
        linear.take(torch.randn(rank, columns) / 8, torch.randn(rows, rank) / 8, alpha)
    write_adapter(tmp_path / "adapter.gguf", adapted, name="test", number_type="q8_0")
    with_it = our_logits(model, prompt)
    effect = np.abs(with_it - before).mean()
    assert effect > 0.1
    said = llama_cpp_logits(tiny_llama, prompt, tmp_path / "adapter.gguf")
    assert np.abs(said - with_it).mean() < 0.03 * effect
    read_adapter(tmp_path / "adapter.gguf", read := tiny(tiny_llama))
    assert np.abs(our_logits(read, prompt) - with_it).mean() < 0.03 * effect


def test_an_adapter_of_another_model_is_refused(tiny_llama: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="another model"):
        read_adapter(write_random_adapter(tmp_path / "adapter.gguf"), tiny(tiny_llama))


RANDOM = np.random.default_rng(7)


COLUMNS, ROWS = 128, 160
MUCH_BYTES = 1_000_000


def adapter(rank: int, *, weight: str = "blk.0.attn_q.weight", strength: float = 1.0) -> dict[str, Factors]:
    a = np.float32(strength) * RANDOM.standard_normal((rank, COLUMNS)).astype(np.float32)
    b = RANDOM.standard_normal((ROWS, rank)).astype(np.float32)
    return {weight: Factors(a, b)}


def added(factors: dict[str, Factors]) -> np.ndarray:
    ((_, one),) = factors.items()
    return one.b @ one.a


def size_bytes(rank: int) -> int:
    return factor_bytes((rank, COLUMNS), "q8_0") + factor_bytes((ROWS, rank), "q8_0")


def test_with_room_enough_it_is_the_mean_itself() -> None:
    first, second = adapter(32), adapter(32)
    mean, lost = mean_of([first, second], MUCH_BYTES)
    assert lost == pytest.approx(0, abs=1e-6)
    assert added(mean) == pytest.approx((added(first) + added(second)) / 2, abs=1e-3)


def test_with_less_room_it_keeps_the_strongest_directions_and_says_what_is_lost() -> None:
    first, second = adapter(32), adapter(32)
    exact = (added(first) + added(second)) / 2
    mean, lost = mean_of([first, second], size_bytes(32))
    strengths = np.linalg.svd(exact, compute_uv=False)
    left_out = np.square(strengths[32:]).sum()
    assert np.linalg.matrix_rank(added(mean), tol=1e-2) == 32
    assert lost == pytest.approx(left_out / np.square(strengths).sum(), rel=1e-3)
    assert np.square(added(mean) - exact).sum() == pytest.approx(left_out, rel=1e-3)


def test_what_room_is_left_goes_to_the_weight_that_loses_most_without() -> None:
    first, second = adapter(32), adapter(32)
    # The second training says little more about this one: nearly all of it is in its first 32 directions.
    first |= adapter(32, weight="blk.0.attn_k.weight")
    second |= adapter(32, weight="blk.0.attn_k.weight", strength=0.01)
    mean, _ = mean_of([first, second], size_bytes(32) + size_bytes(64))
    assert {weight: len(factors.a) for weight, factors in mean.items()} == {
        "blk.0.attn_q.weight": 64,
        "blk.0.attn_k.weight": 32,
    }


def test_a_mean_that_does_not_fit_says_so() -> None:
    with pytest.raises(ModelError, match="does not fit into 1,000 bytes"):
        mean_of([adapter(32), adapter(32)], 1000)


def test_adapters_of_different_models_have_no_mean() -> None:
    with pytest.raises(ModelError, match="different models"):
        mean_of([adapter(4), adapter(4, weight="blk.0.attn_k.weight")], MUCH_BYTES)


def test_factors_are_read_as_they_were_written(tmp_path: Path) -> None:
    one = adapter(4)
    write_factors(tmp_path / "one.gguf", one, name="one", number_type="f16")
    assert added(read_factors(tmp_path / "one.gguf")) == pytest.approx(added(one), abs=0.1)


def test_a_training_goes_on_where_an_adapter_stands(tiny_llama: Path, prompt: list[int], tmp_path: Path) -> None:
    torch.manual_seed(0)
    adapted = add_lora(model := tiny(tiny_llama), 4, 3.0)
    for number, linear in enumerate(adapted.values()):
        rows, columns = linear.base.weight.shape
        rank = 4 if number % 2 else 8
        linear.take(torch.randn(rank, columns) / 8, torch.randn(rows, rank) / 8, 3.0)
    write_adapter(tmp_path / "adapter.gguf", adapted, name="test", number_type="f16")
    went_on = start_from(tmp_path / "adapter.gguf", again := tiny(tiny_llama))
    assert {(linear.scale, len(linear.a)) for linear in went_on.values()} == {(STRENGTH, 8)}
    assert our_logits(again, prompt) == pytest.approx(our_logits(model, prompt), abs=0.01)


def test_the_mean_of_an_adapter_with_itself_is_that_adapter(tmp_path: Path) -> None:
    path, out = tmp_path / "one.gguf", tmp_path / "mean.gguf"
    write_factors(path, adapter(32), name="one", number_type="q8_0")
    main([str(path), str(path), "--out", str(out)])
    wanted = added(read_factors(path))
    assert np.abs(added(read_factors(out)) - wanted).max() < 0.02 * np.abs(wanted).max()


def test_the_file_is_not_bigger_than_allowed(tmp_path: Path) -> None:
    paths = [tmp_path / "one.gguf", tmp_path / "two.gguf"]
    for path in paths:
        write_factors(path, adapter(32), name=path.stem, number_type="q8_0")
    out, most_bytes = tmp_path / "mean.gguf", 50_000 + size_bytes(64)
    main([*map(str, paths), "--out", str(out), "--most-bytes", str(most_bytes)])
    assert size_bytes(64) < out.stat().st_size <= most_bytes

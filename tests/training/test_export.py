"""An adapter's file does in llama.cpp what it does here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from edgevox.errors import ModelError
from edgevox.llm.adapters import check_adapter
from tests.llm.lora_files import write_adapter as write_random_adapter
from tests.training.evaluated import llama_cpp_logits, our_logits
from training.export import read_adapter, write_adapter
from training.llama import Llama
from training.lora import MAPS, add_lora
from training.settings import NumberType
from training.tokens import Tokens

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
    write_adapter(path, adapted, alpha=2.0 * rank, name="test", number_type=number_type)
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
    write_adapter(tmp_path / "adapter.gguf", adapted, alpha=alpha, name="test", number_type="q8_0")
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

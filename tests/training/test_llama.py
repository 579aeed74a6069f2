"""The Llama in PyTorch computes what llama.cpp computes, also for dialogues that share a row."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from edgevox.core.errors import ModelError
from tests.models.lora_files import write_adapter, write_as_f16
from tests.training.little_scenes import scenes
from tests.training.logits import llama_cpp_logits, our_logits
from training.llm.data_loader import Tokens, rows
from training.llm.llama import Llama, block_mask, dense_mask
from training.llm.training_loop import Batch
from training.types import Line

CPU = torch.device("cpu")


def test_a_tiny_llama_computes_what_llama_cpp_computes(tiny_llama: Path, byte_tokens: Tokens) -> None:
    model = Llama.from_gguf(tiny_llama, dtype=torch.float32, device=CPU)
    prompt = byte_tokens.prompt("Tools: on(), off()", [Line("user", "turn the kitchen light on")])
    expected = llama_cpp_logits(tiny_llama, prompt)
    # llama.cpp keeps keys and values in 16 bits.
    np.testing.assert_allclose(our_logits(model, prompt), expected, atol=0.01)
    assert np.ptp(expected) > 2  # they differ by far more than that


@pytest.mark.long
@pytest.mark.engine
def test_the_deployed_weights_go_on_as_in_llama_cpp(smollm2_path: Path, tmp_path: Path) -> None:
    # llama.cpp rounds what it multiplies with 4-bit weights: the same weights in 16 bits compare better.
    f16 = write_as_f16(smollm2_path, tmp_path / "f16.gguf")
    model = Llama.from_gguf(smollm2_path, dtype=torch.float32, device=CPU)
    tokens = Tokens.from_gguf(smollm2_path)
    prompt = tokens.prompt("You are helpful.", [Line("user", "What is the capital of France?")])
    for _ in range(6):
        expected, ours = llama_cpp_logits(f16, prompt), our_logits(model, prompt)
        assert np.abs(ours - expected).mean() < 0.2  # f16 sums; the logits spread over some twenty
        prompt.append(int(ours.argmax()))
        assert prompt[-1] == int(expected.argmax())
    assert tokens.text(prompt[-6:]) == "The capital of France is Paris"


def test_what_is_no_llama_is_refused(tmp_path: Path) -> None:
    adapter = write_adapter(tmp_path / "adapter.gguf", architecture="gemma")
    with pytest.raises(ModelError, match="is not a Llama"):
        Llama.from_gguf(adapter, dtype=torch.float32, device=CPU)


@pytest.fixture(scope="module")
def model(tiny_llama: Path) -> Llama:
    return Llama.from_gguf(tiny_llama, dtype=torch.float32, device=CPU)


@pytest.fixture(scope="module")
def batch(byte_tokens: Tokens) -> Batch:
    return Batch.of(list(itertools.islice(rows(scenes(4), byte_tokens, 768), 2)), CPU)


@pytest.fixture(autouse=True)
def _no_gradients() -> Iterator[None]:
    with torch.no_grad():  # FlexAttention has none on a CPU
        yield


def test_packed_dialogues_say_what_they_say_alone(model: Llama, batch: Batch) -> None:
    packed = model(batch.tokens, batch.positions, dense_mask(batch.segments, batch.roots))
    segments, roots = batch.segments[1], batch.roots[1]
    checked = 0
    for segment in range(1, int(segments.max()) + 1):
        at = segments == segment
        root = int(roots[at][0])
        if root == segment:
            continue  # a system prompt
        alone = at | (segments == root)
        tokens = batch.tokens[1][alone][None]
        ones = torch.ones_like(tokens)
        positions = torch.arange(tokens.shape[1])[None]
        expected = model(tokens, positions, dense_mask(ones, ones))[0]
        torch.testing.assert_close(packed[1][alone][-1], expected[-1], rtol=1e-3, atol=1e-4)
        checked += 1
    assert checked >= 4


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_both_kinds_of_mask_mean_the_same(model: Llama, batch: Batch) -> None:
    dense = model(batch.tokens, batch.positions, dense_mask(batch.segments, batch.roots))
    flex = model(batch.tokens, batch.positions, block_mask(batch.segments, batch.roots))
    filled = batch.segments > 0
    torch.testing.assert_close(flex[filled], dense[filled], rtol=1e-3, atol=1e-4)

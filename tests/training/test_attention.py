"""A dialogue in a full row is computed as if it were alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from tests.training.little_scenes import scenes
from training.attention import block_mask, dense_mask
from training.batch import Batch
from training.llama import Llama
from training.packing import rows
from training.tokens import Tokens

CPU = torch.device("cpu")


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


@pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
def test_both_kinds_of_mask_mean_the_same(model: Llama, batch: Batch) -> None:
    dense = model(batch.tokens, batch.positions, dense_mask(batch.segments, batch.roots))
    flex = model(batch.tokens, batch.positions, block_mask(batch.segments, batch.roots))
    filled = batch.segments > 0
    torch.testing.assert_close(flex[filled], dense[filled], rtol=1e-3, atol=1e-4)

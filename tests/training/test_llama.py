"""The Llama in PyTorch computes what llama.cpp computes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from edgevox.errors import ModelError
from tests.llm.lora_files import write_adapter, write_as_f16
from tests.training.evaluated import llama_cpp_logits, our_logits
from training.llama import Llama
from training.scene import Line
from training.tokens import Tokens

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

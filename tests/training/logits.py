"""What llama.cpp and the training's own model say comes after a prompt."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from edgevox.llm.context import LlamaContext
from training.llm.llama import Llama, dense_mask


def llama_cpp_logits(model: Path, tokens: Sequence[int], adapter: Path | None = None) -> NDArray[np.float32]:
    context = LlamaContext(model, context_tokens=512, threads=2, prompt_threads=2, adapter_path=adapter)
    try:
        context.evaluate(tokens, 0, 0)
        return np.array(context.logits())
    finally:
        context.close()


def our_logits(model: Llama, tokens: Sequence[int]) -> NDArray[np.float32]:
    row = torch.tensor([tokens])
    ones = torch.ones_like(row)
    with torch.no_grad():
        known = model(row, torch.arange(len(tokens))[None], dense_mask(ones, ones))
        logits: NDArray[np.float32] = model.logits(known[:, -1])[0].numpy()
    return logits

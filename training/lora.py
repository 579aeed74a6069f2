"""LoRA: a small trained addition to every linear map of a frozen model."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from training.llama import Linear, Llama

MAPS = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
"""The linear maps of a block, by GGUF's names."""


class AdaptedLinear(nn.Module):
    """A frozen map and what is learnt: W·x + (alpha / rank) · B·A·x. A and B are kept in float32."""

    def __init__(self, base: Linear, rank: int, alpha: float) -> None:
        super().__init__()
        self.base = base
        rows, columns = base.weight.shape
        device = base.weight.device
        self.a = nn.Parameter(torch.empty(rank, columns, device=device))
        self.b = nn.Parameter(torch.zeros(rows, rank, device=device))
        self.scale = alpha / rank
        nn.init.kaiming_uniform_(self.a, a=math.sqrt(5))

    def take(self, a: Tensor, b: Tensor, alpha: float) -> None:
        """Put other factors in the place of these, of whatever rank."""
        device = self.base.weight.device
        self.a, self.b = nn.Parameter(a.to(device)), nn.Parameter(b.to(device))
        self.scale = alpha / len(a)

    def forward(self, x: Tensor) -> Tensor:
        inner = functional.linear(x, self.a.to(x.dtype))
        added = functional.linear(inner, (self.scale * self.b).to(x.dtype))
        said: Tensor = self.base(x) + added
        return said


def add_lora(model: Llama, rank: int, alpha: float) -> dict[str, AdaptedLinear]:
    """Put an adapter on every linear map, by GGUF's name of its weight; it changes nothing yet."""
    adapted: dict[str, AdaptedLinear] = {}
    for number, block in enumerate(model.blocks):
        for name in MAPS:
            linear = AdaptedLinear(getattr(block, name), rank, alpha)
            setattr(block, name, linear)
            adapted[f"blk.{number}.{name}.weight"] = linear
    return adapted

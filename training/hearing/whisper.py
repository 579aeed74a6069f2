"""Whisper in plain PyTorch, in CTranslate2's own layout: its weights frozen, an adapter beside them.

The attention's three maps are one matrix there, so an adapter that is learnt here is added to the deployed
file without any rearranging.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

_HEADS = 8


@dataclass(frozen=True, slots=True)
class Whisper:
    """`weights` by their names in model.bin; `learnt` holds `NAME.a` and `NAME.b` for the maps that learn."""

    weights: Mapping[str, Tensor]
    learnt: Mapping[str, Tensor]
    strength: float

    def encode(self, features: Tensor) -> Tensor:
        """Features (batch, 80, frames) to states (batch, frames / 2, width)."""
        known = functional.gelu(functional.conv1d(features, *self._pair("encoder/conv1"), padding=1))
        known = functional.gelu(
            functional.conv1d(known, *self._pair("encoder/conv2"), stride=2, padding=1)
        ).transpose(1, 2)
        known = known + self.weights["encoder/position_encodings/encodings"][: known.shape[1]]
        for layer in layers(self.weights, "encoder"):
            known = known + self._self_attention(layer, known, is_causal=False)
            known = known + self._ffn(layer, known)
        return self._norm("encoder/layer_norm", known)

    def decode(self, tokens: Tensor, heard: Tensor) -> Tensor:
        """The states behind each token; `logits` makes words of them."""
        known = functional.embedding(tokens, self.weights["decoder/embeddings/weight"])
        known = known + self.weights["decoder/position_encodings/encodings"][: tokens.shape[1]]
        for layer in layers(self.weights, "decoder"):
            known = known + self._self_attention(layer, known, is_causal=True)
            normed = self._norm(f"{layer}/attention/layer_norm", known)
            query = self._linear(f"{layer}/attention/linear_0", normed)
            key, value = self._linear(f"{layer}/attention/linear_1", heard).chunk(2, dim=-1)
            known = known + self._linear(f"{layer}/attention/linear_2", _attend(query, key, value))
            known = known + self._ffn(layer, known)
        return self._norm("decoder/layer_norm", known)

    def logits(self, known: Tensor) -> Tensor:
        return functional.linear(known, self.weights["decoder/embeddings/weight"])

    def _self_attention(self, layer: str, known: Tensor, *, is_causal: bool) -> Tensor:
        normed = self._norm(f"{layer}/self_attention/layer_norm", known)
        query, key, value = self._linear(f"{layer}/self_attention/linear_0", normed).chunk(3, dim=-1)
        attended = _attend(query, key, value, is_causal=is_causal)
        return self._linear(f"{layer}/self_attention/linear_1", attended)

    def _ffn(self, layer: str, known: Tensor) -> Tensor:
        inner = self._linear(f"{layer}/ffn/linear_0", self._norm(f"{layer}/ffn/layer_norm", known))
        return self._linear(f"{layer}/ffn/linear_1", functional.gelu(inner))

    def _linear(self, name: str, known: Tensor) -> Tensor:
        mapped = functional.linear(known, *self._pair(name))
        if f"{name}.a" not in self.learnt:
            return mapped
        low = functional.linear(known, self.learnt[f"{name}.a"].to(known.dtype))
        return mapped + functional.linear(low, self.learnt[f"{name}.b"].to(known.dtype)) * self.strength

    def _norm(self, name: str, known: Tensor) -> Tensor:
        return functional.layer_norm(
            known, known.shape[-1:], self.weights[f"{name}/gamma"], self.weights[f"{name}/beta"], eps=1e-5
        )

    def _pair(self, name: str) -> tuple[Tensor, Tensor]:
        return self.weights[f"{name}/weight"], self.weights[f"{name}/bias"]


def layers(weights: Mapping[str, Tensor], part: str) -> list[str]:
    """The names of a part's layers, in their order."""
    count = sum(
        name.startswith(f"{part}/layer_") and name.endswith("/ffn/linear_0/weight") for name in weights
    )
    return [f"{part}/layer_{number}" for number in range(count)]


def linear_maps(weights: Mapping[str, Tensor]) -> list[str]:
    """The names of all maps of all layers."""
    return [
        name.removesuffix("/weight")
        for name in sorted(weights)
        if "/layer_" in name and "/linear_" in name and name.endswith("/weight")
    ]


def new_adapter(weights: Mapping[str, Tensor], rank: int, *, seed: int) -> dict[str, Tensor]:
    """An adapter that changes nothing yet."""
    chance = torch.Generator(device="cpu").manual_seed(seed)
    learnt: dict[str, Tensor] = {}
    for name in linear_maps(weights):
        out, into = weights[f"{name}/weight"].shape
        device = weights[f"{name}/weight"].device
        learnt[f"{name}.a"] = (torch.randn(rank, into, generator=chance) * into**-0.5).to(device)
        learnt[f"{name}.b"] = torch.zeros(out, rank, device=device)
    return learnt


def as_tensors(
    read: Mapping[str, NDArray[np.generic]], *, dtype: torch.dtype, device: torch.device
) -> dict[str, Tensor]:
    """The weights of a model.bin; its settings are left out."""
    return {
        name: torch.from_numpy(np.array(value, np.float32)).to(device, dtype)
        for name, value in read.items()
        if value.ndim and value.dtype.kind == "f"
    }


def _attend(query: Tensor, key: Tensor, value: Tensor, *, is_causal: bool = False) -> Tensor:
    q, k, v = (part.unflatten(-1, (_HEADS, -1)).transpose(1, 2) for part in (query, key, value))
    return functional.scaled_dot_product_attention(q, k, v, is_causal=is_causal).transpose(1, 2).flatten(2)

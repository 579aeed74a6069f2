"""Whisper in plain PyTorch, in CTranslate2's own layout: its weights frozen, an adapter beside them.

The attention's three maps are one matrix there, so an adapter that is learnt here is added to the deployed
file without any rearranging.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

# English, as it is said, without timestamps; and the end.
START = (50258, 50259, 50359, 50363)
END = 50257
_BLANK = 220
_HEAD_WIDTH = 64


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

    def memory(self, heard: Tensor) -> list[tuple[Tensor, Tensor]]:
        """What each layer of the decoder attends to: keys and values of what the encoder made."""
        key_values = (
            self._linear(f"{layer}/attention/linear_1", heard).chunk(2, dim=-1)
            for layer in layers(self.weights, "decoder")
        )
        return [(key, value) for key, value in key_values]

    def decode(self, tokens: Tensor, memory: Sequence[tuple[Tensor, Tensor]]) -> Tensor:
        """The states behind each token; `logits` makes words of them."""
        known = functional.embedding(tokens, self.weights["decoder/embeddings/weight"])
        known = known + self.weights["decoder/position_encodings/encodings"][: tokens.shape[1]]
        for layer, (key, value) in zip(layers(self.weights, "decoder"), memory, strict=True):
            known = known + self._self_attention(layer, known, is_causal=True)
            normed = self._norm(f"{layer}/attention/layer_norm", known)
            query = self._linear(f"{layer}/attention/linear_0", normed)
            known = known + self._linear(f"{layer}/attention/linear_2", _attend(query, key, value))
            known = known + self._ffn(layer, known)
        return self._norm("decoder/layer_norm", known)

    def logits(self, known: Tensor) -> Tensor:
        return functional.linear(known, self.weights["decoder/embeddings/weight"])

    @torch.no_grad()
    def greedy(self, heard: Tensor, prompt: Sequence[int], *, most: int) -> tuple[list[list[int]], Tensor]:
        """The likeliest tokens behind the prompt, up to the end, and their mean log probability."""
        memory = self.memory(heard)
        tokens = torch.tensor(prompt, device=heard.device).repeat(len(heard), 1)
        total, count = (
            torch.zeros(len(heard), device=heard.device),
            torch.zeros(len(heard), device=heard.device),
        )
        is_over = torch.zeros(len(heard), dtype=torch.bool, device=heard.device)
        for step in range(most):
            scores = self.logits(self.decode(tokens, memory)[:, -1]).float().log_softmax(-1)
            scores[:, END + 1 :] = -torch.inf
            if step == 0:
                scores[:, [END, _BLANK]] = -torch.inf
            best, chosen = scores.max(-1)
            chosen = torch.where(is_over, END, chosen)
            total += torch.where(is_over, 0.0, best)
            count += ~is_over
            is_over |= chosen == END
            tokens = torch.cat([tokens, chosen[:, None]], 1)
            if is_over.all():
                break
        written = [[token for token in row if token != END] for row in tokens[:, len(prompt) :].tolist()]
        return written, total / count

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


def skip_cudnn_attention() -> None:
    """Leave out cuDNN's attention: it plans anew for each shape, and hardly two steps have the same."""
    torch.backends.cuda.enable_cudnn_sdp(enabled=False)


def as_tensors(
    read: Mapping[str, NDArray[np.generic]], *, dtype: torch.dtype, device: torch.device
) -> dict[str, Tensor]:
    """The weights of a model.bin, in whatever numbers; its settings are left out."""
    weights: dict[str, Tensor] = {}
    for name, value in read.items():
        if not value.ndim or name.endswith("_scale"):
            continue
        wide = np.array(value, np.float32)
        if value.dtype == np.int8:
            wide /= np.asarray(read[f"{name}_scale"], np.float32)[:, None]
        weights[name] = torch.from_numpy(wide).to(device, dtype)
    return weights


def _attend(query: Tensor, key: Tensor, value: Tensor, *, is_causal: bool = False) -> Tensor:
    q, k, v = (part.unflatten(-1, (-1, _HEAD_WIDTH)).transpose(1, 2) for part in (query, key, value))
    return functional.scaled_dot_product_attention(q, k, v, is_causal=is_causal).transpose(1, 2).flatten(2)

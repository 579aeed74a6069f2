"""Llama in PyTorch with the frozen weights of a GGUF file, and attention over packed dialogues.

GGUF's query and key weights are made for rotating neighbouring pairs, so nothing is permuted, neither on
loading nor in an adapter. An attention mask is a boolean array, which works everywhere, or a BlockMask for
FlexAttention, which needs a GPU and torch.compile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch
from gguf import GGUFReader, dequantize
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention

from edgevox.core.errors import ModelError

Mask: TypeAlias = Tensor | BlockMask


def dense_mask(segments: Tensor, roots: Tensor) -> Tensor:
    """Truth values (rows, 1, queries, keys): each token sees its segment and its root, no later token.

    `segments` and `roots` are (rows, tokens): the part that a token belongs to, and the one it continues.
    """
    of_key = segments[:, None, None, :]
    related = (of_key == segments[:, None, :, None]) | (of_key == roots[:, None, :, None])
    length = segments.shape[1]
    return related & torch.ones(length, length, dtype=torch.bool, device=segments.device).tril()


def block_mask(segments: Tensor, roots: Tensor) -> BlockMask:
    """The same for FlexAttention."""

    def sees(row: Tensor, _head: Tensor, query: Tensor, key: Tensor) -> Tensor:
        of_key = segments[row, key]
        related = (of_key == segments[row, query]) | (of_key == roots[row, query])
        return related & (key <= query)

    rows, length = segments.shape
    return create_block_mask(sees, rows, None, length, length, device=segments.device)


def attention(q: Tensor, k: Tensor, v: Tensor, mask: Mask) -> Tensor:
    """What the heads say: (rows, heads, tokens, width). Several query heads may share a key head."""
    if isinstance(mask, BlockMask):
        said: Tensor = flex_attention(q, k, v, block_mask=mask, enable_gqa=True)
        return said
    # The fast kernels that take a mask know no shared heads.
    shared = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(shared, dim=1), v.repeat_interleave(shared, dim=1)
    return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)


@dataclass(frozen=True, slots=True)
class Shape:
    """The sizes of a Llama."""

    blocks: int
    width: int
    heads: int
    kv_heads: int
    rope_base: float
    norm_epsilon: float

    @property
    def head_width(self) -> int:
        return self.width // self.heads


class Llama(nn.Module):
    """A Llama whose output matrix is its embedding."""

    def __init__(self, shape: Shape, weights: dict[str, Tensor]) -> None:
        super().__init__()
        self.shape = shape
        self.embedding = _frozen(weights["token_embd.weight"])
        self.blocks = nn.ModuleList(Block(shape, weights, f"blk.{n}.") for n in range(shape.blocks))
        self.norm = Norm(weights["output_norm.weight"], shape.norm_epsilon)

    @classmethod
    def from_gguf(cls, path: Path, *, dtype: torch.dtype, device: torch.device) -> Llama:
        """The model in that file, in numbers of that type. Raises ModelError when it is not such a Llama."""
        reader = GGUFReader(path)
        facts = {name: field.contents() for name, field in reader.fields.items() if len(field.data) == 1}
        names = {tensor.name for tensor in reader.tensors}
        if facts["general.architecture"] != "llama" or "output.weight" in names:
            raise ModelError(
                f"{path.name} is not a Llama that shares its embedding with its output",
                hint="train on a GGUF of SmolLM2",
            )
        shape = Shape(
            blocks=facts["llama.block_count"],
            width=facts["llama.embedding_length"],
            heads=facts["llama.attention.head_count"],
            kv_heads=facts["llama.attention.head_count_kv"],
            rope_base=facts["llama.rope.freq_base"],
            norm_epsilon=facts["llama.attention.layer_norm_rms_epsilon"],
        )
        weights: dict[str, Tensor] = {}
        for tensor in reader.tensors:
            numbers = torch.from_numpy(np.array(dequantize(tensor.data, tensor.tensor_type)))
            # The norms stay in float32: they are tiny, and llama.cpp has them so.
            weights[tensor.name] = numbers.to(device, dtype if numbers.ndim > 1 else torch.float32)
        return cls(shape, weights)

    def rotation(self, positions: Tensor) -> tuple[Tensor, Tensor]:
        """Cosines and sines for positions (rows, tokens), as (rows, 1, tokens, pairs)."""
        width = self.shape.head_width
        exponents = torch.arange(0, width, 2, device=positions.device, dtype=torch.float32) / width
        angles = positions[:, None, :, None].float() * self.shape.rope_base**-exponents
        return angles.cos(), angles.sin()

    def forward(self, tokens: Tensor, positions: Tensor, mask: Mask, memory: Sequence[Memory] | None = None) -> Tensor:
        """What is known behind each token (rows, tokens, width).

        With a memory, one entry for each block, the mask has a column for every token remembered so far.
        """
        rotation = self.rotation(positions)
        x = functional.embedding(tokens, self.embedding)
        if torch.is_grad_enabled():
            x.requires_grad_()  # as it is behind the first block: then one compilation is for all of them
        for number, block in enumerate(self.blocks):
            x = block(x, rotation, mask, memory[number] if memory else None)
        said: Tensor = self.norm(x)
        return said

    def logits(self, x: Tensor) -> Tensor:
        """The scores of the next token, in float32."""
        return functional.linear(x, self.embedding).float()


class Memory:
    """The keys and values of one block for the tokens seen so far, in room that was made for all of them."""

    def __init__(self, shape: Shape, rows: int, room_tokens: int, embedding: Tensor) -> None:
        room = (rows, shape.kv_heads, room_tokens, shape.head_width)
        self._keys, self._values = embedding.new_empty(room), embedding.new_empty(room)
        self._length = 0

    def extend(self, keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
        """All keys and values, the new ones included."""
        begin, self._length = self._length, self._length + keys.shape[2]
        self._keys[:, :, begin : self._length] = keys
        self._values[:, :, begin : self._length] = values
        return self._keys[:, :, : self._length], self._values[:, :, : self._length]


class Block(nn.Module):
    """Attention, then the two-layer map, each added to what was there."""

    def __init__(self, shape: Shape, weights: dict[str, Tensor], prefix: str) -> None:
        super().__init__()
        self.head_width = shape.head_width
        self.attn_norm = Norm(weights[f"{prefix}attn_norm.weight"], shape.norm_epsilon)
        self.ffn_norm = Norm(weights[f"{prefix}ffn_norm.weight"], shape.norm_epsilon)
        # Named as in GGUF: an adapter's tensors are called so.
        self.attn_q = Linear(weights[f"{prefix}attn_q.weight"])
        self.attn_k = Linear(weights[f"{prefix}attn_k.weight"])
        self.attn_v = Linear(weights[f"{prefix}attn_v.weight"])
        self.attn_output = Linear(weights[f"{prefix}attn_output.weight"])
        self.ffn_gate = Linear(weights[f"{prefix}ffn_gate.weight"])
        self.ffn_up = Linear(weights[f"{prefix}ffn_up.weight"])
        self.ffn_down = Linear(weights[f"{prefix}ffn_down.weight"])

    def forward(self, x: Tensor, rotation: tuple[Tensor, Tensor], mask: Mask, memory: Memory | None) -> Tensor:
        seen = self.attn_norm(x)
        q = rotate(self._heads(self.attn_q(seen)), rotation)
        k = rotate(self._heads(self.attn_k(seen)), rotation)
        v = self._heads(self.attn_v(seen))
        if memory is not None:
            k, v = memory.extend(k, v)
        x = x + self.attn_output(attention(q, k, v, mask).transpose(1, 2).flatten(2))
        seen = self.ffn_norm(x)
        out: Tensor = x + self.ffn_down(functional.silu(self.ffn_gate(seen)) * self.ffn_up(seen))
        return out

    def _heads(self, x: Tensor) -> Tensor:
        rows, tokens, _ = x.shape
        return x.view(rows, tokens, -1, self.head_width).transpose(1, 2)


class Linear(nn.Module):
    """A frozen linear map without an offset."""

    def __init__(self, weight: Tensor) -> None:
        super().__init__()
        self.weight = _frozen(weight)

    def forward(self, x: Tensor) -> Tensor:
        return functional.linear(x, self.weight)


class Norm(nn.Module):
    """Root mean square norm, computed in float32."""

    def __init__(self, weight: Tensor, epsilon: float) -> None:
        super().__init__()
        self.weight = _frozen(weight)
        self.epsilon = epsilon

    def forward(self, x: Tensor) -> Tensor:
        exact = x.float()
        scale = torch.rsqrt(exact.square().mean(-1, keepdim=True) + self.epsilon)
        return (exact * scale * self.weight).to(x.dtype)


def rotate(x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    """Rotate neighbouring pairs of (rows, heads, tokens, width)."""
    cosine, sine = rotation
    even, odd = x.float().view(*x.shape[:-1], -1, 2).unbind(-1)
    turned = torch.stack((even * cosine - odd * sine, even * sine + odd * cosine), dim=-1)
    return turned.flatten(-2).to(x.dtype)


def _frozen(weight: Tensor) -> nn.Parameter:
    return nn.Parameter(weight, requires_grad=False)

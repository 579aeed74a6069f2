"""Who may look at whom in a row of several dialogues, and attention that keeps to it.

A mask is an array of truth values, which works everywhere, or a BlockMask, with which FlexAttention skips
what nobody looks at; the second needs a GPU and torch.compile.
"""

from __future__ import annotations

from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention

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

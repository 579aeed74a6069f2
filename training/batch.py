"""The rows of one step on the device, and what the model is to learn from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from training.attention import Mask
from training.llama import Llama
from training.packing import Row


@dataclass(frozen=True, slots=True)
class Batch:
    """Arrays (rows, tokens); `learnt_at` are the places, rows laid end to end, where `targets` come next."""

    tokens: Tensor
    positions: Tensor
    segments: Tensor
    roots: Tensor
    learnt_at: Tensor
    targets: Tensor

    @classmethod
    def of(cls, rows: Sequence[Row], device: torch.device) -> Batch:
        def moved(numbers: Sequence[NDArray[np.int32]]) -> Tensor:
            return torch.from_numpy(np.stack(numbers)).to(device)

        # Found here: a GPU that is asked where they are makes the process wait for it.
        targets = np.concatenate([row.targets for row in rows]).astype(np.int64)
        learnt_at = np.flatnonzero(targets >= 0)
        return cls(
            tokens=moved([row.tokens for row in rows]),
            positions=moved([row.positions for row in rows]),
            segments=moved([row.segments for row in rows]),
            roots=moved([row.roots for row in rows]),
            learnt_at=torch.from_numpy(learnt_at).to(device),
            targets=torch.from_numpy(targets[learnt_at]).to(device),
        )


def mean_loss(model: Llama, batch: Batch, mask: Mask) -> Tensor:
    """The mean over the tokens that are learnt."""
    known = model(batch.tokens, batch.positions, mask).flatten(0, 1)
    return functional.cross_entropy(model.logits(known.index_select(0, batch.learnt_at)), batch.targets)

"""The next token: llama.cpp's own samplers over the scores of the whole vocabulary."""

from __future__ import annotations

import ctypes
from collections.abc import Collection

import llama_cpp
import numpy as np
from numpy.typing import NDArray

from edgevox.types import Sampling

_RANDOM_SEED = llama_cpp.LLAMA_DEFAULT_SEED
_PENALTY_TOKENS = 64

TOKEN_DATA = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])


class Candidates:
    """Every token with its score, in the form that llama.cpp's samplers read and write."""

    def __init__(self, vocabulary_size: int) -> None:
        self.data = np.zeros(vocabulary_size, TOKEN_DATA)
        self._ids = np.arange(vocabulary_size, dtype=np.int32)
        self._array = llama_cpp.llama_token_data_array(
            self.data.ctypes.data_as(llama_cpp.llama_token_data_p), vocabulary_size, -1, False
        )

    def apply(
        self,
        sampler: llama_cpp.llama_sampler_p,
        logits: NDArray[np.float32],
        among: NDArray[np.intp] | None = None,
    ) -> int:
        """Run a sampler over the scores, of `among` or of all; the index in `data` that it selected."""
        size = len(logits if among is None else among)
        self.data["id"][:size] = self._ids if among is None else among
        self.data["logit"][:size] = logits if among is None else logits[among]
        self._array.size = size
        self._array.selected = -1
        self._array.sorted = False
        llama_cpp.llama_sampler_apply(sampler, ctypes.byref(self._array))
        return int(self._array.selected)


class Sampler:
    """Picks tokens as `sampling` says; `banned` tokens are never picked. Call `close` when done."""

    def __init__(self, candidates: Candidates, sampling: Sampling, *, banned: Collection[int] = ()) -> None:
        self._candidates = candidates
        self._chain = llama_cpp.llama_sampler_chain_init(llama_cpp.llama_sampler_chain_default_params())
        size = len(candidates.data)
        if banned:
            bias = (llama_cpp.llama_logit_bias * len(banned))(*((token, -np.inf) for token in banned))
            self._add(llama_cpp.llama_sampler_init_logit_bias(size, len(banned), bias))
        if sampling.repeat_penalty != 1.0:
            self._add(
                llama_cpp.llama_sampler_init_penalties(
                    size, _PENALTY_TOKENS, sampling.repeat_penalty, 0.0, 0.0
                )
            )
        if sampling.temperature <= 0.0:
            self._add(llama_cpp.llama_sampler_init_greedy())
            return
        if sampling.top_k > 0:
            self._add(llama_cpp.llama_sampler_init_top_k(sampling.top_k))
        if sampling.top_p < 1.0:
            self._add(llama_cpp.llama_sampler_init_top_p(sampling.top_p, 1))
        if sampling.min_p > 0.0:
            self._add(llama_cpp.llama_sampler_init_min_p(sampling.min_p, 1))
        self._add(llama_cpp.llama_sampler_init_temp(sampling.temperature))
        seed = _RANDOM_SEED if sampling.seed is None else sampling.seed % _RANDOM_SEED
        self._add(llama_cpp.llama_sampler_init_dist(seed))

    def pick(self, logits: NDArray[np.float32], among: NDArray[np.intp] | None = None) -> int:
        """A token, one of `among` where those are given; it counts as written only once it is accepted."""
        selected = self._candidates.apply(self._chain, logits, among)
        return int(self._candidates.data["id"][selected])

    def accept(self, token: int) -> None:
        """The reply goes on with this token."""
        llama_cpp.llama_sampler_accept(self._chain, token)

    def close(self) -> None:
        llama_cpp.llama_sampler_free(self._chain)

    def _add(self, sampler: llama_cpp.llama_sampler_p) -> None:
        llama_cpp.llama_sampler_chain_add(self._chain, sampler)

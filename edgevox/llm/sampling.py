"""Samples the next token with llama.cpp's samplers, restricted to a grammar by llguidance or by llama.cpp.

The constraint first checks the model's own pick; the set of allowed tokens is computed only if that is rejected.
"""

from __future__ import annotations

import copy
import ctypes
from collections import OrderedDict
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Literal, Protocol, TypeAlias

import llama_cpp
import llguidance
import numpy as np
from numpy.typing import NDArray

from edgevox.core.errors import GrammarRejected
from edgevox.core.types import Sampling
from edgevox.llm.context import Vocabulary
from edgevox.llm.grammars import CallGrammar

_RANDOM_SEED = llama_cpp.LLAMA_DEFAULT_SEED
_PENALTY_TOKENS = 64

TOKEN_DATA = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])


class Candidates:
    """All tokens with their logits, in the layout of llama.cpp's samplers."""

    def __init__(self, vocabulary_size: int) -> None:
        self.data = np.zeros(vocabulary_size, TOKEN_DATA)
        self._ids = np.arange(vocabulary_size, dtype=np.int32)
        self._array = llama_cpp.llama_token_data_array(
            self.data.ctypes.data_as(llama_cpp.llama_token_data_p), vocabulary_size, -1, False
        )

    def apply(
        self, sampler: llama_cpp.llama_sampler_p, logits: NDArray[np.float32], among: NDArray[np.intp] | None = None
    ) -> int:
        """Run a sampler over the logits of `among`, or of all; return the index in `data` it selected."""
        size = len(logits if among is None else among)
        self.data["id"][:size] = self._ids if among is None else among
        self.data["logit"][:size] = logits if among is None else logits[among]
        self._array.size = size
        self._array.selected = -1
        self._array.sorted = False
        llama_cpp.llama_sampler_apply(sampler, ctypes.byref(self._array))
        return int(self._array.selected)


class Sampler:
    """Picks tokens as configured by `sampling`, never one of `banned`. Call `close` when done."""

    def __init__(self, candidates: Candidates, sampling: Sampling, *, banned: Collection[int] = ()) -> None:
        self._candidates = candidates
        self._chain = llama_cpp.llama_sampler_chain_init(llama_cpp.llama_sampler_chain_default_params())
        size = len(candidates.data)
        if banned:
            bias = (llama_cpp.llama_logit_bias * len(banned))(*((token, -np.inf) for token in banned))
            self._add(llama_cpp.llama_sampler_init_logit_bias(size, len(banned), bias))
        if sampling.repeat_penalty != 1.0:
            self._add(llama_cpp.llama_sampler_init_penalties(size, _PENALTY_TOKENS, sampling.repeat_penalty, 0.0, 0.0))
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
        """Pick a token, one of `among` if given; `accept` it to count it as written."""
        selected = self._candidates.apply(self._chain, logits, among)
        return int(self._candidates.data["id"][selected])

    def accept(self, token: int) -> None:
        """Add the token to the reply."""
        llama_cpp.llama_sampler_accept(self._chain, token)

    def close(self) -> None:
        llama_cpp.llama_sampler_free(self._chain)

    def _add(self, sampler: llama_cpp.llama_sampler_p) -> None:
        llama_cpp.llama_sampler_chain_add(self._chain, sampler)


ConstraintEngine: TypeAlias = Literal["llguidance", "llama.cpp"]

_COMPILED_KEPT = 16
_SPECIAL = b"\xff"  # llguidance's prefix for a token that no grammar text matches


class Constraint(Protocol):
    """The position of one reply in a grammar."""

    def fork(self) -> Constraint:
        """Return a constraint at the same position that advances on its own."""

    def forced(self) -> list[int]:
        """Return the tokens that must come next, as far as the backend can find them."""
        return []

    def allows(self, token: int) -> bool:
        """Whether `token` may come next."""

    def allowed(self) -> NDArray[np.intp]:
        """Return all tokens that may come next."""

    def accept(self, tokens: Sequence[int]) -> bool:
        """Advance by tokens; if one is not allowed return False, and the constraint is then invalid."""

    def finished(self) -> bool:
        """Whether only the end can follow, as far as the backend can find that."""
        return False

    def close(self) -> None:
        """Free native resources."""


class Constrainer:
    """Compiles grammars for one vocabulary and caches recent ones; `engine` is the preferred backend."""

    def __init__(self, vocabulary: Vocabulary, candidates: Candidates, engine: ConstraintEngine) -> None:
        self._vocabulary = vocabulary
        self._candidates = candidates
        self._engine = engine
        self._falls_back = True
        self._compiled: OrderedDict[CallGrammar, Constraint] = OrderedDict()

    def fork(self) -> Constrainer:
        """Return another one for API clients, for the same vocabulary with its own cache.

        It has no second backend: the time of llama.cpp's own grammars has no bound, and what llguidance rejects can be
        made to take minutes.
        """
        other = copy.copy(self)
        other._falls_back = self._engine != "llguidance"
        other._compiled = OrderedDict()
        return other

    def start(self, grammar: CallGrammar) -> Constraint:
        """Return a constraint at its start. Raises GrammarRejected if no backend can compile the grammar."""
        compiled = self._compiled.get(grammar)
        if compiled is None:
            compiled = self._compiled[grammar] = self._compile(grammar)
            if len(self._compiled) > _COMPILED_KEPT:
                self._compiled.popitem(last=False)[1].close()
        self._compiled.move_to_end(grammar)
        return compiled.fork()

    def _compile(self, grammar: CallGrammar) -> Constraint:
        if self._engine == "llguidance":
            matcher = llguidance.LLMatcher(self._tokenizer, llguidance.LLMatcher.grammar_from_lark(grammar.lark))
            if not matcher.is_error():
                return _GuidanceConstraint(matcher, self._vocabulary.size)
            if not self._falls_back:
                raise GrammarRejected("the schemas of the request are too complex", hint="simplify their patterns")
        sampler = llama_cpp.llama_sampler_init_grammar(self._vocabulary.pointer, grammar.gbnf.encode(), b"root")
        if not sampler:
            raise GrammarRejected(
                "llama.cpp cannot compile the grammar of these tools",
                hint="`edgevox grammar --tools FILE` shows it; a simpler schema helps",
            )
        return _NativeConstraint(sampler, self._candidates)

    @cached_property
    def _tokenizer(self) -> llguidance.LLTokenizer:
        # Only end tokens are special. Other control tokens match by their text, since the markers of many wire formats
        # ([TOOL_CALLS], <|tool_call|>) are such tokens and stand in the grammars as text.
        vocabulary = self._vocabulary
        ends = vocabulary.end_tokens
        tokenizer: llguidance.LLTokenizer = llguidance.LLTokenizer.from_llamacpp(  # type: ignore[attr-defined]
            # (missing in its stubs)
            tokens=[
                _SPECIAL + piece if token in ends else piece for token, piece in enumerate(vocabulary.all_pieces())
            ],
            vocab_ptr=vocabulary.pointer,
            tokenize_fptr=ctypes.cast(llama_cpp.llama_cpp._lib.llama_tokenize, ctypes.c_void_p).value,
            eos_token=sorted(ends),
            slices=None,
        )
        return tokenizer


class _GuidanceConstraint(Constraint):
    def __init__(self, matcher: llguidance.LLMatcher, vocabulary_size: int) -> None:
        self._matcher = matcher
        self._vocabulary_size = vocabulary_size
        self._bits = np.zeros((vocabulary_size + 31) // 32, np.uint32)

    def fork(self) -> Constraint:
        return _GuidanceConstraint(self._matcher.deep_copy(), self._vocabulary_size)

    def forced(self) -> list[int]:
        return self._matcher.compute_ff_tokens()

    def allows(self, token: int) -> bool:
        return self._matcher.validate_tokens([token]) == 1

    def allowed(self) -> NDArray[np.intp]:
        self._matcher.unsafe_compute_mask_ptr(self._bits.ctypes.data, self._bits.nbytes)
        bits = np.unpackbits(self._bits.view(np.uint8), bitorder="little", count=self._vocabulary_size)
        return np.flatnonzero(bits)

    def accept(self, tokens: Sequence[int]) -> bool:
        return self._matcher.consume_tokens(list(tokens))

    def finished(self) -> bool:
        return self._matcher.is_stopped()

    def close(self) -> None:
        """Nothing to free."""


class _NativeConstraint(Constraint):
    def __init__(self, sampler: llama_cpp.llama_sampler_p, candidates: Candidates) -> None:
        self._sampler = sampler
        self._candidates = candidates
        self._any_logits = np.zeros(len(candidates.data), np.float32)
        self._one = llama_cpp.llama_token_data(0, 0.0, 0.0)
        self._one_array = llama_cpp.llama_token_data_array(ctypes.pointer(self._one), 1, -1, False)

    def fork(self) -> Constraint:
        return _NativeConstraint(llama_cpp.llama_sampler_clone(self._sampler), self._candidates)

    def allows(self, token: int) -> bool:
        self._one.id, self._one.logit = token, 0.0
        llama_cpp.llama_sampler_apply(self._sampler, ctypes.byref(self._one_array))
        return bool(self._one.logit == 0.0)

    def allowed(self) -> NDArray[np.intp]:
        self._candidates.apply(self._sampler, self._any_logits)
        # A grammar neither sorts nor shortens the candidates.
        return np.flatnonzero(self._candidates.data["logit"] == 0.0)

    def accept(self, tokens: Sequence[int]) -> bool:
        for token in tokens:
            # llama.cpp aborts the process if a grammar must accept a token it does not allow.
            if not self.allows(token):
                return False
            llama_cpp.llama_sampler_accept(self._sampler, token)
        return True

    def close(self) -> None:
        llama_cpp.llama_sampler_free(self._sampler)

"""Both grammar backends for tests: llama.cpp on GBNF, llguidance on Lark, each byte by byte."""

from __future__ import annotations

import ctypes
import random
from pathlib import Path
from typing import Any

import llama_cpp
from llguidance import LLMatcher, LLTokenizer

_MAX_PIECE_BYTES = 64
_QUIET = llama_cpp.llama_log_callback(lambda level, text, data: None)


class GrammarChecker:
    """Checks texts against GBNF with llama.cpp, byte by byte, with the vocabulary of a GGUF file."""

    def __init__(self, model: Path) -> None:
        llama_cpp.llama_log_set(_QUIET, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        params = llama_cpp.llama_model_default_params()
        params.vocab_only = True
        self._model = llama_cpp.llama_model_load_from_file(str(model).encode(), params)
        self._vocab = llama_cpp.llama_model_get_vocab(self._model)
        self._end = llama_cpp.llama_vocab_eos(self._vocab)
        self._tokens = self._byte_tokens()
        self._candidate = (llama_cpp.llama_token_data * 1)()

    def close(self) -> None:
        llama_cpp.llama_model_free(self._model)

    def can_write(self, text: str) -> bool:
        """Whether the vocabulary has a token for every byte of the text; some lack rare ones."""
        return all(byte in self._tokens for byte in text.encode())

    def accepts(self, gbnf: str, text: str) -> bool:
        """Whether the text is a whole reply."""
        return self.accepted(gbnf, [text])[0]

    def accepted(self, gbnf: str, texts: list[str]) -> list[bool]:
        """Which of the texts are whole replies; the grammar is compiled once."""
        sampler = llama_cpp.llama_sampler_init_grammar(self._vocab, gbnf.encode(), b"root")
        assert sampler, "llama.cpp rejects this grammar"
        try:
            return [self._accepts(sampler, text) for text in texts]
        finally:
            llama_cpp.llama_sampler_free(sampler)

    def _accepts(self, sampler: Any, text: str) -> bool:
        llama_cpp.llama_sampler_reset(sampler)
        for byte in text.encode():
            # Accepting a token that does not match aborts the process, so it is checked first.
            if not self._fits(sampler, self._tokens[byte]):
                return False
            llama_cpp.llama_sampler_accept(sampler, self._tokens[byte])
        return self._fits(sampler, self._end)

    def _fits(self, sampler: Any, token: int) -> bool:
        candidate = self._candidate
        candidate[0].id, candidate[0].logit, candidate[0].p = token, 0.0, 0.0
        array = llama_cpp.llama_token_data_array(candidate, 1, -1, False)
        llama_cpp.llama_sampler_apply(sampler, ctypes.byref(array))
        return bool(candidate[0].logit == 0.0)

    def _byte_tokens(self) -> dict[int, int]:
        found: dict[int, int] = {}
        piece = ctypes.create_string_buffer(_MAX_PIECE_BYTES)
        for token in range(llama_cpp.llama_vocab_n_tokens(self._vocab)):
            size = llama_cpp.llama_token_to_piece(self._vocab, token, piece, _MAX_PIECE_BYTES, 0, True)
            if size == 1:
                found.setdefault(piece.raw[0], token)
        return found


_BYTES = LLTokenizer("byte")


def lark_fault(lark: str) -> str:
    """What llguidance has against a grammar; nothing, if it takes it."""
    return str(LLMatcher.validate_grammar(LLMatcher.grammar_from_lark(lark), _BYTES))


def lark_accepts(lark: str, texts: list[str]) -> list[bool]:
    """Which of the texts are whole replies."""
    first = LLMatcher(_BYTES, LLMatcher.grammar_from_lark(lark))
    return [_accepts(first.deep_copy(), list(text.encode())) for text in texts]


def _accepts(matcher: LLMatcher, tokens: list[int]) -> bool:
    if matcher.validate_tokens(tokens) < len(tokens):
        return False
    assert not tokens or matcher.consume_tokens(tokens)
    return bool(matcher.is_accepting())


def sample(lark: str, seed: int, *, most_bytes: int = 20_000) -> str:
    """A text of the language, byte by byte, by chance; what may end soon does."""
    choice = random.Random(seed)
    matcher = LLMatcher(_BYTES, LLMatcher.grammar_from_lark(lark))
    written: list[int] = []
    eos = _BYTES.eos_token
    while len(written) < most_bytes:
        forced = matcher.compute_ff_tokens()
        if forced:
            assert matcher.consume_tokens(forced)
            written += forced
            continue
        mask = matcher.compute_bitmask()
        allowed = [byte for byte in range(256) if mask[byte >> 3] >> (byte & 7) & 1]
        may_end = bool(mask[eos >> 3] >> (eos & 7) & 1)
        if not allowed or (may_end and choice.random() < 0.3):
            assert may_end or matcher.is_stopped(), "a dead end"
            return bytes(written).decode()
        # What closes is preferred, and what is common, so that texts stay short and readable.
        weights = [12.0 if chr(byte) in "\"'}])<>," else 3.0 if 0x20 <= byte < 0x7F else 0.2 for byte in allowed]
        byte = choice.choices(allowed, weights)[0]
        assert matcher.consume_token(byte)
        written.append(byte)
    raise AssertionError(f"no end after {most_bytes} bytes")

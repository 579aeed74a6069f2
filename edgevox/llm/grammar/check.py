"""Checks a grammar with llama.cpp: whether it compiles, whether it accepts a text, and where it fails."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import llama_cpp

from edgevox.core.errors import ModelError

_MAX_PIECE_BYTES = 64


def _keep_quiet(level: int, text: bytes, data: object) -> None:
    """Discard fifty lines about the vocabulary."""


_QUIET = llama_cpp.llama_log_callback(_keep_quiet)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result for a text: `failed_at` is the first character that does not match.

    A text without a failure is `complete` if the grammar allows it to end there.
    """

    failed_at: int | None
    complete: bool

    @property
    def accepted(self) -> bool:
        return self.failed_at is None and self.complete


def compiles(gbnf: str) -> bool:
    """Whether llama.cpp accepts the grammar; it writes its objections to standard error."""
    sampler = llama_cpp.llama_sampler_init_grammar(None, gbnf.encode(), b"root")
    if not sampler:
        return False
    llama_cpp.llama_sampler_free(sampler)
    return True


class GrammarChecker:
    """Checks texts against grammars, byte by byte, with the vocabulary of a GGUF file. Close it after use."""

    def __init__(self, model: Path) -> None:
        """Raises ModelError if the file cannot be read."""
        llama_cpp.llama_log_set(_QUIET, ctypes.c_void_p(0))
        llama_cpp.llama_backend_init()
        params = llama_cpp.llama_model_default_params()
        params.vocab_only = True
        self._model = llama_cpp.llama_model_load_from_file(str(model).encode(), params)
        if not self._model:
            raise ModelError(f"{model} is not a GGUF file", hint="give the path of a model, or pull one")
        self._vocab = llama_cpp.llama_model_get_vocab(self._model)
        self._end = llama_cpp.llama_vocab_eos(self._vocab)
        self._tokens = self._byte_tokens()
        self._candidate = (llama_cpp.llama_token_data * 1)()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        if self._model:
            llama_cpp.llama_model_free(self._model)
            self._model = None

    def can_write(self, text: str) -> bool:
        """Whether the vocabulary has a token for every byte of the text; some lack rare ones."""
        return all(byte in self._tokens for byte in text.encode())

    def check(self, gbnf: str, text: str) -> CheckResult:
        """Raises ValueError if the grammar does not compile, ModelError for a text the vocabulary cannot write."""
        (verdict,) = self.check_all(gbnf, [text])
        return verdict

    def check_all(self, gbnf: str, texts: list[str]) -> list[CheckResult]:
        """Check several texts; the grammar is compiled once."""
        sampler = llama_cpp.llama_sampler_init_grammar(self._vocab, gbnf.encode(), b"root")
        if not sampler:
            raise ValueError("llama.cpp rejects this grammar")
        try:
            return [self._try(sampler, text) for text in texts]
        finally:
            llama_cpp.llama_sampler_free(sampler)

    def _try(self, sampler: Any, text: str) -> CheckResult:  # noqa: ANN401  (a C pointer)
        llama_cpp.llama_sampler_reset(sampler)
        for at, char in enumerate(text):
            for byte in char.encode():
                token = self._token(byte)
                # Accepting a token that does not match aborts the process, so it is checked first.
                if not self._fits(sampler, token):
                    return CheckResult(at, complete=False)
                llama_cpp.llama_sampler_accept(sampler, token)
        return CheckResult(None, complete=self._fits(sampler, self._end))

    def _token(self, byte: int) -> int:
        try:
            return self._tokens[byte]
        except KeyError:
            raise ModelError(
                f"the vocabulary has no token for the byte {byte:#x}", hint="try another model's"
            ) from None

    def _fits(self, sampler: Any, token: int) -> bool:  # noqa: ANN401  (a C pointer)
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

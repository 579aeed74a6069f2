"""The tokens of a loaded model: text to tokens, tokens to text."""

from __future__ import annotations

import ctypes
from functools import cached_property

import llama_cpp

_PIECE_BYTES = 512


class Vocabulary:
    """The vocabulary of a model that stays loaded for as long as this is used."""

    def __init__(self, model: llama_cpp.llama_model_p) -> None:
        self.pointer = llama_cpp.llama_model_get_vocab(model)
        self.size = llama_cpp.llama_vocab_n_tokens(self.pointer)
        self.adds_bos = llama_cpp.llama_vocab_get_add_bos(self.pointer)
        self.bos = llama_cpp.llama_vocab_bos(self.pointer)
        self.eos = llama_cpp.llama_vocab_eos(self.pointer)
        self._buffer = ctypes.create_string_buffer(_PIECE_BYTES)
        self._pieces: dict[int, bytes] = {}

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """`special`: texts of control tokens become those tokens; otherwise they stay text."""
        data = text.encode("utf-8", errors="replace")
        room = len(data) + 2
        while True:
            tokens = (llama_cpp.llama_token * room)()
            count = llama_cpp.llama_tokenize(
                self.pointer, data, len(data), tokens, room, False, special
            )  # without BOS: the template writes it
            if count >= 0:
                return list(tokens[:count])
            room = -count

    def piece(self, token: int) -> bytes:
        """The bytes of one token, which may be a part of a character. Control tokens give their text."""
        found = self._pieces.get(token)
        if found is None:
            found = self._pieces[token] = self._read_piece(token)
        return found

    def text(self, token: int) -> str:
        """The text of one token; empty where there is no such token."""
        return self.piece(token).decode(errors="replace") if token >= 0 else ""

    def is_end(self, token: int) -> bool:
        """Whether a reply ends with this token."""
        return token in self.end_tokens

    @cached_property
    def end_tokens(self) -> frozenset[int]:
        return frozenset(
            token for token in range(self.size) if llama_cpp.llama_vocab_is_eog(self.pointer, token)
        )

    @cached_property
    def control_tokens(self) -> dict[int, str]:
        """The tokens that steer the model, with their texts: what a person writes must not become one."""
        return {
            token: text
            for token in range(self.size)
            if llama_cpp.llama_vocab_is_control(self.pointer, token) and (text := self.text(token))
        }

    def all_pieces(self) -> list[bytes]:
        return [self._read_piece(token) for token in range(self.size)]

    def _read_piece(self, token: int) -> bytes:
        buffer = self._buffer
        count = llama_cpp.llama_token_to_piece(self.pointer, token, buffer, len(buffer), 0, True)
        if count < 0:
            buffer = ctypes.create_string_buffer(-count)
            count = llama_cpp.llama_token_to_piece(self.pointer, token, buffer, len(buffer), 0, True)
        return buffer.raw[:count]

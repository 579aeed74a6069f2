"""Checks a grammar: whether llama.cpp compiles it, and how far llguidance accepts a text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import llama_cpp
from llguidance import LLMatcher, LLTokenizer


def compiles(gbnf: str) -> bool:
    """Whether llama.cpp accepts the grammar; it writes its objections to standard error."""
    sampler = llama_cpp.llama_sampler_init_grammar(None, gbnf.encode(), b"root")
    if not sampler:
        return False
    llama_cpp.llama_sampler_free(sampler)
    return True


def find_mismatch(lark: str, text: str, *, triggers: Sequence[str] = ()) -> int | None:
    """Return the first character that does not match, the length of an incomplete text, or None if it is accepted.

    With `triggers`, free text may come before the first of them. Raises ValueError if the grammar does not compile.
    """
    begin = min((at for at in map(text.find, triggers) if at >= 0), default=None) if triggers else 0
    if begin is None:
        return None
    matcher = LLMatcher(_byte_tokenizer(), LLMatcher.grammar_from_lark(lark))
    if matcher.is_error():
        raise ValueError(matcher.get_error())
    written = text[begin:].encode()
    accepted = matcher.try_consume_tokens(list(written))
    if accepted == len(written) and matcher.is_accepting():
        return None
    return begin + len(written[:accepted].decode(errors="ignore"))


@cache
def _byte_tokenizer() -> LLTokenizer:
    return LLTokenizer("byte")

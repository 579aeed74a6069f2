"""Both grammar backends for tests: llama.cpp on GBNF, llguidance on Lark, each byte by byte."""

from __future__ import annotations

import random

from llguidance import LLMatcher, LLTokenizer

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

"""Checks grammars and patterns: whether llama.cpp compiles one, and how far llguidance accepts a text."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import llama_cpp
from llguidance import LLMatcher, LLTokenizer

from edgevox.llm.grammar.language import Rules, UnsupportedSchema
from edgevox.llm.grammar.regex import pattern_language
from edgevox.llm.grammar.serialize import serialize


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
    mismatch = _mismatch(_matcher(lark), text[begin:])
    return None if mismatch is None else begin + mismatch


def _mismatch(compiled: LLMatcher, text: str) -> int | None:
    matcher = compiled.deep_copy()
    written = text.encode(errors="surrogatepass")
    accepted = matcher.try_consume_tokens(list(written))
    if accepted == len(written) and matcher.is_accepting():
        return None
    return len(written[:accepted].decode(errors="ignore"))


def is_found(pattern: str, text: str, *, otherwise: bool) -> bool:
    """Whether a schema's `pattern` is found in `text`; `otherwise` if it is unsupported.

    Unlike `re.search`, it takes no exponential time, whatever the pattern.
    """
    compiled = _pattern_matcher(pattern)
    return otherwise if compiled is None else _mismatch(compiled, text) is None


# Every name of an object is compared with every pattern for names: a matcher must not be built for each pair.
@lru_cache(maxsize=64)
def _pattern_matcher(pattern: str) -> LLMatcher | None:
    rules = Rules()
    try:
        rules.define("root", rules.add("text", pattern_language(pattern), token=True))
        return _matcher(serialize(rules)[1])
    except (UnsupportedSchema, ValueError):
        return None


@lru_cache(maxsize=8)
def _matcher(lark: str) -> LLMatcher:
    matcher = LLMatcher(LLTokenizer("byte"), LLMatcher.grammar_from_lark(lark))
    if matcher.is_error():
        raise ValueError(matcher.get_error())
    return matcher

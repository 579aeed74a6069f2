"""Hostile schemas: what is built from them stays small, and takes a bounded time."""

from __future__ import annotations

import time
from typing import Any

import pytest
from llguidance import LLMatcher, LLTokenizer
from llguidance.numpy import allocate_token_bitmask, fill_next_token_bitmask

from edgevox.llm.grammar.limits import SchemaCost, SchemaOverLimit
from edgevox.llm.grammars import build_call_grammar, build_json_grammar

TEXT = {"type": "string"}
# With room for a busy machine: the builder itself gives up after two seconds.
BOUND_S = 10.0


def named(count: int) -> dict[str, Any]:
    return {f"p{number}": TEXT for number in range(count)}


def referring(*names: str) -> list[dict[str, str]]:
    return [{"$ref": f"#/$defs/{name}"} for name in names]


# What each would do without bounds.
HOSTILE: dict[str, dict[str, Any]] = {
    "overflows llguidance's stack": {"type": "object", "properties": named(3000)},
    "counts members": {"type": "object", "minProperties": 64, "properties": named(500)},
    "compares names with patterns": {
        "type": "object",
        "properties": named(250),
        "patternProperties": {f"^p{number}[a-z]*$": TEXT for number in range(30)},
    },
    "compares values with a pattern": {
        "enum": [f"v{number}" for number in range(1000)],
        "pattern": "^(" + "|".join(f"v{number}" for number in range(100)) + ")",
    },
    "doubles with each reference": {
        **referring("d0")[0],
        "$defs": {**{f"d{n}": {"allOf": referring(f"d{n + 1}", f"d{n + 1}")} for n in range(40)}, "d40": TEXT},
    },
    "refers to itself": {
        **referring("a")[0],
        "$defs": {"a": {"type": "object", "properties": {f"p{n}": referring("a")[0] for n in range(64)}}},
    },
    "has long alternations": {"type": "string", "pattern": "|".join(f"word{number}x" for number in range(4000))},
    "has many bounds": {
        "type": "object",
        "properties": {
            f"p{n}": {"type": "number", "minimum": -1.2345678 * n, "maximum": 9.8765 * n} for n in range(250)
        },
    },
    "nests what may follow": {"type": "array", "prefixItems": [TEXT] * 300},
}


@pytest.mark.parametrize("schema", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_schema_is_built_in_time_and_compiles(schema: dict[str, Any]) -> None:
    begun_s = time.monotonic()
    grammar = build_json_grammar(schema)
    matcher = LLMatcher(LLTokenizer("byte"), LLMatcher.grammar_from_lark(grammar.lark))
    assert not matcher.is_error()
    assert time.monotonic() - begun_s < BOUND_S


@pytest.mark.parametrize("pattern", ["^((a|bc){1,1000}){1,1000}$", "^((a|ab|abc|b|bc|c){1,1000}){1,1000}$"])
def test_nested_counts_are_masked_in_time(pattern: str) -> None:
    begun_s = time.monotonic()
    lark = build_json_grammar({"type": "string", "pattern": pattern}).lark
    tokenizer = LLTokenizer("byte")
    matcher, mask = (
        LLMatcher(tokenizer, LLMatcher.grammar_from_lark(lark)),
        allocate_token_bitmask(1, tokenizer.vocab_size),
    )
    for char in '"' + "abcbc" * 30:
        fill_next_token_bitmask(matcher, mask)
        matcher.consume_token(ord(char))
    assert time.monotonic() - begun_s < BOUND_S


def test_a_schema_that_is_too_large_says_so_and_costs_other_tools_nothing() -> None:
    tools = [
        {"type": "function", "function": {"name": name, "parameters": parameters}}
        for name, parameters in (
            ("large", HOSTILE["overflows llguidance's stack"]),
            ("small", {"type": "object", "properties": {"room": {"enum": ["hall"]}}, "required": ["room"]}),
        )
    ]
    grammar = build_call_grammar(tools)
    assert "chain" in grammar.too_large
    assert [warning.partition(":")[0] for warning in grammar.warnings] == ["large"]
    assert "hall" in grammar.lark


@pytest.mark.parametrize(
    ("schema", "limit"),
    [
        ({"properties": named(257)}, "256 properties"),
        ({"anyOf": [{"properties": named(250)} for _ in range(9)]}, "2,000 parts"),
        ({"enum": list(range(2001))}, "2,000 enum values"),
        ({"pattern": "a|" * 300}, "500 characters"),
        ({"anyOf": [{"pattern": "a|" * 200} for _ in range(11)]}, "4,000 characters"),
        ({"patternProperties": {"a|" * 300: {}}}, "500 characters"),
        ({"anyOf": referring(*"a" * 101)}, "100 references"),
        ({"properties": {"k" * 100_001: {}}}, "100,000 characters"),
    ],
)
def test_a_limit_is_named(schema: dict[str, Any], limit: str) -> None:
    with pytest.raises(SchemaOverLimit, match=limit):
        SchemaCost().add(schema)


def test_nesting_is_limited_without_recursion() -> None:
    deep: dict[str, Any] = {}
    for _ in range(50_000):
        deep = {"items": deep}
    with pytest.raises(SchemaOverLimit, match="64 levels"):
        SchemaCost().add(deep)


def test_the_limits_hold_for_all_schemas_of_a_request_together() -> None:
    cost = SchemaCost()
    for _ in range(7):
        cost.add({"properties": named(250)})
    with pytest.raises(SchemaOverLimit, match="in all"):
        cost.add({"properties": named(250)})

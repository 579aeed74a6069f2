"""Numbers between bounds: at the bounds, next to them, and anywhere."""

from __future__ import annotations

import json
import random

import pytest

from edgevox.llm.grammars import build_json_grammar
from tests.llm.grammar.engines import GrammarChecker, lark_accepts


@pytest.mark.engine
@pytest.mark.parametrize("seed", range(30))
def test_integers_keep_to_their_bounds(seed: int, checker: GrammarChecker) -> None:
    choice = random.Random(seed)
    low, high = sorted(choice.randint(-(10 ** choice.randint(1, 7)), 10 ** choice.randint(1, 7)) for _ in range(2))
    grammar = build_json_grammar({"type": "integer", "minimum": low, "maximum": high})
    values = [low - 1, low, low + 1, high - 1, high, high + 1, 0]
    values += [choice.randint(low - 60, high + 60) for _ in range(20)]
    expected = [low <= value <= high for value in values]
    assert checker.accepted(grammar.gbnf, list(map(str, values))) == expected
    assert lark_accepts(grammar.lark, list(map(str, values))) == expected


@pytest.mark.engine
@pytest.mark.parametrize("keyword", ["minimum", "exclusiveMinimum"])
@pytest.mark.parametrize("seed", range(30))
def test_decimals_keep_to_their_bounds(seed: int, keyword: str, checker: GrammarChecker) -> None:
    choice = random.Random(seed)
    places = choice.randint(0, 4)
    low, high = sorted(round(choice.uniform(-(10**places), 10**places), places) for _ in range(2))
    high += low == high  # so that something fits
    grammar = build_json_grammar({"type": "number", keyword: low, "maximum": high})
    step = 10.0 ** -choice.randint(1, 5)
    near = [round(value, 8) for value in (low - step, low + step, high - step, high + step)]
    anywhere = [round(choice.uniform(low - 1, high + 1), choice.randint(0, 6)) for _ in range(20)]
    # Very small numbers have exponents, of which only some are accepted; zero can be written in two ways.
    values = [value for value in (low, high, *near, *anywhere) if "e" not in repr(value) and value != 0]
    is_excluded = low if keyword == "exclusiveMinimum" else None
    expected = [low <= value <= high and value != is_excluded for value in values]
    assert checker.accepted(grammar.gbnf, list(map(json.dumps, values))) == expected
    assert lark_accepts(grammar.lark, list(map(json.dumps, values))) == expected

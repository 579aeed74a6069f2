"""Schemas as grammars: both backends accept valid instances, reject others, and agree."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis_jsonschema import from_schema
from jsonschema import Draft202012Validator

from edgevox.llm.grammars import build_json_grammar
from tests.llm.grammar.engines import GrammarChecker, lark_accepts, lark_fault
from tests.llm.grammar.instances import Many, broken, closed, in_order, within_bounds, written
from tests.llm.grammar.schemas import CASES, Case

_SAMPLES = 3
_MOST_BROKEN = 40


def names(case: Case) -> str:
    return case.name


def test_there_are_enough_schemas() -> None:
    assert len({case.name for case in CASES}) >= 150


@pytest.mark.engine
@pytest.mark.parametrize("case", CASES, ids=names)
def test_both_engines_accept_what_is_valid_and_nothing_else(case: Case, checker: GrammarChecker) -> None:
    grammar = build_json_grammar(case.schema)
    assert lark_fault(grammar.lark) == ""
    texts = [written(value) for value in (*case.valid, *case.invalid)]
    expected = [True] * len(case.valid) + [False] * len(case.invalid)
    assert lark_accepts(grammar.lark, texts) == expected
    in_gbnf = checker.accepted(grammar.gbnf, texts)
    assert in_gbnf[: len(case.valid)] == [True] * len(case.valid) if case.intersects else in_gbnf == expected
    assert bool(grammar.warnings) == case.warns


@pytest.mark.engine
@pytest.mark.filterwarnings("ignore::hypothesis.errors.HypothesisWarning")
@pytest.mark.parametrize("case", [case for case in CASES if case.generated], ids=names)
def test_generated_instances_are_judged_as_a_validator_judges_them(
    case: Case, checker: GrammarChecker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hypothesis_jsonschema._from_schema.cu", SimpleNamespace(many=Many))
    grammar = build_json_grammar(case.schema)
    schema = closed(case.schema)
    validator = Draft202012Validator(schema)
    found: list[object] = []

    @settings(
        max_examples=_SAMPLES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(from_schema(schema))
    def generate(value: object) -> None:
        found.append(value)

    generate()
    # hypothesis-jsonschema does not know every keyword (prefixItems), so that some of it may be invalid.
    valid = [
        in_order(value, case.schema, case.schema)
        for value in found
        if within_bounds(value) and validator.is_valid(value)
    ]
    changed = [other for value in (*valid[:2], *case.valid[:2]) for other in broken(value) if within_bounds(other)]
    invalid = [in_order(other, case.schema, case.schema) for other in changed if not validator.is_valid(other)]
    good = list(dict.fromkeys(map(written, valid)))
    bad = list(dict.fromkeys(map(written, invalid)))[:_MOST_BROKEN]
    accepted = lark_accepts(grammar.lark, [*good, *bad])
    assert [text for text, taken in zip(good, accepted, strict=False) if not taken] == []
    if not case.loose:
        assert [text for text, taken in zip(bad, accepted[len(good) :], strict=True) if taken] == []
    in_gbnf = checker.accepted(grammar.gbnf, [*good, *bad])
    assert in_gbnf[: len(good)] == [True] * len(good) if case.intersects else in_gbnf == accepted

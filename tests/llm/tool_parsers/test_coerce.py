"""Arguments are coerced to the schema if unambiguous; other problems are reported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from edgevox.llm.tool_parsers.coerce import fit_arguments
from edgevox.llm.tool_parsers.json_repair import Unquoted


def fit(value: Any, schema: Mapping[str, Any], **root: Any) -> tuple[Any, list[str]]:
    fitted, problems = fit_arguments({"x": value}, (), {"type": "object", "properties": {"x": schema}, **root})
    return fitted["x"], problems


@pytest.mark.parametrize(
    ("value", "schema", "fitted"),
    [
        ("3", {"type": "integer"}, 3),
        ("-3", {"type": "integer"}, -3),
        ("3.0", {"type": "integer"}, 3),
        (3.0, {"type": "integer"}, 3),
        ("3.5", {"type": "number"}, 3.5),
        (3, {"type": "number"}, 3),
        ("true", {"type": "boolean"}, True),
        ("False", {"type": "boolean"}, False),
        ("off", {"type": "boolean"}, False),
        (1, {"type": "boolean"}, True),
        (5, {"type": "string"}, "5"),
        (True, {"type": "string"}, "true"),
        ("5", {"type": "string"}, "5"),
        ("null", {"type": "string"}, "null"),
        ("null", {"type": ["integer", "null"]}, None),
        ("null", {"type": "integer", "nullable": True}, None),
        (None, {"type": ["string", "null"]}, None),
        ('{"a": 1}', {"type": "object"}, {"a": 1}),
        ("{'a': True}", {"type": "object"}, {"a": True}),
        ("[1, 2]", {"type": "array"}, [1, 2]),
        ('["1", "2"]', {"type": "array", "items": {"type": "integer"}}, [1, 2]),
        (["1", 2], {"type": "array", "items": {"type": "integer"}}, [1, 2]),
        ({"a": "1"}, {"type": "object", "properties": {"a": {"type": "integer"}}}, {"a": 1}),
        ("RED", {"type": "string", "enum": ["red", "blue"]}, "red"),
        ("2", {"enum": [1, 2]}, 2),
        ("fixed", {"const": "fixed"}, "fixed"),
        ("7", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, 7),
        ("null", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, None),
        ("7", {"anyOf": [{"type": "string"}, {"type": "integer"}]}, "7"),
        ("7", {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "7"),
        ("7", {"type": ["integer", "string"]}, "7"),
        (7, {"oneOf": [{"type": "string"}, {"type": "integer"}]}, 7),
        ("1", {"$ref": "#/$defs/count"}, 1),
        ("1", {"allOf": [{"$ref": "#/$defs/count"}], "description": "how many"}, 1),
        ({"a": 1}, {}, {"a": 1}),
        (Unquoted("07"), {"type": "string"}, "07"),
        (Unquoted("07"), {"type": "integer"}, 7),
        (Unquoted("1.50"), {"type": "string"}, "1.50"),
        (Unquoted("true"), {"type": "string"}, "true"),
        (Unquoted("2 dollars"), {"type": ["number", "string"]}, "2 dollars"),
        (Unquoted("42"), {"type": ["string", "number"]}, 42),
        (Unquoted("1"), {"type": ["boolean", "integer"]}, 1),
        (Unquoted("42"), {"anyOf": [{"type": "string"}, {"type": "number"}]}, 42),
        (Unquoted('{"a": 1}'), {"anyOf": [{"type": "string"}, {"type": "object"}]}, {"a": 1}),
        (Unquoted("{not json"), {"anyOf": [{"type": "string"}, {"type": "object"}]}, "{not json"),
        (Unquoted("celsius"), {"enum": ["celsius", "kelvin"]}, "celsius"),
        (Unquoted("5"), {}, 5),
        (Unquoted("five"), {}, "five"),
        (Unquoted('["a"]'), {}, ["a"]),
    ],
)
def test_the_meaning_is_kept_and_the_type_fits(value: Any, schema: dict[str, Any], fitted: Any) -> None:
    result, problems = fit(value, schema, **{"$defs": {"count": {"type": "integer"}}})
    assert problems == []
    assert result == fitted
    assert type(result) is type(fitted)


@pytest.mark.parametrize(
    ("value", "schema", "problem"),
    [
        ("soon", {"type": "integer"}, 'x should be integer, not "soon"'),
        (3.5, {"type": "integer"}, "x should be integer, not 3.5"),
        (True, {"type": "integer"}, "x should be integer, not true"),
        ({"a": 1}, {"type": "string"}, 'x should be string, not {"a": 1}'),
        ("kept", {"type": "nonsense"}, 'x should be nonsense, not "kept"'),
        ("green", {"enum": ["red", "blue"]}, 'x should be one of "red", "blue", not "green"'),
        ([1, "b"], {"type": "array", "items": {"type": "integer"}}, 'x[1] should be integer, not "b"'),
        ({}, {"type": "object", "properties": {}, "required": ["a"]}, "x.a is missing"),
        ({"b": 1}, {"type": "object", "additionalProperties": False}, "x.b is not a parameter"),
        ("soon", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, 'x should be integer, not "soon"'),
    ],
)
def test_a_value_that_does_not_fit_is_kept_and_reported(value: Any, schema: dict[str, Any], problem: str) -> None:
    result, problems = fit(value, schema)
    assert result == value
    assert problems == [problem]


def test_a_missing_required_argument_is_reported() -> None:
    schema = {"type": "object", "properties": {"a": {}}, "required": ["a"]}
    assert fit_arguments({}, (), schema) == ({}, ["a is missing"])


def test_other_spellings_of_a_key_find_their_parameter() -> None:
    schema = {"properties": {"room_name": {"type": "string"}}}
    assert fit_arguments({"Room-Name": "hall"}, (), schema) == ({"room_name": "hall"}, [])


def test_nothing_is_dropped() -> None:
    assert fit_arguments({"b": Unquoted("2")}, (), {"properties": {"a": {}}}) == ({"b": 2}, [])


def test_positional_arguments_take_the_free_names_in_order() -> None:
    schema = {"properties": {"a": {}, "b": {"type": "integer"}, "c": {}}}
    assert fit_arguments({"a": 1}, ("2", 3), schema) == ({"a": 1, "b": 2, "c": 3}, [])


def test_one_mapping_in_parentheses_holds_the_arguments_unless_one_is_an_object() -> None:
    assert fit_arguments({}, ({"a": "1"},), {"properties": {"a": {"type": "integer"}}}) == ({"a": 1}, [])
    assert fit_arguments({}, ({"b": 1},), {"properties": {"a": {"type": "object"}}}) == ({"a": {"b": 1}}, [])


def test_a_schema_that_refers_to_itself_ends() -> None:
    schema = {"properties": {"x": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a"}}}
    assert fit_arguments({"x": "1"}, (), schema) == ({"x": "1"}, [])
    tree = {"properties": {"x": {"$ref": "#/$defs/t"}}, "$defs": {"t": {"properties": {"t": {"$ref": "#/$defs/t"}}}}}
    nested: dict[str, Any] = {}
    for _ in range(300):
        nested = {"t": nested}
    assert fit_arguments({"x": nested}, (), tree) == ({"x": nested}, [])

"""Schemas from simple to nasty, as data: what each takes and refuses.

`loose` says that the schema holds a condition which no grammar can express, so something invalid may be
accepted.
`intersects` says that several conditions meet on one string, of which GBNF can express only the first.
`generated` is off where a library's instances are of no use: it reads the keyword in another way (no
`nullable`, digits of every script), counts in binary fractions, or cannot read the schema.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Case:
    name: str
    schema: Any
    valid: tuple[Any, ...] = ()
    invalid: tuple[Any, ...] = ()
    loose: bool = False
    intersects: bool = False
    warns: bool = False
    generated: bool = True


def obj(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required), **more}


S: dict[str, Any] = {"type": "string"}
I: dict[str, Any] = {"type": "integer"}  # noqa: E741
N: dict[str, Any] = {"type": "number"}
B: dict[str, Any] = {"type": "boolean"}


def nested(depth: int) -> dict[str, Any]:
    """An integer inside so many objects."""
    schema = I
    for _ in range(depth):
        schema = obj({"a": schema}, "a")
    return schema


_NOT_GENERATED = frozenset(
    (
        *("nullable", "nullable-enum", "enum-huge", "multiple-7", "multiple-cent", "multiple-decimal-int"),
        *("pattern-digits", "pattern-classes", "pattern-escapes", "pattern-groups", "pattern-group-anchors"),
        *(
            "duration",
            "uuid",
            "tuple",
            "tuple-rest",
            "tuple-min-beyond",
            "tuple-draft7",
            "all-of",
            "list",
            "tree",
            "json-value",
            "mutual",
        ),
        *("endless-branch", "ref-to-itself-or-number", "two-patterns"),
    )
)


def _case(name: str, schema: Any, valid: Any = (), invalid: Any = (), **more: Any) -> Case:
    generated = name not in _NOT_GENERATED and not more.get("warns", False)
    return Case(name, schema, tuple(valid), tuple(invalid), generated=generated, **more)


SCALARS = [
    _case("string", S, ["", "a", 'q"\\/\n\t\x01é😀'], [1, None, True, [], {}]),
    _case("integer", I, [0, -1, 7, 10**20], ["1", 1.5, None, True]),
    _case("number", N, [0, -1.5, 1e-7, 1.5e300, 12], ["1", None, True]),
    _case("boolean", B, [True, False], [0, "true", None]),
    _case("null", {"type": "null"}, [None], [0, "", False]),
    _case("type-list", {"type": ["string", "null"]}, ["a", None], [1, False]),
    _case("type-list-numbers", {"type": ["integer", "number"]}, [1, 1.5], ["1"]),
    _case("type-list-all-scalars", {"type": ["string", "integer", "boolean", "null"]}, ["", 1, True, None], [[], 1.5]),
    _case("nullable", {"type": "string", "nullable": True}, ["a", None], [1]),
    _case("nullable-enum", {"type": "string", "nullable": True, "enum": ["a", "b"]}, ["a", None], ["c"]),
    _case("const-text", {"const": "on"}, ["on"], ["off", None]),
    _case("const-number", {"const": 3.5}, [3.5], [3, "3.5"]),
    _case("const-null", {"const": None}, [None], [False]),
    _case("const-object", {"const": {"a": [1, {"b": None}], "c": "x"}}, [{"a": [1, {"b": None}], "c": "x"}], [{}]),
    _case(
        "enum-mixed", {"enum": ["a", 1, 2.5, True, None, [1], {"k": "v"}]}, ["a", 1, True, None, [1]], ["b", 2, False]
    ),
    _case("enum-typed", {"type": "string", "enum": ["a", 1, "b"]}, ["a", "b"], [1]),
    _case("enum-prefixes", {"enum": ["a", "ab", "abc", "abcd", "b", "ba"]}, ["a", "ab", "abcd"], ["abcde", ""]),
    _case("enum-digits", {"enum": [1, 12, 123, 1234, -1]}, [1, 12, 123, -1], [2, 124, -12]),
    _case(
        "enum-quotes", {"enum": ['say "hi"', "back\\slash", "new\nline", "tab\t"]}, ['say "hi"', "new\nline"], ["say"]
    ),
    _case("enum-unicode", {"enum": ["Küche", "浴室", "😀", "naïve"]}, ["Küche", "浴室", "😀"], ["Kuche"]),
    _case(
        "enum-huge", {"enum": [f"item {n * 7919 % 5000}" for n in range(5000)]}, ["item 0", "item 4999"], ["item 5000"]
    ),
    _case("enum-huge-numbers", {"enum": list(range(0, 9000, 9))}, [0, 9, 8991], [1, 9000]),
    _case("enum-one", {"enum": ["only"]}, ["only"], ["other"]),
    _case("enum-empty-text", {"enum": [""]}, [""], ["a"]),
    _case("enum-and-length", {"enum": ["a", "bb", "ccc"], "minLength": 2}, ["bb", "ccc"], ["a"]),
    _case("true", True, [1, "a", None, [1, [2]], {"a": {"b": 1}}]),
    _case("empty", {}, [1, "a", None, [1, [2]], {"a": {"b": 1}}]),
    _case("only-a-description", {"description": "anything"}, [1, "a", {}]),
]

BOUNDS = [
    _case("int-min", {"type": "integer", "minimum": 5}, [5, 6, 10, 99, 1000], [4, 0, -5]),
    _case("int-max", {"type": "integer", "maximum": 5}, [5, 0, -1000], [6, 10, 50]),
    _case("int-range", {"type": "integer", "minimum": 0, "maximum": 100}, [0, 9, 10, 99, 100], [-1, 101, 1000]),
    _case(
        "int-range-wide",
        {"type": "integer", "minimum": 17, "maximum": 84213},
        [17, 99, 1000, 84213],
        [16, 84214, 90000],
    ),
    _case(
        "int-range-negative", {"type": "integer", "minimum": -273, "maximum": -10}, [-273, -10, -99], [-9, -274, 10, 0]
    ),
    _case("int-range-across", {"type": "integer", "minimum": -12, "maximum": 345}, [-12, 0, 345, -1], [-13, 346]),
    _case("int-one-value", {"type": "integer", "minimum": 7, "maximum": 7}, [7], [6, 8, 77]),
    _case("int-exclusive", {"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 10}, [1, 9], [0, 10]),
    _case("int-exclusive-draft4", {"type": "integer", "minimum": 0, "exclusiveMinimum": True}, [1, 25], [0, -1]),
    _case("int-float-bounds", {"type": "integer", "minimum": 0.5, "maximum": 9.5}, [1, 9], [0, 10]),
    _case("int-huge-bounds", {"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1}, [0, 2**63 - 1], [2**63]),
    _case("int-float-limit", {"type": "integer", "minimum": -1e308, "maximum": 1e308}, [0, 5, -5], []),
    _case(
        "percent", {"type": "number", "minimum": 0, "maximum": 100}, [0, 0.5, 99.999, 100, 1e-05], [-0.5, 100.5, 101]
    ),
    _case("unit", {"type": "number", "minimum": 0, "maximum": 1}, [0, 1, 0.25, 1.0], [1.01, 2, -1]),
    _case("unit-open", {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, [0.5, 0.001], [0, 1, 1.5]),
    _case("number-min", {"type": "number", "minimum": 2.5}, [2.5, 2.75, 3, 100.1, 1e20], [2.4, 2, 0, -3]),
    _case("number-max", {"type": "number", "maximum": 2.5}, [2.5, 2.4, 0, -3, -1e30], [2.6, 3, 25]),
    _case(
        "number-negative", {"type": "number", "minimum": -2.75, "maximum": -0.5}, [-2.75, -1, -0.5], [-2.8, -0.4, 0, 1]
    ),
    _case("number-narrow", {"type": "number", "minimum": 19.95, "maximum": 20.05}, [19.95, 20, 20.05], [19.94, 20.06]),
    _case("number-across", {"type": "number", "minimum": -10, "exclusiveMaximum": 10}, [-10, 9.99, 0], [10, -10.1]),
    _case("number-tiny", {"type": "number", "exclusiveMinimum": 0, "maximum": 1e-3}, [0.001, 0.0005], [0.002, 0]),
    _case("number-contradictory", {"anyOf": [{"type": "number", "minimum": 5, "maximum": 1}, B]}, [True], [3, 5]),
    _case("multiple-5", {"type": "integer", "multipleOf": 5}, [0, 5, -15, 12345], [1, 12]),
    _case("multiple-2-range", {"type": "integer", "multipleOf": 2, "minimum": 1, "maximum": 9}, [2, 8], [1, 3, 10]),
    _case(
        "multiple-15-range",
        {"type": "integer", "multipleOf": 15, "minimum": 0, "maximum": 1440},
        [0, 15, 1440],
        [7, 1455],
    ),
    _case(
        "multiple-25-wide",
        {"type": "integer", "multipleOf": 25, "minimum": 130, "maximum": 999999},
        [150, 975, 999975],
        [125, 130, 999999],
    ),
    _case("multiple-7", {"type": "integer", "multipleOf": 7}, [0, 7, -14, 700], [1, 8]),
    _case("multiple-half", {"type": "number", "multipleOf": 0.5}, [0, 1.5, -2.5, 7, -0.5], [0.25, 1.1]),
    _case("multiple-cent", {"type": "number", "multipleOf": 0.01, "minimum": 0}, [0.01, 19.99, 5], [0.001, -1]),
    _case(
        "multiple-half-range",
        {"type": "number", "multipleOf": 0.5, "minimum": 16, "maximum": 28},
        [16, 20.5, 28],
        [15.5, 20.25],
    ),
    _case("multiple-decimal-int", {"type": "integer", "multipleOf": 2.5}, [5, 10], [2, 3]),
]

STRINGS = [
    _case("min-length", {"type": "string", "minLength": 3}, ["abc", "abcd"], ["", "ab"]),
    _case("max-length", {"type": "string", "maxLength": 3}, ["", "abc"], ["abcd"]),
    _case("length", {"type": "string", "minLength": 2, "maxLength": 4}, ["ab", "😀é"], ["a", "abcde"]),
    _case("length-exact", {"type": "string", "minLength": 1, "maxLength": 1}, ["a", "\n", "😀"], ["", "ab"]),
    _case("length-zero", {"type": "string", "maxLength": 0}, [""], ["a"]),
    _case("length-huge", {"type": "string", "maxLength": 100000}, ["a" * 1000], [1]),
    _case(
        "length-long",
        {"type": "string", "minLength": 600, "maxLength": 700},
        ["a" * 600, "a" * 700],
        ["a" * 599, "a" * 701],
    ),
    _case("pattern-word", {"type": "string", "pattern": "^[a-z]+$"}, ["a", "abc"], ["", "A", "a1"]),
    _case("pattern-digits", {"type": "string", "pattern": r"^\d{3}-\d{4}$"}, ["555-1234"], ["555-123", "5551234"]),
    _case(
        "pattern-optional", {"type": "string", "pattern": r"^\+?[0-9]{7,15}$"}, ["+4930123456", "1234567"], ["+", "12"]
    ),
    _case("pattern-choice", {"type": "string", "pattern": "^(on|off|auto)$"}, ["on", "auto"], ["onoff", ""]),
    _case("pattern-choice-open", {"type": "string", "pattern": "^on|off$"}, ["on", "only", "off", "turnoff"], ["x"]),
    _case("pattern-anywhere", {"type": "string", "pattern": "light"}, ["light", "the lights"], ["dark"]),
    _case("pattern-begins", {"type": "string", "pattern": "^room_"}, ["room_1", "room_"], ["a room_"]),
    _case("pattern-ends", {"type": "string", "pattern": r"\.wav$"}, ["a.wav", ".wav"], ["a.wave"]),
    _case("pattern-classes", {"type": "string", "pattern": r"^\w+\s\S+$"}, ["a b", "ab_1 é"], ["ab", "é b"]),
    _case("pattern-negated", {"type": "string", "pattern": "^[^0-9]*$"}, ["", "ab", 'a"b\\'], ["1"]),
    _case("pattern-dot", {"type": "string", "pattern": "^.{2,3}$"}, ["ab", "é😀"], ["a", "abcd"]),
    _case("pattern-hex", {"type": "string", "pattern": "^#[0-9a-fA-F]{6}$"}, ["#00ffAA"], ["#00ff", "00ffAA"]),
    _case("pattern-escapes", {"type": "string", "pattern": r"^\[\w+\]\(\.\*\)\\$"}, ["[a](.*)\\"], ["[a](b)"]),
    _case("pattern-quote", {"type": "string", "pattern": '^"[a-z]*"$'}, ['"ab"'], ["ab"]),
    _case("pattern-unicode", {"type": "string", "pattern": "^[äöüß]+$"}, ["äß"], ["a"]),
    _case("pattern-code-points", {"type": "string", "pattern": r"^\u00e9[\x41-\x43]$"}, ["éA"], ["eA"]),
    _case(
        "pattern-groups",
        {"type": "string", "pattern": r"^(?:(?<y>\d{4})(-(?:0[1-9]|1[0-2]))?)$"},
        ["2024", "2024-12"],
        ["2024-13"],
    ),
    _case("pattern-nested-stars", {"type": "string", "pattern": "^(ab*)+$"}, ["ab", "aabab"], ["b", ""]),
    _case("pattern-lazy", {"type": "string", "pattern": "^a+?b*?$"}, ["aab"], ["ba"]),
    _case("pattern-group-anchors", {"type": "string", "pattern": "(^a$|^b$)"}, ["a", "b"], ["ab"]),
    _case("pattern-max-length", {"type": "string", "pattern": "^[a-z_]+$", "maxLength": 5}, ["a_b"], ["abcdef", "A"]),
    _case(
        "pattern-and-length",
        {"type": "string", "pattern": "^[A-Z][a-z]*$", "minLength": 3, "maxLength": 6},
        ["Abc"],
        ["Ab", "Abcdefg", "abc"],
        intersects=True,
    ),
    _case(
        "two-patterns",
        {"allOf": [{"type": "string", "pattern": "^a"}, {"pattern": "z$"}]},
        ["az", "a z"],
        ["a", "z"],
        intersects=True,
    ),
    _case("date", {"type": "string", "format": "date"}, ["2024-02-29", "1999-12-31"], ["2023-02-30", "24-01-01", ""]),
    _case("time", {"type": "string", "format": "time"}, ["07:30:00", "23:59:59Z"], ["24:00:00", "7:30"]),
    _case(
        "date-time",
        {"type": "string", "format": "date-time"},
        ["2024-05-01T12:00:00Z", "2024-05-01T12:00:00.5+02:00"],
        ["2024-05-01"],
    ),
    _case("duration", {"type": "string", "format": "duration"}, ["P1D", "PT1H30M", "P2W"], ["P", "1D", "PT"]),
    _case("email", {"type": "string", "format": "email"}, ["a@b.co", "a.b+c@mail.example.org"], ["a", "a@b", "@b.co"]),
    _case("uuid", {"type": "string", "format": "uuid"}, ["123e4567-e89b-12d3-a456-426614174000"], ["123e4567"]),
    _case("ipv4", {"type": "string", "format": "ipv4"}, ["192.168.0.1", "255.255.255.255"], ["256.0.0.1", "1.2.3"]),
    _case("ipv6", {"type": "string", "format": "ipv6"}, ["::1", "fe80::1:2", "1:2:3:4:5:6:7:8"], [":", "12345::"]),
    _case(
        "uri", {"type": "string", "format": "uri"}, ["https://example.org/a?b=c#d", "mailto:a@b.co"], ["example", ""]
    ),
    _case("hostname", {"type": "string", "format": "hostname"}, ["a", "mail.example.org"], ["-a", "a..b"]),
    _case("unknown-format", {"type": "string", "format": "colour"}, ["anything"], [1]),
    _case(
        "format-and-length",
        {"type": "string", "format": "email", "maxLength": 10},
        ["a@b.co"],
        ["abcdefgh@b.co"],
        intersects=True,
    ),
]

OBJECTS = [
    _case("no-properties", obj({}), [{}], [{"a": 1}, []]),
    _case("free-object", {"type": "object"}, [{}, {"a": 1}, {"a": {"b": [1]}}], [[], 1]),
    _case("one-required", obj({"a": S}, "a"), [{"a": "x"}], [{}, {"a": 1}, {"b": 1}]),
    _case("one-optional", obj({"a": S}), [{}, {"a": "x"}], [{"a": 1}]),
    _case(
        "required-and-optional",
        obj({"a": S, "b": I, "c": B}, "b"),
        [{"b": 1}, {"a": "", "b": 1, "c": True}],
        [{"a": ""}],
    ),
    _case(
        "all-required",
        obj({"a": S, "b": I, "c": B}, "a", "b", "c"),
        [{"a": "", "b": 1, "c": True}],
        [{"a": "", "b": 1}],
    ),
    _case("all-optional", obj({"a": S, "b": I, "c": B}), [{}, {"c": True}, {"a": "", "c": False}], [{"d": 1}]),
    _case("last-required", obj({"a": S, "b": I, "c": B}, "c"), [{"c": True}, {"a": "", "c": True}], [{}, {"a": ""}]),
    _case("nested", obj({"a": obj({"b": obj({"c": I}, "c")}, "b")}, "a"), [{"a": {"b": {"c": 1}}}], [{"a": {"b": {}}}]),
    _case(
        "hundred-optional", obj({f"p{n}": I for n in range(100)}), [{}, {"p0": 1, "p99": 2}, {"p50": 3}], [{"p0": "x"}]
    ),
    _case(
        "hundred-required",
        obj({f"p{n}": I for n in range(100)}, *(f"p{n}" for n in range(100))),
        [{f"p{n}": n for n in range(100)}],
        [{}],
    ),
    _case(
        "fifty-each",
        obj({f"p{n}": I for n in range(60)}, *(f"p{n}" for n in range(0, 60, 2))),
        [{f"p{n}": n for n in range(0, 60, 2)}],
        [{}],
    ),
    _case(
        "odd-names",
        obj({'q"uo\\te': I, "new\nline": I, "emoji 😀": I, "": I, "ü": I}, 'q"uo\\te', "ü"),
        [{'q"uo\\te': 1, "ü": 2}, {'q"uo\\te': 1, "": 3, "ü": 2}],
        [{}],
    ),
    _case(
        "same-prefix-names",
        obj({"a": I, "ab": I, "abc": I}, "ab"),
        [{"ab": 1}, {"a": 1, "ab": 2, "abc": 3}],
        [{"a": 1}],
    ),
    _case(
        "additional-true",
        obj({"a": S}, "a", additionalProperties=True),
        [{"a": "x"}, {"a": "x", "b": [1], "ab": None}],
        [{"b": 1}],
    ),
    _case(
        "additional-typed", obj({"a": S}, additionalProperties=I), [{"a": "x", "b": 1}, {"c": 1, "d": 2}], [{"b": "x"}]
    ),
    _case("additional-only", {"type": "object", "additionalProperties": N}, [{}, {"x": 1.5, "y": 2}], [{"x": "1"}]),
    _case(
        "additional-objects",
        {"type": "object", "additionalProperties": obj({"v": I}, "v")},
        [{"k": {"v": 1}}],
        [{"k": {}}],
    ),
    _case("additional-false", obj({"a": S}, additionalProperties=False), [{}, {"a": "x"}], [{"b": 1}]),
    _case("unevaluated-false", obj({"a": S}, unevaluatedProperties=False), [{}, {"a": "x"}], [{"b": 1}]),
    _case(
        "required-undeclared", {"type": "object", "required": ["x"]}, [{"x": 1}, {"x": None, "y": 2}], [{}, {"y": 1}]
    ),
    _case(
        "required-undeclared-typed",
        {"type": "object", "required": ["x"], "additionalProperties": I},
        [{"x": 1}],
        [{"x": "a"}],
    ),
    _case(
        "pattern-properties",
        {"type": "object", "patternProperties": {"^x-[a-z]+$": S}, "additionalProperties": False},
        [{}, {"x-a": "1"}],
        [{"y": "1"}, {"x-a": 1}],
    ),
    _case(
        "pattern-and-named",
        obj({"a": I}, "a", patternProperties={"^s_": S}, additionalProperties=False),
        [{"a": 1}, {"a": 1, "s_x": "y"}],
        [{"a": 1, "s_x": 2}],
    ),
    _case(
        "property-names",
        {"type": "object", "propertyNames": {"pattern": "^[a-z]{1,3}$"}, "additionalProperties": I},
        [{}, {"abc": 1}],
        [{"ABC": 1}, {"abcd": 1}],
    ),
    _case(
        "property-names-enum",
        {"type": "object", "propertyNames": {"enum": ["hall", "kitchen"]}, "additionalProperties": B},
        [{"hall": True}],
        [{"attic": True}],
    ),
    _case("min-properties", obj({"a": I, "b": I, "c": I}, minProperties=2), [{"a": 1, "c": 2}], [{}, {"b": 1}]),
    _case("max-properties", obj({"a": I, "b": I, "c": I}, maxProperties=1), [{}, {"b": 1}], [{"a": 1, "b": 2}]),
    _case(
        "count-of-free", {"type": "object", "minProperties": 1, "maxProperties": 2}, [{"a": 1}, {"a": 1, "b": 2}], [{}]
    ),
    _case("min-one", obj({"a": I, "b": S}, minProperties=1), [{"a": 1}, {"b": ""}], [{}]),
    _case("no-type", {"properties": {"a": I}, "required": ["a"]}, [{"a": 1}], [{"a": "x"}, {}]),
    _case("never-property", obj({"a": False, "b": I}), [{}, {"b": 1}], [{"a": 1}]),
    _case("any-property", obj({"a": True, "b": {}}, "a"), [{"a": [1]}, {"a": None, "b": {"x": 1}}], [{}]),
    _case("type-object-or-null", {"type": ["object", "null"], "properties": {"a": I}}, [None, {"a": 1}], [1, "x"]),
]

ARRAYS = [
    _case("array", {"type": "array", "items": I}, [[], [1], [1, 2, 3]], [["a"], {}, [1.5]]),
    _case("array-free", {"type": "array"}, [[], [1, "a", None]], [{}]),
    _case("array-min", {"type": "array", "items": S, "minItems": 2}, [["a", "b"]], [[], ["a"]]),
    _case("array-max", {"type": "array", "items": S, "maxItems": 2}, [[], ["a", "b"]], [["a", "b", "c"]]),
    _case(
        "array-bounds",
        {"type": "array", "items": B, "minItems": 1, "maxItems": 3},
        [[True], [True] * 3],
        [[], [True] * 4],
    ),
    _case(
        "array-exact",
        {"type": "array", "items": N, "minItems": 3, "maxItems": 3},
        [[1, 2.5, 3]],
        [[1, 2], [1, 2, 3, 4]],
    ),
    _case("array-empty-only", {"type": "array", "maxItems": 0}, [[]], [[1]]),
    _case("array-many", {"type": "array", "items": I, "minItems": 40}, [list(range(40))], [[1]]),
    _case("array-huge", {"type": "array", "items": I, "maxItems": 100000}, [[1], list(range(100))], [["a"]]),
    _case(
        "array-of-arrays",
        {"type": "array", "items": {"type": "array", "items": I, "minItems": 1}},
        [[], [[1], [2, 3]]],
        [[[]]],
    ),
    _case(
        "array-of-objects",
        {"type": "array", "items": obj({"a": I, "b": S}, "a")},
        [[{"a": 1}, {"a": 2, "b": "x"}]],
        [[{}]],
    ),
    _case(
        "array-of-enum",
        {"type": "array", "items": {"enum": ["red", "green"]}, "minItems": 1},
        [["red", "red"]],
        [["blue"]],
    ),
    _case("unique", {"type": "array", "items": {"enum": [1, 2, 3]}, "uniqueItems": True}, [[1, 2]], [[4]], loose=True),
    _case(
        "tuple", {"type": "array", "prefixItems": [S, I], "items": False, "minItems": 2}, [["a", 1]], [["a"], [1, "a"]]
    ),
    _case("tuple-open", {"type": "array", "prefixItems": [S, I]}, [[], ["a"], ["a", 1], ["a", 1, None]], [[1]]),
    _case(
        "tuple-rest",
        {"type": "array", "prefixItems": [S], "items": I, "minItems": 1},
        [["a"], ["a", 1, 2]],
        [["a", "b"], []],
    ),
    _case(
        "tuple-draft7",
        {"type": "array", "items": [S, B], "additionalItems": False},
        [["a", True], []],
        [["a", 1]],
        loose=True,
    ),
    _case(
        "tuple-min-beyond",
        {"type": "array", "prefixItems": [S], "items": I, "minItems": 3, "maxItems": 4},
        [["a", 1, 2]],
        [["a", 1]],
    ),
    _case("items-true", {"type": "array", "items": True, "maxItems": 1}, [[], [{"a": 1}]], [[1, 2]]),
    _case("items-false", {"type": "array", "items": False}, [[]], [[1]]),
    _case(
        "contains", {"type": "array", "items": I, "contains": {"const": 1}}, [[1, 2]], [["a"]], loose=True, warns=True
    ),
]

COMBINED = [
    _case("any-of", {"anyOf": [S, I]}, ["a", 1], [None, 1.5]),
    _case("one-of", {"oneOf": [S, {"type": "null"}]}, ["a", None], [1]),
    _case(
        "one-of-objects",
        {"oneOf": [obj({"kind": {"const": "a"}, "x": I}, "kind", "x"), obj({"kind": {"const": "b"}, "y": S}, "kind")]},
        [{"kind": "a", "x": 1}, {"kind": "b"}],
        [{"kind": "a"}, {"kind": "c"}],
    ),
    _case("any-of-with-base", {"type": "integer", "anyOf": [{"maximum": 3}, {"minimum": 10}]}, [3, 10, -5], [4, 9]),
    _case("any-of-nullable", {"anyOf": [{"type": "array", "items": S}, {"type": "null"}]}, [["a"], None], ["a"]),
    _case(
        "any-of-required",
        obj({"a": I, "b": I}, anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
        [{"a": 1}, {"b": 1}],
        [{}],
    ),
    _case("all-of", {"allOf": [obj({"a": I}, "a"), obj({"b": S}, "b")]}, [{"a": 1, "b": "x"}], [{"a": 1}]),
    _case(
        "all-of-bounds", {"allOf": [{"type": "integer"}, {"minimum": 3}, {"maximum": 5, "minimum": 1}]}, [3, 5], [2, 6]
    ),
    _case(
        "all-of-types", {"allOf": [{"type": ["string", "integer"]}, {"type": ["integer", "null"]}]}, [1], ["a", None]
    ),
    _case("all-of-enums", {"allOf": [{"enum": [1, 2, 3]}, {"enum": [2, 3, 4]}]}, [2, 3], [1, 4]),
    _case(
        "all-of-same-property",
        {"allOf": [obj({"a": {"type": "integer", "minimum": 3}}, "a"), obj({"a": {"maximum": 5}})]},
        [{"a": 4}],
        [{"a": 2}, {"a": 6}],
    ),
    _case(
        "all-of-any-of",
        {
            "allOf": [
                {"anyOf": [{"type": "string"}, {"type": "integer"}]},
                {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            ]
        },
        [1],
        ["a", None],
    ),
    _case("any-of-one-never", {"anyOf": [False, I]}, [1], ["a"]),
    _case(
        "nested-any-of", {"anyOf": [{"anyOf": [{"const": 1}, {"const": 2}]}, {"oneOf": [{"const": 3}]}]}, [1, 2, 3], [4]
    ),
    _case("ref", {"$ref": "#/$defs/room", "$defs": {"room": {"enum": ["hall", "attic"]}}}, ["hall"], ["x"]),
    _case(
        "ref-definitions",
        obj({"r": {"$ref": "#/definitions/room"}}, "r", definitions={"room": {"enum": ["hall"]}}),
        [{"r": "hall"}],
        [{"r": "x"}],
    ),
    _case(
        "ref-with-more",
        obj({"r": {"$ref": "#/$defs/n", "maximum": 5}}, "r", **{"$defs": {"n": {"type": "integer", "minimum": 1}}}),
        [{"r": 3}],
        [{"r": 0}, {"r": 6}],
    ),
    _case("ref-chain", {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": I}}, [1], ["a"]),
    _case("ref-escaped", {"$ref": "#/$defs/a~1b%20c", "$defs": {"a/b c": I}}, [1], ["a"]),
    _case(
        "ref-to-property",
        obj({"a": {"type": "integer", "minimum": 2}, "b": {"$ref": "#/properties/a"}}, "b"),
        [{"b": 2}],
        [{"b": 1}],
    ),
    _case(
        "ref-anchor",
        obj({"a": {"$ref": "#num"}}, "a", **{"$defs": {"x": {"$anchor": "num", "type": "integer"}}}),
        [{"a": 1}],
        [{"a": "x"}],
    ),
    _case(
        "list",
        {
            "$ref": "#/$defs/n",
            "$defs": {"n": obj({"v": I, "next": {"anyOf": [{"$ref": "#/$defs/n"}, {"type": "null"}]}}, "v", "next")},
        },
        [{"v": 1, "next": {"v": 2, "next": None}}],
        [{"v": 1}],
    ),
    _case(
        "tree",
        obj({"v": I, "kids": {"type": "array", "items": {"$ref": "#"}}}, "v"),
        [{"v": 1, "kids": [{"v": 2}, {"v": 3, "kids": []}]}],
        [{"kids": []}],
    ),
    _case(
        "json-value",
        {
            "$ref": "#/$defs/j",
            "$defs": {
                "j": {
                    "anyOf": [
                        S,
                        N,
                        {"type": "array", "items": {"$ref": "#/$defs/j"}},
                        {"type": "object", "additionalProperties": {"$ref": "#/$defs/j"}},
                    ]
                }
            },
        },
        ["a", [1, [{"x": [2]}]]],
        [None],
    ),
    _case(
        "mutual",
        {
            "$ref": "#/$defs/a",
            "$defs": {"a": obj({"b": {"$ref": "#/$defs/b"}}), "b": obj({"a": {"$ref": "#/$defs/a"}})},
        },
        [{}, {"b": {"a": {}}}],
        [{"a": {}}],
    ),
    _case(
        "endless-branch",
        obj(
            {"a": I, "more": {"$ref": "#/$defs/loop"}},
            "a",
            **{"$defs": {"loop": obj({"l": {"$ref": "#/$defs/loop"}}, "l")}},
        ),
        [{"a": 1}],
        [{"a": 1, "more": {}}],
    ),
    _case(
        "ref-to-itself-or-number",
        {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, I]}}},
        [1],
        ["a"],
    ),
    _case(
        "optional-pydantic",
        obj(
            {"name": S, "age": {"anyOf": [{"type": "integer", "minimum": 0}, {"type": "null"}], "default": None}},
            "name",
        ),
        [{"name": "x"}, {"name": "x", "age": None}],
        [{"name": "x", "age": -1}],
    ),
    _case("deep", nested(25), [json.loads('{"a": ' * 25 + "1" + "}" * 25)], [{}]),
]

LOOSE = [
    _case("not", {"type": "integer", "not": {"const": 3}}, [1, 2], ["a"], loose=True, warns=True),
    _case(
        "if-then",
        {
            "type": "object",
            "properties": {"a": B, "b": I},
            "if": {"properties": {"a": {"const": True}}},
            "then": {"required": ["b"]},
        },
        [{}, {"a": True, "b": 1}],
        [{"a": 1}],
        loose=True,
        warns=True,
    ),
    _case(
        "dependent-required",
        obj({"a": I, "b": I}, dependentRequired={"a": ["b"]}),
        [{"a": 1, "b": 2}],
        [{"a": "x"}],
        loose=True,
        warns=True,
    ),
    _case("look-ahead", {"type": "string", "pattern": "^(?=a)ab$"}, ["ab"], [1], loose=True, warns=True),
    _case("back-reference", {"type": "string", "pattern": r"^(a)\1$"}, ["aa"], [1], loose=True, warns=True),
    _case("word-boundary", {"type": "string", "pattern": r"\bword\b"}, ["a word"], [1], loose=True, warns=True),
    _case("broken-pattern", {"type": "string", "pattern": "^(a"}, ["a"], [1], loose=True, warns=True),
    _case(
        "remote-ref",
        obj({"a": {"$ref": "https://example.org/s.json"}, "b": I}, "b"),
        [{"a": [1], "b": 1}],
        [{"b": "x"}],
        loose=True,
        warns=True,
    ),
    _case("dangling-ref", obj({"a": {"$ref": "#/$defs/none"}}, "a"), [{"a": 1}], [{}], loose=True, warns=True),
    _case("unknown-type", obj({"a": {"type": "float"}}, "a"), [{"a": 1.5}], [{}], loose=True, warns=True),
    _case("properties-list", {"type": "object", "properties": ["a"]}, [{}], [1], loose=True, warns=True),
    _case(
        "required-text",
        {"type": "object", "properties": {"a": I}, "required": "a"},
        [{"a": 1}],
        [{"a": "x"}],
        loose=True,
        warns=True,
    ),
    _case("minimum-text", {"type": "integer", "minimum": "3"}, [1, 5], ["a"], loose=True, warns=True),
    _case("enum-no-list", {"type": "integer", "enum": 5}, [5], ["a"], loose=True, warns=True),
    _case("very-deep", nested(300), [], [{}], loose=True, warns=True),
    _case("never", False, [1, "a"], [], loose=True, warns=True),
    _case("contradiction", {"type": "string", "minLength": 5, "maxLength": 2}, [], [], loose=True, warns=True),
    _case(
        "endless",
        {"$ref": "#/$defs/l", "$defs": {"l": obj({"l": {"$ref": "#/$defs/l"}}, "l")}},
        [],
        [],
        loose=True,
        warns=True,
    ),
    _case("only-itself", {"$ref": "#"}, [], [], loose=True, warns=True),
    _case(
        "not-a-schema",
        {"type": "object", "properties": {"a": 5, "b": I}},
        [{"a": 1, "b": 2}],
        [{"b": "x"}],
        loose=True,
        warns=True,
    ),
    _case(
        "too-many-branches",
        {"allOf": [{"anyOf": [{"minimum": n}, {"maximum": -n}, {"multipleOf": n + 1}]} for n in range(8)]},
        [],
        [],
        loose=True,
        warns=True,
    ),
]

CASES = [*SCALARS, *BOUNDS, *STRINGS, *OBJECTS, *ARRAYS, *COMBINED, *LOOSE]

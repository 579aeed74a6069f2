"""JSON Schemas from signatures and docstrings, and conversion of arguments to the annotated types."""

from __future__ import annotations

import datetime as dt
import enum
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from jsonschema import Draft202012Validator
from pydantic import AfterValidator, BaseModel, Field
from typing_extensions import TypedDict

from edgevox.core.errors import ConfigError, InvalidArguments
from edgevox.tools.schema import read_docstring, read_signature


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Item(BaseModel):
    """One thing to buy."""

    title: str
    amount: int = Field(default=1, ge=1, description="how many")


class Node(BaseModel):
    label: str
    children: list[Node] = []


@dataclass(frozen=True)
class Point:
    x: float
    y: float = 0.0
    colour: Colour = Colour.RED


class Address(TypedDict):
    street: str
    number: int


def even(value: int) -> int:
    if value % 2:
        raise ValueError("must be even")
    return value


def no_parameters() -> str:
    return ""


def with_literal(room: Literal["kitchen", "hall"], on: bool) -> str:
    return ""


def with_enum(colour: Colour) -> str:
    return ""


def with_range(level: Annotated[int, Field(ge=0, le=100, description="per cent")]) -> str:
    return ""


def with_words(name: Annotated[str, "the device's name"]) -> str:
    return ""


def with_defaults(minutes: int = 5, colour: Colour = Colour.BLUE, label: str | None = None) -> str:
    return ""


def with_model(item: Item) -> str:
    return ""


def with_dataclass(point: Point) -> str:
    return ""


def with_typed_dict(address: Address) -> str:
    return ""


def with_collections(
    names: list[str], counts: dict[str, int], pair: tuple[int, str], tags: set[str] | None = None
) -> str:
    return ""


def with_times(at: dt.datetime, day: dt.date, time: dt.time, span: dt.timedelta) -> str:
    return ""


def with_union(value: int | str) -> str:
    return ""


def with_nullable(value: int | None) -> str:
    return ""


def with_recursion(node: Node) -> str:
    return ""


def with_anything(value: Any) -> str:
    return ""


def with_rest(name: str, **rest: str) -> str:
    return ""


def with_others(path: Path, key: UUID) -> str:
    return ""


def with_validator(number: Annotated[int, AfterValidator(even)]) -> str:
    return ""


def properties(function: Callable[..., Any]) -> Any:
    return read_signature(function).parameters["properties"]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (no_parameters, {}),
        (with_literal, {"room": {"type": "string", "enum": ["kitchen", "hall"]}, "on": {"type": "boolean"}}),
        (with_enum, {"colour": {"type": "string", "enum": ["red", "blue"]}}),
        (with_range, {"level": {"type": "integer", "minimum": 0, "maximum": 100, "description": "per cent"}}),
        (with_words, {"name": {"type": "string", "description": "the device's name"}}),
        (
            with_defaults,
            {
                "minutes": {"type": "integer", "default": 5},
                "colour": {"type": "string", "enum": ["red", "blue"], "default": "blue"},
                "label": {"type": "string"},
            },
        ),
        (
            with_model,
            {
                "item": {
                    "type": "object",
                    "description": "One thing to buy.",
                    "properties": {
                        "title": {"type": "string"},
                        "amount": {"type": "integer", "minimum": 1, "default": 1, "description": "how many"},
                    },
                    "required": ["title"],
                }
            },
        ),
        (
            with_dataclass,
            {
                "point": {
                    "type": "object",
                    "properties": {
                        "x": {"type": "number"},
                        "y": {"type": "number", "default": 0.0},
                        "colour": {"type": "string", "enum": ["red", "blue"], "default": "red"},
                    },
                    "required": ["x"],
                }
            },
        ),
        (
            with_typed_dict,
            {
                "address": {
                    "type": "object",
                    "properties": {"street": {"type": "string"}, "number": {"type": "integer"}},
                    "required": ["street", "number"],
                }
            },
        ),
        (
            with_collections,
            {
                "names": {"type": "array", "items": {"type": "string"}},
                "counts": {"type": "object", "additionalProperties": {"type": "integer"}},
                "pair": {
                    "type": "array",
                    "prefixItems": [{"type": "integer"}, {"type": "string"}],
                    "minItems": 2,
                    "maxItems": 2,
                },
                "tags": {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
            },
        ),
        (
            with_times,
            {
                "at": {"type": "string", "format": "date-time"},
                "day": {"type": "string", "format": "date"},
                "time": {"type": "string", "format": "time"},
                "span": {"type": "string", "format": "duration"},
            },
        ),
        (with_union, {"value": {"anyOf": [{"type": "integer"}, {"type": "string"}]}}),
        (with_nullable, {"value": {"anyOf": [{"type": "integer"}, {"type": "null"}]}}),
        (with_anything, {"value": {}}),
        (with_others, {"path": {"type": "string", "format": "path"}, "key": {"type": "string", "format": "uuid"}}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_type_has_its_schema(function: Callable[..., Any], expected: object) -> None:
    assert properties(function) == expected
    Draft202012Validator.check_schema(dict(read_signature(function).parameters))


def test_only_parameters_without_a_default_are_required() -> None:
    assert read_signature(with_literal).parameters["required"] == ["room", "on"]
    assert "required" not in read_signature(with_defaults).parameters
    assert read_signature(with_nullable).parameters["required"] == ["value"]


def test_a_recursive_type_keeps_its_definition() -> None:
    schema = dict(read_signature(with_recursion).parameters)
    validator = Draft202012Validator(schema)
    assert validator.is_valid({"node": {"label": "a", "children": [{"label": "b", "children": []}]}})
    assert not validator.is_valid({"node": {"label": "a", "children": [{"children": []}]}})


def test_a_function_with_arbitrary_keywords_allows_additional_properties() -> None:
    assert read_signature(with_rest).parameters["additionalProperties"] is True
    assert read_signature(with_rest).convert({"name": "a", "more": "b"}) == {"name": "a", "more": "b"}


@pytest.mark.parametrize(
    ("function", "given", "expected"),
    [
        (with_enum, {"colour": "red"}, {"colour": Colour.RED}),
        (with_model, {"item": {"title": "milk"}}, {"item": Item(title="milk")}),
        (with_dataclass, {"point": {"x": 1, "colour": "blue"}}, {"point": Point(1.0, colour=Colour.BLUE)}),
        (
            with_collections,
            {"names": ["a"], "counts": {"b": 1}, "pair": [1, "c"], "tags": ["d"]},
            {"names": ["a"], "counts": {"b": 1}, "pair": (1, "c"), "tags": {"d"}},
        ),
        (
            with_times,
            {"at": "2026-01-02T03:04:05Z", "day": "2026-01-02", "time": "03:04", "span": "PT90S"},
            {
                "at": dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC),
                "day": dt.date(2026, 1, 2),
                "time": dt.time(3, 4),
                "span": dt.timedelta(seconds=90),
            },
        ),
        (with_union, {"value": "3"}, {"value": "3"}),
        (with_others, {"path": "a/b", "key": "0" * 32}, {"path": Path("a/b"), "key": UUID(int=0)}),
        (with_defaults, {}, {}),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_arguments_become_the_annotated_types(
    function: Callable[..., Any], given: dict[str, Any], expected: dict[str, Any]
) -> None:
    converted = read_signature(function).convert(given)
    assert converted == expected
    assert {name: type(value) for name, value in converted.items()} == {
        name: type(value) for name, value in expected.items()
    }


def test_a_value_that_only_its_type_rejects_is_reported() -> None:
    with pytest.raises(InvalidArguments, match=r"number: .*must be even"):
        read_signature(with_validator).convert({"number": 3})
    with pytest.raises(InvalidArguments, match=r"at: .*datetime"):
        read_signature(with_times).convert({"at": "tomorrow"})


def test_the_docstring_describes_the_tool_and_its_parameters() -> None:
    description, explained = read_docstring(
        "Switch the light.\n\nIt may be\ndimmed.\n\nArgs:\n    room: which room,\n        as people say it\n"
        "    level (int): how bright: 0 is off\n\nReturns:\n    what happened\n"
    )
    assert description == "Switch the light. It may be dimmed."
    assert explained == {"room": "which room, as people say it", "level": "how bright: 0 is off"}


def test_annotations_override_the_docstring() -> None:
    def dim(level: Annotated[int, Field(description="annotated")], room: str) -> None:
        """Dim.

        Args:
            level: from the docstring
            room: a room
        """

    found = properties(dim)
    assert (found["level"]["description"], found["room"]["description"]) == ("annotated", "a room")


def test_a_function_that_cannot_be_described_is_refused() -> None:
    class Strange:
        pass

    def untyped(value) -> str:  # type: ignore[no-untyped-def]  # noqa: ANN001 - the point of the test
        return ""

    def positional(value: str, /) -> str:
        return ""

    def several(*values: str) -> str:
        return ""

    def with_field_default(value: int = Field(default=3)) -> str:
        return ""

    def with_callable(value: Callable[[int], int]) -> str:
        return ""

    def with_strange(value: object) -> str:
        return ""

    with_strange.__annotations__["value"] = Strange

    def with_unknown(value: NoSuchType) -> str:  # type: ignore[name-defined]  # noqa: F821 - the point
        return ""

    for function, words in (
        (untyped, "value of untyped has no type"),
        (positional, "by position only"),
        (several, "by position only"),
        (with_field_default, "is a Field"),
        (with_callable, "unsupported type of value in with_callable"),
        (with_strange, "unsupported type of value in with_strange"),
        (with_unknown, "with_unknown cannot be resolved"),
    ):
        with pytest.raises(ConfigError, match=words) as error:
            read_signature(function)
        assert error.value.hint

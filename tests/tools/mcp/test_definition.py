"""From a server's description to a tool: hints, names, and schemas that nobody should trust."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from edgevox.errors import ConfigError
from edgevox.tools.mcp.definition import Definition, as_tool, offered_name
from edgevox.tools.tool import Tool


async def nothing(_name: str, _arguments: Mapping[str, Any]) -> object:
    return None


def made(**given: Any) -> Tool:
    return as_tool(Definition(name="do", **given), "do", nothing, server_id="hub")


@pytest.mark.parametrize(
    ("hints", "side_effects", "confirm"),
    [
        ({}, True, "voice"),
        ({"read_only": True}, False, "never"),
        ({"read_only": False}, True, "voice"),
        ({"destructive": True}, True, "screen"),
        ({"destructive": False}, True, "voice"),
        ({"read_only": True, "destructive": True}, True, "screen"),
        ({"read_only": True, "destructive": False}, False, "never"),
    ],
)
def test_hints_decide_what_is_asked(hints: dict[str, bool], side_effects: bool, confirm: str) -> None:
    tool = made(**hints)
    assert (tool.side_effects, tool.confirm) == (side_effects, confirm)


@pytest.mark.parametrize(
    ("name", "prefix", "offered"),
    [
        ("read_file", "", "read_file"),
        ("read_file", "files_", "files_read_file"),
        ("issues/create.now", "git_", "git_issues_create_now"),
        ("2nd", "", "_2nd"),
        ("löschen", "", "l_schen"),
    ],
)
def test_names_are_made_writable(name: str, prefix: str, offered: str) -> None:
    assert offered_name(name, prefix) == offered


def test_long_names_stay_different() -> None:
    one, other = offered_name("a" * 100, "hub_"), offered_name("a" * 99 + "b", "hub_")
    assert one != other
    assert len(one) == len(other) == 64


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "object", "properties": {"a": {"$ref": "https://evil.example/x"}}}, "refer to https"),
        ({"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}}, "refer to file"),
        ({"type": "string"}, "not an object"),
        ({"type": "object", "properties": {"a": {"enum": ["x" * 20_000]}}}, "more than 16,000"),
        ({"type": "object", "properties": {"a": {"type": "colour"}}}, "no JSON Schema"),
    ],
)
def test_a_schema_of_no_use_is_refused(schema: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        made(input_schema=schema)


def test_a_schema_that_never_ends_is_refused() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(60):
        schema = {"type": "object", "properties": {"a": schema}}
    with pytest.raises(ConfigError, match="too deeply"):
        made(input_schema=schema)


def test_a_strangers_regular_expression_is_not_run() -> None:
    tool = made(
        input_schema={
            "type": "object",
            "properties": {"pattern": {"type": "string", "pattern": "^(a+)+$"}},
            "patternProperties": {"^(a+)+$": {}},
        }
    )
    assert tool.parameters == {"type": "object", "properties": {"pattern": {"type": "string"}}}


def test_a_description_has_an_end_and_is_never_empty() -> None:
    assert len(made(description="word " * 5_000).description) <= 1_000
    assert made().description == "do of hub"


def test_whatever_changes_changes_the_fingerprint() -> None:
    one = Definition(name="do", description="Do it.", input_schema={"type": "object"}, read_only=True)
    changes: list[dict[str, Any]] = [
        {"description": "Do it now."},
        {"input_schema": {"type": "object", "properties": {}}},
        {"read_only": None},
        {"destructive": True},
    ]
    assert len({one.fingerprint, *(one.model_copy(update=change).fingerprint for change in changes)}) == 5

"""MCP tool definitions, and the selection of tools for an utterance."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from edgevox.core.errors import ConfigError, ToolError
from edgevox.core.types import ToolCall
from edgevox.tools import ToolExecutor, ToolRegistry
from edgevox.tools.mcp.tools import Definition, RelevantTools, as_tool, offered_name
from edgevox.tools.policy import ConfirmationPolicy
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
def test_hints_decide_the_confirmation(hints: dict[str, bool], side_effects: bool, confirm: str) -> None:
    tool = made(**hints)
    assert (tool.side_effects, tool.confirm) == (side_effects, confirm)


ZONED = {
    "properties": {"timezone": {"type": "string", "description": "IANA timezone name"}, "city": {"type": "string"}}
}


@pytest.mark.parametrize(
    ("given", "sent"),
    [
        ({"timezone": "Tokyo", "city": "Tokyo"}, {"timezone": "Asia/Tokyo", "city": "Tokyo"}),
        ({"timezone": "New York"}, {"timezone": "America/New_York"}),
        ({"timezone": "Europe/Berlin"}, {"timezone": "Europe/Berlin"}),
        ({"timezone": "Atlantis"}, {"timezone": "Atlantis"}),
    ],
)
async def test_arguments_follow_what_the_schema_asks_for(given: dict[str, str], sent: dict[str, str]) -> None:
    received: list[Mapping[str, Any]] = []

    async def call(_name: str, arguments: Mapping[str, Any]) -> object:
        received.append(arguments)
        return None

    tool = as_tool(Definition(name="do", input_schema=ZONED), "do", call, server_id="hub")
    await ToolExecutor(ToolRegistry((tool,)), rule=ConfirmationPolicy(tools={"do": "never"})).dispatch(
        ToolCall("1", "do", json.dumps(given))
    )
    assert received == [sent]


@pytest.mark.parametrize(
    ("error", "code"),
    [("Invalid timezone: no zone found with key Tokio", "bad_request"), ("the disk is full", "tool_error")],
)
async def test_an_error_about_arguments_lets_the_model_try_again(error: str, code: str) -> None:
    async def call(_name: str, _arguments: Mapping[str, Any]) -> object:
        raise ToolError(error)

    tool = as_tool(Definition(name="do", read_only=True), "do", call, server_id="hub")
    result = await ToolExecutor(ToolRegistry((tool,))).dispatch(ToolCall("1", "do", "{}"))
    assert (result.code, error.casefold() in result.content.casefold()) == (code, True)


@pytest.mark.parametrize(
    ("hint", "said", "sent"),
    [
        (True, "Garden", ["Garden", "garden"]),
        (True, "gardn", ["gardn", "garden"]),
        (True, "kitchen", ["kitchen"]),
        (False, "Garden", ["Garden", "garden"]),
        (False, "gardn", ["gardn"]),
    ],
)
async def test_a_call_is_tried_once_more_with_what_the_error_offers(hint: bool, said: str, sent: list[str]) -> None:
    received: list[object] = []

    async def call(_name: str, arguments: Mapping[str, Any]) -> object:
        received.append(arguments["vault"])
        if arguments["vault"] != "garden":
            raise ToolError(f"Unknown vault '{arguments['vault']}'. Available vaults: garden, work")
        return "basil"

    schema = {"properties": {"vault": {"type": "string"}}}
    tool = as_tool(Definition(name="do", input_schema=schema, read_only=hint), "do", call, server_id="hub")
    executor = ToolExecutor(ToolRegistry((tool,)), rule=ConfirmationPolicy(tools={"do": "never"}))
    result = await executor.dispatch(ToolCall("1", "do", json.dumps({"vault": said})))
    assert received == sent
    assert result.is_error == (sent[-1] != "garden")


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
def test_names_are_restricted_to_safe_characters(name: str, prefix: str, offered: str) -> None:
    assert offered_name(name, prefix) == offered


def test_long_names_stay_distinct() -> None:
    one, other = offered_name("a" * 100, "hub_"), offered_name("a" * 99 + "b", "hub_")
    assert one != other
    assert len(one) == len(other) == 64


@pytest.mark.parametrize(
    ("schema", "problem"),
    [
        ({"type": "object", "properties": {"a": {"$ref": "https://evil.example/x"}}}, "refers to https"),
        ({"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}}, "refers to file"),
        ({"type": "string"}, "not an object"),
        ({"type": "object", "properties": {"a": {"enum": ["x" * 20_000]}}}, "exceeds 16,000"),
        ({"type": "object", "properties": {"a": {"type": "colour"}}}, "no JSON Schema"),
    ],
)
def test_an_unusable_schema_is_refused(schema: dict[str, Any], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        made(input_schema=schema)


def test_a_deeply_nested_schema_is_refused() -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(60):
        schema = {"type": "object", "properties": {"a": schema}}
    with pytest.raises(ConfigError, match="too deeply"):
        made(input_schema=schema)


def test_a_servers_regular_expression_is_not_run() -> None:
    tool = made(
        input_schema={
            "type": "object",
            "properties": {"pattern": {"type": "string", "pattern": "^(a+)+$"}},
            "patternProperties": {"^(a+)+$": {}},
        }
    )
    assert tool.parameters == {"type": "object", "properties": {"pattern": {"type": "string"}}}


def test_a_description_is_bounded_and_never_empty() -> None:
    assert len(made(description="word " * 5_000).description) <= 1_000
    assert made().description == "do of hub"


def test_any_change_makes_another_definition() -> None:
    one = Definition(name="do", description="Do it.", input_schema={"type": "object"}, read_only=True)
    changes: list[dict[str, Any]] = [
        {"description": "Do it now."},
        {"input_schema": {"type": "object", "properties": {}}},
        {"read_only": None},
        {"destructive": True},
    ]
    assert all(one != one.model_copy(update=change) for change in changes)


TOPICS = (
    "file:read write list delete move",
    "issue:create close list search comment",
    "mail:send read search archive draft",
    "weather:forecast today alert",
    "calendar:add remove list event",
    "song:play pause skip search",
    "recipe:find save scale",
    "stock:price history",
    "train:departures delays ticket",
    "note:append find tag",
)


def tool(name: str, description: str) -> Tool:
    return Tool.function(name, description).param("query", "string", "what").build(lambda: None)


def many() -> list[Tool]:
    tools = []
    for topic in TOPICS:
        thing, verbs = topic.split(":")
        tools += [
            tool(f"hub_{verb}_{thing}", f"{verb.capitalize()} a {thing} for the person.") for verb in verbs.split()
        ]
    return tools


@pytest.mark.parametrize(
    ("sentence", "wanted"),
    [
        ("Send a mail to Mara that I am late", "hub_send_mail"),
        ("what's the weather forecast for tomorrow", "hub_forecast_weather"),
        ("are there any delays on my train", "hub_delays_train"),
        ("please close the issues about the kitchen", "hub_close_issue"),
        ("find a recipe with leeks", "hub_find_recipe"),
        ("play the song about the sea", "hub_play_song"),
    ],
)
def test_the_relevant_tool_is_among_the_few_offered(sentence: str, wanted: str) -> None:
    names = RelevantTools(many(), max_tools=8).names(sentence)
    assert wanted in names
    assert len(names) <= 8


def test_small_talk_needs_no_tool() -> None:
    relevant = RelevantTools(many(), max_tools=8)
    assert relevant.names("how are you?") == relevant.names("") == ()


def test_few_tools_are_always_all_offered() -> None:
    relevant = RelevantTools(many()[:5], max_tools=8)
    assert relevant.are_few
    assert len(relevant.names("")) == 5


def test_the_same_sentence_gets_the_same_tools_in_order() -> None:
    tools = many()
    names = RelevantTools(tools, max_tools=6).names("search my mail and list the files")
    assert names == RelevantTools(tools, max_tools=6).names("search my mail and list the files")
    order = [one.name for one in tools]
    assert list(names) == sorted(names, key=order.index)


def test_the_prompt_is_bounded_however_long_descriptions_are() -> None:
    tools = [tool(f"mail_{number}", "mail " + "word " * 400) for number in range(50)]
    relevant = RelevantTools(tools, max_tools=50, max_chars=6_000)
    by_name = {one.name: one for one in tools}
    chosen = [by_name[name].openai_schema for name in relevant.names("read my mail")]
    assert 0 < sum(len(json.dumps(schema)) for schema in chosen) <= 6_000

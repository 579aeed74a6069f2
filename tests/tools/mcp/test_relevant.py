"""Which tools of many a model is told of."""

from __future__ import annotations

import json

import pytest

from edgevox.tools.mcp.relevant import RelevantTools
from edgevox.tools.tool import Tool

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
            tool(f"hub_{verb}_{thing}", f"{verb.capitalize()} a {thing} for the person.")
            for verb in verbs.split()
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
def test_the_tool_that_a_sentence_is_about_is_offered_among_few(sentence: str, wanted: str) -> None:
    names = RelevantTools(many(), max_tools=8).names(sentence)
    assert wanted in names
    assert len(names) <= 8


def test_small_talk_needs_no_tool() -> None:
    relevant = RelevantTools(many(), max_tools=8)
    assert relevant.names("how are you?") == relevant.names("") == ()


def test_few_tools_are_all_offered_whatever_is_asked() -> None:
    relevant = RelevantTools(many()[:5], max_tools=8)
    assert relevant.are_few
    assert len(relevant.names("")) == 5


def test_the_same_sentence_gets_the_same_tools_in_the_order_they_have() -> None:
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

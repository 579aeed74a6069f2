"""Calls rendered into every format and read back are the same calls, by BFCL's rule of equality."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from edgevox.core.types import ToolCall
from edgevox.llm.tool_parsers import DETECTORS, ParsedReply, StreamingToolParser, ToolCallItem, parse_reply
from tests.bfcl.ast_eq import Answer, call_matches, calls_match

FIXTURES: list[dict[str, Any]] = json.loads((Path(__file__).parent / "fixtures.json").read_text(encoding="utf-8"))
MARKED = [name for name, cls in DETECTORS.items() if cls.markers]


def rendered(fixture: dict[str, Any], format_name: str) -> str:
    calls = [
        ToolCall(f"id{index:07}", call["name"], json.dumps(call["arguments"], ensure_ascii=False))
        for index, call in enumerate(fixture["calls"])
    ]
    return DETECTORS[format_name]().render(calls)


def streamed(raw: str, parsers: tuple[str, ...], tools: list[dict[str, Any]], step: int) -> ParsedReply:
    parser = StreamingToolParser(parsers, tools)
    for at in range(0, len(raw), step):
        parser.feed(raw[at : at + step])
    parser.finish()
    return parser.reply()


@pytest.mark.parametrize("format_name", DETECTORS)
@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda fixture: fixture["id"])
def test_calls_come_back_from_every_format(fixture: dict[str, Any], format_name: str) -> None:
    raw = rendered(fixture, format_name)
    whole = parse_reply(raw, preset_parsers=(format_name,), tools=fixture["tools"])
    assert calls_match(whole.calls, fixture["answers"]), whole
    assert whole.text.strip() == ""
    for step in (1, 4, 20):
        assert streamed(raw, (format_name,), fixture["tools"], step) == whole


@pytest.mark.parametrize("format_name", DETECTORS)
def test_text_around_the_calls_is_kept(format_name: str) -> None:
    fixture = FIXTURES[0]
    raw = f"Here you are:\n{rendered(fixture, format_name)}\nAnything else?"
    reply = parse_reply(raw, preset_parsers=(format_name,), tools=fixture["tools"])
    assert calls_match(reply.calls, fixture["answers"])
    assert reply.text.split() == ["Here", "you", "are:", "Anything", "else?"]


@pytest.mark.parametrize("format_name", MARKED)
def test_a_chain_of_all_formats_reads_what_has_markers(format_name: str) -> None:
    for fixture in FIXTURES:
        raw = rendered(fixture, format_name)
        if not any(marker in raw for marker in DETECTORS[format_name].markers):
            continue
        reply = parse_reply(raw, tools=fixture["tools"])
        assert calls_match(reply.calls, fixture["answers"]), (fixture["id"], reply)


def test_equality_is_by_meaning_and_strict_about_kinds() -> None:
    answer: Answer = {"f": {"a": [1, 2], "b": ["", "New York"], "c": ["", True]}}

    def matches(name: str, arguments: str, error: str | None = None) -> bool:
        return call_matches(ToolCallItem("id", name, arguments, error), answer)

    assert matches("f", '{"a": 2}')
    assert matches("f", '{"a": 1.0, "b": "new york", "c": true}')
    assert not matches("g", '{"a": 2}')
    assert not matches("f", '{"b": "New York"}')
    assert not matches("f", '{"a": "2"}')
    assert not matches("f", '{"a": true}')
    assert not matches("f", '{"a": 2, "c": 1}')
    assert not matches("f", '{"a": 2, "d": 0}')
    assert not matches("f", '{"a": 2}', "invalid_arguments: b is missing")


def test_every_answer_needs_its_own_call() -> None:
    one, other = ToolCallItem("1", "f", '{"a": 1}'), ToolCallItem("2", "f", '{"a": 2}')
    answers = [{"f": {"a": [2]}}, {"f": {"a": [1]}}]
    assert calls_match([one, other], answers)
    assert not calls_match([one, one], answers)
    assert not calls_match([one], answers)
    assert not calls_match([one, other, other], answers)

"""The id a model wrote comes back verbatim; one is made up only where the format has none."""

from __future__ import annotations

import pytest

from edgevox.llm.tool_parsers import parse_reply, parse_tool_calls_from_content
from tests.tool_parsing.cases import tools


@pytest.mark.parametrize(
    "raw",
    [
        '[TOOL_CALLS][{"name": "get_time", "arguments": {}, "id": "Zy8x0Wv1u"}]',
        '[TOOL_CALLS] [{"id": "Zy8x0Wv1u", "name": "get_time", "arguments": {}}]',
        "[TOOL_CALLS]get_time[CALL_ID]Zy8x0Wv1u[ARGS]{}",
    ],
)
def test_the_nine_characters_come_back(raw: str) -> None:
    calls, _, _ = parse_tool_calls_from_content(raw, preset_parsers=("mistral",), tools=tools())
    assert [call["id"] for call in calls] == ["Zy8x0Wv1u"]


def test_two_calls_keep_their_own_ids() -> None:
    raw = '[TOOL_CALLS]get_time[CALL_ID]aaaaaaaa1[ARGS]{}[TOOL_CALLS]set_timer[CALL_ID]aaaaaaaa2[ARGS]{"minutes": 1}'
    reply = parse_reply(raw, preset_parsers=("mistral",), tools=tools())
    assert [(call.name, call.id) for call in reply.calls] == [("get_time", "aaaaaaaa1"), ("set_timer", "aaaaaaaa2")]


def test_without_an_id_one_is_made_of_name_and_position() -> None:
    raw = '[TOOL_CALLS]get_time{}[TOOL_CALLS]set_timer{"minutes": 1}'
    reply = parse_reply(raw, preset_parsers=("mistral",), tools=tools())
    assert [call.id for call in reply.calls] == ["get_time_0", "set_timer_1"]

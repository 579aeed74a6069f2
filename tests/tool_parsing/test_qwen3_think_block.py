"""Raw first, then think-stripped: a marked call inside reasoning is a call, and reasoning is never spoken."""

from __future__ import annotations

import pytest

from edgevox.llm.tool_parsers import StreamingToolParser, parse_reply, parse_tool_calls_from_content
from tests.tool_parsing.cases import tools

TIME_CALL = '<tool_call>{"name": "get_time", "arguments": {}}</tool_call>'


def test_a_call_inside_think_is_found_and_the_rest_is_spoken() -> None:
    calls, cleaned, fallback = parse_tool_calls_from_content(f"<think>Hm.\n{TIME_CALL}\n</think>One moment.")
    assert [call["function"] for call in calls] == [{"name": "get_time", "arguments": "{}"}]
    assert calls[0]["type"] == "function"
    assert calls[0]["id"] == "get_time_0"
    assert (cleaned, fallback) == ("One moment.", True)


def test_bare_json_inside_think_is_talk() -> None:
    raw = '<think>{"name": "get_time", "arguments": {}}</think>Well.'
    calls, cleaned, fallback = parse_tool_calls_from_content(raw, preset_parsers=("json_bare",), tools=tools())
    assert (calls, cleaned, fallback) == ([], "Well.", False)


def test_a_plain_call_inside_think_is_talk() -> None:
    reply = parse_reply("<think>get_time()</think>Well.", preset_parsers=("gemma",), tools=tools())
    assert (reply.calls, reply.text) == ((), "Well.")


def test_reasoning_that_never_ends_is_not_spoken() -> None:
    reply = parse_reply("<think>First this, then")
    assert (reply.text, reply.reasoning) == ("", "First this, then")


def test_reasoning_with_only_its_end_is_not_spoken() -> None:
    reply = parse_reply("First this.\n</think>\n\nIt is noon.")
    assert (reply.text, reply.reasoning) == ("It is noon.", "First this.")


def test_a_stream_takes_back_what_turns_out_to_be_reasoning() -> None:
    parser = StreamingToolParser()
    assert parser.feed("First this.").text == "First this."
    delta = parser.feed("</think>It is noon.")
    assert (delta.text, delta.retracts) == ("It is noon.", True)
    parser.finish()
    assert parser.reply() == parse_reply("First this.</think>It is noon.")


def test_a_stream_that_knows_the_template_speaks_no_reasoning_at_all() -> None:
    parser = StreamingToolParser(("qwen25",), tools(), opened_reasoning=True)
    deltas = [parser.feed(piece) for piece in ("First ", "this.</thi", "nk>\n\nIt is noon.")]
    assert [delta.text for delta in deltas] == ["", "", "It is noon."]
    assert not any(delta.retracts for delta in deltas)
    assert parser.reply().reasoning == "First this."


@pytest.mark.parametrize(
    ("raw", "reasoning", "text"),
    [
        ("<think>a</think>b", "a", "b"),
        ("<thinking>a</thinking>b", "a", "b"),
        ("[THINK]a[/THINK]b", "a", "b"),
        ("<|channel>thought\na<channel|>b", "a", "b"),
        ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b", "a", "b"),
        ("<think>a", "a", ""),
        ("[THINK]a", "a", ""),
        ("<|channel>thought\na", "a", ""),
        ("<|channel|>analysis<|message|>a", "a", ""),
        ("a</think>b", "a", "b"),
        ("a[/THINK]b", "a", "b"),
        ("a<channel|>b", "a", "b"),
        ("<think>a</think>b<think>c</think>d", "ac", "bd"),
        ("Say `<think>` aloud.", "", "Say `<think>` aloud."),
    ],
)
def test_every_family_s_reasoning_is_split_from_the_text(raw: str, reasoning: str, text: str) -> None:
    reply = parse_reply(raw, tools=())
    assert (reply.reasoning, reply.text) == (reasoning, text)

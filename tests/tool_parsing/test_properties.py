"""What holds for every reply: any cutting gives the same, nothing raises, talk comes back as it is."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from edgevox.llm.tool_parsers import DETECTORS, ParsedReply, StreamingToolParser, parse_reply
from tests.tool_parsing.cases import all_cases, tools

MARKERS = sorted({marker for cls in DETECTORS.values() for marker in (*cls.markers, *cls.trailers)})
REASONING = [
    "<think>",
    "</think>",
    "[THINK]",
    "[/THINK]",
    "<|channel>thought\n",
    "<channel|>",
    "<|end|>",
    "<|message|>",
]
SHARDS = [
    *MARKERS,
    *REASONING,
    "```",
    "```json\n",
    "`",
    "\n",
    " ",
    '"',
    "'",
    "\\",
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    ";",
    "=",
    '{"name": "set_timer", "arguments": {"minutes": 3}}',
    '{"name": "launch", "parameters": {}}',
    '"name": "get_time"',
    '"arguments": {',
    "set_timer(minutes=3)",
    "get_time()",
    "get_time",
    "call:set_timer{minutes:3}",
    "[ARGS]",
    "[CALL_ID]abcdefghi",
    "set_light>",
    "<parameter=room>",
    "</parameter>",
    "<arg_key>",
    "</arg_key>",
    "<arg_value>",
    "</arg_value>",
    "<param name=",
    '"room">',
    "<name>",
    "</name>",
    "<arguments>",
    "<![CDATA[",
    "]]>",
    '<|"|>',
    "<escape>",
    "to=functions.get_time",
    "commentary",
    "analysis",
    "room",
    "hall",
    "true",
    "é",
    "\ud800",
    "1",
]
RENDERED = [case.raw for case in all_cases()]
CHAINS = [(), *((name,) for name in DETECTORS), ("qwen25", "hermes"), ("llama32", "pythonic"), tuple(DETECTORS)]


def soup() -> st.SearchStrategy[str]:
    """Text made of markers, pieces of calls and noise."""
    shard = st.one_of(st.sampled_from(SHARDS), st.sampled_from(RENDERED), st.text(max_size=4))
    return st.lists(shard, max_size=14).map("".join)


@st.composite
def cut_reply(draw: st.DrawFn) -> tuple[str, list[str]]:
    """A reply, and the pieces that it comes in."""
    raw = draw(soup())
    cuts = sorted(draw(st.lists(st.integers(0, len(raw)), max_size=12))) if raw else []
    edges = [0, *cuts, len(raw)]
    return raw, [raw[start:end] for start, end in pairwise(edges)]


def stream(pieces: list[str], parsers: tuple[str, ...], offered: list[dict[str, object]] | None) -> ParsedReply:
    parser = StreamingToolParser(parsers, offered)
    for piece in pieces:
        parser.feed(piece)
    parser.finish()
    return parser.reply()


@pytest.mark.parametrize("parsers", CHAINS, ids=lambda chain: "+".join(chain)[:30] or "all")
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(reply=cut_reply())
def test_any_cutting_gives_the_same(parsers: tuple[str, ...], reply: tuple[str, list[str]]) -> None:
    raw, pieces = reply
    whole = parse_reply(raw, preset_parsers=parsers, tools=tools())
    assert stream(pieces, parsers, tools()) == whole
    assert stream(list(raw), parsers, tools()) == whole


@settings(max_examples=150, deadline=None)
@given(raw=soup(), parsers=st.sampled_from(CHAINS), offered=st.sampled_from([None, [], "home"]))
def test_whatever_is_found_can_be_used(raw: str, parsers: tuple[str, ...], offered: list[object] | str | None) -> None:
    given_tools = tools() if offered == "home" else None if offered is None else []
    reply = parse_reply(raw, preset_parsers=parsers, tools=given_tools)
    names = {tool["function"]["name"] for tool in tools()}
    for call in reply.calls:
        assert isinstance(json.loads(call.arguments), dict)
        call.arguments.encode()
        assert call.name in names or given_tools is None
    if given_tools == []:
        assert reply.calls == ()
    assert all(one.reason for one in reply.rejected)


@settings(max_examples=150, deadline=None)
@given(
    raw=st.text(alphabet=st.characters(exclude_characters="<[{`", exclude_categories=["Cs"]), max_size=200),
    parsers=st.sampled_from(CHAINS),
)
def test_text_without_a_call_comes_back_unchanged(raw: str, parsers: tuple[str, ...]) -> None:
    reply = parse_reply(raw, preset_parsers=parsers, tools=tools())
    assert (reply.text, reply.calls, reply.reasoning, reply.rejected) == (raw, (), "", ())


@settings(max_examples=150, deadline=None)
@given(raw=st.text(max_size=100))
def test_a_stream_holds_back_no_more_than_a_marker(raw: str) -> None:
    parser = StreamingToolParser(("hermes", "mistral"), tools())
    longest = max(len(marker) for marker in (*MARKERS, *REASONING))
    said = 0
    for at, char in enumerate(raw, start=1):
        said += len(parser.feed(char).text)
        assert at - said < longest


def test_text_that_cannot_become_a_marker_is_released_at_once() -> None:
    parser = StreamingToolParser(("hermes",), tools())
    said = [parser.feed(piece).text for piece in ("Good", " morning <", "b", "> <tool", " bench")]
    assert said == ["Good", " morning ", "<b", "> ", "<tool bench"]

"""The public face of the parser chain: what callers rely on."""

from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Iterator, Sequence
from typing import ClassVar

import pytest

from edgevox.core.errors import ConfigError
from edgevox.core.types import ToolCall
from edgevox.llm.tool_parsers import (
    DETECTORS,
    BaseFormatDetector,
    Body,
    Opening,
    StreamingToolParser,
    ToolCallItem,
    parse_reply,
    parse_tool_calls_from_content,
    register_detector,
)
from edgevox.llm.tool_parsers.base import Forms
from edgevox.llm.tool_parsers.json_calls import JsonCalls, json_between
from edgevox.llm.tool_parsers.notation import Wrapper
from tests.tool_parsing.cases import tools

TIMER = '<tool_call>{"name": "set_timer", "arguments": {"minutes": "3"}}</tool_call>'


class StarDetector(BaseFormatDetector):
    """A format of a user: `*** {json}`."""

    markers = ("***",)

    def open(self, opening: Opening) -> Body:
        return JsonCalls(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return "".join(f'*** {{"name": "{call.name}", "arguments": {call.arguments}}}' for call in calls)


@pytest.fixture
def star_format() -> Iterator[str]:
    register_detector("star", StarDetector)
    yield "star"
    del DETECTORS["star"]


def test_the_formats_of_the_documents_are_there() -> None:
    assert {"hermes", "qwen25", "llama32", "mistral", "pythonic", "xlam", "granite", "gemma"} <= set(DETECTORS)


def test_a_registered_format_is_read(star_format: str) -> None:
    raw = StarDetector().render([ToolCall("", "set_timer", '{"minutes": 3}')])
    assert [call.name for call in parse_reply(raw, preset_parsers=(star_format,), tools=tools()).calls] == ["set_timer"]
    assert [call.name for call in parse_reply(raw, tools=tools()).calls] == ["set_timer"]


def test_a_format_described_by_a_table_is_read_as_it_is_written() -> None:
    class TableDetector(BaseFormatDetector):
        forms: ClassVar[Forms] = {"@@": (json_between("@@", "@@"),)}
        wrapper = Wrapper(("@@",), head='@@{"name": "', tail="}@@")

    call = ToolCall("", "set_timer", '{"minutes": 3}')
    register_detector("table", TableDetector)
    try:
        raw = TableDetector().render([call])
        reply = parse_reply(f"Sure. {raw}", preset_parsers=("table",), tools=tools())
    finally:
        del DETECTORS["table"]
    assert raw == '@@{"name": "set_timer", "arguments": {"minutes": 3}}@@'
    assert [(item.name, item.arguments) for item in reply.calls] == [(call.name, call.arguments)]
    assert reply.text == "Sure. "


@pytest.mark.parametrize("format_name", DETECTORS)
def test_a_call_without_arguments_is_written_with_an_empty_object(format_name: str) -> None:
    detector = DETECTORS[format_name]()
    empty, spelled = ToolCall("abcdefghi", "get_time", ""), ToolCall("abcdefghi", "get_time", "{}")
    assert detector.render([empty]) == detector.render([spelled])


def test_a_name_cannot_be_taken_twice(star_format: str) -> None:
    with pytest.raises(ConfigError, match="exists already"):
        register_detector(star_format, StarDetector)


@pytest.mark.parametrize("thing", [object, StarDetector(), "hermes", None])
def test_what_is_no_detector_is_refused(thing: object) -> None:
    with pytest.raises(ConfigError, match="is not a detector"):
        register_detector("thing", thing)
    assert "thing" not in DETECTORS


def test_an_unknown_parser_is_named_with_those_that_exist() -> None:
    with pytest.raises(ConfigError, match="unknown tool-call parser herms") as caught:
        parse_reply("", preset_parsers=("herms",))
    assert "hermes" in caught.value.hint


def test_calls_come_in_openai_s_form() -> None:
    calls, cleaned, fallback = parse_tool_calls_from_content(f"Sure. {TIMER}", tools=tools())
    assert calls == [
        {"id": "set_timer_0", "type": "function", "function": {"name": "set_timer", "arguments": '{"minutes": 3}'}}
    ]
    assert (cleaned, fallback) == ("Sure. ", True)


def test_a_call_that_stays_invalid_says_so() -> None:
    raw = '<tool_call>{"name": "set_timer", "arguments": {"minutes": "soon"}}</tool_call>'
    calls, _, _ = parse_tool_calls_from_content(raw, tools=tools())
    assert calls[0]["error"] == 'invalid_arguments: minutes should be integer, not "soon"'


def test_without_a_list_of_tools_every_name_is_taken_as_it_stands() -> None:
    reply = parse_reply(TIMER)
    assert reply.calls == (ToolCallItem("set_timer_0", "set_timer", '{"minutes": "3"}'),)


@pytest.mark.parametrize("raw", ['{"name": "get_time", "arguments": {}}', "get_time()", "[get_time()]"])
def test_without_a_list_of_tools_bare_and_plain_calls_are_text(raw: str) -> None:
    reply = parse_reply(raw, preset_parsers=("json_bare", "pythonic", "gemma", "xlam", "llama32"))
    assert (reply.calls, reply.text) == ((), raw)


def test_without_parsers_every_marked_format_is_read_and_no_bare_one() -> None:
    for cls in DETECTORS.values():
        raw = cls().render([ToolCall("abcdefghi", "set_timer", '{"minutes": 3}')])
        marked = any(marker in raw for marker in cls.markers)
        assert bool(parse_reply(raw, tools=tools()).calls) is marked


def test_with_no_tools_at_all_calls_are_rejected_and_not_spoken() -> None:
    reply = parse_reply(f"Hm. {TIMER}", tools=())
    assert (reply.calls, reply.text, reply.fallback) == ((), "Hm. ", False)
    assert [(one.name, one.reason) for one in reply.rejected] == [
        ("set_timer", "unknown_tool: set_timer is not offered")
    ]
    assert reply.rejected[0].raw == '{"name": "set_timer", "arguments": {"minutes": "3"}}'


def test_a_namespace_before_the_name_is_forgiven() -> None:
    reply = parse_reply('<tool_call>{"name": "functions.get_time", "arguments": {}}</tool_call>', tools=tools())
    assert [call.name for call in reply.calls] == ["get_time"]


def test_the_first_parser_that_recognises_a_region_reads_it() -> None:
    raw = "<tool_call><function=get_time></function></tool_call>"
    assert parse_reply(raw, preset_parsers=("hermes",), tools=tools()).calls == ()
    for chain in (("hermes", "qwen3_coder"), ("qwen3_coder", "hermes")):
        assert len(parse_reply(raw, preset_parsers=chain, tools=tools()).calls) == 1


def test_deltas_show_each_argument_when_it_is_complete() -> None:
    call = '{"name": "set_light", "arguments": {"room": "hall", "brightness": "40", "on": true}}'
    raw = f"<tool_call>{call}</tool_call>"
    parser = StreamingToolParser(("hermes",), tools())
    seen = [(at, delta) for at, char in enumerate(raw) for delta in parser.feed(char).deltas]
    assert [delta.arguments_delta for _, delta in seen] == [
        "",
        '{"room": "hall"',
        ', "brightness": 40',
        ', "on": true',
        "}",
    ]
    assert {(delta.id, delta.name) for _, delta in seen} == {("set_light_0", "set_light")}
    assert seen[1][0] == raw.index(', "brightness')


@pytest.mark.parametrize("format_name", DETECTORS)
@pytest.mark.parametrize("step", [1, 3, 1000])
def test_deltas_make_up_the_arguments(format_name: str, step: int) -> None:
    written = [
        ToolCall("abcdefghi", "set_light", '{"room": "hall, left", "brightness": 40, "on": true}'),
        ToolCall("jklmnopqr", "add_items", '{"items": ["a", "b, c"], "list": "d"}'),
        ToolCall("stuvwxyz0", "get_time", "{}"),
    ]
    raw = DETECTORS[format_name]().render(written)
    parser = StreamingToolParser((format_name,), tools())
    deltas = [delta for at in range(0, len(raw), step) for delta in parser.feed(raw[at : at + step]).deltas]
    deltas += parser.finish().deltas
    calls = parser.reply().calls
    assert [json.loads(call.arguments) for call in calls] == [json.loads(call.arguments) for call in written]
    for call in calls:
        assert "".join(delta.arguments_delta for delta in deltas if delta.id == call.id) == call.arguments


def test_nothing_is_shown_of_a_call_that_is_not_offered() -> None:
    parser = StreamingToolParser(("hermes",), tools())
    raw = '<tool_call>{"name": "launch", "arguments": {"at": "noon", "to": "sea"}}</tool_call>'
    assert not any(parser.feed(char).deltas for char in raw)
    assert not parser.finish().deltas


@pytest.mark.parametrize("name", DETECTORS)
def test_a_call_that_is_cut_shows_no_syntax(name: str) -> None:
    written = DETECTORS[name]().render((ToolCall("call00001", "set_timer", '{"minutes": 3}'),))
    for size in range(1, len(written)):
        parser = StreamingToolParser((name,), tools())
        assert parser.feed(written[:size]).text + parser.finish(is_cut=True).text == ""


def test_text_that_is_cut_stays() -> None:
    parser = StreamingToolParser((), tools())
    assert parser.feed("It is 3 o'clo").text + parser.finish(is_cut=True).text == "It is 3 o'clo"


def test_a_finished_parser_takes_no_more() -> None:
    parser = StreamingToolParser()
    parser.feed("Hello")
    assert parser.finish().text == ""
    assert parser.finish() == parser.finish()
    with pytest.raises(ValueError, match="finished"):
        parser.feed("more")


def test_what_is_given_back_cannot_be_changed() -> None:
    delta = StreamingToolParser().feed("Hello")
    with pytest.raises(dataclasses.FrozenInstanceError):
        delta.text = "Bye"  # type: ignore[misc]


def test_infinite_numbers_and_half_characters_do_no_harm() -> None:
    raw = r'<tool_call>{"name": "play_music", "arguments": {"volume": 1e999, "track": "\ud83d"}}</tool_call>'
    (call,) = parse_reply(raw, tools=tools()).calls
    assert call.error == "invalid_arguments: a number is out of range"
    whole = r'<tool_call>{"name": "play_music", "arguments": {"track": "\ud83d and \ud83d\ude00"}}</tool_call>'
    (call,) = parse_reply(whole, tools=tools()).calls
    assert json.loads(call.arguments.encode()) == {"track": "\ufffd and \U0001f600"}


def test_time_grows_no_faster_than_the_reply() -> None:
    def seconds(raw: str, step: int | None) -> float:
        parser = StreamingToolParser(tuple(DETECTORS), tools())
        started = time.process_time()
        for at in range(0, len(raw), step or len(raw)):
            parser.feed(raw[at : at + (step or len(raw))])
        parser.finish()
        return time.process_time() - started

    hard = [
        '<tool_call>{"name": "set_light", "arguments": {"room": "',
        "[f(a=1, ",
        '{"name": "x", ',
        "<function=get_time><parameter=a>",
        '\\\\\\" \\',
    ]
    for piece in hard:
        small, large = piece * (20_000 // len(piece)), piece * (80_000 // len(piece))
        for step in (None, 16):
            # Four times the input: quadratic growth would take sixteen times as long.
            bound_s = 9 * max(min(seconds(small, step) for _ in range(3)), 0.002)
            # Something else may have had the processor's caches: then it is measured again.
            assert any(seconds(large, step) < bound_s for _ in range(3)), (piece, step)

"""Every case of the tables, in batch and in pieces, and the seed documents' promises about chunking."""

from __future__ import annotations

import json

import pytest

from edgevox.llm.tool_parsers import DETECTORS, ParsedReply, StreamingToolParser, parse_reply
from tests.tool_parsing.cases import FOLDER, Case, all_cases, tools

CHUNKS = (0, 1, 2, 3, 4, 7, 20)


def read(case: Case, chunk: int) -> ParsedReply:
    if chunk == 0:
        return parse_reply(case.raw, preset_parsers=(case.format,), tools=tools())
    parser = StreamingToolParser((case.format,), tools())
    for at in range(0, len(case.raw), chunk):
        parser.feed(case.raw[at : at + chunk])
    parser.finish()
    return parser.reply()


def test_line_breaks_of_windows_around_a_value_are_no_part_of_it() -> None:
    raw = "<function=send_message>\r\n<parameter=body>\r\none\r\ntwo\r\n</parameter>\r\n</function>"
    (call,) = parse_reply(raw, preset_parsers=("qwen3_coder",), tools=tools()).calls
    assert json.loads(call.arguments) == {"body": "one\r\ntwo"}


def test_every_format_has_a_table() -> None:
    assert {path.stem for path in FOLDER.glob("*.txt")} == set(DETECTORS)


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_a_case_is_read_as_the_table_says(case: Case) -> None:
    reply = read(case, 0)
    assert [(call.name, json.loads(call.arguments)) for call in reply.calls] == [
        (call.name, call.arguments) for call in case.calls
    ]
    for call, expected in zip(reply.calls, case.calls, strict=True):
        assert expected.id is None or call.id == expected.id
        if expected.error is None:
            assert call.error is None
        else:
            assert call.error is not None
            assert call.error.startswith("invalid_arguments: ")
            assert expected.error in call.error
    assert reply.text == case.text
    assert reply.reasoning == case.reasoning
    assert [(one.name, one.reason.split(":")[0]) for one in reply.rejected] == case.rejected


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_pieces_give_what_the_whole_gives(case: Case) -> None:
    whole = read(case, 0)
    for chunk in CHUNKS[1:]:
        assert read(case, chunk) == whole, f"in pieces of {chunk}"

"""Ordinary talk, code samples, quoted JSON and prose with parentheses give no call, in any chain."""

from __future__ import annotations

from pathlib import Path

import pytest

from edgevox.llm.tool_parsers import DETECTORS, StreamingToolParser, parse_reply
from tests.tool_parsing.cases import tools

SAMPLES = (Path(__file__).parent / "talk.txt").read_text(encoding="utf-8").removesuffix("\n").split("\n---\n")
CHAINS = [(), *((name,) for name in DETECTORS), ("qwen25", "hermes"), ("llama32", "pythonic"), tuple(DETECTORS)]


def test_there_are_enough_samples_and_none_twice() -> None:
    assert len(SAMPLES) >= 200
    assert len(set(SAMPLES)) == len(SAMPLES)


@pytest.mark.parametrize("parsers", CHAINS, ids=lambda chain: "+".join(chain)[:30] or "all")
def test_talk_is_never_a_call_and_comes_back_unchanged(parsers: tuple[str, ...]) -> None:
    for sample in SAMPLES:
        reply = parse_reply(sample, preset_parsers=parsers, tools=tools())
        assert (reply.calls, reply.text) == ((), sample)
        assert (reply.reasoning, reply.rejected) == ("", ())


def test_talk_streamed_is_no_call_either() -> None:
    for sample in SAMPLES:
        parser = StreamingToolParser(tuple(DETECTORS), tools())
        said = "".join(parser.feed(char).text for char in sample) + parser.finish().text
        assert (parser.reply().calls, said) == ((), sample)


def test_talk_behind_a_call_is_talk_still() -> None:
    call = '<tool_call>{"name": "get_time", "arguments": {}}</tool_call>'
    for sample in SAMPLES:
        reply = parse_reply(call + sample, preset_parsers=("hermes",), tools=tools())
        assert (len(reply.calls), reply.text) == (1, sample.lstrip())

"""What the fuzzer found: replies that once were read differently in pieces, or took too long."""

from __future__ import annotations

import time

import pytest

from edgevox.llm.tool_parsers import DETECTORS, StreamingToolParser, parse_reply
from tests.tool_parsing.cases import tools

ALL = tuple(DETECTORS)
PIECES: list[tuple[tuple[str, ...], list[str]]] = [
    (("gemma",), ["o", "call:get_time{"]),
    (("mistral",), [";<think>a</think>\n", "\n[", "1]"]),
    (("minicpm",), ['<function name="set_light"', "<param>"]),
    (("xlam",), ['<tool_call>\n{"name": "launch", "argu": {"at": "no }] </tool_', 'call>"}}\n</tool_call>']),
    (
        ("qwen3_coder",),
        ["<tool_call>\n<function=launch>\n<parameter=a>\nb\n</parameter>\n", "<parameter=c>d</parameter></function>"],
    ),
    (ALL, ['```\n{"name":"set_light""args":{"":{```call:', "get_time{"]),
    (("glm",), ["<tool_call>set_light<arg_key><arg_key></arg_key><arg_value></arg_va", "lue>"]),
    (("llama32",), ["<function=h><parameter=t><tool_call>", ""]),
    (ALL, ['[{"name":t,"arguments":{}}]', "{"]),
    (("gemma",), ["<|tool_call>call:launch{a:1", "} <tool_call|>"]),
    (("lfm2",), ["<|tool_call_start|><|tool_", "call_end|>Hello."]),
]
SLOW = [
    "```json\n",
    '```json\n[{"name": "launch", "argument</tool_call>s": {"at": "no\\"on }',
    '```jsontrue\n[{"name":</arg_value></tool_call>',
    '<end>\'```json\n[{"name": "launch", "arguments":h", "arguments": {"at": "',
    '<tool_call>\n{"n',
    ' `}){"name":',
    "<tool_call> no <tool_call><function=x ",
    "<tool_call>[f(a=1, ",
]


@pytest.mark.parametrize(("parsers", "pieces"), PIECES)
def test_a_finding_is_read_the_same_in_pieces(parsers: tuple[str, ...], pieces: list[str]) -> None:
    parser = StreamingToolParser(parsers, tools())
    for piece in pieces:
        parser.feed(piece)
    parser.finish()
    assert parser.reply() == parse_reply("".join(pieces), preset_parsers=parsers, tools=tools())


@pytest.mark.parametrize("piece", SLOW)
@pytest.mark.parametrize("parsers", [("xlam",), ALL], ids=["xlam", "all"])
def test_a_slow_finding_takes_less_than_50_ms_per_10_kb(piece: str, parsers: tuple[str, ...]) -> None:
    raw = piece * (40_000 // len(piece))
    best_s = 1.0
    for _ in range(3):
        started = time.process_time()
        parse_reply(raw, preset_parsers=parsers, tools=tools())
        best_s = min(best_s, time.process_time() - started)
    assert best_s < 4 * 0.05

"""Each wire format's grammar and detector accept each other's output."""

from __future__ import annotations

import json
from typing import Any

import pytest

from edgevox.core.types import ToolCall
from edgevox.llm.grammars import build_call_grammar, reply_or_tool_grammar
from edgevox.llm.tool_parsers import DETECTORS, parse_reply
from tests.llm.grammar.engines import GrammarChecker, lark_accepts, sample
from tests.llm.grammar.schemas import obj

_SEEDS = 4


def tool(name: str, parameters: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


TOOLS = [
    tool(
        "set_light",
        obj(
            {
                "room": {"enum": ["hall", "kitchen"]},
                "on": {"type": "boolean"},
                "level": {"type": "integer", "minimum": 0, "maximum": 100},
            },
            "room",
            "on",
        ),
    ),
    tool("get_time", obj({})),
    tool("get_time_zone", obj({"city": {"type": "string", "maxLength": 20}}, "city")),
    tool(
        "note",
        obj(
            {
                "text": {"type": "string"},
                "tags": {"type": "array", "items": {"type": "string", "maxLength": 10}, "maxItems": 3},
                "meta": obj(
                    {
                        "weight": {"type": "number", "minimum": 0, "maximum": 1},
                        "who": {"type": ["string", "null"], "maxLength": 8},
                    },
                    "weight",
                ),
            },
            "text",
        ),
    ),
    tool(
        "timer",
        obj(
            {
                "minutes": {"type": "number", "exclusiveMinimum": 0},
                "when": {"type": "string", "format": "time"},
                "code": {"type": "string", "pattern": r"^[A-Z]{2}-\d+$"},
            },
            "minutes",
        ),
    ),
]
CALLS = [
    ToolCall("abcdefghi", name, json.dumps(arguments, ensure_ascii=False))
    for name, arguments in [
        ("set_light", {"room": "hall", "on": True, "level": 55}),
        ("get_time", {}),
        ("get_time_zone", {"city": "São Paulo"}),
        ("note", {"text": 'He said "hi", it\'s <b>\n\\ok', "tags": ["a", "b c"], "meta": {"weight": 0.5, "who": None}}),
        ("note", {"text": "1 < 2"}),
        ("timer", {"minutes": 1.5, "when": "07:30:00", "code": "AB-12"}),
    ]
]


@pytest.mark.engine
@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("wire_format", DETECTORS)
def test_the_grammar_accepts_what_the_detector_writes(
    wire_format: str, parallel: bool, checker: GrammarChecker
) -> None:
    detector = DETECTORS[wire_format]()
    grammar = build_call_grammar(TOOLS, wire_format=wire_format, parallel=parallel)
    assert grammar.warnings == ()
    texts = [detector.render([call]) for call in CALLS]
    if parallel:
        texts += [detector.render(CALLS[:2]), detector.render(CALLS)]
    assert [text for text in texts if not checker.accepts(grammar.gbnf, text)] == []
    assert lark_accepts(grammar.lark, texts) == [True] * len(texts)
    assert all(text.startswith(grammar.triggers) for text in texts)
    assert not any(checker.accepted(grammar.gbnf, ["", "Hello.", texts[0] + "x"]))


@pytest.mark.engine
@pytest.mark.parametrize("parallel", [False, True])
@pytest.mark.parametrize("wire_format", DETECTORS)
def test_the_detector_reads_whatever_the_grammar_lets_through(
    wire_format: str, parallel: bool, checker: GrammarChecker
) -> None:
    grammar = build_call_grammar(TOOLS, wire_format=wire_format, parallel=parallel)
    for seed in range(_SEEDS):
        text = sample(grammar.lark, seed)
        reply = parse_reply(text, preset_parsers=[wire_format], tools=TOOLS)
        assert reply.calls, text
        assert parallel or len(reply.calls) == 1, text
        assert [call for call in reply.calls if call.error is not None] == [], text
        assert (reply.rejected, reply.text.strip(), reply.reasoning) == ((), "", ""), text
        if checker.can_write(text):
            assert checker.accepts(grammar.gbnf, text), text


@pytest.mark.engine
@pytest.mark.parametrize("wire_format", DETECTORS)
def test_free_text_may_hold_a_valid_call_and_no_other(wire_format: str, checker: GrammarChecker) -> None:
    detector = DETECTORS[wire_format]()
    grammar = reply_or_tool_grammar(TOOLS, wire_format=wire_format)
    call = detector.render(CALLS[:1])
    assert checker.accepts(grammar, "")
    # Where a bare bracket begins a call, free text has none.
    assert detector.wrapper is not None
    bracket = "" if "[" in detector.wrapper.triggers else "[see] "
    assert checker.accepts(grammar, f"It is 5 < 6, {bracket}{{this}}.\n")
    assert checker.accepts(grammar, call)
    assert checker.accepts(grammar, f"Sure. {call}")
    assert not checker.accepts(grammar, call.replace("set_light", "launch"))
    assert not checker.accepts(grammar, f"Sure. {call[:-2]}")

"""Gemma 4: `<|tool_call>call:NAME{key:<|"|>text<|"|>}<tool_call|>`; small ones a plain `NAME(key=value)`."""

from __future__ import annotations

from collections.abc import Sequence

from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, Opening
from edgevox.llm.tool_parsers.detectors import functiongemma
from edgevox.llm.tool_parsers.detectors.functiongemma import BraceCalls
from edgevox.llm.tool_parsers.notation import Wrapper, brace_notation
from edgevox.llm.tool_parsers.python_calls import PlainCall
from edgevox.llm.tool_parsers.values import arguments_of, gemma_value
from edgevox.types import ToolCall

BEGIN = "<|tool_call>"
END = "<tool_call|>"
QUOTE = '<|"|>'


class GemmaDetector(BaseFormatDetector):
    markers = (BEGIN, functiongemma.BEGIN)
    trailers = (END, functiongemma.END, "<|tool_response>", *functiongemma.FunctionGemmaDetector.trailers)

    wrapper = Wrapper(
        head=f"{BEGIN}call:",
        middle="",
        tail=END,
        between="",
        arguments=brace_notation(QUOTE),
        triggers=(BEGIN,),
    )

    def open(self, opening: Opening) -> Body:
        if opening.marker == BEGIN:
            return BraceCalls(opening, end=END, quotes=(QUOTE,))
        if opening.marker == functiongemma.BEGIN:
            return functiongemma.FunctionGemmaDetector().open(opening)
        if opening.marker.startswith("call:"):
            return BraceCalls(opening, end=END, quotes=(QUOTE, functiongemma.QUOTE))
        return PlainCall(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return "".join(
            f"{BEGIN}call:{call.name}{gemma_value(arguments_of(call), QUOTE)}{END}" for call in calls
        )

    def name_markers(self, names: Sequence[str]) -> tuple[str, ...]:
        return (*(f"{name}(" for name in names), *(f"call:{name}{{" for name in names))

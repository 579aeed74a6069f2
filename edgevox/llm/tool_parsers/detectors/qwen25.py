"""Qwen 2.5 and Qwen 3: Hermes' JSON in `<tool_call>`, and the tags of Qwen3-Coder and Qwen 3.5."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, FirstOf, Opening
from edgevox.llm.tool_parsers.detectors.qwen3_coder import FUNCTION, FunctionTagCalls
from edgevox.llm.tool_parsers.json_calls import JsonCalls, objects
from edgevox.llm.tool_parsers.notation import json_wrapper
from edgevox.types import ToolCall

BEGIN = "<tool_call>"
END = "</tool_call>"


class Qwen25Detector(BaseFormatDetector):
    markers = (BEGIN, FUNCTION)
    trailers = (END, "</function>")

    wrapper = json_wrapper(begin=f"{BEGIN}\n", end=f"\n{END}", triggers=(BEGIN,))

    def open(self, opening: Opening) -> Body:
        if opening.marker == FUNCTION:
            return FunctionTagCalls(opening)
        return FirstOf(opening, self._shapes(opening))

    def _shapes(self, opening: Opening) -> Iterator[Body]:
        yield JsonCalls(opening, ends=(END,), bounds=(BEGIN,))
        yield FunctionTagCalls(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return "\n".join(f"{BEGIN}\n{call}\n{END}" for call in objects(calls))

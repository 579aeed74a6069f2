"""Granite 4: Hermes' JSON; Granite 3: `<|tool_call|>[…]`; Granite 20b: `<function_call>{…}`."""

from __future__ import annotations

from collections.abc import Sequence

from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, Opening
from edgevox.llm.tool_parsers.json_calls import JsonCalls, objects
from edgevox.llm.tool_parsers.notation import json_wrapper
from edgevox.types import ToolCall

BEGIN = "<tool_call>"
END = "</tool_call>"
BEGIN_3 = "<|tool_call|>"
BEGIN_20B = "<function_call>"


class GraniteDetector(BaseFormatDetector):
    markers = (BEGIN, BEGIN_3, BEGIN_20B)
    trailers = (END, "</function_call>")

    wrapper = json_wrapper(begin=f"{BEGIN}\n", end=f"\n{END}", triggers=(BEGIN,))

    def open(self, opening: Opening) -> Body:
        match opening.marker:
            case "<tool_call>":
                return JsonCalls(opening, ends=(END,), bounds=(BEGIN,))
            case "<function_call>":
                return JsonCalls(opening, ends=("</function_call>",), bounds=(BEGIN_20B,))
            case _:
                return JsonCalls(opening, bounds=(BEGIN_3,))

    def render(self, calls: Sequence[ToolCall]) -> str:
        return "\n".join(f"{BEGIN}\n{call}\n{END}" for call in objects(calls))

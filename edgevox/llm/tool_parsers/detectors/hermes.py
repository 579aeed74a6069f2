"""Hermes: `<tool_call>{"name": …, "arguments": {…}}</tool_call>`. Also Qwen, SmolLM and most of ChatML."""

from __future__ import annotations

from collections.abc import Sequence

from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, Opening
from edgevox.llm.tool_parsers.json_calls import JsonCalls, objects
from edgevox.llm.tool_parsers.notation import json_wrapper
from edgevox.types import ToolCall

BEGIN = "<tool_call>"
END = "</tool_call>"


class HermesDetector(BaseFormatDetector):
    markers = (BEGIN,)
    trailers = (END,)

    wrapper = json_wrapper(begin=f"{BEGIN}\n", end=f"\n{END}", triggers=(BEGIN,))

    def open(self, opening: Opening) -> Body:
        return JsonCalls(opening, ends=(END,), bounds=(BEGIN,))

    def render(self, calls: Sequence[ToolCall]) -> str:
        return "\n".join(f"{BEGIN}\n{call}\n{END}" for call in objects(calls))

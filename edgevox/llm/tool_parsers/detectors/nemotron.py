"""Nemotron: `<TOOLCALL>[{…}]</TOOLCALL>`; Nemotron 3 writes the tags of Qwen3-Coder."""

from __future__ import annotations

from collections.abc import Sequence

from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, Opening
from edgevox.llm.tool_parsers.detectors import qwen25
from edgevox.llm.tool_parsers.detectors.qwen3_coder import FUNCTION
from edgevox.llm.tool_parsers.json_calls import JsonCalls, objects
from edgevox.llm.tool_parsers.notation import json_wrapper
from edgevox.types import ToolCall

BEGIN = "<TOOLCALL>"
END = "</TOOLCALL>"


class NemotronDetector(BaseFormatDetector):
    markers = (BEGIN, qwen25.BEGIN, FUNCTION)
    trailers = (END, qwen25.END, "</function>")

    wrapper = json_wrapper(before=(f"{BEGIN}[",), between=", ", after=f"]{END}", triggers=(BEGIN,))

    def open(self, opening: Opening) -> Body:
        if opening.marker == BEGIN:
            return JsonCalls(opening, ends=(END,), bounds=(BEGIN,))
        return qwen25.Qwen25Detector().open(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return f"{BEGIN}[{', '.join(objects(calls))}]{END}"

"""Pythonic: `[f(a=1), g(b="x")]`, bare or in `<|python_start|>…<|python_end|>` (Llama 4), and LFM2's."""

from __future__ import annotations

from collections.abc import Sequence

from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, FirstOf, Opening
from edgevox.llm.tool_parsers.detectors import lfm2
from edgevox.llm.tool_parsers.json_calls import JsonCalls
from edgevox.llm.tool_parsers.notation import PYTHON_ARGUMENTS, Wrapper
from edgevox.llm.tool_parsers.python_calls import BareListCalls, PythonCalls
from edgevox.llm.tool_parsers.values import python_call
from edgevox.types import ToolCall

BEGIN = "<|python_start|>"
END = "<|python_end|>"


class PythonicDetector(BaseFormatDetector):
    markers = (BEGIN, lfm2.BEGIN)
    bare_markers = ("[",)
    trailers = (END, lfm2.END)

    wrapper = Wrapper(
        before=(f"{BEGIN}[",),
        head="",
        middle="",
        tail="",
        between=", ",
        after=f"]{END}",
        arguments=PYTHON_ARGUMENTS,
        triggers=(BEGIN,),
    )

    def open(self, opening: Opening) -> Body:
        if opening.marker == BEGIN:
            return FirstOf(opening, (PythonCalls(opening, ends=(END,)), JsonCalls(opening, ends=(END,))))
        if opening.marker == lfm2.BEGIN:
            return lfm2.Lfm2Detector().open(opening)
        return BareListCalls(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return f"{BEGIN}[{', '.join(map(python_call, calls))}]{END}"

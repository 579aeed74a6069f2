"""Hunyuan: `<tool_calls><tool_call>NAME<tool_sep><arg_key>…`, or a JSON list between the outer tags."""

from __future__ import annotations

from collections.abc import Sequence

from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, FirstOf, Opening, Verdict
from edgevox.llm.tool_parsers.detectors.glm import ArgTagCalls, render_pairs
from edgevox.llm.tool_parsers.json_calls import JsonCalls
from edgevox.types import ToolCall

OUTER = "<tool_calls>"
OUTER_END = "</tool_calls>"
BEGIN = "<tool_call>"
END = "</tool_call>"


class HunyuanDetector(BaseFormatDetector):
    markers = (OUTER, BEGIN)
    trailers = (OUTER_END, END)

    def open(self, opening: Opening) -> Body:
        if opening.marker == OUTER:
            return FirstOf(
                opening, (JsonCalls(opening, ends=(OUTER_END,), bounds=(OUTER,)), _Wrapper(opening))
            )
        return FirstOf(opening, (ArgTagCalls(opening), JsonCalls(opening, ends=(END,), bounds=(BEGIN,))))

    def render(self, calls: Sequence[ToolCall]) -> str:
        inner = "\n".join(f"{BEGIN}{call.name}<tool_sep>\n{render_pairs(call)}{END}" for call in calls)
        return f"{OUTER}\n{inner}\n{OUTER_END}"


class _Wrapper(Body):
    """The outer tag, when an inner one follows: nothing to read but the tag itself."""

    def _start(self, at_end: bool) -> Verdict | None:
        if not self._skip_space():
            return Verdict.MORE
        looking = self._looking_at(BEGIN)
        if looking is None:
            return Verdict.MORE
        return Verdict.DONE if looking else Verdict.NO

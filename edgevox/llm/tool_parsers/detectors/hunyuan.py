"""Hunyuan: `<tool_calls><tool_call>NAME<tool_sep><arg_key>…`, or a JSON list between the outer tags."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, FirstOf, Opening, Verdict
from edgevox.llm.tool_parsers.detectors.glm import ARGUMENTS, ArgTagCalls, render_pairs
from edgevox.llm.tool_parsers.json_calls import JsonCalls
from edgevox.llm.tool_parsers.notation import Wrapper
from edgevox.types import ToolCall

OUTER = "<tool_calls>"
OUTER_END = "</tool_calls>"
BEGIN = "<tool_call>"
END = "</tool_call>"


class HunyuanDetector(BaseFormatDetector):
    markers = (OUTER, BEGIN)
    trailers = (OUTER_END, END)

    wrapper = Wrapper(
        before=(f"{OUTER}\n",),
        head=BEGIN,
        middle="<tool_sep>\n",
        tail=END,
        after=f"\n{OUTER_END}",
        arguments=ARGUMENTS,
        triggers=(OUTER,),
    )

    def open(self, opening: Opening) -> Body:
        return FirstOf(opening, self._outer(opening) if opening.marker == OUTER else self._inner(opening))

    def _outer(self, opening: Opening) -> Iterator[Body]:
        yield _WrappedCalls(opening)
        yield JsonCalls(opening, ends=(OUTER_END,), bounds=(OUTER,))

    def _inner(self, opening: Opening) -> Iterator[Body]:
        yield ArgTagCalls(opening)
        yield JsonCalls(opening, ends=(END,), bounds=(BEGIN,))

    def render(self, calls: Sequence[ToolCall]) -> str:
        inner = "\n".join(f"{BEGIN}{call.name}<tool_sep>\n{render_pairs(call)}{END}" for call in calls)
        return f"{OUTER}\n{inner}\n{OUTER_END}"


class _WrappedCalls(ArgTagCalls):
    """The outer tag and the first call in it; further calls begin with tags of their own."""

    def _start(self, at_end: bool) -> Verdict | None:
        if not self._skip_space():
            return Verdict.MORE
        looking = self._looking_at(BEGIN)
        if looking is None:
            return Verdict.MORE
        if not looking:
            return Verdict.NO
        self.pos += len(BEGIN)
        self._state = super()._start
        return None

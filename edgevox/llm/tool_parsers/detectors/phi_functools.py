"""Phi-4-mini: `functools[{"name": …, "arguments": {…}}]`."""

from __future__ import annotations

from collections.abc import Sequence

from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, Opening, Verdict
from edgevox.llm.tool_parsers.json_calls import JsonCalls, objects
from edgevox.llm.tool_parsers.notation import json_wrapper
from edgevox.types import ToolCall

BEGIN = "functools["


class PhiFunctoolsDetector(BaseFormatDetector):
    markers = (BEGIN, "functools{")

    wrapper = json_wrapper(before=(BEGIN,), between=", ", after="]", triggers=(BEGIN,))

    def open(self, opening: Opening) -> Body:
        return _FunctoolsCalls(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return f"{BEGIN}{', '.join(objects(calls))}]"


class _FunctoolsCalls(JsonCalls):
    """The bracket is part of the marker, so the list is open already; now and then it is missing."""

    def _start(self, at_end: bool) -> Verdict | None:
        self._in_list = True
        if self.opening.marker == BEGIN:
            return super()._start(at_end)
        self.committed = True
        return self._begin_object(opened="{")

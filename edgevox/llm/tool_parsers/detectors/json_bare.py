"""A JSON call with nothing around it, for models that forget their tags."""

from __future__ import annotations

from collections.abc import Sequence

from edgevox.llm.tool_parsers.bare_json import BareJsonCalls
from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, Opening
from edgevox.llm.tool_parsers.json_calls import objects
from edgevox.llm.tool_parsers.notation import json_wrapper
from edgevox.types import ToolCall


class JsonBareDetector(BaseFormatDetector):
    bare_markers = ("{", "[")
    trailers = (";",)

    wrapper = json_wrapper(triggers=('{"name": "',))

    def open(self, opening: Opening) -> Body:
        return BareJsonCalls(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return "\n".join(objects(calls))

"""JSON calls in a code block, for models that know no better; the chain reads the block."""

from __future__ import annotations

from collections.abc import Sequence

from edgevox.llm.tool_parsers.bare_json import FencedCalls
from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, Opening
from edgevox.llm.tool_parsers.json_calls import objects
from edgevox.llm.tool_parsers.notation import json_wrapper
from edgevox.types import ToolCall


class JsonFencedDetector(BaseFormatDetector):
    uses_fences = True

    wrapper = json_wrapper(before=("```json\n[",), between=", ", after="]\n```", triggers=("```json\n[",))

    def open(self, opening: Opening) -> Body:
        return FencedCalls(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return f"```json\n[{', '.join(objects(calls))}]\n```"

"""xLAM and Hammer: a JSON list (or object) of calls, bare, in a code block, or in another's wrapper."""

from __future__ import annotations

from collections.abc import Sequence

from edgevox.llm.tool_parsers.bare_json import BareJsonCalls
from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, Opening
from edgevox.llm.tool_parsers.detectors import hermes, mistral
from edgevox.llm.tool_parsers.json_calls import objects
from edgevox.llm.tool_parsers.notation import json_wrapper
from edgevox.types import ToolCall


class XlamDetector(BaseFormatDetector):
    markers = (hermes.BEGIN, mistral.BEGIN)
    bare_markers = ("[", "{")
    trailers = (hermes.END, mistral.END)
    uses_fences = True

    wrapper = json_wrapper(before=("[",), between=", ", after="]", triggers=('[{"name": "',))

    def open(self, opening: Opening) -> Body:
        match opening.marker:
            case hermes.BEGIN:
                return hermes.HermesDetector().open(opening)
            case mistral.BEGIN:
                return mistral.MistralDetector().open(opening)
            case _:
                return BareJsonCalls(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return f"[{', '.join(objects(calls))}]"

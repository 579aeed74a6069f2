"""LFM2: `<|tool_call_start|>[f(a=1)]<|tool_call_end|>`, and JSON between the same markers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, FirstOf, Opening
from edgevox.llm.tool_parsers.json_calls import JsonCalls
from edgevox.llm.tool_parsers.notation import PYTHON_ARGUMENTS, Wrapper
from edgevox.llm.tool_parsers.python_calls import PythonCalls
from edgevox.llm.tool_parsers.values import python_call
from edgevox.types import ToolCall

BEGIN = "<|tool_call_start|>"
END = "<|tool_call_end|>"


class Lfm2Detector(BaseFormatDetector):
    markers = (BEGIN,)
    trailers = (END,)

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
        return FirstOf(opening, self._shapes(opening))

    def _shapes(self, opening: Opening) -> Iterator[Body]:
        yield PythonCalls(opening, ends=(END,))
        yield JsonCalls(opening, ends=(END,), bounds=(BEGIN,))

    def render(self, calls: Sequence[ToolCall]) -> str:
        return f"{BEGIN}[{', '.join(map(python_call, calls))}]{END}"

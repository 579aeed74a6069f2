"""Llama 3: `<|python_tag|>{…}`, bare `{"name": …, "parameters": {…}}`, `;` between, `<function=NAME>{…}`."""

from __future__ import annotations

from collections.abc import Sequence

from edgevox.llm.tool_parsers.bare_json import BareJsonCalls
from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, FirstOf, Opening, RawCall, Verdict
from edgevox.llm.tool_parsers.detectors.qwen3_coder import FUNCTION, FunctionTagCalls
from edgevox.llm.tool_parsers.json_calls import JsonCalls, objects
from edgevox.llm.tool_parsers.notation import json_wrapper
from edgevox.llm.tool_parsers.python_calls import PythonCalls
from edgevox.types import ToolCall

PYTHON_TAG = "<|python_tag|>"


class Llama32Detector(BaseFormatDetector):
    markers = (PYTHON_TAG, FUNCTION)
    bare_markers = ("{", "[")
    trailers = (";", "</function>")
    uses_fences = True

    wrapper = json_wrapper(
        arguments_key="parameters",
        before=("", PYTHON_TAG),
        between="; ",
        triggers=(PYTHON_TAG, '{"name": "'),
    )

    def open(self, opening: Opening) -> Body:
        if opening.marker == PYTHON_TAG:
            return FirstOf(opening, (JsonCalls(opening, bounds=(PYTHON_TAG,)), _BuiltinCall(opening)))
        if opening.marker == FUNCTION:
            return FunctionTagCalls(opening)
        return BareJsonCalls(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return PYTHON_TAG + "; ".join(objects(calls, arguments_key="parameters"))


class _BuiltinCall(PythonCalls):
    """`brave_search.call(query="…")`, as Llama 3.1 writes calls of its built-in tools."""

    def progress(self) -> RawCall | None:
        call = super().progress()
        if call is not None:
            call.name = call.name.removesuffix(".call")
        return call

    def _take(self, call: RawCall, at_end: bool) -> Verdict | None:
        call.name = call.name.removesuffix(".call")
        return super()._take(call, at_end)

"""Formats whose calls are JSON objects, with or without markers.

Granite 4: Hermes' JSON; Granite 3: `<|tool_call|>[…]`; Granite 20b: `<function_call>{…}`.
Llama 3: `<|python_tag|>{…}`, bare `{"name": …, "parameters": {…}}`, `;` between, `<function=NAME>{…}`.
Nemotron: `<TOOLCALL>[{…}]</TOOLCALL>`; Nemotron 3 writes the tags of Qwen3-Coder.
Phi-4-mini: `functools[{"name": …, "arguments": {…}}]`.
xLAM and Hammer: a JSON list (or object) of calls, bare, in a code block, or in another's wrapper.
json_bare, json_fenced: JSON with nothing around it, or in a code block, for models without a format.
"""

from __future__ import annotations

from collections.abc import Sequence

from edgevox.core.types import ToolCall
from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, FirstOf, Opening, RawCall, Verdict
from edgevox.llm.tool_parsers.detectors import hermes, mistral
from edgevox.llm.tool_parsers.detectors.hermes import FUNCTION, FunctionTagCalls
from edgevox.llm.tool_parsers.json_calls import BareJsonCalls, FencedCalls, JsonCalls, objects
from edgevox.llm.tool_parsers.notation import json_wrapper
from edgevox.llm.tool_parsers.python_calls import PythonCalls

GRANITE_BEGIN = "<tool_call>"
GRANITE_END = "</tool_call>"
GRANITE_3_BEGIN = "<|tool_call|>"
GRANITE_20B_BEGIN = "<function_call>"


class GraniteDetector(BaseFormatDetector):
    markers = (GRANITE_BEGIN, GRANITE_3_BEGIN, GRANITE_20B_BEGIN)
    trailers = (GRANITE_END, "</function_call>")

    wrapper = json_wrapper(begin=f"{GRANITE_BEGIN}\n", end=f"\n{GRANITE_END}", triggers=(GRANITE_BEGIN,))

    def open(self, opening: Opening) -> Body:
        match opening.marker:
            case "<tool_call>":
                return JsonCalls(opening, ends=(GRANITE_END,), bounds=(GRANITE_BEGIN,))
            case "<function_call>":
                return JsonCalls(opening, ends=("</function_call>",), bounds=(GRANITE_20B_BEGIN,))
            case _:
                return JsonCalls(opening, bounds=(GRANITE_3_BEGIN,))

    def render(self, calls: Sequence[ToolCall]) -> str:
        return "\n".join(f"{GRANITE_BEGIN}\n{call}\n{GRANITE_END}" for call in objects(calls))


class JsonBareDetector(BaseFormatDetector):
    bare_markers = ("{", "[")
    trailers = (";",)

    wrapper = json_wrapper(triggers=('{"name": "',))

    def open(self, opening: Opening) -> Body:
        return BareJsonCalls(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return "\n".join(objects(calls))


class JsonFencedDetector(BaseFormatDetector):
    uses_fences = True

    wrapper = json_wrapper(before=("```json\n[",), between=", ", after="]\n```", triggers=("```json\n[",))

    def open(self, opening: Opening) -> Body:
        return FencedCalls(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return f"```json\n[{', '.join(objects(calls))}]\n```"


PYTHON_TAG = "<|python_tag|>"


class Llama32Detector(BaseFormatDetector):
    markers = (PYTHON_TAG, FUNCTION)
    bare_markers = ("{", "[")
    trailers = (";", "</function>")
    uses_fences = True

    wrapper = json_wrapper(
        arguments_key="parameters", before=("", PYTHON_TAG), between="; ", triggers=(PYTHON_TAG, '{"name": "')
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
    """`brave_search.call(query="…")`, Llama 3.1's format for calls of its built-in tools."""

    def progress(self) -> RawCall | None:
        call = super().progress()
        if call is not None:
            call.name = call.name.removesuffix(".call")
        return call

    def _take(self, call: RawCall, at_end: bool) -> Verdict | None:
        call.name = call.name.removesuffix(".call")
        return super()._take(call, at_end)


NEMOTRON_BEGIN = "<TOOLCALL>"
NEMOTRON_END = "</TOOLCALL>"


class NemotronDetector(BaseFormatDetector):
    markers = (NEMOTRON_BEGIN, hermes.QWEN25_BEGIN, FUNCTION)
    trailers = (NEMOTRON_END, hermes.QWEN25_END, "</function>")

    wrapper = json_wrapper(
        before=(f"{NEMOTRON_BEGIN}[",), between=", ", after=f"]{NEMOTRON_END}", triggers=(NEMOTRON_BEGIN,)
    )

    def open(self, opening: Opening) -> Body:
        if opening.marker == NEMOTRON_BEGIN:
            return JsonCalls(opening, ends=(NEMOTRON_END,), bounds=(NEMOTRON_BEGIN,))
        return hermes.Qwen25Detector().open(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return f"{NEMOTRON_BEGIN}[{', '.join(objects(calls))}]{NEMOTRON_END}"


FUNCTOOLS = "functools["


class PhiFunctoolsDetector(BaseFormatDetector):
    markers = (FUNCTOOLS, "functools{")

    wrapper = json_wrapper(before=(FUNCTOOLS,), between=", ", after="]", triggers=(FUNCTOOLS,))

    def open(self, opening: Opening) -> Body:
        return _FunctoolsCalls(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return f"{FUNCTOOLS}{', '.join(objects(calls))}]"


class _FunctoolsCalls(JsonCalls):
    """The bracket is part of the marker, so the list is already open; sometimes it is missing."""

    def _start(self, at_end: bool) -> Verdict | None:
        self._in_list = True
        if self.opening.marker == FUNCTOOLS:
            return super()._start(at_end)
        self.committed = True
        return self._begin_object(opened="{")


class XlamDetector(BaseFormatDetector):
    markers = (hermes.HERMES_BEGIN, mistral.BEGIN)
    bare_markers = ("[", "{")
    trailers = (hermes.HERMES_END, mistral.END)
    uses_fences = True

    wrapper = json_wrapper(before=("[",), between=", ", after="]", triggers=('[{"name": "',))

    def open(self, opening: Opening) -> Body:
        match opening.marker:
            case hermes.HERMES_BEGIN:
                return hermes.HermesDetector().open(opening)
            case mistral.BEGIN:
                return mistral.MistralDetector().open(opening)
            case _:
                return BareJsonCalls(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return f"[{', '.join(objects(calls))}]"

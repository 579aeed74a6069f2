"""Formats whose calls are JSON objects, with or without markers.

Granite 4: Hermes' JSON; Granite 3: `<|tool_call|>[…]`; Granite 20b: `<function_call>{…}`.
Llama 3: `<|python_tag|>{…}`, bare `{"name": …, "parameters": {…}}`, `;` between, `<function=NAME>{…}`.
Nemotron: `<TOOLCALL>[{…}]</TOOLCALL>`; Nemotron 3 writes the tags of Qwen3-Coder.
Phi-4-mini: `functools[{"name": …, "arguments": {…}}]`.
xLAM and Hammer: a JSON list (or object) of calls, bare, in a code block, or in another's wrapper.
json_bare, json_fenced: JSON with nothing around it, or in a code block, for models without a format.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from edgevox.llm.tool_parsers.base import BaseFormatDetector, Forms, RawCall, Verdict
from edgevox.llm.tool_parsers.detectors.hermes import FUNCTION, FUNCTION_END, HermesDetector, Qwen25Detector
from edgevox.llm.tool_parsers.detectors.mistral import MistralDetector
from edgevox.llm.tool_parsers.json_calls import BareJsonCalls, JsonCalls, json_between
from edgevox.llm.tool_parsers.notation import Wrapper
from edgevox.llm.tool_parsers.python_calls import PythonCalls

GRANITE_3_BEGIN = "<|tool_call|>"
GRANITE_20B_BEGIN = "<function_call>"
GRANITE_20B_END = "</function_call>"
PYTHON_TAG = "<|python_tag|>"
NEMOTRON_BEGIN = "<TOOLCALL>"
NEMOTRON_END = "</TOOLCALL>"
FUNCTOOLS = "functools["
_BARE: Forms = {"{": (BareJsonCalls,), "[": (BareJsonCalls,)}


class GraniteDetector(BaseFormatDetector):
    forms: ClassVar[Forms] = {
        **HermesDetector.forms,
        GRANITE_3_BEGIN: (partial(JsonCalls, bounds=(GRANITE_3_BEGIN,)),),
        GRANITE_20B_BEGIN: (json_between(GRANITE_20B_BEGIN, GRANITE_20B_END),),
    }
    trailers = (*HermesDetector.trailers, GRANITE_20B_END)
    wrapper = HermesDetector.wrapper


class JsonBareDetector(BaseFormatDetector):
    forms: ClassVar[Forms] = _BARE
    bare_markers = tuple(_BARE)
    trailers = (";", ",")
    wrapper = Wrapper(('{"name": "',))


class JsonFencedDetector(BaseFormatDetector):
    uses_fences = True
    wrapper = Wrapper(("```json\n[",), before=("```json\n[",), between=", ", after="]\n```")


class _BuiltinCall(PythonCalls):
    """`brave_search.call(query="…")`, Llama 3.1's format for calls of its built-in tools."""

    def progress(self) -> RawCall | None:
        call = super().progress()
        if call is not None:
            call.name = call.name.removesuffix(".call")
        return call

    def _take(self, call: RawCall) -> Verdict | None:
        call.name = call.name.removesuffix(".call")
        return super()._take(call)


class Llama32Detector(BaseFormatDetector):
    forms: ClassVar[Forms] = {
        PYTHON_TAG: (partial(JsonCalls, bounds=(PYTHON_TAG,)), _BuiltinCall),
        FUNCTION: Qwen25Detector.forms[FUNCTION],
        **_BARE,
    }
    bare_markers = tuple(_BARE)
    trailers = (";", ",", FUNCTION_END)
    uses_fences = True
    wrapper = Wrapper((PYTHON_TAG, '{"name": "'), middle='", "parameters": ', before=("", PYTHON_TAG), between="; ")


class NemotronDetector(BaseFormatDetector):
    forms: ClassVar[Forms] = {NEMOTRON_BEGIN: (json_between(NEMOTRON_BEGIN, NEMOTRON_END),), **Qwen25Detector.forms}
    trailers = (NEMOTRON_END, *Qwen25Detector.trailers)
    wrapper = Wrapper((NEMOTRON_BEGIN,), before=(f"{NEMOTRON_BEGIN}[",), between=", ", after=f"]{NEMOTRON_END}")


class _FunctoolsCalls(JsonCalls):
    """The bracket is part of the marker, so the list is already open; sometimes it is missing."""

    def _start(self, at_end: bool) -> Verdict | None:
        self._in_list = True
        if self.opening.marker == FUNCTOOLS:
            return super()._start(at_end)
        self.committed = True
        self._begin_object(opened="{")
        return None


class PhiFunctoolsDetector(BaseFormatDetector):
    forms: ClassVar[Forms] = {FUNCTOOLS: (_FunctoolsCalls,), "functools{": (_FunctoolsCalls,)}
    wrapper = Wrapper((FUNCTOOLS,), before=(FUNCTOOLS,), between=", ", after="]")


class XlamDetector(BaseFormatDetector):
    forms: ClassVar[Forms] = {**HermesDetector.forms, **MistralDetector.forms, **_BARE}
    bare_markers = tuple(_BARE)
    trailers = (*HermesDetector.trailers, *MistralDetector.trailers)
    uses_fences = True
    wrapper = Wrapper(('[{"name": "',), before=("[",), between=", ", after="]")

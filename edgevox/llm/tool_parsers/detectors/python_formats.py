"""Formats whose calls are Python.

LFM2: `<|tool_call_start|>[f(a=1)]<|tool_call_end|>`, and JSON between the same markers.
OLMo 3: `<function_calls>` with one Python call on each line.
Pythonic: `[f(a=1), g(b="x")]`, bare or in `<|python_start|>…<|python_end|>` (Llama 4), and LFM2's.
Python list: `[f(a=1), g(b="x")]` and nothing around it: the home model's format, with the fewest tokens.
"""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from edgevox.llm.tool_parsers.base import BaseFormatDetector, Forms
from edgevox.llm.tool_parsers.json_calls import JsonCalls, json_between
from edgevox.llm.tool_parsers.notation import Notation, python_wrapper
from edgevox.llm.tool_parsers.python_calls import BareListCalls, PythonCalls

LFM2_BEGIN = "<|tool_call_start|>"
LFM2_END = "<|tool_call_end|>"
OLMO3_BEGIN = "<function_calls>"
OLMO3_END = "</function_calls>"
PYTHONIC_BEGIN = "<|python_start|>"
PYTHONIC_END = "<|python_end|>"


class Lfm2Detector(BaseFormatDetector):
    forms: ClassVar[Forms] = {LFM2_BEGIN: (partial(PythonCalls, ends=(LFM2_END,)), json_between(LFM2_BEGIN, LFM2_END))}
    trailers = (LFM2_END,)
    wrapper = python_wrapper(f"{LFM2_BEGIN}[", f"]{LFM2_END}", trigger=LFM2_BEGIN)


class Olmo3Detector(BaseFormatDetector):
    forms: ClassVar[Forms] = {
        OLMO3_BEGIN: (partial(PythonCalls, ends=(OLMO3_END,)), json_between(OLMO3_BEGIN, OLMO3_END))
    }
    trailers = (OLMO3_END,)
    wrapper = python_wrapper(OLMO3_BEGIN, OLMO3_END, trigger=OLMO3_BEGIN, between="\n")


class PythonListDetector(BaseFormatDetector):
    forms: ClassVar[Forms] = {"[": (BareListCalls,)}
    bare_markers = ("[",)
    # Strings are JSON, so that a text has one spelling; only True, False and None are Python's.
    wrapper = python_wrapper("[", "]", trigger="[", values=Notation(true="True", false="False", null="None"))


class PythonicDetector(BaseFormatDetector):
    forms: ClassVar[Forms] = {
        PYTHONIC_BEGIN: (partial(PythonCalls, ends=(PYTHONIC_END,)), partial(JsonCalls, ends=(PYTHONIC_END,))),
        **Lfm2Detector.forms,
        **PythonListDetector.forms,
    }
    bare_markers = ("[",)
    trailers = (PYTHONIC_END, LFM2_END)
    wrapper = python_wrapper(f"{PYTHONIC_BEGIN}[", f"]{PYTHONIC_END}", trigger=PYTHONIC_BEGIN)

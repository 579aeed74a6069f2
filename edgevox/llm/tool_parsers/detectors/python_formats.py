"""Formats whose calls are Python.

LFM2: `<|tool_call_start|>[f(a=1)]<|tool_call_end|>`, and JSON between the same markers.
OLMo 3: `<function_calls>` with one Python call on each line.
Pythonic: `[f(a=1), g(b="x")]`, bare or in `<|python_start|>…<|python_end|>` (Llama 4), and LFM2's.
Python list: `[f(a=1), g(b="x")]` and nothing around it: the home model's format, with the fewest tokens.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from edgevox.core.types import ToolCall
from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, FirstOf, Opening
from edgevox.llm.tool_parsers.json_calls import JsonCalls
from edgevox.llm.tool_parsers.json_repair import JsonValue
from edgevox.llm.tool_parsers.notation import PYTHON_ARGUMENTS, Notation, Wrapper, arguments_of, python_call
from edgevox.llm.tool_parsers.python_calls import BareListCalls, PythonCalls

LFM2_BEGIN = "<|tool_call_start|>"
LFM2_END = "<|tool_call_end|>"


class Lfm2Detector(BaseFormatDetector):
    markers = (LFM2_BEGIN,)
    trailers = (LFM2_END,)

    wrapper = Wrapper(
        before=(f"{LFM2_BEGIN}[",),
        head="",
        middle="",
        tail="",
        between=", ",
        after=f"]{LFM2_END}",
        arguments=PYTHON_ARGUMENTS,
        triggers=(LFM2_BEGIN,),
    )

    def open(self, opening: Opening) -> Body:
        return FirstOf(opening, self._shapes(opening))

    def _shapes(self, opening: Opening) -> Iterator[Body]:
        yield PythonCalls(opening, ends=(LFM2_END,))
        yield JsonCalls(opening, ends=(LFM2_END,), bounds=(LFM2_BEGIN,))

    def render(self, calls: Sequence[ToolCall]) -> str:
        return f"{LFM2_BEGIN}[{', '.join(map(python_call, calls))}]{LFM2_END}"


OLMO3_BEGIN = "<function_calls>"
OLMO3_END = "</function_calls>"


class Olmo3Detector(BaseFormatDetector):
    markers = (OLMO3_BEGIN,)
    trailers = (OLMO3_END,)

    wrapper = Wrapper(
        before=(OLMO3_BEGIN,),
        head="",
        middle="",
        tail="",
        after=OLMO3_END,
        arguments=PYTHON_ARGUMENTS,
        triggers=(OLMO3_BEGIN,),
    )

    def open(self, opening: Opening) -> Body:
        return FirstOf(opening, self._shapes(opening))

    def _shapes(self, opening: Opening) -> Iterator[Body]:
        yield PythonCalls(opening, ends=(OLMO3_END,))
        yield JsonCalls(opening, ends=(OLMO3_END,), bounds=(OLMO3_BEGIN,))

    def render(self, calls: Sequence[ToolCall]) -> str:
        return OLMO3_BEGIN + "\n".join(map(python_call, calls)) + OLMO3_END


# Strings are JSON, so that a text has one spelling; only True, False and None are Python's.
_VALUES = Notation(true="True", false="False", null="None")


class PythonListDetector(BaseFormatDetector):
    bare_markers = ("[",)

    wrapper = Wrapper(
        before=("[",),
        head="",
        middle="",
        tail="",
        between=", ",
        after="]",
        arguments=Notation(
            object_open="(", object_close=")", key_open="", key_close="=", key_escapes="none", members=_VALUES
        ),
        triggers=("[",),
    )

    def open(self, opening: Opening) -> Body:
        return BareListCalls(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return f"[{', '.join(map(_call, calls))}]"


def _call(call: ToolCall) -> str:
    arguments = (f"{key}={_value(value)}" for key, value in arguments_of(call).items())
    return f"{call.name}({', '.join(arguments)})"


def _value(value: JsonValue) -> str:
    match value:
        case dict():
            members = (f"{json.dumps(key, ensure_ascii=False)}: {_value(part)}" for key, part in value.items())
            return f"{{{', '.join(members)}}}"
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case bool() | None:
            return str(value)
        case _:
            return json.dumps(value, ensure_ascii=False)


PYTHONIC_BEGIN = "<|python_start|>"
PYTHONIC_END = "<|python_end|>"


class PythonicDetector(BaseFormatDetector):
    markers = (PYTHONIC_BEGIN, LFM2_BEGIN)
    bare_markers = ("[",)
    trailers = (PYTHONIC_END, LFM2_END)

    wrapper = Wrapper(
        before=(f"{PYTHONIC_BEGIN}[",),
        head="",
        middle="",
        tail="",
        between=", ",
        after=f"]{PYTHONIC_END}",
        arguments=PYTHON_ARGUMENTS,
        triggers=(PYTHONIC_BEGIN,),
    )

    def open(self, opening: Opening) -> Body:
        if opening.marker == PYTHONIC_BEGIN:
            return FirstOf(
                opening, (PythonCalls(opening, ends=(PYTHONIC_END,)), JsonCalls(opening, ends=(PYTHONIC_END,)))
            )
        if opening.marker == LFM2_BEGIN:
            return Lfm2Detector().open(opening)
        return BareListCalls(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return f"{PYTHONIC_BEGIN}[{', '.join(map(python_call, calls))}]{PYTHONIC_END}"

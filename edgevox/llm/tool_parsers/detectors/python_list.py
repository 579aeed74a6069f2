"""Python list: `[f(a=1), g(b="x")]` and nothing around it: the home model writes the fewest tokens so."""

from __future__ import annotations

import json
from collections.abc import Sequence

from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, Opening
from edgevox.llm.tool_parsers.json_repair import JsonValue
from edgevox.llm.tool_parsers.notation import Notation, Wrapper
from edgevox.llm.tool_parsers.python_calls import BareListCalls
from edgevox.llm.tool_parsers.values import arguments_of
from edgevox.types import ToolCall

# Strings are JSON's, so that a text has one spelling; only the three words are Python's.
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
            members = (
                f"{json.dumps(key, ensure_ascii=False)}: {_value(part)}" for key, part in value.items()
            )
            return f"{{{', '.join(members)}}}"
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case bool() | None:
            return str(value)
        case _:
            return json.dumps(value, ensure_ascii=False)

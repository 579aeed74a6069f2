"""How a format writes calls: the text around them, and the notation of the arguments.

Each detector's module holds its `Wrapper`, from which the grammar is generated: what the grammar forces is what the
detector reads.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Literal, TypeAlias

from edgevox.core.types import ToolCall
from edgevox.llm.tool_parsers.json_repair import JsonValue

# How special characters are written in strings; "none": they cannot be written.
Escapes: TypeAlias = Literal["json", "python", "none"]


@dataclass(frozen=True, slots=True)
class Quoting:
    """A string: `open`, its characters, `close`. Without escapes it cannot contain `barred` strings."""

    open: str = '"'
    close: str = '"'
    escapes: Escapes = "json"
    barred: str = ""


@dataclass(frozen=True, slots=True)
class Notation:
    """How values are written; JSON by default.

    `value_close` follows every value that is not a string (strings have it in their quoting). `members` is the notation
    inside objects and arrays, if it differs.
    """

    strings: tuple[Quoting, ...] = (Quoting(),)
    true: str = "true"
    false: str = "false"
    null: str = "null"
    value_close: str = ""
    object_open: str = "{"
    object_close: str = "}"
    separator: str = ", "
    key_open: str = '"'
    key_close: str = '": '
    key_escapes: Escapes = "json"
    members: Notation | None = None


@dataclass(frozen=True, slots=True)
class Wrapper:
    """One reply of calls: one of `before`, then calls separated by `between`, then `after`.

    A call is `head`, its name, `middle`, its arguments, `tail`; with `id_head`, that and an id of nine characters come
    before the tail. `triggers` are the strings that start a call.
    """

    head: str
    middle: str
    tail: str
    triggers: tuple[str, ...]
    before: tuple[str, ...] = ("",)
    between: str = "\n"
    after: str = ""
    arguments: Notation = Notation()
    name_escapes: Escapes = "none"
    id_head: str | None = None


JSON = Notation()


def json_wrapper(
    *,
    begin: str = "",
    end: str = "",
    arguments_key: str = "arguments",
    triggers: tuple[str, ...],
    before: tuple[str, ...] = ("",),
    between: str = "\n",
    after: str = "",
    id_head: str | None = None,
    end_id: str = "",
) -> Wrapper:
    """Return the wrapper of calls `{"name": …, "arguments": {…}}`, each between `begin` and `end`."""
    return Wrapper(
        head=f'{begin}{{"name": "',
        middle=f'", "{arguments_key}": ',
        tail=f"{end_id}}}{end}",
        triggers=triggers,
        before=before,
        between=between,
        after=after,
        name_escapes="json",
        id_head=id_head,
    )


_PYTHON_VALUES = Notation(
    strings=(Quoting('"', '"', "python"), Quoting("'", "'", "python")),
    true="True",
    false="False",
    null="None",
    key_open="'",
    key_close="': ",
    key_escapes="python",
)
PYTHON_ARGUMENTS = Notation(
    object_open="(", object_close=")", key_open="", key_close="=", key_escapes="none", members=_PYTHON_VALUES
)


def brace_notation(quote: str) -> Notation:
    """Return Gemma's notation: unquoted keys, strings between `quote`, no blanks."""
    return Notation(
        strings=(Quoting(quote, quote, "none", barred="<"),),
        separator=",",
        key_open="",
        key_close=":",
        key_escapes="none",
    )


def tagged_notation(key_open: str, key_close: str, value_close: str, *, strings: tuple[Quoting, ...] = ()) -> Notation:
    """Return the notation of arguments in tags: strings unquoted, everything else as JSON."""
    value = Notation(
        strings=strings or (Quoting("", value_close, "none", barred="<"),), value_close=value_close, members=JSON
    )
    return Notation(
        object_open="",
        object_close="",
        separator="",
        key_open=key_open,
        key_close=key_close,
        key_escapes="none",
        members=value,
    )


def arguments_of(call: ToolCall) -> dict[str, JsonValue]:
    """Return the arguments of a call as a dict."""
    found: dict[str, JsonValue] = json.loads(call.arguments or "{}")
    return found


def tagged_arguments(call: ToolCall) -> list[tuple[str, str]]:
    """Return keys and values as text: strings unquoted, everything else as JSON."""
    return [
        (key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for key, value in arguments_of(call).items()
    ]


def python_call(call: ToolCall) -> str:
    """Write `name(key=value)` in Python's notation."""
    return f"{call.name}({', '.join(f'{key}={value!r}' for key, value in arguments_of(call).items())})"


def gemma_value(value: JsonValue, quote: str) -> str:
    """Write a value in Gemma's notation: strings between `quote`, unquoted keys."""
    match value:
        case str():
            return f"{quote}{value}{quote}"
        case dict():
            return "{" + ",".join(f"{key}:{gemma_value(member, quote)}" for key, member in value.items()) + "}"
        case list():
            return "[" + ",".join(gemma_value(member, quote) for member in value) + "]"
        case _:
            return json.dumps(value)

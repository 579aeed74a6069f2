"""How a format writes calls: the text around them, and the notation of the arguments.

Each detector has a `Wrapper`, from which the grammar is generated and calls are written: what the grammar forces is
what the detector reads.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
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

    def write(self, value: JsonValue) -> str:
        """Write a value."""
        inner = self.members or self
        match value:
            case str():
                quoting = self.strings[0]
                # repr chooses the quotes that need no escapes.
                is_python = quoting.escapes == "python"
                return repr(value) if is_python else f"{quoting.open}{_escape(value, quoting.escapes)}{quoting.close}"
            case dict():
                members = (
                    f"{self.key_open}{_escape(key, self.key_escapes)}{self.key_close}{inner.write(member)}"
                    for key, member in value.items()
                )
                written = f"{self.object_open}{self.separator.join(members)}{self.object_close}"
            case list():
                written = f"[{self.separator.join(map(inner.write, value))}]"
            case bool() | None:
                written = {True: self.true, False: self.false, None: self.null}[value]
            case _:
                written = json.dumps(value)
        return written + self.value_close


def _escape(text: str, escapes: Escapes) -> str:
    match escapes:
        case "json":
            return json.dumps(text, ensure_ascii=False)[1:-1]
        case "python":
            # The double quote makes repr choose single quotes.
            return repr(f'"{text}')[2:-1]
        case "none":
            return text


JSON = Notation()


@dataclass(frozen=True, slots=True)
class Wrapper:
    """One reply of calls: one of `before`, then calls separated by `between`, then `after`.

    A call is `head`, its name, `middle`, its arguments, `tail`, by default `{"name": …, "arguments": {…}}`; with
    `id_head`, that and an id of nine characters come before the tail. `triggers` are the strings that start a call.
    """

    triggers: tuple[str, ...]
    head: str = '{"name": "'
    middle: str = '", "arguments": '
    tail: str = "}"
    before: tuple[str, ...] = ("",)
    between: str = "\n"
    after: str = ""
    arguments: Notation = JSON
    id_head: str | None = None

    @property
    def name_escapes(self) -> Escapes:
        """How names are written: as JSON where they are in a JSON object."""
        return "json" if self.head.endswith('"name": "') else "none"

    def write(self, calls: Sequence[ToolCall]) -> str:
        """Write a reply that contains only `calls`."""
        return f"{self.before[-1]}{self.between.join(map(self._call, calls))}{self.after}"

    def _call(self, call: ToolCall) -> str:
        name = json.dumps(call.name)[1:-1] if self.name_escapes == "json" else call.name
        arguments = call.arguments or "{}"
        if self.arguments is not JSON:
            arguments = self.arguments.write(json.loads(arguments))
        call_id = "" if self.id_head is None else f"{self.id_head}{json.dumps(call.id)[1:-1]}"
        return f"{self.head}{name}{self.middle}{arguments}{call_id}{self.tail}"


_PYTHON_VALUES = Notation(
    strings=(Quoting('"', '"', "python"), Quoting("'", "'", "python")),
    true="True",
    false="False",
    null="None",
    key_open="'",
    key_close="': ",
    key_escapes="python",
)


def python_wrapper(
    begin: str, end: str, *, trigger: str, between: str = ", ", values: Notation = _PYTHON_VALUES
) -> Wrapper:
    """Return the wrapper of calls `name(key=value)` between `begin` and `end`."""
    arguments = Notation(
        object_open="(", object_close=")", key_open="", key_close="=", key_escapes="none", members=values
    )
    return Wrapper((trigger,), "", "", "", before=(begin,), between=between, after=end, arguments=arguments)


def brace_wrapper(begin: str, end: str, quote: str) -> Wrapper:
    """Return the wrapper of Gemma's calls: unquoted keys, strings between `quote`, no blanks."""
    strings = (Quoting(quote, quote, "none", barred="<"),)
    arguments = Notation(strings=strings, separator=",", key_open="", key_close=":", key_escapes="none")
    return Wrapper((begin,), f"{begin}call:", "", end, between="", arguments=arguments)


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

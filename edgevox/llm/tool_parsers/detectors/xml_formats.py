"""Formats whose calls are XML.

MiniCPM 5: `<function name="NAME"><param name="KEY">value</param></function>`, with CDATA where needed.
Models without a format of their own: `<name>…</name><arguments>{…}</arguments>`, whose arguments are JSON or
tags, or `<invoke name="…"><parameter name="…">`.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import ClassVar

from edgevox.core.types import ToolCall
from edgevox.llm.tool_parsers.base import BaseFormatDetector, Forms, Opening, Verdict
from edgevox.llm.tool_parsers.json_repair import JsonValue, Unquoted, Unreadable, loads_object
from edgevox.llm.tool_parsers.notation import JSON, Quoting, Wrapper, tagged_notation
from edgevox.llm.tool_parsers.tags import MAX_NAME_CHARS, NAME, TOOL_CALL, TOOL_CALL_END, TagBody

_CDATA = "<![CDATA["
_CDATA_END = "]]>"
_HEAD = re.compile(rf"""(["'])({NAME.pattern})\1[^<>\n]*""")
_MAX_HEAD_CHARS = MAX_NAME_CHARS + 40


class AttributeTagCalls(TagBody):
    """Function and parameter tags with their names in an attribute. The marker ends after `name=`."""

    def __init__(self, opening: Opening, *, function: str, parameter: str) -> None:
        pattern, pair = _patterns(function, parameter)
        super().__init__(opening, pattern, pair)
        self._function_end = f"</{function}>"
        self._pieces: list[str] = []

    def _start(self, at_end: bool) -> Verdict | None:
        head = self._head(_MAX_HEAD_CHARS)
        if isinstance(head, Verdict):
            return head
        found = _HEAD.fullmatch(head)
        if found is None:
            return Verdict.NO
        self.committed = True
        self._name = found.group(2)
        self._raw.append(f"{self.opening.marker}{head}>")
        if head.endswith("/"):
            self._take()
            return Verdict.DONE
        self._state = self._tags
        return None

    def _tag(self, tag: re.Match[str], before: str) -> Verdict | None:
        written = tag.group()
        if tag.group(1) is not None:
            self._finish_value(before)
            self._key = tag.group(1)
            return None
        if written == _CDATA:
            self._pieces.append(html.unescape(before) if before.strip() else "")
            self._state = self._cdata
            return None
        in_function = self._key is None
        self._finish_value(before)
        if written == self._function_end:
            self._take(self._read_json(before) if in_function and not self._arguments else None)
            return Verdict.DONE
        return None

    def _read_json(self, written: str) -> str | None:
        """Read arguments written as one JSON object instead of tags; return the problem, if any."""
        if not written.strip().startswith("{"):
            return None
        try:
            self._arguments = loads_object(written.strip())
        except Unreadable as err:
            return str(err)
        return None

    def _cdata(self, at_end: bool) -> Verdict | None:
        end = self.text.find(_CDATA_END, self.pos)
        if end < 0 and not at_end:
            keep = max(self.pos, len(self.text) - len(_CDATA_END) + 1)
            self._pieces.append(self.text[self.pos : keep])
            self.pos = keep
            return Verdict.MORE
        if end < 0:
            end = len(self.text)
        self._pieces.append(self.text[self.pos : end])
        self.pos = min(end + len(_CDATA_END), len(self.text))
        self._state = self._tags
        return None

    def _finish_value(self, written: str) -> None:
        if self._key is not None:
            if self._pieces:
                rest = html.unescape(written) if written.strip() else ""
                self._arguments[self._key] = Unquoted("".join(self._pieces) + rest)
            else:
                self._add(self._key, written)
        self._key, self._pieces = None, []

    def _add(self, key: str, written: str) -> None:
        self._arguments[key] = Unquoted(html.unescape(written))


@lru_cache
def _patterns(function: str, parameter: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    begin = rf"""<{parameter}[\u0120\s]{{0,4}}name=["']([^"'<>\n]{{1,128}})["'][^<>\n]{{0,32}}>"""
    end = f"</{parameter}>"
    return (re.compile(rf"{begin}|{end}|</{function}>|<!\[CDATA\["), re.compile(rf"\s*+{begin}([^<]*+){end}"))


_NAME_TAGS = ("name", "tool_name", "function_name")
_ARGUMENT_TAGS = ("arguments", "parameters", "args", "input")
_TAG = re.compile(rf"</?(?:{'|'.join((*_NAME_TAGS, *_ARGUMENT_TAGS))})>|</?tool_call>")
_OPENING_TAGS = tuple(f"<{tag}>" for tag in (*_NAME_TAGS, *_ARGUMENT_TAGS))
_CHILD = re.compile(r"\s*+<([A-Za-z_][\w.-]*+)>")


class ElementCalls(TagBody):
    """A name element and an arguments element, in either order."""

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening, _TAG)
        self._inside = ""
        self._problem: str | None = None

    def _start(self, at_end: bool) -> Verdict | None:
        if not self._skip_space():
            return Verdict.MORE
        follows = self._looking_at_any(_OPENING_TAGS)
        if follows:
            self.committed = True
            self._state = self._tags
            return None
        return Verdict.MORE if follows is None else Verdict.NO

    def _tag(self, tag: re.Match[str], before: str) -> Verdict | None:
        written = tag.group()
        if written in (TOOL_CALL, TOOL_CALL_END):
            # The start of the next call is not part of this one.
            self.pos = tag.end() if written == TOOL_CALL_END else tag.start()
            self._take(self._problem)
            return Verdict.DONE
        if self._inside:
            if written != f"</{self._inside}>":
                self._before.append(before + written)
                return None
            self._read(before)
            self._inside = ""
        elif not written.startswith("</"):
            self._inside = written[1:-1]
        return None

    def _read(self, content: str) -> None:
        if self._inside in _NAME_TAGS:
            name = content.strip()
            self._name = name if NAME.fullmatch(name) else ""
            return
        try:
            self._arguments = _arguments(content)
        except Unreadable as err:
            self._problem = str(err)

    def _end_of_output(self, before: str) -> Verdict:
        self._raw.append(before)
        if self._inside in _ARGUMENT_TAGS:
            self._read(before)
        elif self._inside:
            self._problem = "the output ended inside the name"
        self._take(self._problem)
        return Verdict.DONE


def _arguments(content: str) -> dict[str, JsonValue]:
    written = content.strip()
    if not written:
        return {}
    if written[0] != "<":
        return loads_object(written)
    found: dict[str, JsonValue] = {}
    pos = 0
    while (child := _CHILD.match(written, pos)) is not None:
        closing = f"</{child.group(1)}>"
        end = written.find(closing, child.end())
        if end < 0:
            raise Unreadable(f"<{child.group(1)}> is not closed")
        found[child.group(1)] = Unquoted(html.unescape(written[child.end() : end]).strip())
        pos = end + len(closing)
    if written[pos:].strip():
        raise Unreadable(f"unexpected {written[pos : pos + 20]!r} among the arguments")
    return found


# Byte-level tokenizers sometimes leave Ġ for the blank, or nothing.
_FUNCTION_TAGS = ("<function name=", "<function\u0120name=", "<functionname=")
_INVOKE = "<invoke name="


class MiniCpmDetector(BaseFormatDetector):
    forms: ClassVar[Forms] = {
        marker: (partial(AttributeTagCalls, function="function", parameter="param"),) for marker in _FUNCTION_TAGS
    }
    trailers = ("</function>",)
    wrapper = Wrapper(
        _FUNCTION_TAGS[:1],
        '<function name="',
        '">',
        "</function>",
        arguments=tagged_notation(
            '<param name="',
            '">',
            "</param>",
            strings=(
                Quoting("", "</param>", "none", barred="<&\n"),
                Quoting(_CDATA, f"{_CDATA_END}</param>", "none", barred="]"),
            ),
        ),
    )

    def render(self, calls: Sequence[ToolCall]) -> str:
        return "\n".join(map(_render_call, calls))


def _render_call(call: ToolCall) -> str:
    arguments: dict[str, JsonValue] = json.loads(call.arguments or "{}")
    parameters = "".join(_render_parameter(key, value) for key, value in arguments.items())
    return f'<function name="{call.name}">{parameters}</function>'


def _render_parameter(key: str, value: JsonValue) -> str:
    written = value if isinstance(value, str) else JSON.write(value)
    if any(char in written for char in "<&\n"):
        written = f"{_CDATA}{written.replace(_CDATA_END, ']]]]><![CDATA[>')}{_CDATA_END}"
    return f'<param name="{key}">{written}</param>'


class GenericXmlDetector(BaseFormatDetector):
    forms: ClassVar[Forms] = {
        TOOL_CALL: (ElementCalls,),
        _INVOKE: (partial(AttributeTagCalls, function="invoke", parameter="parameter"),),
    }
    trailers = (TOOL_CALL_END, "</invoke>")
    wrapper = Wrapper((TOOL_CALL,), f"{TOOL_CALL}\n<name>", "</name>\n<arguments>", f"</arguments>\n{TOOL_CALL_END}")

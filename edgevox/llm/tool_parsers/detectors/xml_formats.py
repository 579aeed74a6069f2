"""Formats whose calls are XML.

MiniCPM 5: `<function name="NAME"><param name="KEY">value</param></function>`, with CDATA where needed.
Models without a format of their own: `<name>…</name><arguments>{…}</arguments>`, whose arguments are JSON or
tags, or `<invoke name="…"><parameter name="…">`.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import lru_cache

from edgevox.core.types import ToolCall
from edgevox.llm.tool_parsers.base import BaseFormatDetector, Body, Opening, Verdict
from edgevox.llm.tool_parsers.json_repair import JsonValue, Unquoted, Unreadable, loads
from edgevox.llm.tool_parsers.notation import Quoting, Wrapper, tagged_arguments, tagged_notation
from edgevox.llm.tool_parsers.tags import MAX_NAME_CHARS, NAME, TagBody

# Byte-level tokenizers sometimes leave Ġ for the blank, or nothing.
MARKERS = ("<function name=", "<function\u0120name=", "<functionname=")
_CDATA = "<![CDATA["
_CDATA_END = "]]>"
_HEAD = re.compile(rf"""(["'])({NAME.pattern})\1[^<>\n]*""")
_MAX_HEAD_CHARS = MAX_NAME_CHARS + 40


class MiniCpmDetector(BaseFormatDetector):
    markers = MARKERS
    trailers = ("</function>",)

    wrapper = Wrapper(
        head='<function name="',
        middle='">',
        tail="</function>",
        arguments=tagged_notation(
            '<param name="',
            '">',
            "</param>",
            strings=(
                Quoting("", "</param>", "none", barred="<&\n"),
                Quoting(_CDATA, f"{_CDATA_END}</param>", "none", barred="]"),
            ),
        ),
        triggers=("<function name=",),
    )

    def open(self, opening: Opening) -> Body:
        return AttributeTagCalls(opening, function="function", parameter="param")

    def render(self, calls: Sequence[ToolCall]) -> str:
        return "\n".join(map(_render_call, calls))


def _render_call(call: ToolCall) -> str:
    parameters = "".join(map(_render_parameter, tagged_arguments(call)))
    return f'<function name="{call.name}">{parameters}</function>'


def _render_parameter(pair: tuple[str, str]) -> str:
    key, value = pair
    if any(char in value for char in "<&\n"):
        value = f"{_CDATA}{value.replace(_CDATA_END, ']]]]><![CDATA[>')}{_CDATA_END}"
    return f'<param name="{key}">{value}</param>'


class AttributeTagCalls(TagBody):
    """Function and parameter tags with their names in an attribute. The marker ends after `name=`."""

    def __init__(self, opening: Opening, *, function: str, parameter: str) -> None:
        pattern, pair = _patterns(function, parameter)
        super().__init__(opening, pattern, (f"<{parameter}", f"</{parameter}>", f"</{function}>", _CDATA), pair)
        self._function_end = f"</{function}>"
        self._pieces: list[str] = []

    def _start(self, at_end: bool) -> Verdict | None:
        end = self.text.find(">", self.pos, self.pos + _MAX_HEAD_CHARS)
        head = self.text[self.pos : self.pos + _MAX_HEAD_CHARS if end < 0 else end]
        if end < 0:
            may_end = len(head) < _MAX_HEAD_CHARS and not any(char in head for char in "<\n")
            return Verdict.MORE if may_end else Verdict.NO
        found = _HEAD.fullmatch(head)
        if found is None:
            return Verdict.NO
        self.committed = True
        self._name = found.group(2)
        self._raw.append(f"{self.opening.marker}{head}>")
        self.pos = end + 1
        if head.endswith("/"):
            self._take()
            return Verdict.DONE
        self._state = self._tags
        return None

    def _tag(self, tag: re.Match[str], before: str, at_end: bool) -> Verdict | None:
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
            value = loads(written.strip())
        except Unreadable as err:
            return str(err)
        if isinstance(value, dict):
            self._arguments = value
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
                behind = html.unescape(written) if written.strip() else ""
                self._arguments[self._key] = Unquoted("".join(self._pieces) + behind)
            else:
                self._add(self._key, written)
        self._key, self._pieces = None, []

    def _add(self, key: str, written: str) -> None:
        self._arguments[key] = Unquoted(html.unescape(written))

    def _end_of_output(self, before: str) -> Verdict:
        problem = f"the output ended inside {self._key}" if self._key is not None else None
        self._raw.append(before)
        self._take(problem)
        return Verdict.DONE


@lru_cache
def _patterns(function: str, parameter: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    begin = rf"""<{parameter}[\u0120\s]{{0,4}}name=["']([^"'<>\n]{{1,128}})["'][^<>\n]{{0,32}}>"""
    end = f"</{parameter}>"
    return (re.compile(rf"{begin}|{end}|</{function}>|<!\[CDATA\["), re.compile(rf"\s*+{begin}([^<]*+){end}"))


BEGIN = "<tool_call>"
END = "</tool_call>"
INVOKE = "<invoke name="
_NAME_TAGS = ("name", "tool_name", "function_name")
_ARGUMENT_TAGS = ("arguments", "parameters", "args", "input")
_TAG = re.compile(rf"</?(?:{'|'.join((*_NAME_TAGS, *_ARGUMENT_TAGS))})>|</?tool_call>")
_OPENING_TAGS = tuple(f"<{tag}>" for tag in (*_NAME_TAGS, *_ARGUMENT_TAGS))
_NO_PAIR = re.compile(r"(?!)")
_BEGINNINGS = (BEGIN, END, *(f"{slash}{tag}>" for slash in ("<", "</") for tag in (*_NAME_TAGS, *_ARGUMENT_TAGS)))
_CHILD = re.compile(r"\s*+<([A-Za-z_][\w.-]*+)>")


class GenericXmlDetector(BaseFormatDetector):
    markers = (BEGIN, INVOKE)
    trailers = (END, "</invoke>")

    wrapper = Wrapper(
        head=f"{BEGIN}\n<name>", middle="</name>\n<arguments>", tail=f"</arguments>\n{END}", triggers=(BEGIN,)
    )

    def open(self, opening: Opening) -> Body:
        if opening.marker == INVOKE:
            return AttributeTagCalls(opening, function="invoke", parameter="parameter")
        return ElementCalls(opening)

    def render(self, calls: Sequence[ToolCall]) -> str:
        return "\n".join(
            f"{BEGIN}\n<name>{call.name}</name>\n<arguments>{call.arguments or '{}'}</arguments>\n{END}"
            for call in calls
        )


class ElementCalls(TagBody):
    """A name element and an arguments element, in either order."""

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening, _TAG, _BEGINNINGS, _NO_PAIR)
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

    def _tag(self, tag: re.Match[str], before: str, at_end: bool) -> Verdict | None:
        written = tag.group()
        if written in (BEGIN, END):
            if written == BEGIN:
                self.pos = tag.start()
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

    def _add(self, key: str, written: str) -> None:
        raise AssertionError("the arguments are read as a whole")

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
        value = loads(written)
        if not isinstance(value, dict):
            raise Unreadable("the arguments are not an object")
        return value
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

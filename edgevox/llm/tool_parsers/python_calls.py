"""Calls written in Python: `[f(a=1), g(b="x")]`, `f(a=1)`, between markers or bare."""

from __future__ import annotations

import re
from collections.abc import Mapping

from edgevox.llm.tool_parsers.base import MAX_GAP, RawCall, Verdict
from edgevox.llm.tool_parsers.brackets import ArgumentsPreview, Brackets, CallSequence
from edgevox.llm.tool_parsers.json_repair import LITERALS, JsonValue, Reader, Truncated, Unreadable

_NAME = re.compile(r"[A-Za-z_][\w.-]*+")
_MAX_NAME_CHARS = 128
# The common argument in one step: a name, a simple value, and what ends it.
_SIMPLE = re.compile(
    r"[ \t\r\n]*+([A-Za-z_]\w*+)="
    r"""(?:"([^"\\]*+)"|'([^'\\]*+)'|(-?(?:0|[1-9]\d{0,17}+)|[Tt]rue|[Ff]alse|None|null))([,)])"""
)
_KEYWORD = re.compile(r"([A-Za-z_][\w.-]*+)[ \t\r\n]*+(?:=(?!=)|:(?=[ \t\r\n]))")


def read_simple(text: str, pos: int) -> tuple[dict[str, JsonValue], int] | None:
    """Return the arguments in the parentheses at `pos` and their end, if all are simple and complete."""
    arguments: dict[str, JsonValue] = {}
    pos += 1
    if text.startswith(")", pos):
        return arguments, pos + 1
    while (simple := _SIMPLE.match(text, pos)) is not None:
        key, double, single, word, end = simple.groups()
        if word is None:
            arguments[key] = single if double is None else double
        else:
            arguments[key] = LITERALS[word] if word in LITERALS else int(word)
        pos = simple.end()
        if end == ")":
            return arguments, pos
    return None


def read_call(name: str, written: str, barred: tuple[str, ...] = ()) -> RawCall:
    """Return the call `name` with its arguments in parentheses, damaged or not."""
    raw = name + written
    simple = read_simple(written, 0)
    if simple is not None and simple[1] == len(written):
        return RawCall(name, simple[0], raw)
    arguments: dict[str, JsonValue] = {}
    positional: list[JsonValue] = []
    reader = Reader(written, barred=barred)
    reader.pos = 1
    reader.closers.append(")")
    problem: str | None = None
    try:
        while (char := reader.peek()) and char != ")":
            if char == ",":
                reader.pos += 1
                continue
            keyword = _KEYWORD.match(written, reader.pos)
            if keyword is not None:
                reader.pos = keyword.end()
                arguments[keyword.group(1)] = reader.member()
            else:
                _read_positional(reader, arguments, positional)
            reader.expect_end_of_value(",)")
    except Truncated as err:
        problem = f"the output ended early: {err}"
    except Unreadable as err:
        problem = str(err)
    return RawCall(name, arguments, raw, positional=positional, problem=problem)


def _read_positional(reader: Reader, arguments: dict[str, JsonValue], positional: list[JsonValue]) -> None:
    if reader.text.startswith("**", reader.pos):
        reader.pos += 2
        value = reader.member()
        if not isinstance(value, dict):
            raise Unreadable("** needs a mapping")
        arguments.update(value)
        return
    value = reader.member()
    if isinstance(value, str) and reader.peek() in (":", "="):
        reader.pos += 1
        arguments[str(value)] = reader.member()
    else:
        positional.append(value)


def _read_keyword(part: str) -> Mapping[str, JsonValue]:
    call = read_call("", f"({part})")
    return {} if call.positional or call.problem else call.arguments


class PythonCalls(CallSequence):
    """After a marker: one call, several, or a list of them, up to one of `ends`."""

    # Whether a name and a parenthesis are enough for a call.
    commits = True

    def _start(self, at_end: bool) -> Verdict | None:
        if not self._skip_space():
            return Verdict.MORE
        if self.text[self.pos] == "[" and not self._in_list:
            self._in_list = True
            self.pos += 1
            return None
        if self.text[self.pos] == "]" and self._in_list and self._ends:
            self.committed = True
            self._state = self._between
            return None
        ended = self._skip_end(at_end)
        if ended or ended is None:
            # Nothing between the markers, unless the marker is incomplete.
            return Verdict.DONE if ended else Verdict.MORE
        self._state = self._function
        return None

    def _begin_next(self) -> bool:
        self._state = self._function
        return bool(self._in_list or self._ends) and _NAME.match(self.text, self.pos) is not None

    def _function(self, at_end: bool) -> Verdict | None:
        text = self.text
        name = _NAME.match(text, self.pos)
        if name is None or name.end() - self.pos > _MAX_NAME_CHARS:
            return self._give_up(self.pos)
        at = name.end()
        while at < len(text) and text[at] == " " and at - name.end() < MAX_GAP:
            at += 1
        if at == len(text) and not at_end:
            return Verdict.MORE
        if not text.startswith("(", at):
            return self._give_up(self.pos)
        return self._begin(name.group(), at)

    def _begin(self, name: str, at: int, opened: str = "") -> Verdict | None:
        self._name = name
        self.pos = at
        self.committed = self.committed or self.commits
        start = at - len(opened)
        whole = read_simple(self.text, start) if start >= 0 and self.text[start] == "(" else None
        if whole is not None and not self.opening.ends_inside_strings:
            arguments, self.pos = whole
            self._state = self._between
            return self._take(RawCall(name, arguments, name + self.text[start : self.pos]))
        brackets = Brackets(ends=self._ends, parens=True, marked_depth=1)
        self._begin_value(brackets, ArgumentsPreview(_read_keyword), opened)
        self._state = self._arguments
        return None

    def _arguments(self, at_end: bool) -> Verdict | None:
        written = self._value(at_end)
        if written is None:
            return Verdict.MORE
        call = read_call(self._name, written, self._ends)
        if call.problem is not None and (shorter := self._shortened(written)):
            call = read_call(self._name, shorter)
        if not self._brackets.closed and call.problem is None:
            call.problem = "the output ended early: the call is not closed"
        self._state = self._between
        return self._take(call)

    def _take(self, call: RawCall) -> Verdict | None:
        self.calls.append(call)
        return None


class OfferedCalls(PythonCalls):
    """Python calls between the markers of another format: only those of offered names."""

    def _begin(self, name: str, at: int, opened: str = "") -> Verdict | None:
        if self.opening.offered.resolve(name) is None and not self.committed:
            return Verdict.NO
        return super()._begin(name, at, opened)


class BareListCalls(PythonCalls):
    """A bare `[f(a=1)]`: the opening bracket is the marker."""

    commits = False

    def _start(self, at_end: bool) -> Verdict | None:
        if self.opening.before[-1:].isalnum() or self.opening.before[-1:] in ("`", '"', "'", "_", ")", "]"):
            return Verdict.NO
        if not self._skip_space():
            return Verdict.MORE
        self._in_list = True
        self._state = self._function
        return None

    def _begin(self, name: str, at: int, opened: str = "") -> Verdict | None:
        if self.opening.offered.resolve(name) is None and not self.committed and not self.opening.at_line_start:
            return Verdict.NO
        return super()._begin(name, at, opened)

    def _take(self, call: RawCall) -> Verdict | None:
        if self.committed or self._is_call(call):
            self.calls.append(call)
            self.committed = True
            return None
        self.spent = len(call.raw) + 1
        return Verdict.NO

    def _is_call(self, call: RawCall) -> bool:
        if self.opening.offered.resolve(call.name) is not None:
            return True
        return call.problem is None and bool(call.arguments) and not call.positional


class PlainCall(PythonCalls):
    """`name(a=1)` for an offered name; the marker is `name(`. It is a call only if no text follows it."""

    commits = False
    _call: RawCall

    def _start(self, at_end: bool) -> Verdict | None:
        return self._begin(self.opening.marker[:-1], self.pos, opened="(")

    def _take(self, call: RawCall) -> Verdict | None:
        if call.problem is not None:
            self.spent = len(call.raw)
            return Verdict.NO
        self._call = call
        self._state = self._end_of_line
        return None

    def _end_of_line(self, at_end: bool) -> Verdict | None:
        """Inside a sentence a call is an example; without named arguments it must be on its own line."""
        text, at = self.text, self.pos
        while at < len(text) and text[at] in " \t;" and at - self.pos < MAX_GAP:
            at += 1
        word = _NAME.match(text, at, at + _MAX_NAME_CHARS)
        if not at_end and (at == len(text) or (word is not None and word.end() == len(text))):
            return Verdict.MORE
        alone = at == len(text) or text[at] == "\n" or (word is not None and word.group() in self.opening.offered)
        named = bool(self._call.arguments) and not self._call.positional
        if not alone or not (named or self.opening.at_line_start):
            self.spent = len(self._call.raw)
            return Verdict.NO
        self.pos = at
        self.calls.append(self._call)
        self.committed = True
        return Verdict.DONE

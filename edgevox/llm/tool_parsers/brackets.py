"""Finding where a bracketed value ends, in pieces, without looking at any character twice."""

from __future__ import annotations

import re
from functools import lru_cache

_STRING = {
    '"': re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL),
    "'": re.compile(r"'[^'\\]*+(?:\\.[^'\\]*+)*+'", re.DOTALL),
}
_INSIDE = {
    '"': re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL),
    "'": re.compile(r"[^'\\]*+(?:\\.[^'\\]*+)*+", re.DOTALL),
}
_OPENER = {"}": "{", "]": "[", ")": "("}
_BEFORE_A_STRING = "{[(,:="
_SPACE = " \t\r\n"
_QUOTES = "\"'"


class Brackets:
    """The extent of one value that begins with an opening bracket.

    Brackets inside strings do not count. A quote opens a string only behind one of `{[(,:=`, so an apostrophe
    or an unescaped quote inside a value does no harm. `ends` are markers that end the value outside strings
    even though brackets are open; `raw_quotes` are further string delimiters that know no escapes. `marks`
    are where the commas `marked_depth` deep stand in the text of the last scan, and the brackets around them.
    """

    __slots__ = (
        "_ends",
        "_escaped",
        "_last",
        "_open",
        "_quote",
        "_raw_quotes",
        "_stack",
        "_stops",
        "closed",
        "consumed",
        "cut",
        "depth",
        "marked_depth",
        "marks",
    )

    def __init__(
        self,
        *,
        ends: tuple[str, ...] = (),
        raw_quotes: tuple[str, ...] = (),
        parens: bool = False,
        marked_depth: int = 0,
    ) -> None:
        self._ends = ends
        self._raw_quotes = raw_quotes
        beginnings = "".join(sorted({end[0] for end in (*ends, *raw_quotes)}))
        self._stops = _stops(("()" if parens else "") + ("," if marked_depth else ""), beginnings)
        self._stack: list[str] = []
        self._open = {"{": 0, "[": 0, "(": 0}
        self._quote = ""
        self._escaped = False
        self._last = ""
        self.consumed = 0
        self.cut = False
        self.closed = False
        self.depth = 0
        self.marked_depth = marked_depth
        self.marks: list[int] = []

    def scan(self, text: str, pos: int, at_end: bool) -> int:
        """Where the value ends in `text`, or -1 when it goes on behind `consumed`.

        `cut` is set when one of `ends` was met there and not the last bracket.
        """
        start, size, stack, search = pos, len(text), self._stack, self._stops.search
        marked = self.marked_depth
        if self.marks:
            self.marks = []
        if self._quote:
            pos = self._close_string(text, pos)
            if pos < 0:
                return -1
        while True:
            found = search(text, pos)
            if found is None:
                return self._go_on(text, start, size)
            at = found.start()
            char = text[at]
            if char in "{[(":
                if char == "[" and self._ends:
                    end = self._marker(text, at, self._ends, at_end)
                    if end is None:
                        return self._go_on(text, start, at)
                    if end:
                        self.cut = True
                        return at
                stack.append(char)
                self._open[char] += 1
                if len(stack) > self.depth:
                    self.depth = len(stack)
                if len(stack) == marked:
                    self.marks.append(at)
                pos = at + 1
            elif char in "}])":
                pos = at + 1
                opener = _OPENER[char]
                if self._open[opener]:
                    while True:
                        top = stack.pop()
                        self._open[top] -= 1
                        if top == opener:
                            break
                    if len(stack) == marked - 1:
                        self.marks.append(at)
                    if not stack:
                        self.closed = True
                        return pos
            elif char == ",":
                if len(stack) == marked:
                    self.marks.append(at)
                pos = at + 1
            elif char not in _QUOTES:
                token = self._marker(text, at, self._raw_quotes, at_end)
                if token is None:
                    return self._go_on(text, start, at)
                if token:
                    pos = at + len(token)
                    if self._opens_string(text, at, start):
                        close = text.find(token, pos)
                        if close < 0:
                            self._quote = token
                            self.consumed = max(pos, size - len(token) + 1)
                            self._last = '"'
                            return -1
                        pos = close + len(token)
                    continue
                end = self._marker(text, at, self._ends, at_end)
                if end is None:
                    return self._go_on(text, start, at)
                if end:
                    self.cut = True
                    return at
                pos = at + 1
            elif self._opens_string(text, at, start):
                whole = _STRING[char].match(text, at)
                if whole is None:
                    inside = _INSIDE[char].match(text, at + 1)
                    assert inside is not None
                    self._quote, self._escaped = char, inside.end() < size
                    self._last = char
                    self.consumed = size
                    return -1
                pos = whole.end()
            else:
                pos = at + 1

    def _go_on(self, text: str, start: int, consumed: int) -> int:
        seen = text[start:consumed].rstrip()
        if seen:
            self._last = seen[-1]
        self.consumed = consumed
        return -1

    def _close_string(self, text: str, pos: int) -> int:
        quote = self._quote
        if len(quote) > 1:
            close = text.find(quote, pos)
            if close < 0:
                self.consumed = max(pos, len(text) - len(quote) + 1)
                return -1
            self._quote = ""
            return close + len(quote)
        if self._escaped:
            if pos == len(text):
                self.consumed = pos
                return -1
            self._escaped = False
            pos += 1
        inside = _INSIDE[quote].match(text, pos)
        assert inside is not None
        end = inside.end()
        if end < len(text) and text[end] == quote:
            self._quote = ""
            return end + 1
        self._escaped = end < len(text)
        self.consumed = len(text)
        return -1

    def _opens_string(self, text: str, at: int, start: int) -> bool:
        before = at - 1
        while before >= start and text[before] in _SPACE:
            before -= 1
        previous = text[before] if before >= start else self._last
        return previous == "" or previous in _BEFORE_A_STRING

    def _marker(self, text: str, at: int, markers: tuple[str, ...], at_end: bool) -> str | None:
        """Which of `markers` stands at `at`: "" for none, None when the text ends too early to say."""
        undecided = False
        for marker in markers:
            if text.startswith(marker, at):
                return marker
            if not at_end and len(text) - at < len(marker) and marker.startswith(text[at:]):
                undecided = True
        return None if undecided else ""


@lru_cache(maxsize=64)
def _stops(further: str, beginnings: str) -> re.Pattern[str]:
    return re.compile(f"[{re.escape(_QUOTES + '{}[]' + further + beginnings)}]")

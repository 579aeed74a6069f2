"""Incremental readers of bracketed values.

They find the end of a value, handle brackets that never close, and return each argument of an incomplete call as soon
as it is complete.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from edgevox.llm.tool_parsers.base import Body, Opening
from edgevox.llm.tool_parsers.json_repair import JsonValue, Unreadable, read_at

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
    """Finds the end of one value that begins with an opening bracket.

    Brackets inside strings do not count. A quote opens a string only after one of `{[(,:=`, so an apostrophe or an
    unescaped quote inside a value does no harm. `ends` are markers that end the value outside strings despite open
    brackets; `raw_quotes` are further string delimiters without escapes. `marks` are the positions, in the text of the
    last scan, of the commas at depth `marked_depth` and of the brackets around them.
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
        """Return where the value ends in `text`, or -1 if it continues after `consumed`.

        `cut` is set if one of `ends` was found there instead of the last bracket.
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
        """Return which of `markers` is at `at`: "" for none, None if the text ends too early to tell."""
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


# A call with more arguments is shown when complete: re-reading all of them each time would take too long.
MAX_PREVIEWED = 64


class ArgumentsPreview:
    """Splits the arguments at their commas, and reads each part once.

    `read` parses one part into its argument; `begins` checks the text before the brackets and tells whether they are
    the arguments. The preview stops at an unreadable part, because the complete call may be repaired.
    """

    def __init__(
        self, read: Callable[[str], Mapping[str, JsonValue]], begins: Callable[[str], bool] | None = None
    ) -> None:
        self.arguments: dict[str, JsonValue] = {}
        self._begins = begins
        self._read = read
        self._parts: list[str] = []
        self._inside = False
        self._over = False

    def follow(self, text: str, start: int, end: int, marks: Sequence[int]) -> None:
        """Continue with `text[start:end]`, whose brackets and commas are at `marks`."""
        if self._over:
            return
        for mark in marks:
            self._parts.append(text[start:mark])
            start = mark + 1
            part, self._parts = "".join(self._parts), []
            if text[mark] in "{([":
                self._inside = self._begins is None or self._begins(part)
            elif self._inside:
                self._take(part)
                self._over = self._over or text[mark] != ","
        self._parts.append(text[start:end])

    def _take(self, part: str) -> None:
        if not part.strip():
            return
        try:
            found = self._read(part)
        except Unreadable:
            found = {}
        if not found or len(self.arguments) > MAX_PREVIEWED or any(key in self.arguments for key in found):
            self._over = True
        else:
            self.arguments.update(found)


_NONE_YET = Brackets()


class BracketBody(Body):
    """Collects consecutive bracketed values.

    An end marker inside a string is part of it, unless the value is invalid or never ends. The value then ends at the
    marker, and so does every later one (`ends_inside_strings`), so that no text is read more than twice.
    """

    def __init__(self, opening: Opening) -> None:
        super().__init__(opening)
        self._brackets = _NONE_YET
        self._parts: list[str] = []
        self._stops: tuple[str, ...] = ()
        self._preview: ArgumentsPreview | None = None

    def _begin_value(
        self,
        *,
        stops: tuple[str, ...] = (),
        raw_quotes: tuple[str, ...] = (),
        parens: bool = False,
        opened: str = "",
        preview: ArgumentsPreview | None = None,
        arguments_depth: int = 1,
    ) -> None:
        """Start a value at `pos`; its first bracket `opened` may have been part of the marker.

        `preview` follows the arguments, which are `arguments_depth` brackets deep.
        """
        depth = arguments_depth if preview is not None else 0
        self._brackets = Brackets(ends=stops, raw_quotes=raw_quotes, parens=parens, marked_depth=depth)
        self._preview = preview
        self._stops = stops
        self._parts = []
        if opened:
            self._brackets.scan(opened, 0, False)
            self._parts.append(opened)
            if preview is not None:
                preview.follow(opened, 0, 1, self._brackets.marks)

    def _sound_json(self) -> dict[str, JsonValue] | None:
        """Return the JSON object at `pos` if it is complete and valid, as it mostly is in batch."""
        if self.opening.ends_inside_strings:
            return None
        whole = read_at(self.text, self.pos)
        if whole is None:
            return None
        value, end = whole
        if not isinstance(value, dict):
            return None
        self.pos = end
        return value

    def _value(self, at_end: bool) -> str | None:
        """Return the text of the complete value, or None; `pos` is then after it."""
        brackets, text, start, limit, limited = self._brackets, self.text, self.pos, len(self.text), False
        if self.opening.ends_inside_strings and self._stops:
            stop = any_of(self._stops).search(text, start)
            if stop is not None:
                limit, limited = stop.start(), True
            elif not at_end:
                # A marker may be split here.
                limit = max(start, len(text) - max(map(len, self._stops)) + 1)
            # Only this part: copying from the start of the reply each time would take too long.
            text, start, limit = text[start:limit], 0, limit - start
        offset = self.pos - start
        end = brackets.scan(text, start, at_end or limited)
        if end < 0 and not limited and not at_end:
            self._parts.append(text[start : brackets.consumed])
            self.pos = offset + brackets.consumed
            if self._preview is not None:
                self._preview.follow(text, start, brackets.consumed, brackets.marks)
            return None
        if end < 0:
            end = limit
        self._parts.append(text[start:end])
        self.pos = offset + end
        written = "".join(self._parts)
        if at_end and not limited and not brackets.closed and not brackets.cut:
            return self._shortened(written) or written
        return written

    def _shortened(self, written: str) -> str | None:
        """Return the part of `written` before an end marker; the text after the marker is read again."""
        stop = any_of(self._stops).search(written) if self._stops else None
        if stop is None:
            return None
        self.text, self.pos = written[stop.start() :] + self.text[self.pos :], 0
        self.opening.ends_inside_strings = True
        return written[: stop.start()]


@lru_cache(maxsize=64)
def any_of(markers: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern that finds the first of some markers in one pass."""
    return re.compile("|".join(map(re.escape, markers)))

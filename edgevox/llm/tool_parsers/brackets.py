"""Incremental readers of bracketed values.

They find the end of a value, handle brackets that never close, and return each argument of an incomplete call as soon
as it is complete.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from edgevox.llm.tool_parsers.base import MAX_GAP, Body, Opening, RawCall, Verdict
from edgevox.llm.tool_parsers.json_repair import (
    QUOTE_WINDOW,
    STRING_CONTENT,
    JsonValue,
    Unreadable,
    closes_string,
    loads_object,
    read_at,
)

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

    def __init__(
        self,
        *,
        ends: tuple[str, ...] = (),
        raw_quotes: tuple[str, ...] = (),
        parens: bool = False,
        marked_depth: int = 0,
    ) -> None:
        self.ends = ends
        self._markers = (*raw_quotes, *ends)
        self._beginnings = "".join(sorted({marker[0] for marker in self._markers}))
        self._stops = _stops(("()" if parens else "") + ("," if marked_depth else ""), self._beginnings)
        self._stack: list[str] = []
        self._open = {"{": 0, "[": 0, "(": 0}
        self._quote = ""
        self._escaped = False
        self._is_doubtful = False
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
        start, stack, search, marked = pos, self._stack, self._stops.search, self.marked_depth
        self.marks = []
        if self._quote:
            pos = self._close_string(text, pos, at_end)
        while pos >= 0:
            found = search(text, pos)
            if found is None:
                return self._go_on(text, start, len(text))
            at = found.start()
            char = text[at]
            pos = at + 1
            if char in self._beginnings:
                marker = self._marker(text, at, at_end)
                if marker is None:
                    return self._go_on(text, start, at)
                if marker in self.ends:
                    self.cut = True
                    return at
                if marker:
                    pos = at + len(marker)
                    if self._opens_string(text, at, start):
                        self._quote = marker
                        pos = self._close_string(text, pos, at_end)
                    continue
            if char in "{[(":
                stack.append(char)
                self._open[char] += 1
                if len(stack) > self.depth:
                    self.depth = len(stack)
                if len(stack) == marked:
                    self.marks.append(at)
            elif char in "}])":
                opener = _OPENER[char]
                if self._open[opener]:
                    top = ""
                    while top != opener:
                        top = stack.pop()
                        self._open[top] -= 1
                    if len(stack) == marked - 1:
                        self.marks.append(at)
                    if not stack:
                        self.closed = True
                        return pos
            elif char == ",":
                if len(stack) == marked:
                    self.marks.append(at)
            elif char in _QUOTES and self._opens_string(text, at, start):
                self._quote = char
                pos = self._close_string(text, pos, at_end)
        return -1

    def _go_on(self, text: str, start: int, consumed: int) -> int:
        seen = text[start:consumed].rstrip()
        if seen:
            self._last = seen[-1]
        self.consumed = consumed
        return -1

    def _close_string(self, text: str, pos: int, at_end: bool) -> int:
        """Return the end of the open string, or -1 if it continues after `consumed`."""
        quote = self._quote
        if len(quote) > 1:
            close = text.find(quote, pos)
            if close < 0:
                self.consumed = max(pos, len(text) - len(quote) + 1)
                return -1
            self._quote = ""
            return close + len(quote)
        self.consumed = len(text)
        if self._escaped:
            if pos == len(text):
                return -1
            self._escaped = False
            pos += 1
        while True:
            inside = STRING_CONTENT[quote].match(text, pos)
            assert inside is not None
            at = inside.end()
            if not text.startswith(quote, at):
                # The text ends with a backslash.
                self._escaped = at < len(text)
                return -1
            pos = at + 1
            if self._is_undecided(text, pos) and not at_end:
                self.consumed = at
                return -1
            closers = [closer for closer, opener in _OPENER.items() if self._open[opener]]
            if closes_string(text, pos, is_doubtful=self._is_doubtful, closers=closers, depth=len(self._stack)):
                self._quote, self._is_doubtful = "", False
                return pos
            self._is_doubtful = True

    def _is_undecided(self, text: str, pos: int) -> bool:
        """Whether the text ends too early to tell if the quote before `pos` closes its string."""
        window = text[pos : pos + QUOTE_WINDOW]
        return len(window) < QUOTE_WINDOW and (self._is_doubtful or not window.strip())

    def _opens_string(self, text: str, at: int, start: int) -> bool:
        before = at - 1
        while before >= start and text[before] in _SPACE:
            before -= 1
        previous = text[before] if before >= start else self._last
        return previous == "" or previous in _BEFORE_A_STRING

    def _marker(self, text: str, at: int, at_end: bool) -> str | None:
        """Return the marker at `at`: "" for none, None if the text ends too early to tell."""
        undecided = False
        for marker in self._markers:
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


def read_member(part: str) -> Mapping[str, JsonValue]:
    """Parse one `"key": value` of an object. Raises Unreadable."""
    return loads_object(f"{{{part}}}")


class ArgumentsPreview:
    """Splits the arguments at their commas, and reads each part once.

    `read` parses one part into its argument; `begins` checks the text before the brackets and returns whether they are
    the arguments. The preview stops at an unreadable part, because the complete call may be repaired.
    """

    def __init__(
        self, read: Callable[[str], Mapping[str, JsonValue]] = read_member, begins: Callable[[str], bool] | None = None
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
        self._preview: ArgumentsPreview | None = None
        self._name = ""
        self._id: str | None = None

    def progress(self) -> RawCall | None:
        if self._preview is None or not self._name:
            return None
        return RawCall(self._name, self._preview.arguments, "", self._id)

    def _begin_value(self, brackets: Brackets, preview: ArgumentsPreview | None, opened: str = "") -> None:
        """Start a value at `pos`; its first bracket `opened` may have been part of the marker."""
        self._brackets, self._preview, self._parts = brackets, preview, []
        if opened:
            brackets.scan(opened, 0, False)
            self._parts.append(opened)
            if preview is not None:
                preview.follow(opened, 0, 1, brackets.marks)

    def _begin_json_arguments(self, stops: tuple[str, ...]) -> Verdict | None:
        """Read the JSON object at `pos` as the arguments of `_name`, for `_accept`."""
        start = self.pos
        # A complete and valid object, as it mostly is in batch, needs no scan.
        whole = None if self.opening.ends_inside_strings else read_at(self.text, start)
        if whole is not None and isinstance(value := whole[0], dict):
            self.pos = whole[1]
            return self._accept(RawCall(self._name, value, self.text[start : self.pos], self._id))
        self._begin_value(Brackets(ends=stops, marked_depth=1), ArgumentsPreview())
        self._state = self._json_arguments
        return None

    def _json_arguments(self, at_end: bool) -> Verdict | None:
        written = self._value(at_end)
        if written is None:
            return Verdict.MORE
        call = RawCall(self._name, {}, written, self._id)
        try:
            call.arguments = loads_object(written, depth=self._brackets.depth, barred=self._brackets.ends)
        except Unreadable as err:
            call.problem = str(err)
        return self._accept(call)

    def _accept(self, call: RawCall) -> Verdict | None:
        """Take the call that `_begin_json_arguments` has read; its `raw` are the arguments."""
        raise NotImplementedError

    def _value(self, at_end: bool) -> str | None:
        """Return the text of the complete value, or None; `pos` is then after it."""
        brackets, text, start, limit, limited = self._brackets, self.text, self.pos, len(self.text), False
        if self.opening.ends_inside_strings and brackets.ends:
            stop = any_of(brackets.ends).search(text, start)
            if stop is not None:
                limit, limited = stop.start(), True
            elif not at_end:
                # A marker may be split here.
                limit = max(start, len(text) - max(map(len, brackets.ends)) + 1)
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
        self._preview = None
        self._parts.append(text[start:end])
        self.pos = offset + end
        written = "".join(self._parts)
        if at_end and not limited and not brackets.closed and not brackets.cut:
            return self._shortened(written) or written
        return written

    def _shortened(self, written: str) -> str | None:
        """Return the part of `written` before an end marker; the text after the marker is read again."""
        ends = self._brackets.ends
        stop = any_of(ends).search(written) if ends else None
        if stop is None:
            return None
        self.text, self.pos = written[stop.start() :] + self.text[self.pos :], 0
        self.opening.ends_inside_strings = True
        return written[: stop.start()]


class CallSequence(BracketBody):
    """One call, several, or a list of them, up to one of `ends`. `noise` may stand before the end marker."""

    noise = ""

    def __init__(self, opening: Opening, *, ends: tuple[str, ...] = ()) -> None:
        super().__init__(opening)
        self._ends = ends
        self._in_list = False
        self.ended = False

    @abstractmethod
    def _begin_next(self) -> bool:
        """Begin the call at `pos`, if there is one."""

    def _skip_end(self, at_end: bool) -> bool | None:
        """Skip an end marker; None if the text ends inside one."""
        for end in self._ends:
            looking = self._skip(end)
            if looking or (looking is None and not at_end):
                return looking
        return False

    def _between(self, at_end: bool) -> Verdict | None:
        mark = self.pos
        while self._skip_space(MAX_GAP):
            if self.pos - mark > MAX_GAP:
                return self._rewind(mark, Verdict.DONE)
            self.ended = bool(ended := self._skip_end(at_end))
            if ended:
                return Verdict.DONE
            if ended is None:
                return self._rewind(mark)
            char = self.text[self.pos]
            if char == "]" and self._in_list:
                self._in_list = False
                self.pos += 1
                if not self._ends:
                    return Verdict.DONE
                mark = self.pos
            elif char in ",;" or (char in self.noise and self._ends):
                self.pos += 1
            else:
                return None if self._begin_next() else self._rewind(mark, Verdict.DONE)
        # Without an end marker, white space may belong to the following text.
        return self._rewind(mark, Verdict.DONE if at_end else Verdict.MORE)


@lru_cache(maxsize=64)
def any_of(markers: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern that finds the first of some markers in one pass."""
    return re.compile("|".join(map(re.escape, markers)))

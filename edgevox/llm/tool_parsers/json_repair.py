"""Reads almost-JSON: what small models write for JSON, Python or a mix.

Accepts single quotes, bare words, trailing commas, Python literals, tuples, unescaped quotes inside strings and missing
closing brackets. An unquoted value is returned as `Unquoted`, because only the tool's schema can tell whether `07` is a
number.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Collection
from typing import TypeAlias

JsonValue: TypeAlias = "str | int | float | bool | list[JsonValue] | dict[str, JsonValue] | None"

MAX_DEPTH = 100

LITERALS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_NEXT_KEY = r"""["'][\w$.-]++["'][ \t\r\n]*+:"""
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?" rf"(?=[,\]}})]|[ \t\r\n]++(?:[,\]}})]|\Z|{_NEXT_KEY}))")
_SPACE = re.compile(r"[ \t\r\n]*+")
# What may follow a string: punctuation, the end, the next key where a comma is missing, or another string.
_CLOSES_STRING = re.compile(rf"""[ \t\r\n]*+(?:[,:\])}}=;]|$|{_NEXT_KEY}|(?<=[ \n])["'][^"'\n]*+["'][ \t]*+[,)\]}}])""")
# How far `closes_string` looks ahead.
QUOTE_WINDOW = 80
_MORE_STRING = re.compile(r"[ \t\r\n]*+\w")
# After an inner quote a comma may be part of the text, too.
_NEXT_MEMBER = re.compile(
    r"""[ \t\r\n]*+(?:,[ \t\r\n]*+(?:["'{\[(\])}\d-]|[\w.-]++[ \t]*+[=:])|<)|"""
    rf"[ \t\r\n]*+{_NEXT_KEY}"
)
_CLOSING_RUN = re.compile(r"[ \t\r\n]*+([)\]}][ \t\r\n)\]}]*+)")
# Up to the closing quote, or the end of the text, or a backslash at the end.
STRING_CONTENT = {
    '"': re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL),
    "'": re.compile(r"[^'\\]*+(?:\\.[^'\\]*+)*+", re.DOTALL),
}
_ESCAPE_SEQUENCE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "\\": "\\", '"': '"', "'": "'", "/": "/", "\n": ""}
_SURROGATE = re.compile("[\ud800-\udfff]")
_BARE = re.compile(r"[^,\]\[{}()\n]*+")
_KEY = re.compile(r"""[^\s:=,{}\[\]"'()]++(?:[ \t]++[^\s:=,{}\[\]"'()]++)*+""")
_TYPOGRAPHIC = str.maketrans("\u201c\u201d", '""')
_CLOSERS = {"{": "}", "[": "]", "(": ")"}


def closes_string(text: str, end: int, *, is_doubtful: bool, closers: Collection[str], depth: int) -> bool:
    """Whether a quote before `end` closes its string, by what follows; a word shows that it is part of the text.

    `is_doubtful`: the string has such an inner quote already. `closers` would close the `depth` open
    brackets. Only QUOTE_WINDOW characters are read.
    """
    window = text[end : end + QUOTE_WINDOW]
    if not window.strip():
        return True
    if not is_doubtful:
        return _MORE_STRING.match(window) is None
    if _NEXT_MEMBER.match(window) is not None:
        return True
    run = _CLOSING_RUN.match(window)
    if run is None or run.group(1)[0] not in closers:
        return False
    follows = window[run.end() : run.end() + 1]
    if follows and follows in "\"'":
        return False
    return follows in ("", ",", ";", "<", "`") or len("".join(run.group(1).split())) >= depth


class Unquoted(str):
    """A value written without quotes, or between tags: the schema decides its type."""

    __slots__ = ()


class Unreadable(ValueError):
    """The text cannot be read as a value. The message says where it failed."""


class Truncated(Unreadable):
    """The text ends inside a value."""


def _no_constant(name: str) -> JsonValue:
    raise ValueError(name)


# NaN and Infinity are not JSON; models do write raw newlines in strings.
_DECODER = json.JSONDecoder(strict=False, parse_constant=_no_constant)


def read_at(text: str, pos: int) -> tuple[JsonValue, int] | None:
    """Return the valid JSON value at `pos` and its end, or None."""
    try:
        value, end = _DECODER.raw_decode(text, pos)
    except (ValueError, RecursionError):
        return None
    if text.count("{", pos, end) + text.count("[", pos, end) > MAX_DEPTH:
        return None
    return value, end


def loads(text: str, *, depth: int = 0, barred: tuple[str, ...] = ()) -> JsonValue:
    """Parse `text` as JSON or almost-JSON. Raises Unreadable, and Truncated if a value is cut off.

    A string with unescaped quotes may not contain `barred` text: there it was rather never closed.
    """
    if depth <= MAX_DEPTH:
        try:
            value: JsonValue = _DECODER.decode(text)
        except (ValueError, RecursionError):
            pass
        else:
            return value
    plain = _with_plain_quotes(text)
    return Reader(text, barred=barred).whole() if plain is None else loads(plain, depth=depth, barred=barred)


def _with_plain_quotes(text: str) -> str | None:
    """Return a text whose every quote is written as an entity, a typographic quote or an escape with plain quotes."""
    if '"' not in text:
        if "&quot;" in text:
            return html.unescape(text)
        return text.translate(_TYPOGRAPHIC) if "\u201c" in text and "\u201d" in text else None
    if text.count('"') != text.count('\\"'):
        return None
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return None


def loads_object(text: str, *, depth: int = 0, barred: tuple[str, ...] = ()) -> dict[str, JsonValue]:
    """Parse `text` as an object of arguments. Raises Unreadable."""
    value = loads(text, depth=depth, barred=barred)
    if not isinstance(value, dict):
        raise Unreadable("the arguments are not an object")
    return value


class Reader:
    """A cursor over one text. `raw_quotes` are additional string delimiters without escapes."""

    def __init__(self, text: str, *, raw_quotes: tuple[str, ...] = (), barred: tuple[str, ...] = ()) -> None:
        self.text = text
        self._barred = barred
        self.pos = 0
        self._raw_quotes = raw_quotes
        # What closes the open brackets; a caller that has skipped one adds it.
        self.closers: list[str] = []
        self._never_closed = ""

    def whole(self) -> JsonValue:
        """Return the only value of the text. Stray closing brackets after it are ignored."""
        value = self.value()
        rest = self.text[self.pos :].strip(" \t\r\n}]);,`")
        if rest:
            raise Unreadable(f"unexpected {rest[:20]!r} after the value")
        return value

    def peek(self) -> str:
        """Return the next character that is not white space, or ""."""
        char = self.text[self.pos : self.pos + 1]
        if char and char in " \t\r\n":
            space = _SPACE.match(self.text, self.pos)
            assert space is not None
            self.pos = space.end()
            char = self.text[self.pos : self.pos + 1]
        return char

    def value(self) -> JsonValue:
        """Read one value of any type."""
        char = self.peek()
        if char == "":
            raise Truncated("the text ends where a value is expected")
        if char == "{":
            return self._nested(self._mapping)
        if char in "[(":
            return self._nested(self._sequence)
        text = self._quoted(char)
        return self._bare_value() if text is None else text

    def _quoted(self, char: str) -> str | None:
        """Read the string that begins with `char`, if one does."""
        if char and char in "\"'":
            return self.string()
        for quote in self._raw_quotes:
            if self.text.startswith(quote, self.pos):
                return self._raw_string(quote)
        return None

    def expect_end_of_value(self, closers: str) -> None:
        """Raises Unreadable unless one of `closers` or the end of the text comes next."""
        if (char := self.peek()) and char not in closers:
            raise Unreadable(f"unexpected {self.text[self.pos : self.pos + 20]!r} after a value")

    def string(self) -> str:
        """Read a quoted string. A quote is part of the text unless what follows it could follow a string."""
        text, quote = self.text, self.text[self.pos]
        if text.startswith(quote * 3, self.pos):
            end = text.find(quote * 3, self.pos + 3)
            if end >= 0:
                start, self.pos = self.pos + 3, end + 3
                return _unescape(text[start:end])
        start = pos = self.pos + 1
        step = STRING_CONTENT[quote]
        while True:
            inside = step.match(text, pos)
            assert inside is not None
            end = inside.end()
            if end >= len(text) or text[end] != quote:
                raise Truncated("a string is not closed")
            if _CLOSES_STRING.match(text, end + 1) and (
                pos == start
                or closes_string(text, end + 1, is_doubtful=True, closers=self.closers, depth=len(self.closers))
            ):
                self.pos = end + 1
                if pos > start and any(text.find(mark, start, end) >= 0 for mark in self._barred):
                    raise Unreadable("a string is not closed, or its quotes are not escaped")
                return _unescape(text[start:end])
            for raw_quote in self._raw_quotes:
                if text.startswith(raw_quote, end + 1):
                    # The opening delimiter was missing, and a quote replaced it.
                    self.pos = end + 1 + len(raw_quote)
                    return text[start:end]
            pos = end + 1

    def key(self) -> str:
        """Read a key, quoted or not, up to its colon or equals sign."""
        char = self.peek()
        text = self._quoted(char)
        if text is not None:
            return text
        word = _KEY.match(self.text, self.pos)
        if word is None:
            raise (Unreadable if char else Truncated)(f"expected a key, found {self.text[self.pos : self.pos + 20]!r}")
        self.pos = word.end()
        return word.group()

    def _nested(self, read: Callable[[], JsonValue]) -> JsonValue:
        self.closers.append(_CLOSERS[self.text[self.pos]])
        if len(self.closers) > MAX_DEPTH:
            raise Unreadable(f"nested more than {MAX_DEPTH} deep")
        value = read()
        self.closers.pop()
        return value

    def _mapping(self) -> JsonValue:
        self.pos += 1
        found: dict[str, JsonValue] = {}
        members: list[JsonValue] = []
        while True:
            char = self.peek()
            if char in "}])":
                # The end of the text, or a wrong closing bracket, closes as well.
                self.pos += 1 if char == "}" else 0
                if not members or found:
                    return found
                # Doubled braces, as in templates that were escaped once too often.
                return members[0] if len(members) == 1 and isinstance(members[0], dict) else members
            if char == ",":
                self.pos += 1
                continue
            if char == "{" and not found:
                members.append(self.value())
                continue
            start = self.pos
            key = self.key()
            separator = self.peek()
            if separator and separator in ":=":
                self.pos += 2 if self.text.startswith("=>", self.pos) else 1
                found[key] = self.member()
            elif separator and separator in ",}" and not found:
                self.pos = start
                members.append(self.value())
            elif separator == "":
                raise Truncated(f"the text ends after the key {key!r}")
            else:
                raise Unreadable(f"no colon after the key {key!r}")

    def _sequence(self) -> list[JsonValue]:
        close = _CLOSERS[self.text[self.pos]]
        self.pos += 1
        found: list[JsonValue] = []
        while True:
            char = self.peek()
            if char in "}])":
                self.pos += 1 if char == close else 0
                return found
            if char == ",":
                self.pos += 1
                continue
            found.append(self.member())

    def member(self) -> JsonValue:
        """Read one value inside a list, a mapping or a call."""
        value = self.value()
        if isinstance(value, str) and not isinstance(value, Unquoted):
            # "one" "two": Python joins them.
            joined = value
            while (char := self.peek()) and char in "\"'" and not self._at_key():
                joined += self.string()
            return joined
        return value

    def _at_key(self) -> bool:
        mark = self.pos
        try:
            self.string()
            return self.peek() == ":"
        except Unreadable:
            return False
        finally:
            self.pos = mark

    def _raw_string(self, quote: str) -> str:
        start = self.pos + len(quote)
        end = self.text.find(quote, start)
        if end < 0:
            value = self.text[start:].rstrip(" \t\r\n").removesuffix("}")
            self.pos = start + len(value)
            return value
        self.pos = end + len(quote)
        return self.text[start:end]

    def _bare_value(self) -> JsonValue:
        text, start = self.text, self.pos
        number = _NUMBER.match(text, start)
        if number is not None:
            self.pos = number.end()
            return float(number.group()) if number.group(1) or number.group(2) else _integer(number.group())
        pos = start
        while True:
            # A bare value may contain brackets: f(x), {name}, [1].
            word = _BARE.match(text, pos)
            assert word is not None
            pos = word.end()
            opener = text[pos : pos + 1]
            if opener and opener in "[{(" and pos > start:
                close = -1 if opener in self._never_closed else text.find(_CLOSERS[opener], pos)
                if close < 0:
                    self._never_closed += opener
                elif text.find("\n", pos, close) < 0:
                    pos = close + 1
                    continue
            break
        written = text[start:pos].strip()
        for quote in self._raw_quotes:
            if written.endswith(quote):
                self.pos = pos
                text = written.removesuffix(quote)
                # The opening delimiter was missing, and a quote replaced it.
                is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
                return text[1:-1] if is_quoted else text
        if not written:
            raise Unreadable(f"expected a value, found {text[start : start + 20]!r}")
        self.pos = pos
        if written in LITERALS:
            return LITERALS[written]
        if pos >= len(text):
            raise Truncated(f"the text ends inside {written[:20]!r}")
        return Unquoted(written)


def _integer(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        # Python refuses to convert thousands of digits.
        return float(text)


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    # With escaped backslashes removed, each remaining backslash begins an escape.
    parts = text.split("\\\\")
    return join_surrogates("\\".join(_ESCAPE_SEQUENCE.sub(_escaped, part) if "\\" in part else part for part in parts))


def join_surrogates(text: str) -> str:
    """Join surrogate pairs written as two escapes; replace a lone half by U+FFFD."""
    if _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _escaped(match: re.Match[str]) -> str:
    digits = match.group(1) or match.group(2)
    if digits:
        return chr(int(digits, 16))
    char = match.group(3)
    # An unknown escape (\d) keeps its backslash, as in Python.
    return _ESCAPES.get(char, match.group())

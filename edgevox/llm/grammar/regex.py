"""Parses a regular expression of a JSON Schema into a language of plain characters.

Supports what ECMA-262 and Python agree on; look-around, back references and word boundaries are not regular or not
local, and raise UnsupportedSchema. A pattern without anchors may match anywhere in the text.
"""

from __future__ import annotations

import math
from functools import lru_cache

from edgevox.llm.grammar.characters import EVERY
from edgevox.llm.grammar.language import (
    EMPTY,
    Alt,
    Chars,
    Node,
    Ranges,
    Ref,
    Repeat,
    Seq,
    Text,
    UnsupportedSchema,
    alt,
    common,
    joined,
    of_ranges,
    repeat,
    seq,
    without,
)

# llama.cpp expands repetitions: thousands of them take too long.
_MOST_REPEATS = 1000

_DIGITS: Ranges = ((0x30, 0x39),)
_WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_SPACE: Ranges = ((0x09, 0x0D), (0x20, 0x20))
# Engines differ about white space beyond ASCII, and about word characters of other scripts. Only what they agree on is
# supported.
_PERHAPS_SPACE: Ranges = (
    (0x1C, 0x1F),
    (0x85, 0x85),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
)
_ASCII: Ranges = ((0x01, 0x7F),)
_NOT_NEWLINE = without(EVERY, ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)))
_CLASSES = {
    "d": _DIGITS,
    "D": without(EVERY, _DIGITS),
    "w": _WORD,
    "W": without(_ASCII, _WORD),
    "s": _SPACE,
    "S": without(EVERY, joined((*_SPACE, *_PERHAPS_SPACE))),
}
_CONTROLS = {"n": 0x0A, "r": 0x0D, "t": 0x09, "f": 0x0C, "v": 0x0B, "0": 0x00}
_START, _END = Ref("^"), Ref("$")
_AROUND = Repeat(Chars(EVERY), 0, None)


@lru_cache(maxsize=256)
def pattern_language(pattern: str) -> Node:
    """Return the texts in which `pattern` is found. Raises UnsupportedSchema."""
    node = _Parser(pattern).whole()
    return alt(*(_without_anchors(choice) for choice in _branches(node)))


def _branches(node: Node) -> list[Node]:
    """Return the alternatives of a pattern; anchors inside a group that spans it count as well."""
    if isinstance(node, Alt):
        return [branch for choice in node.choices for branch in _branches(choice)]
    if isinstance(node, Seq):
        for at in (0, len(node.parts) - 1):
            part = node.parts[at]
            if isinstance(part, Alt) and _has_anchor(part):
                rest_before, rest_after = node.parts[:at], node.parts[at + 1 :]
                return [
                    branch for choice in part.choices for branch in _branches(seq(*rest_before, choice, *rest_after))
                ]
    return [node]


def _without_anchors(node: Node) -> Node:
    parts = list(node.parts) if isinstance(node, Seq) else [node]
    starts = ends = False
    while parts and parts[0] == _START:
        parts.pop(0)
        starts = True
    while parts and parts[-1] == _END:
        parts.pop()
        ends = True
    if any(map(_has_anchor, parts)):
        raise UnsupportedSchema("an anchor inside a pattern")
    if not starts and parts and _is_anything(parts[0]):
        starts = True
    if not ends and parts and _is_anything(parts[-1]):
        ends = True
    return seq(EMPTY if starts else _AROUND, *parts, EMPTY if ends else _AROUND)


def _is_anything(node: Node) -> bool:
    return isinstance(node, Repeat) and node.part == Chars(_NOT_NEWLINE) and node.least == 0


def _has_anchor(node: Node) -> bool:
    match node:
        case Ref():
            return True
        case Seq(parts) | Alt(parts):
            return any(map(_has_anchor, parts))
        case Repeat(part):
            return _has_anchor(part)
        case _:
            return False


class _Parser:
    """A recursive descent parser of patterns."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0
        self._ignores_case = False

    def whole(self) -> Node:
        if self._text.startswith("(?i)"):
            self._at, self._ignores_case = 4, True
        node = self._choices()
        if self._at < len(self._text):
            raise UnsupportedSchema(f"pattern {self._text!r}: a bracket too many")
        return node

    def _choices(self) -> Node:
        choices = [self._sequence()]
        while self._take("|"):
            choices.append(self._sequence())
        return alt(*choices)

    def _sequence(self) -> Node:
        parts = []
        while self._at < len(self._text) and self._text[self._at] not in "|)":
            parts.append(self._quantified())
        return seq(*parts)

    def _quantified(self) -> Node:
        node = self._atom()
        while True:
            bounds = self._quantifier()
            if bounds is None:
                return node
            if isinstance(node, Ref):
                raise UnsupportedSchema(f"pattern {self._text!r}: an anchor repeated")
            if not self._take("?"):
                self._take("+")
            least, most = bounds
            if least > _MOST_REPEATS:
                raise UnsupportedSchema(f"pattern {self._text!r}: {least} repetitions")
            node = repeat(node, least, None if most is None else min(most, max(least, _MOST_REPEATS)))

    def _quantifier(self) -> tuple[int, int | None] | None:
        bounds: tuple[int, int | None]
        match self._text[self._at : self._at + 1]:
            case "*":
                bounds = 0, None
            case "+":
                bounds = 1, None
            case "?":
                bounds = 0, 1
            case "{":
                return self._counted()
            case _:
                return None
        self._at += 1
        return bounds

    def _counted(self) -> tuple[int, int | None] | None:
        end = self._text.find("}", self._at)
        low, comma, high = self._text[self._at + 1 : max(end, 0)].partition(",")
        if end < 0 or not low.isdecimal() or not (high.isdecimal() or not high):
            return None
        self._at = end + 1
        least = int(low)
        if not comma:
            return least, least
        return least, int(high) if high else None

    def _atom(self) -> Node:
        char = self._text[self._at]
        self._at += 1
        match char:
            case "^":
                return _START
            case "$":
                return _END
            case ".":
                return Chars(_NOT_NEWLINE)
            case "(":
                return self._group()
            case "[":
                return of_ranges(self._class())
            case "\\":
                return self._escape()
            case "*" | "+" | "?":
                raise UnsupportedSchema(f"pattern {self._text!r}: nothing to repeat")
            case _:
                return self._literal(ord(char))

    def _literal(self, code: int) -> Node:
        return of_ranges(self._cased(((code, code),)))

    def _cased(self, ranges: Ranges) -> Ranges:
        if not self._ignores_case:
            return ranges
        lower = common(ranges, ((0x61, 0x7A),))
        upper = common(ranges, ((0x41, 0x5A),))
        return joined((*ranges, *((a - 32, b - 32) for a, b in lower), *((a + 32, b + 32) for a, b in upper)))

    def _group(self) -> Node:
        if self._take("?"):
            named = self._text.startswith(("<", "P<"), self._at)
            if named and not self._text.startswith(("<=", "<!"), self._at):
                end = self._text.find(">", self._at)
                if end < 0:
                    raise UnsupportedSchema(f"pattern {self._text!r}: a group's name has no end")
                self._at = end + 1
            elif not self._take(":"):
                raise UnsupportedSchema(f"pattern {self._text!r}: look-around or flags")
        node = self._choices()
        if not self._take(")"):
            raise UnsupportedSchema(f"pattern {self._text!r}: a bracket is missing")
        return node

    def _escape(self) -> Node:
        if self._at >= len(self._text):
            raise UnsupportedSchema(f"pattern {self._text!r}: ends in a backslash")
        char = self._text[self._at]
        if char in "bBpPkGX" or char in "123456789":
            raise UnsupportedSchema(f"pattern {self._text!r}: \\{char}")
        if char == "A":
            self._at += 1
            return _START
        if char in "zZ":
            self._at += 1
            return _END
        return of_ranges(self._cased(self._escaped()))

    def _escaped(self) -> Ranges:
        """Return the code points of the escape after a backslash."""
        char = self._text[self._at]
        self._at += 1
        if char in _CLASSES:
            return _CLASSES[char]
        if char in _CONTROLS:
            return ((_CONTROLS[char], _CONTROLS[char]),)
        if char in "xu":
            return ((code := self._code(2 if char == "x" else 4), code),)
        if char == "c":
            letter = self._text[self._at : self._at + 1]
            self._at += 1
            if not (letter.isascii() and letter.isalpha()):
                raise UnsupportedSchema(f"pattern {self._text!r}: \\c")
            return ((ord(letter) % 32, ord(letter) % 32),)
        return ((ord(char), ord(char)),)

    def _code(self, digits: int) -> int:
        if self._take("{"):
            end = self._text.find("}", self._at)
            written, self._at = self._text[self._at : end], end + 1
        else:
            written = self._text[self._at : self._at + digits]
            self._at += digits
        try:
            code = int(written, 16)
        except ValueError:
            raise UnsupportedSchema(f"pattern {self._text!r}: a code point") from None
        if code > 0x10FFFF or 0xD800 <= code <= 0xDFFF:
            raise UnsupportedSchema(f"pattern {self._text!r}: half a character")
        return code

    def _class(self) -> Ranges:
        inverted = self._take("^")
        found: list[tuple[int, int]] = []
        while True:
            if self._at >= len(self._text):
                raise UnsupportedSchema(f"pattern {self._text!r}: a class is not closed")
            if self._take("]"):
                break
            low = self._member()
            if self._text.startswith("-", self._at) and not self._text.startswith("-]", self._at):
                self._at += 1
                high = self._member()
                if len(low) == len(high) == 1 and low[0][0] == low[0][1] and high[0][0] == high[0][1]:
                    if low[0][0] > high[0][0]:
                        raise UnsupportedSchema(f"pattern {self._text!r}: a range that is turned round")
                    found.append((low[0][0], high[0][0]))
                else:
                    found += (*low, (0x2D, 0x2D), *high)
            else:
                found += low
        ranges = self._cased(joined(found))
        return without(EVERY, ranges) if inverted else ranges

    def _member(self) -> Ranges:
        if self._at >= len(self._text):
            raise UnsupportedSchema(f"pattern {self._text!r}: a class is not closed")
        char = self._text[self._at]
        self._at += 1
        if char != "\\":
            return ((ord(char), ord(char)),)
        if self._at >= len(self._text):
            raise UnsupportedSchema(f"pattern {self._text!r}: ends in a backslash")
        if self._text[self._at] == "b":
            self._at += 1
            return ((0x08, 0x08),)
        if self._text[self._at] in "pPBk123456789":
            raise UnsupportedSchema(f"pattern {self._text!r}: \\{self._text[self._at]}")
        return self._escaped()

    def _take(self, token: str) -> bool:
        if self._text.startswith(token, self._at):
            self._at += len(token)
            return True
        return False


def shortest(node: Node) -> int:
    """Return the length of the shortest text."""
    match node:
        case Text(value):
            return len(value)
        case Seq(parts):
            return sum(map(shortest, parts))
        case Alt(choices):
            return min(map(shortest, choices), default=0)
        case Repeat(part, least, _):
            return least * shortest(part)
        case _:
            return 1


def longest(node: Node) -> float:
    """Return the length of the longest text, or infinity."""
    match node:
        case Text(value):
            return len(value)
        case Seq(parts):
            return sum(map(longest, parts))
        case Alt(choices):
            return max(map(longest, choices), default=0)
        case Repeat(part, _, most):
            return math.inf if most is None else most * longest(part)
        case _:
            return 1

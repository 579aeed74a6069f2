"""Turns a regular expression of a JSON Schema into a language of plain characters.

Python's own parser reads it: supported is what ECMA-262 and Python agree on. Look-around, back references and word
boundaries are not regular or not local, and raise UnsupportedSchema.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from functools import lru_cache
from importlib import import_module
from typing import Any

from edgevox.llm.grammar.language import (
    EMPTY,
    Node,
    Ranges,
    UnsupportedSchema,
    alt,
    joined,
    of_ranges,
    points,
    repeat,
    seq,
    without,
)

# The parser of Python's `re`. Hypothesis builds on it too; it has no type stubs.
sre_parser, sre = import_module("re._parser"), import_module("re._constants")

# All characters of a text. NUL is excluded: llama.cpp takes it for the end of a token.
EVERY: Ranges = ((0x01, 0xD7FF), (0xE000, 0x10FFFF))
# llama.cpp expands repetitions: thousands of them take too long.
_MOST_REPEATS = 1000

_DIGITS: Ranges = ((0x30, 0x39),)
_WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
_SPACE: Ranges = ((0x09, 0x0D), (0x20, 0x20))
# Engines differ about white space beyond ASCII, and about word characters of other scripts. Only what they agree on is
# supported.
_OTHER_SPACE = points("\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff")
_CATEGORIES = {
    sre.CATEGORY_DIGIT: _DIGITS,
    sre.CATEGORY_NOT_DIGIT: without(EVERY, _DIGITS),
    sre.CATEGORY_WORD: _WORD,
    sre.CATEGORY_NOT_WORD: without(((0x01, 0x7F),), _WORD),
    sre.CATEGORY_SPACE: _SPACE,
    sre.CATEGORY_NOT_SPACE: without(EVERY, joined((*_SPACE, (0x1C, 0x1F), (0x2000, 0x200A), *_OTHER_SPACE))),
}
_NOT_NEWLINE = without(EVERY, points("\n\r\u2028\u2029"))
_STARTS = (sre.AT_BEGINNING, sre.AT_BEGINNING_STRING)
_ENDS = (sre.AT_END, sre.AT_END_STRING)
_GROUP_NAME = re.compile(r"\(\?<(?![=!])")


@lru_cache(maxsize=256)
def pattern_language(pattern: str) -> Node:
    """Return the texts in which `pattern` is found; without anchors, anywhere. Raises UnsupportedSchema."""
    return read_pattern(pattern, of_ranges, None)


def read_pattern(pattern: str, character: Callable[[Ranges], Node], most_repeats: int | None) -> Node:
    """Return the same with each character as `character` writes it; repetitions without a bound have this one."""
    reader = _Reader(character, most_repeats)
    around = reader.unbounded(character(EVERY), 0)
    return reader.read(pattern, around)


@lru_cache(maxsize=256)
def whole_language(pattern: str) -> Node:
    """Return the texts that `pattern` matches from start to end. Raises UnsupportedSchema."""
    return _Reader(of_ranges, None).read(pattern, EMPTY)


class _Reader:
    """Reads the tree of Python's parser, which has no types.

    `before` and `after` are what may surround the pattern where it has no anchor; None is the inside of a pattern,
    where an anchor cannot stand.
    """

    def __init__(self, character: Callable[[Ranges], Node], most_repeats: int | None) -> None:
        self._character = character
        self._most_repeats = most_repeats
        self._dot = character(_NOT_NEWLINE)
        self._ignores_case = False

    def read(self, pattern: str, around: Node) -> Node:
        """Return the language of a pattern that `around` may surround. Raises UnsupportedSchema."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about sets in sets, which Python may support some day
                tree = sre_parser.parse(_GROUP_NAME.sub("(?P<", pattern))
            self._ignores_case = bool(tree.state.flags & re.IGNORECASE)
            return self._sequence(tree, around, around)
        except (re.error, OverflowError, UnsupportedSchema) as error:
            raise UnsupportedSchema(f"pattern {pattern!r:.60}: {error}") from None

    def unbounded(self, part: Node, least: int) -> Node:
        return repeat(part, least, None if self._most_repeats is None else least + self._most_repeats)

    def _sequence(self, tree: Any, before: Node | None, after: Node | None) -> Node:  # noqa: ANN401  (see the class)
        items = list(tree)
        while before is not None and items and items[0][0] is sre.AT and items[0][1] in _STARTS:
            before = EMPTY
            del items[0]
        while after is not None and items and items[-1][0] is sre.AT and items[-1][1] in _ENDS:
            after = EMPTY
            del items[-1]
        if not items:
            return seq(before or EMPTY, after or EMPTY)
        last = len(items) - 1
        return seq(
            *(
                self._item(kind, value, before if at == 0 else None, after if at == last else None)
                for at, (kind, value) in enumerate(items)
            )
        )

    def _item(self, kind: Any, value: Any, before: Node | None, after: Node | None) -> Node:  # noqa: ANN401
        match kind:
            case sre.BRANCH:
                return alt(*(self._sequence(branch, before, after) for branch in value[1]))
            case sre.SUBPATTERN if not value[1] and not value[2]:
                return self._sequence(value[3], before, after)
            case sre.MAX_REPEAT | sre.MIN_REPEAT | sre.POSSESSIVE_REPEAT:
                node = self._repeated(*value)
                if node == self.unbounded(self._dot, 0):
                    return node  # it surrounds the rest by itself
            case sre.LITERAL:
                node = self._character(self._cased(((value, value),)))
            case sre.NOT_LITERAL:
                node = self._character(without(EVERY, self._cased(((value, value),))))
            case sre.ANY:
                node = self._dot
            case sre.IN:
                node = self._character(self._class(value))
            case sre.AT if value in _STARTS or value in _ENDS:
                raise UnsupportedSchema("an anchor inside a pattern")
            case _:
                raise UnsupportedSchema("look-around, a back reference, a word boundary or flags")
        return seq(before or EMPTY, node, after or EMPTY)

    def _repeated(self, least: int, most: int, part: Any) -> Node:  # noqa: ANN401
        if least > _MOST_REPEATS:
            raise UnsupportedSchema(f"{least} repetitions")
        node = self._sequence(part, None, None)
        if most is sre.MAXREPEAT:
            return self.unbounded(node, least)
        return repeat(node, least, min(most, max(least, _MOST_REPEATS)))

    def _class(self, items: Any) -> Ranges:  # noqa: ANN401
        found: list[tuple[int, int]] = []
        for kind, value in items:
            match kind:
                case sre.LITERAL:
                    found.append((value, value))
                case sre.RANGE:
                    found.append(value)
                case sre.CATEGORY:
                    found += _CATEGORIES[value]
        ranges = self._cased(joined(found))
        return without(EVERY, ranges) if items[0][0] is sre.NEGATE else ranges

    def _cased(self, ranges: Ranges) -> Ranges:
        """Add the other case of ASCII letters, if the pattern ignores it. Halves of characters are left out."""
        ranges = without(ranges, ((0xD800, 0xDFFF),))
        if not self._ignores_case:
            return ranges
        letters = [chr(code) for code in (*range(0x41, 0x5B), *range(0x61, 0x7B)) if contains(ranges, code)]
        return joined((*ranges, *points("".join(letters).swapcase())))


def contains(ranges: Ranges, code: int) -> bool:
    return any(low <= code <= high for low, high in ranges)

"""The grammar's intermediate representation: a few node types, and rules that they refer to.

Both backends' grammars are generated from the same nodes, so they accept the same texts. The constructors simplify:
what can never be completed is `NEVER`, and what is always empty is `EMPTY`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias


class UnsupportedSchema(Exception):
    """A part of a schema that no grammar can express, and its name. Never leaves this package."""


Ranges: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Text:
    """Exactly this text."""

    value: str


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of these ranges of code points, which are sorted and do not touch."""

    ranges: Ranges


@dataclass(frozen=True, slots=True)
class Seq:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alt:
    choices: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """`part`, at least `least` times; `most` is None if unbounded."""

    part: Node
    least: int
    most: int | None


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference to the rule of that name."""

    name: str


Node: TypeAlias = Text | Chars | Seq | Alt | Repeat | Ref

EMPTY = Text("")
NEVER = Alt(())


@dataclass(slots=True)
class Rule:
    """A named part. A `token` is one lexeme without recursion: a string, a number."""

    node: Node
    token: bool


@dataclass(slots=True)
class Rules:
    """The rules of one grammar, by name. Equal nodes share a rule."""

    by_name: dict[str, Rule] = field(default_factory=dict)
    _names: dict[tuple[Node, bool], str] = field(default_factory=dict)
    _built: dict[Hashable, Node] = field(default_factory=dict)

    def add(self, wanted: str, node: Node, *, token: bool = False) -> Node:
        """Return a reference to `node` under the wanted name, or a similar one."""
        if node is NEVER or (isinstance(node, Text) and not token):
            return node
        if isinstance(node, Ref):
            return node
        known = self._names.get((node, token))
        if known is not None:
            return Ref(known)
        name = self.reserve(wanted)
        self.define(name, node, token=token)
        self._names[node, token] = name
        return Ref(name)

    def once(self, key: Hashable, build: Callable[[], Node]) -> Node:
        """Return the cached result of `build` for this key."""
        if key not in self._built:
            self._built[key] = build()
        return self._built[key]

    def reserve(self, wanted: str) -> str:
        """Return an unused name for a rule that is defined later."""
        name, number = wanted, 2
        while name in self.by_name:
            name, number = f"{wanted}-{number}", number + 1
        self.by_name[name] = Rule(NEVER, token=False)
        return name

    def define(self, name: str, node: Node, *, token: bool = False) -> None:
        self.by_name[name] = Rule(node, token)


def seq(*parts: Node) -> Node:
    """Concatenate; adjacent texts are joined."""
    flat: list[Node] = []
    pending = ""
    for part in parts:
        for piece in part.parts if isinstance(part, Seq) else (part,):
            if isinstance(piece, Text):
                pending += piece.value
                continue
            if piece is NEVER:
                return NEVER
            if pending:
                flat.append(Text(pending))
                pending = ""
            flat.append(piece)
    if pending or not flat:
        flat.append(Text(pending))
    return flat[0] if len(flat) == 1 else Seq(tuple(flat))


def alt(*choices: Node) -> Node:
    """Return an alternative; duplicates are removed, and adjacent characters become one class."""
    flat: dict[Node, None] = {}
    for choice in choices:
        for piece in choice.choices if isinstance(choice, Alt) else (choice,):
            flat[piece] = None
    if len(flat) == 1:
        return next(iter(flat))
    return Alt(tuple(flat)) if flat else NEVER


def choices_of(node: Node) -> tuple[Node, ...]:
    return node.choices if isinstance(node, Alt) else (node,)


def optional(part: Node) -> Node:
    return repeat(part, 0, 1)


def repeat(part: Node, least: int, most: int | None) -> Node:
    """Repeat `part` from `least` to `most` times."""
    if most is not None and most < least:
        return NEVER
    if part is NEVER or most == 0:
        return EMPTY if least == 0 else NEVER
    if part == EMPTY or (least == 1 and most == 1):
        return part
    if least == most and isinstance(part, Text) and least * len(part.value) <= 64:
        return Text(part.value * least)
    return Repeat(part, least, most)


def chars(*pairs: tuple[int, int] | str) -> Node:
    """Return a character class from pairs of code points, or from the characters of texts."""
    found: list[tuple[int, int]] = []
    for pair in pairs:
        found += [(ord(char), ord(char)) for char in pair] if isinstance(pair, str) else [pair]
    return of_ranges(joined(found))


def of_ranges(ranges: Ranges) -> Node:
    """Return one character of `ranges`."""
    if not ranges:
        return NEVER
    first, last = ranges[0]
    if len(ranges) == 1 and first == last and not 0xD800 <= first <= 0xDFFF:
        return Text(chr(first))
    return Chars(ranges)


def joined(pairs: Iterable[tuple[int, int]]) -> Ranges:
    """Sort and join ranges of code points."""
    found: list[tuple[int, int]] = []
    for first, last in sorted(pairs):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return tuple(found)


def without(ranges: Ranges, taken: Ranges) -> Ranges:
    """Return the code points of `ranges` that are not in `taken`."""
    found: list[tuple[int, int]] = []
    for first, last in ranges:
        at = first
        for low, high in taken:
            if high < at or low > last:
                continue
            if low > at:
                found.append((at, low - 1))
            at = high + 1
        if at <= last:
            found.append((at, last))
    return tuple(found)


def common(one: Ranges, other: Ranges) -> Ranges:
    """Return the code points in both."""
    return joined((max(a, c), min(b, d)) for a, b in one for c, d in other if max(a, c) <= min(b, d))


def one_of_texts(texts: Sequence[str]) -> Node:
    """Return one of many texts. Common prefixes are factored out, or every choice would be tried."""
    if len(texts) <= 8:
        return alt(*map(Text, texts))
    return _branches(sorted(set(texts)), 0, len(set(texts)), 0)


def _branches(texts: list[str], first: int, last: int, at: int) -> Node:
    """Return the texts of a sorted slice, from character `at` on."""
    if last - first == 1:
        return Text(texts[first][at:])
    shared = at
    low, high = texts[first], texts[last - 1]
    while shared < len(low) and low[shared] == high[shared]:
        shared += 1
    choices: list[Node] = []
    position = first
    if len(low) == shared:
        choices.append(EMPTY)
        position += 1
    while position < last:
        head, end = texts[position][shared], position
        while end < last and texts[end][shared] == head:
            end += 1
        choices.append(_branches(texts, position, end, shared))
        position = end
    return seq(Text(low[at:shared]), Alt(tuple(choices)))

"""The grammar's intermediate representation: a few node types, and rules that they refer to.

Both backends' grammars are generated from the same nodes, so they accept the same texts (see `Both` for the exception).
The constructors simplify: what can never be completed is `NEVER`, and what is always empty is `EMPTY`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import TypeAlias


class UnsupportedSchema(Exception):
    """A part of a schema that no grammar can express, and its name. Never leaves this package."""


class SchemaTooLarge(UnsupportedSchema):
    """A schema whose grammar would take too long to build, or is too large for the backends."""


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
class Both:
    """What matches all `parts`, inside a token. GBNF cannot express it, and has the first part only."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference to the rule of that name."""

    name: str


Node: TypeAlias = Text | Chars | Seq | Alt | Repeat | Both | Ref

EMPTY = Text("")
NEVER = Alt(())


@dataclass(slots=True)
class Rule:
    """A named part. A `token` is one lexeme without recursion: a string, a number."""

    node: Node
    token: bool


_MOST_NAME_CHARS = 80
# Measured with hostile schemas: a backend compiles this much in about a second. llguidance follows
# references by recursion, and overflows the stack of the process between 2,000 and 3,000 of them.
_MOST_RULES = 4_000
_MOST_RULE_CHAIN = 1_000
MOST_BUILD_S = 2.0


@dataclass(slots=True)
class Rules:
    """The rules of one grammar, by name; it starts at `root`. Equal nodes share a rule.

    Building them may take `most_s` of the thread's own time: other programs' work does not cost a tool its schema.
    """

    by_name: dict[str, Rule] = field(default_factory=lambda: {"root": Rule(NEVER, token=False)})
    _names: dict[tuple[Node, bool], str] = field(default_factory=dict)
    _built: dict[Hashable, Node] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)
    most_s: float = MOST_BUILD_S
    _begun_s: float = field(default_factory=time.thread_time)

    def add(self, wanted: str, node: Node, *, token: bool = False) -> Node:
        """Return a reference to `node` under the wanted name, or a similar one."""
        if node is NEVER or isinstance(node, Ref) or (isinstance(node, Text) and not token):
            return node
        name = self._names.get((node, token))
        if name is None:
            name = self._names[node, token] = self.reserve(wanted)
            self.by_name[name] = Rule(node, token)
        return Ref(name)

    def once(self, key: Hashable, build: Callable[[], Node]) -> Node:
        """Return the cached result of `build` for this key."""
        if key not in self._built:
            self._built[key] = build()
        return self._built[key]

    def reserve(self, wanted: str) -> str:
        """Return an unused name for a rule that is defined later."""
        # The names of nested members contain those of all members around them.
        name = wanted = wanted[:_MOST_NAME_CHARS].rstrip("-")
        while name in self.by_name:
            self._numbers[wanted] = self._numbers.get(wanted, 1) + 1
            name = f"{wanted}-{self._numbers[wanted]}"
        self.by_name[name] = Rule(NEVER, token=False)
        return name

    def define(self, name: str, node: Node) -> None:
        self.by_name[name] = Rule(node, token=False)

    def check_cost(self) -> None:
        """Raises SchemaTooLarge if there are too many rules, or building them takes too long."""
        if len(self.by_name) > _MOST_RULES:
            raise SchemaTooLarge(f"its grammar has more than {_MOST_RULES:,} rules")
        if time.thread_time() - self._begun_s > self.most_s:
            raise SchemaTooLarge(f"its grammar takes more than {MOST_BUILD_S:g} s to build")

    def reachable(self) -> dict[str, Rule]:
        """Return the rules that `root` leads to, which comes first. Raises SchemaTooLarge for too long a chain."""
        found: dict[str, Rule] = {}
        refs: dict[str, list[str]] = {}
        waiting = ["root"]
        while waiting:
            name = waiting.pop()
            if name not in found:
                found[name] = self.by_name[name]
                refs[name] = list(_references(found[name].node))
                waiting += reversed(refs[name])
        if _longest_chain(refs) > _MOST_RULE_CHAIN:
            raise SchemaTooLarge(f"its grammar has a chain of more than {_MOST_RULE_CHAIN:,} rules")
        return found


def _references(node: Node) -> Iterator[str]:
    waiting = [node]
    while waiting:
        match waiting.pop():
            case Ref(name):
                yield name
            case Seq(parts) | Alt(parts) | Both(parts):
                waiting += reversed(parts)
            case Repeat(part):
                waiting.append(part)
            case _:
                pass


def _longest_chain(refs: Mapping[str, Sequence[str]]) -> int:
    """Return the most rules that refer to each other in a row; a reference back to a rule of the row ends it."""
    lengths: dict[str, int] = {}
    opened: set[str] = set()
    waiting = ["root"]
    while waiting:
        name = waiting[-1]
        if name not in opened:
            opened.add(name)
            waiting += [other for other in refs[name] if other not in opened]
            continue
        waiting.pop()
        lengths.setdefault(name, 1 + max((lengths.get(other, 0) for other in refs[name]), default=0))
    return lengths["root"]


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
    """Return an alternative without duplicates."""
    flat = tuple(dict.fromkeys(piece for choice in choices for piece in choices_of(choice)))
    if len(flat) == 1:
        return flat[0]
    return Alt(flat) if flat else NEVER


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


def of_ranges(ranges: Ranges) -> Node:
    """Return one character of `ranges`."""
    if not ranges:
        return NEVER
    first, last = ranges[0]
    return Text(chr(first)) if len(ranges) == 1 and first == last else Chars(ranges)


def points(text: str) -> Ranges:
    """Return the code points of a text's characters."""
    return joined((ord(char), ord(char)) for char in text)


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
    """Return the code points of `ranges` that are not in `taken`, whose ranges are sorted."""
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


def one_of_texts(texts: Sequence[str]) -> Node:
    """Return one of many texts. Common prefixes are factored out, or every choice would be tried."""
    if len(texts) <= 8:
        return alt(*map(Text, texts))
    return _trie(sorted(set(texts)))


def _trie(texts: list[str]) -> Node:
    """Return one of sorted texts."""
    if len(texts) == 1:
        return Text(texts[0])
    size = shared_size(texts[0], texts[-1])
    rests = groupby((text[size:] for text in texts), lambda rest: rest[:1])
    return seq(Text(texts[0][:size]), Alt(tuple(_trie(list(rest)) if head else EMPTY for head, rest in rests)))


def shared_size(one: str, other: str) -> int:
    """Return the length of the common prefix."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (mine, theirs) in pairs if mine != theirs), min(len(one), len(other)))

"""The texts that several languages have in common: what no grammar says, but automata side by side do."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

from edgevox.llm.gbnf.language import (
    Alt,
    Chars,
    Node,
    Ranges,
    Ref,
    Repeat,
    Seq,
    Text,
)
from edgevox.llm.gbnf.schema_error import Inexpressible

_MOST_STATES = 400
_MOST_STEPS = 3000
# Beyond this length, a text without a bound of its own is not needed.
_DEFAULT_MAX_CHARS = 128


@dataclass(slots=True)
class _Nfa:
    """Edges by state: a range of code points, or None for a step that reads nothing."""

    edges: list[list[tuple[Ranges | None, int]]] = field(default_factory=list)

    def state(self) -> int:
        self.edges.append([])
        if len(self.edges) > 20 * _MOST_STATES:
            raise Inexpressible("conditions on one text that are too large together")
        return len(self.edges) - 1

    def add(self, node: Node, start: int) -> int:
        """Read `node` from `start` on; the state behind it."""
        match node:
            case Text(value):
                for char in value:
                    start = self._step(start, ((ord(char), ord(char)),))
                return start
            case Chars(ranges):
                return self._step(start, ranges)
            case Seq(parts):
                for part in parts:
                    start = self.add(part, start)
                return start
            case Alt(choices):
                end = self.state()
                for choice in choices:
                    self.edges[self.add(choice, start)].append((None, end))
                return end
            case Repeat(part, least, most):
                return self._repeat(part, least, most, start)
            case Ref():
                raise Inexpressible("an anchor inside a pattern")

    def _step(self, start: int, ranges: Ranges) -> int:
        end = self.state()
        self.edges[start].append((ranges, end))
        return end

    def _repeat(self, part: Node, least: int, most: int | None, start: int) -> int:
        for _ in range(least):
            start = self.add(part, start)
        if most is None:
            loop = self.state()
            self.edges[start].append((None, loop))
            self.edges[self.add(part, loop)].append((None, loop))
            return loop
        end = self.state()
        self.edges[start].append((None, end))
        for _ in range(most - least):
            start = self.add(part, start)
            self.edges[start].append((None, end))
        return end

    def closure(self, states: frozenset[int]) -> frozenset[int]:
        found, waiting = set(states), list(states)
        while waiting:
            for ranges, target in self.edges[waiting.pop()]:
                if ranges is None and target not in found:
                    found.add(target)
                    waiting.append(target)
        return frozenset(found)


@dataclass(frozen=True, slots=True)
class Automaton:
    """What may follow each state, the first being 0, and in which a text may end."""

    steps: tuple[tuple[tuple[Ranges, int], ...], ...]
    ends: frozenset[int]


def common_automaton(languages: list[Node]) -> Automaton:
    """Reads the texts that are in all of `languages`. Raises Inexpressible when that takes too much."""
    nfas = [_Nfa() for _ in languages]
    finals = []
    for nfa, language in zip(nfas, languages, strict=True):
        finals.append(nfa.add(language, nfa.state()))
    first = tuple(nfa.closure(frozenset((0,))) for nfa in nfas)
    numbers = {first: 0}
    steps: list[tuple[tuple[Ranges, int], ...]] = []
    waiting = [first]
    while waiting:
        here = waiting.pop(0)
        targets: dict[int, list[tuple[int, int]]] = {}
        for low, high in _pieces(nfas, here):
            there = tuple(_moved(nfa, states, low) for nfa, states in zip(nfas, here, strict=True))
            if not all(there):
                continue
            if there not in numbers:
                numbers[there] = len(numbers)
                waiting.append(there)
                if len(numbers) > _MOST_STATES:
                    raise Inexpressible("conditions on one text that are too large together")
            targets.setdefault(numbers[there], []).append((low, high))
        steps.append(tuple((_touching(pairs), target) for target, pairs in targets.items()))
    ends = {
        number
        for states, number in numbers.items()
        if all(final in one for final, one in zip(finals, states, strict=True))
    }
    return Automaton(tuple(steps), frozenset(ends))


def _pieces(nfas: list[_Nfa], here: tuple[frozenset[int], ...]) -> list[tuple[int, int]]:
    """The ranges within which all characters lead to the same place."""
    cuts: set[int] = set()
    for nfa, states in zip(nfas, here, strict=True):
        for state in states:
            for ranges, _ in nfa.edges[state]:
                for low, high in ranges or ():
                    cuts.update((low, high + 1))
    ordered = sorted(cuts)
    return [(low, after - 1) for low, after in pairwise(ordered)]


def _moved(nfa: _Nfa, states: frozenset[int], code: int) -> frozenset[int]:
    reached = {
        target
        for state in states
        for ranges, target in nfa.edges[state]
        if ranges is not None and any(low <= code <= high for low, high in ranges)
    }
    return nfa.closure(frozenset(reached))


def _touching(pairs: list[tuple[int, int]]) -> Ranges:
    found: list[tuple[int, int]] = []
    for low, high in pairs:
        if found and found[-1][1] + 1 == low:
            found[-1] = found[-1][0], high
        else:
            found.append((low, high))
    return tuple(found)


def texts_of_length(
    automaton: Automaton, least: int, most: int | None
) -> list[list[tuple[Ranges | None, int]]]:
    """The automaton once more for every length, as a list of states without loops, the first being 0.

    Each state lists where its characters lead; None, with any number, says that the text may end there. The
    list is empty when no text fits. Raises Inexpressible when there are too many.
    """
    room = _MOST_STEPS // len(automaton.steps)
    high = most if most is not None else max(least, min(room, _DEFAULT_MAX_CHARS))
    if high * len(automaton.steps) > _MOST_STEPS * 4:
        raise Inexpressible("conditions on one text that are too large together")
    # From the end: which states lead to an end within the characters that are left.
    alive: list[set[int]] = [set() for _ in range(high + 1)]
    for length in range(high, -1, -1):
        ends = automaton.ends if length >= least else frozenset()
        beyond = alive[length + 1] if length < high else set()
        alive[length] = {
            state
            for state, steps in enumerate(automaton.steps)
            if state in ends or any(target in beyond for _, target in steps)
        }
    if 0 not in alive[0]:
        return []
    numbers = {(0, 0): 0}
    waiting = [(0, 0)]
    found: list[list[tuple[Ranges | None, int]]] = []
    while waiting:
        length, state = waiting.pop(0)
        edges: list[tuple[Ranges | None, int]] = []
        if length >= least and state in automaton.ends:
            edges.append((None, 0))
        for ranges, target in automaton.steps[state]:
            if length < high and target in alive[length + 1]:
                key = length + 1, target
                if key not in numbers:
                    numbers[key] = len(numbers)
                    waiting.append(key)
                    if len(numbers) > _MOST_STEPS:
                        raise Inexpressible("conditions on one text that are too large together")
                edges.append((ranges, numbers[key]))
        found.append(edges)
    return found

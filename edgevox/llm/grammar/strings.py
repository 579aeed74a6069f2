"""Strings: length, pattern and format, in the quoting of each notation.

Several conditions on one string are intersected as automata.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise

from edgevox.llm.grammar.characters import EVERY, character, spellings
from edgevox.llm.grammar.language import (
    EMPTY,
    NEVER,
    Alt,
    Chars,
    Node,
    Ranges,
    Ref,
    Repeat,
    Rules,
    Seq,
    Text,
    UnsupportedSchema,
    alt,
    of_ranges,
    repeat,
    seq,
    without,
)
from edgevox.llm.grammar.regex import longest, pattern_language, shortest
from edgevox.llm.tool_parsers.notation import Notation, Quoting

_YEAR = r"(?:000[1-9]|00[1-9]\d|0[1-9]\d\d|[1-9]\d{3})"
_LEAP_YEAR = r"(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_DATE = (
    rf"(?:{_YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)"
    rf"|02-(?:0[1-9]|1\d|2[0-8]))|{_LEAP_YEAR}-02-29)"
)
# The standard requires an offset; people who name a time mean local time.
_TIME = r"(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?"
_LABEL = r"[A-Za-z0-9]+(?:-+[A-Za-z0-9]+)*"
_ATOM = r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
_OCTET = r"(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
_IPV4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"
_GROUP = r"[0-9A-Fa-f]{1,4}"
_IPV6 = "|".join(
    [
        rf"(?:{_GROUP}:){{7}}{_GROUP}",
        rf"(?:{_GROUP}:){{1,7}}:",
        *(rf"(?:{_GROUP}:){{1,{7 - tail}}}(?::{_GROUP}){{1,{tail}}}" for tail in range(1, 6)),
        rf"{_GROUP}:(?::{_GROUP}){{1,6}}",
        rf":(?::{_GROUP}){{1,7}}",
        "::",
    ]
)
_URI_CHARS = r"(?:[A-Za-z0-9._~:/?#\[\]@!$&'()*+,;=-]|%[0-9A-Fa-f]{2})"
_CLOCK = r"T(?:\d{1,6}H(?:\d{1,6}M(?:\d{1,6}S)?)?|\d{1,6}M(?:\d{1,6}S)?|\d{1,6}S)"
_DAYS = r"(?:\d{1,6}Y(?:\d{1,6}M(?:\d{1,6}D)?)?|\d{1,6}M(?:\d{1,6}D)?|\d{1,6}D)"

_HOSTNAME = rf"^{_LABEL}(?:\.{_LABEL})*$"
_EMAIL = rf"^{_ATOM}(?:\.{_ATOM})*@{_LABEL}(?:\.{_LABEL})+$"
_URI = rf"^[A-Za-z][A-Za-z0-9+.-]*:{_URI_CHARS}+$"

FORMATS = {
    "date": f"^{_DATE}$",
    "time": f"^{_TIME}$",
    "date-time": f"^{_DATE}T{_TIME}$",
    "duration": rf"^P(?:\d{{1,6}}W|{_DAYS}(?:{_CLOCK})?|{_CLOCK})$",
    "email": _EMAIL,
    "idn-email": _EMAIL,
    "hostname": _HOSTNAME,
    "idn-hostname": _HOSTNAME,
    "ipv4": f"^{_IPV4}$",
    "ipv6": f"^(?:{_IPV6})$",
    "uri": _URI,
    "iri": _URI,
    "uuid": r"^[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$",
    "json-pointer": r"^(?:/(?:[^~/]|~[01]){0,64}){0,16}$",
}


_MOST_STATES = 400
_MOST_STEPS = 3000
# The length limit of a text without its own bound.
_DEFAULT_MAX_CHARS = 128


@dataclass(slots=True)
class _Nfa:
    """Edges by state: a range of code points, or None for an epsilon edge."""

    edges: list[list[tuple[Ranges | None, int]]] = field(default_factory=list)

    def state(self) -> int:
        self.edges.append([])
        if len(self.edges) > 20 * _MOST_STATES:
            raise UnsupportedSchema("conditions on one text that are too large together")
        return len(self.edges) - 1

    def add(self, node: Node, start: int) -> int:
        """Add `node` from `start` on; return its end state."""
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
                raise UnsupportedSchema("an anchor inside a pattern")

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
    """The edges of each state, the first being 0, and the accepting states."""

    steps: tuple[tuple[tuple[Ranges, int], ...], ...]
    ends: frozenset[int]


def intersect_automata(languages: list[Node]) -> Automaton:
    """Return the automaton of the texts in all `languages`. Raises UnsupportedSchema if it is too large."""
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
                    raise UnsupportedSchema("conditions on one text that are too large together")
            targets.setdefault(numbers[there], []).append((low, high))
        steps.append(tuple((_touching(pairs), target) for target, pairs in targets.items()))
    ends = {
        number
        for states, number in numbers.items()
        if all(final in one for final, one in zip(finals, states, strict=True))
    }
    return Automaton(tuple(steps), frozenset(ends))


def _pieces(nfas: list[_Nfa], here: tuple[frozenset[int], ...]) -> list[tuple[int, int]]:
    """Return the ranges within which all characters lead to the same state."""
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


def texts_of_length(automaton: Automaton, least: int, most: int | None) -> list[list[tuple[Ranges | None, int]]]:
    """Unroll the automaton by length into a list of states without loops, the first being 0.

    Each state lists its edges; None, with any number, means that the text may end there. The list is empty if no text
    matches. Raises UnsupportedSchema if there are too many.
    """
    room = _MOST_STEPS // len(automaton.steps)
    high = most if most is not None else max(least, min(room, _DEFAULT_MAX_CHARS))
    if high * len(automaton.steps) > _MOST_STEPS * 4:
        raise UnsupportedSchema("conditions on one text that are too large together")
    # From the end: the states that can accept within the remaining characters.
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
                        raise UnsupportedSchema("conditions on one text that are too large together")
                edges.append((ranges, numbers[key]))
        found.append(edges)
    return found


# The length of a string without its own bound, and the maximum bound: a call has to close.
DEFAULT_MAX_CHARS = 512
MOST_CHARS = 2000
MAX_KEY_CHARS = 64
# The repetitions of `*` in a pattern.
_MAX_REPEATS = 256


def string(
    rules: Rules,
    notation: Notation,
    *,
    least: int = 0,
    most: int | None = None,
    patterns: Sequence[str] = (),
    format_name: str | None = None,
) -> Node:
    """Return a string value. Raises UnsupportedSchema for a pattern that no grammar can express."""
    if most is not None and most < least:
        return NEVER
    key = "string", id(notation), least, most, tuple(patterns), format_name
    return rules.once(key, lambda: _string(rules, notation, least, most, patterns, format_name))


def _string(
    rules: Rules, notation: Notation, least: int, most: int | None, patterns: Sequence[str], format_name: str | None
) -> Node:
    wanted = [pattern_language(pattern) for pattern in patterns]
    if format_name in FORMATS:
        wanted.append(pattern_language(FORMATS[format_name]))
    if not wanted:
        high = max(least, DEFAULT_MAX_CHARS) if most is None else min(most, max(least, MOST_CHARS))
        return alt(*(_free(rules, quoting, least, high) for quoting in notation.strings))
    language = _of_length(wanted[0], least, most) if len(set(wanted)) == 1 else None
    return alt(*(_constrained(rules, quoting, wanted, language, least, most) for quoting in notation.strings))


def _constrained(
    rules: Rules, quoting: Quoting, wanted: Sequence[Node], language: Node | None, least: int, most: int | None
) -> Node:
    """Return a string in `language`, or (if that is not one node) in all wanted languages."""
    content = _common(rules, quoting, wanted, least, most) if language is None else encoded(language, quoting)
    return rules.add("text", _quoted(content, quoting), token=True)


def _common(rules: Rules, quoting: Quoting, wanted: Sequence[Node], least: int, most: int | None) -> Node:
    states = texts_of_length(intersect_automata(list(dict.fromkeys(wanted))), least, most)
    nodes: list[Node] = [NEVER] * len(states)
    # Every edge leads to a later state.
    for number in range(len(states) - 1, -1, -1):
        choices = [
            EMPTY if ranges is None else seq(_class(rules, ranges, quoting), nodes[target])
            for ranges, target in states[number]
        ]
        nodes[number] = rules.add("text-part", alt(*choices), token=True)
    return nodes[0] if nodes else NEVER


def _class(rules: Rules, ranges: Ranges, quoting: Quoting) -> Node:
    node = character(ranges, quoting)
    return rules.add("class", node, token=True) if isinstance(node, Alt) else node


def _free(rules: Rules, quoting: Quoting, least: int, most: int) -> Node:
    char = character(EVERY, quoting)
    if quoting.barred == "<":
        # The character is excluded only where it would begin the closing quote.
        char = alt(char, seq(Text("<"), of_ranges(without(EVERY, _CLOSING))))
    content = repeat(rules.add("char", char, token=True), least, most)
    wanted = "string" if (least, most) == (0, DEFAULT_MAX_CHARS) else f"string-{least}-{most}"
    return rules.add(wanted, _quoted(content, quoting), token=True)


_CLOSING = ((0x21, 0x21), (0x2F, 0x2F), (0x3C, 0x3C), (0x65, 0x65), (0x7C, 0x7C))


def _quoted(content: Node, quoting: Quoting) -> Node:
    return seq(Text(quoting.open), content, Text(quoting.close))


def _of_length(language: Node, least: int, most: int | None) -> Node | None:
    """Restrict `language` to the length bounds; None if that requires counting."""
    if least <= shortest(language) and (most is None or longest(language) <= most):
        return language
    if isinstance(language, Repeat) and isinstance(language.part, Chars | Text) and longest(language.part) == 1:
        # The common case: a repeated class.
        low = max(least, language.least)
        bounds = [bound for bound in (most, language.most) if bound is not None]
        return repeat(language.part, low, min(bounds) if bounds else None)
    return None


@lru_cache(maxsize=256)
def encoded(language: Node, quoting: Quoting) -> Node:
    """Encode plain characters in this quoting."""
    match language:
        case Text(value):
            written = spellings(value, quoting.escapes, quote=quoting.open, barred=quoting.barred)
            return alt(*map(Text, written))
        case Chars(ranges):
            return character(ranges, quoting)
        case Seq(parts):
            return seq(*(encoded(part, quoting) for part in parts))
        case Alt(choices):
            return alt(*_writable(choices, quoting))
        case Repeat(part, least, most):
            return repeat(encoded(part, quoting), least, least + _MAX_REPEATS if most is None else most)
        case Ref():
            raise UnsupportedSchema("an anchor inside a pattern")


def _writable(choices: Iterable[Node], quoting: Quoting) -> Iterable[Node]:
    for choice in choices:
        try:
            yield encoded(choice, quoting)
        except UnsupportedSchema:
            continue


def literal(value: str, notation: Notation) -> Node:
    """Return exactly this string. Raises UnsupportedSchema if the notation cannot write it."""
    choices: list[Node] = []
    for quoting in notation.strings:
        try:
            written = spellings(value, quoting.escapes, quote=quoting.open, barred=quoting.barred)
        except UnsupportedSchema:
            continue
        choices += (Text(f"{quoting.open}{one}{quoting.close}") for one in written)
    if not choices:
        raise UnsupportedSchema(f"{value!r:.60} cannot be written in this format")
    return alt(*choices)


def other_than(names: Sequence[str], quoting: Quoting) -> Node:
    """Return any text (of a key's length) except these, without the quotes."""
    return _other_than(sorted(set(names)), 0, quoting)


def _other_than(names: list[str], at: int, quoting: Quoting) -> Node:
    """Return what may follow `at` characters that all of `names` begin with."""
    any_char = character(EVERY, quoting)
    heads = sorted({ord(name[at]) for name in names if len(name) > at})
    choices: list[Node] = [NEVER if any(len(name) == at for name in names) else EMPTY]
    others = character(without(EVERY, tuple((head, head) for head in heads)), quoting)
    choices.append(seq(others, repeat(any_char, 0, max(0, MAX_KEY_CHARS - at))))
    for head in heads:
        begun = [name for name in names if len(name) > at and ord(name[at]) == head]
        char = character(((head, head),), quoting)
        choices.append(seq(char, _other_than(begun, at + 1, quoting)))
    return alt(*choices)

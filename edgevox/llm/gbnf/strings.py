"""Strings: length, pattern and format, in the quoting of each notation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from edgevox.llm.gbnf.automaton import common_automaton, texts_of_length
from edgevox.llm.gbnf.characters import EVERY, character, spellings
from edgevox.llm.gbnf.formats import FORMATS
from edgevox.llm.gbnf.language import (
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
    alt,
    of_ranges,
    repeat,
    seq,
    without,
)
from edgevox.llm.gbnf.regex import longest, pattern_language, shortest
from edgevox.llm.gbnf.schema_error import Inexpressible
from edgevox.llm.tool_parsers.notation import Notation, Quoting

# A string without a bound of its own ends here, and no bound is longer than the second: a call has to close.
DEFAULT_MAX_CHARS = 512
MOST_CHARS = 2000
MAX_KEY_CHARS = 64
# What `*` may repeat in a pattern.
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
    """A string value. Raises Inexpressible for a pattern that no grammar can hold a text to."""
    if most is not None and most < least:
        return NEVER
    key = "string", id(notation), least, most, tuple(patterns), format_name
    return rules.once(key, lambda: _string(rules, notation, least, most, patterns, format_name))


def _string(
    rules: Rules,
    notation: Notation,
    least: int,
    most: int | None,
    patterns: Sequence[str],
    format_name: str | None,
) -> Node:
    wanted = [pattern_language(pattern) for pattern in patterns]
    if format_name in FORMATS:
        wanted.append(pattern_language(FORMATS[format_name]))
    if not wanted:
        high = max(least, DEFAULT_MAX_CHARS) if most is None else min(most, max(least, MOST_CHARS))
        return alt(*(_free(rules, quoting, least, high) for quoting in notation.strings))
    language = _of_length(wanted[0], least, most) if len(set(wanted)) == 1 else None
    return alt(*(_held(rules, quoting, wanted, language, least, most) for quoting in notation.strings))


def _held(
    rules: Rules,
    quoting: Quoting,
    wanted: Sequence[Node],
    language: Node | None,
    least: int,
    most: int | None,
) -> Node:
    """A string that is in `language`, or (where that is not one node) in all that is wanted."""
    content = _common(rules, quoting, wanted, least, most) if language is None else encoded(language, quoting)
    return rules.add("text", _quoted(content, quoting), token=True)


def _common(rules: Rules, quoting: Quoting, wanted: Sequence[Node], least: int, most: int | None) -> Node:
    states = texts_of_length(common_automaton(list(dict.fromkeys(wanted))), least, most)
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
        # The character is only barred where it would begin the end.
        char = alt(char, seq(Text("<"), of_ranges(without(EVERY, _CLOSING))))
    content = repeat(rules.add("char", char, token=True), least, most)
    wanted = "string" if (least, most) == (0, DEFAULT_MAX_CHARS) else f"string-{least}-{most}"
    return rules.add(wanted, _quoted(content, quoting), token=True)


_CLOSING = ((0x21, 0x21), (0x2F, 0x2F), (0x3C, 0x3C), (0x65, 0x65), (0x7C, 0x7C))


def _quoted(content: Node, quoting: Quoting) -> Node:
    return seq(Text(quoting.open), content, Text(quoting.close))


def _of_length(language: Node, least: int, most: int | None) -> Node | None:
    """The texts of `language` that are long enough and not too long; None where that takes counting."""
    if least <= shortest(language) and (most is None or longest(language) <= most):
        return language
    if (
        isinstance(language, Repeat)
        and isinstance(language.part, Chars | Text)
        and longest(language.part) == 1
    ):
        # The usual case: a class, repeated.
        low = max(least, language.least)
        bounds = [bound for bound in (most, language.most) if bound is not None]
        return repeat(language.part, low, min(bounds) if bounds else None)
    return None


@lru_cache(maxsize=256)
def encoded(language: Node, quoting: Quoting) -> Node:
    """Plain characters, as they are written inside this quoting."""
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
            raise Inexpressible("an anchor inside a pattern")


def _writable(choices: Iterable[Node], quoting: Quoting) -> Iterable[Node]:
    for choice in choices:
        try:
            yield encoded(choice, quoting)
        except Inexpressible:
            continue


def literal(value: str, notation: Notation) -> Node:
    """This string and no other. Raises Inexpressible where the notation cannot write it."""
    choices: list[Node] = []
    for quoting in notation.strings:
        try:
            written = spellings(value, quoting.escapes, quote=quoting.open, barred=quoting.barred)
        except Inexpressible:
            continue
        choices += (Text(f"{quoting.open}{one}{quoting.close}") for one in written)
    if not choices:
        raise Inexpressible(f"{value!r:.60} cannot be written in this format")
    return alt(*choices)


def other_than(names: Sequence[str], quoting: Quoting) -> Node:
    """Any text (of a key's length) but these, as it stands between the quotes."""
    return _other_than(sorted(set(names)), 0, quoting)


def _other_than(names: list[str], at: int, quoting: Quoting) -> Node:
    """What may follow `at` characters that all of `names` begin with."""
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

"""Values without a schema, and values that are given: what every notation can write."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from edgevox.llm.gbnf import numbers, strings
from edgevox.llm.gbnf.characters import spellings
from edgevox.llm.gbnf.language import NEVER, Node, Rules, Text, alt, chars, repeat, seq
from edgevox.llm.gbnf.schema import is_number
from edgevox.llm.gbnf.schema_error import Inexpressible
from edgevox.llm.tool_parsers.notation import Notation, Quoting

# An array without a bound of its own ends here.
DEFAULT_MAX_ITEMS = 32
DEFAULT_MAX_MEMBERS = 16
# How deep a value of no particular schema may be nested.
_FREE_DEPTH = 5
# Without quotes, a key is what every detector takes for one.
_BARE_KEY = re.compile(r"[A-Za-z_][\w.-]{0,100}")
_BARE_KEY_NODE = seq(
    chars((0x41, 0x5A), (0x61, 0x7A), "_"),
    repeat(chars((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A), "_"), 0, 40),
)


def free_value(rules: Rules, notation: Notation, depth: int = _FREE_DEPTH) -> Node:
    """Any value at all, nested no deeper than `depth`."""
    return rules.once(("any", depth, id(notation)), lambda: _free_value(rules, notation, depth))


def _free_value(rules: Rules, notation: Notation, depth: int) -> Node:
    inner = notation.members or notation
    string = strings.string(rules, notation)
    plain = alt(
        rules.add("number", numbers.ANY_NUMBER, token=True),
        Text(notation.true),
        Text(notation.false),
        Text(notation.null),
        Text("[]"),
        Text(notation.object_open + notation.object_close),
    )
    nested: Node = NEVER
    if depth > 0:
        item = free_value(rules, inner, depth - 1)
        tail = repeat(seq(Text(notation.separator), item), 0, DEFAULT_MAX_ITEMS - 1)
        nested = alt(seq(Text("["), item, tail, Text("]")), free_object(rules, notation, depth))
    close = Text(notation.value_close)
    return rules.add(f"any-{depth}", alt(string, *(seq(one, close) for one in (plain, nested))))


def literal(value: Any, notation: Notation) -> Node:  # noqa: ANN401  (any JSON value)
    """This value and no other. Raises Inexpressible where the notation cannot write it."""
    inner = notation.members or notation
    comma = Text(notation.separator)
    match value:
        case str():
            return strings.literal(value, notation)
        case Mapping():
            parts: list[Node] = []
            for key, member in value.items():
                parts += (comma if parts else Text(""), key_node(str(key), notation), literal(member, inner))
            return seq(Text(notation.object_open), *parts, Text(notation.object_close + notation.value_close))
        case list() | tuple():
            items: list[Node] = []
            for member in value:
                items += (comma if items else Text(""), literal(member, inner))
            return seq(Text("["), *items, Text("]" + notation.value_close))
        case True | False | None:
            word = {True: notation.true, False: notation.false, None: notation.null}[value]
            return Text(word + notation.value_close)
        case int():
            return Text(f"{value}{notation.value_close}")
        case _:
            if not is_number(value):
                raise Inexpressible(f"{value!r} is no JSON value")
            written = json.dumps(value)
            whole = (
                [Text(f"{int(value)}{notation.value_close}")]
                if value == int(value) and abs(value) < 1e15
                else []
            )
            return alt(Text(f"{written}{notation.value_close}"), *whole)


def free_object(rules: Rules, notation: Notation, depth: int = _FREE_DEPTH) -> Node:
    """Any object that is not empty."""
    inner = notation.members or notation
    member = seq(free_key(rules, notation), free_value(rules, inner, depth - 1))
    tail = repeat(seq(Text(notation.separator), member), 0, DEFAULT_MAX_MEMBERS - 1)
    return seq(Text(notation.object_open), member, tail, Text(notation.object_close))


def permissive_object(rules: Rules, notation: Notation) -> Node:
    """Any object: what is left of a schema that cannot be expressed."""
    empty = Text(notation.object_open + notation.object_close)
    return rules.add("any-object", alt(empty, free_object(rules, notation)))


def free_key(rules: Rules, notation: Notation, barred: tuple[str, ...] = ()) -> Node:
    """A key that is none of `barred`, up to its value."""
    if notation.key_escapes == "none":
        content = _BARE_KEY_NODE
        if barred:
            raise Inexpressible("further members beside named ones, in this format")
    else:
        content = strings.other_than(barred, key_quoting(notation))
    return rules.add("key", seq(Text(notation.key_open), content, Text(notation.key_close)), token=True)


def key_quoting(notation: Notation) -> Quoting:
    """A key's quotes, for what stands between them."""
    return Quoting(notation.key_open, notation.key_close, notation.key_escapes)


def key_node(key: str, notation: Notation) -> Node:
    """This key, up to its value. Raises Inexpressible where the notation cannot write it."""
    if notation.key_escapes == "none" and _BARE_KEY.fullmatch(key) is None:
        raise Inexpressible(f"the name {key!r:.60} cannot be written in this format")
    written = spellings(key, notation.key_escapes, quote=notation.key_open)
    return alt(*(Text(f"{notation.key_open}{one}{notation.key_close}") for one in written))

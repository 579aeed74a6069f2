"""Keys, literals and values without a schema, in each notation."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from edgevox.llm.grammar import numbers, strings
from edgevox.llm.grammar.language import EMPTY, NEVER, Node, Rules, Text, UnsupportedSchema, alt, optional, repeat, seq
from edgevox.llm.grammar.regex import whole_language
from edgevox.llm.grammar.schema import is_number
from edgevox.llm.tool_parsers.notation import Notation, Quoting

# The limits of arrays, objects and nesting without their own bounds.
DEFAULT_MAX_ITEMS = 32
DEFAULT_MAX_MEMBERS = 16
_FREE_DEPTH = 5
# An unquoted key must be one that every detector accepts.
_BARE_KEY = re.compile(r"[A-Za-z_][\w.-]{0,100}")
_FREE_BARE_KEY = whole_language("[A-Za-z_][0-9A-Za-z_]{0,40}")


def free_value(rules: Rules, notation: Notation, depth: int = _FREE_DEPTH) -> Node:
    """Return any value, nested no deeper than `depth`."""
    return rules.once(("any", depth, id(notation)), lambda: _free_value(rules, notation, depth))


def _free_value(rules: Rules, notation: Notation, depth: int) -> Node:
    choices = [
        rules.add("number", numbers.ANY_NUMBER, token=True),
        *map(Text, (notation.true, notation.false, notation.null)),
        *map(Text, ("[]", notation.object_open + notation.object_close)),
    ]
    if depth > 0:
        item = free_value(rules, notation.members or notation, depth - 1)
        choices.append(seq(Text("["), separated(item, notation, 1, DEFAULT_MAX_ITEMS), Text("]")))
        choices.append(_free_object(rules, notation, depth))
    close = Text(notation.value_close)
    return rules.add(f"any-{depth}", alt(strings.string(rules, notation), *(seq(one, close) for one in choices)))


def _free_object(rules: Rules, notation: Notation, depth: int = _FREE_DEPTH) -> Node:
    """Return any non-empty object."""
    member = seq(free_key(rules, notation), free_value(rules, notation.members or notation, depth - 1))
    content = separated(member, notation, 1, DEFAULT_MAX_MEMBERS)
    return seq(Text(notation.object_open), content, Text(notation.object_close))


def permissive_object(rules: Rules, notation: Notation) -> Node:
    """Return any object: the fallback for a schema that cannot be expressed."""
    empty = Text(notation.object_open + notation.object_close)
    return rules.add("any-object", alt(empty, _free_object(rules, notation)))


def separated(item: Node, notation: Notation, least: int, most: int) -> Node:
    """Return `least` to `most` items with separators between them."""
    if most < least:
        return NEVER
    if most == 0:
        return EMPTY
    some = seq(item, repeat(seq(Text(notation.separator), item), max(0, least - 1), most - 1))
    return some if least else optional(some)


def literal(value: Any, notation: Notation) -> Node:  # noqa: ANN401  (any JSON value)
    """Return exactly this value. Raises UnsupportedSchema if the notation cannot write it."""
    inner = notation.members or notation
    comma, close = Text(notation.separator), Text(notation.value_close)
    match value:
        case str():
            return strings.literal(value, notation)
        case Mapping():
            members = [seq(key_node(str(key), notation), literal(member, inner)) for key, member in value.items()]
            begin, parts, end = notation.object_open, members, notation.object_close
        case list() | tuple():
            begin, parts, end = "[", [literal(member, inner) for member in value], "]"
        case True | False | None:
            return seq(Text({True: notation.true, False: notation.false, None: notation.null}[value]), close)
        case int() | float() if is_number(value):
            # 2.0 may be written as 2.
            forms = [json.dumps(value), *([str(int(value))] if value == int(value) and abs(value) < 1e15 else [])]
            return alt(*(seq(Text(form), close) for form in forms))
        case _:
            raise UnsupportedSchema(f"{value!r} is no JSON value")
    return seq(Text(begin), *(seq(comma if at else EMPTY, part) for at, part in enumerate(parts)), Text(end), close)


def free_key(rules: Rules, notation: Notation, barred: tuple[str, ...] = ()) -> Node:
    """Return a key that is none of `barred`, up to its value. Raises UnsupportedSchema."""
    if notation.key_escapes != "none":
        content = strings.other_than(barred, key_notation(notation).strings[0])
    elif barred:
        raise UnsupportedSchema("further members beside named ones, in this format")
    else:
        content = _FREE_BARE_KEY
    return rules.add("key", seq(Text(notation.key_open), content, Text(notation.key_close)), token=True)


@lru_cache(maxsize=32)
def key_notation(notation: Notation) -> Notation:
    """Return the notation of keys: always the same object, because values are cached by it."""
    return Notation(strings=(Quoting(notation.key_open, notation.key_close, notation.key_escapes),))


def key_node(key: str, notation: Notation) -> Node:
    """Return this key, up to its value. Raises UnsupportedSchema if the notation cannot write it."""
    if notation.key_escapes == "none" and _BARE_KEY.fullmatch(key) is None:
        raise UnsupportedSchema(f"the name {key!r:.60} cannot be written in this format")
    written = strings.spelling(key, notation.key_escapes, quote=notation.key_open)
    return Text(f"{notation.key_open}{written}{notation.key_close}")

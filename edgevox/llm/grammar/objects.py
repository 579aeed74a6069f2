"""Objects: members in the schema's order, optional and additional ones; and JSON values without a schema."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

from edgevox.llm.grammar import numbers, strings
from edgevox.llm.grammar.characters import spellings
from edgevox.llm.grammar.language import (
    EMPTY,
    NEVER,
    Alt,
    Node,
    Rules,
    Text,
    UnsupportedSchema,
    alt,
    chars,
    optional,
    repeat,
    seq,
)
from edgevox.llm.grammar.regex import pattern_language
from edgevox.llm.grammar.schema import Flat, Schema, all_of, fits, is_number
from edgevox.llm.grammar.strings import MAX_KEY_CHARS, encoded
from edgevox.llm.tool_parsers.notation import Notation, Quoting

# The limit of an array without its own bound.
DEFAULT_MAX_ITEMS = 32
DEFAULT_MAX_MEMBERS = 16
# The nesting limit of a value without a schema.
_FREE_DEPTH = 5
# An unquoted key must be one that every detector accepts.
_BARE_KEY = re.compile(r"[A-Za-z_][\w.-]{0,100}")
_BARE_KEY_NODE = seq(
    chars((0x41, 0x5A), (0x61, 0x7A), "_"), repeat(chars((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A), "_"), 0, 40)
)


def free_value(rules: Rules, notation: Notation, depth: int = _FREE_DEPTH) -> Node:
    """Return any value, nested no deeper than `depth`."""
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
    """Return exactly this value. Raises UnsupportedSchema if the notation cannot write it."""
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
                raise UnsupportedSchema(f"{value!r} is no JSON value")
            written = json.dumps(value)
            whole = [Text(f"{int(value)}{notation.value_close}")] if value == int(value) and abs(value) < 1e15 else []
            return alt(Text(f"{written}{notation.value_close}"), *whole)


def free_object(rules: Rules, notation: Notation, depth: int = _FREE_DEPTH) -> Node:
    """Return any non-empty object."""
    inner = notation.members or notation
    member = seq(free_key(rules, notation), free_value(rules, inner, depth - 1))
    tail = repeat(seq(Text(notation.separator), member), 0, DEFAULT_MAX_MEMBERS - 1)
    return seq(Text(notation.object_open), member, tail, Text(notation.object_close))


def permissive_object(rules: Rules, notation: Notation) -> Node:
    """Return any object: the fallback for a schema that cannot be expressed."""
    empty = Text(notation.object_open + notation.object_close)
    return rules.add("any-object", alt(empty, free_object(rules, notation)))


def free_key(rules: Rules, notation: Notation, barred: tuple[str, ...] = ()) -> Node:
    """Return a key that is none of `barred`, up to its value."""
    if notation.key_escapes == "none":
        content = _BARE_KEY_NODE
        if barred:
            raise UnsupportedSchema("further members beside named ones, in this format")
    else:
        content = strings.other_than(barred, key_quoting(notation))
    return rules.add("key", seq(Text(notation.key_open), content, Text(notation.key_close)), token=True)


def key_quoting(notation: Notation) -> Quoting:
    """Return the quoting of keys."""
    return Quoting(notation.key_open, notation.key_close, notation.key_escapes)


def key_node(key: str, notation: Notation) -> Node:
    """Return this key, up to its value. Raises UnsupportedSchema if the notation cannot write it."""
    if notation.key_escapes == "none" and _BARE_KEY.fullmatch(key) is None:
        raise UnsupportedSchema(f"the name {key!r:.60} cannot be written in this format")
    written = spellings(key, notation.key_escapes, quote=notation.key_open)
    return alt(*(Text(f"{notation.key_open}{one}{notation.key_close}") for one in written))


_MOST_COUNTED = 64


class Values(Protocol):
    """Compiles the values of members."""

    rules: Rules

    def value(self, schema: Schema, notation: Notation, name: str) -> Node: ...

    def warn(self, problem: str) -> None: ...

    def count(self, flat: Flat, key: str) -> int | None: ...


@dataclass(frozen=True, slots=True)
class _Member:
    node: Node
    required: bool


def object_of(values: Values, flat: Flat, notation: Notation, name: str) -> Node:
    """Return the objects that match `flat`. Raises UnsupportedSchema if a required member cannot be written."""
    least, most = values.count(flat, "minProperties") or 0, values.count(flat, "maxProperties")
    if most is not None and most < least:
        return NEVER
    plan = _Plan(values, flat, notation, name)
    members = plan.members()
    if any(member.required and member.node is NEVER for member in members):
        return NEVER
    members = [member for member in members if member.node is not NEVER]
    if max(least, most or 0) > _MOST_COUNTED:
        values.warn(f"more than {_MOST_COUNTED} members are not counted")
        least, most = min(least, _MOST_COUNTED), None
    content = _content(values.rules, members, plan.further(), notation, least, most, name)
    return seq(Text(notation.object_open), content, Text(notation.object_close))


class _Plan:
    """The members of one object: the named ones, and the additional ones that may follow."""

    def __init__(self, values: Values, flat: Flat, notation: Notation, name: str) -> None:
        self._values = values
        self._notation = notation
        self._inner = notation.members or notation
        self._name = name
        self._named = self._mapping(flat, "properties")
        self._by_pattern = self._mapping(flat, "patternProperties")
        self._required = self._names(flat)
        self._key_schema = flat.get("propertyNames", True)
        # Additional members are allowed only if the schema names none, or asks for them.
        is_open = "properties" not in flat and "patternProperties" not in flat
        self._others = flat.get("additionalProperties", flat.get("unevaluatedProperties", is_open))
        self._says_others = "additionalProperties" in flat or "unevaluatedProperties" in flat

    def members(self) -> list[_Member]:
        found = []
        for key in (*self._named, *(key for key in self._required if key not in self._named)):
            required = key in self._required
            try:
                found.append(_Member(self._member(key), required))
            except UnsupportedSchema as reason:
                if required:
                    raise
                self._values.warn(str(reason))
        return found

    def _member(self, key: str) -> Node:
        if not self._may_be_called(key):
            return NEVER
        matching = [schema for pattern, schema in self._by_pattern.items() if _matches(pattern, key)]
        if key in self._named:
            schema = all_of(self._named[key], *matching)
        elif matching:
            schema = all_of(*matching)
        else:
            schema = self._others if self._says_others else True
        value = self._values.value(schema, self._inner, f"{self._name}-{_short(key)}")
        return seq(key_node(key, self._notation), value)

    def further(self) -> Node:
        """Return one additional member; NEVER if there may be none."""
        choices = [self._patterned(pattern, schema) for pattern, schema in self._by_pattern.items()]
        if self._others is not False and not self._by_pattern:
            value = self._values.value(self._others, self._inner, f"{self._name}-other")
            try:
                choices.append(seq(self._key(), value))
            except UnsupportedSchema as reason:
                self._values.warn(str(reason))
        return alt(*choices)

    def _key(self) -> Node:
        names = tuple(dict.fromkeys((*self._named, *self._required)))
        if self._key_schema is True:
            return free_key(self._values.rules, self._notation, names)
        if self._notation.key_escapes == "none":
            raise UnsupportedSchema("propertyNames in this format")
        keys = Notation(strings=(key_quoting(self._notation),))
        return self._values.value(all_of(self._key_schema, _A_TEXT), keys, f"{self._name}-key")

    def _patterned(self, pattern: str, schema: Schema) -> Node:
        if self._notation.key_escapes == "none":
            self._values.warn("patternProperties in this format")
            return NEVER
        try:
            quoting = key_quoting(self._notation)
            content = encoded(pattern_language(pattern), quoting)
        except UnsupportedSchema as reason:
            self._values.warn(str(reason))
            return NEVER
        key = seq(Text(self._notation.key_open), content, Text(self._notation.key_close))
        value = self._values.value(schema, self._inner, f"{self._name}-other")
        return seq(self._values.rules.add("key", key, token=True), value)

    def _may_be_called(self, key: str) -> bool:
        schema = self._key_schema
        if schema is True or not isinstance(schema, Mapping):
            return schema is not False
        patterns = (schema["pattern"],) if "pattern" in schema else ()
        return fits(key, {**schema, "pattern": patterns, "type": ("string",)}) and (
            "enum" not in schema or key in schema["enum"]
        )

    def _mapping(self, flat: Flat, key: str) -> Mapping[str, Schema]:
        found = flat.get(key, {})
        if isinstance(found, Mapping):
            return found
        self._values.warn(f"{key} is not an object")
        return {}

    def _names(self, flat: Flat) -> Sequence[str]:
        found = flat.get("required", ())
        if isinstance(found, bool):
            # Draft 3 has a boolean at each member; it has no meaning here.
            return ()
        if not isinstance(found, Sequence) or isinstance(found, str):
            self._values.warn("required is not a list")
            return ()
        return [name for name in found if isinstance(name, str)]


_A_TEXT = {"type": "string", "maxLength": MAX_KEY_CHARS}


def _content(
    rules: Rules, members: Sequence[_Member], further: Node, notation: Notation, least: int, most: int | None, name: str
) -> Node:
    """Return the content of the braces.

    Built from the end: `tails[c]` is what may follow after `c` members. They are counted only as far as it matters: at
    least to one, since the first has no comma before it.
    """
    counted = max(least, 1 if most is None else most, 1)
    comma = Text(notation.separator)

    def end(written: int) -> Node:
        low = max(0, least - written)
        high = max(low, DEFAULT_MAX_MEMBERS) if most is None else most - written
        if high < low or high < 0:
            return NEVER
        if written or high == 0:
            return repeat(seq(comma, further), low, high)
        some = seq(further, repeat(seq(comma, further), max(0, low - 1), high - 1))
        return some if low else optional(some)

    tails = {written: end(written) for written in range(counted + 1)}
    for at in range(len(members) - 1, -1, -1):
        member = members[at]
        must_stand = sum(other.required for other in members[:at])
        before: dict[int, Node] = {}
        for written in range(min(must_stand, counted), min(at, counted) + 1):
            then = tails[min(written + 1, counted)] if most is None or written < most else NEVER
            there = seq(comma if written else EMPTY, member.node)
            if member.required:
                before[written] = seq(there, then)
            elif then == tails[written]:
                before[written] = seq(optional(there), then)
            else:
                rest = tails[written]
                before[written] = Alt((seq(there, then), *(rest.choices if isinstance(rest, Alt) else (rest,))))
        if len(before) > 1:
            # Several paths lead to the same rest: it becomes one rule.
            before = {written: rules.add(f"{name}-rest", node) if written else node for written, node in before.items()}
        tails = before
    return tails[0]


def _matches(pattern: str, key: str) -> bool:
    try:
        return re.search(pattern, key) is not None
    except re.error:
        return False


@lru_cache(maxsize=1024)
def _short(key: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")[:24].strip("-") or "member"

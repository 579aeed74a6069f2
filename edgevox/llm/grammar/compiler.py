"""Compiles a JSON Schema to a language, in the notation of a format."""

from __future__ import annotations

import collections
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache

from edgevox.llm.grammar import numbers, strings
from edgevox.llm.grammar.language import (
    EMPTY,
    NEVER,
    Alt,
    Node,
    Rules,
    SchemaTooLarge,
    Text,
    UnsupportedSchema,
    alt,
    choices_of,
    one_of_texts,
    optional,
    repeat,
    seq,
)
from edgevox.llm.grammar.numbers import Bounds
from edgevox.llm.grammar.schema import TYPES, Flat, Members, Schema, SchemaDocument, all_of, fits, identity, is_number
from edgevox.llm.tool_parsers.notation import JSON, Notation

# The limits of arrays, objects and nesting without their own bounds.
_DEFAULT_MAX_ITEMS = 32
_DEFAULT_MAX_MEMBERS = 16
_FREE_DEPTH = 5
_MOST_ITEMS = 1000
_MOST_NESTED = 60
_MOST_LEVELS = 5
_MOST_COUNTED = 5000
_MOST_COUNTED_MEMBERS = 64
# Each member is a rule for each number of members before it.
_MOST_COUNTED_PLACES = 2_000
# The maximum number of enum values written inline.
_MOST_IN_PLACE = 8

# Any value, by the depth to which it may be nested.
_ANY: list[Schema] = [{"type": TYPES, "maxItems": 0, "properties": {}}]
for _ in range(_FREE_DEPTH):
    _ANY.append({"type": TYPES, "items": _ANY[-1], "additionalProperties": _ANY[-1]})

_ASKING = frozenset(
    (
        *("properties", "required", "additionalProperties", "patternProperties", "propertyNames"),
        *("minProperties", "maxProperties", "unevaluatedProperties"),
        *("items", "prefixItems", "additionalItems", "minItems", "maxItems"),
        *("minLength", "maxLength", "pattern", "format"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    )
)
_KEY_TEXT = {"type": "string", "maxLength": strings.MAX_KEY_CHARS}


class SchemaCompiler:
    """Adds the rules of one schema to `rules`, and collects unsupported parts in `problems`.

    Raises SchemaTooLarge if it `is_bounded` and takes too long or too many rules.
    """

    def __init__(self, rules: Rules, root: Schema, name: str, *, is_bounded: bool = True) -> None:
        self.problems: list[str] = []
        self._rules = rules
        self._is_bounded = is_bounded
        self._document = SchemaDocument(root, self._warn)
        self._root = root
        self._name = rule_name(name)
        # A recursive schema is a different rule at each level, since its allowed depth differs.
        self._done: dict[tuple[tuple[int, ...], int, int], Node] = {}
        self._open: collections.Counter[tuple[int, ...]] = collections.Counter()
        self._level = 0
        # Schemas are compared by identity, so none may be freed meanwhile.
        self._kept: list[Schema] = []

    def _warn(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)

    def root(self, notation: Notation) -> Node:
        """Return the root's values."""
        return self._value(self._root, notation, self._name)

    def arguments(self, notation: Notation) -> Node:
        """Return the root's object values: a call's arguments. Raises UnsupportedSchema."""
        flats = self._document.flat(self._root)
        objects = (flat for flat in flats if "object" in flat.get("type", TYPES))
        return alt(*(self._object(flat, notation, self._name) for flat in objects))

    def _value(self, schema: Schema, notation: Notation, name: str) -> Node:
        """Return the values of `schema`. Recursion is limited to a few levels, so that a call closes."""
        own = identity(schema)
        inside_itself = self._open[own] > 0
        level = self._level + inside_itself
        if level > _MOST_LEVELS:
            return NEVER
        key = own, id(notation), level
        if key in self._done:
            return self._done[key]
        if self._open.total() > _MOST_NESTED:
            self._warn(f"nested more than {_MOST_NESTED} deep")
            schema = _ANY[0]
        if self._is_bounded:
            self._rules.check_cost()
        self._kept.append(schema)
        self._open[own] += 1
        self._level = level
        try:
            flats = self._document.flat(schema)
            node = alt(*(self._one(flat, notation, name) for flat in flats))
        except SchemaTooLarge:
            raise
        except UnsupportedSchema as reason:
            self._warn(str(reason))
            node = self._free(notation)
        finally:
            self._open[own] -= 1
            self._level = level - inside_itself
        self._done[key] = node
        return node

    def _free(self, notation: Notation) -> Node:
        return self._value(_ANY[-1], notation, "any")

    def _one(self, flat: Flat, notation: Notation, name: str) -> Node:
        if "enum" in flat:
            return self._listed(flat, notation, name)
        types = flat.get("type", TYPES)
        if types == TYPES and _ASKING.isdisjoint(flat):
            return self._free(notation)
        return alt(*(self._typed(kind, flat, notation, name) for kind in types))

    def _typed(self, kind: str, flat: Flat, notation: Notation, name: str) -> Node:
        match kind:
            case "string":
                return self._string(flat, notation)
            case "object":
                node = self._rules.add(name, self._object(flat, notation, name))
            case "array":
                node = self._rules.add(name, self._array(flat, notation, name))
            case "integer" if "number" in flat.get("type", ()):
                return NEVER
            case "integer" | "number":
                node = self._number(kind, flat)
            case "boolean":
                return alt(*(Text(word + notation.value_close) for word in (notation.true, notation.false)))
            case _:
                node = Text(notation.null)
        return seq(node, Text(notation.value_close))

    def _listed(self, flat: Flat, notation: Notation, name: str) -> Node:
        texts: list[str] = []
        others: list[Node] = []
        for value in flat["enum"]:
            if not fits(value, flat):
                continue
            match value:
                case Mapping():
                    members = {key: {"const": member} for key, member in value.items()}
                    whole = {"properties": members, "required": list(members)}
                    others.append(self._typed("object", whole, notation, name))
                case list() | tuple():
                    items = [{"const": item} for item in value]
                    others.append(
                        self._typed(
                            "array", {"prefixItems": items, "items": False, "minItems": len(items)}, notation, name
                        )
                    )
                case _:
                    try:
                        texts += _spellings(value, notation)
                    except UnsupportedSchema as reason:
                        self._warn(str(reason))
        listed = one_of_texts(texts)
        # In JSON a few are distinguished from other strings; elsewhere the lexer must read them whole.
        if len(texts) > _MOST_IN_PLACE or notation.strings != JSON.strings:
            listed = self._rules.add(f"{name}-enum", listed, token=True)
        return alt(listed, *others)

    def _string(self, flat: Flat, notation: Notation) -> Node:
        least, most = self._count(flat, "minLength") or 0, self._count(flat, "maxLength")
        patterns = [pattern for pattern in flat.get("pattern", ()) if isinstance(pattern, str)]
        format_name = flat.get("format") if isinstance(flat.get("format"), str) else None
        try:
            return strings.string(
                self._rules, notation, least=least, most=most, patterns=patterns, format_name=format_name
            )
        except UnsupportedSchema as reason:
            self._warn(str(reason))
            return strings.string(self._rules, notation, least=least, most=most)

    # --- numbers

    def _number(self, kind: str, flat: Flat) -> Node:
        bounds = self._bounds(flat)
        return self._rules.once(
            (kind, bounds), lambda: self._rules.add(kind, self._number_between(kind, bounds), token=True)
        )

    def _number_between(self, kind: str, bounds: Bounds) -> Node:
        if kind == "integer":
            return numbers.integers(bounds)
        try:
            return numbers.numbers(bounds)
        except UnsupportedSchema as reason:
            self._warn(str(reason))
            return numbers.numbers(Bounds(bounds.least, bounds.most, bounds.open_least, bounds.open_most))

    def _bounds(self, flat: Flat) -> Bounds:
        least, open_least = self._limit(flat, "minimum", "exclusiveMinimum", -1)
        most, open_most = self._limit(flat, "maximum", "exclusiveMaximum", 1)
        step = self._amount(flat, "multipleOf")
        return Bounds(least, most, open_least, open_most, step if step is not None and step > 0 else None)

    def _limit(self, flat: Flat, key: str, exclusive_key: str, sign: int) -> tuple[Decimal | None, bool]:
        """Return a bound, and whether it is excluded. Draft 4 has a boolean beside the bound."""
        bound = self._amount(flat, key)
        if flat.get(exclusive_key) is True:
            return bound, True
        exclusive = None if flat.get(exclusive_key) is False else self._amount(flat, exclusive_key)
        if exclusive is not None and (bound is None or sign * exclusive <= sign * bound):
            return exclusive, True
        return bound, False

    def _amount(self, flat: Flat, key: str) -> Decimal | None:
        """Return a number of the schema, or None if missing or unusable."""
        value = flat.get(key)
        if value is None:
            return None
        if not is_number(value):
            self._warn(f"{key} is not a number")
            return None
        return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)

    def _count(self, flat: Flat, key: str) -> int | None:
        """Return a length or count of the schema, or None if missing or unusable."""
        value = self._amount(flat, key)
        if value is not None and value > _MOST_COUNTED and key.startswith("min"):
            self._warn(f"{key} {value:.0f} is more than can be counted")
        return None if value is None else max(0, min(int(value), _MOST_COUNTED))

    # --- arrays

    def _array(self, flat: Flat, notation: Notation, name: str) -> Node:
        inner = notation.members or notation
        first, rest = self._items(flat)
        least = self._count(flat, "minItems") or 0
        asked = self._count(flat, "maxItems")
        most = max(least, len(first), _DEFAULT_MAX_ITEMS) if asked is None else min(asked, max(least, _MOST_ITEMS))
        if most < least:
            return NEVER
        item = self._value(rest, inner, f"{name}-item") if most > len(first) else NEVER
        if not first:
            return seq(Text("["), _separated(item, notation, least, most), Text("]"))
        comma = Text(notation.separator)
        # Built from the end: what may follow after `at` items.
        tail = repeat(seq(comma, item), max(0, least - len(first)), max(0, most - len(first)))
        for at in range(len(first) - 1, -1, -1):
            member = self._value(first[at], inner, f"{name}-item") if at < most else NEVER
            written = seq(comma if at else EMPTY, member, tail)
            tail = written if at < least else optional(written)
        return seq(Text("["), tail, Text("]"))

    def _items(self, flat: Flat) -> tuple[Sequence[Schema], Schema]:
        """Return the schemas of the first items and of the rest. Older drafts list them in `items`."""
        rest = flat.get("items", True)
        if isinstance(rest, list | tuple):
            return rest, flat.get("additionalItems", True)
        return self._document.list_of(flat, "prefixItems"), rest

    # --- objects

    def _object(self, flat: Flat, notation: Notation, name: str) -> Node:
        """Return the objects that match `flat`. Raises UnsupportedSchema if a required member cannot be written."""
        least, most = self._count(flat, "minProperties") or 0, self._count(flat, "maxProperties")
        if most is not None and most < least:
            return NEVER
        members = Members(flat, self._document)
        written = list(self._members(members, notation, name))
        if any(required and node is NEVER for node, required in written):
            return NEVER
        if max(least, most or 0) > _MOST_COUNTED_MEMBERS:
            self._warn(f"more than {_MOST_COUNTED_MEMBERS} members are not counted")
            least, most = min(least, _MOST_COUNTED_MEMBERS), None
        if max(least, most or 0) * len(written) > _MOST_COUNTED_PLACES:
            self._warn(f"{max(least, most or 0)} of {len(written)} members are not counted")
            least, most = min(least, 1), None
        possible = [(node, required) for node, required in written if node is not NEVER]
        content = self._content(possible, self._further(members, notation, name), notation, least, most, name)
        return seq(Text(notation.object_open), content, Text(notation.object_close))

    def _members(self, members: Members, notation: Notation, name: str) -> Iterator[tuple[Node, bool]]:
        """Yield the named members, each with whether it is required."""
        for key in members.names:
            required = key in members.required
            try:
                if not members.may_have(key):
                    yield NEVER, required
                    continue
                value = self._value(members.schema_of(key), notation.members or notation, f"{name}-{rule_name(key)}")
                yield seq(strings.key(key, notation), value), required
            except UnsupportedSchema as reason:
                if required or isinstance(reason, SchemaTooLarge):
                    raise
                self._warn(str(reason))

    def _further(self, members: Members, notation: Notation, name: str) -> Node:
        """Return one additional member; NEVER if there may be none."""
        choices = []
        for pattern, schema in members.by_pattern.items() or [(None, members.others)]:
            if schema is False:
                continue
            value = self._value(schema, notation.members or notation, f"{name}-other")
            try:
                choices.append(seq(self._key(members, pattern, notation, name), value))
            except UnsupportedSchema as reason:
                self._warn(str(reason))
        return alt(*choices)

    def _key(self, members: Members, pattern: str | None, notation: Notation, name: str) -> Node:
        """Return the key of an additional member, of this pattern if there is one. Raises UnsupportedSchema."""
        if pattern is None and members.key_schema is True:
            return strings.other_key(self._rules, notation, members.names)
        if notation.key_escapes == "none":
            raise UnsupportedSchema(f"{'propertyNames' if pattern is None else 'patternProperties'} in this format")
        keys = strings.key_notation(notation)
        if pattern is None:
            return self._value(all_of(members.key_schema, _KEY_TEXT), keys, f"{name}-key")
        content = strings.with_pattern(pattern, keys.strings[0])
        return self._rules.add("key", seq(Text(notation.key_open), content, Text(notation.key_close)), token=True)

    def _content(
        self,
        members: Sequence[tuple[Node, bool]],
        further: Node,
        notation: Notation,
        least: int,
        most: int | None,
        name: str,
    ) -> Node:
        """Return the content of the braces.

        Built from the end: `tails[c]` is what may follow after `c` members. They are counted only as far as it matters:
        at least to one, since the first has no comma before it.
        """
        counted = max(least, 1 if most is None else most, 1)
        comma = Text(notation.separator)

        def end(written: int) -> Node:
            low = max(0, least - written)
            high = max(low, _DEFAULT_MAX_MEMBERS) if most is None else most - written
            return repeat(seq(comma, further), low, high) if written else _separated(further, notation, low, high)

        tails = {written: end(written) for written in range(counted + 1)}
        for at in range(len(members) - 1, -1, -1):
            member, is_required = members[at]
            must_stand = sum(required for _, required in members[:at])
            before: dict[int, Node] = {}
            for written in range(min(must_stand, counted), min(at, counted) + 1):
                then = tails[min(written + 1, counted)] if most is None or written < most else NEVER
                there = seq(comma if written else EMPTY, member)
                if is_required:
                    before[written] = seq(there, then)
                elif then == tails[written]:
                    before[written] = seq(optional(there), then)
                elif then is NEVER:
                    before[written] = tails[written]
                else:  # not `alt`, which compares whole tails
                    before[written] = Alt((seq(there, then), *choices_of(tails[written])))
            if len(before) > 1:
                # Several paths lead to the same rest: it becomes one rule.
                before = {at: self._rules.add(f"{name}-rest", node) if at else node for at, node in before.items()}
            tails = before
        return tails[0]


@lru_cache(maxsize=1024)
def rule_name(written: str) -> str:
    """Return a name that both GBNF and Lark allow."""
    name = re.sub(r"[^a-z0-9]+", "-", written.lower()).strip("-")[:40].strip("-")
    return name if name[:1].isalpha() else f"x-{name}".strip("-")


def _separated(item: Node, notation: Notation, least: int, most: int) -> Node:
    """Return `least` to `most` items with separators between them."""
    if most <= 0:
        return EMPTY if least <= most else NEVER
    some = seq(item, repeat(seq(Text(notation.separator), item), max(0, least - 1), most - 1))
    return some if least else optional(some)


def _spellings(value: object, notation: Notation) -> list[str]:
    """Return the ways to write a scalar. Raises UnsupportedSchema if the notation cannot."""
    match value:
        case str():
            return strings.literals(value, notation)
        case True | False | None:
            words = [{True: notation.true, False: notation.false, None: notation.null}[value]]
        case int() | float() if is_number(value):
            # 2.0 may be written as 2.
            words = [json.dumps(value), *([str(int(value))] if value == int(value) and abs(value) < 1e15 else [])]
        case _:
            raise UnsupportedSchema(f"{value!r} is no JSON value")
    return [word + notation.value_close for word in words]

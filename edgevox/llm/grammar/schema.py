"""Normalises a JSON Schema: resolves references, expands combinations, merges conditions on one value.

The result are flat schemas, one of which a value must match. They are plain mappings; where two schemas meet on one
member, its schema is an `AllOf` of the two, which are not copied: recursion is detected by identity.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias
from urllib.parse import unquote

from edgevox.llm.grammar.check import is_found
from edgevox.llm.grammar.language import SchemaTooLarge, UnsupportedSchema

Schema: TypeAlias = Any
Flat: TypeAlias = dict[str, Any]

TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
_MOST_COMBINATIONS = 64
_MOST_BRANCHES = 1000
# References that refer to each other twice double with every step.
_MOST_STEPS = 20_000
_COMBINING = frozenset(("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "const", "nullable"))
# Conditions that a grammar cannot express. They are left to validation.
_BEYOND = ("not", "if", "dependentSchemas", "dependentRequired", "dependencies", "contains", "unevaluatedItems")
_SPECIAL = _COMBINING | frozenset(_BEYOND)


@dataclass(frozen=True, slots=True, eq=False)
class AllOf:
    """A value that must match all of these."""

    parts: tuple[Schema, ...]


def all_of(*schemas: Schema) -> Schema:
    """Return the conjunction of `schemas`."""
    parts: list[Schema] = []
    for schema in schemas:
        for part in schema.parts if isinstance(schema, AllOf) else (schema,):
            if part is not True and not any(part is other for other in parts):
                parts.append(part)
    if not parts:
        return True
    return parts[0] if len(parts) == 1 else AllOf(tuple(parts))


def identity(schema: Schema) -> tuple[int, ...]:
    """Return a key that is equal for the same schemas."""
    return tuple(sorted(map(id, schema.parts))) if isinstance(schema, AllOf) else (id(schema),)


class SchemaDocument:
    """One tool's schema: the root for references, and the sink for warnings."""

    def __init__(self, root: Schema, warn: Callable[[str], None]) -> None:
        self._root = root
        self._warn = warn
        self._steps = 0

    def flat(self, schema: Schema, trail: frozenset[str] = frozenset()) -> list[Flat]:
        """Return the schemas of which a value must match one. Raises UnsupportedSchema if there are too many."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise SchemaTooLarge("it has too many combinations of references")
        if isinstance(schema, AllOf):
            return self._product([self.flat(part, trail) for part in schema.parts])
        if schema is True or schema is False:
            return [{}] if schema else []
        if type(schema) is not dict and not isinstance(schema, Mapping):
            self._warn(f"{schema!r:.40} is not a schema")
            return [{}]
        if _SPECIAL.isdisjoint(schema):
            return [self._base(schema)]
        return self._product(self._factors(schema, trail))

    def _factors(self, schema: Mapping[str, Any], trail: frozenset[str]) -> list[list[Flat]]:
        for key in _BEYOND:
            if key in schema:
                self._warn(f"{key} cannot be enforced")
        base = self._base({key: value for key, value in schema.items() if key not in _SPECIAL})
        if "const" in schema:
            base = merged(base, {"enum": [schema["const"]]})
        if schema.get("nullable") is True and "type" in base:
            base["type"] = (*base["type"], "null")
            if "enum" in base and None not in base["enum"]:
                base["enum"] = [*base["enum"], None]
        factors = [[base]]
        factors += [self._referred(schema[key], trail) for key in ("$ref", "$dynamicRef") if key in schema]
        factors += [self.flat(part, trail) for part in self.list_of(schema, "allOf")]
        for key in ("anyOf", "oneOf"):
            if branches := self.list_of(schema, key):
                factors.append([flat for branch in branches for flat in self.flat(branch, trail)])
                if len(factors[-1]) > _MOST_BRANCHES:
                    raise UnsupportedSchema("too many branches of anyOf and oneOf")
        return factors

    def _base(self, schema: Mapping[str, Any]) -> Flat:
        """Return the schema's own conditions in normal form."""
        base = dict(schema)
        if "pattern" in base:
            base["pattern"] = (base["pattern"],)
        if "enum" in base and not isinstance(base["enum"], Sequence):
            self._warn("enum is not a list")
            del base["enum"]
        if "type" in base:
            base["type"] = self._types(base["type"])
        return base

    def _types(self, written: Schema) -> tuple[str, ...]:
        if isinstance(written, str) and written in TYPES:
            return (written,)
        names = [written] if isinstance(written, str) else written
        if not isinstance(names, Sequence):
            names = [names]
        known = tuple(name for name in names if isinstance(name, str) and name in TYPES)
        if len(known) < len(names):
            self._warn(f"unknown type {written!r:.40}")
        return known or TYPES

    def list_of(self, schema: Mapping[str, Any], key: str) -> Sequence[Any]:
        """Return the list under that key; anything else gives a warning, and an empty one."""
        found = schema.get(key, ())
        if isinstance(found, Sequence) and not isinstance(found, str):
            return found
        self._warn(f"{key} is not a list")
        return ()

    def mapping_of(self, schema: Mapping[str, Any], key: str) -> Mapping[str, Schema]:
        """Return the object under that key; anything else gives a warning, and an empty one."""
        found = schema.get(key, {})
        if isinstance(found, Mapping):
            return found
        self._warn(f"{key} is not an object")
        return {}

    def _product(self, factors: Sequence[list[Flat]]) -> list[Flat]:
        found: list[Flat] = [{}]
        for factor in factors:
            if len(found) * len(factor) > _MOST_COMBINATIONS and len(found) > 1:
                raise UnsupportedSchema("too many combinations of anyOf and oneOf")
            found = [merged(one, other) for one in found for other in factor] if found != [{}] else factor
        return found

    def _referred(self, ref: Schema, trail: frozenset[str]) -> list[Flat]:
        if not isinstance(ref, str):
            self._warn(f"$ref {ref!r:.40} is not a string")
            return [{}]
        if ref in trail:
            # A self-reference adds no condition.
            return []
        try:
            target = self._resolve(ref)
        except LookupError:
            self._warn(f"$ref {ref:.60} cannot be resolved")
            return [{}]
        return self.flat(target, trail | {ref})

    def _resolve(self, ref: str) -> Schema:
        """Return the schema that `ref` points to in this document. Raises LookupError."""
        own_id = self._root.get("$id") if isinstance(self._root, Mapping) else None
        if isinstance(own_id, str) and own_id and ref.startswith(own_id):
            ref = ref[len(own_id) :] or "#"
        if not ref.startswith("#"):
            raise LookupError(ref)
        pointer = unquote(ref[1:])
        if pointer and not pointer.startswith("/"):
            return self._anchored(pointer)
        found = self._root
        for token in pointer.split("/")[1:]:
            key = token.replace("~1", "/").replace("~0", "~")
            if isinstance(found, Mapping):
                found = found[key]
            elif isinstance(found, Sequence) and not isinstance(found, str) and key.isdecimal():
                found = found[int(key)]
            else:
                raise LookupError(ref)
        return found

    def _anchored(self, name: str) -> Schema:
        waiting = [self._root]
        while waiting:
            here = waiting.pop()
            if isinstance(here, Mapping):
                if name in (here.get("$anchor"), here.get("$dynamicAnchor")):
                    return here
                waiting += here.values()
            elif isinstance(here, list):
                waiting += here
        raise LookupError(name)


def merged(one: Flat, other: Flat) -> Flat:
    """Return one schema with the conditions of both."""
    if not one or not other:
        return dict(one or other)
    result = {**one, **other}
    for key in one.keys() & other.keys() & _MERGED.keys():
        result[key] = _MERGED[key](one[key], other[key])
    if "properties" in one or "properties" in other:
        result["properties"] = _merged_members(one, other, "properties", "additionalProperties")
    if "prefixItems" in one and "prefixItems" in other:
        result["prefixItems"] = list(_merged_members(one, other, "prefixItems", "items").values())
    return result


def _merged_members(one: Flat, other: Flat, key: str, rest: str) -> dict[str | int, Schema]:
    """Merge members by name, or items by position; one that only one schema has matches the rest of the other."""
    mine, theirs = (_by_place(flat.get(key)) for flat in (one, other))
    my_rest, their_rest = one.get(rest, True), other.get(rest, True)
    return {at: all_of(mine.get(at, my_rest), theirs.get(at, their_rest)) for at in {**mine, **theirs}}


def _by_place(members: Schema) -> Mapping[str | int, Schema]:
    return members if isinstance(members, Mapping) else dict(enumerate(members)) if isinstance(members, list) else {}


def _bound(pick: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda mine, theirs: pick(mine, theirs) if is_number(mine) and is_number(theirs) else theirs


def _common_types(mine: Sequence[str], theirs: Sequence[str]) -> tuple[str, ...]:
    wide = set(theirs) | ({"integer"} if "number" in theirs else set())
    found = [name for name in mine if name in wide]
    if "number" in mine and "integer" in theirs and "number" not in theirs and "integer" not in found:
        found.append("integer")
    return tuple(found)


def _common_values(mine: Sequence[Any], theirs: Sequence[Any]) -> list[Any]:
    known = set(map(value_key, theirs))
    return [value for value in mine if value_key(value) in known]


_MERGED: dict[str, Callable[[Any, Any], Any]] = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), _bound(max)),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), _bound(min)),
    **dict.fromkeys(
        ("items", "additionalItems", "additionalProperties", "unevaluatedProperties", "propertyNames"), all_of
    ),
    "type": _common_types,
    "enum": _common_values,
    "required": lambda mine, theirs: [*mine, *(name for name in theirs if name not in mine)],
    "pattern": lambda mine, theirs: (*mine, *theirs),
    "patternProperties": lambda mine, theirs: {**mine, **{at: all_of(mine.get(at, True), theirs[at]) for at in theirs}},
    "multipleOf": lambda mine, theirs: (
        math.lcm(mine, theirs) if isinstance(mine, int) and isinstance(theirs, int) else theirs
    ),
}


def is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool) and math.isfinite(value)


def value_key(value: object) -> str:
    """Return the same text for equal JSON values: 1 is 1.0, but not true."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, sort_keys=True, default=str)


def _type_of(value: object) -> str:
    if isinstance(value, float):
        return "integer" if value.is_integer() else "number"
    return next((name for kind, name in _PYTHON_TYPES.items() if isinstance(value, kind)), "array")


_PYTHON_TYPES: dict[type, str] = {bool: "boolean", type(None): "null", int: "integer", str: "string", Mapping: "object"}


def fits(value: object, flat: Flat) -> bool:
    """Whether an enum value matches the other conditions (as far as they apply to a scalar)."""
    kind = _type_of(value)
    types = flat.get("type", TYPES)
    if kind not in types and not (kind == "integer" and "number" in types):
        return False
    if isinstance(value, str):
        patterns = flat.get("pattern", ())
        return flat.get("minLength", 0) <= len(value) <= flat.get("maxLength", math.inf) and all(
            is_found(pattern, value, otherwise=True) for pattern in patterns if isinstance(pattern, str)
        )
    if isinstance(value, int | float) and not isinstance(value, bool):
        return bool(flat.get("minimum", -math.inf) <= value <= flat.get("maximum", math.inf))
    return True


class Members:
    """The members of one object: `names` in the order of the schema, and the `others` that may follow."""

    def __init__(self, flat: Flat, document: SchemaDocument) -> None:
        self._named = document.mapping_of(flat, "properties")
        self.by_pattern = document.mapping_of(flat, "patternProperties")
        # Draft 3 has a boolean at each member; it has no meaning here.
        required = () if isinstance(flat.get("required"), bool) else document.list_of(flat, "required")
        self.required = [name for name in required if isinstance(name, str)]
        self.names = tuple(dict.fromkeys((*self._named, *self.required)))
        self.key_schema = flat.get("propertyNames", True)
        # Additional members are allowed only if the schema names none, or asks for them.
        is_open = "properties" not in flat and "patternProperties" not in flat
        asked = flat.get("additionalProperties", flat.get("unevaluatedProperties"))
        self.others = is_open if asked is None else asked
        self._undeclared = True if asked is None else asked

    def schema_of(self, name: str) -> Schema:
        matching = [schema for pattern, schema in self.by_pattern.items() if is_found(pattern, name, otherwise=False)]
        if name in self._named:
            return all_of(self._named[name], *matching)
        return all_of(*matching) if matching else self._undeclared

    def may_have(self, name: str) -> bool:
        """Whether `propertyNames` allows this name."""
        schema = self.key_schema
        if not isinstance(schema, Mapping):
            return schema is not False
        patterns = (schema["pattern"],) if "pattern" in schema else ()
        return fits(name, {**schema, "pattern": patterns, "type": ("string",)}) and (
            "enum" not in schema or name in schema["enum"]
        )

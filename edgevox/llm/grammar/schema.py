"""Normalises a JSON Schema: resolves references, expands combinations, merges conditions on one value.

The result are flat schemas, one of which a value must match. They are plain mappings; where two schemas meet on one
member, its schema is an `AllOf` of the two, which are not copied: recursion is detected by identity.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias
from urllib.parse import unquote

from edgevox.llm.grammar.language import UnsupportedSchema

Schema: TypeAlias = Any
Flat: TypeAlias = dict[str, Any]

TYPES = ("object", "array", "string", "number", "integer", "boolean", "null")
_MOST_COMBINATIONS = 64
_COMBINING = frozenset(("$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "const", "nullable"))
# Conditions that a grammar cannot express. They are left to validation.
_BEYOND = ("not", "if", "dependentSchemas", "dependentRequired", "dependencies", "contains", "unevaluatedItems")
_SPECIAL = _COMBINING | frozenset(_BEYOND)
_GREATER = ("minimum", "minLength", "minItems", "minProperties")
_LESSER = ("maximum", "maxLength", "maxItems", "maxProperties")


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

    def flat(self, schema: Schema, trail: frozenset[str] = frozenset()) -> list[Flat]:
        """Return the schemas of which a value must match one. Raises UnsupportedSchema if there are too many."""
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
        factors += [self.flat(part, trail) for part in self._list(schema, "allOf")]
        for key in ("anyOf", "oneOf"):
            branches = self._list(schema, key)
            if branches:
                factors.append([flat for branch in branches for flat in self.flat(branch, trail)])
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

    def _list(self, schema: Mapping[str, Any], key: str) -> Sequence[Schema]:
        found = schema.get(key, ())
        if isinstance(found, Sequence) and not isinstance(found, str):
            return found
        self._warn(f"{key} is not a list")
        return ()

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
    for key in one.keys() & other.keys():
        mine, theirs = one[key], other[key]
        if key in _GREATER and is_number(mine) and is_number(theirs):
            result[key] = max(mine, theirs)
        elif key in _LESSER and is_number(mine) and is_number(theirs):
            result[key] = min(mine, theirs)
        elif key == "type":
            result[key] = _common_types(mine, theirs)
        elif key == "enum":
            known = set(map(value_key, theirs))
            result[key] = [value for value in mine if value_key(value) in known]
        elif key == "required":
            result[key] = [*mine, *(name for name in theirs if name not in mine)]
        elif key == "pattern":
            result[key] = (*mine, *theirs)
        elif key == "multipleOf" and isinstance(mine, int) and isinstance(theirs, int):
            result[key] = math.lcm(mine, theirs)
        elif key in ("items", "additionalProperties", "propertyNames", "unevaluatedProperties", "additionalItems"):
            result[key] = all_of(mine, theirs)
        elif key == "patternProperties":
            result[key] = {**mine, **{name: all_of(mine.get(name, True), theirs[name]) for name in theirs}}
        elif key == "uniqueItems":
            result[key] = mine or theirs
    if "exclusiveMinimum" in one and "exclusiveMinimum" in other:
        result["exclusiveMinimum"] = _tighter(one, other, "exclusiveMinimum", max)
    if "exclusiveMaximum" in one and "exclusiveMaximum" in other:
        result["exclusiveMaximum"] = _tighter(one, other, "exclusiveMaximum", min)
    if "properties" in one or "properties" in other:
        result["properties"] = _merged_properties(one, other)
    if "prefixItems" in one and "prefixItems" in other:
        result["prefixItems"] = _merged_items(one, other)
    return result


def _tighter(one: Flat, other: Flat, key: str, pick: Callable[..., Any]) -> Any:  # noqa: ANN401  (a JSON value)
    mine, theirs = one[key], other[key]
    return pick(mine, theirs) if is_number(mine) and is_number(theirs) else theirs


def _common_types(mine: Sequence[str], theirs: Sequence[str]) -> tuple[str, ...]:
    wide = set(theirs) | ({"integer"} if "number" in theirs else set())
    found = [name for name in mine if name in wide]
    if "number" in mine and "integer" in theirs and "number" not in theirs and "integer" not in found:
        found.append("integer")
    return tuple(found)


def _merged_properties(one: Flat, other: Flat) -> Flat:
    mine, theirs = one.get("properties", {}), other.get("properties", {})
    if not isinstance(mine, Mapping) or not isinstance(theirs, Mapping):
        return dict(mine if isinstance(mine, Mapping) else {})
    found = {}
    for name in (*mine, *(name for name in theirs if name not in mine)):
        if name in mine and name in theirs:
            found[name] = all_of(mine[name], theirs[name])
        elif name in mine:
            found[name] = all_of(mine[name], other.get("additionalProperties", True))
        else:
            found[name] = all_of(theirs[name], one.get("additionalProperties", True))
    return found


def _merged_items(one: Flat, other: Flat) -> list[Schema]:
    mine, theirs = one["prefixItems"], other["prefixItems"]
    size = max(len(mine), len(theirs))
    return [
        all_of(
            mine[at] if at < len(mine) else one.get("items", True),
            theirs[at] if at < len(theirs) else other.get("items", True),
        )
        for at in range(size)
    ]


def is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool) and math.isfinite(value)


def value_key(value: object) -> str:
    """Return the same text for equal JSON values: 1 is 1.0, but not true."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, sort_keys=True, default=str)


def type_of(value: object) -> str:
    match value:
        case bool():
            return "boolean"
        case None:
            return "null"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "number"
        case str():
            return "string"
        case Mapping():
            return "object"
        case _:
            return "array"


def fits(value: object, flat: Flat) -> bool:
    """Whether an enum value matches the other conditions (as far as they apply to a scalar)."""
    kind = type_of(value)
    types = flat.get("type", TYPES)
    if kind not in types and not (kind == "integer" and "number" in types):
        return False
    if isinstance(value, str):
        patterns = flat.get("pattern", ())
        return flat.get("minLength", 0) <= len(value) <= flat.get("maxLength", math.inf) and all(
            _found(pattern, value) for pattern in patterns
        )
    if isinstance(value, int | float) and not isinstance(value, bool):
        return bool(flat.get("minimum", -math.inf) <= value <= flat.get("maximum", math.inf))
    return True


def _found(pattern: object, value: str) -> bool:
    try:
        return isinstance(pattern, str) and re.search(pattern, value) is not None
    except re.error:
        return True

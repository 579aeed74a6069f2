"""Instances of a schema: valid ones in the order of the grammar, and invalid ones."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from typing import Any

_MAX_CHARS = 256
_MAX_ITEMS = 32
_MAX_MEMBERS = 16
_MAX_DEPTH = 5


class Many:
    """How many members an object gets: hypothesis-jsonschema's way of asking is gone from Hypothesis."""

    def __init__(self, data: Any, *, min_size: int, max_size: float, average_size: float) -> None:
        self._data = data
        self._min_size = min_size
        self._max_size = max_size
        self._chance = 1 - 1 / (1 + max(0.5, average_size - min_size))
        self._count = 0

    def more(self) -> bool:
        if self._count >= self._max_size:
            return False
        if self._count >= self._min_size and not self._data.draw_boolean(self._chance):
            return False
        self._count += 1
        return True

    def reject(self) -> None:
        self._count -= 1


def closed(schema: Any) -> Any:
    """The schema as a grammar reads it: where members are named, no others are allowed unless it says so."""
    if isinstance(schema, list):
        return [closed(part) for part in schema]
    if not isinstance(schema, Mapping):
        return schema
    result = {key: value if key in ("enum", "const") else closed(value) for key, value in schema.items()}
    if isinstance(result.get("properties"), dict) and not isinstance(result.get("type"), dict):
        combined = any(key in schema for key in ("allOf", "anyOf", "oneOf", "$ref"))
        result.setdefault("unevaluatedProperties" if combined else "additionalProperties", False)
    return result


def within_bounds(value: Any, depth: int = 0) -> bool:
    """Whether a value keeps to the bounds that a grammar sets where the schema sets none."""
    match value:
        case str():
            return len(value) <= _MAX_CHARS and all(ord(char) < 0x40000 for char in value) and "\0" not in value
        case dict():
            return (
                depth < _MAX_DEPTH
                and len(value) <= _MAX_MEMBERS
                and all(len(key) <= 60 and within_bounds(key) for key in value)
                and all(within_bounds(member, depth + 1) for member in value.values())
            )
        case list():
            return depth < _MAX_DEPTH and len(value) <= _MAX_ITEMS and all(within_bounds(v, depth + 1) for v in value)
        case float():
            # Programs differ in how they write a whole float, and a very small one.
            return abs(value) < 1e38 and "e-" not in repr(value) and not value.is_integer()
        case int():
            return abs(value) < 10**38
        case _:
            return True


def in_order(value: Any, schema: Any, root: Any) -> Any:
    """The same value, its members in the order of the schema, unnamed ones last."""
    if isinstance(value, list):
        return [in_order(item, part, root) for item, part in zip(value, _items(schema, len(value), root), strict=True)]
    if not isinstance(value, dict):
        return value
    named = _properties(schema, root, 0)
    keys = [*(key for key in named if key in value), *(key for key in value if key not in named)]
    return {key: in_order(value[key], {"allOf": named.get(key, [])}, root) for key in keys}


def _parts(schema: Any, root: Any, depth: int) -> Iterator[Mapping[str, Any]]:
    if not isinstance(schema, Mapping) or depth > 12:
        return
    yield schema
    if isinstance(schema.get("$ref"), str) and schema["$ref"].startswith("#"):
        yield from _parts(_resolved(schema["$ref"], root), root, depth + 1)
    for key in ("allOf", "anyOf", "oneOf"):
        for part in schema.get(key, ()):
            yield from _parts(part, root, depth + 1)


def _properties(schema: Any, root: Any, depth: int) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for part in _parts(schema, root, depth):
        for key, member in part.get("properties", {}).items():
            found.setdefault(key, []).append(member)
        for key in part.get("required", ()):
            found.setdefault(key, []).append(part.get("additionalProperties", True))
    return found


def _items(schema: Any, size: int, root: Any) -> list[Any]:
    wanted: list[list[Any]] = [[] for _ in range(size)]
    for part in _parts(schema, root, 0):
        first = part.get("prefixItems", [])
        for at in range(size):
            wanted[at].append(first[at] if at < len(first) else part.get("items", True))
    return [{"allOf": parts} for parts in wanted]


def _resolved(ref: str, root: Any) -> Any:
    found = root
    for token in ref[1:].split("/")[1:]:
        found = found.get(token.replace("~1", "/").replace("%20", " "), {}) if isinstance(found, Mapping) else {}
    return found


def broken(value: Any) -> Iterator[Any]:
    """The value with one thing changed, in many places and ways; some of these may still be valid."""
    for other in (None, True, 7, -1, 1.5, "", "zzz", [], {}, [None], {"zzz": 1}, 10**6, "x" * 300):
        yield other
    match value:
        case dict():
            for key in value:
                yield {k: v for k, v in value.items() if k != key}
                for other in list(broken(value[key]))[:16]:
                    yield {**value, key: other}
            yield {**value, "zzz": 1}
        case list():
            yield value[:-1]
            yield [*value, *value, *value]
            yield [*value, None]
            for at, item in enumerate(value[:2]):
                for other in list(broken(item))[:16]:
                    changed = copy.copy(value)
                    changed[at] = other
                    yield changed
        case str():
            yield value[:-1]
            yield value + "~"
            yield value.swapcase()
        case bool() | None:
            yield int(bool(value))
        case int() | float():
            yield -value - 1
            yield value + 1
            yield value + 0.5
            yield value * 10 + 3


def written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)

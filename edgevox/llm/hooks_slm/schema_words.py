"""A tool's parameters in one sentence, for a model that got them wrong."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

_MAX_OPTIONAL = 8
_MAX_CHOICES = 10
_KINDS = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}


def explained(tool: str, schema: Mapping[str, Any]) -> str:
    """Everything the tool takes."""
    properties = _properties(schema)
    if not properties:
        return f"{tool} takes no arguments."
    needed = required(schema)
    optional = [name for name in properties if name not in needed]
    shown = [_parameter(name, properties[name]) for name in optional[:_MAX_OPTIONAL]]
    if len(optional) > _MAX_OPTIONAL:
        shown.append("others")
    parts = []
    if needed:
        parts.append(f"needs {listed(_parameter(name, properties.get(name)) for name in needed)}")
    if shown:
        parts.append(f"can take {listed(shown)}")
    return f"{tool} {' and '.join(parts)}."


def needs(tool: str, schema: Mapping[str, Any]) -> str:
    """What the tool cannot do without; empty when that is nothing."""
    properties = _properties(schema)
    missing = [_parameter(name, properties.get(name)) for name in required(schema)]
    return f"{tool} needs {listed(missing)}" if missing else ""


def required(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the parameters that must be given."""
    names = schema.get("required")
    return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list | tuple) else ()


def listed(words: Iterable[str]) -> str:
    """`a, b and c`."""
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _parameter(name: str, schema: object) -> str:
    kind = _kind(schema) if isinstance(schema, Mapping) else ""
    return f"{name} ({kind})" if kind else name


def _kind(schema: Mapping[str, Any]) -> str:
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(choices, list | tuple):
        shown = [_shown(choice) for choice in choices[:_MAX_CHOICES]]
        more = ["…"] if len(choices) > _MAX_CHOICES else []
        return f"one of {', '.join(shown + more)}" if len(choices) > 1 else "".join(shown)
    for key in ("anyOf", "oneOf"):
        if isinstance(ways := schema.get(key), list | tuple):
            kinds = (_kind(way) for way in ways if isinstance(way, Mapping) and way.get("type") != "null")
            return " or ".join(dict.fromkeys(filter(None, kinds)))
    types = schema.get("type")
    if isinstance(types, list | tuple):
        return " or ".join(_kind({**schema, "type": kind}) for kind in types if kind != "null")
    if not isinstance(types, str):
        return "an object" if "$ref" in schema or "properties" in schema else ""
    return f"{_KINDS.get(types, types)}{_range(schema)}{_members(schema)}"


def _range(schema: Mapping[str, Any]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None and high is not None:
        return f" from {low} to {high}"
    if low is not None:
        return f", at least {low}"
    return f", at most {high}" if high is not None else ""


def _members(schema: Mapping[str, Any]) -> str:
    items = schema.get("items")
    if isinstance(items, Mapping) and (kind := _kind(items)):
        return f" of {kind}"
    properties = _properties(schema)
    return f" with {listed(properties)}" if properties else ""


def _shown(choice: object) -> str:
    return choice if isinstance(choice, str) else json.dumps(choice, ensure_ascii=False, default=str)

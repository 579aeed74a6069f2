"""One value as one JSON type, where its spelling leaves no doubt."""

from __future__ import annotations

import json
import math

from edgevox.llm.tool_parsers.json_repair import MAX_DEPTH, JsonValue, Unquoted, Unreadable, loads

_TRUE = {"true", "yes", "on", "1"}
_FALSE = {"false", "no", "off", "0"}
_NULL = {"null", "none", "nil"}
# Longer ones are not numbers that anybody meant.
_MAX_NUMBER_CHARS = 400


class NotConverted:
    """What `_convert` gives for a value that is not of that kind in any spelling."""


NOT_CONVERTED = NotConverted()


def convert(value: JsonValue, kind: str) -> JsonValue | NotConverted:
    """`value` as a `kind`, where its spelling leaves no doubt."""
    match kind:
        case "string":
            return _to_string(value)
        case "integer":
            return _to_integer(value)
        case "number":
            return _to_number(value)
        case "boolean":
            return _to_boolean(value)
        case "null":
            return None if isinstance(value, str) and value.strip().lower() in _NULL else NOT_CONVERTED
        case "array":
            return _to_array(value)
        case "object":
            found = parsed(value)
            return found if isinstance(found, dict) else NOT_CONVERTED
        case _:
            return NOT_CONVERTED


def _to_string(value: JsonValue) -> JsonValue | NotConverted:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    return NOT_CONVERTED


def _to_integer(value: JsonValue) -> JsonValue | NotConverted:
    number = _to_number(value)
    if isinstance(number, float) and number.is_integer() and abs(number) < 2**63:
        return int(number)
    return number if isinstance(number, int) else NOT_CONVERTED


def _to_number(value: JsonValue) -> JsonValue | NotConverted:
    if isinstance(value, bool):
        return NOT_CONVERTED
    if isinstance(value, int | float):
        return value
    if isinstance(value, str) and len(value) < _MAX_NUMBER_CHARS:
        for read in (int, float):
            try:
                number = read(value)
            except ValueError:
                continue
            return number if math.isfinite(number) else NOT_CONVERTED
    return NOT_CONVERTED


def _to_boolean(value: JsonValue) -> JsonValue | NotConverted:
    if isinstance(value, str):
        word = value.strip().lower()
        if word in _TRUE:
            return True
        if word in _FALSE:
            return False
    elif isinstance(value, int) and value in (0, 1):
        return bool(value)
    return NOT_CONVERTED


def _to_array(value: JsonValue) -> JsonValue | NotConverted:
    found = parsed(value)
    return found if isinstance(found, list) else NOT_CONVERTED


def parsed(value: JsonValue) -> JsonValue:
    """What a string that holds a list or an object holds; anything else is itself."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[", "(")):
        return value
    try:
        return loads(value.strip())
    except Unreadable:
        return value


def _guess(text: Unquoted) -> JsonValue:
    stripped = text.strip()
    if stripped[:1] and stripped[:1] in "{[":
        found = parsed(Unquoted(stripped))
        return str(text) if isinstance(found, str) else settle(found)
    if stripped[:1] == '"' and stripped[-1:] == '"' and len(stripped) > 1:
        try:
            return str(json.loads(stripped))
        except ValueError:
            return str(text)
    if stripped in ("true", "True"):
        return True
    if stripped in ("false", "False"):
        return False
    if stripped in ("null", "None"):
        return None
    number = _to_number(stripped)
    return str(text) if isinstance(number, NotConverted) else number


def is_kind(value: JsonValue, kind: str) -> bool:
    """Whether a value is of a JSON type already."""
    match kind:
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "null":
            return value is None
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, dict)
        case _:
            return False


def settle(value: JsonValue, depth: int = 0) -> JsonValue:
    """A value without a schema: what was written without quotes takes the type that it looks like."""
    if isinstance(value, Unquoted):
        return _guess(value)
    if depth > MAX_DEPTH:
        return value
    if isinstance(value, dict):
        return {key: settle(member, depth + 1) for key, member in value.items()}
    if isinstance(value, list):
        return [settle(member, depth + 1) for member in value]
    return value

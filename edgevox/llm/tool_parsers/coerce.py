"""Coerces arguments to the tool's JSON Schema: converts a value if its spelling is unambiguous.

Nothing is dropped. A value that does not fit is left unchanged and listed as a problem.
"""

from __future__ import annotations

import json
import math
from collections import ChainMap
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard

from edgevox.llm.tool_parsers.json_repair import (
    LITERALS,
    MAX_DEPTH,
    JsonValue,
    Unquoted,
    Unreadable,
    join_surrogates,
    loads,
)

_TRUE = {"true", "yes", "on", "1"}
_FALSE = {"false", "no", "off", "0"}
_NULL = {"null", "none", "nil"}
# Longer ones are not meant as numbers.
_MAX_NUMBER_CHARS = 400
_MAX_REFERENCES = 16
_MAX_UNIONS = 8
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
# The JSON types, in the order in which allowed ones are tried; string last, since anything can be one.
_CLASSES: dict[str, type | tuple[type, ...]] = {
    "null": type(None),
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
    "string": str,
}
_ORDER = {kind: at for at, kind in enumerate(_CLASSES)}
# Values that need no conversion: exactly this class, if the schema restricts only the type.
_EXACT = {"string": str, "boolean": bool, "integer": int, "number": float, "null": type(None)}
_RESTRICTING = frozenset(("const", "anyOf", "oneOf", "allOf", "$ref"))


class NotConverted:
    """The result of `convert` for a value that is not of that type in any spelling."""


NOT_CONVERTED = NotConverted()


def convert(value: JsonValue, kind: str) -> JsonValue | NotConverted:
    """Convert `value` to the JSON type `kind` if its spelling is unambiguous."""
    word = value.strip().lower() if isinstance(value, str) else ""
    match kind:
        case "string" if isinstance(value, str):
            return str(value)
        case "string" if isinstance(value, int | float):
            return json.dumps(value)
        case "integer":
            number = _to_number(value)
            if isinstance(number, float) and number.is_integer() and abs(number) < 2**63:
                return int(number)
            return number if isinstance(number, int) else NOT_CONVERTED
        case "number":
            return _to_number(value)
        case "boolean" if word in _TRUE or (isinstance(value, int) and value == 1):
            return True
        case "boolean" if word in _FALSE or (isinstance(value, int) and value == 0):
            return False
        case "null" if word in _NULL:
            return None
        case "array" | "object":
            found = parsed(value)
            return found if is_kind(found, kind) else NOT_CONVERTED
    return NOT_CONVERTED


def _to_number(value: JsonValue) -> int | float | NotConverted:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and len(value) < _MAX_NUMBER_CHARS:
        for read in (int, float):
            try:
                number = read(value)
            except ValueError:
                continue
            return number if math.isfinite(number) else NOT_CONVERTED
    return NOT_CONVERTED


def parsed(value: JsonValue) -> JsonValue:
    """Parse a string that contains a list or an object; return anything else unchanged."""
    if not isinstance(value, str) or not value.lstrip().startswith(("{", "[", "(")):
        return value
    try:
        return loads(value.strip())
    except Unreadable:
        return value


def _guess(text: Unquoted) -> JsonValue:
    stripped = text.strip()
    if stripped.startswith(("{", "[")):
        found = parsed(stripped)
        return str(text) if isinstance(found, str) else settle(found)
    if stripped[:1] == '"' and stripped[-1:] == '"' and len(stripped) > 1:
        try:
            return str(json.loads(stripped))
        except ValueError:
            return str(text)
    if stripped in LITERALS:
        return LITERALS[stripped]
    number = _to_number(stripped)
    return str(text) if isinstance(number, NotConverted) else number


def is_kind(value: JsonValue, kind: str) -> bool:
    """Whether a value is of a JSON type."""
    return isinstance(value, _CLASSES.get(kind, ())) and (kind == "boolean" or not isinstance(value, bool))


def settle(value: JsonValue, depth: int = 0) -> JsonValue:
    """Convert a value without a schema: an unquoted value takes the type it looks like."""
    if isinstance(value, Unquoted):
        return _guess(value)
    if depth > MAX_DEPTH:
        return value
    if isinstance(value, dict):
        return {key: settle(member, depth + 1) for key, member in value.items()}
    if isinstance(value, list):
        return [settle(member, depth + 1) for member in value]
    return value


def fit_arguments(
    arguments: Mapping[str, JsonValue], positional: Sequence[JsonValue], schema: Mapping[str, Any] | None
) -> tuple[dict[str, JsonValue], list[str]]:
    """Return the arguments converted to the schema, and the remaining problems."""
    if schema is None:
        problems = ["positional arguments, and no schema to name them"] if positional else []
        return {name: settle(value) for name, value in arguments.items()}, problems
    return _Coercion(schema).fit(arguments, positional)


def dumps(arguments: Mapping[str, JsonValue]) -> str:
    """Return standard JSON text. Raises ValueError for infinite numbers."""
    text = _ENCODER.encode(arguments)
    return text if text.isascii() else join_surrogates(text)


class _Coercion:
    """One schema, and the problems found while converting values to it."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._problems: list[str] = []
        self._unions = 0

    def fit(
        self, arguments: Mapping[str, JsonValue], positional: Sequence[JsonValue]
    ) -> tuple[dict[str, JsonValue], list[str]]:
        schema = self._resolve(self._root)
        properties = properties_of(schema)
        given = dict(arguments)
        only = positional[0] if len(positional) == 1 and not given else None
        if isinstance(only, dict) and all(key in properties for key in only):
            # f({"a": 1}) passes the arguments, unless the first parameter is an object.
            given, positional = dict(only), ()
        free = [name for name in properties if name not in given]
        for value in positional:
            if free:
                given[free.pop(0)] = value
            else:
                self._problems.append(f"one positional argument too many ({_shown(value)})")
        given = _unwrap(given, properties)
        return self._object(given, schema, ""), self._problems

    def _object(self, given: Mapping[str, JsonValue], schema: Mapping[str, Any], path: str) -> dict[str, JsonValue]:
        properties = properties_of(schema)
        extra = schema.get("additionalProperties")
        fitted: dict[str, JsonValue] = {}
        for written, value in given.items():
            name = written if written in properties else _matching_property(written, properties, given)
            if name in properties:
                fitted[name] = self._value(value, properties[name], f"{path}{name}")
            elif isinstance(extra, Mapping):
                fitted[name] = self._value(value, extra, f"{path}{name}")
            else:
                fitted[name] = settle(value)
                if extra is False:
                    self._problems.append(f"{path}{name} is not a parameter")
        self._problems += [f"{path}{name} is missing" for name in required_of(schema) if name not in fitted]
        return fitted

    def _value(self, value: JsonValue, schema: object, path: str) -> JsonValue:
        quick = _convert_simple(value, schema)
        if not isinstance(quick, NotConverted):
            return quick
        if path.count(".") + path.count("[") > MAX_DEPTH or not _is_mapping(schema):
            return settle(value)
        schema = self._resolve(schema)
        for union in ("anyOf", "oneOf"):
            options = schema.get(union)
            if isinstance(options, list | tuple) and options:
                return self._any_of(value, options, path)
        choices = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(choices, list | tuple) and choices:
            return self._choice(value, choices, path)
        types = _types(schema)
        if not types:
            return settle(value)
        for kind in types:
            if is_kind(value, kind) and not isinstance(value, Unquoted):
                return self._inside(value, schema, path)
        for kind in types:
            converted = convert(value, kind)
            if not isinstance(converted, NotConverted):
                return self._inside(converted, schema, path)
        self._problems.append(f"{path} should be {' or '.join(types)}, not {_shown(value)}")
        return settle(value)

    def _inside(self, value: JsonValue, schema: Mapping[str, Any], path: str) -> JsonValue:
        if isinstance(value, dict):
            return self._object(value, schema, f"{path}.")
        if isinstance(value, list):
            items = schema.get("items")
            return [self._value(member, items, f"{path}[{at}]") for at, member in enumerate(value)]
        return value

    def _any_of(self, value: JsonValue, options: Sequence[Any], path: str) -> JsonValue:
        if self._unions >= _MAX_UNIONS:
            # A union that refers to itself.
            return settle(value)
        self._unions += 1
        before, best = self._problems, None
        # An unquoted value is a string only if no other type fits.
        bare = isinstance(value, Unquoted)
        for option in sorted(options, key=lambda option: bare and self._only_strings(option)):
            self._problems = []
            fitted = self._value(value, option, path)
            if best is None or (best[1] and not self._problems):
                best = fitted, self._problems
            if not self._problems and (bare or (type(fitted) is type(value) and fitted == value)):
                best = fitted, []
                break
        assert best is not None
        self._unions -= 1
        self._problems = before + best[1]
        return best[0]

    def _only_strings(self, option: object) -> bool:
        return isinstance(option, Mapping) and _types(self._resolve(option)) == ["string"]

    def _choice(self, value: JsonValue, choices: Sequence[JsonValue], path: str) -> JsonValue:
        plain = str(value) if isinstance(value, Unquoted) else value
        for choice in choices:
            if choice == plain and type(choice) is type(plain):
                return choice
        spelled = _spelled(plain)
        for choice in choices:
            if _spelled(choice) == spelled:
                return choice
        self._problems.append(f"{path} should be one of {', '.join(map(_shown, choices))}, not {_shown(plain)}")
        return settle(value)

    def _resolve(self, schema: Mapping[str, Any]) -> Mapping[str, Any]:
        if "$ref" not in schema and "allOf" not in schema:
            return schema
        for _ in range(_MAX_REFERENCES):
            reference = schema.get("$ref")
            if isinstance(reference, str) and reference.startswith("#"):
                target: Any = self._root
                for part in filter(None, reference.lstrip("#").split("/")):
                    key = part.replace("~1", "/").replace("~0", "~")
                    target = target.get(key) if isinstance(target, Mapping) else None
                if not isinstance(target, Mapping):
                    return {}
                schema = target
                continue
            parts = schema.get("allOf")
            if isinstance(parts, list | tuple) and len(parts) > 0 and isinstance(parts[0], Mapping):
                own = {key: member for key, member in schema.items() if key != "allOf"}
                # Earlier parts come before later ones, and the schema's own keys before all.
                schema = dict(ChainMap(own, *(dict(part) for part in parts if isinstance(part, Mapping))))
                continue
            return schema
        return {}


def properties_of(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schemas of an object's members by name."""
    properties = schema.get("properties")
    return properties if _is_mapping(properties) else {}


def required_of(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of an object's required members."""
    names = schema.get("required")
    return tuple(name for name in names if isinstance(name, str)) if isinstance(names, list | tuple) else ()


def _is_mapping(value: object) -> TypeGuard[Mapping[str, Any]]:
    # isinstance on an abstract class takes many times as long as on a dict.
    return type(value) is dict or isinstance(value, Mapping)


def _convert_simple(value: JsonValue, schema: object) -> JsonValue | NotConverted:
    """Fast path: a plain type, and a value that is of it or unambiguously spells one."""
    if type(schema) is not dict or not _RESTRICTING.isdisjoint(schema):
        return NOT_CONVERTED
    kind = schema.get("type")
    if type(kind) is not str:
        return NOT_CONVERTED
    if type(value) is Unquoted:
        if kind == "string":
            value = str(value)
        elif kind == "boolean":
            value = LITERALS.get(value)
        elif kind == "integer" and value.isdecimal() and value.isascii() and len(value) < 16:
            value = int(value)
    if type(value) is not _EXACT.get(kind):
        return NOT_CONVERTED
    choices = schema.get("enum")
    return value if choices is None or (type(choices) is list and value in choices) else NOT_CONVERTED


def _types(schema: Mapping[str, Any]) -> list[str]:
    written = schema.get("type")
    types = [written] if isinstance(written, str) else [kind for kind in written or () if isinstance(kind, str)]
    if schema.get("nullable") is True and types and "null" not in types:
        types.append("null")
    if not types:
        if "properties" in schema:
            return ["object"]
        if "items" in schema:
            return ["array"]
    return sorted(types, key=lambda kind: _ORDER.get(kind, 0)) if len(types) > 1 else types


def _matching_property(written: str, properties: Mapping[str, Any], given: Mapping[str, JsonValue]) -> str:
    """Return the property that differs from `written` only in letter case, hyphens or spaces."""
    key = _spelled_key(written)
    meant = [name for name in properties if _spelled_key(name) == key and name not in given]
    return meant[0] if len(meant) == 1 else written


def _spelled_key(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def _spelled(value: JsonValue) -> str:
    return value.strip().lower() if isinstance(value, str) else json.dumps(value, default=str)


def _unwrap(given: dict[str, JsonValue], properties: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Unwrap arguments that a model put into a single one called `arguments`."""
    if len(given) == 1:
        name, value = next(iter(given.items()))
        if name in ("arguments", "parameters", "kwargs") and name not in properties:
            found = parsed(value)
            if isinstance(found, dict):
                return found
    return given


def _shown(value: JsonValue) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 40 else f"{text[:37]}..."

"""The filters and functions of templates, by Home Assistant's names. None makes much out of little."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from jinja2 import Undefined
from jinja2.exceptions import SecurityError

MAX_VALUE_CHARS = 16_384
_MAX_NUMBER = 1e15
_MAX_DIGITS = 12
_MISSING = object()

JOIN = "joined"  # what `a ~ b` becomes

_Function: TypeAlias = Callable[..., Any]


def checked(value: Any) -> Any:  # noqa: ANN401 - any value, and the same one back
    """The value, if it is not too large. Raises SecurityError."""
    match value:
        case str() | bytes() | list() | tuple() | dict():
            is_large = len(value) > MAX_VALUE_CHARS
        case int() | float():
            is_large = not abs(value) <= _MAX_NUMBER
        case _:
            is_large = False
    if is_large:
        raise SecurityError("a value has grown too large")
    return value


def _float(value: object, default: object = _MISSING) -> object:
    try:
        number = float(str(value))
    except ValueError:
        return _or(default)
    return number if math.isfinite(number) else _or(default)


def _int(value: object, default: object = _MISSING) -> object:
    number = _float(value, default)
    return int(number) if isinstance(number, float) else number


def _or(default: object) -> object:
    if default is _MISSING:
        raise ValueError("not a number")
    return default


def _round(value: object, precision: int = 0, method: str = "common", default: object = _MISSING) -> object:
    number = _float(value, default)
    if not isinstance(number, float):
        return number
    digits = max(-_MAX_DIGITS, min(int(precision), _MAX_DIGITS))
    step = 10.0**digits
    match method:
        case "ceil":
            number = math.ceil(number * step) / step
        case "floor":
            number = math.floor(number * step) / step
        case _:
            number = round(number, digits)
    return int(number) if digits == 0 else number


def _bool(value: object, default: object = False) -> object:
    match str(value).casefold():
        case "true" | "yes" | "on" | "enable" | "1" | "1.0":
            return True
        case "false" | "no" | "off" | "disable" | "0" | "0.0":
            return False
        case _:
            return default


def _default(value: object, instead: object = "", boolean: bool = False) -> object:
    return instead if isinstance(value, Undefined) or (boolean and not value) else value


def _replace(value: object, old: str, new: str) -> str:
    text = str(value)
    if len(text) + text.count(old) * len(new) > MAX_VALUE_CHARS:
        raise SecurityError("a text would grow too long")
    return text.replace(old, new)


def _join(values: Sequence[object], between: str = "") -> str:
    texts = [str(value) for value in values]
    if sum(map(len, texts)) + len(texts) * len(between) > MAX_VALUE_CHARS:
        raise SecurityError("a text would grow too long")
    return between.join(texts)


def _iif(
    condition: object, if_true: object = True, if_false: object = False, if_none: object = None
) -> object:
    return if_none if condition is None else if_true if condition else if_false


def _is_defined(value: object) -> object:
    if isinstance(value, Undefined):
        raise ValueError("not there")  # noqa: TRY004 - the message does not say it: no mistake of a type
    return value


def _sized(function: _Function) -> _Function:
    return lambda *given, **named: checked(function(*given, **named))


_PLAIN: dict[str, _Function] = {
    "abs": lambda value: abs(value),
    "bool": _bool,
    "capitalize": lambda value: str(value).capitalize(),
    "count": len,
    "d": _default,
    "default": _default,
    "first": lambda values: values[0],
    "float": _float,
    "from_json": lambda value: json.loads(checked(str(value))),
    "iif": _iif,
    "int": _int,
    "is_defined": _is_defined,
    "join": _join,
    JOIN: _join,
    "last": lambda values: values[-1],
    "length": len,
    "lower": lambda value: str(value).lower(),
    "max": lambda values: max(values),
    "min": lambda values: min(values),
    "replace": _replace,
    "round": _round,
    "string": str,
    "title": lambda value: str(value).title(),
    "to_json": json.dumps,
    "tojson": json.dumps,
    "trim": lambda value: str(value).strip(),
    "upper": lambda value: str(value).upper(),
}
FILTERS = {name: _sized(function) for name, function in _PLAIN.items()}
FUNCTIONS = {name: FILTERS[name] for name in ("bool", "float", "iif", "int", "max", "min")}

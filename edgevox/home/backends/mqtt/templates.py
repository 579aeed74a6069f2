"""A restricted Jinja for the templates of discovery messages.

Templates are untrusted, because every publisher can announce one: no loops, macros or Python attributes, and
no filter or value may grow. The cost of a template is then bounded by its length.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from jinja2 import Template as JinjaTemplate
from jinja2 import TemplateError, Undefined, nodes
from jinja2.exceptions import SecurityError
from jinja2.filters import FILTERS as JINJA_FILTERS
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment
from jinja2.visitor import NodeTransformer

MAX_VALUE_CHARS = 16_384
_MAX_NUMBER = 1e15
_MAX_DIGITS = 12
_MISSING = object()

JOIN = "joined"  # the filter that replaces `a ~ b`

_Function: TypeAlias = Callable[..., Any]


def checked(value: Any) -> Any:  # noqa: ANN401 - any value, and the same one back
    """Return the value. Raises SecurityError if it is too large."""
    match value:
        case str() | bytes() | list() | tuple() | dict():
            is_large = len(value) > MAX_VALUE_CHARS
        case int() | float():
            is_large = not abs(value) <= _MAX_NUMBER
        case _:
            is_large = False
    if is_large:
        raise SecurityError("a value is too large")
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


def _replace(value: object, old: str, new: str) -> str:
    text = str(value)
    if len(text) + text.count(old) * len(new) > MAX_VALUE_CHARS:
        raise SecurityError("a text is too long")
    return text.replace(old, new)


def _join(values: Sequence[object], between: str = "") -> str:
    texts = [str(value) for value in values]
    if sum(map(len, texts)) + len(texts) * len(between) > MAX_VALUE_CHARS:
        raise SecurityError("a text is too long")
    return between.join(texts)


def _iif(condition: object, if_true: object = True, if_false: object = False, if_none: object = None) -> object:
    return if_none if condition is None else if_true if condition else if_false


def _is_defined(value: object) -> object:
    if isinstance(value, Undefined):
        raise ValueError("not there")  # noqa: TRY004 - the message does not say it: no mistake of a type
    return value


def _sized(function: _Function) -> _Function:
    return lambda *given, **named: checked(function(*given, **named))


_OWN: dict[str, _Function] = {
    "bool": _bool,
    "first": lambda values: values[0],
    "float": _float,
    "from_json": lambda value: json.loads(checked(str(value))),
    "iif": _iif,
    "int": _int,
    "is_defined": _is_defined,
    "join": _join,
    JOIN: _join,
    "last": lambda values: values[-1],
    "max": lambda values: max(values),
    "min": lambda values: min(values),
    "replace": _replace,
    "round": _round,
    "to_json": json.dumps,
    "tojson": json.dumps,
}
_JINJAS = ("abs", "capitalize", "count", "d", "default", "length", "lower", "string", "title", "trim", "upper")
FILTERS = {
    name: _sized(function) for name, function in ({name: JINJA_FILTERS[name] for name in _JINJAS} | _OWN).items()
}
FUNCTIONS = {name: FILTERS[name] for name in ("bool", "float", "iif", "int", "max", "min")}


MAX_TEMPLATE_CHARS = 2000

# {{ value_json.state }}, {{ value_json['state'] }}: nine in ten templates, evaluated without Jinja.
_SIMPLE = re.compile(
    r"\s*\{\{\s*value_json(?:\.(?P<plain>[A-Za-z_]\w*)"
    r"""|\[(?P<quote>['"])(?P<quoted>[^'"\\]+)(?P=quote)\])\s*\}\}\s*"""
)
_METHODS = frozenset({"endswith", "get", "lower", "split", "startswith", "strip", "title", "upper"})
_GIVEN = frozenset({"value", "value_json"})
_COLLECTIONS = (nodes.List, nodes.Tuple, nodes.Dict)
_ALLOWED = frozenset(
    {
        nodes.Template, nodes.Output, nodes.TemplateData, nodes.Name, nodes.Const, nodes.Getattr,
        nodes.Getitem, nodes.Slice, nodes.Filter, nodes.Test, nodes.Call, nodes.Keyword, nodes.Compare,
        nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.CondExpr, nodes.If, nodes.Assign, nodes.Add,
        nodes.Sub, nodes.Mul, nodes.Div, nodes.FloorDiv, nodes.Mod, nodes.Neg, nodes.Pos, nodes.Concat,
        nodes.Pair, *_COLLECTIONS,
    }
)  # fmt: skip


class BadTemplate(ValueError):
    """An invalid template, or one that uses a forbidden feature."""


class Template:
    """One template."""

    def __init__(self, source: str) -> None:
        """Raises BadTemplate."""
        if len(source) > MAX_TEMPLATE_CHARS:
            raise BadTemplate(f"longer than {MAX_TEMPLATE_CHARS} letters")
        self._source = source
        simple = _SIMPLE.fullmatch(source)
        self._key: str | None = (simple["plain"] or simple["quoted"]) if simple else None

    def read(self, payload: str) -> str | None:
        """The value in a message; None if it has none, or the template fails."""
        try:
            parsed = json.loads(payload)
        except (ValueError, RecursionError):
            parsed = None
        if self._key is not None:
            value = parsed.get(self._key) if isinstance(parsed, dict) else None
            return None if isinstance(value, dict | list | None) else str(value)
        known: dict[str, object] = {"value": payload} if parsed is None else {"value": payload, "value_json": parsed}
        try:
            return _rendered(self._source, known) or None
        except BadTemplate:
            return None

    def write(self, value: object, **more: object) -> str:
        """The payload of a command. Raises BadTemplate."""
        if text := _rendered(self._source, {"value": value, **more}):
            return text
        raise BadTemplate("it writes nothing")


def _rendered(source: str, known: dict[str, object]) -> str:
    if (template := _compiled(source)) is None:
        raise BadTemplate("invalid or forbidden template")
    try:
        return str(checked(template.render(known).strip()))
    except (TemplateError, ArithmeticError, ValueError, TypeError, LookupError, RecursionError) as error:
        raise BadTemplate(type(error).__name__) from None


# Compiled at first use and cached here, not with each entity: a thousand entities may announce long ones.
@lru_cache(maxsize=512)
def _compiled(source: str) -> JinjaTemplate | None:
    """None for an invalid template, which is not compiled again."""
    try:
        tree = _ENVIRONMENT.parse(source)
        _check(tree)
        return _ENVIRONMENT.from_string(_Joining().visit(tree))
    except (TemplateError, SyntaxError, RecursionError, MemoryError):
        return None


def _check(tree: nodes.Template) -> None:
    """Raises SecurityError."""
    for node in tree.find_all(nodes.Node):
        if type(node) not in _ALLOWED:
            raise SecurityError(type(node).__name__)
        if isinstance(node, nodes.Name) and node.ctx == "store" and node.name in _GIVEN:
            raise SecurityError(node.name)
        # Nested lists of variables would double with each assignment.
        if isinstance(node, _COLLECTIONS) and any(
            name.name not in _GIVEN and name.name not in FUNCTIONS for name in node.find_all(nodes.Name)
        ):
            raise SecurityError("a list of names")


class _Joining(NodeTransformer):
    """Replaces `a ~ b` by a filter that checks the size of the result."""

    def visit_Concat(self, node: nodes.Concat) -> nodes.Filter:  # noqa: N802 - jinja2 calls it so
        self.generic_visit(node)
        return nodes.Filter(nodes.List(node.nodes), JOIN, [], [], None, None)


class _Environment(SandboxedEnvironment):
    """Limits the size of values, and allows only a few methods of strings."""

    intercepted_binops = frozenset({"+", "-", "*", "/", "//", "%"})

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:  # noqa: ANN401
        numbers = isinstance(left, int | float) and isinstance(right, int | float)
        texts = operator == "+" and isinstance(left, str) and isinstance(right, str)
        if not (numbers or texts):
            raise SecurityError(operator)
        return checked(super().call_binop(context, operator, left, right))

    def getattr(self, obj: Any, attribute: str) -> Any:  # noqa: ANN401
        if isinstance(obj, dict) and attribute in obj:
            return obj[attribute]
        if attribute in _METHODS and isinstance(obj, str | dict):
            return getattr(obj, attribute, self.undefined(obj=obj, name=attribute))
        return self.undefined(obj=obj, name=attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:  # noqa: ANN401
        try:
            return obj[argument]
        except (TypeError, LookupError):
            return self.undefined(obj=obj, name=str(argument)[:100])


def _environment() -> _Environment:
    environment = _Environment(optimized=False, cache_size=0)
    environment.filters = dict(FILTERS)
    environment.globals = dict(FUNCTIONS)
    return environment


_ENVIRONMENT = _environment()

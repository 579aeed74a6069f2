"""A restricted Jinja for the templates of discovery messages.

Templates are untrusted, because every publisher can announce one: no loops, macros or Python attributes, only
methods without side effects, and no filter or value may grow. The cost of a template is then bounded by its length.
A template is checked when it is announced, so that an entity with one that cannot be used is not listed.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
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


def _truncate(value: object, length: int = 255, killwords: bool = False, end: str = "...", leeway: int = 0) -> str:
    text, most = str(value), max(0, int(length))
    if len(text) <= most + int(leeway):
        return text
    kept = text[: max(0, most - len(end))]
    return (kept if killwords else kept.rsplit(" ", 1)[0]) + str(end)[:most]


def _is_number(value: object) -> bool:
    return isinstance(_float(value, None), float)


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
    "is_number": _is_number,
    "items": lambda value: list(value.items()),
    "join": _join,
    JOIN: _join,
    "last": lambda values: values[-1],
    "list": lambda values: list(values),
    "max": lambda values: max(values),
    "min": lambda values: min(values),
    "replace": _replace,
    "round": _round,
    "sum": lambda values: sum(values),
    "to_json": json.dumps,
    "tojson": json.dumps,
    "truncate": _truncate,
}
_JINJAS = ("abs", "capitalize", "count", "d", "default", "length", "lower", "string", "title", "trim", "upper")
FILTERS = {
    name: _sized(function) for name, function in ({name: JINJA_FILTERS[name] for name in _JINJAS} | _OWN).items()
}
FUNCTIONS = {name: FILTERS[name] for name in ("bool", "float", "iif", "int", "is_number", "max", "min")}

_TEXT_METHODS = frozenset(
    {
        "capitalize", "casefold", "count", "endswith", "find", "isalpha", "isdigit", "isnumeric", "lower", "lstrip",
        "partition", "removeprefix", "removesuffix", "rfind", "rpartition", "rsplit", "rstrip", "split", "startswith",
        "strip", "swapcase", "title", "upper",
    }
)  # fmt: skip
# As functions of the object: views of a dict are printed as `dict_keys(...)`, and a replacement may grow.
_METHODS: dict[type, dict[str, _Function]] = {
    str: {name: getattr(str, name) for name in _TEXT_METHODS} | {"replace": _replace},
    dict: {
        "get": dict.get,
        "items": lambda value: list(value.items()),
        "keys": lambda value: list(value),
        "values": lambda value: list(value.values()),
    },
    list: {"count": list.count, "index": list.index},
}
_METHOD_NAMES = frozenset(name for methods in _METHODS.values() for name in methods)


MAX_TEMPLATE_CHARS = 2000

# {{ value_json.state }}, {{ value_json['state'] }}: nine in ten templates, evaluated without Jinja.
_SIMPLE = re.compile(
    r"\s*\{\{\s*value_json(?:\.(?P<plain>[A-Za-z_]\w*)"
    r"""|\[(?P<quote>['"])(?P<quoted>[^'"\\]+)(?P=quote)\])\s*\}\}\s*"""
)
_KEYS = re.compile(r"""value_json(?:\.|\[['"])([A-Za-z_]\w*)""")
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
        """Raises BadTemplate, also for a template that could never be evaluated."""
        if len(source) > MAX_TEMPLATE_CHARS:
            raise BadTemplate(f"is longer than {MAX_TEMPLATE_CHARS} letters")
        self._source = source
        simple = _SIMPLE.fullmatch(source)
        self._key: str | None = (simple["plain"] or simple["quoted"]) if simple else None
        if simple is None and (problem := _problem(source)):
            raise BadTemplate(problem)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of a message's object that the template names."""
        return tuple(dict.fromkeys(_KEYS.findall(self._source)))

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


@lru_cache(maxsize=4096)
def _problem(source: str) -> str:
    """Why a template cannot be used; "" if it can."""
    try:
        _check(_ENVIRONMENT.parse(source))
    except SecurityError as error:
        return f"uses {error}"
    except (TemplateError, SyntaxError, RecursionError, MemoryError):
        return "is not valid"
    return ""


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
    assigned = {name.name for name in tree.find_all(nodes.Name) if name.ctx == "store"}
    fixed = (_GIVEN | FUNCTIONS.keys()) - assigned
    for node in tree.find_all(nodes.Node):
        if type(node) not in _ALLOWED:
            raise SecurityError(type(node).__name__)
        # Nested lists of variables would double with each assignment.
        if isinstance(node, _COLLECTIONS) and any(name.name not in fixed for name in node.find_all(nodes.Name)):
            raise SecurityError("a list of names")
        if isinstance(node, nodes.Filter) and node.name not in FILTERS:
            raise SecurityError(f"the filter {node.name}")
        if isinstance(node, nodes.Test) and node.name not in _ENVIRONMENT.tests:
            raise SecurityError(f"the test {node.name}")
        if isinstance(node, nodes.Call) and not _is_known_call(node.node):
            raise SecurityError(f"the function {getattr(node.node, 'name', getattr(node.node, 'attr', ''))}")


def _is_known_call(called: nodes.Expr) -> bool:
    match called:
        case nodes.Name():
            return called.name in FUNCTIONS
        case nodes.Getattr():
            return called.attr in _METHOD_NAMES
        case _:
            return False


class _Joining(NodeTransformer):
    """Replaces `a ~ b` by a filter that checks the size of the result."""

    def visit_Concat(self, node: nodes.Concat) -> nodes.Filter:  # noqa: N802 - jinja2 calls it so
        self.generic_visit(node)
        return nodes.Filter(nodes.List(node.nodes), JOIN, [], [], None, None)


class _Environment(SandboxedEnvironment):
    """Limits the size of values, and allows only methods without side effects."""

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
        if (method := _METHODS.get(type(obj), {}).get(attribute)) is not None:
            return partial(_sized(method), obj)
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

"""The templates of announcements: what of a message is meant, and how a command is written.

Whoever may publish can announce a template, so it is not trusted: it is Jinja without loops, macros and
Python's attributes, and no value may grow. What it can cost is then bound by its length.
"""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import Any

from jinja2 import Template as JinjaTemplate
from jinja2 import TemplateError, nodes
from jinja2.exceptions import SecurityError
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment
from jinja2.visitor import NodeTransformer

from edgevox.tools.home.mqtt.template_filters import FILTERS, FUNCTIONS, JOIN, checked

MAX_TEMPLATE_CHARS = 2000

# {{ value_json.state }}, {{ value_json['state'] }}: nine in ten templates, and no compiler for them.
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
    """A template that is not one, or that asks for more than it may."""


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
        """What a message says; None when it does not say it, or the template is no good."""
        try:
            said = json.loads(payload)
        except (ValueError, RecursionError):
            said = None
        if self._key is not None:
            value = said.get(self._key) if isinstance(said, dict) else None
            return None if isinstance(value, dict | list | None) else str(value)
        known: dict[str, object] = (
            {"value": payload} if said is None else {"value": payload, "value_json": said}
        )
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
        raise BadTemplate("not a template that we allow")
    try:
        return str(checked(template.render(known).strip()))
    except (TemplateError, ArithmeticError, ValueError, TypeError, LookupError, RecursionError) as error:
        raise BadTemplate(type(error).__name__) from None


# Compiled when it is used, and not kept with each thing: a thousand things may announce long ones.
@lru_cache(maxsize=512)
def _compiled(source: str) -> JinjaTemplate | None:
    """None for a bad one, which is then not looked at again."""
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
        # Lists of lists that were set before would double with each line.
        if isinstance(node, _COLLECTIONS) and any(
            name.name not in _GIVEN and name.name not in FUNCTIONS for name in node.find_all(nodes.Name)
        ):
            raise SecurityError("a list of names")


class _Joining(NodeTransformer):
    """Has `a ~ b` done by a filter, which looks at the size of what comes out."""

    def visit_Concat(self, node: nodes.Concat) -> nodes.Filter:  # noqa: N802 - jinja2 calls it so
        self.generic_visit(node)
        return nodes.Filter(nodes.List(node.nodes), JOIN, [], [], None, None)


class _Environment(SandboxedEnvironment):
    """Values that do not grow, and nothing of Python's but a few methods of texts."""

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

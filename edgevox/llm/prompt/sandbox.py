"""A sandboxed Jinja environment for chat templates in Hugging Face's dialect.

Templates are untrusted. Jinja's sandbox keeps them away from Python; this one also bounds CPU time, the size of every
value and of the output.
"""

from __future__ import annotations

import datetime as dt
import functools
import json
import re
import time
from collections.abc import Callable, Generator, ItemsView, Iterable, KeysView, ValuesView
from string import Formatter
from typing import Any, NoReturn

from jinja2 import Template, TemplateError, nodes, pass_context, pass_eval_context
from jinja2.ext import Extension, loopcontrols
from jinja2.filters import do_indent, do_replace, sync_do_join
from jinja2.nodes import EvalContext
from jinja2.parser import Parser
from jinja2.runtime import Context
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer

# What a template may raise besides TemplateError: Python errors in its expressions.
TEMPLATE_FAULTS = (TemplateError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)

# Of 70 vendors' templates the slowest took 0.8 s for 400 messages and 40 tools, most a hundredth of that.
_CPU_S = 0.5
_CPU_S_PER_ITEM = 0.02
_STEPS_PER_CHECK = 64  # reading the clock costs more than most steps,
_BIG_CHARS = 50_000  # but less than those with big values
_MAX_CHARS = 8_000_000  # of one value, and of the output: a context of 500,000 tokens fits
_MAX_ALLOCATED = 256_000_000  # of all values together, kept or not
_MAX_SOURCE_CHARS = 200_000
_MAX_INT_BITS = 4096
_MAX_INDENT = 16
_ITEM_CHARS = 32  # the cost of a list element

# A short template can build a long text by padding. No known chat template uses these.
_WITHOUT_FILTERS = (
    *("batch", "center", "filesizeformat", "format", "pprint", "random", "slice", "sum", "truncate"),
    *("urlize", "wordwrap", "xmlattr"),
)
_WITHOUT_GLOBALS = ("lipsum", "cycler", "joiner")
_WITHOUT_METHODS = frozenset({"center", "expandtabs", "format_map", "ljust", "rjust", "translate", "zfill"})
_PERCENT_WIDTH = re.compile(r"%(?:\([^)]*\))?[-+ #0]*[\d.]*(?:\*|\d{4})")
_BRACES_WIDTH = re.compile(r"\d{4}|\{")


class TemplateEnvironment(ImmutableSandboxedEnvironment):
    """Compiles templates. Renders one at a time: call `begin` first, which resets the limits."""

    intercepted_binops = frozenset({"+", "*", "**", "%"})

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True,
            lstrip_blocks=True,
            extensions=[loopcontrols, _GenerationTag],
            finalize=self._write,
            optimized=False,  # constants are folded while compiling, where nothing is counted
        )
        for name in _WITHOUT_FILTERS:
            del self.filters[name]
        for name in _WITHOUT_GLOBALS:
            del self.globals[name]
        self.filters |= {"tojson": self._to_json, "join": self._join, "replace": self._replace}
        self.filters |= {"indent": self._indent, "string": self._string}
        self.filters = {name: self._counted(function) for name, function in self.filters.items()}
        self.filters |= {_EACH: self._each, _CONTAINER: self._container}
        self.globals |= {"raise_exception": _raise_exception, "strftime_now": strftime_today}
        self.begin()

    def compile_template(self, source: str) -> Template:
        """Raises one of TEMPLATE_FAULTS for invalid Jinja, and for a source that is too long."""
        if len(source) > _MAX_SOURCE_CHARS:
            raise TemplateError(f"it is longer than {_MAX_SOURCE_CHARS:,} characters")
        return self.from_string(source)

    def begin(self, items: int = 0) -> None:
        """Start a render of `items` messages and tools."""
        self._allowed_s = _CPU_S + items * _CPU_S_PER_ITEM
        self._ends_s = time.thread_time() + self._allowed_s
        self._steps = 0
        self._allocated = 0
        self._written = 0

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:  # noqa: ANN401
        match operator, left, right:
            case "**", _, _ if isinstance(left, int) and isinstance(right, int):
                self._check_int(left.bit_length() * abs(right))
            case "*", int(), int():
                self._check_int(left.bit_length() + right.bit_length())
            case "*", int(), _:
                self._check(text_size(right) * left)
            case "*", _, int():
                self._check(text_size(left) * right)
            case "%", str(), _:
                self._check_format(left, left.count("%"), right, wide=bool(_PERCENT_WIDTH.search(left)))
            case "+", _, _:
                self._check(text_size(left) + text_size(right))
        return self._value(super().call_binop(context, operator, left, right))

    def call(__self, __context: Context, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401, N805
        # Jinja's own names: a template may pass `self=` or `context=` on to a macro. The sandbox wraps str.format
        # itself.
        owner = getattr(getattr(__obj, "__wrapped__", __obj), "__self__", None)
        match getattr(__obj, "__name__", ""), owner:
            case "replace", str(text) if len(args) > 1:
                __self._check(len(text) + text.count(str(args[0])) * _size(args[1]))
            case "join", str(text) if args:
                args = (list(args[0]), *args[1:])
                __self._check(text_size(args[0]) + len(text) * len(args[0]))
            case "format", str(text):
                specs = [spec for _text, field, spec, _as in Formatter().parse(text) if field is not None]
                wide = any(_BRACES_WIDTH.search(spec or "") for spec in specs)
                __self._check_format(text, len(specs), [*args, *kwargs.values()], wide=wide)
            case "dict", _:
                __self._check(text_size(kwargs))
        return __self._value(super().call(__context, __obj, *args, **kwargs))

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:  # noqa: ANN401
        if isinstance(obj, str) and attr in _WITHOUT_METHODS:
            return False
        return super().is_safe_attribute(obj, attr, value)

    def _generate(
        self, source: nodes.Template, name: str | None, filename: str | None, defer_init: bool = False
    ) -> str:
        _Counting().visit(source)
        source.set_environment(self)
        return super()._generate(source, name, filename, defer_init)

    # --- counting

    def _check(self, chars: int) -> None:
        if chars > _MAX_CHARS:
            raise TemplateError(f"it builds a text of more than {_MAX_CHARS:,} characters")
        if chars > _BIG_CHARS:
            self._check_clock()

    def _check_clock(self) -> None:
        if time.thread_time() > self._ends_s:
            raise TemplateError(f"it takes more than {self._allowed_s:.1f} seconds")

    def _check_int(self, bits: int) -> None:
        if bits > _MAX_INT_BITS:
            raise TemplateError(f"it computes a number of more than {_MAX_INT_BITS:,} bits")

    def _check_format(self, pattern: str, fields: int, values: object, *, wide: bool) -> None:
        if wide:
            raise TemplateError(f"it formats with a width that is too big: {pattern[:40]!r}")
        self._check(len(pattern) + fields * (1000 + text_size(values)))

    def _value(self, value: Any) -> Any:  # noqa: ANN401
        """Count a new value and return it."""
        self._steps += 1
        if self._steps % _STEPS_PER_CHECK == 0:
            self._check_clock()
        size = _size(value)
        self._check(size)
        self._allocated += size
        if self._allocated > _MAX_ALLOCATED:
            raise TemplateError(f"it builds texts of more than {_MAX_ALLOCATED:,} characters in all")
        return value

    @pass_context  # otherwise Jinja would finalize constants once, while compiling
    def _write(self, _context: Context, value: Any) -> str:  # noqa: ANN401
        text = self._string(value)
        self._written += len(text)
        self._check(self._written)
        return self._value(text)  # type: ignore[no-any-return]  # it gives back what it is given

    def _each(self, values: Any) -> Any:  # noqa: ANN401
        return self._value(values if hasattr(values, "__len__") else list(values))

    def _container(self, value: Any) -> Any:  # noqa: ANN401
        # Deeply: comparing or printing lists that hold a list twice, level upon level, would never end.
        self._check(text_size(value))
        return value

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)  # copies Jinja's markers (pass_context…)
        def counted(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            return self._value(function(*args, **kwargs))

        return counted

    # --- filters

    def _to_json(
        self,
        value: object,
        ensure_ascii: bool = False,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        sort_keys: bool = False,
    ) -> str:
        # Jinja's own filter escapes <, > and & for HTML, and sorts; models were trained on plain JSON.
        if indent is not None and not 0 <= indent <= _MAX_INDENT:
            raise TemplateError(f"it indents by {indent}")
        if isinstance(value, Generator):  # the result of `map` and `select`
            value = list(value)
        self._check(text_size(value, indent or 0))
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    @pass_eval_context
    def _join(
        self, eval_context: EvalContext, values: Iterable[object], d: str = "", attribute: str | None = None
    ) -> str:
        values = list(values)
        self._check(text_size(values) + len(values) * len(d))
        return sync_do_join(eval_context, values, d, attribute)

    @pass_eval_context
    def _replace(self, eval_context: EvalContext, text: object, old: str, new: str, count: int | None = None) -> str:
        written = self._string(text)
        self._check(len(written) + written.count(old) * len(new))
        return do_replace(eval_context, written, old, new, count)

    def _indent(self, text: str, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
        self._check(len(text) + (text.count("\n") + 1) * (width if isinstance(width, int) else len(width)))
        return do_indent(text, width, first, blank)

    def _string(self, value: object) -> str:
        if isinstance(value, str):
            return value
        self._check(text_size(value))
        return str(value)


def text_size(value: object, indent: int = 0) -> int:
    """Estimate the length of `value` as text, up to the limit.

    Nested lists that hold the same list twice are small values but long texts.
    """
    size = margin = 0
    level = [value]
    while level:
        parts: list[object] = []
        for item in level:
            size += _size(item) + margin
            if size > _MAX_CHARS:
                return size
            if isinstance(item, dict):
                parts.extend(item.keys())
                parts.extend(item.values())
            elif isinstance(item, list | tuple | KeysView | ValuesView | ItemsView):
                parts.extend(item)
            elif isinstance(item, Namespace):
                raise TemplateError("it writes a namespace")
        level = parts
        margin += indent
    return size


def strftime_today(pattern: str) -> str:
    """Format the date, with midnight as the time: a prompt that changes must be evaluated again."""
    today = dt.datetime.now().astimezone().replace(hour=0, minute=0, second=0, microsecond=0)
    return today.strftime(pattern)


_EACH = "each_counted"
_CONTAINER = "container_counted"
_CONTAINERS = (list, tuple, dict, range)


def _size(value: object) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, _CONTAINERS):
        return _ITEM_CHARS * (1 + len(value))
    return _ITEM_CHARS


class _Counting(NodeTransformer):
    """Routes loops, plain text, `~` and list construction through the counting functions."""

    def visit_For(self, node: nodes.For) -> nodes.Node:  # noqa: N802 - Jinja's names
        self.generic_visit(node)
        node.iter = _filter(node.iter, _EACH)
        return node

    def visit_TemplateData(self, node: nodes.TemplateData) -> nodes.Node:  # noqa: N802
        return nodes.Const(node.data, lineno=node.lineno)

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        texts = [_filter(part, "string") for part in node.nodes]
        return functools.reduce(lambda left, right: nodes.Add(left, right, lineno=node.lineno), texts)

    def visit_List(self, node: nodes.List | nodes.Dict | nodes.Tuple) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        is_target = isinstance(node, nodes.Tuple) and node.ctx != "load"  # `for key, value in …` creates nothing
        return node if is_target else _filter(node, _CONTAINER)

    visit_Dict = visit_Tuple = visit_List  # noqa: N815


def _filter(node: nodes.Node, name: str) -> nodes.Expr:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


def _raise_exception(message: str) -> NoReturn:
    raise TemplateError(message)


class _GenerationTag(Extension):
    """`{% generation %}` marks the assistant's text for training; it renders its contents."""

    tags = {"generation"}  # noqa: RUF012 - the base class declares it so

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)

"""Compiles a JSON Schema to a language, and puts tool arguments into the wrapper of a format."""

from __future__ import annotations

import collections
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from edgevox.core.types import JsonObject
from edgevox.llm.grammar import numbers, objects, strings
from edgevox.llm.grammar.characters import EVERY, spellings
from edgevox.llm.grammar.language import (
    EMPTY,
    NEVER,
    Node,
    Ref,
    Rules,
    Text,
    UnsupportedSchema,
    alt,
    chars,
    choices_of,
    of_ranges,
    one_of_texts,
    optional,
    repeat,
    seq,
    without,
)
from edgevox.llm.grammar.objects import DEFAULT_MAX_ITEMS, free_value, literal, permissive_object
from edgevox.llm.grammar.schema import TYPES, Flat, Schema, SchemaDocument, fits, identity, is_number
from edgevox.llm.tool_parsers.notation import JSON, Notation, Wrapper

MOST_ITEMS = 1000
_MOST_NESTED = 60
_MOST_LEVELS = 5
_MOST_RULES = 20_000
_MOST_COUNTED = 5000
# The maximum number of enum values written inline.
_MOST_IN_PLACE = 8


class SchemaCompiler:
    """Adds the rules of one schema to `rules`, and collects unsupported parts in `problems`."""

    def __init__(self, rules: Rules, root: Schema, name: str) -> None:
        self.rules = rules
        self.problems: list[str] = []
        self._document = SchemaDocument(root, self.warn)
        self._root = root
        self._name = rule_name(name)
        # A recursive schema is a different rule at each level, since its allowed depth differs.
        self._done: dict[tuple[tuple[int, ...], int, int], Node] = {}
        self._open: collections.Counter[tuple[int, ...]] = collections.Counter()
        self._level = 0
        # Schemas are compared by identity, so none may be freed meanwhile.
        self._kept: list[Schema] = []

    def warn(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)

    def arguments(self, notation: Notation) -> Node:
        """Return the root's object values: a call's arguments."""
        flats = self._document.flat(self._root)
        return alt(
            *(
                objects.object_of(self, flat, notation, self._name)
                for flat in flats
                if "object" in flat.get("type", TYPES)
            )
        )

    def value(self, schema: Schema, notation: Notation, name: str) -> Node:
        """Return the values of `schema`. Recursion is limited to a few levels, so that a call closes."""
        own = identity(schema)
        inside_itself = self._open[own] > 0
        level = self._level + inside_itself
        if level > _MOST_LEVELS:
            return NEVER
        key = own, id(notation), level
        if key in self._done:
            return self._done[key]
        if self._open.total() > _MOST_NESTED:
            self.warn(f"nested more than {_MOST_NESTED} deep")
            return free_value(self.rules, notation, 0)
        if len(self.rules.by_name) > _MOST_RULES:
            raise UnsupportedSchema("the schema is too large")
        self._kept.append(schema)
        self._open[own] += 1
        self._level = level
        try:
            node = self._value(schema, notation, name)
        finally:
            self._open[own] -= 1
            self._level = level - inside_itself
        self._done[key] = node
        return node

    def _value(self, schema: Schema, notation: Notation, name: str) -> Node:
        try:
            flats = self._document.flat(schema)
        except UnsupportedSchema as reason:
            self.warn(str(reason))
            return free_value(self.rules, notation)
        if len(flats) == 1:
            return self._one(flats[0], notation, name)
        return alt(*(self._one(flat, notation, name) for flat in flats))

    def _one(self, flat: Flat, notation: Notation, name: str) -> Node:
        if "enum" in flat:
            return self._listed(flat, notation, name)
        types = flat.get("type", TYPES)
        if types == TYPES and not any(key in _ASKING for key in flat):
            return free_value(self.rules, notation)
        if len(types) == 1:
            return self._typed(types[0], flat, notation, name)
        return alt(*(self._typed(kind, flat, notation, name) for kind in types))

    def _typed(self, kind: str, flat: Flat, notation: Notation, name: str) -> Node:
        close = Text(notation.value_close)
        match kind:
            case "object":
                return seq(self.rules.add(name, objects.object_of(self, flat, notation, name)), close)
            case "array":
                return seq(self.rules.add(name, self._array(flat, notation, name)), close)
            case "string":
                return self._string(flat, notation)
            case "number":
                return seq(self._number(flat), close)
            case "integer":
                return seq(self._integer(flat), close) if "number" not in flat.get("type", ()) else NEVER
            case "boolean":
                return alt(Text(notation.true + notation.value_close), Text(notation.false + notation.value_close))
            case _:
                return Text(notation.null + notation.value_close)

    def _listed(self, flat: Flat, notation: Notation, name: str) -> Node:
        texts: list[str] = []
        others: list[Node] = []
        for value in flat["enum"]:
            if not fits(value, flat):
                continue
            try:
                node = literal(value, notation)
            except UnsupportedSchema as reason:
                self.warn(str(reason))
                continue
            if isinstance(value, Mapping | list | tuple):
                others.append(node)
            else:
                texts += (choice.value for choice in choices_of(node) if isinstance(choice, Text))
        if not texts:
            return alt(*others)
        listed = one_of_texts(texts)
        # In JSON a few are distinguished from other strings; elsewhere the lexer must read them whole.
        if len(texts) > _MOST_IN_PLACE or notation.strings != JSON.strings:
            listed = self.rules.add(f"{name}-enum", listed, token=True)
        return alt(listed, *others)

    def _string(self, flat: Flat, notation: Notation) -> Node:
        least, most = self.count(flat, "minLength") or 0, self.count(flat, "maxLength")
        patterns = [pattern for pattern in flat.get("pattern", ()) if isinstance(pattern, str)]
        format_name = flat.get("format") if isinstance(flat.get("format"), str) else None
        try:
            return strings.string(
                self.rules, notation, least=least, most=most, patterns=patterns, format_name=format_name
            )
        except UnsupportedSchema as reason:
            self.warn(str(reason))
            return strings.string(self.rules, notation, least=least, most=most)

    def _integer(self, flat: Flat) -> Node:
        least, most, excludes_least, excludes_most = self._bounds(flat)
        if least is not None and excludes_least and least == least.to_integral_value():
            least += 1
        if most is not None and excludes_most and most == most.to_integral_value():
            most -= 1
        step = self._multiple(flat)
        return self.rules.once(
            ("integer", least, most, step),
            lambda: self.rules.add("integer", numbers.integers(least, most, multiple_of=step), token=True),
        )

    def _number(self, flat: Flat) -> Node:
        bounds = self._bounds(flat)
        step = self._multiple(flat)
        return self.rules.once(
            ("number", bounds, step), lambda: self.rules.add("number", self._number_between(bounds, step), token=True)
        )

    def _number_between(self, bounds: tuple[Decimal | None, Decimal | None, bool, bool], step: Decimal | None) -> Node:
        least, most, excludes_least, excludes_most = bounds
        try:
            return numbers.numbers(least, most, excludes_least, excludes_most, step)
        except UnsupportedSchema as reason:
            self.warn(str(reason))
            return numbers.numbers(least, most, excludes_least, excludes_most)

    def _multiple(self, flat: Flat) -> Decimal | None:
        step = self.amount(flat, "multipleOf")
        return step if step is not None and step > 0 else None

    def _bounds(self, flat: Flat) -> tuple[Decimal | None, Decimal | None, bool, bool]:
        least, most = self.amount(flat, "minimum"), self.amount(flat, "maximum")
        excludes_least = flat.get("exclusiveMinimum") is True
        excludes_most = flat.get("exclusiveMaximum") is True
        above = None if excludes_least else self.amount(flat, "exclusiveMinimum")
        below = None if excludes_most else self.amount(flat, "exclusiveMaximum")
        if above is not None and (least is None or above >= least):
            least, excludes_least = above, True
        if below is not None and (most is None or below <= most):
            most, excludes_most = below, True
        return least, most, excludes_least, excludes_most

    def _array(self, flat: Flat, notation: Notation, name: str) -> Node:
        inner = notation.members or notation
        first, rest = self._items(flat)
        least = self.count(flat, "minItems") or 0
        asked = self.count(flat, "maxItems")
        most = max(least, len(first), DEFAULT_MAX_ITEMS) if asked is None else min(asked, max(least, MOST_ITEMS))
        if most < least:
            return NEVER
        comma = Text(notation.separator)
        item = self.value(rest, inner, f"{name}-item") if most > len(first) else NEVER
        # Built from the end: what may follow after `at` items.
        beyond = max(0, least - len(first)), most - len(first)
        if first:
            tail = repeat(seq(comma, item), max(0, beyond[0]), max(0, beyond[1]))
        else:
            tail = seq(item, repeat(seq(comma, item), max(0, least - 1), most - 1)) if most else NEVER
            return seq(Text("["), tail if least else optional(tail), Text("]"))
        for at in range(len(first) - 1, -1, -1):
            member = self.value(first[at], inner, f"{name}-item") if at < most else NEVER
            written = seq(comma if at else Text(""), member, tail)
            tail = written if at < least else optional(written)
        return seq(Text("["), tail, Text("]"))

    def _items(self, flat: Flat) -> tuple[Sequence[Schema], Schema]:
        """Return the schemas of the first items and of the rest. Older drafts list them in `items`."""
        first = flat.get("prefixItems", ())
        rest = flat.get("items", True)
        if isinstance(rest, list | tuple):
            first, rest = rest, flat.get("additionalItems", True)
        if not isinstance(first, list | tuple):
            self.warn("prefixItems is not a list")
            first = ()
        return first, rest

    def amount(self, flat: Flat, key: str) -> Decimal | None:
        """Return a number of the schema, or None if missing or unusable."""
        value = flat.get(key)
        if value is None:
            return None
        if not is_number(value):
            self.warn(f"{key} is not a number")
            return None
        return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)

    def count(self, flat: Flat, key: str) -> int | None:
        """Return a length or count of the schema, or None if missing or unusable."""
        value = self.amount(flat, key)
        if value is not None and value > _MOST_COUNTED and key.startswith("min"):
            self.warn(f"{key} {value:.0f} is more than can be counted")
        return None if value is None else max(0, min(int(value), _MOST_COUNTED))


_ASKING = frozenset(
    (
        *("properties", "required", "additionalProperties", "patternProperties", "propertyNames"),
        *("minProperties", "maxProperties", "unevaluatedProperties"),
        *("items", "prefixItems", "additionalItems", "minItems", "maxItems"),
        *("minLength", "maxLength", "pattern", "format"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
    )
)


def rule_name(written: str) -> str:
    """Return a name that both GBNF and Lark allow."""
    name = re.sub(r"[^a-z0-9]+", "-", written.lower()).strip("-")[:40].strip("-")
    return name if name[:1].isalpha() else f"x-{name}".strip("-")


MAX_PARALLEL_CALLS = 16
_CALL_ID = repeat(chars((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)), 9, 9)
# A schema may be arbitrary input: an error must affect only its own tool.
_BREAKS = (UnsupportedSchema, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool's name, and its argument schema as given."""

    name: str
    parameters: Schema


def offered(tool: JsonObject) -> OfferedTool | None:
    """Parse a tool in OpenAI's form or a bare function object; None if it has no name."""
    function = tool.get("function", tool)
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str) or not function["name"]:
        return None
    # A tool without a parameter schema takes no arguments.
    parameters = function.get("parameters", function.get("input_schema"))
    return OfferedTool(function["name"], {"type": "object", "properties": {}} if parameters is None else parameters)


def add_calls(
    rules: Rules,
    tools: Sequence[OfferedTool],
    wrapper: Wrapper,
    *,
    parallel: bool,
    permissive: frozenset[str] = frozenset(),
) -> tuple[Node, list[str]]:
    """Return one call, or several, of the tools, and a warning for each schema that is not enforced.

    The tools in `permissive` take any arguments.
    """
    calls, warnings = [], []
    for tool in tools:
        node, problems = _call(rules, tool, wrapper, tool.name in permissive)
        calls.append(node)
        if problems:
            warnings.append(f"{tool.name}: {'; '.join(problems)}")
    call = rules.add("call", alt(*calls))
    more = repeat(seq(Text(wrapper.between), call), 0, MAX_PARALLEL_CALLS - 1) if parallel else EMPTY
    return seq(alt(*map(Text, wrapper.before)), call, more, Text(wrapper.after)), warnings


def add_value(rules: Rules, schema: Schema) -> tuple[Node, list[str]]:
    """Return one JSON value that matches `schema`."""
    compiler = SchemaCompiler(rules, schema, "json")
    try:
        node = compiler.value(schema, JSON, "json")
    except _BREAKS as reason:
        return free_value(rules, JSON), [f"the schema is not enforced: {_reason(reason)}"]
    if node is NEVER:
        return free_value(rules, JSON), ["the schema is not enforced: no value matches it"]
    return node, [f"the schema: {'; '.join(compiler.problems)}"] if compiler.problems else []


def add_reply(rules: Rules, triggers: Sequence[str]) -> Node:
    """Return free text without any of `triggers`."""
    # The states of a search for all triggers at once: the partial trigger at the end of the text.
    states = sorted({trigger[:size] for trigger in triggers for size in range(len(trigger))} | {""})
    names = {state: rules.reserve("text") for state in states}
    letters = sorted({char for trigger in triggers for char in trigger})
    plain = of_ranges(without(EVERY, tuple((ord(char), ord(char)) for char in letters)))
    for state in states:
        choices: list[Node] = [EMPTY, seq(plain, Ref(names[""]))]
        for letter in letters:
            read = state + letter
            while read not in names and not read.endswith(tuple(triggers)):
                read = read[1:]
            if not read.endswith(tuple(triggers)):
                choices.append(seq(Text(letter), Ref(names[read])))
        rules.define(names[state], alt(*choices))
    return Ref(names[""])


def _call(rules: Rules, tool: OfferedTool, wrapper: Wrapper, is_permissive: bool) -> tuple[Node, list[str]]:
    try:
        names = spellings(tool.name, wrapper.name_escapes)
    except UnsupportedSchema as reason:
        return NEVER, [f"it cannot be called: {reason}"]
    arguments, problems = _arguments(rules, tool, wrapper.arguments, is_permissive)
    number: Node = EMPTY
    if wrapper.id_head is not None:
        number = seq(Text(wrapper.id_head), rules.add("call-id", _CALL_ID, token=True))
    opened = alt(*(Text(f"{wrapper.head}{name}{wrapper.middle}") for name in names))
    node = seq(opened, arguments, number, Text(wrapper.tail))
    return rules.add(f"call-{rule_name(tool.name)}", node), problems


def _arguments(rules: Rules, tool: OfferedTool, notation: Notation, is_permissive: bool) -> tuple[Node, list[str]]:
    if is_permissive:
        return permissive_object(rules, notation), ["its arguments are not constrained by a schema"]
    compiler = SchemaCompiler(rules, tool.parameters, tool.name)
    try:
        node = compiler.arguments(notation)
    except _BREAKS as reason:
        return permissive_object(rules, notation), [f"any arguments are accepted: {_reason(reason)}"]
    if node is NEVER:
        return permissive_object(rules, notation), ["any arguments are accepted: none match its schema"]
    return node, compiler.problems


def _reason(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    return str(error) or type(error).__name__


def optional_calls(reply: Node, calls: Node) -> Node:
    """Return text, optionally followed by a call."""
    return seq(reply, optional(calls))

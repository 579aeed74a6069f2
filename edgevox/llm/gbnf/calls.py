"""The language of a reply that calls tools: each name with its own arguments, in a format's wrapper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from edgevox.llm.gbnf.characters import EVERY, spellings
from edgevox.llm.gbnf.compiler import SchemaCompiler, rule_name
from edgevox.llm.gbnf.free import free_value, permissive_object
from edgevox.llm.gbnf.language import (
    EMPTY,
    NEVER,
    Node,
    Ref,
    Rules,
    Text,
    alt,
    chars,
    of_ranges,
    optional,
    repeat,
    seq,
    without,
)
from edgevox.llm.gbnf.schema import Schema
from edgevox.llm.gbnf.schema_error import Inexpressible
from edgevox.llm.tool_parsers.notation import JSON, Notation, Wrapper
from edgevox.types import JsonObject

MAX_PARALLEL_CALLS = 16
_CALL_ID = repeat(chars((0x30, 0x39), (0x41, 0x5A), (0x61, 0x7A)), 9, 9)
# A schema may be anything at all: whatever it breaks, it breaks for its own tool only.
_BREAKS = (Inexpressible, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool's name, and the schema of its arguments as it was written."""

    name: str
    parameters: Schema


def offered(tool: JsonObject) -> OfferedTool | None:
    """The tool in OpenAI's form, or the bare function object; None when it has no name."""
    function = tool.get("function", tool)
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str) or not function["name"]:
        return None
    # One that says nothing about arguments takes none.
    parameters = function.get("parameters", function.get("input_schema"))
    return OfferedTool(
        function["name"], {"type": "object", "properties": {}} if parameters is None else parameters
    )


def add_calls(
    rules: Rules,
    tools: Sequence[OfferedTool],
    wrapper: Wrapper,
    *,
    parallel: bool,
    permissive: frozenset[str] = frozenset(),
) -> tuple[Node, list[str]]:
    """One call, or several, of any of the tools; and a warning for each whose schema is not held to.

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
    """One JSON value that fits `schema`."""
    compiler = SchemaCompiler(rules, schema, "json")
    try:
        node = compiler.value(schema, JSON, "json")
    except _BREAKS as reason:
        return free_value(rules, JSON), [f"the schema is not held to: {_reason(reason)}"]
    if node is NEVER:
        return free_value(rules, JSON), ["the schema is not held to: no value fits it"]
    return node, [f"the schema: {'; '.join(compiler.problems)}"] if compiler.problems else []


def add_reply(rules: Rules, triggers: Sequence[str]) -> Node:
    """Free text in which none of `triggers` stands."""
    # The states of a search for all of them at once: how much of a trigger stands at the end of the text.
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
    except Inexpressible as reason:
        return NEVER, [f"it cannot be called: {reason}"]
    arguments, problems = _arguments(rules, tool, wrapper.arguments, is_permissive)
    number: Node = EMPTY
    if wrapper.id_head is not None:
        number = seq(Text(wrapper.id_head), rules.add("call-id", _CALL_ID, token=True))
    opened = alt(*(Text(f"{wrapper.head}{name}{wrapper.middle}") for name in names))
    node = seq(opened, arguments, number, Text(wrapper.tail))
    return rules.add(f"call-{rule_name(tool.name)}", node), problems


def _arguments(
    rules: Rules, tool: OfferedTool, notation: Notation, is_permissive: bool
) -> tuple[Node, list[str]]:
    if is_permissive:
        return permissive_object(rules, notation), ["its arguments are not held to a schema"]
    compiler = SchemaCompiler(rules, tool.parameters, tool.name)
    try:
        node = compiler.arguments(notation)
    except _BREAKS as reason:
        return permissive_object(rules, notation), [f"any arguments are taken: {_reason(reason)}"]
    if node is NEVER:
        return permissive_object(rules, notation), ["any arguments are taken: none fit its schema"]
    return node, compiler.problems


def _reason(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    return str(error) or type(error).__name__


def optional_calls(reply: Node, calls: Node) -> Node:
    """Text, and perhaps a call behind it."""
    return seq(reply, optional(calls))

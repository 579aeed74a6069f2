"""Grammars that constrain a model to a valid tool call or a JSON value.

Calls use the wrapper that the format's detector parses, and each tool's arguments follow its own schema. Constraints
that a grammar cannot express are left to validation, with a warning that names the tool; one bad schema never affects
the other tools. White space is fixed, and strings and arrays are bounded, so that a call always closes.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from edgevox.core.errors import ConfigError
from edgevox.core.types import JsonObject
from edgevox.llm.grammar import strings
from edgevox.llm.grammar.check import compiles
from edgevox.llm.grammar.compiler import SchemaCompiler, rule_name
from edgevox.llm.grammar.language import (
    EMPTY,
    NEVER,
    Node,
    Ref,
    Rules,
    Text,
    UnsupportedSchema,
    alt,
    of_ranges,
    optional,
    points,
    repeat,
    seq,
    without,
)
from edgevox.llm.grammar.regex import EVERY, whole_language
from edgevox.llm.grammar.serialize import serialize
from edgevox.llm.tool_choice import RESPOND_NAME
from edgevox.llm.tool_parsers import DETECTORS
from edgevox.llm.tool_parsers.notation import JSON, Notation, Wrapper

DEFAULT_FORMAT = "hermes"
_MAX_PARALLEL_CALLS = 16
# A schema may be arbitrary input: an error must affect only its own tool.
_BREAKS = (UnsupportedSchema, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


@dataclass(frozen=True, slots=True)
class CallGrammar:
    """A GBNF grammar for llama.cpp (start rule `root`), and the same language for llguidance.

    `triggers` are the strings that start a call in free text: every text of the grammar begins with one of them.
    `warnings` name the tools whose schemas are not fully enforced, and say why.
    """

    gbnf: str
    lark: str
    triggers: tuple[str, ...]
    warnings: tuple[str, ...]


def build_call_grammar(
    tools: Sequence[JsonObject], *, wire_format: str = DEFAULT_FORMAT, parallel: bool = False
) -> CallGrammar:
    """Build the grammar of one call, or with `parallel` of one or more calls, of `tools`.

    Raises ConfigError for an unknown format, one that cannot be constrained, or no tools; never for a schema.
    """
    return _built(tools, wire_format, parallel, lambda rules, calls: calls)


def build_json_grammar(schema: JsonObject | bool) -> CallGrammar:
    """Build the grammar of one JSON value that matches `schema`."""

    def build(rules: Rules, enforced: JsonObject | bool, problem: str = "") -> tuple[Node, list[str]]:
        compiler = SchemaCompiler(rules, enforced, "json")
        try:
            node = compiler.value(enforced, JSON, "json")
        except _BREAKS as reason:
            return build(rules, True, _reason(reason))
        if node is NEVER:
            return build(rules, True, "no value matches it")
        if problem:
            return node, [f"the schema is not enforced: {problem}"]
        return node, [f"the schema: {'; '.join(compiler.problems)}"] if compiler.problems else []

    grammar = _serialized((), lambda rules: build(rules, schema))
    if compiles(grammar.gbnf):
        return grammar
    return _serialized((), lambda rules: build(rules, True, "llama.cpp rejects its grammar"))


def tool_call_grammar(tools: Sequence[JsonObject], *, wire_format: str = DEFAULT_FORMAT, parallel: bool = False) -> str:
    """Return the GBNF of one call, or with `parallel` of one or more calls, of `tools`. Raises ConfigError."""
    return build_call_grammar(tools, wire_format=wire_format, parallel=parallel).gbnf


def single_tool_grammar(tool: JsonObject, *, wire_format: str = DEFAULT_FORMAT, parallel: bool = False) -> str:
    """Return the GBNF of a call of this tool. Raises ConfigError."""
    return build_call_grammar([tool], wire_format=wire_format, parallel=parallel).gbnf


def reply_or_tool_grammar(
    tools: Sequence[JsonObject], *, wire_format: str = DEFAULT_FORMAT, parallel: bool = False
) -> str:
    """Return the GBNF of free text in which any call is a valid one. Raises ConfigError."""
    triggers = _wrapper(wire_format).triggers
    return _built(
        tools, wire_format, parallel, lambda rules, calls: seq(_free_text(rules, triggers), optional(calls))
    ).gbnf


class GrammarCache:
    """Caches recent grammars by the contents of the tools."""

    def __init__(self, size: int = 32) -> None:
        self._build = lru_cache(maxsize=size)(_build_from)

    def get(
        self, tools: Sequence[JsonObject], *, wire_format: str = DEFAULT_FORMAT, parallel: bool = False
    ) -> CallGrammar:
        """Like `build_call_grammar`. Raises ConfigError."""
        try:
            return self._build(_contents((list(tools), wire_format, parallel)))
        except ValueError:  # something in it is not of a plain type
            return build_call_grammar(tools, wire_format=wire_format, parallel=parallel)

    def get_json(self, schema: JsonObject | bool) -> CallGrammar:
        """Like `build_json_grammar`."""
        try:
            return self._build(_contents(schema))
        except ValueError:
            return build_json_grammar(schema)


def _contents(value: Any) -> bytes:  # noqa: ANN401  (any JSON value)
    """Return the same bytes for equal values. Raises ValueError."""
    return marshal.dumps(value, 2)  # in later versions the bytes depend on which objects are shared


def _build_from(content: bytes) -> CallGrammar:
    match marshal.loads(content):  # noqa: S302  (written by GrammarCache)
        case (tools, wire_format, parallel):
            return build_call_grammar(tools, wire_format=wire_format, parallel=parallel)
        case schema:
            return build_json_grammar(schema)


def _serialized(triggers: tuple[str, ...], build: Callable[[Rules], tuple[Node, Sequence[str]]]) -> CallGrammar:
    rules = Rules()
    root = rules.reserve("root")
    node, warnings = build(rules)
    rules.define(root, node)
    return CallGrammar(*serialize(rules), triggers, tuple(warnings))


def _built(
    tools: Sequence[JsonObject], wire_format: str, parallel: bool, root_of: Callable[[Rules, Node], Node]
) -> CallGrammar:
    wrapper = _wrapper(wire_format)
    found = [_offered(tool) for tool in tools]
    named = [tool for tool in found if tool is not None]
    nameless = [f"tool {at + 1} has no name and cannot be called" for at, tool in enumerate(found) if tool is None]
    if not named:
        raise ConfigError("no tools to call", hint="offer at least one, with a name")

    def build(among: Sequence[_Tool], permissive: Collection[str]) -> CallGrammar:
        def add(rules: Rules) -> tuple[Node, list[str]]:
            calls, warnings = _calls(rules, among, wrapper, parallel, permissive)
            return root_of(rules, calls), [*nameless, *warnings]

        return _serialized(wrapper.triggers, add)

    grammar = build(named, ())
    if not compiles(grammar.gbnf):
        grammar = build(named, {tool.name for tool in named if not compiles(build([tool], ()).gbnf)})
    return grammar


@dataclass(frozen=True, slots=True)
class _Tool:
    """A tool's name, and its argument schema as given."""

    name: str
    parameters: Any


def _offered(tool: JsonObject) -> _Tool | None:
    """Parse a tool in OpenAI's form or a bare function object; None if it has no name."""
    function = tool.get("function", tool)
    if not isinstance(function, Mapping) or not isinstance(function.get("name"), str) or not function["name"]:
        return None
    # A tool without a parameter schema takes no arguments.
    parameters = function.get("parameters", function.get("input_schema"))
    if parameters is None:
        parameters = {"type": "object", "properties": {}}
    if function["name"] == RESPOND_NAME and isinstance(parameters, Mapping) and parameters.get("properties"):
        # A message is required, which spares the model the steps of an empty one.
        parameters = {**parameters, "minProperties": 1}
    return _Tool(function["name"], parameters)


def _wrapper(wire_format: str) -> Wrapper:
    detector = DETECTORS.get(wire_format)
    if detector is None:
        raise ConfigError(f"unknown tool-call format {wire_format}", hint=f"the formats are {', '.join(DETECTORS)}")
    if detector.wrapper is None:
        raise ConfigError(f"calls in the format {wire_format} cannot be forced", hint="give its detector a wrapper")
    return detector.wrapper


# --- calls


def _calls(
    rules: Rules, tools: Sequence[_Tool], wrapper: Wrapper, parallel: bool, permissive: Collection[str]
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
    more = repeat(seq(Text(wrapper.between), call), 0, _MAX_PARALLEL_CALLS - 1) if parallel else EMPTY
    return seq(alt(*map(Text, wrapper.before)), call, more, Text(wrapper.after)), warnings


def _call(rules: Rules, tool: _Tool, wrapper: Wrapper, is_permissive: bool) -> tuple[Node, list[str]]:
    try:
        name = strings.spelling(tool.name, wrapper.name_escapes)
    except UnsupportedSchema as reason:
        return NEVER, [f"it cannot be called: {reason}"]
    if is_permissive:
        arguments, problems = (
            _any_arguments(rules, wrapper.arguments),
            ["its arguments are not constrained by a schema"],
        )
    else:
        arguments, problems = _arguments(rules, tool, wrapper.arguments)
    number: Node = EMPTY
    if wrapper.id_head is not None:
        number = seq(Text(wrapper.id_head), rules.add("call-id", whole_language("[0-9A-Za-z]{9}"), token=True))
    node = seq(Text(f"{wrapper.head}{name}{wrapper.middle}"), arguments, number, Text(wrapper.tail))
    return rules.add(f"call-{rule_name(tool.name)}", node), problems


def _arguments(rules: Rules, tool: _Tool, notation: Notation) -> tuple[Node, list[str]]:
    compiler = SchemaCompiler(rules, tool.parameters, tool.name)
    try:
        node = compiler.arguments(notation)
    except _BREAKS as reason:
        return _any_arguments(rules, notation), [f"any arguments are accepted: {_reason(reason)}"]
    if node is NEVER:
        return _any_arguments(rules, notation), ["any arguments are accepted: none match its schema"]
    return node, compiler.problems


def _any_arguments(rules: Rules, notation: Notation) -> Node:
    return rules.add("any-object", SchemaCompiler(rules, {"type": "object"}, "any").arguments(notation))


def _reason(error: BaseException) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    return str(error) or type(error).__name__


def _free_text(rules: Rules, triggers: Sequence[str]) -> Node:
    """Return text without any of `triggers`."""
    # The states of a search for all triggers at once: the partial trigger at the end of the text.
    states = sorted({trigger[:size] for trigger in triggers for size in range(len(trigger))} | {""})
    names = {state: rules.reserve("text") for state in states}
    letters = sorted({char for trigger in triggers for char in trigger})
    plain = of_ranges(without(EVERY, points("".join(letters))))
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

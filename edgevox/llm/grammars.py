"""Grammars that constrain a model to a valid tool call or a JSON value.

Calls use the wrapper that the format's detector parses, and each tool's arguments follow its own schema. Constraints
that a grammar cannot express are left to validation, with a warning that names the tool; one bad schema never affects
the other tools. White space is fixed, and strings and arrays are bounded, so that a call always closes.
"""

from __future__ import annotations

import marshal
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

from edgevox.core.errors import ConfigError
from edgevox.core.types import JsonObject
from edgevox.llm.grammar import strings
from edgevox.llm.grammar.check import compiles
from edgevox.llm.grammar.compiler import SchemaCompiler, rule_name
from edgevox.llm.grammar.language import (
    EMPTY,
    MOST_BUILD_S,
    NEVER,
    Node,
    Ref,
    Rules,
    SchemaTooLarge,
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
from edgevox.llm.tool_parsers.notation import JSON, Wrapper

DEFAULT_FORMAT = "hermes"
_MAX_PARALLEL_CALLS = 16
# A schema may be arbitrary input: an error must affect only its own tool.
_BREAKS = (UnsupportedSchema, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_ANY_OBJECT = {"type": "object"}
# A name, and the argument schema as given.
_Tool: TypeAlias = tuple[str, Any]


@dataclass(frozen=True, slots=True)
class CallGrammar:
    """A GBNF grammar for llama.cpp (start rule `root`), and the same language for llguidance.

    `triggers` are the strings that start a call in free text: every text of the grammar begins with one of them.
    `warnings` name the tools whose schemas are not fully enforced, and say why. `too_large` says why a schema is too
    large to be enforced at all, "" if none is.
    """

    gbnf: str
    lark: str
    triggers: tuple[str, ...]
    warnings: tuple[str, ...]
    too_large: str = ""


def build_call_grammar(
    tools: Sequence[JsonObject], *, wire_format: str = DEFAULT_FORMAT, parallel: bool = False
) -> CallGrammar:
    """Build the grammar of one call, or with `parallel` of one or more calls, of `tools`.

    Raises ConfigError for an unknown format, one that cannot be constrained, or no tools; never for a schema.
    """
    return _built(tools, wire_format, parallel, lambda rules, calls: calls)


def build_json_grammar(schema: JsonObject | bool) -> CallGrammar:
    """Build the grammar of one JSON value that matches `schema`."""
    rules = Rules()
    too_large = ""
    try:
        node, problems, reason = _enforced(rules, schema, "json", lambda compiler: compiler.root(JSON), True)
        rules.define("root", node)
        warning = f"the schema is not enforced: {reason}" if reason else f"the schema: {'; '.join(problems)}"
        grammar = CallGrammar(*serialize(rules), (), (warning,) if reason or problems else ())
        if compiles(grammar.gbnf):
            return grammar
        reason = "llama.cpp rejects its grammar"
    except SchemaTooLarge as error:
        reason = too_large = str(error)
    return replace(build_json_grammar(True), warnings=(f"the schema is not enforced: {reason}",), too_large=too_large)


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
        self._build = lru_cache(maxsize=size)(lambda content: _build(marshal.loads(content)))  # noqa: S302  (see _get)

    def get(
        self, tools: Sequence[JsonObject], *, wire_format: str = DEFAULT_FORMAT, parallel: bool = False
    ) -> CallGrammar:
        """Like `build_call_grammar`. Raises ConfigError."""
        return self._get((list(tools), wire_format, parallel))

    def get_json(self, schema: JsonObject | bool) -> CallGrammar:
        """Like `build_json_grammar`."""
        return self._get(schema)

    def _get(self, wanted: Any) -> CallGrammar:  # noqa: ANN401  (what `_build` takes)
        try:
            content = marshal.dumps(wanted, 2)  # in later versions the bytes depend on which objects are shared
        except ValueError:  # something in it is not of a plain type
            return _build(wanted)
        return self._build(content)


def _build(wanted: tuple[list[JsonObject], str, bool] | JsonObject | bool) -> CallGrammar:
    match wanted:
        case (tools, wire_format, parallel):
            return build_call_grammar(tools, wire_format=wire_format, parallel=parallel)
        case schema:
            return build_json_grammar(schema)


def _built(
    tools: Sequence[JsonObject], wire_format: str, parallel: bool, root_of: Callable[[Rules, Node], Node]
) -> CallGrammar:
    wrapper = _wrapper(wire_format)
    found = [_offered(tool) for tool in tools]
    named = [tool for tool in found if tool is not None]
    warnings = [f"tool {at + 1} has no name and cannot be called" for at, tool in enumerate(found) if tool is None]
    if not named:
        raise ConfigError("no tools to call", hint="offer at least one, with a name")

    def build(among: Sequence[_Tool], share: float = 1.0) -> CallGrammar:
        rules = Rules(most_s=MOST_BUILD_S * share)
        calls, problems = _calls(rules, among, wrapper, parallel)
        rules.define("root", root_of(rules, calls))
        return CallGrammar(*serialize(rules), wrapper.triggers, (*warnings, *problems))

    too_large = ""
    try:
        grammar = build(named)
        if compiles(grammar.gbnf):
            return grammar
    except SchemaTooLarge as error:
        too_large = str(error)
    refused = [tool[0] for tool in named if not _is_possible(lambda one: build([one], 1 / len(named)), tool)]
    if too_large and not refused:  # each is possible, together they are not
        refused = [name for name, _parameters in named]
    warnings += (f"{name}: its arguments are not constrained by a schema" for name in refused)
    grammar = build([(name, _ANY_OBJECT if name in refused else parameters) for name, parameters in named])
    return replace(grammar, too_large=too_large)


def _is_possible(build: Callable[[_Tool], CallGrammar], tool: _Tool) -> bool:
    try:
        return compiles(build(tool).gbnf)
    except SchemaTooLarge:
        return False


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
    return function["name"], parameters


def _wrapper(wire_format: str) -> Wrapper:
    detector = DETECTORS.get(wire_format)
    if detector is None:
        raise ConfigError(f"unknown tool-call format {wire_format}", hint=f"the formats are {', '.join(DETECTORS)}")
    if detector.wrapper is None:
        raise ConfigError(f"calls in the format {wire_format} cannot be forced", hint="give its detector a wrapper")
    return detector.wrapper


# --- calls


def _calls(rules: Rules, tools: Sequence[_Tool], wrapper: Wrapper, parallel: bool) -> tuple[Node, list[str]]:
    """Return one call, or several, of the tools, and a warning for each schema that is not enforced."""
    calls, warnings = [], []
    for name, parameters in tools:
        node, problems = _call(rules, name, parameters, wrapper)
        calls.append(node)
        if problems:
            warnings.append(f"{name}: {'; '.join(problems)}")
    call = rules.add("call", alt(*calls))
    more = repeat(seq(Text(wrapper.between), call), 0, _MAX_PARALLEL_CALLS - 1) if parallel else EMPTY
    return seq(alt(*map(Text, wrapper.before)), call, more, Text(wrapper.after)), warnings


def _call(rules: Rules, name: str, parameters: Any, wrapper: Wrapper) -> tuple[Node, list[str]]:  # noqa: ANN401
    try:
        written = strings.spelling(name, wrapper.name_escapes)
    except UnsupportedSchema as reason:
        return NEVER, [f"it cannot be called: {reason}"]
    arguments, problems, problem = _enforced(
        rules, parameters, name, lambda compiler: compiler.arguments(wrapper.arguments), _ANY_OBJECT
    )
    number: Node = EMPTY
    if wrapper.id_head is not None:
        number = seq(Text(wrapper.id_head), rules.add("call-id", whole_language("[0-9A-Za-z]{9}"), token=True))
    node = seq(Text(f"{wrapper.head}{written}{wrapper.middle}"), arguments, number, Text(wrapper.tail))
    return rules.add(f"call-{rule_name(name)}", node), [
        f"any arguments are accepted: {problem}"
    ] if problem else problems


def _enforced(
    rules: Rules,
    schema: Any,  # noqa: ANN401  (what a tool gives for a schema)
    name: str,
    compile_root: Callable[[SchemaCompiler], Node],
    otherwise: JsonObject | bool,
) -> tuple[Node, list[str], str]:
    """Return the language of a schema and its unsupported parts, or that of `otherwise` and why it replaces it."""
    compiler = SchemaCompiler(rules, schema, name, is_bounded=schema is not otherwise)
    reason = "nothing matches it"
    try:
        node = compile_root(compiler)
        if node is not NEVER:
            return node, compiler.problems, ""
    except SchemaTooLarge:
        raise
    except RecursionError:
        reason = "it is nested too deep"
    except _BREAKS as error:
        reason = str(error) or type(error).__name__
    return compile_root(SchemaCompiler(rules, otherwise, "any", is_bounded=False)), [], reason


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

"""Grammars that force a valid tool call, or a JSON value, out of any model.

The calls are in the wrapper that the format's detector reads, and each tool's arguments are held to its own
schema. What cannot be said in a grammar is left to the validation behind it, with a warning that names the
tool; one bad schema never spoils the other tools. White space is fixed, and strings and arrays are bounded,
so that a call always closes.
"""

from __future__ import annotations

import json
import marshal
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from edgevox.core.errors import ConfigError
from edgevox.core.types import JsonObject
from edgevox.llm.grammar.check import compiles
from edgevox.llm.grammar.compiler import OfferedTool, add_calls, add_reply, add_value, offered, optional_calls
from edgevox.llm.grammar.language import Node, Rules
from edgevox.llm.grammar.serialize import GrammarText, serialize
from edgevox.llm.tool_choice import RESPOND_NAME
from edgevox.llm.tool_parsers import DETECTORS
from edgevox.llm.tool_parsers.notation import Wrapper

DEFAULT_FORMAT = "hermes"


@dataclass(frozen=True, slots=True)
class CallGrammar:
    """A grammar for llama.cpp (start rule `root`), and the same language for llguidance.

    `triggers` are the texts that begin a call in free text: what the grammar accepts begins with one of them.
    `warnings` name the tools that are not held to the whole of their schema, and say why.
    """

    gbnf: str
    lark: str | None
    triggers: tuple[str, ...]
    warnings: tuple[str, ...]


def build_call_grammar(
    tools: Sequence[JsonObject], *, wire_format: str = DEFAULT_FORMAT, parallel: bool = False
) -> CallGrammar:
    """A call of one of `tools`, with `parallel` one or several. Raises ConfigError.

    That is for a format that is not known or cannot be forced, or for no tools at all; never for a schema.
    """
    return _built(tools, wire_format, parallel, lambda rules, calls: calls)


def build_json_grammar(schema: JsonObject | bool) -> CallGrammar:
    """One JSON value that fits `schema`, and nothing else."""
    rules = Rules()
    root = rules.reserve("root")
    node, warnings = add_value(rules, schema)
    rules.define(root, node)
    grammar = serialize(rules)
    if not compiles(grammar.gbnf):
        rules = Rules()
        rules.define(rules.reserve("root"), add_value(rules, True)[0])
        grammar = serialize(rules)
        warnings = ["the schema is not held to: llama.cpp does not take its grammar"]
    return CallGrammar(grammar.gbnf, grammar.lark, (), tuple(warnings))


def tool_call_grammar(tools: Sequence[JsonObject], *, wire_format: str = DEFAULT_FORMAT, parallel: bool = False) -> str:
    """GBNF: a call of one of `tools`, with `parallel` one or several. Raises ConfigError."""
    return build_call_grammar(tools, wire_format=wire_format, parallel=parallel).gbnf


def single_tool_grammar(tool: JsonObject, *, wire_format: str = DEFAULT_FORMAT, parallel: bool = False) -> str:
    """GBNF: a call of this tool. Raises ConfigError."""
    return build_call_grammar([tool], wire_format=wire_format, parallel=parallel).gbnf


def reply_or_tool_grammar(
    tools: Sequence[JsonObject], *, wire_format: str = DEFAULT_FORMAT, parallel: bool = False
) -> str:
    """GBNF: free text, in which whatever begins as a call goes on as a valid one. Raises ConfigError."""
    triggers = _wrapper(wire_format).triggers
    return _built(
        tools, wire_format, parallel, lambda rules, calls: optional_calls(add_reply(rules, triggers), calls)
    ).gbnf


class GrammarCache:
    """The grammars that were built last, found again by what the tools are."""

    def __init__(self, size: int = 32) -> None:
        self._size = size
        self._found: OrderedDict[bytes, CallGrammar] = OrderedDict()
        self._seen: OrderedDict[bytes, bytes] = OrderedDict()

    def get(
        self, tools: Sequence[JsonObject], *, wire_format: str = DEFAULT_FORMAT, parallel: bool = False
    ) -> CallGrammar:
        """As `build_call_grammar`. Raises ConfigError."""
        return self._kept(
            (list(tools), wire_format, parallel),
            lambda: build_call_grammar(tools, wire_format=wire_format, parallel=parallel),
        )

    def get_json(self, schema: JsonObject | bool) -> CallGrammar:
        """As `build_json_grammar`."""
        return self._kept(schema, lambda: build_json_grammar(schema))

    def _kept(self, content: object, build: Callable[[], CallGrammar]) -> CallGrammar:
        # The quick print tells contents apart, but equal ones may differ in it; the slow one is for those.
        quick = _fingerprint(content, _WITH_REFERENCES)
        key = self._seen.get(quick)
        if key is None:
            key = self._seen[quick] = _fingerprint(content, _WITHOUT_REFERENCES)
            _limit(self._seen, 4 * self._size)
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = build()
            _limit(self._found, self._size)
        else:
            self._found.move_to_end(key)
        return found


# Versions of marshal's format. With references, what is shared is written once: four times as fast, but the
# bytes depend on what happens to be shared.
_WITH_REFERENCES = 4
_WITHOUT_REFERENCES = 2


def _fingerprint(content: Any, version: int) -> bytes:  # noqa: ANN401  (any JSON value)
    """The same bytes for the same content only; its order counts, as members are written in it."""
    try:
        return marshal.dumps(content, version)
    except ValueError:
        return json.dumps(content, default=_plain).encode()


def _limit(entries: OrderedDict[bytes, Any], size: int) -> None:
    while len(entries) > size:
        entries.popitem(last=False)


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else repr(value)


def _built(
    tools: Sequence[JsonObject],
    wire_format: str,
    parallel: bool,
    root_of: Callable[[Rules, Node], Node],
) -> CallGrammar:
    wrapper = _wrapper(wire_format)
    found = [offered(tool) for tool in tools]
    named = [_with_words(tool) for tool in found if tool is not None]
    nameless = [f"tool {at + 1} has no name, and cannot be called" for at, tool in enumerate(found) if tool is None]
    if not named:
        raise ConfigError("there is no tool to call", hint="offer at least one, with a name")

    def build(among: Sequence[OfferedTool], permissive: frozenset[str]) -> tuple[GrammarText, list[str]]:
        rules = Rules()
        root = rules.reserve("root")
        calls, warnings = add_calls(rules, among, wrapper, parallel=parallel, permissive=permissive)
        rules.define(root, root_of(rules, calls))
        return serialize(rules), warnings

    grammar, warnings = build(named, frozenset())
    if not compiles(grammar.gbnf):
        refused = (tool.name for tool in named if not compiles(build([tool], frozenset())[0].gbnf))
        grammar, warnings = build(named, frozenset(refused))
    return CallGrammar(grammar.gbnf, grammar.lark, wrapper.triggers, (*nameless, *warnings))


def _with_words(tool: OfferedTool) -> OfferedTool:
    """Whoever responds says something: to be held to it spares the model the steps in which it could not."""
    if tool.name != RESPOND_NAME or not isinstance(tool.parameters, Mapping):
        return tool
    if not tool.parameters.get("properties"):
        return tool
    return replace(tool, parameters={**tool.parameters, "minProperties": 1})


def _wrapper(wire_format: str) -> Wrapper:
    detector = DETECTORS.get(wire_format)
    if detector is None:
        raise ConfigError(
            f"no tool-call format is called {wire_format}", hint=f"the formats are {', '.join(DETECTORS)}"
        )
    if detector.wrapper is None:
        raise ConfigError(f"calls in the format {wire_format} cannot be forced", hint="give its detector a wrapper")
    return detector.wrapper

"""Grammars that constrain a model to a valid tool call or a JSON value.

Calls use the wrapper that the format's detector parses, and each tool's arguments follow its own schema. Constraints
that a grammar cannot express are left to validation, with a warning that names the tool; one bad schema never affects
the other tools. White space is fixed, and strings and arrays are bounded, so that a call always closes.
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
    """A GBNF grammar for llama.cpp (start rule `root`), and the same language for llguidance.

    `triggers` are the strings that start a call in free text: every text of the grammar begins with one of them.
    `warnings` name the tools whose schemas are not fully enforced, and say why.
    """

    gbnf: str
    lark: str | None
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
    rules = Rules()
    root = rules.reserve("root")
    node, warnings = add_value(rules, schema)
    rules.define(root, node)
    grammar = serialize(rules)
    if not compiles(grammar.gbnf):
        rules = Rules()
        rules.define(rules.reserve("root"), add_value(rules, True)[0])
        grammar = serialize(rules)
        warnings = ["the schema is not enforced: llama.cpp rejects its grammar"]
    return CallGrammar(grammar.gbnf, grammar.lark, (), tuple(warnings))


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
        tools, wire_format, parallel, lambda rules, calls: optional_calls(add_reply(rules, triggers), calls)
    ).gbnf


class GrammarCache:
    """Caches recent grammars by the contents of the tools."""

    def __init__(self, size: int = 32) -> None:
        self._size = size
        self._found: OrderedDict[bytes, CallGrammar] = OrderedDict()
        self._seen: OrderedDict[bytes, bytes] = OrderedDict()

    def get(
        self, tools: Sequence[JsonObject], *, wire_format: str = DEFAULT_FORMAT, parallel: bool = False
    ) -> CallGrammar:
        """Like `build_call_grammar`. Raises ConfigError."""
        return self._kept(
            (list(tools), wire_format, parallel),
            lambda: build_call_grammar(tools, wire_format=wire_format, parallel=parallel),
        )

    def get_json(self, schema: JsonObject | bool) -> CallGrammar:
        """Like `build_json_grammar`."""
        return self._kept(schema, lambda: build_json_grammar(schema))

    def _kept(self, content: object, build: Callable[[], CallGrammar]) -> CallGrammar:
        # The fast fingerprint may differ for equal contents; the slow one finds those.
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


# Versions of marshal's format. With references, shared objects are written once: four times as fast, but the bytes
# depend on which objects are shared.
_WITH_REFERENCES = 4
_WITHOUT_REFERENCES = 2


def _fingerprint(content: Any, version: int) -> bytes:  # noqa: ANN401  (any JSON value)
    """Return bytes that are unique to the content. Order counts, because members are written in it."""
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
    tools: Sequence[JsonObject], wire_format: str, parallel: bool, root_of: Callable[[Rules, Node], Node]
) -> CallGrammar:
    wrapper = _wrapper(wire_format)
    found = [offered(tool) for tool in tools]
    named = [_require_message(tool) for tool in found if tool is not None]
    nameless = [f"tool {at + 1} has no name and cannot be called" for at, tool in enumerate(found) if tool is None]
    if not named:
        raise ConfigError("no tools to call", hint="offer at least one, with a name")

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


def _require_message(tool: OfferedTool) -> OfferedTool:
    """Require a non-empty message, which spares the model the steps of an empty one."""
    if tool.name != RESPOND_NAME or not isinstance(tool.parameters, Mapping):
        return tool
    if not tool.parameters.get("properties"):
        return tool
    return replace(tool, parameters={**tool.parameters, "minProperties": 1})


def _wrapper(wire_format: str) -> Wrapper:
    detector = DETECTORS.get(wire_format)
    if detector is None:
        raise ConfigError(f"unknown tool-call format {wire_format}", hint=f"the formats are {', '.join(DETECTORS)}")
    if detector.wrapper is None:
        raise ConfigError(f"calls in the format {wire_format} cannot be forced", hint="give its detector a wrapper")
    return detector.wrapper

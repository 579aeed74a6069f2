"""The hooks that make calls of MCP servers' tools for a model that was trained for the home alone (ADR 55)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from edgevox.core.hooks import Answer, Calls, Hook, Run, ToolOutcome
from edgevox.core.languages import listed
from edgevox.core.types import ToolCall
from edgevox.core.words import normalized_words
from edgevox.llm.hooks_slm.result_text import as_sentence, content_words, outcome_sentence
from edgevox.llm.tool_parsers.json_repair import Unreadable, loads
from edgevox.tools.mcp.filling import Lookup, Request
from edgevox.tools.mcp.sentence_parts import held_in
from edgevox.tools.mcp.servers import McpServers
from edgevox.tools.mcp.table_questions import rows_in
from edgevox.tools.mcp.vocabulary import stem, words_of

Names = Callable[[], tuple[str, ...]]
"""The names of everything in the home."""


class AddressedServers(Hook):
    """Reads requests with a path, an address or a query, before the rules of the home can read them otherwise."""

    name: ClassVar[str] = "addressed_servers"
    priority: ClassVar[int] = 200

    def __init__(self, servers: McpServers) -> None:
        self._servers = servers

    async def on_run_start(self, run: Run) -> Answer | Calls | None:
        return self._decided(run) if held_in(run.text).is_hard else None

    def _decided(self, run: Run) -> Answer | Calls | None:
        request = self._servers.meant(run.text)
        return None if request is None else self._called(run, request)

    def _called(self, run: Run, request: Request | Lookup | str) -> Answer | Calls:
        match request:
            case str():
                return Answer(request)
            case Lookup(requests, then):

                def follow(outcomes: tuple[ToolOutcome, ...]) -> Answer | Calls:
                    failed = next((outcome for outcome in outcomes if outcome.is_error), None)
                    if failed is not None:
                        return Answer(outcome_sentence(failed))
                    return self._called(run, then([outcome.content for outcome in outcomes]))

                return Calls(tuple(map(_call, requests)), follow)
        if request.missing:
            return Answer(f"For that I also need the {listed([_spoken(name) for name in request.missing], 'and')}.")
        run.notes[self.name] = request
        return Calls((_call(request),))

    async def after_tool(self, run: Run, call: ToolCall, outcome: ToolOutcome) -> Answer | None:
        """Say what a tool has returned, in its own words."""
        noted = run.notes.get(self.name)
        if not isinstance(noted, Request) or noted.tool != call.name:
            return None
        if outcome.is_error and outcome.code == "invalid_arguments":
            return Answer(as_sentence(f"Sorry, that did not work: {content_words(outcome.content)}"))
        if outcome.is_error:
            self._servers.forget_tables()
        part = outcome.content if outcome.is_error else asked_part(outcome.content, run.text)
        if _CODE.fullmatch(code := part.strip('"')):
            return Answer(code)  # a token is as it is, without a capital letter
        return Answer(outcome_sentence(replace(outcome, content=part)))


class NamedServers(AddressedServers):
    """Reads requests in the words of a tool, where no rule has read them and nothing of the home is named.

    A name of the home that is the value of a parameter by its own word ("the vault garden") is not the home's.

    `is_own` tells which questions the assistant answers itself, about sums and times for example.
    """

    name: ClassVar[str] = "named_servers"
    priority: ClassVar[int] = -5

    def __init__(self, servers: McpServers, home_names: Names, is_own: Callable[[str], bool]) -> None:
        super().__init__(servers)
        self._home_names = home_names
        self._is_own = is_own

    async def on_run_start(self, run: Run) -> Answer | Calls | None:
        said = set(normalized_words(run.text))
        if self._is_own(run.text):
            return None
        named = [words for name in self._home_names() if (words := set(normalized_words(name))) and said >= words]
        if named:
            request = self._servers.meant(run.text)
            if request is None or not all(words <= request.named_words for words in named):
                return None
        found = self._servers.meant(run.text) if named else self._servers.looked_up(run.text)
        return None if found is None else self._called(run, found)


def _call(request: Request) -> ToolCall:
    return ToolCall("", request.tool, json.dumps(request.arguments, ensure_ascii=False))


# "(use "git add <file>..." to update what will be committed)" is for users of a terminal.
_HINT = re.compile(r"\(use \"[^\n]*?\)\n?")
_CODE = re.compile(r"(?=\S*[a-z])(?=\S*\d)[\w-]{8,}")
_LINE = re.compile(r"(?P<key>[A-Za-z][\w -]{1,30}): (?P<value>\S.*)")
# The words of questions for the keys of answers.
_KEYS = {"big": "size", "large": "size", "long": "size", "when": "modified", "changed": "modified", "old": "created"}


_TREE_KEYS = frozenset({"type", "children"})


def asked_part(content: str, question: str) -> str:
    """The part of a result that a question is about: of lines with keys those that it names, of a tree the names."""
    read = _decoded(content)
    if isinstance(read, str):
        read = _decoded(read)  # JSON in the text of a result
    rows = rows_in(content)
    if len(rows) > 1 and all("name" in row and (len(row) == 1 or _TREE_KEYS & row.keys()) for row in rows):
        return json.dumps(_names_below(rows), ensure_ascii=False)
    if rows and isinstance(read, str | list):
        values = [next(iter(row.values())) for row in rows if len(row) == 1]
        return json.dumps(values if len(rows) == len(values) > 1 else rows, ensure_ascii=False)
    if not isinstance(read, str):
        return content
    text = _HINT.sub("", read)
    lines = [found for line in text.splitlines() if (found := _LINE.fullmatch(line.strip()))]
    if len(lines) > 2 and len({line["key"] for line in lines}) == len(lines):
        said = {*words_of(question), *(stem(_KEYS[word]) for word in normalized_words(question) if word in _KEYS)}
        asked = [line[0] for line in lines if said.intersection(words_of(line["key"]))]
        if asked and len(asked) < len(lines):
            text = "\n".join(asked)
    return json.dumps(text, ensure_ascii=False)


def _decoded(text: str) -> object:
    if text[:1] not in ("[", "{", '"'):
        return text
    try:
        return loads(text)  # some servers write Python's quotes
    except Unreadable:
        return text


def _names_below(tree: list[Any]) -> str:
    names = []
    for member in tree:
        if isinstance(member, dict):
            below = _names_below(children) if isinstance(children := member.get("children"), list) else ""
            names.append(f"{member.get('name', '')} with {below}" if below else str(member.get("name", "")))
    return ", ".join(filter(None, names))


def _spoken(parameter: str) -> str:
    return " ".join(normalized_words(parameter.replace("_", " ")))

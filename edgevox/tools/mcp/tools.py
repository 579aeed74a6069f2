"""Turns MCP tool definitions into tools, and selects those that fit an utterance.

Only two hints of a definition are used, and they were approved with it: a tool that does not declare itself
read-only has side effects, and a destructive one needs more than a spoken yes. Selection ranks the tools by the
words of the utterance, with SQLite's full-text search (BM25).
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import weakref
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict

from edgevox.core.errors import ConfigError, EdgevoxError, InvalidArguments, ToolError
from edgevox.core.words import any_word_query
from edgevox.tools.mcp.arguments import correct_arguments, corrected_by_error, is_about_arguments
from edgevox.tools.schema import map_subschemas
from edgevox.tools.tool import ConfirmLevel, Tool

Call: TypeAlias = Callable[[str, Mapping[str, Any]], Awaitable[object]]
"""Calls a server's tool by the server's own name for it."""

MAX_SCHEMA_CHARS = 16_000
_MAX_DESCRIPTION_CHARS = 1_000
_MAX_DEPTH = 24
_MAX_NAME_CHARS = 64
# A foreign regular expression can take forever to match; the server checks its arguments anyway.
_LEFT_TO_THE_SERVER = frozenset({"pattern", "patternProperties", "$schema", "$id", "$anchor"})


class SessionLost(ConnectionError):
    """A server broke the protocol or the connection; the session cannot be used any more."""


def reason_of(error: BaseException) -> str:
    """The error in one line; of a group, the first."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, EdgevoxError):
        return error.message
    return " ".join(str(error).split())[:200] or type(error).__name__


class Definition(BaseModel):
    """A tool definition as listed by a server and approved by the user."""

    model_config = ConfigDict(frozen=True)

    name: str
    description: str = ""
    input_schema: dict[str, Any] = {}
    read_only: bool | None = None
    destructive: bool | None = None

    @property
    def only_reads(self) -> bool:
        return self.read_only is True and self.destructive is not True

    @property
    def confirm(self) -> ConfirmLevel:
        """The confirmation level of a call. Without hints, side effects are assumed."""
        if self.only_reads:
            return "never"
        return "screen" if self.destructive else "voice"


def offered_name(name: str, prefix: str = "") -> str:
    """A name that models and grammars can write; two names of a server may map to the same."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", f"{prefix}{name}")
    if not re.match(r"[A-Za-z_]", plain):
        plain = f"_{plain}"
    if len(plain) <= _MAX_NAME_CHARS:
        return plain
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{plain[: _MAX_NAME_CHARS - 9]}_{digest}"


def as_tool(definition: Definition, name: str, call: Call, *, server_id: str) -> Tool:
    """Wrap a definition as a tool. Raises ConfigError for an unusable one."""

    async def run(**arguments: object) -> object:
        given = correct_arguments(definition.input_schema, arguments)
        try:
            return await call(definition.name, given)
        except ToolError as error:
            if type(error) is not ToolError or not is_about_arguments(error.message):
                raise
            other = corrected_by_error(given, error.message, only_reads=definition.only_reads)
            if other is None:
                raise InvalidArguments(error.message) from error
        # One more try, with what the error offers instead.
        try:
            return await call(definition.name, other)
        except ToolError as error:
            raise InvalidArguments(error.message) from error

    description = " ".join(definition.description.split())[:_MAX_DESCRIPTION_CHARS]
    return Tool(
        name=name,
        description=description or f"{definition.name} of {server_id}",
        parameters=_checked_schema(definition),
        run=run,
        side_effects=not definition.only_reads,
        confirm=definition.confirm,
        acts_elsewhere=True,
    )


def _checked_schema(definition: Definition) -> dict[str, Any]:
    schema = definition.input_schema or {"type": "object", "properties": {}}
    if len(json.dumps(schema)) > MAX_SCHEMA_CHARS:
        raise ConfigError(
            f"the schema of {definition.name} exceeds {MAX_SCHEMA_CHARS:,} characters",
            hint="no local model could read it",
        )
    if schema.get("type", "object") != "object":
        raise ConfigError(f"the arguments of {definition.name} are not an object", hint="MCP requires one")
    plain: dict[str, Any] = _plain(schema, definition.name, 0)
    return {"type": "object", "properties": {}, **plain}


def _plain(schema: Any, tool: str, depth: int) -> Any:  # noqa: ANN401 - JSON
    """The schema without keywords that could harm a validator. Raises ConfigError."""
    if depth > _MAX_DEPTH:
        raise ConfigError(f"the schema of {tool} is nested too deeply", hint="report it to the server's author")
    match schema:
        case {"$ref": str(reference)} if not reference.startswith("#"):
            raise ConfigError(
                f"the schema of {tool} refers to {reference[:80]}", hint="external references are not fetched"
            )
        case Mapping():
            kept = {key: member for key, member in schema.items() if key not in _LEFT_TO_THE_SERVER}
            return map_subschemas(kept, lambda part: _plain(part, tool, depth + 1))
        case _:
            return schema


MAX_CHARS = 12_000
"""The maximum share of a prompt for tools of servers, in characters, however few they are."""

# The weights of a word in the name, the description and the parameters of a tool.
_WEIGHTS = (3.0, 1.0, 0.5)
# Tools with a smaller share of the best score are not offered.
_ENOUGH = 0.2
_MAX_WORDS = 60
_CREATE = (
    "create virtual table tools using fts5(name, description, parameters,"
    " tokenize = 'porter unicode61 remove_diacritics 2')"
)
_RANKED = "select rowid, bm25(tools, ?, ?, ?) as score from tools where tools match ? order by score, rowid limit ?"


class RelevantTools:
    """Selects tools by relevance, with an index built once; create a new one when the tools change."""

    def __init__(self, tools: Sequence[Tool], *, max_tools: int, max_chars: int = MAX_CHARS) -> None:
        self.tools = tools
        self._max_tools = max_tools
        self._max_chars = max_chars

    @property
    def are_few(self) -> bool:
        """Whether all of them fit into every prompt."""
        return len(self.tools) <= self._max_tools and sum(self._chars) <= self._max_chars

    def names(self, sentence: str) -> tuple[str, ...]:
        """The tools to offer, in order; with "", those that are offered for every sentence."""
        if self.are_few:
            return tuple(tool.name for tool in self.tools)
        query = any_word_query(sentence, most=_MAX_WORDS)
        ranked = self._index.execute(_RANKED, (*_WEIGHTS, query, self._max_tools)).fetchall() if query else []
        chosen: list[int] = []
        room = self._max_chars
        for place, score in ranked:
            # Scores are negative, the best is the lowest.
            if score <= _ENOUGH * ranked[0][1] and self._chars[place] <= room:
                chosen.append(place)
                room -= self._chars[place]
        return tuple(self.tools[place].name for place in sorted(chosen))

    @cached_property
    def _chars(self) -> list[int]:
        return [len(json.dumps(tool.openai_schema)) for tool in self.tools]

    @cached_property
    def _index(self) -> sqlite3.Connection:
        index = sqlite3.connect(":memory:", check_same_thread=False)
        weakref.finalize(self, index.close)
        index.execute(_CREATE)
        texts = ((tool.name, tool.description, " ".join(tool.parameters.get("properties", ()))) for tool in self.tools)
        index.executemany(
            "insert into tools (rowid, name, description, parameters) values (?, ?, ?, ?)",
            ((place, *map(_spaced, text)) for place, text in enumerate(texts)),
        )
        return index


def _spaced(text: str) -> str:
    """The words of identifiers: readFile, read_file."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|[_./-]", " ", text)

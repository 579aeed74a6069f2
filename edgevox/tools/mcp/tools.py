"""Turns MCP tool definitions into tools, and selects those that fit an utterance.

Only two hints of a definition are used, and they were approved with it: a tool that does not declare itself
read-only has side effects, and a destructive one needs more than a spoken yes. Selection weighs the words of
the utterance by how rare they are among the tools' names and descriptions.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict

from edgevox.core.errors import ConfigError
from edgevox.core.words import normalized_words, word_set
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
        return await call(definition.name, arguments)

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

_NAME_WEIGHT = 3.0
_SLOT_WEIGHT = 0.5
_ENOUGH = 1.0
_MAX_WORDS = 60
_COMMON = word_set(
    """
    a about all am an and any are as at be been but by can could did do does for from get give had has have
    he her him his how i if in into is it its just know let like make many may me might much my need no not
    now of on one or our out please say she should show so some tell that the their them there these they
    thing this those to up us use using want was we were what when where which who why will with would you
    your
    """
)


class RelevantTools:
    """Selects tools by relevance, with an index built once; create a new one when the tools change."""

    def __init__(self, tools: Sequence[Tool], *, max_tools: int, max_chars: int = MAX_CHARS) -> None:
        self._entries = [_IndexedTool(tool, place) for place, tool in enumerate(tools)]
        self._max_tools = max_tools
        self._max_chars = max_chars

    @property
    def are_few(self) -> bool:
        """Whether all of them fit into every prompt."""
        size = sum(entry.chars for entry in self._entries)
        return len(self._entries) <= self._max_tools and size <= self._max_chars

    def names(self, sentence: str) -> tuple[str, ...]:
        """The tools to offer, in order; with "", those that are offered for every sentence."""
        if self.are_few:
            return tuple(entry.tool.name for entry in self._entries)
        asked = Counter(_stems(sentence))
        if not asked:
            return ()
        scored = [(self._score(entry, asked), -entry.place, entry) for entry in self._entries]
        best = sorted((one for one in scored if one[0] >= _ENOUGH), key=lambda one: one[:2], reverse=True)
        chosen: list[_IndexedTool] = []
        room = self._max_chars
        for _score, _place, entry in best[: self._max_tools]:
            if entry.chars <= room:
                chosen.append(entry)
                room -= entry.chars
        return tuple(entry.tool.name for entry in sorted(chosen, key=lambda entry: entry.place))

    @cached_property
    def _rarity(self) -> dict[str, float]:
        """The weight of a word: higher the fewer tools contain it."""
        seen = Counter(word for entry in self._entries for word in entry.weights)
        return {word: math.log(1 + len(self._entries) / count) for word, count in seen.items()}

    def _score(self, entry: _IndexedTool, asked: Counter[str]) -> float:
        return sum(entry.weights[word] * self._rarity[word] for word in asked if word in entry.weights)


@dataclass(frozen=True)
class _IndexedTool:
    tool: Tool
    place: int

    @cached_property
    def chars(self) -> int:
        return len(json.dumps(self.tool.openai_schema))

    @cached_property
    def weights(self) -> dict[str, float]:
        """The weight of each word of the tool, normalised by the length of the description."""
        described = Counter(_stems(self.tool.description))
        of_length = 1.0 + 0.5 * math.log(1 + len(described) / 8)
        weights = dict.fromkeys(described, 1.0 / of_length)
        for word in _stems(" ".join(self.tool.parameters.get("properties", {}))):
            weights[word] = max(weights.get(word, 0.0), _SLOT_WEIGHT)
        for word in _stems(self.tool.name):
            weights[word] = _NAME_WEIGHT
        return weights


def _stems(text: str) -> list[str]:
    """The content words, without inflection."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|[_./-]", " ", text)
    found = [word for part in parted.split() for word in normalized_words(part)]
    return [_stem(word) for word in found[:_MAX_WORDS] if word not in _COMMON]


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word

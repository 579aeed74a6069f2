"""A tool as an MCP server describes it, and the tool that a model is offered in its place.

Nothing of a description is believed but two hints, and those were approved with it: a tool that does not say
that it only reads is one that acts, and one that says that it destroys needs more than a spoken yes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict

from edgevox.errors import ConfigError
from edgevox.tools.tool import ConfirmLevel, Tool

Call: TypeAlias = Callable[[str, Mapping[str, Any]], Awaitable[object]]
"""Calls a server's tool by the name that the server knows."""

MAX_SCHEMA_CHARS = 16_000
_MAX_DESCRIPTION_CHARS = 1_000
_MAX_DEPTH = 24
_MAX_NAME_CHARS = 64
# A stranger's regular expression can take for ever to match; the server checks its arguments anyway.
_LEFT_TO_THE_SERVER = frozenset({"pattern", "patternProperties", "$schema", "$id", "$anchor"})
# Below these, keys are names of the author's own.
_BY_NAME = frozenset({"properties", "$defs", "definitions", "dependentSchemas"})


class Definition(BaseModel):
    """What a server says of a tool. This is what a person approves."""

    model_config = ConfigDict(frozen=True)

    name: str
    description: str = ""
    input_schema: dict[str, Any] = {}
    read_only: bool | None = None
    destructive: bool | None = None

    @property
    def fingerprint(self) -> str:
        text = json.dumps(self.model_dump(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def only_reads(self) -> bool:
        return self.read_only is True and self.destructive is not True

    @property
    def confirm(self) -> ConfirmLevel:
        """What a call needs before it runs. No hint is the hint that something happens."""
        if self.only_reads:
            return "never"
        return "screen" if self.destructive else "voice"


def offered_name(name: str, prefix: str = "") -> str:
    """A name that models and grammars can write; two names of a server may come to the same."""
    plain = re.sub(r"[^A-Za-z0-9_]", "_", f"{prefix}{name}")
    if not re.match(r"[A-Za-z_]", plain):
        plain = f"_{plain}"
    if len(plain) <= _MAX_NAME_CHARS:
        return plain
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{plain[: _MAX_NAME_CHARS - 9]}_{digest}"


def as_tool(definition: Definition, name: str, call: Call, *, server_id: str) -> Tool:
    """The tool that is offered. Raises ConfigError for a description that is of no use."""

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
            f"the parameters of {definition.name} are described in more than {MAX_SCHEMA_CHARS:,} characters",
            hint="no model on this machine could read that",
        )
    if schema.get("type", "object") != "object":
        raise ConfigError(
            f"the arguments of {definition.name} are not an object", hint="MCP wants them to be one"
        )
    plain: dict[str, Any] = _plain(schema, definition.name, 0)
    return {"type": "object", "properties": {}, **plain}


def _plain(schema: Any, tool: str, depth: int) -> Any:  # noqa: ANN401 - JSON
    """The schema without what could harm whoever checks it. Raises ConfigError."""
    if depth > _MAX_DEPTH:
        raise ConfigError(f"the parameters of {tool} are nested too deeply", hint="its author can mend that")
    match schema:
        case list():
            return [_plain(member, tool, depth + 1) for member in schema]
        case {"$ref": str(reference)} if not reference.startswith("#"):
            raise ConfigError(
                f"the parameters of {tool} refer to {reference[:80]}", hint="nothing is fetched for a schema"
            )
        case Mapping():
            return {
                key: _named(member, tool, depth) if key in _BY_NAME else _plain(member, tool, depth + 1)
                for key, member in schema.items()
                if key not in _LEFT_TO_THE_SERVER
            }
        case _:
            return schema


def _named(members: Any, tool: str, depth: int) -> Any:  # noqa: ANN401 - JSON
    if not isinstance(members, Mapping):
        return members
    return {name: _plain(member, tool, depth + 1) for name, member in members.items()}

"""Stores the user's approvals: MCP servers that may be started, and their tools by definition.

A server is approved by its exact command. The tools that it has then are approved with it; a new or changed
tool is not offered until the user approves it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from pydantic import BaseModel

from edgevox.core.state_file import StateFile
from edgevox.tools.mcp.config import ServerSpec, identity
from edgevox.tools.mcp.tools import Definition

APPROVALS_FILE = "mcp_approved.json"


class _Approved(BaseModel):
    server: str
    shown: str
    tools: dict[str, Definition] | None = None
    waiting: dict[str, Definition] = {}


class _Content(BaseModel):
    approved: dict[str, _Approved] = {}


@dataclass(frozen=True, slots=True)
class Change:
    """A tool that waits for approval. `before` is the approved definition, None for a new tool."""

    now: Definition
    before: Definition | None


class Approvals:
    """Stored in the state folder, or in memory without a path. All methods raise StateError."""

    def __init__(self, path: Path | None = None) -> None:
        self._file = StateFile(path, _Content)

    def is_approved(self, spec: ServerSpec) -> bool:
        return self._approved(spec) is not None

    def tools(self, spec: ServerSpec) -> Mapping[str, Definition] | None:
        """The approved tools by name; None before the first listing."""
        approved = self._approved(spec)
        return None if approved is None or approved.tools is None else MappingProxyType(approved.tools)

    def changes(self, spec: ServerSpec) -> tuple[Change, ...]:
        """The tools that wait for approval."""
        approved = self._approved(spec) or _Approved(server=spec.id, shown=spec.shown)
        known = approved.tools or {}
        return tuple(Change(now, known.get(name)) for name, now in approved.waiting.items())

    def approve(self, spec: ServerSpec) -> None:
        """Record that the user has approved the command."""
        with self._file.changing() as content:
            content.approved.setdefault(identity(spec), _Approved(server=spec.id, shown=spec.shown))

    def withdraw(self, server_id: str) -> None:
        """Delete the approvals of this server."""
        with self._file.changing() as content:
            content.approved = {
                key: approved for key, approved in content.approved.items() if approved.server != server_id
            }

    def accept(self, spec: ServerSpec) -> None:
        """Record that the user has approved the changed tools."""
        with self._file.changing() as content:
            if approved := content.approved.get(identity(spec)):
                approved.tools, approved.waiting = {**(approved.tools or {}), **approved.waiting}, {}

    def compare(self, spec: ServerSpec, listed: Iterable[Definition]) -> tuple[Definition, ...]:
        """The listed tools that match their approval. Others wait; the first list is approved."""
        now = {definition.name: definition for definition in listed}
        approved = self._approved(spec)
        if approved is None:
            return ()
        known = now if approved.tools is None else approved.tools
        waiting = {name: one for name, one in now.items() if known.get(name) != one}
        if approved.tools is None or waiting != approved.waiting:
            with self._file.changing() as content:
                if kept := content.approved.get(identity(spec)):
                    kept.tools, kept.waiting = known, waiting
        return tuple(one for name, one in now.items() if name not in waiting)

    def _approved(self, spec: ServerSpec) -> _Approved | None:
        return self._file.read().approved.get(identity(spec))

"""Starts the configured MCP servers, registers their approved tools, and reports their status.

Only approved tools are offered. They are in the registry from the start, before their server has answered;
changed ones are removed.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, TypeAlias

from edgevox.config import McpSettings
from edgevox.core.errors import ConfigError, StateError
from edgevox.tools.mcp.approvals import Approvals
from edgevox.tools.mcp.config import ServerSpec, prefix_of
from edgevox.tools.mcp.filling import Lookup, Request
from edgevox.tools.mcp.requests import ServerTools
from edgevox.tools.mcp.supervisor import ServerSupervisor, StartSlots, State
from edgevox.tools.mcp.tools import Definition, RelevantTools, as_tool, offered_name
from edgevox.tools.registry import ToolRegistry
from edgevox.tools.tool import Tool

ServerStatus: TypeAlias = Literal["unapproved"] | State

OWNER_PREFIX = "mcp "
"""Prefix of the owner of a server's tools in the registry."""

ANSWER_S = 10.0
FIRST_PAUSE_S = 1.0

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ServerReport:
    """The status of one server: `waiting` tools changed and need approval, `left_out` ones are unusable."""

    id: str
    shown: str
    status: ServerStatus
    tools: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    reason: str = ""


@dataclass(slots=True)
class _Server:
    spec: ServerSpec
    is_approved: bool
    supervisor: ServerSupervisor = field(init=False)
    definitions: tuple[Definition, ...] = ()
    names: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    problem: str = ""

    @property
    def owner(self) -> str:
        return f"{OWNER_PREFIX}{self.spec.id}"


class McpServers:
    """Starts the approved servers of `specs`; their tools are added to `registry`.

    `adjust` is as for plugins. A server that does not answer within `answer_s` is restarted after
    `first_pause_s`, then with backoff. The constructor does not raise; errors are in `reports()`.
    """

    def __init__(
        self,
        specs: Sequence[ServerSpec],
        approvals: Approvals,
        registry: ToolRegistry,
        settings: McpSettings | None = None,
        *,
        adjust: Callable[[Tool], Tool | None] = lambda tool: tool,
        answer_s: float = ANSWER_S,
        first_pause_s: float = FIRST_PAUSE_S,
    ) -> None:
        self._approvals = approvals
        self._registry = registry
        self._settings = settings or McpSettings()
        self._adjust = adjust
        self._has_prefixes = len(specs) > 1
        self._relevant = RelevantTools((), max_tools=self._settings.max_offered)
        self._choosing = ServerTools(())
        self._servers = [_Server(spec, self._is_approved(spec)) for spec in specs]
        starts = StartSlots()
        for server in self._servers:
            server.supervisor = ServerSupervisor(
                server.spec,
                partial(self._listed, server),
                starts=starts,
                refresh_s=self._settings.tool_refresh_s,
                start_timeout_s=self._settings.start_timeout_s,
                answer_s=answer_s,
                first_pause_s=first_pause_s,
            )
            if server.is_approved:
                self._offer_approved(server)

    def reports(self) -> tuple[ServerReport, ...]:
        return tuple(
            ServerReport(
                server.spec.id,
                server.spec.shown,
                server.supervisor.state if server.is_approved else "unapproved",
                tools=server.names,
                waiting=server.waiting,
                left_out=dict(server.left_out),
                reason=server.problem or server.supervisor.reason,
            )
            for server in self._servers
        )

    def offered(self, sentence: str) -> tuple[str, ...]:
        """The names of all tools to offer for this sentence; those of servers are selected by relevance.

        Tools of unavailable servers are left out. With "", those that are offered for every sentence.
        """
        of_servers = {name for server in self._servers for name in server.names}
        away = {name for server in self._servers if server.supervisor.state == "away" for name in server.names}
        here = tuple(tool for tool in self._registry if tool.name in of_servers - away)
        if self._relevant.tools != here:
            self._relevant = RelevantTools(here, max_tools=self._settings.max_offered)
        own = (name for name in self._registry.names if name not in of_servers)
        return (*own, *self._relevant.names(sentence))

    def meant(self, sentence: str) -> Request | None:
        """The tool of an available server that a sentence means, with its arguments, read without a model."""
        return self._tools_here().meant(sentence)

    def looked_up(self, sentence: str) -> Request | Lookup | None:
        """What a sentence means, also where a server has to be asked before its request can be made; or None."""
        return self._tools_here().looked_up(sentence)

    def forget_tables(self) -> None:
        """Ask for the tables of databases again before the next question about them."""
        self._choosing.forget_tables()

    def _tools_here(self) -> ServerTools:
        here = tuple(
            (tool, server.spec.id if self._has_prefixes else "")
            for server in self._servers
            if server.supervisor.state != "away"
            for tool in self._registry
            if tool.name in server.names
        )
        if self._choosing.tools != here:
            self._choosing = ServerTools(here)
        return self._choosing

    def start(self, names: Collection[str] | None = None) -> None:
        """Start all approved servers, or those in `names`, without waiting for them."""
        for server in self._servers:
            if server.is_approved and (names is None or server.spec.id in names):
                server.supervisor.start()

    async def settled(self, timeout_s: float) -> None:
        """Wait until every server without known tools has answered or failed, within the timeout.

        A server whose tools are known is not waited for: a call of one waits by itself.
        """
        await self._known([server for server in self._servers if not server.definitions], timeout_s)

    async def answered(self, timeout_s: float) -> None:
        """Wait until every server has answered or failed, within the timeout."""
        await self._known(self._servers, timeout_s)

    async def _known(self, servers: Sequence[_Server], timeout_s: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                for server in servers:
                    if server.supervisor.state != "stopped":
                        await server.supervisor.known()

    async def stop(self) -> None:
        """Stop all servers concurrently, with a timeout."""
        await asyncio.gather(*(server.supervisor.stop() for server in self._servers))

    # --- tools

    def _is_approved(self, spec: ServerSpec) -> bool:
        try:
            return self._approvals.is_approved(spec)
        except StateError as error:
            _log.warning("%s", error.message)
            return False

    def _offer_approved(self, server: _Server) -> None:
        try:
            known = self._approvals.tools(server.spec)
            waiting = {change.now.name for change in self._approvals.changes(server.spec)}
        except StateError as error:
            server.problem = error.message
            return
        server.waiting = tuple(sorted(waiting))
        if known is not None:
            definitions = tuple(one for name, one in known.items() if name not in waiting)
            self._offer(server, definitions, self._tools(server, definitions))

    async def _listed(self, server: _Server, listed: tuple[Definition, ...]) -> None:
        """Handle a tool listing: offer the tools that match their approval."""
        try:
            approved = await asyncio.to_thread(self._approvals.compare, server.spec, listed)
            changes = await asyncio.to_thread(self._approvals.changes, server.spec)
        except StateError as error:
            server.problem = error.message
            return
        waiting = tuple(sorted(change.now.name for change in changes))
        if waiting != server.waiting and waiting:
            _log.warning(
                "the server %s has changed %s: run edgevox mcp approve %s to see and approve the changes",
                server.spec.id,
                ", ".join(waiting),
                server.spec.id,
            )
        if approved != server.definitions:
            # Checking hundreds of schemas takes a second: off the event loop.
            self._offer(server, approved, await asyncio.to_thread(self._tools, server, approved))
        server.waiting = waiting

    def _tools(self, server: _Server, definitions: tuple[Definition, ...]) -> list[Tool]:
        server.left_out = {}
        prefix = prefix_of(server.spec.id)
        tools: dict[str, Tool] = {}
        for definition in definitions:
            name = offered_name(definition.name)
            is_taken = name in self._registry and self._registry.owner(name) != server.owner
            if self._has_prefixes or is_taken:
                name = offered_name(definition.name, prefix)
            if name in tools:
                server.left_out[definition.name] = f"its name is taken by another tool of the server: {name}"
                continue
            try:
                tool = self._adjust(as_tool(definition, name, server.supervisor.call, server_id=server.spec.id))
            except ConfigError as error:
                server.left_out[definition.name] = error.message
                continue
            if tool is not None:
                tools[name] = tool
        return list(tools.values())

    def _offer(self, server: _Server, definitions: tuple[Definition, ...], tools: Iterable[Tool]) -> None:
        self._registry.remove_owner(server.owner)
        names: list[str] = []
        for tool in tools:
            try:
                self._registry.add(tool, owner=server.owner)
            except ConfigError as error:
                server.left_out[tool.name] = error.message
            else:
                names.append(tool.name)
        server.definitions = definitions
        server.names = tuple(names)

"""The assistant as an MCP server: its tools for other programs, held to the same rules as in the room.

A program cannot say yes for the person: a call that needs one is asked about in the room, or refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from mcp.server import Server, ServerRequestContext
from mcp.types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp.types import Tool as ListedTool

from edgevox import __version__
from edgevox.agents.confirm import Confirm
from edgevox.tools.executor import ToolExecutor
from edgevox.tools.mcp.servers import OWNER_PREFIX as MCP
from edgevox.tools.registry import ToolRegistry
from edgevox.tools.results import ToolResult
from edgevox.tools.scopes import Caller
from edgevox.tools.tool import Tool
from edgevox.turn import Turn
from edgevox.types import ToolCall

PROGRAM = Caller("mcp client", frozenset({"read", "act", "chat"}))
"""A program that the user connected: it may do what a spoken command may, and confirm nothing."""

_INSTRUCTIONS = (
    "The voice assistant of a home. Its home tools act in the real house. A call that needs a person's yes "
    "is asked about in the room, and may take half a minute; a no, or silence, is an error."
)


class ServedTools:
    """Tools of the home, and the assistant's own, behind one door."""

    def __init__(self, home: ToolExecutor | None, own: Iterable[Tool], confirm: Confirm) -> None:
        self._home = home
        self._own = ToolExecutor(ToolRegistry(own))
        self._confirm = confirm

    def listed(self) -> list[ListedTool]:
        """What a client is told of. Tools that are themselves of MCP servers are not passed on."""
        home = self._home.registry if self._home else ()
        return [_listed(tool) for tool in (*self._own.registry, *home) if self._executor(tool.name)]

    async def call(self, name: str, arguments: dict[str, Any], caller: Caller = PROGRAM) -> ToolResult:
        """Run one call; where a person has to agree, they are asked. Raises only CancelledError."""
        turn = Turn()
        call = ToolCall(turn.id, name, json.dumps(arguments))
        executor = self._executor(name) or self._own
        result = await executor.dispatch(call, caller=caller, turn_id=turn.id)
        if result.confirmation is None:
            return result
        agreement = await self._confirm(result.confirmation, turn)
        if not agreement.granted:
            return executor.refuse(result.confirmation, agreement.why)
        return await executor.dispatch_confirmed(
            result.confirmation.call,
            result.confirmation.token,
            by=agreement.by,
            channel=agreement.channel,
        )

    def _executor(self, name: str) -> ToolExecutor | None:
        """Who runs the tool of that name; None where a client may not use it."""
        if name in self._own.registry:
            return self._own
        home = self._home
        is_ours = home is not None and name in home.registry and not home.registry.owner(name).startswith(MCP)
        return home if is_ours else None


def create_mcp_server(
    tools: ServedTools, caller_of: Callable[[object], Caller] = lambda _request: PROGRAM
) -> Server[Any]:
    """The server, for any transport of the SDK's. `caller_of` says who sent an HTTP request."""

    async def on_list_tools(_context: object, _params: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=tools.listed())

    async def on_call_tool(
        context: ServerRequestContext[Any], params: CallToolRequestParams
    ) -> CallToolResult:
        result = await tools.call(params.name, params.arguments or {}, caller_of(context.request))
        # What is said to the person ("All right.") tells a program too little of what went wrong.
        text = result.content if result.is_error else result.speech or result.content
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=result.is_error)

    return Server(
        "edgevox",
        version=__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=on_list_tools,
        on_call_tool=on_call_tool,
    )


def _listed(tool: Tool) -> ListedTool:
    function = tool.openai_schema["function"]
    return ListedTool(
        name=tool.name,
        description=function["description"],
        input_schema=dict(function["parameters"]),
        annotations=ToolAnnotations(
            read_only_hint=not tool.side_effects,
            destructive_hint=tool.confirm == "screen" if tool.side_effects else False,
        ),
    )

"""The assistant's tools for MCP clients over streamable HTTP, on the server's own port.

Every request needs a token, whose scopes say which tools it may call; a yes is given as for any program.
Nothing is kept between two requests, so there are no sessions to be taken over.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.requests import HTTPConnection, Request
from starlette.types import Receive, Scope, Send

from edgevox.agents.confirm import Confirm
from edgevox.server.access import Access
from edgevox.server.mcp_server import ServedTools, create_mcp_server
from edgevox.tools.executor import ToolExecutor
from edgevox.tools.scopes import Caller

_SCOPE = "read"


class McpRoute:
    """An ASGI application; it answers inside `running()`."""

    def __init__(self, executor: ToolExecutor | None, confirm: Confirm, access: Access) -> None:
        self._access = access
        server = create_mcp_server(ServedTools(executor, (), confirm), self._caller)
        # Host and Origin are checked before it (guard.py), by this server's own rule.
        self._manager = StreamableHTTPSessionManager(server, json_response=True, stateless=True)

    def running(self) -> AbstractAsyncContextManager[None]:
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises ApiError for who has no token."""
        self._access.actor(HTTPConnection(scope), _SCOPE)
        await self._manager.handle_request(scope, receive, send)

    def _caller(self, request: object) -> Caller:
        assert isinstance(request, Request)
        return self._access.actor(request, _SCOPE)

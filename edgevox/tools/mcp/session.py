"""One session with one MCP server through the SDK: lists its tools and calls them."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any, assert_never

import anyio
from mcp import Client, MCPError, types
from mcp.client.session import IncomingMessage
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from pydantic import ValidationError

from edgevox import __version__
from edgevox.core.errors import ToolError
from edgevox.tools.mcp.config import ServerSpec
from edgevox.tools.mcp.tools import Definition, SessionLost, reason_of
from edgevox.tools.mcp.transports import Process, open_transport

MAX_TOOLS = 500
_MAX_PAGES = 50


class McpSession:
    """An open session with a server."""

    def __init__(self, client: Client, process: Process) -> None:
        self._client = client
        self.process = process

    async def tools(self) -> tuple[Definition, ...]:
        """List the tools. Raises SessionLost."""
        found: list[Definition] = []
        cursor: str | None = None
        for _page in range(_MAX_PAGES):
            try:
                page = await self._client.list_tools(cursor=cursor)
            except ValidationError as error:
                raise SessionLost("its tool list is invalid") from error
            except (MCPError, ValueError, RuntimeError, OSError, anyio.ClosedResourceError) as error:
                raise SessionLost(f"its tools cannot be listed: {reason_of(error)}") from error
            found += (definition_of(tool) for tool in page.tools)
            cursor = page.next_cursor
            if cursor is None or len(found) >= MAX_TOOLS:
                break
        return tuple(found[:MAX_TOOLS])

    async def call(self, name: str, arguments: Mapping[str, Any]) -> object:
        """Call a tool. Raises ToolError if it fails, and SessionLost."""
        try:
            result = await self._client.call_tool(name, dict(arguments))
        except MCPError as error:
            if error.code == types.CONNECTION_CLOSED:
                raise SessionLost("it has ended") from error
            raise ToolError(error.message) from error
        except (OSError, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise SessionLost(reason_of(error)) from error
        except (ValueError, RuntimeError) as error:
            raise ToolError("the server sent an invalid answer") from error
        return _answer(result)

    async def changes(self, on_change: Callable[[], None]) -> None:
        """Call `on_change` whenever the tools change, as long as the server announces it in the newer way."""
        with contextlib.suppress(
            ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError, RuntimeError, OSError
        ):
            async with self._client.listen(tools_list_changed=True) as events:
                async for _event in events:
                    on_change()


@asynccontextmanager
async def connected(
    spec: ServerSpec, *, on_change: Callable[[], None], on_end: Callable[[], None]
) -> AsyncGenerator[McpSession, None]:
    """A session inside the block. Raises ConfigError, SessionLost, and what the SDK raises.

    `on_change` is called when the tools change, `on_end` when the server's output ends.
    """
    process = Process()

    async def on_message(message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            on_change()

    client = Client(
        open_transport(spec, process, on_end),
        message_handler=on_message,
        client_info=types.Implementation(name="edgevox", version=__version__),
        cache=None,
    )
    try:
        async with client:
            yield McpSession(client, process)
    except (MCPError, BaseExceptionGroup) as error:
        # For a server that died the SDK reports only a closed connection; its stderr may have the reason.
        if process.reason:
            raise SessionLost(process.reason) from error
        raise


def definition_of(tool: types.Tool) -> Definition:
    """The tool as it is approved and offered."""
    hints = tool.annotations
    return Definition(
        name=tool.name,
        description=tool.description or "",
        input_schema=tool.input_schema,
        read_only=hints.read_only_hint if hints else None,
        destructive=hints.destructive_hint if hints else None,
    )


def _answer(result: types.CallToolResult) -> object:
    """The content for the model. Raises ToolError for an error result."""
    texts: list[str] = []
    for block in result.content:
        match block:
            case types.TextContent():
                texts.append(block.text)
            case types.ImageContent():
                texts.append("(a picture, which cannot be shown here)")
            case types.AudioContent():
                texts.append("(a sound, which cannot be played here)")
            case types.ResourceLink():
                texts.append(f"(see {block.uri})")
            case types.EmbeddedResource(resource=types.TextResourceContents(text=text)):
                texts.append(text)
            case types.EmbeddedResource():
                texts.append("(a file, which cannot be shown here)")
            case _:
                assert_never(block)
    text = "\n".join(texts)
    if result.is_error:
        raise ToolError(text or "it failed")
    if not text and result.structured_content is not None:
        return json.dumps(result.structured_content)
    return text or None

"""One connection to one server, through the SDK: its tools, and calls of them."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any, assert_never

import anyio
import httpx2
from mcp import Client, MCPError
from mcp.client.session import IncomingMessage
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
from mcp.types import (
    CONNECTION_CLOSED,
    AudioContent,
    CallToolResult,
    EmbeddedResource,
    ImageContent,
    Implementation,
    ResourceLink,
    TextContent,
    TextResourceContents,
    Tool,
    ToolListChangedNotification,
)
from pydantic import ValidationError

from edgevox import __version__
from edgevox.errors import ToolError
from edgevox.tools.mcp.config import HttpServer, ServerSpec, StdioServer, with_variables
from edgevox.tools.mcp.definition import Definition
from edgevox.tools.mcp.flow import MAX_MESSAGE_BYTES, Flood, Flow
from edgevox.tools.mcp.stdio import Process, stdio_transport

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

MAX_TOOLS = 500
# A stream of events may be silent for long; everything else answers soon.
_TIMEOUT = httpx2.Timeout(30.0, read=300.0)
_MAX_PAGES = 50


class LinkLost(ConnectionError):
    """The server does not answer as a server should; the connection is of no more use."""


class Link:
    """A server that has answered. `on_change` is called when it says that its tools are others now."""

    def __init__(self, client: Client, process: Process) -> None:
        self._client = client
        self._process = process

    @property
    def problem(self) -> str:
        return self._process.problem or self._process.last_words

    async def tools(self) -> tuple[Definition, ...]:
        """What it offers now. Raises LinkLost."""
        found: list[Definition] = []
        cursor: str | None = None
        for _page in range(_MAX_PAGES):
            try:
                page = await self._client.list_tools(cursor=cursor)
            except ValidationError as error:
                raise LinkLost("what it says of its tools cannot be read") from error
            except (MCPError, ValueError, RuntimeError, OSError, anyio.ClosedResourceError) as error:
                raise LinkLost(f"its tools cannot be read: {_words(error)}") from error
            found += (_definition(tool) for tool in page.tools)
            cursor = page.next_cursor
            if cursor is None or len(found) >= MAX_TOOLS:
                break
        return tuple(found[:MAX_TOOLS])

    async def call(self, name: str, arguments: Mapping[str, Any]) -> object:
        """What a tool answers. Raises ToolError when it fails, and LinkLost."""
        try:
            result = await self._client.call_tool(name, dict(arguments))
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                raise LinkLost("it has ended") from error
            raise ToolError(error.message) from error
        except (OSError, anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            raise LinkLost(_words(error)) from error
        except (ValueError, RuntimeError) as error:
            raise ToolError("the server answered with what cannot be read") from error
        return _answer(result)

    async def changes(self, on_change: Callable[[], None]) -> None:
        """Pass on that the tools have changed, for as long as the server tells it in the newer way."""
        with contextlib.suppress(
            ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError, RuntimeError, OSError
        ):
            async with self._client.listen(tools_list_changed=True) as events:
                async for _event in events:
                    on_change()


@asynccontextmanager
async def connected(
    spec: ServerSpec, *, on_change: Callable[[], None], on_end: Callable[[], None]
) -> AsyncGenerator[Link, None]:
    """A server that has answered, inside the block. Raises ConfigError, LinkLost, and what the SDK raises.

    `on_change` is called when its tools change, `on_end` when it says no more.
    """
    process = Process()

    async def hear(message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            on_change()

    client = Client(
        _transport(spec, process, on_end),
        message_handler=hear,
        client_info=Implementation(name="edgevox", version=__version__),
        cache=None,
    )
    try:
        async with client:
            yield Link(client, process)
    except (MCPError, BaseExceptionGroup) as error:
        # What the SDK says of a server that died is that the connection was closed; it may have said why.
        if why := process.problem or process.last_words:
            raise LinkLost(why) from error
        raise


def _transport(
    spec: ServerSpec, process: Process, on_end: Callable[[], None]
) -> AbstractAsyncContextManager[TransportStreams]:
    match spec:
        case StdioServer():
            return stdio_transport(spec, process, on_end)
        case HttpServer():
            return _http_transport(spec, process, on_end)
        case _:
            assert_never(spec)


@asynccontextmanager
async def _http_transport(
    spec: HttpServer, process: Process, on_end: Callable[[], None]
) -> AsyncGenerator[TransportStreams, None]:
    async with (
        httpx2.AsyncClient(
            headers=with_variables(spec.headers),
            timeout=_TIMEOUT,
            event_hooks={"response": [_bound]},
        ) as http,
        streamable_http_client(spec.url, http_client=http) as (received, outbox),
    ):
        inbox, counted = anyio.create_memory_object_stream[Any](0)

        async def count() -> None:
            flow = Flow()
            try:
                async for message in received:
                    flow.count(0)
                    await inbox.send(message)
            except Flood as error:
                process.problem = str(error)
            except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                pass  # nobody listens any more
            finally:
                inbox.close()
                on_end()

        counting = asyncio.create_task(count())
        try:
            yield counted, outbox
        finally:
            counting.cancel()
            await asyncio.gather(counting, return_exceptions=True)
            counted.close()


class _Bounded(httpx2.AsyncByteStream):
    """The body of an answer, up to the size that a message may have."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > MAX_MESSAGE_BYTES:
                raise httpx2.ReadError(f"its answer has more than {MAX_MESSAGE_BYTES:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound(response: httpx2.Response) -> None:
    # A stream of events has no end, and the SDK bounds each of them.
    is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    if not is_stream and isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream)


def _definition(tool: Tool) -> Definition:
    hints = tool.annotations
    return Definition(
        name=tool.name,
        description=tool.description or "",
        input_schema=tool.input_schema,
        read_only=hints.read_only_hint if hints else None,
        destructive=hints.destructive_hint if hints else None,
    )


def _answer(result: CallToolResult) -> object:
    """What a model is told. Raises ToolError for a result that says that it is an error."""
    texts: list[str] = []
    for block in result.content:
        match block:
            case TextContent():
                texts.append(block.text)
            case ImageContent():
                texts.append("(a picture, which cannot be shown here)")
            case AudioContent():
                texts.append("(a sound, which cannot be played here)")
            case ResourceLink():
                texts.append(f"(see {block.uri})")
            case EmbeddedResource(resource=TextResourceContents(text=text)):
                texts.append(text)
            case EmbeddedResource():
                texts.append("(a file, which cannot be shown here)")
            case _:
                assert_never(block)
    text = "\n".join(texts)
    if result.is_error:
        raise ToolError(text or "it failed")
    if not text and result.structured_content is not None:
        return json.dumps(result.structured_content)
    return text or None


def _words(error: BaseException) -> str:
    text = " ".join(str(error).split())[:200]
    return text or type(error).__name__

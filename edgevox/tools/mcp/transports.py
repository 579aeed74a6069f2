"""MCP transports (stdio and streamable HTTP) with limits on message size and rate.

The SDK's stdio transport has no limit on a line and passes the server's stderr to our terminal; this one
bounds both.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import anyio
import httpx2
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from edgevox.tools.mcp.config import HttpServer, ServerSpec, StdioServer, expand_variables
from edgevox.tools.mcp.server_process import server_process

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

_log = logging.getLogger(__name__)

MAX_MESSAGE_BYTES = 4_000_000
MAX_MESSAGES_PER_S = 500
MAX_BYTES_PER_S = 16_000_000
MAX_INVALID_MESSAGES = 20


class LimitExceeded(ConnectionError):
    """The server sends too much, or nothing but invalid messages."""


class RateLimit:
    """Counts the messages of one server per second."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began_s = clock()
        self._messages = 0
        self._bytes = 0
        self._invalid = 0

    def count(self, size: int, *, is_message: bool = True) -> None:
        """Raises LimitExceeded, also after too many invalid messages in a row."""
        if (now_s := self._clock()) - self._began_s >= 1.0:
            self._began_s, self._messages, self._bytes = now_s, 0, 0
        self._messages += 1
        self._bytes += size
        if self._messages > MAX_MESSAGES_PER_S or self._bytes > MAX_BYTES_PER_S:
            raise LimitExceeded("it sends too many messages")
        self._invalid = 0 if is_message else self._invalid + 1
        if self._invalid > MAX_INVALID_MESSAGES:
            raise LimitExceeded("its output is not valid MCP")


_STDERR_TAIL_BYTES = 2_000
_CHUNK_BYTES = 65_536
# Limits how fast the stderr of a server is read.
_CHUNK_PAUSE_S = 0.01


@dataclass(slots=True)
class Process:
    """The state of a server's process: its protocol problem and the end of its stderr."""

    problem: str = ""
    errors: bytes = b""

    @property
    def reason(self) -> str:
        """Why it failed, as far as known: the problem, or the last line of its stderr."""
        lines = self.errors.decode("utf-8", "replace").strip().splitlines() or [""]
        return self.problem or lines[-1].strip()[:200]


@asynccontextmanager
async def stdio_transport(
    spec: StdioServer, process: Process, on_end: Callable[[], None]
) -> AsyncGenerator[TransportStreams, None]:
    """Start the server and connect to it inside the block. `on_end` is called when its output ends.

    Raises ConfigError if the program cannot be started.
    """
    async with server_process(spec, MAX_MESSAGE_BYTES) as pipes:
        inbox, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outbox, to_send = anyio.create_memory_object_stream[SessionMessage](0)
        tasks = [
            asyncio.create_task(_forward(_messages(pipes.stdout), inbox, process, on_end)),
            asyncio.create_task(_write(pipes.stdin, to_send)),
            asyncio.create_task(_read_errors(pipes.stderr, process)),
        ]
        try:
            yield received, outbox
        finally:
            for stream in (inbox, received, outbox, to_send):
                stream.close()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _messages(output: asyncio.StreamReader) -> AsyncIterator[tuple[int, SessionMessage | None]]:
    """The size and content of each line; None for an invalid one. Raises ValueError for a line beyond the limit."""
    while line := await output.readline():
        message = None
        try:
            message = SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
        except ValueError:
            _log.debug("no message: %r", line[:200])
        yield len(line), message


async def _forward(
    messages: AsyncIterator[tuple[int, Any]],
    inbox: MemoryObjectSendStream[Any],
    process: Process,
    on_end: Callable[[], None],
) -> None:
    """Pass messages on within the rate limit; the reason for an end is in `process.problem`."""
    flow = RateLimit()
    try:
        async for size, message in messages:
            flow.count(size, is_message=message is not None)
            if message is not None:
                await inbox.send(message)
    except LimitExceeded as error:
        process.problem = str(error)
    except ValueError:
        process.problem = f"one of its messages exceeds {MAX_MESSAGE_BYTES:,} bytes"
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass  # the reader has gone
    finally:
        inbox.close()
        on_end()


async def _write(input_: asyncio.StreamWriter, to_send: MemoryObjectReceiveStream[SessionMessage]) -> None:
    # If the process has ended, its output has ended too, and the reader of that handles it.
    with contextlib.suppress(ConnectionError):
        async for message in to_send:
            text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
            input_.write(f"{text}\n".encode())
            await input_.drain()


async def _read_errors(errors: asyncio.StreamReader, process: Process) -> None:
    while chunk := await errors.read(_CHUNK_BYTES):
        process.errors = (process.errors + chunk)[-_STDERR_TAIL_BYTES:]
        await asyncio.sleep(_CHUNK_PAUSE_S)


# An event stream may be silent for long; everything else answers soon.
_TIMEOUT = httpx2.Timeout(30.0, read=300.0)


def open_transport(
    spec: ServerSpec, process: Process, on_end: Callable[[], None]
) -> AbstractAsyncContextManager[TransportStreams]:
    if isinstance(spec, StdioServer):
        return stdio_transport(spec, process, on_end)
    return _http_transport(spec, process, on_end)


@asynccontextmanager
async def _http_transport(
    spec: HttpServer, process: Process, on_end: Callable[[], None]
) -> AsyncGenerator[TransportStreams, None]:
    async with (
        httpx2.AsyncClient(
            headers=expand_variables(spec.headers), timeout=_TIMEOUT, event_hooks={"response": [_bound]}
        ) as http,
        streamable_http_client(spec.url, http_client=http) as (received, outbox),
    ):
        inbox, counted = anyio.create_memory_object_stream[Any](0)
        # The SDK limits the size of an event.
        counting = asyncio.create_task(_forward(((0, message) async for message in received), inbox, process, on_end))
        try:
            yield counted, outbox
        finally:
            counting.cancel()
            await asyncio.gather(counting, return_exceptions=True)
            counted.close()


class _Bounded(httpx2.AsyncByteStream):
    """A response body, limited to the maximum message size."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._stream:
            size += len(chunk)
            if size > MAX_MESSAGE_BYTES:
                raise httpx2.ReadError(f"its answer exceeds {MAX_MESSAGE_BYTES:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


async def _bound(response: httpx2.Response) -> None:
    # An event stream is unbounded, and the SDK limits each event.
    is_stream = response.headers.get("content-type", "").startswith("text/event-stream")
    if not is_stream and isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream)

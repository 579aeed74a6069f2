"""The assistant's end of the control socket: who may speak to it, how much, and how an answer ends."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TypeAlias

from edgevox.control.protocol import LINE_BYTES, Request, line_of, read_object, read_request
from edgevox.errors import ControlError, EdgevoxError
from edgevox.platform_support import has_hung_up, peer_uid, serve_unix, user_id
from edgevox.types import JsonObject

log = logging.getLogger(__name__)

Handle: TypeAlias = Callable[[Request, "Dialogue"], Awaitable[JsonObject]]
"""Does what is asked; the result is what `done` holds. Raises EdgevoxError."""

CONNECTIONS = 8
"""As many at once; the next one is told to try again."""
_REQUEST_WITHIN_S = 5.0
# Whoever does not read for so long is not there any more.
_READ_WITHIN_S = 10.0
_ANSWERS_HELD = 16


class Dialogue:
    """One connection: what is told to the client before the end, and what it says meanwhile."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.answers: asyncio.Queue[JsonObject | None] = asyncio.Queue(_ANSWERS_HELD)
        """What the client sends while it waits; None when nothing more will come."""
        self._writer = writer
        self._one_at_a_time = asyncio.Lock()

    async def tell(self, kind: str, **facts: object) -> None:
        """Send a note. Raises ConnectionError when nobody reads."""
        async with self._one_at_a_time:
            self._writer.write(line_of({"kind": kind, **facts}))
            try:
                async with asyncio.timeout(_READ_WITHIN_S):
                    await self._writer.drain()
            except TimeoutError as error:
                raise ConnectionError("the client does not read") from error


@asynccontextmanager
async def control_server(
    listening: socket.socket,
    handle: Handle,
    *,
    uid_of: Callable[[socket.socket], int] = peer_uid,
) -> AsyncIterator[None]:
    """Answer on the socket while the block runs; what is under way at its end is cancelled."""
    connections: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        try:
            await _converse(reader, writer, handle, uid_of, is_full=len(connections) > CONNECTIONS)
        except ConnectionError as error:
            log.debug("a client went away: %s", error)
        finally:
            connections.discard(task)
            writer.close()

    server = await serve_unix(connected, listening, limit_bytes=LINE_BYTES)
    try:
        yield
    finally:
        server.close()
        for task in tuple(connections):
            task.cancel()
        await asyncio.gather(*connections, return_exceptions=True)


async def _converse(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    handle: Handle,
    uid_of: Callable[[socket.socket], int],
    *,
    is_full: bool,
) -> None:
    dialogue = Dialogue(writer)
    connection = writer.get_extra_info("socket")
    try:
        _check_user(uid_of(connection))
        if is_full:
            raise ControlError("too many are speaking to the assistant at once", hint="try again")
        request = read_request(await _first_line(reader))
        answer = await _handled(request, dialogue, handle, reader, connection)
    except EdgevoxError as error:
        await dialogue.tell("error", code=error.code, message=error.message, hint=error.hint)
    else:
        await dialogue.tell("done", **answer)


def _check_user(uid: int) -> None:
    if uid != user_id():
        log.warning("user %d tried to speak to the assistant of user %d", uid, user_id())
        raise ControlError(
            "this assistant belongs to another user", hint="only the user who started it may speak to it"
        )


async def _first_line(reader: asyncio.StreamReader) -> bytes:
    try:
        async with asyncio.timeout(_REQUEST_WITHIN_S):
            return await reader.readline()
    except TimeoutError as error:
        raise ControlError("no request came") from error
    except ValueError as error:
        raise ControlError("the request is too long") from error


async def _handled(
    request: Request,
    dialogue: Dialogue,
    handle: Handle,
    reader: asyncio.StreamReader,
    connection: socket.socket,
) -> JsonObject:
    """The answer; what a client has asked for is not done when it has gone. Raises ConnectionError then."""
    handling = asyncio.ensure_future(handle(request, dialogue))
    listening = asyncio.create_task(_listen(reader, dialogue, connection))
    try:
        await asyncio.wait((handling, listening), return_when=asyncio.FIRST_COMPLETED)
        if not handling.done() and listening.result():
            raise ConnectionError("the client has gone")
        return await handling
    finally:
        for task in (handling, listening):
            task.cancel()
        await asyncio.gather(handling, listening, return_exceptions=True)


async def _listen(reader: asyncio.StreamReader, dialogue: Dialogue, connection: socket.socket) -> bool:
    """Take what the client says until it has said all; whether it has gone and nobody reads either."""
    with suppress(ValueError, ControlError, asyncio.QueueFull, ConnectionError):
        while line := await reader.readline():
            dialogue.answers.put_nowait(read_object(line))
        with suppress(asyncio.QueueFull):
            dialogue.answers.put_nowait(None)
        # A program that has closed its own direction only, such as `nc`, still wants its answer.
        return has_hung_up(connection)
    return True

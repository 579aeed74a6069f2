"""Control socket server: single-instance lock, peer check, limits, recovery of a deleted socket."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import stat
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import TypeAlias

from edgevox.app.control.protocol import LINE_BYTES, SOCKET_NAME, Request, line_of, read_object, read_request
from edgevox.core.errors import AlreadyRunning, ControlError, EdgevoxError, StateError
from edgevox.core.platform import has_hung_up, lock_exclusively, peer_uid, serve_unix, unix_socket, user_id
from edgevox.core.types import JsonObject

log = logging.getLogger(__name__)

_LOCK_NAME = "edgevox.lock"
_WAITING_CONNECTIONS = 8


@contextmanager
def single_instance(folder: Path) -> Iterator[socket.socket]:
    """Lock the runtime folder during the block and yield the listening control socket.

    Raises AlreadyRunning, and StateError if the folder is not private or not usable.
    """
    private_folder(folder)
    with _locked(folder / _LOCK_NAME):
        path = folder / SOCKET_NAME
        if path.exists():
            # The lock proves that no process listens there.
            log.warning("removing the stale socket %s", path)
            path.unlink()
        listening = _bound(path)
        try:
            yield listening
        finally:
            listening.close()
            with suppress(FileNotFoundError):
                path.unlink()


def private_folder(folder: Path) -> None:
    """Create the folder with access for its owner only. Raises StateError if another user owns it."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = folder.lstat()
        if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != user_id():
            raise StateError(
                f"{folder} belongs to another user", hint="set EDGEVOX_RUNTIME_DIR to a folder of your own"
            )
        if stat.S_IMODE(facts.st_mode) & 0o077:
            folder.chmod(0o700)
    except OSError as error:
        raise StateError(
            f"{folder} cannot be used: {error.strerror}",
            hint="make it writable, or set EDGEVOX_RUNTIME_DIR to another folder",
        ) from error


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    # The lock file is never deleted: two processes could then lock different files of that name.
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+") as file:
        try:
            lock_exclusively(file)
        except BlockingIOError as error:
            raise AlreadyRunning(
                f"the assistant is already running, as process {file.read().strip() or '?'}",
                hint="see edgevox status; edgevox ask and edgevox say use it",
            ) from error
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        try:
            yield
        finally:
            file.seek(0)
            file.truncate(0)


def _bound(path: Path) -> socket.socket:
    listening = unix_socket(socket.SOCK_STREAM)
    try:
        listening.bind(str(path))
        path.chmod(0o600)
        listening.listen(_WAITING_CONNECTIONS)
        listening.setblocking(False)
    except OSError as error:
        listening.close()
        raise StateError(
            f"cannot create the socket {path}: {error}", hint="set EDGEVOX_RUNTIME_DIR to a folder with a short path"
        ) from error
    return listening


Handle: TypeAlias = Callable[[Request, "ControlConnection"], Awaitable[JsonObject]]
"""Executes a request and returns the content of `done`. Raises EdgevoxError."""

CONNECTIONS = 8
"""Maximum number of concurrent connections."""
_REQUEST_WITHIN_S = 5.0
# A client that does not read for this long counts as disconnected.
_READ_WITHIN_S = 10.0
_ANSWERS_HELD = 16


class ControlConnection:
    """One client connection: sends notes, and queues the client's answers."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self.answers: asyncio.Queue[JsonObject | None] = asyncio.Queue(_ANSWERS_HELD)
        """Lines that the client sends while it waits; None at the end."""
        self._writer = writer
        self._write_lock = asyncio.Lock()

    async def send(self, kind: str, **facts: object) -> None:
        """Send a note. Raises ConnectionError if the client does not read."""
        async with self._write_lock:
            self._writer.write(line_of({"kind": kind, **facts}))
            try:
                async with asyncio.timeout(_READ_WITHIN_S):
                    await self._writer.drain()
            except TimeoutError as error:
                raise ConnectionError("the client does not read") from error


@asynccontextmanager
async def control_server(
    listening: socket.socket, handle: Handle, *, uid_of: Callable[[socket.socket], int] = peer_uid
) -> AsyncIterator[None]:
    """Serve the socket during the block; open requests are cancelled at its end."""
    connections: set[asyncio.Task[None]] = set()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        connections.add(task)
        try:
            await _serve_connection(reader, writer, handle, uid_of, is_full=len(connections) > CONNECTIONS)
        except ConnectionError as error:
            log.debug("client disconnected: %s", error)
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


async def _serve_connection(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    handle: Handle,
    uid_of: Callable[[socket.socket], int],
    *,
    is_full: bool,
) -> None:
    client = ControlConnection(writer)
    connection = writer.get_extra_info("socket")
    try:
        _check_user(uid_of(connection))
        if is_full:
            raise ControlError("too many control connections", hint="try again")
        request = read_request(await _first_line(reader))
        answer = await _handle(request, client, handle, reader, connection)
    except EdgevoxError as error:
        await client.send("error", code=error.code, message=error.message, hint=error.hint)
    else:
        await client.send("done", **answer)


def _check_user(uid: int) -> None:
    if uid != user_id():
        log.warning("rejected a control connection of user %d (owner is user %d)", uid, user_id())
        raise ControlError("this assistant belongs to another user", hint="only the user who started it may use it")


async def _first_line(reader: asyncio.StreamReader) -> bytes:
    try:
        async with asyncio.timeout(_REQUEST_WITHIN_S):
            return await reader.readline()
    except TimeoutError as error:
        raise ControlError("no request received") from error
    except ValueError as error:
        raise ControlError("the request is too long") from error


async def _handle(
    request: Request, client: ControlConnection, handle: Handle, reader: asyncio.StreamReader, connection: socket.socket
) -> JsonObject:
    """Run the request and return its result. Cancels it and raises ConnectionError if the client disconnects."""
    handling = asyncio.ensure_future(handle(request, client))
    listening = asyncio.create_task(_listen(reader, client, connection))
    try:
        await asyncio.wait((handling, listening), return_when=asyncio.FIRST_COMPLETED)
        if not handling.done() and listening.result():
            raise ConnectionError("the client disconnected")
        return await handling
    finally:
        for task in (handling, listening):
            task.cancel()
        await asyncio.gather(handling, listening, return_exceptions=True)


async def _listen(reader: asyncio.StreamReader, client: ControlConnection, connection: socket.socket) -> bool:
    """Queue the client's lines until its end of file; return whether it has disconnected entirely."""
    with suppress(ValueError, ControlError, asyncio.QueueFull, ConnectionError):
        while line := await reader.readline():
            client.answers.put_nowait(read_object(line))
        with suppress(asyncio.QueueFull):
            client.answers.put_nowait(None)
        # A client that only closed its sending side, such as `nc`, still reads the answer.
        return has_hung_up(connection)
    return True


_POLL_S = 2.0


@asynccontextmanager
async def persistent_server(folder: Path, listening: socket.socket, handle: Handle) -> AsyncIterator[None]:
    """Serve the socket during the block, and recreate it if it is deleted."""
    is_serving = asyncio.Event()
    serving = asyncio.create_task(_serve(folder, listening, handle, is_serving))
    try:
        await is_serving.wait()
        yield
    finally:
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)


async def _serve(folder: Path, listening: socket.socket, handle: Handle, is_serving: asyncio.Event) -> None:
    with ExitStack() as held:
        while True:
            async with control_server(listening, handle):
                is_serving.set()
                await _until_deleted(folder / SOCKET_NAME)
            listening = await _recreate(folder, held)


async def _recreate(folder: Path, held: ExitStack) -> socket.socket:
    log.warning("the socket in %s was deleted: recreating it", folder)
    while True:
        try:
            return held.enter_context(single_instance(folder))
        except EdgevoxError as error:
            log.error("cannot recreate the control socket: %s", error)
            await asyncio.sleep(_POLL_S)


async def _until_deleted(path: Path) -> None:
    own = _inode(path)
    while _inode(path) == own:  # noqa: ASYNC110  (no portable notification of deleted files)
        await asyncio.sleep(_POLL_S)


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None

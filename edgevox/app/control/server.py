"""Control socket server: single-instance lock, peer check, limits, recovery of a deleted socket."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import stat
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias

from edgevox.app.control.protocol import LINE_BYTES, SOCKET_NAME, Request, line_of, read_object, read_request
from edgevox.core.errors import AlreadyRunning, ControlError, EdgevoxError, StateError
from edgevox.core.files import inode
from edgevox.core.files import private_folder as make_folder
from edgevox.core.platform import has_hung_up, lock_exclusively, peer_uid, serve_unix, unix_socket, user_id
from edgevox.core.turn import background_task, cancel_tasks
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
        make_folder(folder)
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


Handle: TypeAlias = Callable[[Request, "ControlConnection"], Coroutine[Any, Any, JsonObject]]
"""Executes a request and returns the content of `done`. Raises EdgevoxError."""

CONNECTIONS = 8
"""Maximum number of concurrent connections."""
_REQUEST_WITHIN_S = 5.0
# A client that does not read for this long counts as disconnected.
_READ_WITHIN_S = 10.0
_ANSWERS_HELD = 16


class ControlConnection:
    """One client connection: sends notes, and queues the client's answers."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.answers: asyncio.Queue[JsonObject | None] = asyncio.Queue(_ANSWERS_HELD)
        """Lines that the client sends while it waits; None at the end."""
        self.socket: socket.socket = writer.get_extra_info("socket")
        self._reader = reader
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

    async def serve(self, handle: Handle, uid: int, *, is_full: bool) -> None:
        """Handle one request. Raises ConnectionError."""
        try:
            if uid != user_id():
                log.warning("rejected a control connection of user %d (owner is user %d)", uid, user_id())
                hint = "only the user who started it may use it"
                raise ControlError("this assistant belongs to another user", hint=hint)
            if is_full:
                raise ControlError("too many control connections", hint="try again")
            answer = await self._run(handle, read_request(await self._first_line()))
        except EdgevoxError as error:
            await self.send("error", code=error.code, message=error.message, hint=error.hint)
        else:
            await self.send("done", **answer)

    async def _first_line(self) -> bytes:
        try:
            async with asyncio.timeout(_REQUEST_WITHIN_S):
                return await self._reader.readline()
        except TimeoutError as error:
            raise ControlError("no request received") from error
        except ValueError as error:
            raise ControlError("the request is too long") from error

    async def _run(self, handle: Handle, request: Request) -> JsonObject:
        """Run the request. Cancels it and raises ConnectionError if the client disconnects."""
        async with background_task(handle(request, self)) as handling, background_task(self._listen()) as listening:
            await asyncio.wait((handling, listening), return_when=asyncio.FIRST_COMPLETED)
            if not handling.done() and listening.result():
                raise ConnectionError("the client disconnected")
            return await handling

    async def _listen(self) -> bool:
        """Queue the client's lines until its end of file; return whether it has disconnected entirely."""
        with suppress(ValueError, ControlError, asyncio.QueueFull, ConnectionError):
            while line := await self._reader.readline():
                self.answers.put_nowait(read_object(line))
            with suppress(asyncio.QueueFull):
                self.answers.put_nowait(None)
            # A client that only closed its sending side, such as `nc`, still reads the answer.
            return has_hung_up(self.socket)
        return True


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
            client = ControlConnection(reader, writer)
            await client.serve(handle, uid_of(client.socket), is_full=len(connections) > CONNECTIONS)
        except ConnectionError as error:
            log.debug("client disconnected: %s", error)
        except asyncio.CancelledError:
            # Not passed on: asyncio's streams of Python 3.11 report a cancelled connection with a traceback.
            log.debug("the request was cancelled: the server ends")
        finally:
            connections.discard(task)
            writer.close()

    server = await serve_unix(connected, listening, limit_bytes=LINE_BYTES)
    try:
        yield
    finally:
        server.close()
        await cancel_tasks(*connections)


_POLL_S = 2.0


@asynccontextmanager
async def persistent_server(folder: Path, listening: socket.socket, handle: Handle) -> AsyncIterator[None]:
    """Serve the socket during the block, and recreate it if it is deleted."""
    is_serving = asyncio.Event()
    path = folder / SOCKET_NAME

    async def serve(listening: socket.socket) -> None:
        with ExitStack() as held:
            while True:
                async with control_server(listening, handle):
                    is_serving.set()
                    own = inode(path)
                    while inode(path) == own:  # noqa: ASYNC110  (no portable notification of deleted files)
                        await asyncio.sleep(_POLL_S)
                listening = await _recreate(folder, held)

    async with background_task(serve(listening)):
        await is_serving.wait()
        yield


async def _recreate(folder: Path, held: ExitStack) -> socket.socket:
    log.warning("the socket in %s was deleted: recreating it", folder)
    while True:
        try:
            return held.enter_context(single_instance(folder))
        except EdgevoxError as error:
            log.error("cannot recreate the control socket: %s", error)
            await asyncio.sleep(_POLL_S)

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
    """Be the only assistant of this folder while the block runs; yields the socket it listens on.

    Raises AlreadyRunning, and StateError where the folder is not to be trusted or cannot be used.
    """
    private_folder(folder)
    with _locked(folder / _LOCK_NAME):
        path = folder / SOCKET_NAME
        if path.exists():
            # Whoever holds the lock knows that nobody listens there any more.
            log.warning("the last run left %s behind: taken over", path)
            path.unlink()
        listening = _bound(path)
        try:
            yield listening
        finally:
            listening.close()
            with suppress(FileNotFoundError):
                path.unlink()


def private_folder(folder: Path) -> None:
    """Make the folder, closed to everybody else. Raises StateError where it is somebody else's."""
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
    # The file stays when the lock goes: to delete it would let two hold a lock of the same name.
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+") as file:
        try:
            lock_exclusively(file)
        except BlockingIOError as error:
            raise AlreadyRunning(
                f"the assistant is already running, as process {file.read().strip() or '?'}",
                hint="edgevox status shows it; edgevox ask and edgevox say speak to it",
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
            f"the socket {path} cannot be made: {error}",
            hint="set EDGEVOX_RUNTIME_DIR to a folder with a short name",
        ) from error
    return listening


Handle: TypeAlias = Callable[[Request, "ControlConnection"], Awaitable[JsonObject]]
"""Does what is asked; the result is what `done` holds. Raises EdgevoxError."""

CONNECTIONS = 8
"""As many at once; the next one is told to try again."""
_REQUEST_WITHIN_S = 5.0
# Whoever does not read for so long is not there any more.
_READ_WITHIN_S = 10.0
_ANSWERS_HELD = 16


class ControlConnection:
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
    dialogue = ControlConnection(writer)
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
    dialogue: ControlConnection,
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


async def _listen(reader: asyncio.StreamReader, dialogue: ControlConnection, connection: socket.socket) -> bool:
    """Take what the client says until it has said all; whether it has gone and nobody reads either."""
    with suppress(ValueError, ControlError, asyncio.QueueFull, ConnectionError):
        while line := await reader.readline():
            dialogue.answers.put_nowait(read_object(line))
        with suppress(asyncio.QueueFull):
            dialogue.answers.put_nowait(None)
        # A program that has closed its own direction only, such as `nc`, still wants its answer.
        return has_hung_up(connection)
    return True


_LOOKS_EVERY_S = 2.0


@asynccontextmanager
async def persistent_server(folder: Path, listening: socket.socket, handle: Handle) -> AsyncIterator[None]:
    """Answer on the socket, and on its successors in the same folder, while the block runs."""
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
            listening = await _another(folder, held)


async def _another(folder: Path, held: ExitStack) -> socket.socket:
    log.warning("the socket in %s was deleted: making another", folder)
    while True:
        try:
            return held.enter_context(single_instance(folder))
        except EdgevoxError as error:
            log.error("nobody can speak to the assistant: %s", error)
            await asyncio.sleep(_LOOKS_EVERY_S)


async def _until_deleted(path: Path) -> None:
    own = _inode(path)
    while _inode(path) == own:  # noqa: ASYNC110  (nobody tells of a file that is deleted)
        await asyncio.sleep(_LOOKS_EVERY_S)


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None

"""The client side of the control socket."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from edgevox.app.control.protocol import LINE_BYTES, SOCKET_NAME, Request, line_of, read_object
from edgevox.core import errors
from edgevox.core.errors import ControlError, EdgevoxError, NotRunning
from edgevox.core.platform import connect_unix, peer_uid, user_id
from edgevox.core.types import JsonObject

_CONNECT_WITHIN_S = 5.0
_START_IT = "start it with edgevox run, or edgevox service install"


class PendingRequest:
    """A request whose answer is still arriving."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def notes(self) -> AsyncGenerator[JsonObject, None]:
        """Yield the notes of the answer up to `done`. Raises the error that the assistant reports."""
        while True:
            note = read_object(await self._line())
            if note["kind"] == "error":
                raise _error_of(note)
            yield note
            if note["kind"] == "done":
                return

    async def done(self) -> JsonObject:
        """Wait for and return the `done` note. Raises the error that the assistant reports."""
        return [note async for note in self.notes()][-1]

    def answer(self, **facts: object) -> None:
        """Send an answer to a question of the assistant."""
        self._writer.write(line_of(facts))

    async def _line(self) -> bytes:
        try:
            line = await self._reader.readline()
        except (ConnectionError, ValueError) as error:
            raise ControlError(f"invalid answer from the assistant: {error}") from error
        if not line:
            raise ControlError("the assistant stopped before it answered", hint="see edgevox service logs")
        return line


@asynccontextmanager
async def request(folder: Path, wanted: Request) -> AsyncIterator[PendingRequest]:
    """Send a request to the assistant of this runtime folder. Raises NotRunning and ControlError."""
    path = folder / SOCKET_NAME
    try:
        async with asyncio.timeout(_CONNECT_WITHIN_S):
            reader, writer = await connect_unix(path, limit_bytes=LINE_BYTES)
    except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError) as error:
        raise NotRunning("the assistant is not running", hint=_START_IT) from error
    except TimeoutError as error:
        raise ControlError("the assistant does not answer", hint="restart it") from error
    except OSError as error:
        # Includes paths that are too long for a socket.
        raise NotRunning(f"{path} cannot be opened: {error.strerror or error}", hint=_START_IT) from error
    try:
        connection: socket.socket = writer.get_extra_info("socket")
        if peer_uid(connection) != user_id():
            raise ControlError("the assistant belongs to another user", hint="set EDGEVOX_RUNTIME_DIR")
        writer.write(line_of(wanted.model_dump()))
        yield PendingRequest(reader, writer)
    finally:
        writer.close()


def _error_of(note: JsonObject) -> EdgevoxError:
    """Rebuild the error, so that a command exits as if the error were its own."""
    message, hint = str(note.get("message", "")), str(note.get("hint", ""))
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, EdgevoxError) and kind.code == note.get("code"):
            return kind(message, hint=hint)
    return ControlError(message, hint=hint)

"""One assistant per user: the folder that only its user can open, the lock, and the socket in it."""

from __future__ import annotations

import logging
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from edgevox.errors import AlreadyRunning, StateError
from edgevox.platform_support import lock_exclusively, unix_socket, user_id

log = logging.getLogger(__name__)

SOCKET_NAME = "control.sock"
_LOCK_NAME = "edgevox.lock"
_WAITING_CONNECTIONS = 8


@contextmanager
def only_instance(folder: Path) -> Iterator[socket.socket]:
    """Be the only assistant of this folder while the block runs; yields the socket it listens on.

    Raises AlreadyRunning, and StateError where the folder is not to be trusted or cannot be used.
    """
    own_folder(folder)
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


def own_folder(folder: Path) -> None:
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

"""The control socket over months: when somebody deletes its folder, it is made again."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

from edgevox.control.instance import SOCKET_NAME, only_instance
from edgevox.control.server import Handle, control_server
from edgevox.errors import EdgevoxError

log = logging.getLogger(__name__)

_LOOKS_EVERY_S = 2.0


@asynccontextmanager
async def lasting_server(folder: Path, listening: socket.socket, handle: Handle) -> AsyncIterator[None]:
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
            return held.enter_context(only_instance(folder))
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

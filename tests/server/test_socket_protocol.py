"""A WebSocket's connection ends when it is closed, also where the client never reads that."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

from starlette.types import Receive, Scope, Send

from edgevox.server.http.listener import http_listener
from fuzz.voice_socket import UPGRADE
from tests.server.websocket.harness import BOUND_S, until


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def test_a_client_that_does_not_read_is_let_go() -> None:
    is_stalled = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            for stage in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{stage}.complete"})
            return
        await send({"type": "websocket.accept"})
        try:
            while True:
                async with asyncio.timeout(0.3):
                    await send({"type": "websocket.send", "bytes": bytes(65_536)})
        except TimeoutError:
            is_stalled.set()

    async with http_listener(app, "127.0.0.1", 0) as url:
        before = descriptors()
        with socket.socket() as raw:
            raw.setblocking(False)
            host, _, port = url.removeprefix("http://").partition(":")
            loop = asyncio.get_running_loop()
            await loop.sock_connect(raw, (host, int(port)))
            await loop.sock_sendall(raw, UPGRADE.format(host=host).encode())
            async with asyncio.timeout(BOUND_S):
                await is_stalled.wait()
            # This end is still open: the server's is not.
            await until(lambda: descriptors() <= before + 1)

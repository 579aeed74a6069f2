"""The application on a socket: uvicorn inside the event loop that the engines live in."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.types import ASGIApp

from edgevox.errors import ConfigError
from edgevox.server.certificate import Certificate
from edgevox.server.socket_protocol import SocketProtocol
from edgevox.server.voice.client_frames import FRAME_BYTES

_MAX_HEADER_BYTES = 32_768
_BACKLOG = 128
_GOODBYE_S = 1
# Whoever is told to come back in a minute is known by its connection then (work_queue.py).
_KEEP_ALIVE_S = 75


@asynccontextmanager
async def serving(
    app: ASGIApp, host: str, port: int, certificate: Certificate | None = None
) -> AsyncIterator[str]:
    """Serve inside the block; the address is given. Raises ConfigError when it cannot be listened on."""
    with _listening(host, port) as bound:
        config = uvicorn.Config(
            app,
            log_config=None,
            log_level="warning",
            access_log=False,  # a request line may hold what nobody is to read
            server_header=False,
            proxy_headers=False,  # or any header could claim that a request comes from this machine
            h11_max_incomplete_event_size=_MAX_HEADER_BYTES,
            http="h11",
            ws=SocketProtocol,
            ws_max_size=FRAME_BYTES,
            ws_per_message_deflate=False,  # sound stays as large, and a small frame could become huge
            lifespan="on",
            timeout_graceful_shutdown=_GOODBYE_S,
            timeout_keep_alive=_KEEP_ALIVE_S,
            ssl_certfile=certificate.chain if certificate else None,
            ssl_keyfile=certificate.key if certificate else None,
        )
        server = _Server(config)
        task = asyncio.create_task(server.serve([bound]))
        try:
            up = asyncio.create_task(server.is_up.wait())
            await asyncio.wait((up, task), return_when=asyncio.FIRST_COMPLETED)
            up.cancel()
            shown = f"[{host}]" if ":" in host else host
            yield f"{'https' if certificate else 'http'}://{shown}:{bound.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task


class _Server(uvicorn.Server):
    """Says when it is up, and leaves the signals to the command that runs it."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _listening(host: str, port: int) -> socket.socket:
    try:
        (family, kind, protocol, _name, address), *_others = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        bound = socket.socket(family, kind, protocol)
        try:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            bound.bind(address)
            bound.listen(_BACKLOG)
            bound.setblocking(False)
        except OSError:
            bound.close()
            raise
    except OSError as error:
        raise ConfigError(
            f"the server cannot listen on {host}, port {port}: {error.strerror or error}",
            hint="another program may have the port: set server.port, or end it",
        ) from error
    return bound


def port_is_free(host: str, port: int) -> bool:
    """Whether a server could listen there now."""
    try:
        _listening(host, port).close()
    except ConfigError:
        return False
    return True


def is_open_to_others(host: str) -> bool:
    """Whether other machines can reach what listens there."""
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host != "localhost"

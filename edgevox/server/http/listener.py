"""Runs the application with uvicorn in the engines' event loop: socket, TLS, WebSocket protocol."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import cast

import uvicorn
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState
from websockets.frames import CloseCode
from websockets.http11 import Request

from edgevox.config import ServerSettings
from edgevox.core.errors import ConfigError
from edgevox.core.turn import background_task
from edgevox.server.http.connections import ConnectionLimits, HttpConnection, RequestIds
from edgevox.server.http.middleware import is_loopback_name
from edgevox.server.websocket.protocol import FRAME_BYTES, REALTIME_FRAME_BYTES, REALTIME_PATH


@dataclass(frozen=True, slots=True)
class Certificate:
    """PEM files; without `key`, the key is in the chain file."""

    chain: Path
    key: Path | None = None


def certificate_of(settings: ServerSettings) -> Certificate | None:
    """Return the configured certificate, if any. Raises ConfigError if it is invalid."""
    if settings.tls_certificate is None:
        return None
    certificate = Certificate(settings.tls_certificate, settings.tls_key)
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate.chain, certificate.key)
    except OSError as error:  # ssl.SSLError is one
        raise ConfigError(
            f"the certificate {certificate.chain} cannot be used: {error.strerror or error}",
            hint="server.tls_certificate and server.tls_key must be matching PEM files",
        ) from None
    return certificate


_CLOSE_TIMEOUT_S = 2.0


class SocketProtocol(WebSocketsSansIOProtocol):
    """Aborts a closed connection after a short time, even if the client does not read."""

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if event.path.partition("?")[0] == REALTIME_PATH:  # its clients have shown a token before they can send
            self.conn.max_message_size = REALTIME_FRAME_BYTES

    async def run_asgi(self) -> None:
        await super().run_asgi()
        # close() waits until the client has read everything, which may never happen.
        self.loop.call_later(_CLOSE_TIMEOUT_S, self.transport.abort)

    def data_received(self, data: bytes) -> None:
        try:
            super().data_received(data)
        except InvalidState:  # data after a close frame
            self.transport.abort()

    def send_receive_event_to_app(self) -> None:
        try:
            if self.curr_msg_data_type == "text" and not self.close_sent:
                b"".join(self.frames).decode()
        except UnicodeDecodeError:
            self.frames = []
            self.conn.fail(CloseCode.INVALID_DATA, "invalid UTF-8")
            self.handle_parser_exception()
        else:
            super().send_receive_event_to_app()


_MAX_HEADER_BYTES = 32_768
_BACKLOG = 1024
_SHUTDOWN_TIMEOUT_S = 1
# Longer than the longest Retry-After: a client is recognised by its connection (engine_queues.py).
_KEEP_ALIVE_S = 75


@asynccontextmanager
async def http_listener(
    app: ASGIApp, host: str, port: int, certificate: Certificate | None = None, limits: ConnectionLimits | None = None
) -> AsyncIterator[str]:
    """Serve during the block and yield the URL. Raises ConfigError if the port cannot be bound."""
    with _listening(host, port) as bound:
        config = uvicorn.Config(
            _QuietLifespan(RequestIds(app)),
            log_config=None,
            log_level="warning",
            access_log=False,  # request lines may contain secrets
            server_header=False,
            proxy_headers=False,  # a header must not make a request look local
            h11_max_incomplete_event_size=_MAX_HEADER_BYTES,
            http=cast("type[asyncio.Protocol]", partial(HttpConnection, limits=limits or ConnectionLimits())),
            ws=SocketProtocol,
            ws_max_size=FRAME_BYTES,
            ws_per_message_deflate=False,  # audio does not compress, and small frames could inflate
            lifespan="on",
            timeout_graceful_shutdown=_SHUTDOWN_TIMEOUT_S,
            timeout_keep_alive=_KEEP_ALIVE_S,
            ssl_certfile=certificate.chain if certificate else None,
            ssl_keyfile=certificate.key if certificate else None,
        )
        server = _Server(config)
        task = asyncio.create_task(server.serve([bound]))
        try:
            async with background_task(server.is_up.wait()) as up:
                await asyncio.wait((up, task), return_when=asyncio.FIRST_COMPLETED)
            shown = f"[{host}]" if ":" in host else host
            yield f"{'https' if certificate else 'http'}://{shown}:{bound.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task


@dataclass(frozen=True, slots=True)
class _QuietLifespan:
    """Ends a cancelled lifespan without a traceback: a second Ctrl-C cancels every task at once."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "lifespan":
            await self.app(scope, receive, send)
            return
        task = asyncio.current_task()
        assert task is not None

        async def quiet(message: Message) -> None:
            # Starlette reports its own cancellation as a failure, with the traceback as its message.
            if not (message["type"].endswith(".failed") and task.cancelling()):
                await send(message)

        try:
            await self.app(scope, receive, quiet)
        except asyncio.CancelledError:
            task.uncancel()  # nothing is left to cancel


class _Server(uvicorn.Server):
    """Sets `is_up` after startup, and does not install signal handlers."""

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
        (family, *_kind, address), *_others = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        is_dual = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        return socket.create_server(address, family=family, backlog=_BACKLOG, dualstack_ipv6=is_dual)
    except OSError as error:
        raise ConfigError(
            f"the server cannot listen on {host}, port {port}: {error.strerror or error}",
            hint="another program may use the port: set server.port, or stop it",
        ) from error


def port_is_free(host: str, port: int) -> bool:
    """Return whether a server could listen there now."""
    try:
        _listening(host, port).close()
    except ConfigError:
        return False
    return True


def is_exposed(host: str) -> bool:
    """Return whether other machines can reach a server on this address."""
    return not is_loopback_name(host)

"""What every request passes first: the right host, no foreign page, and a size that can be borne."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from edgevox.server.errors import ApiError
from edgevox.server.hosts import HostRule

BODY_TIMEOUT_S = 60.0


class Guard:
    """Middleware that sends away what must not come in. `max_bytes` holds for all paths but the `larger`."""

    def __init__(
        self,
        app: ASGIApp,
        rule: HostRule,
        *,
        max_bytes: int,
        larger: Mapping[str, int],
        body_timeout_s: float = BODY_TIMEOUT_S,
    ) -> None:
        self._app = app
        self._rule = rule
        self._max_bytes = max_bytes
        self._larger = larger
        self._body_timeout_s = body_timeout_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match scope["type"]:
            case "http":
                await self._request(scope, receive, send)
            case "websocket":
                await self._socket(scope, receive, send)
            case "lifespan":
                await self._app(scope, receive, send)

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self._check_page(Headers(scope=scope))
        except ApiError:
            await send({"type": "websocket.close"})  # before it is accepted: 403
            return
        await self._app(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers, path = Headers(scope=scope), scope["path"]
        try:
            self._check_page(headers)
            limit = self._larger.get(path, self._max_bytes)
            _check_length(headers, limit)
        except ApiError as error:
            await error.response(path)(scope, receive, send)
            return
        await self._app(scope, _Limited(receive, limit, self._body_timeout_s), send)

    def _check_page(self, headers: Headers) -> None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self._rule.allows_host(hosts[0]):
            raise ApiError(
                403, "host_not_allowed", "this is not the name of this server (server.allowed_hosts)"
            )
        if not self._rule.allows_origin(headers.get("origin"), headers.get("sec-fetch-site"), hosts[0]):
            raise ApiError(
                403, "origin_not_allowed", "this page may not use the server (server.allowed_origins)"
            )


def _check_length(headers: Headers, limit: int) -> None:
    length = headers.get("content-length", "0")
    if not length.isdecimal() or not length.isascii():
        raise ApiError(400, "invalid_length", "the length of the request is no number")
    if int(length) > limit:
        raise _too_large(limit)


class _Limited:
    """The body as it arrives. Raises ApiError when it is larger than it may be, or does not arrive."""

    def __init__(self, receive: Receive, limit: int, timeout_s: float) -> None:
        self._receive = receive
        self._limit = limit
        self._timeout_s = timeout_s
        self._bytes = 0
        self._is_whole = False

    async def __call__(self) -> Message:
        if self._is_whole:  # whoever asks now waits for the client to go away
            return await self._receive()
        try:
            message = await asyncio.wait_for(self._receive(), self._timeout_s)
        except TimeoutError:
            raise ApiError(408, "request_timeout", "the request did not arrive in time") from None
        if message["type"] == "http.request":
            self._bytes += len(message.get("body", b""))
            self._is_whole = not message.get("more_body", False)
            if self._bytes > self._limit:
                raise _too_large(self._limit)
        return message


def _too_large(limit: int) -> ApiError:
    return ApiError(413, "request_too_large", f"a request may have {limit:,} bytes at most")

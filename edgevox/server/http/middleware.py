"""ASGI middleware: Host, Origin and body-size checks, graceful shutdown, request counts, and path aliases.

A web page can reach a local server by DNS rebinding (seen in Host) or by a cross-site request (seen in
Origin and Sec-Fetch-Site).
"""

from __future__ import annotations

import asyncio
import ipaddress
import re
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from edgevox.server.http.connections import REQUEST_WITHIN_S
from edgevox.server.http.errors import ApiError, shutdown_error

_ANY_ADDRESS = ("0.0.0.0", "::", "")  # noqa: S104  (compared, not bound)


class HostRule:
    """The host names that the server accepts, and the origins (see `normal_origin`) that may use it."""

    def __init__(self, bound_host: str, allowed_hosts: Collection[str], allowed_origins: Collection[str]) -> None:
        named = () if bound_host in _ANY_ADDRESS else (bound_host,)
        self._hosts = {host_name(host) for host in (*named, *allowed_hosts)} - {""}
        self._origins = frozenset(allowed_origins)

    def allows_host(self, host: str) -> bool:
        name = host_name(host)
        return bool(name) and (is_loopback_name(name) or name in self._hosts)

    def allows_origin(self, origin: str | None, fetch_site: str | None, host: str) -> bool:
        """Return whether the request comes from no page, the server's own page, or an allowed origin."""
        if origin is not None:
            return normal_origin(origin) in self._origins or _host_of(origin) == host.casefold()
        return fetch_site in (None, "same-origin", "none")


def normal_origin(origin: str) -> str:
    """Return an origin as browsers send it: in lower case, without a slash at the end."""
    return origin.strip().rstrip("/").casefold()


def _host_of(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.casefold()
    except ValueError:
        return ""


# A name or an address, and a port: nothing that another reader could take for a user name or a path.
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[\w.-]+)(:[0-9]{1,5})?")


def host_name(host: str) -> str:
    """Return the name in a Host header without the port; "" if it is invalid."""
    host = host.strip()
    try:
        return ipaddress.ip_address(host).compressed  # an IPv6 address of the settings has no brackets
    except ValueError:
        found = _HOST.fullmatch(host)
    return found[1].strip("[]").rstrip(".").casefold() if found else ""


def is_loopback_name(name: str) -> bool:
    if name == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class RequestLimits:
    """Rejects requests by host, origin and size. `larger` has the paths with another limit than `max_bytes`."""

    app: ASGIApp
    rule: HostRule
    max_bytes: int
    larger: Mapping[str, int]
    body_within_s: float = REQUEST_WITHIN_S - 2  # an answer, before the connection is closed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers, path, is_http = Headers(scope=scope), scope["path"], scope["type"] == "http"
        limit = self.larger.get(path, self.max_bytes)
        try:
            self._check_page(headers, is_link=_is_followed_link(scope, headers))
            _check_length(headers, limit)
        except ApiError as error:
            if is_http:
                await error.response(path, headers)(scope, receive, send)
            else:
                await send({"type": "websocket.close"})  # before accepting, this is a 403
            return
        await self.app(scope, _limited(receive, limit, self.body_within_s) if is_http else receive, send)

    def _check_page(self, headers: Headers, *, is_link: bool) -> None:
        hosts = headers.getlist("host")
        if len(hosts) != 1 or not self.rule.allows_host(hosts[0]):
            raise ApiError(403, "host_not_allowed", "host not allowed (server.allowed_hosts)")
        if not is_link and not self.rule.allows_origin(headers.get("origin"), headers.get("sec-fetch-site"), hosts[0]):
            raise ApiError(403, "origin_not_allowed", "origin not allowed (server.allowed_origins)")


def _is_followed_link(scope: Scope, headers: Headers) -> bool:
    """Whether a link on another site is followed to the page, which holds nothing secret and cannot be framed."""
    fetch = tuple(headers.get(f"sec-fetch-{name}") for name in ("mode", "dest"))
    asked = (scope["type"], scope.get("method"), scope["path"])
    return asked == ("http", "GET", "/") and fetch == ("navigate", "document") and "origin" not in headers


def _check_length(headers: Headers, limit: int) -> None:
    if "transfer-encoding" in headers and "content-length" in headers:
        # A proxy in front may read another request out of this than the server.
        raise ApiError(
            400, "invalid_length", "either Content-Length or Transfer-Encoding", headers={"Connection": "close"}
        )
    length = headers.get("content-length", "0")
    if not length.isdecimal() or not length.isascii():
        raise ApiError(400, "invalid_length", "invalid Content-Length")
    if int(length) > limit:
        raise _too_large(limit)


def _limited(receive: Receive, limit: int, within_s: float) -> Receive:
    """Receive the body. Raises ApiError if it is too large, or has not arrived in all after `within_s`."""
    received, is_complete = 0, False
    until_s = asyncio.get_running_loop().time() + within_s

    async def limited() -> Message:
        nonlocal received, is_complete
        if is_complete:  # from here on, only a disconnect is awaited
            return await receive()
        try:
            async with asyncio.timeout_at(until_s):
                message = await receive()
        except TimeoutError:
            raise ApiError(
                408, "request_timeout", "the request did not arrive in time", headers={"Connection": "close"}
            ) from None
        if message["type"] == "http.request":
            received += len(message.get("body", b""))
            is_complete = not message.get("more_body", False)
            if received > limit:
                raise _too_large(limit)
        return message

    return limited


def _too_large(limit: int) -> ApiError:
    return ApiError(413, "request_too_large", f"the request is larger than {limit:,} bytes")


class ShutdownMiddleware:
    """Outermost middleware: completes open responses when uvicorn cancels them at shutdown."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        has_begun = False

        async def track(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, track)
        except asyncio.CancelledError:
            if has_begun:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
            else:
                await shutdown_error().response(scope["path"])(scope, receive, send)


@dataclass(frozen=True, slots=True)
class CountingMiddleware:
    """Counts responses by path and status; unknown paths count as one."""

    app: ASGIApp
    counts: Counter[tuple[str, int]]
    paths: Collection[str]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                path = scope["path"] if scope["path"] in self.paths else "other"
                self.counts[path, message["status"]] += 1
            await send(message)

        await self.app(scope, receive, counted)


_WITHOUT_VERSION = re.compile(r"/(chat/completions|completions|responses|models|embeddings|audio)(?=/|$)")
_ALIASES = {"/health": "/healthz"}  # llama.cpp's and vLLM's


class PathAliases:
    """Serves OpenAI's paths without the version too, for clients whose base URL has none.

    The path is replaced before anything else reads it, so that the limits and rules of the route hold.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            path: str = scope["path"]
            prefix = "/v1" if _WITHOUT_VERSION.match(path) else ""
            scope["path"] = _ALIASES.get(path, prefix + path)
        await self._app(scope, receive, send)

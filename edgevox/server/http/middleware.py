"""ASGI middleware: Host, Origin and body-size checks, graceful shutdown, and Prometheus counters.

A web page can reach a local server by DNS rebinding (seen in Host) or by a cross-site request (seen in
Origin and Sec-Fetch-Site).
"""

from __future__ import annotations

import asyncio
import ipaddress
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from edgevox.server.assistant import Assistant
from edgevox.server.engine_queues import EngineQueues
from edgevox.server.http.errors import ApiError, shutdown_error

_LOCALHOST = "localhost"
_ANY_ADDRESS = ("0.0.0.0", "::", "")  # noqa: S104  (compared, not bound)
_SAME = ("same-origin", "none")


class HostRule:
    """The host names that the server accepts, and the origins that may use it."""

    def __init__(self, bound_host: str, allowed_hosts: Collection[str], allowed_origins: Collection[str]) -> None:
        named = () if bound_host in _ANY_ADDRESS else (bound_host,)
        self._hosts = {host_name(host) for host in (*named, *allowed_hosts)}
        self._origins = {origin.rstrip("/").casefold() for origin in allowed_origins}

    def allows_host(self, host: str) -> bool:
        """Return whether this Host header is accepted."""
        name = host_name(host)
        return bool(name) and (is_loopback_name(name) or name in self._hosts)

    def allows_origin(self, origin: str | None, fetch_site: str | None, host: str) -> bool:
        """Return whether the request comes from no page, the server's own page, or an allowed origin."""
        if origin is not None:
            return origin.casefold() in self._origins or urlsplit(origin).netloc.casefold() == host.casefold()
        return fetch_site is None or fetch_site in _SAME


def host_name(host: str) -> str:
    """Return the name in a Host header without the port; "" if it is invalid."""
    try:
        return (urlsplit(f"//{host.strip()}").hostname or "").rstrip(".").casefold()
    except ValueError:
        return ""


def is_loopback_name(name: str) -> bool:
    if name == _LOCALHOST:
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


BODY_TIMEOUT_S = 60.0


class RequestLimits:
    """Rejects requests by host, origin and size. `larger` has the paths with another limit than `max_bytes`."""

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
            await send({"type": "websocket.close"})  # before accepting, this is a 403
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
            raise ApiError(403, "host_not_allowed", "host not allowed (server.allowed_hosts)")
        if not self._rule.allows_origin(headers.get("origin"), headers.get("sec-fetch-site"), hosts[0]):
            raise ApiError(403, "origin_not_allowed", "origin not allowed (server.allowed_origins)")


def _check_length(headers: Headers, limit: int) -> None:
    length = headers.get("content-length", "0")
    if not length.isdecimal() or not length.isascii():
        raise ApiError(400, "invalid_length", "invalid Content-Length")
    if int(length) > limit:
        raise _too_large(limit)


class _Limited:
    """Receives the body. Raises ApiError if it is too large or too slow."""

    def __init__(self, receive: Receive, limit: int, timeout_s: float) -> None:
        self._receive = receive
        self._limit = limit
        self._timeout_s = timeout_s
        self._bytes = 0
        self._is_complete = False

    async def __call__(self) -> Message:
        if self._is_complete:  # from here on, only a disconnect is awaited
            return await self._receive()
        try:
            message = await asyncio.wait_for(self._receive(), self._timeout_s)
        except TimeoutError:
            raise ApiError(408, "request_timeout", "the request did not arrive in time") from None
        if message["type"] == "http.request":
            self._bytes += len(message.get("body", b""))
            self._is_complete = not message.get("more_body", False)
            if self._bytes > self._limit:
                raise _too_large(self._limit)
        return message


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


CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_OTHER = "other"


class RequestCounter:
    """Counts responses by path and status; unknown paths count as one."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        self.answers: Counter[tuple[str, int]] = Counter()

    def count(self, path: str, status: int) -> None:
        self.answers[path if path in self._paths else _OTHER, status] += 1


class CountingMiddleware:
    def __init__(self, app: ASGIApp, requests: RequestCounter) -> None:
        self._app = app
        self._requests = requests

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._requests.count(scope["path"], message["status"])
            await send(message)

        await self._app(scope, receive, counted)


def exposition(assistant: Assistant, queues: EngineQueues, requests: RequestCounter) -> str:
    """Return the metrics in Prometheus text format."""
    return "\n".join((*_lines(assistant, queues, requests), ""))


def _lines(assistant: Assistant, queues: EngineQueues, requests: RequestCounter) -> Iterator[str]:
    yield "# HELP edgevox_requests_total Answered requests."
    yield "# TYPE edgevox_requests_total counter"
    for (path, status), count in sorted(requests.answers.items()):
        yield f'edgevox_requests_total{{path="{path}",status="{status}"}} {count}'
    named = {"model": queues.model, "hearing": queues.transcriber, "speaking": queues.speaking}
    yield "# HELP edgevox_queue_requests Running and waiting requests."
    yield "# TYPE edgevox_queue_requests gauge"
    for name, queue in named.items():
        yield f'edgevox_queue_requests{{queue="{name}"}} {queue.admitted}'
    yield "# HELP edgevox_queue_refused_total Requests rejected because the queue was full."
    yield "# TYPE edgevox_queue_refused_total counter"
    for name, queue in named.items():
        yield f'edgevox_queue_refused_total{{queue="{name}"}} {queue.refused}'
    yield "# HELP edgevox_pauses_total Replies paused for the local speaker."
    yield "# TYPE edgevox_pauses_total counter"
    yield f"edgevox_pauses_total {queues.model.pauses}"
    yield "# HELP edgevox_engine_up Whether an engine is ready."
    yield "# TYPE edgevox_engine_up gauge"
    for engine, state in assistant.states().items():
        yield f'edgevox_engine_up{{engine="{engine}"}} {int(state == "ready")}'

"""HTTP connections from untrusted clients: time limits, a limit per address, and an id for each request.

uvicorn limits the time between requests only. A client that never finishes its request, or never reads the answer,
would keep its connection for ever.
"""

from __future__ import annotations

import asyncio
import logging
import re
import time
import uuid
from collections import Counter
from collections.abc import MutableMapping
from contextvars import ContextVar
from http import HTTPStatus
from typing import Any

import h11
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

_log = logging.getLogger(__name__)

REQUEST_WITHIN_S = 30.0
"""The time for a whole request, from its first byte on, or from the beginning of a new connection."""

_UNFINISHED = (h11.IDLE, h11.SEND_BODY)
_CLOSE_WITHIN_S = 1.0

REQUEST_ID = "X-Request-ID"


class ConnectionLimits:
    """The open connections of one server, and how slow they may be.

    Where there are too many, one without a request makes room. The headers of a request must arrive within
    `headers_within_s`, and an answer may lie unread for `read_within_s`.
    """

    def __init__(
        self,
        *,
        per_address: int = 128,
        total: int = 512,
        headers_within_s: float = 10.0,
        request_within_s: float = REQUEST_WITHIN_S,
        read_within_s: float = 30.0,
    ) -> None:
        self.headers_within_s = headers_within_s
        self.request_within_s = request_within_s
        self.read_within_s = read_within_s
        self._per_address = per_address
        self._total = total
        self._open: dict[HttpConnection, None] = {}
        self._by_address: Counter[str] = Counter()

    @property
    def count(self) -> int:
        return len(self._open)

    def admit(self, connection: HttpConnection) -> bool:
        """Add a connection, dropping the oldest idle one if needed; return False if all others are busy."""
        address = connection.address
        is_address_full = self._by_address[address] >= self._per_address
        if is_address_full or len(self._open) >= self._total:
            rivals = [one for one in self._open if one.address == address] if is_address_full else self._open
            # Rather one that never finished a request than one that may send the next. The first is found at once:
            # a thousand clients that keep coming back must not cost a search each.
            half_open = next((one for one in rivals if one.is_half_open), None)
            idle = half_open or next((one for one in rivals if one.is_idle), None)
            if idle is None:
                return False
            self.remove(idle)
            idle.drop()
        self._open[connection] = None
        self._by_address[address] += 1
        return True

    def remove(self, connection: HttpConnection) -> None:
        if connection in self._open:
            del self._open[connection]
            self._by_address[connection.address] -= 1
            self._by_address += Counter()  # forget addresses without connections


class HttpConnection(H11Protocol):
    """Closes the connection of a client that is too slow, and of one too many."""

    def __init__(self, *args: Any, limits: ConnectionLimits, **more: Any) -> None:  # noqa: ANN401 - uvicorn's
        super().__init__(*args, **more)
        self._limits = limits
        self._arrival: asyncio.TimerHandle | None = None
        self._begun_s = 0.0
        self._reading: asyncio.TimerHandle | None = None
        self._has_finished_one = False
        self.address = ""

    @property
    def is_idle(self) -> bool:
        """Whether no request is being answered."""
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is None or cycle.response_complete

    @property
    def is_half_open(self) -> bool:
        """Whether it has not sent a whole request yet."""
        return not self._has_finished_one

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        if not self._limits.admit(self):
            self.drop()
            return
        self._await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._limits.remove(self)
        self._stop(self._arrival, self._reading)
        self._arrival = self._reading = None
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._arrival is None and self.conn.their_state is h11.IDLE:
            self._await_request()
        super().data_received(data)
        self._check_arrival()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        # From here on the socket's own limits hold.
        self._limits.remove(self)
        self._stop(self._arrival)
        self._arrival = None
        super().handle_websocket_upgrade(event)

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._check_arrival()

    def send_400_response(self, msg: str) -> None:
        self._refuse(400, msg)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stop(self._reading)
        self._reading = self.loop.call_later(self._limits.read_within_s, self.drop)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop(self._reading)
        self._reading = None

    def drop(self) -> None:
        """Close the connection at once, whatever is still to be sent."""
        if self.transport is not None:
            self.transport.abort()

    # --- the time in which a request must arrive

    def _await_request(self) -> None:
        self._begun_s = self.loop.time()
        self._arrival = self.loop.call_later(self._limits.headers_within_s, self._check_headers)

    def _check_arrival(self) -> None:
        """Stop the clock when the request is whole."""
        if self._arrival is not None and self.conn.their_state not in _UNFINISHED:
            self._has_finished_one = True
            self._stop(self._arrival)
            self._arrival = None

    def _check_headers(self) -> None:
        if self.conn.their_state is h11.IDLE:
            self._time_out()
        else:  # the body has the rest of the time
            self._arrival = self.loop.call_at(self._begun_s + self._limits.request_within_s, self._time_out)

    def _time_out(self) -> None:
        self._arrival = None
        self._refuse(408, "The request did not arrive in time.")

    def _refuse(self, status: int, text: str) -> None:
        """Close the connection, with an answer if none has begun."""
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE) or self.transport.is_closing():
            self.drop()
            return
        request_id = uuid.uuid4().hex
        _log.info("%d for %s: %s Request %s", status, self.address, text, request_id)
        head = (
            f"HTTP/1.1 {status} {HTTPStatus(status).phrase}",
            "Connection: close",
            "Content-Type: text/plain; charset=utf-8",
            f"Content-Length: {len(text)}",
            f"{REQUEST_ID}: {request_id}",
        )
        self.transport.write("\r\n".join((*head, "", text)).encode())
        self.transport.close()
        # close() waits until the client has read everything, which may never happen.
        self.loop.call_later(_CLOSE_WITHIN_S, self.drop)

    def _stop(self, *timers: asyncio.TimerHandle | None) -> None:
        for timer in timers:
            if timer is not None:
                timer.cancel()


# --- request ids

_GIVEN_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_request_id: ContextVar[str] = ContextVar("edgevox_request_id", default="")


def current_request_id() -> str:
    """Return the id of the request that is being answered; "" outside of one."""
    return _request_id.get()


class RequestIds:
    """Gives each response an X-Request-ID, the client's own if it sent one, and logs the response under it."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        request_id = _given_id(scope) or uuid.uuid4().hex
        begun_s = time.monotonic()

        async def identified(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.accept"):
                field = (REQUEST_ID.lower().encode(), request_id.encode())
                message = {**message, "headers": [*message.get("headers", ()), field]}
                _log_response(scope, message.get("status", 101), begun_s, request_id)
            await send(message)

        token = _request_id.set(request_id)
        try:
            await self._app(scope, receive, identified)
        finally:
            _request_id.reset(token)


def _given_id(scope: Scope) -> str:
    given = [value.decode("latin-1") for name, value in scope["headers"] if name == REQUEST_ID.lower().encode()]
    return given[0] if len(given) == 1 and _GIVEN_ID.fullmatch(given[0]) else ""


def _log_response(scope: MutableMapping[str, Any], status: int, begun_s: float, request_id: str) -> None:
    # Without the query and the values in the path, which may be secrets, and without unknown paths.
    path = scope["path"] if "endpoint" in scope else "an unknown path"
    for name, value in scope.get("path_params", {}).items():
        path = path.replace(str(value), f"{{{name}}}")
    level = logging.WARNING if status >= 500 else logging.INFO if status >= 400 else logging.DEBUG
    took_ms = (time.monotonic() - begun_s) * 1000
    _log.log(level, "%s %s: %d in %.0f ms, request %s", scope.get("method", "WS"), path, status, took_ms, request_id)

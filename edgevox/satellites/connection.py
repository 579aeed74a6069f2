"""The satellite's connection to /v1/voice: address, hello, frames in both directions."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import random
import ssl
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage, InvalidStatus, InvalidURI

from edgevox.core.errors import ConfigError
from edgevox.core.turn import background_task
from edgevox.core.types import JsonObject
from edgevox.server.websocket.protocol import VERSION, CloseCode

_log = logging.getLogger(__name__)

DEFAULT_PORT = 8790
_PATH = "/v1/voice"
_SCHEMES = {"http": "ws", "ws": "ws", "https": "wss", "wss": "wss"}
_CONNECT_S = 10.0
_HELLO_S = 10.0
# A half-open connection is noticed after both.
_PING_EVERY_S = 5.0
_PONG_WITHIN_S = 10.0
# A half-open connection is not closed in good order.
_CLOSE_S = 1.0
# How often the server is asked for its time: at first more often, for the quickest of the last answers counts.
_FIRST_CLOCK_S, _CLOCK_S = 1.0, 30.0
_CLOCK_ANSWERS = 8
# An answer that took longer says too little: the time may be wrong by half of it.
_LONGEST_ROUND_TRIP_S = 0.3
# Frames that wait to be sent: 4 s of blocks. The server takes 30 s at once (`limits.burst_s`).
_MOST_WAITING = 200

_FATAL = {
    CloseCode.UNKNOWN_TOKEN: ("the server does not know the token", "edgevox tokens add NAME on the server writes one"),
    CloseCode.LACKS_SCOPE: ("the token lacks a scope", "edgevox tokens add NAME on the server writes one that has it"),
    CloseCode.OTHER_VERSION: ("the server has another version of the protocol", "install the same version on both"),
    CloseCode.NOT_UNDERSTOOD: ("the server does not understand this satellite", "install the same version on both"),
    CloseCode.REPLACED: ("another satellite with this name has connected", "give each its own --name"),
}


class Backoff:
    """Waits between attempts to connect: twice as long after each, and short again after one that lasted."""

    def __init__(
        self,
        first_s: float,
        longest_s: float,
        *,
        good_after_s: float,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._first_s = self._next_s = first_s
        self._longest_s = longest_s
        self._good_after_s = good_after_s
        self._sleep = sleep
        self._began_s = 0.0

    def begin(self) -> None:
        """An attempt begins."""
        self._began_s = time.monotonic()

    async def wait(self) -> None:
        """It has failed, or its connection has ended."""
        if time.monotonic() - self._began_s > self._good_after_s:
            self._next_s = self._first_s
        # With some spread: after a power cut all satellites of a home come back at once.
        wait_s = self._next_s * random.uniform(0.8, 1.2)  # noqa: S311  (not for security)
        self._next_s = min(2 * self._next_s, self._longest_s)
        _log.info("next attempt in %.1f s", wait_s)
        await self._sleep(wait_s)


class ConnectionLost(Exception):
    """There is no connection; another attempt may succeed."""


class ServerClock:
    """The server's monotonic clock, as the answers to pings tell it.

    The ways there and back take about as long, least so where an answer came late: the quickest of the last counts,
    and one that came very late does not.
    """

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._numbers = itertools.count(1)
        self._asked = (0, 0.0)
        self._answers: deque[tuple[float, float]] = deque(maxlen=_CLOCK_ANSWERS)
        """Round trips, with how far the server's clock is ahead."""

    def ping(self) -> JsonObject:
        """Return the frame that asks for the time."""
        self._asked = next(self._numbers), self._now_s()
        return {"type": "ping", "id": self._asked[0]}

    def note_pong(self, number: object, server_s: object) -> None:
        """Take an answer; a server of an earlier version sends no time."""
        asked, asked_s = self._asked
        now_s = self._now_s()
        if number == asked and isinstance(server_s, float) and now_s - asked_s <= _LONGEST_ROUND_TRIP_S:
            self._answers.append((now_s - asked_s, server_s - (asked_s + now_s) / 2))

    def at(self, own_s: float) -> float | None:
        """Return the server's time at a time of this machine's clock; None before it is known."""
        return own_s + min(self._answers)[1] if self._answers else None


class Connection:
    """An open connection; frames are sent in order, and dropped when the network stalls."""

    def __init__(self, socket: ClientConnection) -> None:
        self.server_clock = ServerClock()
        self._socket = socket
        self._waiting: asyncio.Queue[str | bytes] = asyncio.Queue(_MOST_WAITING)

    def send(self, frame: JsonObject) -> None:
        self.send_bytes(json.dumps(frame))

    def send_bytes(self, frame: str | bytes) -> None:
        if not self._waiting.full():
            self._waiting.put_nowait(frame)

    async def frames(self) -> AsyncGenerator[JsonObject | bytes, None]:
        """The server's frames. Raises ConnectionLost at the end, and ConfigError for what needs a person."""
        async with background_task(self._write()), background_task(self._ask_time()):
            try:
                async for frame in self._socket:
                    match frame if isinstance(frame, bytes) else json.loads(frame):
                        case {"type": "pong", "id": number, **more}:
                            self.server_clock.note_pong(number, more.get("at_s"))
                        case other:
                            yield other
            except ConnectionClosed:
                pass
            except ValueError:
                raise ConnectionLost("the server sent a frame that is not JSON") from None
        raise _closed(self._socket)

    async def _ask_time(self) -> None:
        for number in itertools.count(1):
            self.send(self.server_clock.ping())
            await asyncio.sleep(_FIRST_CLOCK_S if number < _CLOCK_ANSWERS else _CLOCK_S)

    async def _write(self) -> None:
        try:
            while True:
                await self._socket.send(await self._waiting.get())
        except ConnectionClosed:
            return  # the reader says so


@dataclass(frozen=True, slots=True)
class ServerAddress:
    """The address of a server's voice socket."""

    url: str

    @classmethod
    def parse(cls, written: str) -> ServerAddress:
        """From "house.lan", "house.lan:8790" or a URL. Raises ConfigError."""
        parts = urlsplit(written if "://" in written else f"ws://{written}")
        try:
            port = parts.port
        except ValueError:
            port = -1
        if parts.scheme not in _SCHEMES or not parts.hostname or port == -1 or parts.path not in ("", "/", _PATH):
            raise ConfigError(f"{written} is no address of a server", hint="for example http://house.lan:8790")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        is_plain = _SCHEMES[parts.scheme] == "ws"
        port = port or (DEFAULT_PORT if is_plain or "://" not in written else 443)
        return cls(f"{_SCHEMES[parts.scheme]}://{host}:{port}{_PATH}")

    @asynccontextmanager
    async def connected(self, hello: JsonObject) -> AsyncIterator[Connection]:
        """Connect and say hello. Raises ConnectionLost, and ConfigError for what needs a person."""
        try:
            async with asyncio.timeout(_CONNECT_S):
                socket = await connect(
                    self.url,
                    ping_interval=_PING_EVERY_S,
                    ping_timeout=_PONG_WITHIN_S,
                    close_timeout=_CLOSE_S,
                    max_size=2**20,
                    compression=None,
                )
        except InvalidStatus as error:
            status = error.response.status_code
            raise ConfigError(
                f"{self.url} is no voice socket of EdgeVox (HTTP {status})",
                hint="on 403, add the name of the server to server.allowed_hosts there",
            ) from None
        except (InvalidMessage, InvalidURI, ssl.SSLError) as error:
            raise ConfigError(
                f"{self.url} does not answer as EdgeVox: {error}", hint="https:// if the server has a certificate"
            ) from None
        except (OSError, InvalidHandshake, EOFError) as error:  # includes TimeoutError
            reason = (error.strerror if isinstance(error, OSError) else "") or str(error) or "no answer"
            raise ConnectionLost(f"{self.url} cannot be reached: {reason}") from None
        async with socket:
            try:
                await socket.send(json.dumps({"type": "hello", "version": VERSION, **hello}))
                async with asyncio.timeout(_HELLO_S):
                    greeting = json.loads(await socket.recv())
            except ConnectionClosed:
                raise _closed(socket) from None
            except (TimeoutError, ValueError):
                raise ConnectionLost(f"{self.url} does not answer hello") from None
            if greeting.get("type") != "hello":
                await socket.wait_closed()
                raise _closed(socket)
            if not greeting["listens"]:
                raise ConfigError(
                    "the server was started without audio", hint="start it without --no-audio: edgevox serve"
                )
            yield Connection(socket)


def _closed(socket: ClientConnection) -> ConfigError | ConnectionLost:
    if socket.close_code in _FATAL:
        message, hint = _FATAL[CloseCode(socket.close_code)]
        return ConfigError(f"{message}: {socket.close_reason}", hint=hint)
    return ConnectionLost(f"the server closed the connection ({socket.close_code}) {socket.close_reason or ''}".strip())

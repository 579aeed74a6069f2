"""One authenticated WebSocket to Home Assistant: numbered commands, their results, and subscriptions.

A connection is used until it is lost, and then thrown away; `Link` makes the next one.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any, TypeAlias

import aiohttp
from yarl import URL

from edgevox.settings.secret_file import Secret
from edgevox.tools.home.home_assistant.failures import (
    CANNOT_REACH,
    MISSHAPEN,
    CommandFailed,
    NotHomeAssistant,
    Unreachable,
    WrongToken,
)

_log = logging.getLogger(__name__)

OnEvent: TypeAlias = Callable[[dict[str, Any]], None]

# A peer that is gone without a word is noticed after one and a half of these.
_PING_EVERY_S = 15.0
# All states of a very large house come in one message.
_MAX_MESSAGE_BYTES = 64 * 1024 * 1024
_CLOSE_WITHIN_S = 1.0


async def check_token(url: str, token: Secret, *, timeout_s: float = 10.0) -> str:
    """The version of the Home Assistant that accepts this token there.

    Raises Unreachable, NotHomeAssistant and WrongToken, whose messages say what to do.
    """
    connection = await Connection.open(url, token, timeout_s=timeout_s)
    await connection.close()
    return connection.version


class Connection:
    """Made by `open`; every method raises Unreachable once the connection is lost."""

    def __init__(
        self,
        socket: aiohttp.ClientWebSocketResponse,
        resources: AsyncExitStack,
        version: str,
        timeout_s: float,
    ) -> None:
        self.version = version
        self._socket = socket
        self._resources = resources
        self._timeout_s = timeout_s
        self._last_id = 0
        self._results: dict[int, asyncio.Future[Any]] = {}
        self._subscriptions: dict[int, OnEvent] = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def open(cls, url: str, token: Secret, *, timeout_s: float) -> Connection:
        """Connect and log in. Raises Unreachable, NotHomeAssistant and WrongToken."""
        try:
            async with asyncio.timeout(timeout_s), AsyncExitStack() as resources:
                session = await resources.enter_async_context(aiohttp.ClientSession())
                socket = await _connect(session, url)
                resources.push_async_callback(socket.close)
                version = await _log_in(socket, token, where(url))
                return cls(socket, resources.pop_all(), version, timeout_s)
        except TimeoutError:
            raise Unreachable(_nobody_at(url)) from None

    async def command(self, kind: str, /, **fields: Any) -> Any:  # noqa: ANN401 - each command's own result
        """Send a command and return its result, waiting no longer than `timeout_s`.

        Raises CommandFailed, Unreachable, and TimeoutError when there is no answer in time.
        """
        number = self._next_id()
        result = self._results[number] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._send({"id": number, "type": kind, **fields})
                return await result
        finally:
            self._results.pop(number, None)

    async def subscribe(self, on_event: OnEvent, kind: str, /, **fields: Any) -> None:  # noqa: ANN401 - as above
        """Have `on_event` called with every event from now on; it must not wait. Raises like `command`."""
        number = self._last_id + 1
        self._subscriptions[number] = on_event
        await self.command(kind, **fields)

    @property
    def is_lost(self) -> bool:
        return self._reading.done()

    async def lost(self) -> None:
        """Wait until the connection is lost, however long it lives."""
        await asyncio.wait([self._reading])

    async def close(self) -> None:
        """Raises nothing, and does not wait for a peer that is gone."""
        self._reading.cancel()
        await asyncio.wait([self._reading])
        await self._resources.aclose()

    def _next_id(self) -> int:
        self._last_id += 1
        return self._last_id

    async def _send(self, message: dict[str, Any]) -> None:
        if self.is_lost:
            raise Unreachable(CANNOT_REACH)
        try:
            await self._socket.send_json(message)
        except (aiohttp.ClientError, OSError):
            raise Unreachable(CANNOT_REACH) from None

    async def _read(self) -> None:
        try:
            async for message in self._socket:
                if message.type is aiohttp.WSMsgType.TEXT:
                    self._take(message.data)
        except MISSHAPEN as error:
            _log.warning("Home Assistant sent a message that I do not understand: %r", error)
        finally:
            for result in self._results.values():
                if not result.done():
                    result.set_exception(Unreachable(CANNOT_REACH))

    def _take(self, text: str) -> None:
        content = json.loads(text)
        # Many messages may come as one list.
        for message in content if isinstance(content, list) else [content]:
            match message:
                case {"type": "event", "id": int(number), "event": dict(event)}:
                    if on_event := self._subscriptions.get(number):
                        on_event(event)
                case {"type": "result", "id": int(number), "success": True}:
                    self._settle(number).set_result(message.get("result"))
                case {"type": "result", "id": int(number)}:
                    error = message.get("error") or {}
                    failed = CommandFailed(str(error.get("code", "")), str(error.get("message", "")))
                    self._settle(number).set_exception(failed)
                case _:
                    pass

    def _settle(self, number: int) -> asyncio.Future[Any]:
        """The future that waits for a result; where nobody waits any more, one that nobody looks at."""
        waiting = self._results.get(number)
        if waiting is None or waiting.done():
            waiting = asyncio.get_running_loop().create_future()
            waiting.add_done_callback(asyncio.Future.exception)
        return waiting


def where(url: str) -> str:
    """The address as it may be shown: without a name or password that somebody wrote into it."""
    try:
        return str(URL(url).with_user(None).with_query(None)).rstrip("/")
    except ValueError:
        return "its address"


async def _connect(session: aiohttp.ClientSession, url: str) -> aiohttp.ClientWebSocketResponse:
    try:
        return await session.ws_connect(
            url.rstrip("/") + "/api/websocket",
            heartbeat=_PING_EVERY_S,
            max_msg_size=_MAX_MESSAGE_BYTES,
            timeout=aiohttp.ClientWSTimeout(ws_close=_CLOSE_WITHIN_S),
        )
    except aiohttp.InvalidURL:
        raise Unreachable("Home Assistant's address is not a web address; run edgevox home setup.") from None
    except aiohttp.ClientSSLError:
        raise Unreachable(
            f"The certificate of {where(url)} is not trusted here; give Home Assistant one that is."
        ) from None
    except aiohttp.ClientResponseError as error:
        if error.status == 403:
            raise Unreachable(
                "Home Assistant turns this computer away; remove its address from ip_bans.yaml there."
            ) from None
        if error.status >= 500:
            raise Unreachable(_nobody_at(url)) from None
        raise NotHomeAssistant(where(url)) from None
    except (aiohttp.ClientError, OSError):
        raise Unreachable(_nobody_at(url)) from None


async def _log_in(socket: aiohttp.ClientWebSocketResponse, token: Secret, place: str) -> str:
    """Home Assistant's version, once it has accepted the token."""
    match await _greeting(socket):
        case {"type": "auth_required"}:
            pass
        case _:
            raise NotHomeAssistant(place)
    await socket.send_json({"type": "auth", "access_token": token.reveal()})
    match await _greeting(socket):
        case {"type": "auth_ok", **rest}:
            return str(rest.get("ha_version", ""))
        case {"type": "auth_invalid"}:
            raise WrongToken
        case None:
            raise Unreachable(CANNOT_REACH)
        case _:
            raise NotHomeAssistant(place)


async def _greeting(socket: aiohttp.ClientWebSocketResponse) -> Any:  # noqa: ANN401 - it may be anything
    """What the peer says before commands are numbered; None when it is no JSON, or nothing."""
    message = await socket.receive()
    if message.type is not aiohttp.WSMsgType.TEXT:
        return None
    try:
        return json.loads(message.data)
    except ValueError:
        return None


def _nobody_at(url: str) -> str:
    return f"I cannot reach Home Assistant at {where(url)}; check that it is running."

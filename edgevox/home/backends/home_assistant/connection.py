"""An authenticated WebSocket to Home Assistant, and its errors.

HomeError
├ Unreachable        no answer, or the connection was lost
├ NotHomeAssistant   something else answers at this address
├ WrongToken         the access token is not valid
└ CommandFailed      Home Assistant answered a command with an error
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from http import HTTPStatus
from typing import Any, TypeAlias

import aiohttp
from yarl import URL

from edgevox.config.secrets import Secret
from edgevox.core.files import parse_json
from edgevox.home.entities import HomeError
from edgevox.home.phrasing import brief, sentence

CANNOT_REACH = "I cannot reach Home Assistant right now."
# Exceptions raised by messages with an unexpected structure.
MALFORMED_ANSWER = (AttributeError, KeyError, TypeError, ValueError)
_RUN_SETUP = "run edgevox home setup"
# Error codes whose text is not meant for users.
_TECHNICAL = frozenset({"invalid_format", "unknown_error", "template_error", "id_reuse"})


class Unreachable(HomeError):
    """No answer, or the connection was lost; it may return at any time."""

    code = "home_unreachable"


class NotHomeAssistant(HomeError):
    """Another service answers at this address."""

    code = "not_home_assistant"

    def __init__(self, where: str) -> None:
        super().__init__(f"What answers at {where} is not Home Assistant; {_RUN_SETUP}.", hint=_RUN_SETUP)


class WrongToken(HomeError):
    """Home Assistant rejects the token; retrying does not help."""

    code = "wrong_token"

    def __init__(self) -> None:
        super().__init__(f"Home Assistant does not accept the token; {_RUN_SETUP}.", hint=_RUN_SETUP)


class CommandFailed(HomeError):
    """Home Assistant answered a command with an error; `reason` is its code."""

    code = "home_command_failed"

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(_error_text(reason, text))
        self.reason = reason


def _error_text(reason: str, text: str) -> str:
    match reason:
        case "not_found" | "unknown_command" | "not_supported":
            return "This Home Assistant cannot do that."
        case "unauthorized":
            return "The user of my token may not do that in Home Assistant."
        case _ if reason in _TECHNICAL or not text.strip():
            return "Home Assistant could not do that."
        case _:
            return sentence(f"Home Assistant could not do that: {brief(text)}")


_log = logging.getLogger(__name__)

OnEvent: TypeAlias = Callable[[dict[str, Any]], None]

# A dead peer is detected after one and a half of these.
_PING_EVERY_S = 15.0
# All states of a very large home arrive in one message.
_MAX_MESSAGE_BYTES = 64 * 1024 * 1024
_CLOSE_WITHIN_S = 1.0


async def check_token(url: str, token: Secret, *, timeout_s: float = 10.0) -> str:
    """The version of the Home Assistant that accepts this token.

    Raises Unreachable, NotHomeAssistant and WrongToken, with instructions.
    """
    connection = await Connection.open(url, token, timeout_s=timeout_s)
    await connection.close()
    return connection.version


class Connection:
    """An authenticated connection, made by `open`; all methods raise Unreachable once it is lost."""

    def __init__(
        self,
        socket: aiohttp.ClientWebSocketResponse,
        get: Callable[[str], AbstractAsyncContextManager[aiohttp.ClientResponse]],
        resources: AsyncExitStack,
        version: str,
        timeout_s: float,
    ) -> None:
        self.version = version
        self._get = get
        self._socket = socket
        self._resources = resources
        self._timeout_s = timeout_s
        self._last_id = 0
        self._results: dict[int, asyncio.Future[Any]] = {}
        self._subscriptions: dict[int, OnEvent] = {}
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def open(cls, url: str, token: Secret, *, timeout_s: float) -> Connection:
        """Connect and authenticate. Raises Unreachable, NotHomeAssistant and WrongToken."""
        try:
            async with asyncio.timeout(timeout_s), AsyncExitStack() as resources:
                session = await resources.enter_async_context(aiohttp.ClientSession())
                socket = await _connect(session, url)
                resources.push_async_callback(socket.close)
                version = await _log_in(socket, token, host_of(url))

                def get(path: str) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
                    authorization = {"Authorization": f"Bearer {token.reveal()}"}
                    return session.get(f"{url.rstrip('/')}/{path}", headers=authorization, allow_redirects=False)

                return cls(socket, get, resources.pop_all(), version, timeout_s)
        except TimeoutError:
            raise Unreachable(_unreachable_at(url)) from None

    async def command(self, kind: str, /, **fields: Any) -> Any:  # noqa: ANN401 - each command's own result
        """Send a command and return its result, within `timeout_s`.

        Raises CommandFailed, Unreachable, and TimeoutError.
        """
        self._last_id = number = self._last_id + 1
        result = self._results[number] = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(self._timeout_s):
                await self._send({"id": number, "type": kind, **fields})
                return await result
        finally:
            self._results.pop(number, None)

    async def get(self, path: str) -> Any:  # noqa: ANN401 - each path's own result
        """The JSON at a path of the REST API. Raises like `command`."""
        try:
            async with asyncio.timeout(self._timeout_s), self._get(path) as response:
                if response.status != HTTPStatus.OK:
                    raise CommandFailed(str(response.status), f"{path} cannot be read")
                return parse_json(await response.text())
        except (aiohttp.ClientError, OSError, UnicodeDecodeError) as error:
            raise CommandFailed("unreadable", str(error)) from None

    async def call_service(
        self,
        domain: str,
        service: str,
        data: Mapping[str, Any],
        target: str | list[str] | None = None,
        **fields: Any,  # noqa: ANN401 - as above
    ) -> Any:  # noqa: ANN401 - as above
        """Call a service of Home Assistant, for these entities. Raises like `command`."""
        if target is not None:
            fields["target"] = {"entity_id": target}
        return await self.command("call_service", domain=domain, service=service, service_data=data, **fields)

    async def subscribe(self, on_event: OnEvent, kind: str, /, **fields: Any) -> None:  # noqa: ANN401 - as above
        """Call `on_event` with every event from now on; it must not block. Raises like `command`."""
        number = self._last_id + 1
        self._subscriptions[number] = on_event
        await self.command(kind, **fields)

    @property
    def is_lost(self) -> bool:
        return self._reading.done()

    async def lost(self) -> None:
        """Wait until the connection is lost, without a timeout."""
        await asyncio.wait([self._reading])

    async def close(self) -> None:
        """Close without raising, and without waiting for a dead peer."""
        self._reading.cancel()
        await asyncio.wait([self._reading])
        await self._resources.aclose()

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
        except MALFORMED_ANSWER as error:
            _log.warning("unexpected message from Home Assistant: %r", error)
        finally:
            for result in self._results.values():
                if not result.done():
                    result.set_exception(Unreachable(CANNOT_REACH))

    def _take(self, text: str) -> None:
        content = parse_json(text)
        # Messages may be coalesced into a list.
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
        """The future that waits for a result; a new one if the waiter has given up."""
        waiting = self._results.get(number)
        if waiting is None or waiting.done():
            waiting = asyncio.get_running_loop().create_future()
            waiting.add_done_callback(asyncio.Future.exception)
        return waiting


def host_of(url: str) -> str:
    """The address for display, without user name and password."""
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
            f"The certificate of {host_of(url)} is not trusted here; give Home Assistant one that is."
        ) from None
    except aiohttp.ClientResponseError as error:
        if error.status == 403 and await _is_forbidden(session, url):
            raise Unreachable(
                "Home Assistant turns this computer away; remove its address from ip_bans.yaml there."
            ) from None
        if error.status >= 500:
            raise Unreachable(_unreachable_at(url)) from None
        raise NotHomeAssistant(host_of(url)) from None
    except (aiohttp.ClientError, OSError):
        raise Unreachable(_unreachable_at(url)) from None


async def _is_forbidden(session: aiohttp.ClientSession, url: str) -> bool:
    """Whether every page is refused, as after a ban by Home Assistant; another server shows its front page."""
    try:
        async with session.get(url, allow_redirects=False) as response:
            return response.status == HTTPStatus.FORBIDDEN
    except (aiohttp.ClientError, OSError):
        return True


async def _log_in(socket: aiohttp.ClientWebSocketResponse, token: Secret, place: str) -> str:
    """Send the token, and return Home Assistant's version."""
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
    """A message before commands are numbered; None if it is not JSON, or missing."""
    try:
        return await socket.receive_json(loads=parse_json)
    except (TypeError, ValueError):
        return None


def _unreachable_at(url: str) -> str:
    return f"I cannot reach Home Assistant at {host_of(url)}; check that it is running."

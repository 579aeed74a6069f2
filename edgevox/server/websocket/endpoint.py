"""The WebSocket at /v1/voice: authentication, hello, and closing."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, suppress

from starlette.websockets import WebSocket, WebSocketDisconnect

from edgevox.server.assistant import Assistant
from edgevox.server.engine_queues import EngineQueues
from edgevox.server.http.auth import Access
from edgevox.server.http.errors import ApiError
from edgevox.server.tool_routes import Confirmations
from edgevox.server.websocket.protocol import CloseCode, CloseConnection, Hello, invalid_frame, read_hello
from edgevox.server.websocket.session import Clients, ClientSession, Incoming
from edgevox.tools.policy import Caller

VOICE = "voice"
"""Scope for voice sessions."""

HELLO_WITHIN_S = 5.0
_GOODBYE_S = 1.0
# Connections that have not sent a hello yet.
_MOST_UNKNOWN = 16


class VoiceSocket:
    """The voice socket of one server."""

    def __init__(
        self, assistant: Assistant, queues: EngineQueues, access: Access, confirmations: Confirmations, clients: Clients
    ) -> None:
        self._assistant = assistant
        self._queues = queues
        self._access = access
        self._confirmations = confirmations
        self._clients = clients
        self._unknown = 0

    async def connect(self, socket: WebSocket) -> None:
        """Serve one connection."""
        await socket.accept()
        try:
            await self._converse(socket)
        except WebSocketDisconnect:
            return
        except CloseConnection as cut:
            await _close(socket, cut)
        except asyncio.CancelledError:
            return  # the server shuts down
        except BaseException:
            await _close(socket, CloseConnection(CloseCode.FAULT, "this is a bug in EdgeVox"))
            raise

    async def _converse(self, socket: WebSocket) -> None:
        async with aclosing(_incoming(socket)) as incoming:
            hello, caller = await self._greeted(socket, incoming)
            factory = self._assistant.session_factory
            if factory is None:
                raise CloseConnection(CloseCode.NO_PLACE, "this server has no voice sessions")
            with self._clients.place(caller.name) as place:
                talk = ClientSession(
                    self._assistant, factory, self._queues, self._confirmations, caller=caller, place=place, hello=hello
                )
                await talk.run(incoming, lambda frame: _send(socket, frame))

    async def _greeted(self, socket: WebSocket, incoming: Incoming) -> tuple[Hello, Caller]:
        if self._unknown >= _MOST_UNKNOWN:
            raise CloseConnection(CloseCode.NO_PLACE, "too many new connections")
        self._unknown += 1
        try:
            async with asyncio.timeout(HELLO_WITHIN_S):
                first = await anext(incoming, None)
        except TimeoutError:
            raise CloseConnection(CloseCode.NO_HELLO, "no hello frame received") from None
        finally:
            self._unknown -= 1
        if first is None:
            raise WebSocketDisconnect
        if isinstance(first, bytes):
            raise invalid_frame("the first frame is hello, not sound")
        hello = read_hello(first)
        try:
            return hello, self._access.require_socket_token(socket, hello.token, VOICE)
        except ApiError as error:
            code = CloseCode.LACKS_SCOPE if error.status == 403 else CloseCode.UNKNOWN_TOKEN
            raise CloseConnection(code, error.message) from None


async def _incoming(socket: WebSocket) -> Incoming:
    """Yield the client's frames until it disconnects."""
    while (message := await socket.receive())["type"] != "websocket.disconnect":
        text = message.get("text")
        yield text if text is not None else message["bytes"]


async def _send(socket: WebSocket, frame: str | bytes) -> None:
    """Raises WebSocketDisconnect."""
    await (socket.send_text(frame) if isinstance(frame, str) else socket.send_bytes(frame))


async def _close(socket: WebSocket, cut: CloseConnection) -> None:
    # A client that does not read cannot get a close frame: the connection just ends.
    with suppress(TimeoutError, WebSocketDisconnect, RuntimeError):
        async with asyncio.timeout(_GOODBYE_S):
            await socket.send_json({"type": "error", "code": cut.code.name.lower(), "message": cut.message})
            await socket.close(cut.code, cut.reason)

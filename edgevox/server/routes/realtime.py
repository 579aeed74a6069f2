"""OpenAI's Realtime API: the WebSocket at /v1/realtime, and the short-lived keys for it."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing, suppress
from typing import Annotated, Any, Literal

from pydantic import Field
from starlette.requests import Request
from starlette.websockets import WebSocket, WebSocketDisconnect

from edgevox.core.types import JsonObject
from edgevox.server.assistant import VoiceSessionFactory
from edgevox.server.http.errors import ApiError, check_model
from edgevox.server.http.wire import RequestBody, read_body
from edgevox.server.realtime.protocol import SessionSettings, new_id
from edgevox.server.realtime.session import RealtimeSession, checked
from edgevox.server.routes import ApiRoute, ServerContext
from edgevox.server.routes.voice import GOODBYE_S, VOICE, incoming_frames, send_frame
from edgevox.server.websocket.protocol import REALTIME_PATH, CloseCode, CloseConnection
from edgevox.tools.policy import Caller

# OpenAI's model names, which many programs hard-code.
_THEIR_NAMES = ("gpt-realtime", "gpt-4o-realtime", "gpt-4o-mini-realtime", "gpt-audio")
# How a browser brings a key, since it cannot set headers.
_SUBPROTOCOL, _KEY_SUBPROTOCOL = "realtime", "openai-insecure-api-key."


class RealtimeSocket:
    """The WebSocket of one server: authentication, model, and closing."""

    def __init__(self, server: ServerContext) -> None:
        self._server = server

    async def connect(self, socket: WebSocket) -> None:
        try:
            caller, factory, settings = self._admitted(socket)
        except ApiError as error:
            await socket.send_denial_response(error.response(socket.url.path))
            return
        await socket.accept(_SUBPROTOCOL if _SUBPROTOCOL in socket.scope["subprotocols"] else None)
        try:
            async with aclosing(incoming_frames(socket)) as incoming:
                with self._server.clients.place(caller.name) as place:
                    session = RealtimeSession(self._server, factory, caller, place, settings)
                    await session.run(incoming, lambda frame: send_frame(socket, frame))
        except WebSocketDisconnect:
            return
        except CloseConnection as cut:
            await _close(socket, cut)
        except asyncio.CancelledError:
            return  # the server shuts down
        except BaseException:
            await _close(socket, CloseConnection(CloseCode.FAULT, "this is a bug in EdgeVox"))
            raise

    def _admitted(self, socket: WebSocket) -> tuple[Caller, VoiceSessionFactory, SessionSettings]:
        """Raises ApiError."""
        given: JsonObject = {}
        key = self._server.realtime_keys.find(_short_lived_key(socket), self._server.access.current)
        if key is not None and key[0].may(VOICE):
            caller, given = key
        else:
            caller = self._server.access.require_token(socket, VOICE)
        query = socket.query_params
        if query.get("intent") == "transcription" or "call_id" in query:
            raise ApiError(400, "invalid_value", "only conversations are supported", param="intent")
        factory = self._server.session_factory
        model = query.get("model") or given.get("model")
        _check_model(self._server, model)
        return caller, factory, _settings(self._server, factory, {**given, "model": model})


def _short_lived_key(socket: WebSocket) -> str:
    """Return the bearer token, or the key that a browser gives as a subprotocol."""
    listed = (name for name in socket.scope["subprotocols"] if name.startswith(_KEY_SUBPROTOCOL))
    if (name := next(listed, None)) is not None:
        return str(name).removeprefix(_KEY_SUBPROTOCOL)
    return socket.headers.get("authorization", "").partition(" ")[2].strip()


def _settings(server: ServerContext, factory: VoiceSessionFactory, given: JsonObject) -> SessionSettings:
    """Return the first settings of a session. Raises ApiError."""
    first = SessionSettings(output_modalities=["audio" if factory.speaks else "text"])
    voice = {"audio": {"output": {"voice": server.assistant.voice_name or "default"}}}
    return checked(first.updated(voice).updated(given), factory, server.assistant)


def _check_model(server: ServerContext, model: str | None) -> None:
    if model is not None and not model.startswith(_THEIR_NAMES):
        check_model(model, server.assistant.chat_names)


async def _close(socket: WebSocket, cut: CloseConnection) -> None:
    # A client that does not read cannot get a close frame: the connection just ends.
    with suppress(TimeoutError, WebSocketDisconnect, RuntimeError):
        async with asyncio.timeout(GOODBYE_S):
            is_ours = cut.code in (CloseCode.FAULT, CloseCode.NO_PLACE)
            error = {
                "type": "server_error" if is_ours else "invalid_request_error",
                "code": cut.code.name.lower(),
                "message": cut.message,
                "param": None,
                "event_id": None,
            }
            await socket.send_json({"type": "error", "event_id": new_id("event"), "error": error})
            await socket.close(cut.code, cut.reason)


class _ExpiresAfter(RequestBody):
    anchor: Literal["created_at"] = "created_at"
    seconds: Annotated[int, Field(ge=10, le=7200)] = 600


class ClientSecretBody(RequestBody):
    """A request for a short-lived key, and the settings of the sessions that it opens."""

    expires_after: _ExpiresAfter = _ExpiresAfter()
    session: dict[str, Any] = Field(default_factory=dict)


async def _client_secret(server: ServerContext, request: Request, caller: Caller) -> JsonObject:
    body = await read_body(request, ClientSecretBody)
    factory = server.session_factory
    model = body.session.get("model")
    if model is not None and not isinstance(model, str):
        raise ApiError(400, "invalid_value", "session.model is a string", param="session.model")
    _check_model(server, model)
    settings = _settings(server, factory, body.session)
    expires_s = time.time() + body.expires_after.seconds
    value = server.realtime_keys.add(caller, expires_s, body.session)
    return {"value": value, "expires_at": int(expires_s), "session": settings.as_json(new_id("sess"))}


ROUTES = (
    ApiRoute(
        "POST",
        f"{REALTIME_PATH}/client_secrets",
        "A short-lived key for the Realtime API",
        _client_secret,
        VOICE,
        body=ClientSecretBody,
        errors=(404,),
    ),
)

"""The Starlette application: routes, middleware and the OpenAPI document."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, get_args

from pydantic.json_schema import models_json_schema
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from edgevox import __version__
from edgevox.config import ServerSettings
from edgevox.core.types import JsonObject
from edgevox.server.anthropic import MessagesBody
from edgevox.server.assistant import Assistant
from edgevox.server.audio import MEDIA_TYPES, AudioRoutes, SpeechBody, TextFormat
from edgevox.server.chat.routes import ChatRoutes, model_list, one_model
from edgevox.server.engine_queues import EngineQueues
from edgevox.server.http.auth import Access, Tokens
from edgevox.server.http.errors import HANDLERS
from edgevox.server.http.middleware import (
    CONTENT_TYPE,
    CountingMiddleware,
    HostRule,
    RequestCounter,
    RequestLimits,
    ShutdownMiddleware,
    exposition,
)
from edgevox.server.openai import ChatCompletionBody
from edgevox.server.tool_routes import ConfirmationBody, ConfirmationRoutes, Confirmations, ToolCallBody, ToolRoutes
from edgevox.server.web.dashboard import DashboardRoutes, SettingsBody, SettingsRoutes
from edgevox.server.web.static_files import page_routes
from edgevox.server.websocket.endpoint import VoiceSocket
from edgevox.server.websocket.session import Clients
from edgevox.server.websocket.sse import EventsRoute, VoiceTurnBody, VoiceTurnRoute

_REF = "#/components/schemas/{model}"
_OBJECT = {"application/json": {"schema": {"type": "object"}}}
_EVENTS = {"text/event-stream": {"schema": {"type": "string"}}}
_MEANINGS = {
    400: "the request is invalid",
    401: "the token is missing or unknown",
    403: "not allowed for this token, host or origin",
    404: "not found",
    405: "method not allowed",
    408: "the request did not arrive in time",
    409: "a user must confirm first",
    413: "too large",
    415: "unsupported media type",
    429: "too many requests are waiting; see Retry-After",
    500: "internal error",
    503: "an engine is restarting",
}
_ALWAYS = (401, 403, 405, 408, 413, 500)
_BODY = (*_ALWAYS, 400, 404, 415, 429, 503)
_SHOWN = (*_ALWAYS, 404)


def document() -> JsonObject:
    """Return the OpenAPI document."""
    bodies = (ChatCompletionBody, ConfirmationBody, MessagesBody, SettingsBody, SpeechBody, ToolCallBody, VoiceTurnBody)
    _keys, definitions = models_json_schema([(body, "validation") for body in bodies], ref_template=_REF)
    sounds = {kind: {"schema": {"type": "string", "format": "binary"}} for kind in MEDIA_TYPES.values()}
    transcripts = {**_OBJECT, "text/plain": {"schema": {"type": "string"}}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "EdgeVox", "version": __version__},
        "paths": {
            "/healthz": {"get": _operation("State of the engines", _OBJECT, (*_ALWAYS, 503))},
            "/metrics": {"get": _operation("Prometheus metrics", {"text/plain": {}}, _ALWAYS)},
            "/openapi.json": {"get": _operation("This document", _OBJECT, _ALWAYS)},
            "/v1/models": {"get": _operation("List of models", _OBJECT, _ALWAYS)},
            "/v1/models/{name}": {
                "get": {**_operation("One model", _OBJECT, (*_ALWAYS, 404)), "parameters": [_in_path("name")]}
            },
            "/v1/chat/completions": {
                "post": _posted("Chat completions (OpenAI)", ChatCompletionBody, {**_OBJECT, **_EVENTS})
            },
            "/v1/messages": {"post": _posted("Messages (Anthropic)", MessagesBody, {**_OBJECT, **_EVENTS})},
            "/v1/audio/speech": {"post": _posted("Text to speech", SpeechBody, sounds)},
            "/v1/audio/transcriptions": {
                "post": {**_operation("Speech to text", transcripts, _BODY), "requestBody": _FORM}
            },
            "/v1/tools": {"get": _operation("List of tools", _OBJECT, _ALWAYS)},
            "/v1/tools/call": {"post": _posted("Call a tool", ToolCallBody, _OBJECT, (*_BODY, 409))},
            "/v1/confirmations": {"get": _operation("Pending confirmations", _OBJECT, _ALWAYS)},
            "/v1/confirmations/{token}": {
                "post": {
                    **_posted("Answer a confirmation", ConfirmationBody, _OBJECT, (*_ALWAYS, 400, 404, 415)),
                    "parameters": [_in_path("token")],
                }
            },
            "/v1/voice": {
                "post": {
                    **_posted("One turn as server-sent events", VoiceTurnBody, _EVENTS),
                    "parameters": [_in_query("speak", {"enum": ["true", "false"]})],
                }
            },
            "/v1/events": {"get": _operation("Live events", _EVENTS, (*_SHOWN, 429))},
            "/v1/status": {"get": _operation("Status of the assistant", _OBJECT, _SHOWN)},
            "/v1/home": {"get": _operation("State of the home", _OBJECT, _SHOWN)},
            "/v1/tools/stats": {"get": _operation("Tool statistics", _OBJECT, _SHOWN)},
            "/v1/turns": {
                "get": {
                    **_operation("Turns of a day", _OBJECT, (*_SHOWN, 400)),
                    "parameters": [_in_query("day", {"type": "string", "format": "date"})],
                }
            },
            "/v1/settings": {
                "get": _operation("Editable settings", _OBJECT, _SHOWN),
                "patch": _posted("Change settings", SettingsBody, _OBJECT, (*_SHOWN, 400, 415)),
            },
        },
        "components": {
            "schemas": {**definitions["$defs"], "Error": _ERROR},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }


_FORM = {
    "required": True,
    "content": {
        "multipart/form-data": {
            "schema": {
                "type": "object",
                "properties": {
                    "file": {"type": "string", "format": "binary"},
                    "model": {"type": "string"},
                    "language": {"type": "string", "pattern": "^[a-z]{2,3}$"},
                    "response_format": {"enum": list(get_args(TextFormat))},
                },
                "required": ["file", "model"],
            }
        }
    },
}
_ERROR = {
    "type": "object",
    "properties": {"error": {"type": "object", "required": ["message", "type"]}},
    "required": ["error"],
}


def _in_path(name: str) -> JsonObject:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _in_query(name: str, schema: JsonObject) -> JsonObject:
    return {"name": name, "in": "query", "required": False, "schema": schema}


def _posted(summary: str, body: type[Any], answers: JsonObject, errors: tuple[int, ...] = _BODY) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": _REF.format(model=body.__name__)}}}
    return {**_operation(summary, answers, errors), "requestBody": {"required": True, "content": content}}


def _operation(summary: str, answers: JsonObject, errors: tuple[int, ...]) -> dict[str, Any]:
    error_content = {"application/json": {"schema": {"$ref": _REF.format(model="Error")}}}
    responses: dict[str, Any] = {"200": {"description": "the answer", "content": answers}}
    for status in sorted(errors):
        responses[str(status)] = {"description": _MEANINGS[status], "content": error_content}
    return {"summary": summary, "responses": responses}


if TYPE_CHECKING:
    from edgevox.server.mcp import McpRoute

TRANSCRIPTIONS_PATH = "/v1/audio/transcriptions"
VOICE_PATH = "/v1/voice"


def create_app(
    assistant: Assistant,
    settings: ServerSettings,
    tokens: Tokens,
    queues: EngineQueues | None = None,
    *,
    reload: Callable[[], None] | None = None,
) -> Starlette:
    """Build the application for `assistant`. Without `queues`, there is no local speaker to give way to.

    `reload` makes the assistant reload the settings file.
    """
    queues = queues or EngineQueues(assistant, settings)
    access = Access(tokens, always_token=settings.always_token)
    confirmations = Confirmations(tokens, assistant.confirmation)
    chat = ChatRoutes(assistant, queues.model, access, settings, confirmations)
    audio = AudioRoutes(assistant, queues, access, settings)
    tools = ToolRoutes(assistant, confirmations, access)
    answers = ConfirmationRoutes(confirmations, access)
    clients = Clients(settings.voice_clients)
    voice = VoiceSocket(assistant, queues, access, confirmations, clients)
    voice_turn = VoiceTurnRoute(assistant, queues, access, confirmations)
    room = EventsRoute(assistant, access)
    view = DashboardRoutes(assistant, access, clients)
    changing = SettingsRoutes(assistant.dashboard, access, reload)
    openapi = document()
    requests = RequestCounter(openapi["paths"])

    async def healthz(request: Request) -> Response:
        access.allow_local(request, "status")
        states = dict(assistant.states())
        is_ready = all(state == "ready" for state in states.values())
        return JSONResponse({"status": "ok" if is_ready else "degraded", "engines": states}, 200 if is_ready else 503)

    async def metrics(request: Request) -> Response:
        access.allow_local(request, "status")
        return Response(exposition(assistant, queues, requests), media_type=CONTENT_TYPE)

    async def description(request: Request) -> Response:
        access.allow_local(request, "status")
        return JSONResponse(openapi)

    async def models(request: Request) -> Response:
        access.allow_local(request, "chat")
        return JSONResponse(model_list(assistant))

    async def model(request: Request) -> Response:
        access.allow_local(request, "chat")
        return JSONResponse(one_model(assistant, request.path_params["name"]))

    routes: list[BaseRoute] = [
        *page_routes(),
        Route("/healthz", healthz, methods=["GET"]),
        Route("/metrics", metrics, methods=["GET"]),
        Route("/openapi.json", description, methods=["GET"]),
        Route("/v1/models", models, methods=["GET"]),
        Route("/v1/models/{name:path}", model, methods=["GET"]),
        Route("/v1/chat/completions", chat.completions, methods=["POST"]),
        Route("/v1/messages", chat.messages, methods=["POST"]),
        Route(TRANSCRIPTIONS_PATH, audio.transcriptions, methods=["POST"]),
        Route("/v1/tools", tools.list, methods=["GET"]),
        Route("/v1/tools/call", tools.call, methods=["POST"]),
        Route("/v1/confirmations", answers.list, methods=["GET"]),
        Route("/v1/confirmations/{token}", answers.answer, methods=["POST"]),
        Route("/v1/audio/speech", audio.speech, methods=["POST"]),
        WebSocketRoute(VOICE_PATH, voice.connect),
        Route(VOICE_PATH, voice_turn.answer, methods=["POST"]),
        Route("/v1/events", room.listen, methods=["GET"]),
        Route("/v1/status", view.status, methods=["GET"]),
        Route("/v1/home", view.home, methods=["GET"]),
        Route("/v1/tools/stats", view.tool_stats, methods=["GET"]),
        Route("/v1/turns", view.turns, methods=["GET"]),
        Route("/v1/settings", changing.list, methods=["GET"]),
        Route("/v1/settings", changing.change, methods=["PATCH"]),
    ]
    mcp = _mcp_route(assistant, confirmations, access) if settings.mcp else None
    if mcp is not None:
        routes.append(Route("/mcp", mcp))
    return Starlette(
        routes=routes,
        lifespan=(lambda _app: mcp.running()) if mcp is not None else None,
        middleware=[Middleware(ShutdownMiddleware), Middleware(CountingMiddleware, requests), *_middleware(settings)],
        exception_handlers=dict(HANDLERS),
    )


def _mcp_route(assistant: Assistant, confirmations: Confirmations, access: Access) -> McpRoute:
    # Imported here because it is slow to import and optional.
    from edgevox.server.mcp import McpRoute

    return McpRoute(assistant.executor, confirmations, access)


def _middleware(settings: ServerSettings) -> list[Middleware]:
    rule = HostRule(settings.host, settings.allowed_hosts, settings.allowed_origins)
    guard = Middleware(
        RequestLimits,
        rule,
        max_bytes=settings.max_body_bytes,
        larger=dict.fromkeys((TRANSCRIPTIONS_PATH, VOICE_PATH), settings.max_audio_bytes),
    )
    if not settings.allowed_origins:
        return [guard]
    pages = Middleware(
        CORSMiddleware, allow_origins=settings.allowed_origins, allow_methods=["GET", "POST"], allow_headers=["*"]
    )
    return [guard, pages]

"""The application: its routes, and what every request passes on its way to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from edgevox.server.access import Access
from edgevox.server.assistant import Assistant
from edgevox.server.audio.routes import AudioRoutes
from edgevox.server.chat_routes import ChatRoutes
from edgevox.server.confirmations import ConfirmationRoutes, Confirmations
from edgevox.server.errors import HANDLERS
from edgevox.server.goodbye import Goodbye
from edgevox.server.guard import Guard
from edgevox.server.hosts import HostRule
from edgevox.server.metrics import CONTENT_TYPE, Counting, Requests, exposition
from edgevox.server.models import model_list, one_model
from edgevox.server.openapi import document
from edgevox.server.page.routes import page_routes
from edgevox.server.queues import Queues
from edgevox.server.settings_routes import SettingsRoutes
from edgevox.server.tokens import Tokens
from edgevox.server.tool_routes import ToolRoutes
from edgevox.server.view_routes import ViewRoutes
from edgevox.server.voice.clients import Clients
from edgevox.server.voice.one_turn import VoiceTurnRoute
from edgevox.server.voice.room_events import RoomEvents
from edgevox.server.voice.voice_socket import VoiceSocket
from edgevox.settings import ServerSettings

if TYPE_CHECKING:
    from edgevox.server.mcp_route import McpRoute

TRANSCRIPTIONS_PATH = "/v1/audio/transcriptions"
VOICE_PATH = "/v1/voice"


def create_app(
    assistant: Assistant,
    settings: ServerSettings,
    tokens: Tokens,
    queues: Queues | None = None,
    *,
    reload: Callable[[], None] | None = None,
) -> Starlette:
    """The application that serves `assistant`. Without `queues`, nobody is in the room.

    `reload` lets the assistant live by the settings as they are in the file.
    """
    queues = queues or Queues(assistant, settings)
    access = Access(tokens, always_token=settings.always_token)
    confirmations = Confirmations(tokens, assistant.asking)
    chat = ChatRoutes(assistant, queues.model, access, settings, confirmations)
    audio = AudioRoutes(assistant, queues, access, settings)
    tools = ToolRoutes(assistant, confirmations, access)
    answers = ConfirmationRoutes(confirmations, access)
    clients = Clients(settings.voice_clients)
    voice = VoiceSocket(assistant, queues, access, confirmations, clients)
    voice_turn = VoiceTurnRoute(assistant, queues, access, confirmations)
    room = RoomEvents(assistant, access)
    view = ViewRoutes(assistant, access, clients)
    changing = SettingsRoutes(assistant.surroundings, access, reload)
    openapi = document()
    requests = Requests(openapi["paths"])

    async def healthz(request: Request) -> Response:
        access.talker(request, "status")
        states = dict(assistant.states())
        is_well = all(state == "ready" for state in states.values())
        return JSONResponse(
            {"status": "ok" if is_well else "degraded", "engines": states}, 200 if is_well else 503
        )

    async def metrics(request: Request) -> Response:
        access.talker(request, "status")
        return Response(exposition(assistant, queues, requests), media_type=CONTENT_TYPE)

    async def description(request: Request) -> Response:
        access.talker(request, "status")
        return JSONResponse(openapi)

    async def models(request: Request) -> Response:
        access.talker(request, "chat")
        return JSONResponse(model_list(assistant))

    async def model(request: Request) -> Response:
        access.talker(request, "chat")
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
        middleware=[Middleware(Goodbye), Middleware(Counting, requests), *_middleware(settings)],
        exception_handlers=dict(HANDLERS),
    )


def _mcp_route(assistant: Assistant, confirmations: Confirmations, access: Access) -> McpRoute:
    # Not at the top: who does not want it need not wait for what it imports.
    from edgevox.server.mcp_route import McpRoute

    return McpRoute(assistant.executor, confirmations, access)


def _middleware(settings: ServerSettings) -> list[Middleware]:
    rule = HostRule(settings.host, settings.allowed_hosts, settings.allowed_origins)
    guard = Middleware(
        Guard,
        rule,
        max_bytes=settings.max_body_bytes,
        larger=dict.fromkeys((TRANSCRIPTIONS_PATH, VOICE_PATH), settings.max_audio_bytes),
    )
    if not settings.allowed_origins:
        return [guard]
    pages = Middleware(
        CORSMiddleware,
        allow_origins=settings.allowed_origins,
        allow_methods=["GET", "POST"],
        allow_headers=["*"],
    )
    return [guard, pages]

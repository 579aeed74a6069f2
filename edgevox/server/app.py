"""The Starlette application: the API routes, the web page, the voice socket, MCP, and the middleware."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import BaseRoute, Route, WebSocketRoute

from edgevox.config import ServerSettings
from edgevox.server.assistant import Assistant
from edgevox.server.engine_queues import EngineQueues
from edgevox.server.http.auth import Access
from edgevox.server.http.connections import REQUEST_ID
from edgevox.server.http.errors import HANDLERS
from edgevox.server.http.middleware import (
    CountingMiddleware,
    HostRule,
    PathAliases,
    RequestLimits,
    ShutdownMiddleware,
    normal_origin,
)
from edgevox.server.http.tokens import Tokens
from edgevox.server.routes import ApiRoute, Confirmations, ServerContext, api_routes, document
from edgevox.server.routes.realtime import RealtimeSocket
from edgevox.server.routes.voice import VOICE_PATH, VoiceSocket
from edgevox.server.web.static_files import page_routes
from edgevox.server.websocket.protocol import REALTIME_PATH
from edgevox.server.websocket.session import Clients


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
    routes = api_routes()
    openapi = document(routes)
    server = ServerContext(
        assistant,
        settings,
        queues or EngineQueues(assistant, settings),
        Access(tokens, always_token=settings.always_token),
        Confirmations(assistant, tokens),
        Clients(settings.voice_clients),
        openapi,
        reload,
    )
    served: list[BaseRoute] = [
        *page_routes(),
        WebSocketRoute(VOICE_PATH, VoiceSocket(server).connect),
        WebSocketRoute(REALTIME_PATH, RealtimeSocket(server).connect),
        *(route.route(server) for route in routes),
    ]
    lifespan = None
    if settings.mcp:
        from edgevox.server.mcp import McpRoute  # slow to import, and optional

        toolbox = assistant.dashboard.toolbox if assistant.dashboard else None
        house = toolbox.home.house if toolbox else None
        mcp = McpRoute(assistant.executor, server.confirmations, server.access, house)
        served.append(Route("/mcp", mcp))
        lifespan = mcp.running
    return Starlette(
        routes=served,
        lifespan=lifespan,
        middleware=list(_middleware(server, routes)),
        exception_handlers=dict(HANDLERS),
    )


def _middleware(server: ServerContext, routes: Sequence[ApiRoute]) -> Iterator[Middleware]:
    settings = server.settings
    origins = [normal_origin(origin) for origin in settings.allowed_origins]
    yield Middleware(PathAliases)
    yield Middleware(ShutdownMiddleware)
    yield Middleware(CountingMiddleware, server.answers, server.openapi["paths"])
    yield Middleware(
        RequestLimits,
        HostRule(settings.host, settings.allowed_hosts, origins),
        max_bytes=settings.max_body_bytes,
        larger={route.path: settings.max_audio_bytes for route in routes if route.takes_audio},
    )
    if origins:
        yield Middleware(
            CORSMiddleware,
            allow_origins=origins,
            allow_methods=sorted({route.method for route in routes}),
            allow_headers=["*"],
            expose_headers=[REQUEST_ID, "Retry-After"],
        )

"""The API: a module in this folder lists its routes in a table, `ROUTES`.

An `ApiRoute` declares all of a route beside its handler: path, access rule, body limit and OpenAPI entry.
"""

from __future__ import annotations

import asyncio
import pkgutil
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, TypeAlias

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from edgevox import __version__
from edgevox.agents.tool_loop import Agreement
from edgevox.config import ServerSettings
from edgevox.core.turn import Turn
from edgevox.core.types import JsonObject
from edgevox.dialogue.confirm import ConfirmationDialog, OpenQuestion
from edgevox.models.background import ModelDownloads
from edgevox.server.assistant import Assistant, DashboardData, VoiceSessionFactory
from edgevox.server.chat.responses import ResponseStore
from edgevox.server.engine_queues import EngineQueues
from edgevox.server.http.auth import Access
from edgevox.server.http.errors import ApiError
from edgevox.server.http.tokens import ShortLivedKeys, Tokens
from edgevox.server.websocket.session import Clients
from edgevox.tools.policy import CONFIRM, Caller, PendingConfirmation


class Confirmations:
    """Asks API clients for confirmations, and lists the open questions of the assistant's dialogs too."""

    def __init__(self, assistant: Assistant, tokens: Tokens) -> None:
        self._tokens = tokens
        self._dialogs_of_assistant = assistant.confirmation
        self._dialogs: list[ConfirmationDialog] = []

    async def __call__(self, pending: PendingConfirmation, turn: Turn) -> Agreement:
        """Wait for an answer until the question expires; refuse at once if no token may answer it."""
        is_answerable = self._tokens.has_other(pending.origin, CONFIRM)
        dialog = ConfirmationDialog(channels=frozenset({"api"} if is_answerable else ()))
        self._dialogs.append(dialog)
        try:
            return await dialog(pending, turn)
        finally:
            self._dialogs.remove(dialog)

    def open(self) -> list[OpenQuestion]:
        return [dialog.open for dialog in (*self._dialogs, *self._dialogs_of_assistant()) if dialog.open is not None]


_MOST_EVENT_READERS = 8


@dataclass(frozen=True, slots=True)
class ServerContext:
    """The state that the routes of one server share; `reload` makes the assistant reload the settings file."""

    assistant: Assistant
    settings: ServerSettings
    queues: EngineQueues
    access: Access
    confirmations: Confirmations
    clients: Clients
    openapi: JsonObject
    reload: Callable[[], None] | None
    responses: ResponseStore = field(default_factory=ResponseStore)
    downloads: ModelDownloads = field(default_factory=ModelDownloads)
    realtime_keys: ShortLivedKeys = field(default_factory=ShortLivedKeys)
    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    """Number of responses by path and status."""
    event_readers: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_MOST_EVENT_READERS))
    """Clients of the live event stream."""

    @property
    def dashboard(self) -> DashboardData:
        """The data of the page. Raises ApiError where there are none."""
        if self.assistant.dashboard is None:
            raise ApiError(404, "not_served", "this server has no dashboard")
        return self.assistant.dashboard

    @property
    def session_factory(self) -> VoiceSessionFactory:
        """Makes voice sessions. Raises ApiError where there are none."""
        if self.assistant.session_factory is None:
            raise ApiError(404, "not_served", "this server has no voice sessions")
        return self.assistant.session_factory


Handler: TypeAlias = Callable[[ServerContext, Request, Caller], Awaitable[Response | JsonObject]]

JSON: JsonObject = {"application/json": {"schema": {"type": "object"}}}
EVENTS: JsonObject = {"text/event-stream": {"schema": {}}}
LINES: JsonObject = {"application/x-ndjson": {"schema": {}}}
HISTORY = "history"
"""Scope for past turns."""
ENGINE_ERRORS = (404, 429)
"""Statuses of a route that waits for an engine."""

_REF = "#/components/schemas/{model}"
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
    503: "an engine is restarting, or the machine has a problem (a full disk); see Retry-After",
}
_ALWAYS = (401, 403, 405, 408, 413, 500, 503)
_ERROR = {
    "type": "object",
    "properties": {"error": {"anyOf": [{"type": "object", "required": ["message", "type"]}, {"type": "string"}]}},
    "required": ["error"],
}


@dataclass(frozen=True, slots=True)
class ApiRoute:
    """One method of one path. The token needs `scope`; with `allow_local`, loopback clients need no token.

    `body` is the model of the body, in JSON unless `body_type` says otherwise. `answers` describes the
    content of a 200 response, `errors` lists the statuses that other routes do not have, and `query` has the
    schemas of the query parameters. With `takes_audio`, the body may have the size of an audio file.
    """

    method: str
    path: str
    summary: str
    handler: Handler
    scope: str
    allow_local: bool = False
    body: type[BaseModel] | None = None
    body_type: str = "application/json"
    answers: JsonObject = field(default_factory=lambda: JSON)
    errors: tuple[int, ...] = ()
    query: Mapping[str, JsonObject] = field(default_factory=dict)
    takes_audio: bool = False

    @property
    def documented_path(self) -> str:
        return re.sub(r":\w+}", "}", self.path)

    def route(self, server: ServerContext) -> Route:
        """Return the route with its access rule."""
        authorize = server.access.allow_local if self.allow_local else server.access.require_token

        async def endpoint(request: Request) -> Response:
            answer = await self.handler(server, request, authorize(request, self.scope))
            return answer if isinstance(answer, Response) else JSONResponse(answer)

        return Route(self.path, endpoint, methods=[self.method])

    def operation(self) -> JsonObject:
        """Return the entry of the OpenAPI document."""
        statuses = {*_ALWAYS, *self.errors, *((400, 415) if self.body else ())}
        error = {"application/json": {"schema": {"$ref": _REF.format(model="Error")}}}
        responses: dict[str, Any] = {"200": {"description": "the answer", "content": self.answers}}
        responses |= {str(status): {"description": _MEANINGS[status], "content": error} for status in sorted(statuses)}
        entry: dict[str, Any] = {"summary": self.summary, "responses": responses}
        if self.body is not None:
            content = {self.body_type: {"schema": {"$ref": _REF.format(model=self.body.__name__)}}}
            entry["requestBody"] = {"required": True, "content": content}
        text = {"type": "string"}
        names = re.findall(r"{(\w+)}", self.documented_path)
        parameters = [{"name": name, "in": "path", "required": True, "schema": text} for name in names]
        parameters += [
            {"name": name, "in": "query", "required": False, "schema": schema} for name, schema in self.query.items()
        ]
        return {**entry, "parameters": parameters} if parameters else entry


def api_routes() -> tuple[ApiRoute, ...]:
    """Return the tables of all modules in this folder."""
    names = sorted(module.name for module in pkgutil.iter_modules(__path__, f"{__name__}."))
    return tuple(route for name in names for route in import_module(name).ROUTES)


def document(routes: Sequence[ApiRoute]) -> JsonObject:
    bodies = [route.body for route in routes if route.body is not None]
    _keys, definitions = models_json_schema([(body, "validation") for body in bodies], ref_template=_REF)
    paths: dict[str, dict[str, JsonObject]] = {}
    for route in routes:
        paths.setdefault(route.documented_path, {})[route.method.lower()] = route.operation()
    return {
        "openapi": "3.1.0",
        "info": {"title": "EdgeVox", "version": __version__},
        "paths": paths,
        "components": {
            "schemas": {**definitions.get("$defs", {}), "Error": _ERROR},
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}, {}],
    }

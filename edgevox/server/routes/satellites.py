"""Satellites: list them, mute one, speak on one."""

from __future__ import annotations

from pydantic import Field
from starlette.requests import Request

from edgevox.core.errors import StateError
from edgevox.core.types import JsonObject
from edgevox.server.http.errors import ApiError
from edgevox.server.http.wire import RequestBody, read_body
from edgevox.server.routes import ApiRoute, ServerContext
from edgevox.server.websocket.protocol import TEXT_CHARS
from edgevox.tools.policy import Caller


class MuteBody(RequestBody):
    """Whether the microphone of a satellite is off."""

    is_muted: bool


class SayBody(RequestBody):
    """A sentence to speak."""

    text: str = Field(min_length=1, max_length=TEXT_CHARS, pattern=r"\S")


async def _list(server: ServerContext, _request: Request, _caller: Caller) -> JsonObject:
    return {"object": "list", "data": server.assistant.satellites.report()}


async def _mute(server: ServerContext, request: Request, _caller: Caller) -> JsonObject:
    body = await read_body(request, MuteBody)
    name = _known(server, request)
    try:
        server.assistant.satellites.mute(name, is_muted=body.is_muted)
    except StateError as error:
        raise ApiError(503, error.code, error.message) from None
    return _entry(server, name) or {}


async def _say(server: ServerContext, request: Request, _caller: Caller) -> JsonObject:
    body = await read_body(request, SayBody)
    name = _known(server, request)
    return {"name": name, "is_spoken": bool(await server.assistant.satellites.say(body.text.strip(), name))}


def _known(server: ServerContext, request: Request) -> str:
    name: str = request.path_params["name"]
    if _entry(server, name) is None:
        raise ApiError(404, "satellite_not_found", "there is no satellite with this name")
    return name


def _entry(server: ServerContext, name: str) -> JsonObject | None:
    return next((one for one in server.assistant.satellites.report() if one["name"] == name), None)


ROUTES = (
    ApiRoute("GET", "/v1/satellites", "Satellites and their rooms", _list, "status"),
    ApiRoute(
        "PATCH", "/v1/satellites/{name}", "Mute or unmute a satellite", _mute, "settings", body=MuteBody, errors=(404,)
    ),
    ApiRoute("POST", "/v1/satellites/{name}/say", "Speak on a satellite", _say, "act", body=SayBody, errors=(404,)),
)

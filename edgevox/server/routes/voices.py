"""Routes about the voices: which there are, how one sounds, and which one speaks."""

from __future__ import annotations

import asyncio
import dataclasses

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from edgevox.core.errors import ConfigError, EdgevoxError, ModelError, ModelMissing
from edgevox.core.types import JsonObject
from edgevox.models import open_store
from edgevox.server.assistant import DashboardData
from edgevox.server.http.errors import ApiError, invalid
from edgevox.server.routes import ApiRoute, ServerContext
from edgevox.server.routes.audio import AudioEncoder
from edgevox.tools.policy import Caller
from edgevox.tts.voices import find_voice, list_voices, save_voice


async def _list(server: ServerContext, _request: Request, _caller: Caller) -> JsonObject:
    dashboard = server.dashboard

    def read() -> list[JsonObject]:
        voices = list_voices(dashboard.settings, open_store(dashboard.folders))
        return [{**dataclasses.asdict(voice), "language_name": voice.language_name} for voice in voices]

    return {"object": "list", "data": await asyncio.to_thread(read)}


async def _sample(server: ServerContext, request: Request, _caller: Caller) -> Response:
    speak = server.dashboard.voice_sample
    if speak is None:
        raise ApiError(404, "audio_not_served", "this server does not speak: it was started without audio")
    try:
        sounds = await speak(request.path_params["id"])
    except ConfigError as error:
        raise invalid(error.message) from None
    except ModelMissing as error:
        raise ApiError(404, error.code, error.message) from None
    except EdgevoxError as error:
        raise ApiError(503, error.code, error.message) from None
    if not sounds:
        raise ApiError(503, "no_speech", "the voice said nothing")
    writer = AudioEncoder("wav", sounds[0].rate_hz)
    spoken = [*map(writer.feed, sounds), writer.finish()]
    return Response(b"".join(spoken), media_type="audio/wav")


async def _use(server: ServerContext, request: Request, _caller: Caller) -> Response:
    """Download the voice where necessary, save the choice and reload."""
    dashboard, voice_id = server.dashboard, request.path_params["id"]
    try:
        changed = await asyncio.to_thread(_choose, dashboard, voice_id)
    except ModelMissing:
        raise ApiError(404, "unknown_voice", "there is no such voice: GET /v1/voices lists them") from None
    except ConfigError as error:
        raise invalid(error.message) from None
    except ModelError as error:
        raise ApiError(503, error.code, error.message) from None

    async def reload() -> None:  # a coroutine runs in the event loop; a plain function would run in a thread
        if server.reload is not None:
            server.reload()

    result = {"saved": [changed], "in_force": "soon" if server.reload else "restart"}
    # Sends the response first, because a reload restarts this server.
    return JSONResponse(result, background=BackgroundTask(reload))


def _choose(dashboard: DashboardData, voice_id: str) -> str:
    store = open_store(dashboard.folders)
    voice = find_voice(store.manifest, voice_id)
    store.ensure([voice.id])
    return save_voice(dashboard.settings, dashboard.folders, store.manifest, voice)


ROUTES = (
    ApiRoute("GET", "/v1/voices", "Voices that can be chosen", _list, "settings", errors=(404,)),
    ApiRoute(
        "GET",
        "/v1/voices/{id}/sample",
        "A sentence in a voice",
        _sample,
        "settings",
        errors=(400, 404, 503),
        answers={"audio/wav": {"schema": {"type": "string", "format": "binary"}}},
    ),
    ApiRoute("POST", "/v1/voices/{id}/use", "Choose a voice", _use, "settings", errors=(400, 404, 503)),
)

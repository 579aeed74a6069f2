"""The enrolled people: list, enrol from recordings, recognise, remove. The embeddings themselves are never sent."""

from __future__ import annotations

import asyncio
import base64
import binascii
import datetime as dt
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field
from starlette.requests import Request

from edgevox.agents.speaker_recognition import SpeakerRecognizer
from edgevox.audio.files import decode_audio
from edgevox.core.errors import ConfigError, ModelMissing
from edgevox.core.turn import CancelFlag
from edgevox.core.types import JsonObject
from edgevox.server.http.errors import ApiError, invalid
from edgevox.server.http.wire import RequestBody, read_body
from edgevox.server.routes import ENGINE_ERRORS, ApiRoute, ServerContext
from edgevox.speakers.people import SENTENCES, Person, checked_name
from edgevox.tools.policy import Caller

SCOPE = "people"
_LONGEST_RECORDING_S = 30.0


class EnrolmentBody(RequestBody):
    """A person and recordings of single sentences: audio files in base64, of any format that FFmpeg reads."""

    name: Annotated[str, Field(min_length=1, max_length=40)]
    recordings: Annotated[list[str], Field(min_length=1, max_length=10)]


class RecognitionBody(RequestBody):
    """A recording of a sentence."""

    recording: str


async def _list(server: ServerContext, _request: Request, _caller: Caller) -> JsonObject:
    people = await asyncio.to_thread(_speakers(server).people.all)
    return {"people": [_shown(person) for person in people], "sentences": list(SENTENCES)}


async def _add(server: ServerContext, request: Request, _caller: Caller) -> JsonObject:
    speakers = _speakers(server)
    body = await read_body(request, EnrolmentBody)
    try:
        name = checked_name(body.name)
        embeddings = [await _embedding(speakers, recording, "recordings") for recording in body.recordings]
        return _shown(await asyncio.to_thread(speakers.people.add, name, embeddings))
    except ConfigError as error:
        raise invalid(error.message, param="name") from None


async def _recognise(server: ServerContext, request: Request, _caller: Caller) -> JsonObject:
    speakers = _speakers(server)
    body = await read_body(request, RecognitionBody)
    return {"speaker": speakers.match(await _embedding(speakers, body.recording, "recording"))}


async def _remove(server: ServerContext, request: Request, _caller: Caller) -> JsonObject:
    name = str(request.path_params["name"])
    if not await asyncio.to_thread(_speakers(server).people.remove, name):
        raise ApiError(404, "not_found", f"nobody called {name} is enrolled")
    return {"name": name, "deleted": True}


async def _embedding(speakers: SpeakerRecognizer, recording: str, param: str) -> NDArray[np.float32]:
    try:
        file = base64.b64decode(recording, validate=True)
    except (binascii.Error, ValueError):
        raise invalid("a recording is not in base64", param=param) from None
    audio = await asyncio.to_thread(decode_audio, file, max_s=_LONGEST_RECORDING_S)
    try:
        embedding = await speakers.embed(audio, CancelFlag())
    except ModelMissing as error:
        raise ApiError(404, "model_not_found", f"{error.message}: {error.hint}") from None
    if embedding is None or not len(embedding.vector):
        raise invalid("a recording holds too little speech", param=param)
    return embedding.vector


def _speakers(server: ServerContext) -> SpeakerRecognizer:
    if server.assistant.speakers is None:
        raise ApiError(404, "not_served", "this server does not recognise speakers")
    return server.assistant.speakers


def _shown(person: Person) -> JsonObject:
    added = dt.datetime.fromtimestamp(person.added_s, dt.UTC).isoformat(timespec="seconds")
    return {"name": person.name, "recordings": len(person.embeddings), "added_at": added}


ROUTES = (
    ApiRoute("GET", "/v1/people", "The enrolled people", _list, SCOPE, errors=(404,)),
    ApiRoute(
        "POST", "/v1/people", "Enrol a person", _add, SCOPE, body=EnrolmentBody, takes_audio=True, errors=ENGINE_ERRORS
    ),
    ApiRoute(
        "POST",
        "/v1/people/recognise",
        "Recognise the speaker of a recording",
        _recognise,
        SCOPE,
        body=RecognitionBody,
        takes_audio=True,
        errors=ENGINE_ERRORS,
    ),
    ApiRoute("DELETE", "/v1/people/{name}", "Remove a person", _remove, SCOPE, errors=(404,)),
)

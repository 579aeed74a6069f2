"""The /v1/audio routes and their request bodies, compatible with OpenAI."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias, get_args

from pydantic import Field
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from edgevox.audio.files import decode_audio
from edgevox.config import ServerSettings
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Transcript
from edgevox.dialogue.speech_output import Synthesizer
from edgevox.server.assistant import DEFAULT_NAMES, Assistant
from edgevox.server.audio.streams import (
    MEDIA_TYPES,
    AudioEncoder,
    AudioFormat,
    synthesize_in_turns,
    transcribe_in_turns,
)
from edgevox.server.engine_queues import EngineQueues
from edgevox.server.http.auth import Access, client_key_of
from edgevox.server.http.errors import ApiError, ClientDisconnected, invalid
from edgevox.server.http.wire import RequestBody, cancel_on_disconnect, read_body, sse_response
from edgevox.tts.sentences import SentenceSplitter

TextFormat: TypeAlias = Literal["json", "text", "verbose_json"]
_MAX_FIELDS = 16
_MAX_FIELD_BYTES = 10_000


class SpeechBody(RequestBody):
    """A speech request; `voice` is ignored, because there is one voice."""

    model: str
    input: Annotated[str, Field(min_length=1, max_length=4096)]
    voice: str | dict[str, str] = "default"
    response_format: AudioFormat | None = None
    speed: Annotated[float, Field(ge=0.25, le=4)] = 1.0


@dataclass(frozen=True, slots=True)
class TranscriptionBody:
    """A transcription request."""

    model: str
    content: bytes
    language: str | None
    response_format: TextFormat

    @classmethod
    async def read(cls, request: Request) -> TranscriptionBody:
        """Read the form. Raises ApiError and ClientDisconnected."""
        kind = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
        if kind != "multipart/form-data":
            raise ApiError(415, "unsupported_media_type", "the body must be multipart/form-data")
        try:
            form = await request.form(max_files=1, max_fields=_MAX_FIELDS, max_part_size=_MAX_FIELD_BYTES)
        except ClientDisconnect:
            raise ClientDisconnected from None
        except HTTPException as error:
            raise ApiError(400, "invalid_form", f"the form cannot be read: {error.detail}") from None
        try:
            file, model = form.get("file"), form.get("model")
            language, wanted = form.get("language"), form.get("response_format", "json")
            if not isinstance(file, UploadFile):
                raise invalid("the form has no file", "file")
            if not isinstance(model, str):
                raise invalid("the form has no model", "model")
            if isinstance(language, UploadFile) or (language and not _is_language(language)):
                raise invalid('language must be two or three letters, such as "de"', "language")
            for form_of_text in get_args(TextFormat):
                if wanted == form_of_text:
                    return cls(model, await file.read(), language or None, form_of_text)
        finally:
            await form.close()
        raise invalid(f"response_format must be one of {', '.join(get_args(TextFormat))}", "response_format")


def _is_language(text: str) -> bool:
    return text.isascii() and text.isalpha() and text.islower() and len(text) in (2, 3)


# OpenAI's model names, which many programs hard-code.
_HEARING_NAMES = ("whisper-1", *DEFAULT_NAMES)
_VOICE_NAMES = ("tts-1", "tts-1-hd", *DEFAULT_NAMES)


class AudioRoutes:
    """STT and TTS of one assistant."""

    def __init__(self, assistant: Assistant, queues: EngineQueues, access: Access, settings: ServerSettings) -> None:
        self._assistant = assistant
        self._queues = queues
        self._access = access
        self._settings = settings

    async def transcriptions(self, request: Request) -> Response:
        """POST /v1/audio/transcriptions."""
        caller = self._access.allow_local(request, "audio")
        if self._assistant.transcriber is None:
            raise _not_served("recognise")
        with self._queues.transcriber.place(client_key_of(request, caller)):
            body = await TranscriptionBody.read(request)
            _check(body.model, (self._assistant.stt_model_name, *_HEARING_NAMES))
            audio = await asyncio.to_thread(decode_audio, body.content, max_s=self._settings.max_audio_s)
            transcriber = self._assistant.transcriber(body.language)
            heard = await cancel_on_disconnect(
                request.receive,
                transcribe_in_turns(audio, transcriber, self._queues.transcriber, caller.name),
            )
        text = " ".join(filter(None, (one.text.strip() for one in heard)))
        match body.response_format:
            case "text":
                return PlainTextResponse(text + "\n")
            case "json":
                return JSONResponse({"text": text})
            case "verbose_json":
                language = next((one.language for one in heard if one.language), body.language or "")
                return JSONResponse(
                    {
                        "task": "transcribe",
                        "language": language,
                        "duration": round(audio.duration_s, 3),
                        "text": text,
                        "segments": _segments(heard),
                    }
                )

    async def speech(self, request: Request) -> Response:
        """POST /v1/audio/speech."""
        caller = self._access.allow_local(request, "audio")
        body = await read_body(request, SpeechBody)
        if self._assistant.voice is None:
            raise _not_served("speak")
        _check(body.model, (self._assistant.voice_name, *_VOICE_NAMES))
        if not any(char.isalnum() for char in body.input):
            raise invalid("the text contains nothing to say", "input")
        form = body.response_format or "mp3"
        spoken = self._spoken(self._assistant.voice(body.speed), body.input, form, caller.name)
        # An audio stream has no place for an error: it just ends.
        return await sse_response(request, spoken, lambda _error: b"", media_type=MEDIA_TYPES[form])

    async def _spoken(self, voice: Synthesizer, text: str, form: AudioFormat, who: str) -> AsyncGenerator[bytes, None]:
        splitter = SentenceSplitter()
        writer: AudioEncoder | None = None
        cancel = CancelFlag()
        language = self._assistant.voice_language
        try:
            with self._queues.speaking.place():
                for sentence in (*splitter.feed(text), *splitter.finish()):
                    sounds = synthesize_in_turns(sentence, voice, language, self._queues.speaking, who, cancel)
                    async with aclosing(sounds):
                        async for sound in sounds:
                            writer = writer or AudioEncoder(form, sound.rate_hz)
                            if written := writer.feed(sound):
                                yield written
            if writer is None:
                raise invalid("the text contains nothing to say", "input")
            yield writer.finish()
        finally:
            cancel.set()


def _segments(heard: list[Transcript]) -> list[dict[str, object]]:
    segments: list[dict[str, object]] = []
    start_s = 0.0
    for number, one in enumerate(heard):
        end_s = start_s + one.duration_s
        segments.append({"id": number, "start": start_s, "end": end_s, "text": one.text})
        start_s = end_s
    return segments


def _check(name: str, known: tuple[str, ...]) -> None:
    if name not in known:
        raise ApiError(404, "model_not_found", f"unknown model {name[:64]}; known: {', '.join(known)}", param="model")


def _not_served(what: str) -> ApiError:
    return ApiError(404, "audio_not_served", f"this server does not {what}: it was started without audio")

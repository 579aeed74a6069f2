"""The routes for sound: written down, and spoken."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from edgevox.audio.files import decode_audio
from edgevox.server.access import Access, seeker_of
from edgevox.server.assistant import Assistant
from edgevox.server.audio.bodies import SpeechBody, TranscriptionBody
from edgevox.server.audio.in_turns import heard_in, spoken
from edgevox.server.audio.sound_writer import MEDIA_TYPES, SoundFormat, SoundWriter
from edgevox.server.errors import ApiError, invalid
from edgevox.server.event_stream import streamed
from edgevox.server.gone import unless_gone
from edgevox.server.models import DEFAULT_NAMES
from edgevox.server.queues import Queues
from edgevox.server.wire import read_body
from edgevox.settings import ServerSettings
from edgevox.tts.sentences import SentenceSplitter
from edgevox.turn import CancelFlag
from edgevox.types import Transcript
from edgevox.voice.voice import Voice

# What OpenAI calls its own: many programs cannot name another.
_HEARING_NAMES = ("whisper-1", *DEFAULT_NAMES)
_VOICE_NAMES = ("tts-1", "tts-1-hd", *DEFAULT_NAMES)


class AudioRoutes:
    """Ear and voice of one assistant."""

    def __init__(
        self, assistant: Assistant, queues: Queues, access: Access, settings: ServerSettings
    ) -> None:
        self._assistant = assistant
        self._queues = queues
        self._access = access
        self._settings = settings

    async def transcriptions(self, request: Request) -> Response:
        """POST /v1/audio/transcriptions."""
        caller = self._access.talker(request, "audio")
        if self._assistant.hearing is None:
            raise _not_served("recognise")
        with self._queues.hearing.place(seeker_of(request, caller)):
            body = await TranscriptionBody.read(request)
            _check(body.model, (self._assistant.hearing_name, *_HEARING_NAMES))
            audio = await asyncio.to_thread(decode_audio, body.content, max_s=self._settings.max_audio_s)
            hearing = self._assistant.hearing(body.language)
            heard = await unless_gone(
                request.receive, heard_in(audio, hearing, self._queues.hearing, caller.name)
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
        caller = self._access.talker(request, "audio")
        body = await read_body(request, SpeechBody)
        if self._assistant.voice is None:
            raise _not_served("speak")
        _check(body.model, (self._assistant.voice_name, *_VOICE_NAMES))
        if not any(char.isalnum() for char in body.input):
            raise invalid("there is nothing to say in that text", "input")
        form = body.response_format or "mp3"
        spoken = self._spoken(self._assistant.voice(body.speed), body.input, form, caller.name)
        # Once it sounds, there is no place in it for an error: it just ends.
        return await streamed(request, spoken, lambda _error: b"", media_type=MEDIA_TYPES[form])

    async def _spoken(
        self, voice: Voice, text: str, form: SoundFormat, who: str
    ) -> AsyncGenerator[bytes, None]:
        splitter = SentenceSplitter()
        writer: SoundWriter | None = None
        cancel = CancelFlag()
        language = self._assistant.voice_language
        try:
            with self._queues.speaking.place():
                for sentence in (*splitter.feed(text), *splitter.finish()):
                    sounds = spoken(sentence, voice, language, self._queues.speaking, who, cancel)
                    async with aclosing(sounds):
                        async for sound in sounds:
                            writer = writer or SoundWriter(form, sound.rate_hz)
                            if written := writer.feed(sound):
                                yield written
            if writer is None:
                raise invalid("there is nothing to say in that text", "input")
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
        raise ApiError(
            404, "model_not_found", f"there is no model {name[:64]} here: {', '.join(known)}", param="model"
        )


def _not_served(what: str) -> ApiError:
    return ApiError(404, "audio_not_served", f"this server does not {what}: it was started without audio")

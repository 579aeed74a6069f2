"""OpenAI-compatible routes for transcription and speech, with audio in the formats that clients ask for."""

from __future__ import annotations

import asyncio
import io
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from itertools import accumulate, pairwise
from typing import Annotated, Any, Literal, TypeAlias

import av
from pydantic import ConfigDict, Field, WithJsonSchema
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from edgevox.audio.files import decode_audio
from edgevox.core.types import Audio, JsonObject, Transcript
from edgevox.server.assistant import DEFAULT_NAMES
from edgevox.server.engine_queues import joined_text, synthesize, transcribe_in_turns
from edgevox.server.http.auth import client_key_of
from edgevox.server.http.errors import ApiError, check_model, check_voice, invalid
from edgevox.server.http.wire import (
    Ignored,
    StrictBody,
    cancel_on_disconnect,
    content_type,
    only,
    read_body,
    sse_response,
    validated,
)
from edgevox.server.routes import ENGINE_ERRORS, JSON, ApiRoute, ServerContext
from edgevox.tools.policy import Caller
from edgevox.tts.sentences import SentenceSplitter

AudioFormat: TypeAlias = Literal["mp3", "opus", "aac", "flac", "wav", "pcm"]

# Media type, FFmpeg's names of container and codec, and the rate if the format has a fixed one.
FORMATS: dict[AudioFormat, tuple[str, str, str, int | None]] = {
    "mp3": ("audio/mpeg", "mp3", "libmp3lame", None),
    "opus": ("audio/ogg", "ogg", "libopus", 48_000),
    "aac": ("audio/aac", "adts", "aac", None),
    "flac": ("audio/flac", "flac", "flac", None),
    "wav": ("audio/wav", "wav", "pcm_s16le", None),
    "pcm": ("audio/pcm", "s16le", "pcm_s16le", 24_000),
}


class AudioEncoder:
    """Encodes audio incrementally with FFmpeg; the concatenated output is a file of the format."""

    def __init__(self, form: AudioFormat, rate_hz: int) -> None:
        _media_type, container, codec, fixed_hz = FORMATS[form]
        self._file = _Growing()
        # Every packet is written at once, and without a chunk that names FFmpeg before the samples.
        options = {"flush_packets": "1", "fflags": "+bitexact"}
        self._container = av.open(self._file, "w", format=container, options=options)
        stream = self._container.add_stream(codec, rate=fixed_hz or rate_hz)
        assert isinstance(stream, av.AudioStream)
        stream.layout = "mono"
        self._stream = stream
        self._resampler = av.AudioResampler(format=stream.codec_context.format, layout="mono", rate=stream.rate)
        self._samples = 0

    def feed(self, audio: Audio) -> bytes:
        if len(audio.samples):
            frame = av.AudioFrame.from_ndarray(audio.samples.reshape(1, -1), format="flt", layout="mono")
            frame.sample_rate = audio.rate_hz
            frame.pts = self._samples
            self._samples += len(audio.samples)
            self._mux(frame)
        return self._file.take()

    def finish(self) -> bytes:
        self._mux(None)
        self._container.mux(self._stream.encode(None))
        self._container.close()
        return self._file.take()

    def _mux(self, frame: av.AudioFrame | None) -> None:
        for ready in self._resampler.resample(frame):
            self._container.mux(self._stream.encode(ready))


class _Growing(io.BytesIO):
    """An append-only file, whose content is taken piece by piece."""

    def seekable(self) -> bool:
        return False

    def take(self) -> bytes:
        taken = self.getvalue()
        self.seek(0)
        self.truncate()
        return taken


TextFormat: TypeAlias = Literal["json", "text", "srt", "vtt", "verbose_json"]
_MAX_FIELDS = 16
_MAX_FIELD_BYTES = 10_000


class SpeechBody(StrictBody):
    """A speech request; `voice` is the assistant's own, or one of OpenAI's names for it."""

    model: str
    input: Annotated[str, Field(min_length=1, max_length=4096)]
    voice: str | dict[str, str] = "default"
    response_format: AudioFormat | None = None
    speed: Annotated[float, Field(ge=0.25, le=4)] = 1.0
    stream_format: Annotated[Any, only("audio")] = None
    instructions: Ignored = None


class TranscriptionForm(StrictBody):
    """A transcription request; an empty `language` means detection."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    file: Annotated[UploadFile, WithJsonSchema({"type": "string", "format": "binary"})]
    model: str
    language: Annotated[str, Field(pattern="^([a-z]{2,3})?$")] = ""
    response_format: TextFormat = "json"
    prompt: Ignored = None
    temperature: Ignored = None
    chunking_strategy: Ignored = None
    keywords: Ignored = Field(None, alias="keywords[]")
    stream: Annotated[Any, only("false", "")] = None
    languages: Annotated[Any, only([])] = Field(None, alias="languages[]")
    known_speaker_names: Annotated[Any, only([])] = Field(None, alias="known_speaker_names[]")
    known_speaker_references: Annotated[Any, only([])] = Field(None, alias="known_speaker_references[]")
    include: Annotated[Any, only([])] = Field(None, alias="include[]")
    timestamp_granularities: Annotated[Any, only([], ["segment"])] = Field(None, alias="timestamp_granularities[]")


async def _read_form(request: Request) -> tuple[TranscriptionForm, bytes]:
    """Read the fields and the file. Raises ApiError and ClientDisconnect."""
    if content_type(request) != "multipart/form-data":
        raise ApiError(415, "unsupported_media_type", "the body must be multipart/form-data")
    try:
        async with request.form(max_files=1, max_fields=_MAX_FIELDS, max_part_size=_MAX_FIELD_BYTES) as fields:
            lists = {name: fields.getlist(name) for name in fields if name.endswith("[]")}
            form = validated(TranscriptionForm, {**fields, **lists})
            return form, await form.file.read()
    except HTTPException as error:
        raise ApiError(400, "invalid_form", f"the form cannot be read: {error.detail}") from None


# OpenAI's model names, which many programs hard-code.
_STT_NAMES = ("whisper-1", *DEFAULT_NAMES)
_TTS_NAMES = ("tts-1", "tts-1-hd", *DEFAULT_NAMES)
_NOTHING_TO_SAY = "the text contains nothing to say"


async def _transcribe(server: ServerContext, request: Request, caller: Caller) -> Response | JsonObject:
    assistant, queue = server.assistant, server.queues.transcriber
    if assistant.transcriber is None:
        raise _not_served("recognise")
    with queue.place(client_key_of(request, caller)):
        form, content = await _read_form(request)
        check_model(form.model, (assistant.stt_model_name, *_STT_NAMES))
        audio = await asyncio.to_thread(decode_audio, content, max_s=server.settings.max_audio_s)
        work = transcribe_in_turns(audio, assistant.transcriber(form.language or None), queue, caller.name)
        transcripts = await cancel_on_disconnect(request.receive, work)
    text = joined_text(transcripts)
    match form.response_format:
        case "text":
            return PlainTextResponse(text + "\n")
        case "srt" | "vtt" as form_name:
            return PlainTextResponse(_subtitles(transcripts, form_name))
        case "json":
            return {"text": text}
        case "verbose_json":
            return {
                "task": "transcribe",
                "language": next((one.language for one in transcripts if one.language), form.language),
                "duration": round(audio.duration_s, 3),
                "text": text,
                "segments": _segments(transcripts),
            }


async def _speak(server: ServerContext, request: Request, caller: Caller) -> Response:
    body = await read_body(request, SpeechBody)
    if server.assistant.voice is None:
        raise _not_served("speak")
    check_model(body.model, (server.assistant.voice_name, *_TTS_NAMES))
    check_voice(body.voice, server.assistant.voice_name, "voice")
    if not any(char.isalnum() for char in body.input):
        raise invalid(_NOTHING_TO_SAY, "input")
    form = body.response_format or "mp3"
    splitter = SentenceSplitter()
    sentences = (*splitter.feed(body.input), *splitter.finish())
    key = client_key_of(request, caller)
    sounds = synthesize(server.assistant, server.queues.speaking, sentences, caller.name, body.speed, key)
    pieces, media_type = _encoded(sounds, form), FORMATS[form][0]
    return await sse_response(request, pieces, lambda _error: b"", media_type=media_type, keep_alive=None)


async def _encoded(sounds: AsyncGenerator[Audio, None], form: AudioFormat) -> AsyncGenerator[bytes, None]:
    writer: AudioEncoder | None = None
    async with aclosing(sounds):
        async for sound in sounds:
            writer = writer or AudioEncoder(form, sound.rate_hz)
            if written := writer.feed(sound):
                yield written
    if writer is None:
        raise invalid(_NOTHING_TO_SAY, "input")
    yield writer.finish()


def _segments(transcripts: list[Transcript]) -> list[JsonObject]:
    times_s = pairwise(accumulate((one.duration_s for one in transcripts), initial=0.0))
    return [
        {"id": number, "start": start_s, "end": end_s, "text": one.text}
        for number, (one, (start_s, end_s)) in enumerate(zip(transcripts, times_s, strict=True))
    ]


def _subtitles(transcripts: list[Transcript], form: Literal["srt", "vtt"]) -> str:
    head, mark = ("WEBVTT\n\n", ".") if form == "vtt" else ("", ",")

    def time_text(time_s: float) -> str:
        rest_s, ms = divmod(round(time_s * 1000), 1000)
        return f"{rest_s // 3600:02}:{rest_s // 60 % 60:02}:{rest_s % 60:02}{mark}{ms:03}"

    spoken = [segment for segment in _segments(transcripts) if segment["text"]]
    return head + "\n".join(
        f"{number}\n{time_text(segment['start'])} --> {time_text(segment['end'])}\n{segment['text'].strip()}\n"
        for number, segment in enumerate(spoken, 1)
    )


def _not_served(what: str) -> ApiError:
    return ApiError(404, "audio_not_served", f"this server does not {what}: it was started without audio")


_audio_route = partial(ApiRoute, "POST", scope="audio", allow_local=True, errors=ENGINE_ERRORS)
ROUTES = (
    _audio_route(
        "/v1/audio/speech",
        "Text to speech",
        _speak,
        body=SpeechBody,
        answers={kind: {"schema": {"type": "string", "format": "binary"}} for kind, *_ in FORMATS.values()},
    ),
    _audio_route(
        "/v1/audio/transcriptions",
        "Speech to text",
        _transcribe,
        body=TranscriptionForm,
        body_type="multipart/form-data",
        answers={**JSON, "text/plain": {"schema": {"type": "string"}}},
        takes_audio=True,
    ),
)

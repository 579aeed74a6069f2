"""OpenAI-compatible transcription and speech routes, and audio streams in the formats that clients ask for."""

from __future__ import annotations

import asyncio
import io
import struct
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias, get_args

import av
import numpy as np
from pydantic import Field
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response

from edgevox.audio.dsp import Resampler
from edgevox.audio.files import decode_audio
from edgevox.config import ServerSettings
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, Transcript
from edgevox.dialogue.speech_output import Synthesizer
from edgevox.dialogue.transcriber import Transcriber
from edgevox.server.assistant import DEFAULT_NAMES, Assistant
from edgevox.server.engine_queues import EngineQueue, EngineQueues
from edgevox.server.http.auth import Access, client_key_of
from edgevox.server.http.errors import ApiError, ClientDisconnected, invalid
from edgevox.server.http.wire import RequestBody, cancel_on_disconnect, read_body, sse_response
from edgevox.tts.sentences import SentenceSplitter

MAX_PIECE_S = 28.0
"""Whisper processes up to 30 s at once and cannot be interrupted."""

_SEARCHED_S = 6.0
_BLOCK_S = 0.05


def split_at_pauses(audio: Audio, max_s: float = MAX_PIECE_S) -> Iterator[Audio]:
    """Split audio without loss into pieces of at most `max_s`."""
    rate, samples = audio.rate_hz, audio.samples
    longest, searched = int(max_s * rate), int(min(_SEARCHED_S, max_s / 2) * rate)
    start = 0
    while len(samples) - start > longest:
        cut = start + longest - searched + _quietest(samples[start + longest - searched : start + longest], rate)
        yield Audio(samples[start:cut], rate)
        start = cut
    yield Audio(samples[start:], rate)


def _quietest(samples: np.typing.NDArray[np.float32], rate_hz: int) -> int:
    """Return the middle of the quietest block."""
    block = max(1, int(_BLOCK_S * rate_hz))
    blocks = samples[: len(samples) // block * block].reshape(-1, block)
    return int(np.argmin(np.square(blocks).sum(axis=1))) * block + block // 2


async def transcribe_in_turns(audio: Audio, transcriber: Transcriber, queue: EngineQueue, who: str) -> list[Transcript]:
    """Transcribe audio piece by piece, releasing the queue in between. Raises EngineFailed."""
    cancel = CancelFlag()
    try:
        heard = []
        for piece in split_at_pauses(audio):
            async with queue.turn(who):
                heard.append(await transcriber.transcribe(piece, cancel))
        return heard
    finally:
        cancel.set()


async def synthesize_in_turns(
    sentence: str, voice: Synthesizer, language: str, queue: EngineQueue, who: str, cancel: CancelFlag
) -> AsyncGenerator[Audio, None]:
    """Synthesize one sentence. Raises EngineFailed and ModelError."""
    async with queue.turn(who), aclosing(voice.speak(sentence, cancel, language)) as sounds:
        async for sound in sounds:
            yield sound


AudioFormat: TypeAlias = Literal["mp3", "opus", "aac", "flac", "wav", "pcm"]

MEDIA_TYPES: dict[AudioFormat, str] = {
    "mp3": "audio/mpeg",
    "opus": "audio/ogg",
    "aac": "audio/aac",
    "flac": "audio/flac",
    "wav": "audio/wav",
    "pcm": "audio/pcm",
}
_PCM_HZ = 24_000
_OPUS_HZ = 48_000
_INT16_MAX = 32_767
_UNKNOWN_SIZE = 0xFFFF_FFFF
# FFmpeg's names of container and codec.
_ENCODERS = {"mp3": ("mp3", "libmp3lame"), "opus": ("ogg", "libopus"), "aac": ("adts", "aac"), "flac": ("flac", "flac")}


class AudioEncoder:
    """Encodes audio incrementally; the concatenated output is a file of the format."""

    def __init__(self, form: AudioFormat, rate_hz: int) -> None:
        to_hz = {"pcm": _PCM_HZ, "opus": _OPUS_HZ}.get(form, rate_hz)
        self._resampler = Resampler(rate_hz, to_hz)
        self._encoder = _Encoder(*_ENCODERS[form], to_hz) if form in _ENCODERS else None
        self._head = _wav_head(to_hz) if form == "wav" else b""

    def feed(self, audio: Audio) -> bytes:
        return self._written(self._resampler.feed(audio.samples))

    def finish(self) -> bytes:
        rest = self._written(self._resampler.finish())
        return rest + (self._encoder.finish() if self._encoder else b"")

    def _written(self, samples: np.typing.NDArray[np.float32]) -> bytes:
        plain = np.rint(np.clip(samples, -1.0, 1.0) * _INT16_MAX).astype("<i2")
        if self._encoder is not None:
            return self._encoder.feed(plain)
        head, self._head = self._head, b""
        return head + plain.tobytes()


class _Encoder:
    """FFmpeg writing into a buffer that is emptied after every piece."""

    def __init__(self, container: str, codec: str, rate_hz: int) -> None:
        self._file = _Growing()
        self._container = av.open(self._file, "w", format=container)
        stream = self._container.add_stream(codec, rate=rate_hz)
        assert isinstance(stream, av.AudioStream)
        stream.layout = "mono"
        self._stream = stream
        self._rate_hz = rate_hz
        self._resampler = av.AudioResampler(format=stream.codec_context.format, layout="mono", rate=rate_hz)
        self._at = 0

    def feed(self, samples: np.typing.NDArray[np.int16]) -> bytes:
        if len(samples):
            frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
            frame.sample_rate = self._rate_hz
            frame.pts = self._at
            self._at += len(samples)
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


class _Growing(io.RawIOBase):
    """A write-only, append-only file."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        piece = bytes(memoryview(data))  # type: ignore[arg-type]  # FFmpeg gives a buffer
        self._pieces.append(piece)
        return len(piece)

    def take(self) -> bytes:
        taken, self._pieces = b"".join(self._pieces), []
        return taken


def _wav_head(rate_hz: int) -> bytes:
    # The length is unknown: use the size that players expect of a stream.
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate_hz, 2 * rate_hz, 2, 16)
    return struct.pack("<4sI4s", b"RIFF", _UNKNOWN_SIZE, b"WAVE") + form + struct.pack("<4sI", b"data", _UNKNOWN_SIZE)


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
                request.receive, transcribe_in_turns(audio, transcriber, self._queues.transcriber, caller.name)
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

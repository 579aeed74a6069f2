"""One turn without a WebSocket: a text or a sound in a request, and the frames as server-sent events."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import TypeAlias

from pydantic import Field
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from edgevox.agents.confirm import Confirm
from edgevox.audio.files import decode_audio
from edgevox.errors import EdgevoxError
from edgevox.events import Event
from edgevox.remote.pcm import pcm
from edgevox.server.access import Access, seeker_of
from edgevox.server.assistant import Assistant
from edgevox.server.claims import Seeker
from edgevox.server.errors import ApiError
from edgevox.server.event_stream import event, streamed
from edgevox.server.gone import ClientGone
from edgevox.server.queues import Queues
from edgevox.server.voice.client_frames import TEXT_CHARS
from edgevox.server.voice.line import Line, Switchboard
from edgevox.server.voice.socket_ear import SocketEar
from edgevox.server.voice.telling import Tell, Telling
from edgevox.server.voice.voice_socket import VOICE
from edgevox.server.wire import Wire, read_body
from edgevox.tools.scopes import Caller
from edgevox.turn import CancelFlag, Turn
from edgevox.types import WHISPER_RATE_HZ, Audio, JsonObject
from edgevox.voice import Pipeline

Asked: TypeAlias = str | Audio

_LONGEST_S = 60.0


class VoiceTurnBody(Wire):
    """A turn in words."""

    text: str = Field(min_length=1, max_length=TEXT_CHARS, pattern=r"\S")


class VoiceTurnRoute:
    """POST /v1/voice of one assistant."""

    def __init__(self, assistant: Assistant, queues: Queues, access: Access, confirm: Confirm) -> None:
        self._assistant = assistant
        self._queues = queues
        self._access = access
        self._confirm = confirm

    async def answer(self, request: Request) -> Response:
        caller = self._access.actor(request, VOICE)
        board = self._assistant.switchboard
        if board is None:
            raise ApiError(404, "not_served", "this server has no conversation to offer")
        asked = await _asked(request, board)
        is_aloud = board.speaks and request.query_params.get("speak") != "false"
        pieces = self._pieces(board, caller, asked, is_aloud, seeker_of(request, caller))
        return await streamed(request, pieces, lambda error: event(error.as_openai(), "error"))

    async def _pieces(
        self, board: Switchboard, caller: Caller, asked: Asked, is_aloud: bool, seeker: Seeker | None
    ) -> AsyncGenerator[bytes, None]:
        frames: asyncio.Queue[JsonObject | None] = asyncio.Queue()
        telling = Telling(frames.put_nowait, self._assistant.keep)

        def publish(happened: Event) -> None:
            telling(happened)
            self._queues.hear(happened)

        loudspeaker = StreamedLoudspeaker(frames.put_nowait, lambda: telling.turn_id) if is_aloud else None
        nothing = SocketEar(WHISPER_RATE_HZ, longest_pause_s=0.0)
        line = Line(nothing, loudspeaker, caller, publish, self._confirm)
        with self._queues.model.place(seeker):
            async with board.open(line) as loop:
                answering = asyncio.create_task(_answered(loop.pipeline, asked))
                answering.add_done_callback(lambda _done: frames.put_nowait(None))
                try:
                    while (frame := await frames.get()) is not None:
                        yield event(frame, frame["type"])
                finally:
                    answering.cancel()
                    await asyncio.gather(answering, return_exceptions=True)


class StreamedLoudspeaker:
    """What is sent counts as heard."""

    def __init__(self, tell: Tell, turn_id: Callable[[], str | None]) -> None:
        self.heard_s = 0.0
        self._tell = tell
        self._turn_id = turn_id
        self._passages = 0

    def duck(self, is_ducked: bool) -> None:
        """Nobody speaks over it."""

    async def play(
        self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None] = lambda: None
    ) -> None:
        self.heard_s = 0.0
        rate_hz = samples = 0
        async for chunk in chunks:
            if cancel.is_set():
                break
            if chunk.rate_hz != rate_hz:
                self._end(samples)
                rate_hz, samples = chunk.rate_hz, 0
                self._passages += 1
                self._frame("audio_begin", turn_id=self._turn_id(), rate_hz=rate_hz)
            if not self.heard_s:
                on_start()
            self._frame("audio", pcm16=base64.b64encode(pcm(chunk.samples)).decode())
            samples += len(chunk.samples)
            self.heard_s += chunk.duration_s
        self._end(samples)

    def _end(self, samples: int) -> None:
        if samples:
            self._frame("audio_end", samples=samples)

    def _frame(self, kind: str, **facts: object) -> None:
        self._tell({"type": kind, "passage": self._passages, **facts})


async def _answered(pipeline: Pipeline, asked: Asked) -> None:
    try:
        if isinstance(asked, str):
            await pipeline.answer(asked, Turn())
        else:
            await pipeline.hear(asked, Turn(), last_voiced_s=time.monotonic())
    except EdgevoxError:
        return  # its `done` has said what happened


async def _asked(request: Request, board: Switchboard) -> Asked:
    """What the request asks. Raises ApiError, AudioError and ClientGone."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
    if not kind.startswith("audio/"):
        return (await read_body(request, VoiceTurnBody)).text.strip()
    if not board.listens:
        raise ApiError(
            404, "audio_not_served", "this server does not recognise: it was started without audio"
        )
    try:
        content = await request.body()
    except ClientDisconnect:
        raise ClientGone from None
    return await asyncio.to_thread(decode_audio, content, max_s=_LONGEST_S)

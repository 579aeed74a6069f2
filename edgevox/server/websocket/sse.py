"""Voice without a WebSocket: one turn per POST, and the live event stream, both as server-sent events."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import TypeAlias

from pydantic import Field
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from edgevox.agents.tool_loop import Confirm
from edgevox.audio.files import decode_audio
from edgevox.core.errors import EdgevoxError
from edgevox.core.events import Bus, Event
from edgevox.core.turn import CancelFlag, Turn
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, JsonObject, to_pcm16
from edgevox.dialogue import Pipeline
from edgevox.server.assistant import Assistant, VoiceSession, VoiceSessionFactory
from edgevox.server.engine_queues import EngineQueues
from edgevox.server.http.auth import Access, client_key_of
from edgevox.server.http.errors import ApiError, ClientDisconnected
from edgevox.server.http.wire import RequestBody, read_body, sse_event, sse_response
from edgevox.server.scheduling import ClientKey
from edgevox.server.web.dashboard import HISTORY
from edgevox.server.websocket.audio import WebSocketAudioSource
from edgevox.server.websocket.endpoint import VOICE
from edgevox.server.websocket.protocol import TEXT_CHARS, SendFrame, SessionObserver
from edgevox.tools.policy import Caller

Question: TypeAlias = str | Audio

_LONGEST_S = 60.0


class VoiceTurnBody(RequestBody):
    """A typed turn."""

    text: str = Field(min_length=1, max_length=TEXT_CHARS, pattern=r"\S")


class VoiceTurnRoute:
    """POST /v1/voice of one assistant."""

    def __init__(self, assistant: Assistant, queues: EngineQueues, access: Access, confirm: Confirm) -> None:
        self._assistant = assistant
        self._queues = queues
        self._access = access
        self._confirm = confirm

    async def answer(self, request: Request) -> Response:
        caller = self._access.require_token(request, VOICE)
        factory = self._assistant.session_factory
        if factory is None:
            raise ApiError(404, "not_served", "this server has no voice sessions")
        question = await _read_question(request, factory)
        is_aloud = factory.speaks and request.query_params.get("speak") != "false"
        pieces = self._pieces(factory, caller, question, is_aloud, client_key_of(request, caller))
        return await sse_response(request, pieces, lambda error: sse_event(error.as_openai(), "error"))

    async def _pieces(
        self,
        factory: VoiceSessionFactory,
        caller: Caller,
        question: Question,
        is_aloud: bool,
        client_key: ClientKey | None,
    ) -> AsyncGenerator[bytes, None]:
        frames: asyncio.Queue[JsonObject | None] = asyncio.Queue()
        observer = SessionObserver(frames.put_nowait, self._assistant.keep)

        def publish(happened: Event) -> None:
            observer(happened)
            self._queues.on_event(happened)

        loudspeaker = StreamedLoudspeaker(frames.put_nowait, lambda: observer.turn_id) if is_aloud else None
        nothing = WebSocketAudioSource(SAMPLE_RATE_HZ, longest_pause_s=0.0)
        line = VoiceSession(nothing, loudspeaker, caller, publish, self._confirm)
        with self._queues.model.place(client_key):
            async with factory.open(line) as loop:
                answering = asyncio.create_task(_answer(loop.pipeline, question))
                answering.add_done_callback(lambda _done: frames.put_nowait(None))
                try:
                    while (frame := await frames.get()) is not None:
                        yield sse_event(frame, frame["type"])
                finally:
                    answering.cancel()
                    await asyncio.gather(answering, return_exceptions=True)


class StreamedLoudspeaker:
    """A loudspeaker whose audio counts as played when it is sent."""

    def __init__(self, send_frame: SendFrame, turn_id: Callable[[], str | None]) -> None:
        self.heard_s = 0.0
        self._send_frame = send_frame
        self._turn_id = turn_id
        self._passages = 0

    def duck(self, is_ducked: bool) -> None:
        """Without effect: there is no barge-in."""

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
            self._frame("audio", pcm16=base64.b64encode(to_pcm16(chunk.samples)).decode())
            samples += len(chunk.samples)
            self.heard_s += chunk.duration_s
        self._end(samples)

    def _end(self, samples: int) -> None:
        if samples:
            self._frame("audio_end", samples=samples)

    def _frame(self, kind: str, **facts: object) -> None:
        self._send_frame({"type": kind, "passage": self._passages, **facts})


async def _answer(pipeline: Pipeline, question: Question) -> None:
    try:
        if isinstance(question, str):
            await pipeline.answer(question, Turn())
        else:
            await pipeline.hear(question, Turn(), last_voiced_s=time.monotonic())
    except EdgevoxError:
        return  # the `done` event reported the error


async def _read_question(request: Request, factory: VoiceSessionFactory) -> Question:
    """Read the request, text or audio. Raises ApiError, AudioError and ClientDisconnected."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().casefold()
    if not kind.startswith("audio/"):
        return (await read_body(request, VoiceTurnBody)).text.strip()
    if not factory.listens:
        raise ApiError(404, "audio_not_served", "this server has no STT: it was started without audio")
    try:
        content = await request.body()
    except ClientDisconnect:
        raise ClientDisconnected from None
    return await asyncio.to_thread(decode_audio, content, max_s=_LONGEST_S)


_MOST_READERS = 8
_STILL_HERE_S = 15.0


class EventsRoute:
    """GET /v1/events of one assistant."""

    def __init__(self, assistant: Assistant, access: Access, *, still_here_s: float = _STILL_HERE_S) -> None:
        self._assistant = assistant
        self._access = access
        self._still_here_s = still_here_s
        self._readers = 0

    async def listen(self, request: Request) -> Response:
        self._access.require_token(request, HISTORY)
        factory = self._assistant.session_factory
        if factory is None:
            raise ApiError(404, "not_served", "this server has no local events")
        await request.body()  # empty; the next message is the disconnect
        pieces = self._pieces(factory.bus)
        return await sse_response(request, pieces, lambda error: sse_event(error.as_openai(), "error"))

    async def _pieces(self, bus: Bus) -> AsyncGenerator[bytes, None]:
        if self._readers >= _MOST_READERS:
            raise ApiError(
                429, "queue_full", f"{_MOST_READERS} clients read the events already", headers={"Retry-After": "5"}
            )
        frames: list[JsonObject] = []
        observer = SessionObserver(frames.append, lambda _record: None)
        self._readers += 1
        try:
            with bus.subscription() as events:
                observer.begin()
                while True:
                    for frame in frames:
                        yield sse_event(frame, frame["type"])
                    frames.clear()
                    try:
                        async with asyncio.timeout(self._still_here_s):
                            observer(await events.next())
                    except TimeoutError:
                        yield b": still here\n\n"
        finally:
            self._readers -= 1

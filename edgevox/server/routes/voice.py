"""Voice over HTTP: the WebSocket at /v1/voice, and for scripts one turn per POST and the live event stream."""

from __future__ import annotations

import asyncio
import base64
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import ExitStack, aclosing, suppress
from typing import TypeAlias

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from edgevox.audio.files import decode_audio
from edgevox.core.errors import EdgevoxError
from edgevox.core.events import Event
from edgevox.core.turn import CancelFlag, Turn, background_task
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, JsonObject, to_pcm16
from edgevox.dialogue import Pipeline
from edgevox.server.assistant import VoiceSession, VoiceSessionFactory
from edgevox.server.http.auth import client_key_of
from edgevox.server.http.errors import ApiError
from edgevox.server.http.wire import RequestBody, content_type, read_body, sse_event, sse_response
from edgevox.server.routes import ENGINE_ERRORS, EVENTS, HISTORY, ApiRoute, ServerContext
from edgevox.server.websocket import protocol
from edgevox.server.websocket.audio import WebSocketAudioSource
from edgevox.server.websocket.session import ClientSession, Incoming
from edgevox.tools.policy import CONFIRM, Caller

VOICE_PATH = "/v1/voice"
VOICE = "voice"
"""Scope for voice sessions."""

HELLO_WITHIN_S = 5.0
GOODBYE_S = 1.0
_MOST_UNKNOWN = 16


class VoiceSocket:
    """The WebSocket of one server: hello, authentication, and closing."""

    def __init__(self, server: ServerContext) -> None:
        self._server = server
        self._unknown = 0
        """Number of connections that have not sent a hello yet."""

    async def connect(self, socket: WebSocket) -> None:
        await socket.accept()
        try:
            await self._converse(socket)
        except WebSocketDisconnect:
            return
        except protocol.CloseConnection as cut:
            await _close(socket, cut)
        except asyncio.CancelledError:
            return  # the server shuts down
        except BaseException:
            await _close(socket, protocol.CloseConnection(protocol.CloseCode.FAULT, "this is a bug in EdgeVox"))
            raise

    async def _converse(self, socket: WebSocket) -> None:
        async with aclosing(incoming_frames(socket)) as incoming:
            hello, caller = await self._greeted(socket, incoming)
            assistant, queues, confirm = self._server.assistant, self._server.queues, self._server.confirmations
            factory = assistant.session_factory
            if factory is None:
                raise protocol.CloseConnection(protocol.CloseCode.NO_PLACE, "this server has no voice sessions")
            with self._server.clients.place(caller.name, hello.satellite) as place:
                session = ClientSession(assistant, factory, queues, confirm, caller=caller, place=place, hello=hello)
                await session.run(incoming, lambda frame: send_frame(socket, frame))

    async def _greeted(self, socket: WebSocket, incoming: Incoming) -> tuple[protocol.Hello, Caller]:
        if self._unknown >= _MOST_UNKNOWN:
            raise protocol.CloseConnection(protocol.CloseCode.NO_PLACE, "too many new connections")
        self._unknown += 1
        try:
            async with asyncio.timeout(HELLO_WITHIN_S):
                first = await anext(incoming, None)
        except TimeoutError:
            raise protocol.CloseConnection(protocol.CloseCode.NO_HELLO, "no hello frame received") from None
        finally:
            self._unknown -= 1
        if first is None:
            raise WebSocketDisconnect
        if isinstance(first, bytes):
            raise protocol.invalid_frame("the first frame is hello, not sound")
        hello = protocol.read_hello(first)
        try:
            return hello, self._server.access.require_token(socket, VOICE, token=hello.token)
        except ApiError as error:
            code = protocol.CloseCode.LACKS_SCOPE if error.status == 403 else protocol.CloseCode.UNKNOWN_TOKEN
            raise protocol.CloseConnection(code, error.message) from None


async def incoming_frames(socket: WebSocket) -> Incoming:
    """Yield the client's frames until it disconnects."""
    while (message := await socket.receive())["type"] != "websocket.disconnect":
        text = message.get("text")
        yield text if text is not None else message["bytes"]


async def send_frame(socket: WebSocket, frame: str | bytes) -> None:
    """Raises WebSocketDisconnect."""
    try:
        await (socket.send_text(frame) if isinstance(frame, str) else socket.send_bytes(frame))
    except RuntimeError as error:
        # uvicorn has closed the connection because of an invalid frame, which the reader is yet to see.
        raise WebSocketDisconnect from error


async def _close(socket: WebSocket, cut: protocol.CloseConnection) -> None:
    # A client that does not read cannot get a close frame: the connection just ends.
    with suppress(TimeoutError, WebSocketDisconnect, RuntimeError):
        async with asyncio.timeout(GOODBYE_S):
            await socket.send_json({"type": "error", "code": cut.code.name.lower(), "message": cut.message})
            await socket.close(cut.code, cut.reason)


Question: TypeAlias = str | Audio

_LONGEST_S = 60.0


class VoiceTurnBody(RequestBody):
    """A typed turn."""

    text: str = Field(min_length=1, max_length=protocol.TEXT_CHARS, pattern=r"\S")


async def _voice_turn(server: ServerContext, request: Request, caller: Caller) -> Response:
    factory = server.session_factory
    question = await _read_question(request, factory)
    return await sse_response(request, _turn_events(server, request, caller, factory, question), _format_error)


async def _turn_events(
    server: ServerContext, request: Request, caller: Caller, factory: VoiceSessionFactory, question: Question
) -> AsyncGenerator[bytes, None]:
    frames: asyncio.Queue[JsonObject | None] = asyncio.Queue()
    observer = protocol.SessionObserver(frames.put_nowait, server.assistant.keep)

    def publish(event: Event) -> None:
        observer(event)
        server.queues.on_event(event)

    is_aloud = factory.speaks and request.query_params.get("speak") != "false"
    loudspeaker = StreamedLoudspeaker(frames.put_nowait, lambda: observer.turn_id) if is_aloud else None
    microphone = WebSocketAudioSource(SAMPLE_RATE_HZ, longest_pause_s=0.0)  # silent
    session = VoiceSession(microphone, loudspeaker, caller, publish, server.confirmations)
    with server.queues.model.place(client_key_of(request, caller)):
        async with factory.open(session) as loop, background_task(_answer(loop.pipeline, question)) as answering:
            answering.add_done_callback(lambda _done: frames.put_nowait(None))
            while (frame := await frames.get()) is not None:
                yield sse_event(frame, frame["type"])


class StreamedLoudspeaker:
    """A loudspeaker whose audio counts as played when it is sent."""

    def __init__(self, send_frame: protocol.SendFrame, turn_id: Callable[[], str | None]) -> None:
        self.heard_s = 0.0
        self._send_frame = send_frame
        self._turn_id = turn_id
        self._passages = 0

    def duck(self, is_ducked: bool) -> None:
        """Without effect: there is no barge-in."""

    def hold(self, is_held: bool) -> None:
        """Without effect, likewise."""

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
    """Read the request, text or audio. Raises ApiError, AudioError and ClientDisconnect."""
    if not content_type(request).startswith("audio/"):
        return (await read_body(request, VoiceTurnBody)).text.strip()
    if not factory.listens:
        raise ApiError(404, "audio_not_served", "this server has no STT: it was started without audio")
    return await asyncio.to_thread(decode_audio, await request.body(), max_s=_LONGEST_S)


async def _events(server: ServerContext, request: Request, caller: Caller) -> Response:
    factory = server.session_factory
    await request.body()  # empty; the next message is the disconnect
    return await sse_response(request, _live_events(server, factory, caller), _format_error)


async def _live_events(
    server: ServerContext, factory: VoiceSessionFactory, caller: Caller
) -> AsyncGenerator[bytes, None]:
    if server.event_readers.locked():
        raise ApiError(429, "queue_full", "too many clients read the events already", headers={"Retry-After": "5"})
    frames: list[JsonObject] = []
    observer = protocol.SessionObserver(frames.append, lambda _record: None)
    async with server.event_readers:
        with factory.bus.subscription() as events, ExitStack() as during:
            if caller.may(CONFIRM) and (dialog := server.assistant.local_confirmation()) is not None:
                during.enter_context(dialog.answerable("api"))  # the questions of delayed commands
            observer.begin()
            while True:
                for frame in frames:
                    yield sse_event(frame, frame["type"])
                frames.clear()
                observer(await events.next())


def _format_error(error: ApiError) -> bytes:
    return sse_event(error.as_openai(), "error")


ROUTES = (
    ApiRoute(
        "POST",
        VOICE_PATH,
        "One turn as server-sent events",
        _voice_turn,
        VOICE,
        body=VoiceTurnBody,
        answers=EVENTS,
        errors=ENGINE_ERRORS,
        query={"speak": {"enum": ["true", "false"]}},
        takes_audio=True,
    ),
    ApiRoute("GET", "/v1/events", "Live events", _events, HISTORY, answers=EVENTS, errors=(404, 429)),
)

"""The conversation with one client: what it sends is heard, read and answered until it goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextlib import ExitStack
from typing import Any, TypeAlias, assert_never

from edgevox.agents.confirm import Agreement, Confirm
from edgevox.errors import EdgevoxError, ToolDenied
from edgevox.events import Event, SpeechDropped
from edgevox.server.assistant import Assistant
from edgevox.server.queues import Queues
from edgevox.server.voice.allowance import Allowance
from edgevox.server.voice.client_frames import (
    FRAME_BYTES,
    TEXT_CHARS,
    VERSION,
    Answered,
    AudioEnd,
    ClientFrame,
    Hello,
    Ping,
    Played,
    Stop,
    Typed,
    read_frame,
)
from edgevox.server.voice.clients import Place
from edgevox.server.voice.closing import CloseCode, CutOff, not_understood
from edgevox.server.voice.event_frames import shared_frame_of
from edgevox.server.voice.line import Line, Switchboard
from edgevox.server.voice.outbox import Outbox, Send
from edgevox.server.voice.socket_ear import SocketEar
from edgevox.server.voice.socket_loudspeaker import AHEAD_S, SocketLoudspeaker
from edgevox.server.voice.telling import Telling
from edgevox.tools.scopes import CONFIRM, Caller
from edgevox.turn import Turn
from edgevox.types import JsonObject
from edgevox.voice import Pipeline

Incoming: TypeAlias = AsyncGenerator[str | bytes, None]

BURST_S = 5.0
# A clock there may be faster than ours.
_SOUND_PER_S = 1.05
_TEXTS_PER_S, _TEXTS_AT_ONCE = 50, 200
_FRAMES_PER_S, _FRAMES_AT_ONCE = 400, 2_000
_MOST_TYPED = 3


class Talk:
    """One client, whose `caller` is known. `confirm` asks somebody else, where the client may not agree."""

    def __init__(
        self,
        assistant: Assistant,
        board: Switchboard,
        queues: Queues,
        confirm: Confirm,
        *,
        caller: Caller,
        place: Place,
        hello: Hello,
    ) -> None:
        self._assistant = assistant
        self._board = board
        self._queues = queues
        self._caller = caller
        self._place = place
        self._hello = hello
        self._may_confirm = caller.may(CONFIRM)
        self._outbox = Outbox()
        self._ear = SocketEar(hello.rate_hz, longest_pause_s=board.longest_pause_s)
        self._telling = Telling(self._outbox.tell, assistant.keep, may_answer=self._may_confirm)
        self._loudspeaker: SocketLoudspeaker | None = None
        if board.speaks and hello.speak:
            self._loudspeaker = SocketLoudspeaker(
                self._outbox, hello.play_rate_hz, lambda: self._telling.turn_id
            )
        self._line = Line(
            self._ear,
            self._loudspeaker,
            caller,
            self._publish,
            None if self._may_confirm else confirm,
            self._telling.heard,
            duplex="half" if hello.hears_itself else "device",
        )
        self._typed: asyncio.Queue[str] = asyncio.Queue(_MOST_TYPED)
        self._sound = Allowance(per_s=_SOUND_PER_S, burst=BURST_S)
        self._texts = Allowance(per_s=_TEXTS_PER_S, burst=_TEXTS_AT_ONCE)
        self._frames = Allowance(per_s=_FRAMES_PER_S, burst=_FRAMES_AT_ONCE)

    async def run(self, incoming: Incoming, send: Send) -> None:
        """Until `incoming` ends. Raises CutOff, and what `send` raises."""
        async with self._board.open(self._line) as loop:
            with ExitStack() as during:
                during.enter_context(self._board.bus.listening(self._tell_shared))
                if self._may_confirm:
                    during.enter_context(loop.pipeline.asking.answerable("keyboard"))
                self._outbox.tell(self._greeting())
                self._telling.begin()
                try:
                    await _until_first(
                        self._read(incoming, loop.pipeline),
                        self._outbox.run(send),
                        loop.run() if self._board.listens else _rest(loop.pipeline),
                        self._answer_typed(loop.pipeline),
                        self._place.lost(),
                    )
                finally:
                    # Whoever was speaking will not go on: programs need not wait for them.
                    self._queues.hear(SpeechDropped(reason="gone"))

    def _greeting(self) -> JsonObject:
        return {
            "type": "hello",
            "version": VERSION,
            "client": self._place.name,
            "preset": self._assistant.name,
            "listens": self._board.listens,
            "speaks": self._loudspeaker is not None,
            "rate_hz": self._hello.rate_hz,
            "play_rate_hz": self._hello.play_rate_hz,
            "may_confirm": self._may_confirm,
            "limits": {
                "frame_bytes": FRAME_BYTES,
                "burst_s": BURST_S,
                "ahead_s": AHEAD_S,
                "text_chars": TEXT_CHARS,
            },
        }

    def _publish(self, event: Event) -> None:
        self._telling(event)
        self._queues.hear(event)

    def _tell_shared(self, event: Event) -> None:
        if frame := shared_frame_of(event):
            self._outbox.tell(frame)

    # --- what the client sends

    async def _read(self, incoming: Incoming, pipeline: Pipeline) -> None:
        async for frame in incoming:
            if not self._frames.take(1):
                raise _flooded("frames")
            if isinstance(frame, bytes):
                self._hear(frame)
            elif self._texts.take(1):
                self._do(read_frame(frame), pipeline)
            else:
                raise _flooded("text frames")

    def _hear(self, pcm: bytes) -> None:
        if not self._board.listens:
            raise not_understood("nobody listens here: this server was started without audio")
        if not self._sound.take(self._ear.feed(pcm)):
            raise _flooded("sound")

    def _do(self, frame: ClientFrame, pipeline: Pipeline) -> None:
        match frame:
            case Hello():
                raise not_understood("hello comes first, and once")
            case Typed(text=text):
                self._type(text, pipeline)
            case Answered():
                self._confirm(frame, pipeline)
            case Stop():
                pipeline.act_on("stop")
            case Played(passage=passage, samples=samples):
                if self._loudspeaker is None:
                    raise not_understood("nothing was sent that could be played")
                self._loudspeaker.note_played(passage, samples)
            case AudioEnd():
                self._ear.end_speech()
            case Ping(id=number):
                self._outbox.tell({"type": "pong", "id": number})
            case _:
                assert_never(frame)

    def _type(self, text: str, pipeline: Pipeline) -> None:
        if not text.strip():
            self._complain("empty", "there is nothing in that text")
        elif not pipeline.act_on(text):
            try:
                self._typed.put_nowait(text.strip())
            except asyncio.QueueFull:
                self._complain("busy", f"{_MOST_TYPED} turns wait already")

    def _confirm(self, answer: Answered, pipeline: Pipeline) -> None:
        question = pipeline.asking.open
        if not self._may_confirm:
            self._complain("token_scope_insufficient", f"the token of {self._caller.name} lacks {CONFIRM}")
            return
        said = "yes" if answer.granted else "no"
        agreement = Agreement(answer.granted, self._caller, "keyboard", f"{self._caller.name} chose {said}")
        try:
            is_taken = (
                question is not None and question.pending.token == answer.token and question.answer(agreement)
            )
        except ToolDenied as error:
            self._complain(error.code, error.message)
            return
        if not is_taken:
            self._complain("confirmation_not_found", "nothing waits for this answer: it came too late")

    async def _answer_typed(self, pipeline: Pipeline) -> None:
        while True:
            text = await self._typed.get()
            try:
                await pipeline.answer(text, Turn())
            except EdgevoxError:
                continue  # its `done` has said what happened

    def _complain(self, code: str, message: str) -> None:
        self._outbox.tell({"type": "error", "code": code, "message": message})


async def _until_first(*works: Coroutine[Any, Any, None]) -> None:
    """Returns, or raises, when the first of them does; nothing of the others is left then."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        task.result()


async def _rest(pipeline: Pipeline) -> None:
    """Only prepare for the next typed turn."""
    pipeline.rest()
    await asyncio.Event().wait()


def _flooded(what: str) -> CutOff:
    return CutOff(CloseCode.FLOODED, f"more {what} than one who speaks and plays can send")

"""Voice session of one client: rate limits, frame handling and slots for concurrent clients."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias, assert_never

from edgevox.agents.tool_loop import Agreement, Confirm
from edgevox.audio.io.speaker import Loudspeaker
from edgevox.core.errors import EdgevoxError, ToolDenied
from edgevox.core.events import EngineChanged, Event, RingEnded, RingStarted, SpeechDropped
from edgevox.core.turn import Turn, cancel_tasks
from edgevox.core.types import JsonObject, ToolCall
from edgevox.dialogue import Pipeline, VoiceLoop
from edgevox.satellites.device import PlayerLoudspeaker
from edgevox.satellites.hub import REMEMBERED_S, SatelliteLink, Wake
from edgevox.server.assistant import Assistant, VoiceSession, VoiceSessionFactory
from edgevox.server.engine_queues import EngineQueues
from edgevox.server.home_player import HomePlayer
from edgevox.server.websocket import protocol
from edgevox.server.websocket.audio import AHEAD_S, Outbox, Send, WebSocketAudioSource, WebSocketLoudspeaker
from edgevox.tools.policy import CONFIRM, Caller


class TokenBucket:
    """Token bucket that refills with `per_s` per second, up to `burst`."""

    def __init__(self, *, per_s: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_s = per_s
        self._burst = burst
        self._clock = clock
        self._left = burst
        self._at_s = clock()

    def take(self, amount: float) -> bool:
        """Take tokens; returns False if there are not enough."""
        now_s = self._clock()
        self._left = min(self._burst, self._left + (now_s - self._at_s) * self._per_s)
        self._at_s = now_s
        self._left -= amount
        return self._left >= 0


@dataclass(frozen=True, slots=True, eq=False)
class ClientSlot:
    """The slot of one client, which must disconnect when `is_lost` is set."""

    name: str
    caller: str
    satellite: str = ""
    is_lost: asyncio.Event = field(default_factory=asyncio.Event)

    async def lost(self) -> None:
        """Wait; raises CloseConnection when another client takes the slot."""
        await self.is_lost.wait()
        raise protocol.CloseConnection(protocol.CloseCode.REPLACED, "another client with the same token connected")


_MOST_SATELLITES = 16


class Clients:
    """At most `most` slots, and as many again as a home has satellites; used in one event loop."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._places: list[ClientSlot] = []
        self._numbers = itertools.count(1)

    def __len__(self) -> int:
        return len([place for place in self._places if not place.satellite])

    @contextmanager
    def place(self, caller: str, satellite: str = "") -> Iterator[ClientSlot]:
        """Hold a slot during the block. Raises CloseConnection if none is free.

        A client that reconnects after a network failure takes over its old slot; a satellite does so by its name.
        """
        if satellite:
            self._replace_satellite(caller, satellite)
        elif len(self) >= self.most:
            held = (old for old in self._places if not old.satellite and not old.is_lost.is_set())
            own = next((old for old in held if old.caller == caller), None)
            self._replace(own, f"all {len(self)} slots are in use")
        place = ClientSlot(f"c{next(self._numbers)}", caller, satellite)
        self._places.append(place)
        try:
            yield place
        finally:
            self._places.remove(place)

    def _replace_satellite(self, caller: str, satellite: str) -> None:
        held = [old for old in self._places if old.satellite and not old.is_lost.is_set()]
        if same := next((old for old in held if old.satellite == satellite), None):
            self._replace(same if same.caller == caller else None, f"{satellite} is a satellite with another token")
        elif len(held) >= _MOST_SATELLITES:
            self._replace(None, f"{len(held)} satellites are connected")

    def _replace(self, old: ClientSlot | None, problem: str) -> None:
        if old is None:
            raise protocol.CloseConnection(protocol.CloseCode.NO_PLACE, problem)
        old.is_lost.set()


Incoming: TypeAlias = AsyncGenerator[str | bytes, None]

BURST_S = 30.0
"""Sound of a connection that stalled for so long arrives at once; of a backlog, the last 10 s are kept."""
AWAY_S = 5.0
"""A satellite that was gone for as long says that it is back."""
# The client's clock may run faster.
_SOUND_PER_S = 1.05
_TEXTS_PER_S, _TEXTS_AT_ONCE = 50, 200
_FRAMES_PER_S, _FRAMES_AT_ONCE = 400, 2_000
_MOST_WAITING = 8
_CLOCK_ERROR_S = 0.5


class ClientSession:
    """Session of an authenticated client. `confirm` asks another user if the client may not confirm."""

    def __init__(
        self,
        assistant: Assistant,
        factory: VoiceSessionFactory,
        queues: EngineQueues,
        confirm: Confirm,
        *,
        caller: Caller,
        place: ClientSlot,
        hello: protocol.Hello,
    ) -> None:
        caller = replace(caller, room=hello.room, satellite=hello.satellite)
        self._assistant = assistant
        self._factory = factory
        self._queues = queues
        self._caller = caller
        self._place = place
        self._hello = hello
        self._is_refused = False
        """Whether another satellite answers the wake word: what follows it is dropped."""
        self._may_confirm = caller.may(CONFIRM)
        self._outbox = Outbox()
        self._audio_source = WebSocketAudioSource(hello.rate_hz, longest_pause_s=factory.longest_pause_s)
        self._observer = protocol.SessionObserver(self._outbox.send_frame, assistant.keep, may_answer=self._may_confirm)
        self._loudspeaker: WebSocketLoudspeaker | None = None
        if factory.speaks and hello.speak:
            self._loudspeaker = WebSocketLoudspeaker(self._outbox, hello.play_rate_hz, lambda: self._observer.turn_id)
        self._player: HomePlayer | None = None
        answers_on: Loudspeaker | None = self._loudspeaker
        if hello.player and self._loudspeaker:
            if not caller.may("act"):
                message = f"the token of {caller.name} lacks the scope act, for a media player"
                raise protocol.CloseConnection(protocol.CloseCode.LACKS_SCOPE, message)
            self._player = HomePlayer(assistant, hello.player)
            answers_on = PlayerLoudspeaker(self._player, self._loudspeaker)
        # Its echo cancellation does not know what a media player plays.
        is_half_duplex = hello.hears_itself or self._player is not None
        self._voice_session = VoiceSession(
            self._audio_source,
            answers_on,
            caller,
            self._publish,
            None if self._may_confirm else confirm,
            self._observer.on_transcript,
            duplex=lambda: "half" if is_half_duplex else "device",
            room=hello.room,
        )
        self._link: SatelliteLink | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._requests: asyncio.Queue[str | ToolCall] = asyncio.Queue(_MOST_WAITING)
        self._sound = TokenBucket(per_s=_SOUND_PER_S, burst=BURST_S)
        self._texts = TokenBucket(per_s=_TEXTS_PER_S, burst=_TEXTS_AT_ONCE)
        self._frames = TokenBucket(per_s=_FRAMES_PER_S, burst=_FRAMES_AT_ONCE)

    async def run(self, incoming: Incoming, send: Send) -> None:
        """Run until `incoming` ends. Raises CloseConnection and errors of `send`."""
        async with self._factory.open(self._voice_session) as loop:
            with ExitStack() as during:
                during.enter_context(self._factory.bus.listening(self._send_shared))
                if self._may_confirm:
                    during.enter_context(loop.pipeline.confirmation.answerable("keyboard"))
                self._outbox.send_frame(self._greeting(loop.pipeline.own_language))
                self._observer.begin()
                self._send_rings(loop.pipeline)
                if self._hello.satellite:
                    self._link = self._satellite_link(loop)
                    was_away = self._hello.away_s >= AWAY_S
                    during.enter_context(self._assistant.satellites.connected(self._link, was_away=was_away))
                try:
                    await until_first(
                        self._stay_connected(incoming, send, loop.pipeline),
                        loop.run() if self._factory.listens else stay_warm(loop.pipeline),
                        self._answer_requests(loop.pipeline),
                    )
                finally:
                    await cancel_tasks(*self._tasks)
                    if self._player is not None:
                        await self._player.close()
                    # The speaker is gone: release the engine queues.
                    self._queues.on_event(SpeechDropped(reason="gone"))

    async def _stay_connected(self, incoming: Incoming, send: Send, pipeline: Pipeline) -> None:
        """Exchange frames until the client is gone."""
        try:
            await until_first(self._read(incoming, pipeline), self._outbox.run(send), self._place.lost())
        finally:
            if self._link is not None:  # its turn is still there
                self._assistant.satellites.note_lost(self._link)

    def _greeting(self, language: str) -> JsonObject:
        return {
            "type": "hello",
            "version": protocol.VERSION,
            "client": self._place.name,
            "preset": self._assistant.name,
            "language": language,
            "listens": self._factory.listens,
            "speaks": self._loudspeaker is not None,
            "rate_hz": self._hello.rate_hz,
            "play_rate_hz": self._hello.play_rate_hz,
            "may_confirm": self._may_confirm,
            "limits": {
                "frame_bytes": protocol.FRAME_BYTES,
                "burst_s": BURST_S,
                "ahead_s": AHEAD_S,
                "text_chars": protocol.TEXT_CHARS,
            },
        }

    # --- satellites

    def _satellite_link(self, loop: VoiceLoop) -> SatelliteLink:
        def mute(is_muted: bool) -> None:
            self._outbox.send_frame({"type": "mute", "is_muted": is_muted})

        return SatelliteLink(
            self._hello.satellite,
            self._hello.room,
            "edgevox",
            loop,
            mute,
            state=lambda: self._observer.doing,
            is_in_turn=lambda: self._observer.is_in_turn,
        )

    async def _contest(self, link: SatelliteLink, wake: Wake) -> None:
        is_granted = await self._assistant.satellites.wins(link, wake)
        self._is_refused = not is_granted
        if self._is_refused:
            self._audio_source.clear()
            link.loop.drop_speech()
        self._outbox.send_frame({"type": "wake", "granted": is_granted})

    def _publish(self, event: Event) -> None:
        self._observer(event)
        self._queues.on_event(event)

    def _send_shared(self, event: Event) -> None:
        """Send the events that all clients get: engine states and alarms."""
        if isinstance(event, EngineChanged | RingStarted | RingEnded) and (frame := protocol.frame_of(event)):
            self._outbox.send_frame(frame)

    def _send_rings(self, pipeline: Pipeline) -> None:
        """Send the alarms that began to ring before the client connected."""
        for started in pipeline.alarm_state.announced.values() if pipeline.alarm_state else ():
            self._send_shared(started)

    # --- client frames

    async def _read(self, incoming: Incoming, pipeline: Pipeline) -> None:
        async for frame in incoming:
            if not self._frames.take(1):
                raise flooded("frames")
            if isinstance(frame, bytes):
                self._take_audio(frame)
            elif self._texts.take(1):
                self._handle(protocol.read_frame(frame), pipeline)
            else:
                raise flooded("text frames")

    def _take_audio(self, pcm: bytes) -> None:
        if not self._factory.listens:
            raise protocol.invalid_frame("this server has no STT: it was started without audio")
        if self._is_refused:
            return
        if not self._sound.take(self._audio_source.feed(pcm)):
            raise flooded("sound")

    def _handle(self, frame: protocol.ClientFrame, pipeline: Pipeline) -> None:
        match frame:
            case protocol.Hello():
                raise protocol.invalid_frame("hello comes first, and once")
            case protocol.Typed(text=text):
                self._type(text, pipeline)
            case protocol.Called(name=name, arguments=arguments):
                self._wait_for_turn(ToolCall(name, name, json.dumps(arguments)))
            case protocol.Answered():
                self._confirm(frame, pipeline)
            case protocol.Stop():
                pipeline.act_on("stop")
            case protocol.Snooze():
                if not pipeline.act_on_ring("snooze"):
                    self._complain("not_ringing", "nothing rings")
            case protocol.Played(passage=passage, samples=samples):
                if self._loudspeaker is None:
                    raise protocol.invalid_frame("nothing was sent that could be played")
                self._loudspeaker.note_played(passage, samples)
            case protocol.AudioEnd():
                self._audio_source.end_speech()
            case protocol.WakeWordHeard(score=score, level_db=level_db, at_s=at_s):
                if self._link is None:
                    raise protocol.invalid_frame("only a satellite hears a wake word")
                self._is_refused = False
                self._spawn(self._contest(self._link, Wake(score, level_db, _past(at_s))))
            case protocol.Ping(id=number):
                self._outbox.send_frame({"type": "pong", "id": number, "at_s": round(time.monotonic(), 4)})
            case _:
                assert_never(frame)

    def _type(self, text: str, pipeline: Pipeline) -> None:
        if not text.strip():
            self._complain("empty", "there is nothing in that text")
        elif not pipeline.act_on(text):
            self._wait_for_turn(text.strip())

    def _wait_for_turn(self, request: str | ToolCall) -> None:
        try:
            self._requests.put_nowait(request)
        except asyncio.QueueFull:
            self._complain("busy", f"{_MOST_WAITING} turns wait already")

    def _confirm(self, answer: protocol.Answered, pipeline: Pipeline) -> None:
        question = pipeline.confirmation.open
        if not self._may_confirm:
            self._complain("token_scope_insufficient", f"the token of {self._caller.name} lacks the scope {CONFIRM}")
            return
        said = "yes" if answer.granted else "no"
        agreement = Agreement(answer.granted, self._caller, "keyboard", f"{self._caller.name} chose {said}")
        try:
            is_taken = question is not None and question.pending.token == answer.token and question.answer(agreement)
        except ToolDenied as error:
            self._complain(error.code, error.message)
            return
        if not is_taken:
            self._complain("confirmation_not_found", "nothing waits for this answer: it came too late")

    async def _answer_requests(self, pipeline: Pipeline) -> None:
        while True:
            request = await self._requests.get()
            try:
                if isinstance(request, ToolCall):
                    await pipeline.perform((request,), Turn())
                else:
                    await pipeline.answer(request, Turn())
            except EdgevoxError:
                continue  # the `done` frame reported the error

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _complain(self, code: str, message: str) -> None:
        self._outbox.send_frame({"type": "error", "code": code, "message": message})


def _past(at_s: float | None) -> float | None:
    """The time, if it can be that of a report that comes now; a satellite's idea of our clock may be wrong."""
    now_s = time.monotonic()
    return at_s if at_s is not None and now_s - REMEMBERED_S < at_s < now_s + _CLOCK_ERROR_S else None


async def until_first(*works: Coroutine[Any, Any, None]) -> None:
    """Return or raise with the first coroutine, and cancel the others."""
    tasks = [asyncio.create_task(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await cancel_tasks(*tasks)
    for task in done:
        task.result()


async def stay_warm(pipeline: Pipeline) -> None:
    """Warm the prefix for the next typed turn."""
    pipeline.start_idle_work()
    await asyncio.Event().wait()


def flooded(what: str) -> protocol.CloseConnection:
    return protocol.CloseConnection(protocol.CloseCode.FLOODED, f"rate limit exceeded: too much {what}")

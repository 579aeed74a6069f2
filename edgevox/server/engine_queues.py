"""Bounded request queues, one per engine, and STT and TTS in short turns.

A reply to a program pauses while the local speaker is served, and resumes afterwards.
"""

from __future__ import annotations

import asyncio
import dataclasses
import math
import time
from collections import Counter, deque
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass

import numpy as np

from edgevox.config import ServerSettings
from edgevox.core.events import Event
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, ChatDelta, ChatDone, ChatModel, ChatReply, ChatRequest, Transcript
from edgevox.dialogue.transcriber import Transcriber
from edgevox.server.assistant import Assistant
from edgevox.server.http.errors import ApiError
from edgevox.server.scheduling import ClientKey, LocalSpeakerPriority, RetryReservations, RoundRobinLock

_REMEMBERED = 16
# Biased low: a client that retries too early keeps its reservation and gets a better estimate.
_FIRST_GUESS_S = 0.1
_MAX_RETRY_S = 60
# Places that are never reserved, so that the engine does not idle for clients that may not return.
_ALWAYS_OPEN = 3
# After a local turn, the prefix of the next one is warmed first.
_AFTERWARDS_S = 0.1


class EngineQueue:
    """Admits requests; rejects those beyond `max_waiting` besides the running one.

    A caller without a request in the queue is always admitted, so that no other caller can shut it out. A rejected
    client gets a Retry-After time and a reservation: later clients cannot take its place. While the local speaker is
    served, nothing new starts.
    """

    def __init__(self, *, max_waiting: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._max_waiting = max_waiting
        self._kept = max(1, max_waiting + 1 - min(_ALWAYS_OPEN, 1 + max_waiting // 4))
        """Maximum number of reserved places."""
        self._clock = clock
        self._turns = RoundRobinLock()
        self._reservations = RetryReservations()
        self.on_event = LocalSpeakerPriority(self._pause, self._go_on).on_event
        """Handles an event of the local room."""
        self.turn = self._turns.turn
        """Holds the engine during a block, in round-robin order by client; keep the work short."""
        self._going_on: asyncio.TimerHandle | None = None
        self._busy_s = 0.0
        self._busy_since_s = 0.0
        self._left_s: deque[float] = deque([0.0], maxlen=_REMEMBERED)
        """Completion times of the last requests, in busy time of the queue."""
        self.admitted = 0
        """Number of running and waiting requests."""
        self._admitted_by: Counter[str] = Counter()
        self.refused = 0

    def check_capacity(self, client_key: ClientKey | None) -> None:
        """Raises ApiError if the queue is full; called before the request is parsed."""
        now_s = self._clock()
        self._reservations.drop_expired(now_s)
        free = self._max_waiting + 1 - self.admitted
        ahead = self._reservations.ahead_of(client_key, now_s)
        is_shut_out = client_key is not None and client_key.caller and not self._admitted_by[client_key.caller]
        if free > min(ahead, self._kept) or (is_shut_out and self._max_waiting):
            return
        self.refused += 1
        retry_s = self._retry_s(ahead + 1 - free)
        if client_key is not None:
            self._reservations.hold(client_key, now_s, now_s + retry_s)
        raise ApiError(
            429,
            "queue_full",
            f"the queue is full ({self.admitted} requests): try again later",
            headers={"Retry-After": str(retry_s)},
        )

    @contextmanager
    def place(self, client_key: ClientKey | None = None) -> Iterator[None]:
        """Hold a place for one request during the block. Raises ApiError if the queue is full.

        A rejected `client_key` gets a reservation for its retry.
        """
        self.check_capacity(client_key)
        if client_key is not None:
            self._reservations.use(client_key, self._clock())
        if not self.admitted:
            self._busy_since_s = self._clock()
        caller = client_key.caller if client_key is not None else ""
        self.admitted += 1
        self._admitted_by[caller] += 1
        try:
            yield
        finally:
            self._left_s.append(self._worked_s())
            self.admitted -= 1
            self._admitted_by[caller] -= 1
            if not self.admitted:
                self._busy_s = self._left_s[-1]

    def _pause(self) -> None:
        """Start nothing new while the local speaker is served."""
        if self._going_on is not None:
            self._going_on.cancel()
            self._going_on = None
        self._turns.hold()

    def _go_on(self) -> None:
        """Resume after the local speaker."""
        self._going_on = asyncio.get_running_loop().call_later(_AFTERWARDS_S, self._turns.release)

    def _retry_s(self, places: int) -> int:
        """Estimate the time until this many places are free, from the mean time between completions."""
        passed_s, left = self._worked_s() - self._left_s[0], len(self._left_s) - 1
        pace_s = passed_s / left if left else max(passed_s, _FIRST_GUESS_S)
        return min(_MAX_RETRY_S, max(1, math.ceil(pace_s * places)))

    def _worked_s(self) -> float:
        return self._busy_s + (self._clock() - self._busy_since_s if self.admitted else 0.0)


class ModelQueue(EngineQueue):
    """A queue for generations of `model`, which can be interrupted if it `resumes`.

    A model that cannot resume runs on another machine and does not compete with the local speaker. A reply of more than
    `slice_s` is interrupted for others that wait; the time to read its prompt does not count.
    """

    def __init__(
        self,
        model: ChatModel,
        *,
        max_waiting: int,
        resumes: bool = True,
        slice_s: float = math.inf,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(max_waiting=max_waiting, clock=clock)
        self._model = model
        self._resumes = resumes
        self._slice_s = slice_s
        self._running: _Running | None = None
        self.pauses = 0

    def model_for(self, client_name: str, *, is_first: bool = False) -> ChatModel:
        """Return the model for one client. Where it `is_first`, a turn does not wait for another's slice."""
        return _QueuedModel(self, client_name, is_first)

    async def stream(
        self, client_name: str, request: ChatRequest, cancel: CancelFlag, *, is_first: bool = False
    ) -> AsyncGenerator[ChatReply, None]:
        """Generate in round-robin order; the generation is interrupted and resumed as needed."""
        written = request.reply_prefix
        goes_on = is_first and not (request.prompt_only or request.is_idle)
        if goes_on:
            self._interrupt()
        while not cancel.is_set():
            async with self.turn(client_name, goes_on=goes_on):
                if cancel.is_set():
                    return
                running = self._running = _Running(CancelFlag())
                cancel.add_listener(running.pause.set)
                try:
                    resumed = dataclasses.replace(request, reply_prefix=written)
                    async with aclosing(self._model.stream(resumed, running.pause)) as replies:
                        async for reply in replies:
                            match reply:
                                case ChatDelta(text):
                                    written += text
                                    yield reply
                                    self._end_slice(running)
                                case ChatDone(finish_reason="cancelled") if not cancel.is_set():
                                    pass  # only interrupted
                                case ChatDone():
                                    yield reply
                                    return
                finally:
                    self._running = None
                    cancel.remove_listener(running.pause.set)
            if not running.pause.is_set():
                return
            goes_on = not running.was_sliced

    def _end_slice(self, running: _Running) -> None:
        """Interrupt a reply whose slice is over, if others wait; it goes on behind them."""
        now_s = self._clock()
        running.began_s = min(running.began_s, now_s)
        if self._turns.waiting and now_s - running.began_s >= self._slice_s and not running.pause.is_set():
            running.was_sliced = True
            running.pause.set()

    def _interrupt(self) -> None:
        if self._running is not None and self._resumes:
            self.pauses += 1
            self._running.pause.set()

    def _pause(self) -> None:
        super()._pause()
        self._interrupt()


@dataclass(slots=True)
class _Running:
    """The generation that runs now; `pause` interrupts it."""

    pause: CancelFlag
    began_s: float = math.inf
    """The time of its first piece."""
    was_sliced: bool = False


@dataclass(frozen=True, slots=True)
class _QueuedModel:
    queue: ModelQueue
    client_name: str
    is_first: bool = False

    def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        return self.queue.stream(self.client_name, request, cancel, is_first=self.is_first)


class EngineQueues:
    """The queues of model, STT and TTS. `on_event` must get the events of the local room."""

    def __init__(self, assistant: Assistant, settings: ServerSettings) -> None:
        self.model = ModelQueue(assistant.profile.model, max_waiting=settings.max_waiting, resumes=assistant.resumes)
        self.transcriber = EngineQueue(max_waiting=settings.max_audio_waiting)
        self.speaking = EngineQueue(max_waiting=settings.max_waiting)
        self.embedding = EngineQueue(max_waiting=settings.max_waiting)

    def on_event(self, event: Event) -> None:
        for queue in (self.model, self.transcriber, self.speaking, self.embedding):
            queue.on_event(event)


# Whisper processes up to 30 s at once and cannot be interrupted.
_MAX_PIECE_S = 28.0
_SEARCHED_S = 6.0
_BLOCK_S = 0.05


def split_at_pauses(audio: Audio) -> Iterator[Audio]:
    """Split audio without loss into pieces that Whisper processes at once."""
    rate, samples = audio.rate_hz, audio.samples
    longest, searched = int(_MAX_PIECE_S * rate), int(_SEARCHED_S * rate)
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


async def transcribe_in_turns(
    audio: Audio, transcriber: Transcriber, queue: EngineQueue, client_name: str
) -> list[Transcript]:
    """Transcribe audio piece by piece, releasing the queue in between. Raises EngineFailed."""
    cancel = CancelFlag()
    try:
        transcripts = []
        for piece in split_at_pauses(audio):
            async with queue.turn(client_name):
                transcripts.append(await transcriber.transcribe(piece, cancel))
        return transcripts
    finally:
        cancel.set()


def joined_text(transcripts: list[Transcript]) -> str:
    return " ".join(filter(None, (one.text.strip() for one in transcripts)))


async def synthesize(
    assistant: Assistant,
    queue: EngineQueue,
    sentences: Iterable[str],
    client_name: str,
    speed: float = 1.0,
    client_key: ClientKey | None = None,
) -> AsyncGenerator[Audio, None]:
    """Synthesize sentence by sentence, releasing the queue in between.

    Raises ApiError if the queue is full, EngineFailed and ModelError.
    """
    assert assistant.voice is not None
    voice, cancel = assistant.voice(speed), CancelFlag()
    try:
        with queue.place(client_key):
            for sentence in sentences:
                sounds = voice.speak(sentence, cancel, assistant.voice_language)
                async with queue.turn(client_name), aclosing(sounds):
                    async for sound in sounds:
                        yield sound
    finally:
        cancel.set()

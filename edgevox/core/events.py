"""Event types of every pipeline stage, and the in-process bus that publishes them.

Events are frozen values with a monotonic time; a latency is the difference of two `at_s`. The bus is bounded:
a slow subscriber loses its oldest events and never delays a turn.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

EngineName: TypeAlias = Literal["stt", "llm", "tts"]
EngineState: TypeAlias = Literal["starting", "ready", "restarting", "failed", "stopped"]
TurnSource: TypeAlias = Literal["text", "voice", "api", "timer"]
TurnOutcome: TypeAlias = Literal["answered", "dropped", "interrupted", "cancelled", "failed"]
SoundDevice: TypeAlias = Literal["microphone", "loudspeaker"]
Attention: TypeAlias = Literal["asleep", "awake", "muted"]
RingKind: TypeAlias = Literal["timer", "alarm", "reminder"]
RingEnd: TypeAlias = Literal["stopped", "snoozed", "answered", "obeyed", "given_up", "cancelled", "shut_down"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened at `at_s` on the monotonic clock."""

    at_s: float = field(default_factory=time.monotonic)


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEvent(Event):
    """Something that happened in one turn."""

    turn_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted(TurnEvent):
    source: TurnSource
    preset: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AttentionChanged(Event):
    """Whether what is said is taken for a command from now on: asleep, it has to be called first."""

    attention: Attention


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechStarted(Event):
    """Somebody began to speak; whether it becomes a turn shows when they end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechDropped(Event):
    """What began as speech was none, or came while too much else was to be answered."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeechEnded(TurnEvent):
    """The last voiced sample was heard at `at_s`; the silence that made sure of it is part of the turn."""

    dropped_samples: int


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointReached(TurnEvent):
    """The silence has lasted long enough: what was said is all of it, and the answer may begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptionStarted(TurnEvent):
    """The recogniser was given `audio_s` of sound; `early` when it was before the endpoint was certain."""

    audio_s: float
    early: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptReady(TurnEvent):
    """What the person said; typed text arrives as a transcript too.

    One that was made early was ready at `at_s`, which may be before the endpoint.
    """

    text: str
    language: str
    dropped: str | None = None
    confidence: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStarted(TurnEvent):
    """The language model was given a prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyDelta(TurnEvent):
    """A piece of the reply, without reasoning and without markers. The first one is the first token."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFinished(TurnEvent):
    """One generation ended."""

    finish_reason: str
    prompt_tokens: int
    cached_tokens: int
    generated_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnsForgotten(TurnEvent):
    """The model had no room for the oldest turns: they left its prompt."""

    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCallWritten(TurnEvent):
    """The model has written a further piece of a call's arguments; it may still turn out to be no call."""

    call_id: str
    name: str
    arguments_delta: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStarted(TurnEvent):
    """A tool was called; `arguments` is JSON text."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFinished(TurnEvent):
    """A tool's result is there, as the model sees it; `code` says what went wrong, if anything did."""

    call_id: str
    name: str
    code: str | None
    elapsed_s: float
    content: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationRequired(TurnEvent):
    """A person has to agree before a call is made; `level` is `screen` where a voice is not enough."""

    token: str
    name: str
    question: str
    level: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmationDecided(TurnEvent):
    """The answer to that."""

    token: str
    granted: bool
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerHeard(TurnEvent):
    """What a person said to that question, and how it was understood; if unclear it is asked again."""

    token: str
    text: str
    answer: Literal["yes", "no", "unclear"]


@dataclass(frozen=True, slots=True, kw_only=True)
class InstantWordHeard(TurnEvent):
    """A word that needs no model: it acts on the turn that is under way, or is a turn of its own."""

    word: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisStarted(TurnEvent):
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioReady(TurnEvent):
    """A piece of speech was synthesised."""

    audio_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaybackStarted(TurnEvent):
    """The first sample went to the loudspeaker; a turn that asks something is spoken in several parts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaybackFinished(TurnEvent):
    """The last sample was played."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded(TurnEvent):
    """The last event of a turn, however it ended."""

    outcome: TurnOutcome
    reply: str = ""
    error_code: str | None = None
    error: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RingStarted(Event):
    """Something is due: it sounds, and `text` is said. `late_s` is how long after its time."""

    ring_id: str
    kind: RingKind
    text: str
    late_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RingEnded(Event):
    """It is silent again. `error` is what kept it from being heard, if anything did.

    It was `answered` by somebody who spoke of something else, `obeyed` when what it was to do is done next,
    `given_up` when it had rung for long enough, `cancelled` where it was set, and `shut_down` when the
    assistant ended while it rang.
    """

    ring_id: str
    kind: RingKind
    how: RingEnd
    snoozed_minutes: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RingTrouble(Event):
    """It cannot be known, or noted, what is due: something may ring too late, or twice."""

    error: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChanged(Event):
    """An engine started, became ready, died or is being restarted."""

    engine: str
    state: EngineState
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateChanged(Event):
    """What should be kept cannot be, as `detail` says; or, without a detail, it can be again."""

    part: Literal["records", "memory"]
    detail: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundChanged(Event):
    """A microphone or a loudspeaker went away, came back, or is another one now; `name` is its own."""

    device: SoundDevice
    is_there: bool
    name: str = ""
    detail: str = ""


Listener: TypeAlias = Callable[[Event], None]

QUEUE_EVENTS = 1024


class Bus:
    """One stream of events. Use it from the event loop's thread only."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def publish(self, event: Event) -> None:
        for listener in tuple(self._listeners):
            listener(event)

    @contextmanager
    def listening(self, listener: Listener) -> Iterator[None]:
        """Call `listener` for every event while the block runs. It must be quick and must not raise."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    @contextmanager
    def subscription(self, capacity: int = QUEUE_EVENTS) -> Iterator[Subscription]:
        """Collect events from now on, for a reader in another task."""
        subscription = Subscription(capacity)
        with self.listening(subscription.offer):
            yield subscription


class Subscription:
    """A bounded queue of events; `lost` counts those that a slow reader missed."""

    def __init__(self, capacity: int) -> None:
        self.lost = 0
        self._queue: asyncio.Queue[Event] = asyncio.Queue(capacity)

    def offer(self, event: Event) -> None:
        if self._queue.full():
            self._queue.get_nowait()
            self.lost += 1
        self._queue.put_nowait(event)

    async def next(self) -> Event:
        """The oldest event that was not read yet; it may be cancelled without losing one."""
        return await self._queue.get()

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            yield await self._queue.get()


@dataclass(frozen=True, slots=True)
class DueAlarm:
    """Something that is to ring now.

    `label` is the timer's or alarm's name, or the task of a reminder, and may be "". `due_s` is when it was
    to ring, in seconds since 1970. `command` is what is to be done when a timer ends, mostly "". `called` is
    how to speak of a timer: "10 minute timer".
    """

    id: str
    kind: RingKind
    label: str
    due_s: float
    command: str = ""
    called: str = "timer"

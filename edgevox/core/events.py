"""Event types of every pipeline stage, and the in-process bus that publishes them.

Events are frozen values with a monotonic time; a latency is the difference of two `at_s`. The bus is bounded:
a slow subscriber loses its oldest events and never delays a turn.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, dataclass_transform

from edgevox.core.turn import Caller

EngineName: TypeAlias = Literal["stt", "llm", "tts"]
EngineState: TypeAlias = Literal["starting", "ready", "restarting", "failed", "stopped"]
TurnSource: TypeAlias = Literal["text", "voice", "api", "timer", "screen"]
TurnOutcome: TypeAlias = Literal["answered", "dropped", "interrupted", "cancelled", "failed"]
SoundDevice: TypeAlias = Literal["microphone", "loudspeaker"]
Attention: TypeAlias = Literal["asleep", "awake", "muted"]
RingKind: TypeAlias = Literal["timer", "alarm", "reminder", "schedule", "watch"]
RingEnd: TypeAlias = Literal["stopped", "snoozed", "answered", "obeyed", "given_up", "cancelled", "shut_down"]


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(field,))
class _FrozenDataclass:
    """Makes every subclass a frozen dataclass with keyword arguments."""

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, kw_only=True)(cls)


class Event(_FrozenDataclass):
    """Base class; `at_s` is on the monotonic clock."""

    at_s: float = field(default_factory=time.monotonic)


class TurnEvent(Event):
    """An event of one turn."""

    turn_id: str


class TurnStarted(TurnEvent):
    source: TurnSource
    preset: str
    room: str = ""
    """Where the speaker is, if that is known."""


class AttentionChanged(Event):
    """The wake state changed; while asleep, speech is ignored until the wake word."""

    attention: Attention


class SpeechStarted(Event):
    """Speech was detected; whether it becomes a turn is decided at its end."""


class SpeechDropped(Event):
    """The detected sound was not speech, or arrived while too many utterances were queued."""

    reason: str


class SpeechEnded(TurnEvent):
    """The last voiced sample was recorded at `at_s`; the silence after it belongs to the turn."""

    dropped_samples: int


class EndpointReached(TurnEvent):
    """The silence lasted long enough: the utterance is complete, and the reply may start."""


class TranscriptionStarted(TurnEvent):
    """The recogniser received `audio_s` of sound; `early` means before the endpoint."""

    audio_s: float
    early: bool = False


class TranscriptReady(TurnEvent):
    """The recognised utterance; typed text arrives as a transcript too.

    A speculative transcript has the `at_s` of its completion, which may be before the endpoint. `speaker` is the
    enrolled person who spoke, "guest" for another voice, and "" if nobody is enrolled or the voice is unknown.
    """

    text: str
    language: str
    dropped: str | None = None
    confidence: float = 1.0
    speaker: str = ""


class ModelStarted(TurnEvent):
    """The language model received a prompt."""


class ReplyDelta(TurnEvent):
    """A piece of the reply, without reasoning and without markers. The first one is the first token."""

    text: str


class ModelFinished(TurnEvent):
    """One generation ended."""

    finish_reason: str
    prompt_tokens: int
    cached_tokens: int
    generated_tokens: int


class TurnsForgotten(TurnEvent):
    """The oldest turns were dropped from the prompt because the context is full."""

    count: int


class ToolCallWritten(TurnEvent):
    """The model generated a further piece of a call's arguments; the call may still turn out invalid."""

    call_id: str
    name: str
    arguments_delta: str


class ToolStarted(TurnEvent):
    """A tool was called; `arguments` is JSON text, `summary` what it does in words ("Unlock front door")."""

    call_id: str
    name: str
    arguments: str
    summary: str = ""


class ToolFinished(TurnEvent):
    """A tool returned; `content` is what the model reads, `code` the error code or None.

    `summary` is what was done ("Unlocked front door"), or with a `code` what was asked for.
    """

    call_id: str
    name: str
    code: str | None
    elapsed_s: float
    content: str = ""
    summary: str = ""


class ConfirmationRequired(TurnEvent):
    """A call waits for confirmation; `level` is `screen` where a spoken yes is not enough."""

    token: str
    name: str
    question: str
    level: str
    expires_in_s: float = 0.0


class ConfirmationDecided(TurnEvent):
    """A confirmation was granted or refused."""

    token: str
    granted: bool
    why: str


class AnswerHeard(TurnEvent):
    """A spoken answer to a confirmation question and its interpretation; if unclear, the question is repeated."""

    token: str
    text: str
    answer: Literal["yes", "no", "unclear"]


class BuiltinCommandRun(TurnEvent):
    """A built-in command that needs no model: it acts on the current turn, or is a turn of its own."""

    word: str
    text: str


class SynthesisStarted(TurnEvent):
    text: str


class AudioReady(TurnEvent):
    """A piece of speech was synthesised."""

    audio_s: float


class PlaybackStarted(TurnEvent):
    """The first sample was played; a turn with a confirmation question is played in several parts."""


class PlaybackFinished(TurnEvent):
    """The last sample was played."""


class TurnEnded(TurnEvent):
    """The last event of a turn, however it ended."""

    outcome: TurnOutcome
    reply: str = ""
    error_code: str | None = None
    error: str = ""
    hint: str = ""


class RingStarted(Event):
    """A timer, alarm or reminder is due: it rings and `text` is spoken, on `satellites`, if any, after `late_s`."""

    ring_id: str
    kind: RingKind
    text: str
    late_s: float = 0.0
    satellites: tuple[str, ...] = ()


class RingEnded(Event):
    """The ringing stopped. `error` says why it could not be heard, if so.

    `answered`: interrupted by an unrelated utterance; `obeyed`: the timer's command runs next; `given_up`:
    nobody reacted within the limit; `cancelled`: deleted; `shut_down`: the assistant stopped meanwhile, and
    `rings_again` if it had not been heard: then the next start rings it, and records it.
    """

    ring_id: str
    kind: RingKind
    how: RingEnd
    snoozed_minutes: int = 0
    error: str = ""
    rings_again: bool = False


class RingTrouble(Event):
    """The alarm state cannot be read or written: an alarm may ring late, or twice."""

    error: str
    hint: str = ""


class EngineChanged(Event):
    """An engine started, became ready, died or is being restarted."""

    engine: str
    state: EngineState
    detail: str = ""


class StateChanged(Event):
    """Turn log or memory cannot be written (`detail` says why); without a detail, it can be written again."""

    part: Literal["records", "memory"]
    detail: str = ""
    hint: str = ""


class SoundChanged(Event):
    """A microphone or loudspeaker was lost, came back or was replaced; `name` is the device's name."""

    device: SoundDevice
    is_there: bool
    name: str = ""
    detail: str = ""


Publish: TypeAlias = Callable[[Event], None]

QUEUE_EVENTS = 1024

log = logging.getLogger(__name__)


class Bus:
    """One stream of events. Use it from the event loop's thread only."""

    def __init__(self) -> None:
        self._listeners: list[Publish] = []
        self._failing: list[Publish] = []
        """Listeners that could not write at their last call, so that it is logged once."""

    def publish(self, event: Event) -> None:
        """Call every listener. A view that cannot print, because the disk is full, must not end a turn or an alarm.

        Raises BrokenPipeError: the reader of the output is gone, and the program ends.
        """
        for listener in tuple(self._listeners):
            try:
                listener(event)
            except BrokenPipeError:
                raise
            except OSError as error:
                if listener not in self._failing:
                    self._failing.append(listener)
                    log.error("what happens cannot be shown: %s", error)
            else:
                if listener in self._failing:
                    self._failing.remove(listener)

    @contextmanager
    def listening(self, listener: Publish) -> Iterator[None]:
        """Call `listener` for every event while the block runs. It must be quick and must not raise, except OSError."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)
            if listener in self._failing:
                self._failing.remove(listener)

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
        """The oldest unread event; cancelling this call loses none."""
        return await self._queue.get()

    async def __aiter__(self) -> AsyncIterator[Event]:
        while True:
            yield await self._queue.get()


@dataclass(frozen=True, slots=True)
class DueAlarm:
    """A timer, alarm, reminder, schedule or watch that is due.

    `label` is the name of a timer or alarm, the task of a reminder, or what a watch tells, and may be "". `due_s` is
    the due time in seconds since 1970. `command` is run when it is due, usually "", and `agreed` the question about it
    that was answered with yes before. `called` is the spoken name of a timer: "10 minute timer". The command runs with
    the scopes of `caller`, which scheduled it; None for this machine's own microphone and keyboard. `satellite` is the
    name of the one on which it was set, and `person` the enrolled person who set a reminder. `language` is that of the
    turn that set it, "" if unknown, and `length_s` the length of a timer.
    """

    id: str
    kind: RingKind
    label: str
    due_s: float
    command: str = ""
    called: str = "timer"
    agreed: str = ""
    caller: Caller | None = None
    satellite: str = ""
    person: str = ""
    language: str = ""
    length_s: float = 0.0

"""A conversation on a stage: a live microphone in front of which things are said when their moment comes."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from edgevox.audio.endpointing import Endpointer
from edgevox.audio.vad import BLOCK_SAMPLES
from edgevox.config import AudioSettings
from edgevox.core.events import Event, TurnEnded, TurnEvent
from edgevox.core.metrics import TurnMetrics, TurnMetricsRecorder
from edgevox.core.turn import CancelFlag
from edgevox.core.types import (
    SAMPLE_RATE_HZ,
    Audio,
    ChatDelta,
    ChatDone,
    ChatReply,
    ChatRequest,
    TranscribeRequest,
    Transcript,
)
from edgevox.dialogue import BargeInDetector, Pipeline, VoiceLoop, WakeState
from tests.dialogue.sounds import silent, voiced

BOUND_S = 10

Cue: TypeAlias = Callable[[Event], bool]


def after(kind: type[Event], count: int = 1) -> Cue:
    """The moment at which the `count`-th event of a kind is published."""
    left = [count]

    def is_now(event: Event) -> bool:
        left[0] -= isinstance(event, kind)
        return isinstance(event, kind) and left[0] == 0

    return is_now


@dataclass
class Stage:
    """Silence, but for an utterance at the start and one at each cue; it ends with the last turn's end."""

    cues: Sequence[Cue] = ()
    turns: int = 1
    aside_s: float = 0.6
    """The length of the speech at a cue."""
    live: bool = True
    dropped_samples: int = 0
    delay_s: float = 0.0
    events: list[Event] = field(default_factory=list)
    records: list[TurnMetrics] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.said_everything = asyncio.Event()
        self.saying_last = asyncio.Event()
        """Somebody is in the middle of the last utterance."""
        self._said = 0
        self._moments: defaultdict[type[Event], asyncio.Event] = defaultdict(asyncio.Event)
        self._due = [_utterance(0.6)]
        self._recorder = TurnMetricsRecorder(self.records.append)

    def note(self, event: Event) -> None:
        """Publish to this."""
        self.events.append(event)
        self._recorder(event)
        self._moments[type(event)].set()
        self._due += [_utterance(self.aside_s) for cue in self.cues if cue(event)]

    async def frames(self) -> AsyncGenerator[Audio, None]:
        while len(self.of(TurnEnded)) < self.turns or self._due:
            is_speech = bool(self._due)
            sound = self._due.pop(0) if is_speech else silent(BLOCK_SAMPLES / SAMPLE_RATE_HZ)
            for start in range(0, len(sound) - BLOCK_SAMPLES + 1, BLOCK_SAMPLES):
                for _ in range(8):
                    await asyncio.sleep(0)  # let the others work, as in the 20 ms of a real block
                yield Audio(sound[start : start + BLOCK_SAMPLES], SAMPLE_RATE_HZ)
                if is_speech and self._said == len(self.cues) and start > SAMPLE_RATE_HZ // 2:
                    self.saying_last.set()
            self._said += is_speech
            if self._said == 1 + len(self.cues):
                self.said_everything.set()

    def of(self, kind: type[TurnEvent]) -> list[TurnEvent]:
        return [event for event in self.events if isinstance(event, kind)]

    async def until(self, kind: type[Event]) -> None:
        """Returns when an event of this kind has been published."""
        await self._moments[kind].wait()

    async def play(
        self, pipeline: Pipeline, barge_in: BargeInDetector | None = None, wake_state: WakeState | None = None
    ) -> None:
        async with asyncio.timeout(BOUND_S):
            loop = VoiceLoop(
                self, Endpointer(AudioSettings()), pipeline, self.note, barge_in=lambda: barge_in, wake_state=wake_state
            )
            await loop.run()


def _utterance(seconds: float) -> np.ndarray:
    return np.concatenate([voiced(seconds), silent(0.9)])


@dataclass
class Listener:
    """A recogniser that hears its lines, one after the other; each but the first waits for `may_go_on`."""

    lines: Sequence[str]
    heard: list[Audio] = field(default_factory=list)
    may_go_on: asyncio.Event | None = None

    async def stream(self, request: TranscribeRequest, cancel: CancelFlag) -> AsyncGenerator[Transcript, None]:
        self.heard.append(request.audio)
        text = self.lines[len(self.heard) - 1]
        if self.may_go_on is not None and len(self.heard) > 1:
            await self.may_go_on.wait()
        yield Transcript(text, "en", request.audio.duration_s, dropped=None if text else "no speech")


@dataclass
class Ponderer:
    """A model that thinks until it is stopped, or until it is allowed to answer."""

    may_answer: asyncio.Event = field(default_factory=asyncio.Event)
    requests: list[ChatRequest] = field(default_factory=list)

    async def stream(self, request: ChatRequest, cancel: CancelFlag) -> AsyncGenerator[ChatReply, None]:
        self.requests.append(request)
        cancel.add_listener(self.may_answer.set)
        await self.may_answer.wait()
        if not cancel.is_set():
            yield ChatDelta("At last.")
            yield ChatDone("stop", prompt_tokens=0, cached_tokens=0, generated_tokens=2)


class Unducked:
    """What a loudspeaker has beside `play`, for loudspeakers without barge-in."""

    heard_s = 0.0

    def duck(self, is_ducked: bool) -> None: ...

    def hold(self, is_held: bool) -> None: ...


@dataclass
class HeldSpeaker(Unducked):
    """A loudspeaker that sounds until the test lets it end."""

    may_end: asyncio.Event = field(default_factory=asyncio.Event)
    is_sounding: bool = False

    async def play(self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None]) -> None:
        async for _ in chunks:
            if not self.is_sounding:
                self.is_sounding = True
                on_start()
        cancel.add_listener(self.may_end.set)
        await self.may_end.wait()
        self.is_sounding = False


@dataclass
class SpokenOver(Unducked):
    """A loudspeaker with a barge-in as soon as so much of its sound has been heard."""

    at_s: float
    speak: Callable[[], object] = lambda: None
    when: asyncio.Event = field(default_factory=asyncio.Event)
    """What else has to happen before."""
    heard_s: float = 0.0
    is_cancelled: bool = False

    async def play(self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None]) -> None:
        ended = asyncio.Event()
        cancel.add_listener(ended.set)
        given_s = 0.0
        async for chunk in chunks:
            if not given_s:
                on_start()
            given_s += chunk.duration_s
            if given_s > self.at_s:
                break
        else:
            self.heard_s = given_s
            return
        await self.when.wait()
        self.heard_s = self.at_s
        self.speak()
        await ended.wait()
        self.is_cancelled = True

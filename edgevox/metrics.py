"""Events in, one record per turn out: which stage took how long."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field

from edgevox.events import (
    AudioReady,
    EndpointReached,
    Event,
    InstantWordHeard,
    ModelFinished,
    ModelStarted,
    PlaybackFinished,
    PlaybackStarted,
    ReplyDelta,
    RingEnded,
    RingStarted,
    SpeechEnded,
    SynthesisStarted,
    TranscriptionStarted,
    TranscriptReady,
    TurnEnded,
    TurnEvent,
    TurnStarted,
)

# name, what begins the stage, what ends it; of several such events in a turn the first begins and ends it,
# but for those that end with the last. A transcript that was ready before the endpoint was not waited for.
_STAGES: tuple[tuple[str, type[TurnEvent], type[TurnEvent], bool], ...] = (
    ("endpoint", SpeechEnded, EndpointReached, False),
    ("transcribe", EndpointReached, TranscriptReady, False),
    ("first_token", ModelStarted, ReplyDelta, False),
    ("generate", ReplyDelta, ModelFinished, True),
    ("first_audio", SynthesisStarted, AudioReady, False),
    ("speak", PlaybackStarted, PlaybackFinished, True),
)


@dataclass(frozen=True, slots=True)
class StageSpan:
    """One stage of a turn, in milliseconds after the turn's start."""

    name: str
    start_ms: float
    end_ms: float

    @property
    def ms(self) -> float:
        return round(self.end_ms - self.start_ms, 1)


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """What is kept of one turn, or of something that rang: its `source` is "ring" then."""

    turn_id: str
    at: str
    source: str
    preset: str
    heard: str
    reply: str
    outcome: str
    error_code: str | None
    total_ms: float
    prompt_tokens: int
    cached_tokens: int
    generated_tokens: int
    dropped_samples: int = 0
    transcribed_early_ms: float = 0.0
    """How long the recogniser worked before the endpoint was certain: that is in no stage."""
    instant_word: str = ""
    """A word that needed no model: it ended the turn, or was all of it."""
    stages: tuple[StageSpan, ...] = field(default=())

    @property
    def timings_ms(self) -> dict[str, float]:
        return {stage.name: stage.ms for stage in self.stages} | {"total": self.total_ms}


class TurnRecorder:
    """Collects the events of what is under way, turns and rings, and hands over a record when one ends."""

    def __init__(self, keep: Callable[[TurnRecord], None]) -> None:
        self._keep = keep
        self._open: dict[str, list[TurnEvent]] = {}
        self._ringing: dict[str, RingStarted] = {}

    def __call__(self, event: Event) -> None:
        match event:
            case TurnStarted():
                self._open[event.turn_id] = [event]
            case TurnEnded() if event.turn_id in self._open:
                self._keep(record_of([*self._open.pop(event.turn_id), event]))
            case RingStarted():
                self._ringing[event.ring_id] = event
            case RingEnded() if event.ring_id in self._ringing:
                self._keep(ring_record_of(self._ringing.pop(event.ring_id), event))
            case TurnEvent() if event.turn_id in self._open:
                self._open[event.turn_id].append(event)
            case _:
                pass


def record_of(events: list[TurnEvent]) -> TurnRecord:
    """The record of one turn, from its TurnStarted to its TurnEnded."""
    started, ended = events[0], events[-1]
    assert isinstance(started, TurnStarted)
    assert isinstance(ended, TurnEnded)
    models = [event for event in events if isinstance(event, ModelFinished)]
    return TurnRecord(
        turn_id=started.turn_id,
        at=_now(),
        source=started.source,
        preset=started.preset,
        heard=next((event.text for event in events if isinstance(event, TranscriptReady)), ""),
        reply=ended.reply,
        outcome=ended.outcome,
        error_code=ended.error_code,
        total_ms=_ms(ended.at_s - started.at_s),
        prompt_tokens=sum(event.prompt_tokens for event in models),
        cached_tokens=sum(event.cached_tokens for event in models),
        generated_tokens=sum(event.generated_tokens for event in models),
        dropped_samples=sum(event.dropped_samples for event in events if isinstance(event, SpeechEnded)),
        transcribed_early_ms=_transcribed_early_ms(events),
        instant_word=next((event.word for event in events if isinstance(event, InstantWordHeard)), ""),
        stages=tuple(_spans(events, started.at_s)),
    )


def ring_record_of(started: RingStarted, ended: RingEnded) -> TurnRecord:
    """The record of something that rang: its outcome is how it ended."""
    return TurnRecord(
        turn_id=started.ring_id,
        at=_now(),
        source="ring",
        preset="",
        heard="",
        reply=started.text,
        outcome=ended.how,
        error_code="unheard" if ended.error else None,
        total_ms=_ms(ended.at_s - started.at_s),
        prompt_tokens=0,
        cached_tokens=0,
        generated_tokens=0,
    )


def _now() -> str:
    return dt.datetime.now().astimezone().isoformat(timespec="milliseconds")


def _spans(events: list[TurnEvent], zero_s: float) -> list[StageSpan]:
    spans = []
    for name, begins, ends, until_last in _STAGES:
        start = next((event.at_s for event in events if isinstance(event, begins)), None)
        stops = [event.at_s for event in events if isinstance(event, ends)]
        if start is not None and stops:
            end = stops[-1] if until_last else stops[0]
            spans.append(StageSpan(name, _ms(start - zero_s), _ms(max(start, end) - zero_s)))
    return spans


def _transcribed_early_ms(events: list[TurnEvent]) -> float:
    begun = [event for event in events if isinstance(event, TranscriptionStarted)]
    ends = [event.at_s for event in events if isinstance(event, EndpointReached | TranscriptReady)]
    # Of an early one that failed, nothing came: the one that was made after the endpoint is the last.
    return _ms(min(ends) - begun[-1].at_s) if begun and ends and begun[-1].early else 0.0


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)

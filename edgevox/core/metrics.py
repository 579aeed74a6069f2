"""Per-turn stage timings computed from events, and a size-capped JSON Lines log of them.

A record that cannot be written is retried later without its text, because the user could not delete the text
meanwhile.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import errno
import json
import logging
import math
import os
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from edgevox.core import events
from edgevox.core.errors import StateError
from edgevox.core.events import Event, TurnEvent
from edgevox.core.files import open_private, private_folder, write_atomic

# name, start event, end event, whether the last end event counts. Otherwise the first events of a turn count.
# A transcript that was ready before the endpoint takes no time.
_STAGES: tuple[tuple[str, type[TurnEvent], type[TurnEvent], bool], ...] = (
    ("endpoint", events.SpeechEnded, events.EndpointReached, False),
    ("transcribe", events.EndpointReached, events.TranscriptReady, False),
    ("first_token", events.ModelStarted, events.ReplyDelta, False),
    ("generate", events.ReplyDelta, events.ModelFinished, True),
    ("confirm", events.ConfirmationRequired, events.ConfirmationDecided, True),
    ("first_audio", events.SynthesisStarted, events.AudioReady, False),
    ("speak", events.PlaybackStarted, events.PlaybackFinished, True),
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
class TurnMetrics:
    """The record of one turn, or of a timer, alarm or reminder (`source` is "ring")."""

    turn_id: str
    at: str
    source: str
    preset: str
    heard: str
    reply: str
    outcome: str
    error_code: str | None
    total_ms: float
    prompt_tokens: int = 0
    cached_tokens: int = 0
    generated_tokens: int = 0
    dropped_samples: int = 0
    room: str = ""
    transcribed_early_ms: float = 0.0
    """Time that the recogniser worked before the endpoint; part of no stage."""
    instant_word: str = ""
    """The built-in command that ended the turn, or was all of it."""
    stages: tuple[StageSpan, ...] = field(default=())
    calls: tuple[str, ...] = ()
    """What the tools did, in words."""
    speaker: str = ""
    """The enrolled person who spoke, or "guest"; "" without speaker recognition."""

    @property
    def timings_ms(self) -> dict[str, float]:
        return {stage.name: stage.ms for stage in self.stages} | {"total": self.total_ms}

    @property
    def ended_s(self) -> float:
        """The end of the turn in seconds since 1970; minus infinity if it is unreadable."""
        try:
            return dt.datetime.fromisoformat(self.at).timestamp()
        except (ValueError, TypeError, OverflowError):
            return -math.inf


class TurnMetricsRecorder:
    """Collects the events of each turn and ring, and passes on a record when it ends."""

    def __init__(self, keep: Callable[[TurnMetrics], None]) -> None:
        self._keep = keep
        self._open: dict[str, list[TurnEvent]] = {}
        self._ringing: dict[str, events.RingStarted] = {}

    def __call__(self, event: Event) -> None:
        match event:
            case events.TurnStarted():
                self._open[event.turn_id] = [event]
            case events.TurnEnded() if event.turn_id in self._open:
                self._keep(record_of([*self._open.pop(event.turn_id), event]))
            case events.RingStarted():
                self._ringing[event.ring_id] = event
            case events.RingEnded(rings_again=True):
                self._ringing.pop(event.ring_id, None)
            case events.RingEnded() if event.ring_id in self._ringing:
                self._keep(ring_record_of(self._ringing.pop(event.ring_id), event))
            case TurnEvent() if event.turn_id in self._open:
                self._open[event.turn_id].append(event)
            case _:
                pass


def record_of(history: list[TurnEvent]) -> TurnMetrics:
    """The record of one turn, from its TurnStarted to its TurnEnded."""
    started, ended = history[0], history[-1]
    assert isinstance(started, events.TurnStarted)
    assert isinstance(ended, events.TurnEnded)
    models = [event for event in history if isinstance(event, events.ModelFinished)]
    return TurnMetrics(
        turn_id=started.turn_id,
        at=_now(),
        source=started.source,
        preset=started.preset,
        room=started.room,
        heard=next((event.text for event in history if isinstance(event, events.TranscriptReady)), ""),
        reply=ended.reply,
        outcome=ended.outcome,
        error_code=ended.error_code,
        total_ms=_ms(ended.at_s - started.at_s),
        prompt_tokens=sum(event.prompt_tokens for event in models),
        cached_tokens=sum(event.cached_tokens for event in models),
        generated_tokens=sum(event.generated_tokens for event in models),
        dropped_samples=sum(event.dropped_samples for event in history if isinstance(event, events.SpeechEnded)),
        transcribed_early_ms=_transcribed_early_ms(history),
        instant_word=next((event.word for event in history if isinstance(event, events.BuiltinCommandRun)), ""),
        stages=tuple(_spans(history, started.at_s)),
        calls=tuple(event.summary for event in history if isinstance(event, events.ToolFinished) and event.summary),
        speaker=next((event.speaker for event in history if isinstance(event, events.TranscriptReady)), ""),
    )


def ring_record_of(started: events.RingStarted, ended: events.RingEnded) -> TurnMetrics:
    """The record of a timer, alarm or reminder; its outcome is how the ringing ended."""
    return TurnMetrics(
        turn_id=started.ring_id,
        at=_now(),
        source="ring",
        preset="",
        heard="",
        reply=started.text,
        outcome=ended.how,
        error_code="unheard" if ended.error else None,
        total_ms=_ms(ended.at_s - started.at_s),
    )


def _now() -> str:
    return dt.datetime.now().astimezone().isoformat(timespec="milliseconds")


def _spans(history: list[TurnEvent], zero_s: float) -> list[StageSpan]:
    spans = []
    asked_s = next((event.at_s for event in history if isinstance(event, events.ConfirmationRequired)), math.inf)
    for name, begins, ends, until_last in _STAGES:
        start = next((event.at_s for event in history if isinstance(event, begins)), None)
        stops = [event.at_s for event in history if isinstance(event, ends)]
        if start is not None and stops:
            end = stops[-1] if until_last else stops[0]
            if name in ("first_token", "generate") and start < asked_s:
                end = min(end, asked_s)  # waiting for a yes is not thinking
            spans.append(StageSpan(name, _ms(start - zero_s), _ms(max(start, end) - zero_s)))
    return spans


def _transcribed_early_ms(history: list[TurnEvent]) -> float:
    begun = [event for event in history if isinstance(event, events.TranscriptionStarted)]
    ends = [event.at_s for event in history if isinstance(event, events.EndpointReached | events.TranscriptReady)]
    # A speculative transcription that failed gave no result: the one made after the endpoint is the last.
    return _ms(min(ends) - begun[-1].at_s) if begun and ends and begun[-1].early else 0.0


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 1)


log = logging.getLogger(__name__)

FILE_NAME = "turns.jsonl"
_OLDER_SUFFIX = ".1"
_MOST_WAITING = 1000


class TurnLog:
    """Appends records. A full file is rotated, so that at least half of `max_bytes` is always kept."""

    def __init__(self, folder: Path, *, max_bytes: int, keep_text: bool = True) -> None:
        self._path = folder / FILE_NAME
        self._older = folder / (FILE_NAME + _OLDER_SUFFIX)
        self._max_bytes = max_bytes
        self._keep_text = keep_text
        self._has_written = False
        self._waiting: deque[TurnMetrics] = deque(maxlen=_MOST_WAITING)
        """Records that could not be written yet."""

    def append(self, record: TurnMetrics) -> None:
        """Raises StateError if the folder cannot be written; the record is then queued."""
        try:
            self.catch_up()
            self._write(record if self._keep_text else _without_text(record))
        except StateError:
            self._waiting.append(_without_text(record))
            raise

    def catch_up(self) -> None:
        """Write the queued records. Raises StateError."""
        while self._waiting:
            self._write(self._waiting[0])
            self._waiting.popleft()

    def _write(self, record: TurnMetrics) -> None:
        line = json.dumps(dataclasses.asdict(record), ensure_ascii=False).encode() + b"\n"
        try:
            private_folder(self._path.parent)
            is_there = self._path.exists()
            if self._has_written and not is_there:
                log.warning("%s was deleted: starting a new one", self._path)
            if is_there and self._path.stat().st_size + len(line) > self._max_bytes // 2:
                self._path.replace(self._older)
            _append(self._path, line)
            self._has_written = True
        except OSError as error:
            raise StateError(
                f"the turn could not be recorded in {self._path}: {error.strerror}",
                hint="make that folder writable, free some space, or set EDGEVOX_STATE_DIR to another folder",
            ) from error

    def between(self, from_s: float, until_s: float) -> list[TurnMetrics]:
        """The turns that ended in this period, oldest first. Raises StateError."""
        return [record for record in self._records() if from_s <= record.ended_s < until_s]

    def moments(self) -> dict[str, float]:
        """The end of each recorded turn by its id, in seconds since 1970. Raises StateError."""
        return {record.turn_id: record.ended_s for record in self._records()}

    def _records(self) -> Iterator[TurnMetrics]:
        lines = (line for path in (self._older, self._path) for line in _lines(path))
        return filter(None, map(_parse, lines))

    def delete(self, *, from_s: float = -math.inf, until_s: float = math.inf) -> int:
        """Delete the records of this period, and every unreadable line. Raises StateError."""

        def is_kept(line: str) -> bool:
            record = _parse(line)
            return record is not None and not from_s <= record.ended_s < until_s

        deleted = 0
        for path in (self._older, self._path):
            lines = _lines(path)
            kept = list(filter(is_kept, lines))
            if len(kept) < len(lines):
                _replace(path, kept)
                deleted += len(lines) - len(kept)
        return deleted

    def last(self) -> TurnMetrics | None:
        """The newest readable record, or None. Raises StateError."""
        lines = (line for path in (self._path, self._older) for line in reversed(_lines(path)))
        return next(filter(None, map(_parse, lines)), None)


def _append(path: Path, line: bytes) -> None:
    """Append the whole line or nothing; a line cut by a power failure does not spoil it. Raises OSError."""
    with open(path, "a+b", buffering=0, opener=open_private) as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(size - 1)
            if file.read(1) != b"\n":
                line = b"\n" + line
        if file.write(line) < len(line):
            os.ftruncate(file.fileno(), size)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _without_text(record: TurnMetrics) -> TurnMetrics:
    return dataclasses.replace(record, heard="", reply="", calls=(), speaker="")


def _lines(path: Path) -> list[str]:
    try:
        # Not splitlines: a text may contain other line separators, such as U+2028.
        return [line for line in path.read_text(encoding="utf-8", errors="replace").split("\n") if line]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StateError(f"{path} cannot be read: {error.strerror}", hint="check its permissions") from error


def _replace(path: Path, lines: list[str]) -> None:
    try:
        write_atomic(path, *(f"{line}\n" for line in lines))
    except OSError as error:
        raise StateError(f"{path} cannot be changed: {error.strerror}", hint="check its permissions") from error


_RECORD = TypeAdapter(TurnMetrics)


def _parse(line: str) -> TurnMetrics | None:
    # A line cut by a power failure, or written by another version, is skipped.
    try:
        record = _RECORD.validate_json(line)
        dt.datetime.fromisoformat(record.at)
    except ValueError:
        return None
    return record

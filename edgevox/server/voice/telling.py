"""What a client is told of its conversation: the events as frames, and what the assistant is doing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from edgevox.events import (
    ConfirmationDecided,
    ConfirmationRequired,
    EndpointReached,
    Event,
    ModelStarted,
    PlaybackFinished,
    PlaybackStarted,
    SpeechDropped,
    SpeechStarted,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from edgevox.metrics import TurnRecord, TurnRecorder
from edgevox.server.voice.event_frames import done_frame, frame_of, partial_frame
from edgevox.types import JsonObject, Transcript

Tell: TypeAlias = Callable[[JsonObject], None]
Doing: TypeAlias = Literal[
    "listening", "hearing", "understanding", "thinking", "acting", "asking", "speaking"
]


class Telling:
    """Give it every event of one conversation. `keep` gets the record of each turn."""

    def __init__(self, tell: Tell, keep: Callable[[TurnRecord], None], *, may_answer: bool = False) -> None:
        self.turn_id: str | None = None
        """The turn that is under way."""
        self._tell = tell
        self._keep = keep
        self._may_answer = may_answer
        self._recorder = TurnRecorder(self._recorded)
        self._record: TurnRecord | None = None
        self._doing: Doing = "listening"
        self._is_asking = False
        self._is_speaking = False

    def __call__(self, event: Event) -> None:
        self._recorder(event)
        match event:
            case TurnStarted(turn_id=turn_id):
                self.turn_id = turn_id
            case TurnEnded():
                self._ended(event)
        if frame := frame_of(event, may_answer=self._may_answer):
            self._tell(frame)
        self._note(event)

    def heard(self, transcript: Transcript) -> None:
        """The recogniser has understood something, which may still change."""
        if transcript.text:
            self._tell(partial_frame(transcript))

    def begin(self) -> None:
        """Tell what it does now."""
        self._tell({"type": "state", "state": self._doing})

    def _recorded(self, record: TurnRecord) -> None:
        self._record = record
        self._keep(record)

    def _ended(self, ended: TurnEnded) -> None:
        self.turn_id = None
        if self._record is not None and self._record.turn_id == ended.turn_id:
            self._tell(done_frame(ended, self._record))

    def _note(self, event: Event) -> None:
        """What it is doing now, read off the events."""
        match event:
            case SpeechStarted() if self.turn_id is None:
                self._is("hearing")
            case SpeechDropped() if self.turn_id is None:
                self._is("listening")
            case EndpointReached():
                self._is("understanding")
            case ModelStarted() | ToolFinished() if not self._is_speaking:
                self._is("thinking")
            case ToolStarted() | ConfirmationDecided():
                self._is_asking = False
                self._is("acting")
            case ConfirmationRequired():
                self._is_asking = True
                self._is("asking")
            case PlaybackStarted():
                self._is_speaking = True
                self._is("speaking")
            case PlaybackFinished():
                self._is_speaking = False
                if self._is_asking:
                    self._is("asking")
            case TurnEnded():
                self._is_speaking = self._is_asking = False
                self._is("listening")
            case _:
                pass

    def _is(self, doing: Doing) -> None:
        if doing != self._doing:
            self._doing = doing
            self.begin()

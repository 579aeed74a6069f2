"""Frames and close codes of the voice socket: client frames in, event frames and state changes out."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from enum import IntEnum
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from edgevox.core.events import (
    AnswerHeard,
    ConfirmationDecided,
    ConfirmationRequired,
    EndpointReached,
    EngineChanged,
    Event,
    InstantWordHeard,
    ModelStarted,
    PlaybackFinished,
    PlaybackStarted,
    ReplyDelta,
    RingEnded,
    RingStarted,
    SpeechDropped,
    SpeechStarted,
    ToolCallWritten,
    ToolFinished,
    ToolStarted,
    TranscriptReady,
    TurnEnded,
    TurnStarted,
)
from edgevox.core.metrics import TurnMetrics, TurnMetricsRecorder
from edgevox.core.types import JsonObject, Transcript

# A close frame holds 125 bytes: the code, and this many bytes of the reason.
_REASON_BYTES = 123


class CloseCode(IntEnum):
    """Application close codes; those below 4000 belong to the WebSocket protocol."""

    NOT_UNDERSTOOD = 4400
    UNKNOWN_TOKEN = 4401
    LACKS_SCOPE = 4403
    OTHER_VERSION = 4406
    NO_HELLO = 4408
    REPLACED = 4409
    STALLED = 4410
    FLOODED = 4429
    FAULT = 4500
    NO_PLACE = 4503


class CloseConnection(Exception):
    """Closes the connection with a code and a reason."""

    def __init__(self, code: CloseCode, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message

    @property
    def reason(self) -> str:
        """The reason, truncated to fit a close frame."""
        return self.message.encode()[:_REASON_BYTES].decode(errors="ignore")


def invalid_frame(message: str) -> CloseConnection:
    return CloseConnection(CloseCode.NOT_UNDERSTOOD, message)


VERSION = 1
FRAME_BYTES = 65_536
TEXT_CHARS = 4_000

_Rate: TypeAlias = Annotated[int, Field(ge=8_000, le=96_000)]


class _Frame(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)


class Hello(_Frame):
    """The first frame: token and audio formats of the client."""

    type: Literal["hello"]
    version: int
    token: str = Field(default="", max_length=512)
    rate_hz: _Rate = 16_000
    play_rate_hz: _Rate = 24_000
    speak: bool = True
    hears_itself: bool = False
    """Whether its microphone picks up its loudspeaker (no echo cancellation)."""


class Typed(_Frame):
    """A typed turn."""

    type: Literal["text"]
    text: str = Field(min_length=1, max_length=TEXT_CHARS)


class Answered(_Frame):
    """The answer to a confirmation."""

    type: Literal["confirm"]
    token: str = Field(min_length=1, max_length=256)
    granted: bool


class Stop(_Frame):
    """Stop the reply."""

    type: Literal["stop"]


class Played(_Frame):
    """Playback progress of a passage."""

    type: Literal["played"]
    passage: int = Field(ge=1)
    samples: int = Field(ge=0)


class AudioEnd(_Frame):
    """The microphone was turned off."""

    type: Literal["audio_end"]


class Ping(_Frame):
    """Checks that the connection is alive."""

    type: Literal["ping"]
    id: Annotated[str, Field(max_length=64)] | int | None = None


ClientFrame: TypeAlias = Hello | Typed | Answered | Stop | Played | AudioEnd | Ping

_FRAMES: TypeAdapter[ClientFrame] = TypeAdapter(Annotated[ClientFrame, Field(discriminator="type")])


def read_frame(text: str) -> ClientFrame:
    """Parse a client frame. Raises CloseConnection."""
    try:
        return _FRAMES.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        # The first element is the type of the frame, unless that is what is wrong.
        place = ".".join(str(step) for step in first["loc"])
        raise invalid_frame(f"{place or 'the frame'}: {first['msg']}") from None


def read_hello(text: str) -> Hello:
    """Parse the first frame. Raises CloseConnection."""
    hello = read_frame(text)
    if not isinstance(hello, Hello):
        raise invalid_frame(f"the first frame is hello, not {hello.type}")
    if hello.version != VERSION:
        raise CloseConnection(
            CloseCode.OTHER_VERSION, f"protocol version {hello.version} is not supported, only {VERSION}"
        )
    return hello


def frame_of(event: Event, *, may_answer: bool = False) -> JsonObject | None:
    """Return the frame of an event; None if clients do not get it. For the end of a turn, see `done_frame`."""
    match event:
        case TurnStarted(turn_id=turn_id, source=source):
            return {"type": "turn_begin", "turn_id": turn_id, "source": source}
        case TranscriptReady(turn_id=turn_id, text=text, language=language, dropped=dropped):
            return _transcript(text, language, dropped, turn_id)
        case ReplyDelta(turn_id=turn_id, text=text):
            return {"type": "token", "turn_id": turn_id, "text": text}
        case ToolCallWritten():
            return {
                "type": "tool_call_delta",
                "turn_id": event.turn_id,
                "call_id": event.call_id,
                "name": event.name,
                "arguments_delta": event.arguments_delta,
            }
        case ToolStarted():
            return {
                "type": "tool_call",
                "turn_id": event.turn_id,
                "call_id": event.call_id,
                "name": event.name,
                "arguments": json.loads(event.arguments),
            }
        case ToolFinished():
            return {
                "type": "tool_result",
                "turn_id": event.turn_id,
                "call_id": event.call_id,
                "name": event.name,
                "is_error": event.code is not None,
                "code": event.code,
                "content": event.content,
                "elapsed_ms": round(event.elapsed_s * 1000, 1),
            }
        case ConfirmationRequired():
            return {
                "type": "confirmation_required",
                "turn_id": event.turn_id,
                "token": event.token,
                "name": event.name,
                "question": event.question,
                "level": event.level,
                "may_answer": may_answer,
            }
        case AnswerHeard():
            return {
                "type": "answer_heard",
                "turn_id": event.turn_id,
                "token": event.token,
                "text": event.text,
                "answer": event.answer,
            }
        case ConfirmationDecided():
            return {
                "type": "confirmation_decided",
                "turn_id": event.turn_id,
                "token": event.token,
                "granted": event.granted,
                "why": event.why,
            }
        case InstantWordHeard(turn_id=turn_id, word=word):
            return {"type": "instant_word", "turn_id": turn_id, "word": word}
        case _:
            return shared_frame_of(event)


def shared_frame_of(event: Event) -> JsonObject | None:
    """Return the frame of an event that all clients get: engine states and alarms."""
    match event:
        case EngineChanged(engine=engine, state=state, detail=detail):
            return {"type": "engine", "engine": engine, "state": state, "detail": detail}
        case RingStarted(ring_id=ring_id, kind=kind, text=text):
            return {"type": "ring", "ring_id": ring_id, "kind": kind, "text": text, "is_ringing": True}
        case RingEnded(ring_id=ring_id, kind=kind):
            return {"type": "ring", "ring_id": ring_id, "kind": kind, "text": "", "is_ringing": False}
        case _:
            return None


def partial_frame(heard: Transcript) -> JsonObject:
    """Return the frame of a provisional transcript."""
    return {**_transcript(heard.text, heard.language, None, None), "final": False}


def done_frame(ended: TurnEnded, record: TurnMetrics) -> JsonObject:
    """Return the frame for the end of a turn, with its metrics."""
    return {
        "type": "done",
        "turn_id": ended.turn_id,
        "outcome": ended.outcome,
        "heard": record.heard,
        "reply": ended.reply,
        "error_code": ended.error_code,
        "error": ended.error,
        "hint": ended.hint,
        "waterfall": waterfall(record),
    }


def waterfall(record: TurnMetrics) -> JsonObject:
    return {
        "total_ms": record.total_ms,
        "transcribed_early_ms": record.transcribed_early_ms,
        "prompt_tokens": record.prompt_tokens,
        "cached_tokens": record.cached_tokens,
        "generated_tokens": record.generated_tokens,
        "stages": [dataclasses.asdict(stage) for stage in record.stages],
    }


def _transcript(text: str, language: str, dropped: str | None, turn_id: str | None) -> JsonObject:
    return {
        "type": "transcript",
        "text": text,
        "final": True,
        "turn_id": turn_id,
        "language": language,
        "dropped": dropped,
    }


SendFrame: TypeAlias = Callable[[JsonObject], None]
Doing: TypeAlias = Literal["listening", "hearing", "understanding", "thinking", "acting", "asking", "speaking"]


class SessionObserver:
    """Turns the events of one conversation into frames. `keep` gets the metrics of each turn."""

    def __init__(self, send_frame: SendFrame, keep: Callable[[TurnMetrics], None], *, may_answer: bool = False) -> None:
        self.turn_id: str | None = None
        """The current turn."""
        self._send_frame = send_frame
        self._keep = keep
        self._may_answer = may_answer
        self._recorder = TurnMetricsRecorder(self._recorded)
        self._record: TurnMetrics | None = None
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
            self._send_frame(frame)
        self._note(event)

    def heard(self, transcript: Transcript) -> None:
        """Send a provisional transcript."""
        if transcript.text:
            self._send_frame(partial_frame(transcript))

    def begin(self) -> None:
        """Send the current state."""
        self._send_frame({"type": "state", "state": self._doing})

    def _recorded(self, record: TurnMetrics) -> None:
        self._record = record
        self._keep(record)

    def _ended(self, ended: TurnEnded) -> None:
        self.turn_id = None
        if self._record is not None and self._record.turn_id == ended.turn_id:
            self._send_frame(done_frame(ended, self._record))

    def _note(self, event: Event) -> None:
        """Update the state from an event."""
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

"""Frames and close codes of the voice socket: client frames in, event frames and state changes out."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from edgevox.core import events
from edgevox.core.errors import DeviceUnavailable
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


REALTIME_PATH = "/v1/realtime"
VERSION = 1
FRAME_BYTES = 65_536
REALTIME_FRAME_BYTES = 1_048_576
"""16 s of sound in one event of the Realtime API."""
TEXT_CHARS = 4_000

SATELLITE_NAME = r"^[A-Za-z0-9_-]*$"

MediaPlayerId: TypeAlias = Annotated[str, Field(pattern=r"^(media_player\.[a-z0-9_]+)?$", max_length=255)]
"""A media player of Home Assistant on which a satellite answers; empty: the satellite itself."""

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
    room: str = Field(default="", max_length=100)
    """The name of the room in which it stands."""
    satellite: str = Field(default="", max_length=64, pattern=SATELLITE_NAME)
    """The name of a satellite: timers that are set there ring there, and a new connection replaces the last one."""
    away_s: float = Field(default=0.0, ge=0)
    """How long a satellite was without a connection; 0 at its start."""
    player: MediaPlayerId = ""


class Typed(_Frame):
    """A typed turn."""

    type: Literal["text"]
    text: str = Field(min_length=1, max_length=TEXT_CHARS)


class Called(_Frame):
    """A tool call that was chosen on a screen; policy, confirmation and log are those of a spoken command."""

    type: Literal["call"]
    name: str = Field(min_length=1, max_length=64)
    arguments: dict[str, Any] = Field(default_factory=dict)


class Answered(_Frame):
    """The answer to a confirmation."""

    type: Literal["confirm"]
    token: str = Field(min_length=1, max_length=256)
    granted: bool


class Stop(_Frame):
    """Stop the reply."""

    type: Literal["stop"]


class Snooze(_Frame):
    """Let what rings ring again later."""

    type: Literal["snooze"]


class Played(_Frame):
    """Playback progress of a passage."""

    type: Literal["played"]
    passage: int = Field(ge=1)
    samples: int = Field(ge=0)


class AudioEnd(_Frame):
    """The microphone was turned off."""

    type: Literal["audio_end"]


class WakeWordHeard(_Frame):
    """The satellite has heard the wake word, so well: the model's mean probability, and the level above the noise.

    `at_s` is when, by the server's clock in the answers to its pings.
    """

    type: Literal["wake"]
    score: float = Field(ge=0, le=1)
    level_db: float = Field(ge=-200, le=200)
    at_s: float | None = None


class Ping(_Frame):
    """Checks that the connection is alive, and asks for the time."""

    type: Literal["ping"]
    id: Annotated[str, Field(max_length=64)] | int | None = None


ClientFrame: TypeAlias = Hello | Typed | Called | Answered | Stop | Snooze | Played | AudioEnd | WakeWordHeard | Ping

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


# The type of the frame of each event, and the fields that clients get.
_FRAMES_OF_EVENTS: Mapping[type[events.Event], tuple[str, ...]] = {
    events.TurnStarted: ("turn_begin", "turn_id", "source", "room"),
    events.TranscriptReady: ("transcript", "turn_id", "text", "language", "dropped"),
    events.ReplyDelta: ("token", "turn_id", "text"),
    events.ToolCallWritten: ("tool_call_delta", "turn_id", "call_id", "name", "arguments_delta"),
    events.ToolStarted: ("tool_call", "turn_id", "call_id", "name", "summary"),
    events.ToolFinished: ("tool_result", "turn_id", "call_id", "name", "code", "content", "summary"),
    events.ConfirmationRequired: (
        "confirmation_required",
        "turn_id",
        "token",
        "name",
        "question",
        "level",
        "expires_in_s",
    ),
    events.AnswerHeard: ("answer_heard", "turn_id", "token", "text", "answer"),
    events.ConfirmationDecided: ("confirmation_decided", "turn_id", "token", "granted", "why"),
    events.BuiltinCommandRun: ("instant_word", "turn_id", "word"),
    events.EngineChanged: ("engine", "engine", "state", "detail"),
    events.RingStarted: ("ring", "ring_id", "kind", "text", "satellites"),
    events.RingEnded: ("ring", "ring_id", "kind"),
}


def frame_of(event: events.Event, *, may_answer: bool = False) -> JsonObject | None:
    """Return the frame of an event; None if clients do not get it. The end of a turn has no frame here."""
    if (described := _FRAMES_OF_EVENTS.get(type(event))) is None:
        return None
    kind, *names = described
    frame = {"type": kind, **fields_of(event, *names)}
    match event:
        case events.TranscriptReady():
            return {**frame, "final": True}
        case events.ToolStarted(arguments=arguments):
            return {**frame, "arguments": json.loads(arguments)}
        case events.ToolFinished(code=code, elapsed_s=elapsed_s):
            return {**frame, "is_error": code is not None, "elapsed_ms": round(elapsed_s * 1000, 1)}
        case events.ConfirmationRequired():
            return {**frame, "may_answer": may_answer}
        case events.RingStarted():
            return {**frame, "is_ringing": True}
        case events.RingEnded():
            return {**frame, "text": "", "is_ringing": False}
        case _:
            return frame


def fields_of(source: object, *names: str) -> dict[str, Any]:
    return {name: getattr(source, name) for name in names}


def waterfall(record: TurnMetrics) -> JsonObject:
    tokens = ("prompt_tokens", "cached_tokens", "generated_tokens")
    stages = [dataclasses.asdict(stage) for stage in record.stages]
    return {**fields_of(record, "total_ms", "transcribed_early_ms", *tokens), "stages": stages}


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
        self.doing: Doing = "listening"
        self._is_asking = False
        self._is_speaking = False
        self._is_unplayed = False

    @property
    def is_in_turn(self) -> bool:
        """Whether there is a turn, or the reply of the last one could not be played."""
        return self.turn_id is not None or self._is_unplayed

    def __call__(self, event: events.Event) -> None:
        self._recorder(event)
        match event:
            case events.TurnStarted(turn_id=turn_id):
                self.turn_id = turn_id
            case events.TurnEnded():
                self._is_unplayed = event.error_code == DeviceUnavailable.code
                self._ended(event)
        if frame := frame_of(event, may_answer=self._may_answer):
            self._send_frame(frame)
        self._note(event)

    def on_transcript(self, transcript: Transcript) -> None:
        if transcript.text:
            provisional = {"type": "transcript", "final": False, "turn_id": None, "dropped": None}
            self._send_frame({**provisional, **fields_of(transcript, "text", "language")})

    def begin(self) -> None:
        self._send_frame({"type": "state", "state": self.doing})

    def _recorded(self, record: TurnMetrics) -> None:
        self._record = record
        self._keep(record)

    def _ended(self, ended: events.TurnEnded) -> None:
        self.turn_id = None
        if (record := self._record) is not None and record.turn_id == ended.turn_id:
            shown = fields_of(ended, "turn_id", "outcome", "reply", "error_code", "error", "hint")
            recorded = {**fields_of(record, "heard", "speaker"), "waterfall": waterfall(record)}
            self._send_frame({"type": "done", **shown, **recorded})

    def _note(self, event: events.Event) -> None:
        match event:
            case events.SpeechStarted() if self.turn_id is None:
                self._is("hearing")
            case events.SpeechDropped() if self.turn_id is None:
                self._is("listening")
            case events.EndpointReached():
                self._is("understanding")
            case events.ModelStarted() | events.ToolFinished() if not self._is_speaking:
                self._is("thinking")
            case events.ToolStarted() | events.ConfirmationDecided():
                self._is_asking = False
                self._is("acting")
            case events.ConfirmationRequired():
                self._is_asking = True
                self._is("asking")
            case events.PlaybackStarted():
                self._is_speaking = True
                self._is("speaking")
            case events.PlaybackFinished():
                self._is_speaking = False
                if self._is_asking:
                    self._is("asking")
            case events.TurnEnded():
                self._is_speaking = self._is_asking = False
                self._is("listening")
            case _:
                pass

    def _is(self, doing: Doing) -> None:
        if doing != self.doing:
            self.doing = doing
            self.begin()

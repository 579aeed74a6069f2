"""Messages of the control socket: one JSON object per line, of bounded length, in both directions.

A connection is one request. The answer is any number of notes, followed by `done` or `error`. While the
assistant waits for a confirmation, the client may send an answer.
"""

from __future__ import annotations

import base64
import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from edgevox.core import events
from edgevox.core.errors import ControlError
from edgevox.core.events import Event
from edgevox.core.files import parse_json
from edgevox.core.types import Audio, JsonObject

VERSION: Literal[1] = 1
LINE_BYTES = 1 << 20
"""Maximum line length; pieces of audio are the longest."""
TEXT_CHARS = 20_000
SOCKET_NAME = "control.sock"


class _Request(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    v: Literal[1] = VERSION


class SimpleRequest(_Request):
    """A request without content.

    `watch` streams until the connection is closed, `talk` listens for one utterance even if muted, and `stop`
    ends the current turn and alarm.
    """

    do: Literal["status", "watch", "mute", "unmute", "talk", "stop", "reload"]


class Ask(_Request):
    """Answer a question as text. `overrides` are settings that the assistant must have."""

    do: Literal["ask"] = "ask"
    text: str = Field(min_length=1, max_length=TEXT_CHARS)
    overrides: dict[str, Any] = {}
    can_answer: bool = False
    """Whether a user can answer a confirmation."""


class Say(_Request):
    """Speak a text on the loudspeaker, or return the audio."""

    do: Literal["say"] = "say"
    text: str = Field(min_length=1, max_length=TEXT_CHARS)
    overrides: dict[str, Any] = {}
    where: Literal["loudspeaker", "here"] = "loudspeaker"


Request: TypeAlias = SimpleRequest | Ask | Say

_REQUESTS: TypeAdapter[Request] = TypeAdapter(Annotated[Request, Field(discriminator="do")])


def read_request(line: bytes) -> Request:
    """Parse a request. Raises ControlError."""
    content = read_object(line)
    if (version := content.get("v")) != VERSION:
        raise ControlError(
            f"the running assistant uses protocol version {VERSION}, not {version}",
            hint="EdgeVox was updated while running: restart it (systemctl --user restart edgevox)",
        )
    try:
        return _REQUESTS.validate_python(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ControlError(f"invalid request: {f'{place}: ' if place else ''}{first['msg']}") from error


def line_of(content: Mapping[str, object]) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def read_object(line: bytes) -> JsonObject:
    """Parse a line. Raises ControlError."""
    try:
        content = parse_json(line)
    except ValueError as error:
        raise ControlError("the line is not JSON", hint="one JSON object per line") from error
    if not isinstance(content, dict):
        raise ControlError("the line is not a JSON object")
    return content


_KINDS = {kind.__name__: kind for kind in vars(events).values() if isinstance(kind, type) and issubclass(kind, Event)}


def event_to_note(event: Event) -> JsonObject:
    """Convert an event to JSON; its time is the monotonic clock of this machine."""
    facts = dataclasses.asdict(event)
    if "kind" in facts:  # a note has a kind of its own
        facts["event_kind"] = facts.pop("kind")
    return {"event": type(event).__name__, **facts}


def event_from_note(note: JsonObject) -> Event | None:
    """Convert a note to an event; None if this version does not know it."""
    kind = _KINDS.get(str(note.get("event")))
    if kind is None:
        return None
    names = {field.name for field in dataclasses.fields(kind)}
    facts: dict[str, Any] = {
        "kind" if name == "event_kind" else name: tuple(value) if isinstance(value, list) else value
        for name, value in note.items()
        if name != "kind"
    }
    try:
        return kind(**{name: value for name, value in facts.items() if name in names})
    except TypeError:  # a field is missing
        return None


_PIECE_SAMPLES = 1 << 17


def audio_to_notes(sound: Audio) -> Iterator[JsonObject]:
    """Yield the content of the notes for this audio."""
    for start in range(0, len(sound.samples), _PIECE_SAMPLES):
        piece = sound.samples[start : start + _PIECE_SAMPLES].astype("<f4")
        yield {"rate_hz": sound.rate_hz, "float32": base64.b64encode(piece.tobytes()).decode()}


class _Sound(BaseModel):
    float32: str
    rate_hz: int = Field(ge=1, le=384_000)


def audio_from_note(note: JsonObject) -> Audio:
    """Convert a note to audio. Raises ControlError."""
    try:
        sound = _Sound.model_validate(note)
        samples = np.frombuffer(base64.b64decode(sound.float32, validate=True), dtype="<f4")
    except ValueError as error:
        raise ControlError("a note has no valid audio") from error
    return Audio(samples.astype(np.float32), sound.rate_hz)

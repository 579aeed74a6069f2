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
from edgevox.core.types import Audio, JsonObject

VERSION: Literal[1] = 1
LINE_BYTES = 1 << 20
"""The longest line: a piece of sound is the longest thing that is said here."""
TEXT_CHARS = 20_000


class _Request(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    v: Literal[1] = VERSION


class Status(_Request):
    """How is it?"""

    do: Literal["status"] = "status"


class Watch(_Request):
    """Tell what happens, until the connection is closed."""

    do: Literal["watch"] = "watch"


class Mute(_Request):
    """Do not listen."""

    do: Literal["mute"] = "mute"


class Unmute(_Request):
    """Listen again."""

    do: Literal["unmute"] = "unmute"


class Talk(_Request):
    """Listen to what is said next, muted or not."""

    do: Literal["talk"] = "talk"


class Stop(_Request):
    """Be quiet: end the turn that is under way, and what rings."""

    do: Literal["stop"] = "stop"


class Reload(_Request):
    """Read the settings again."""

    do: Literal["reload"] = "reload"


class Ask(_Request):
    """Answer a question in words. `overrides` are the settings that must hold; else it is refused."""

    do: Literal["ask"] = "ask"
    text: str = Field(min_length=1, max_length=TEXT_CHARS)
    overrides: dict[str, Any] = {}
    can_answer: bool = False
    """Somebody sits there who can say yes or no."""


class Say(_Request):
    """Speak a text, on the loudspeaker or as sound that is sent here."""

    do: Literal["say"] = "say"
    text: str = Field(min_length=1, max_length=TEXT_CHARS)
    overrides: dict[str, Any] = {}
    where: Literal["loudspeaker", "here"] = "loudspeaker"


Request: TypeAlias = Status | Watch | Mute | Unmute | Talk | Stop | Reload | Ask | Say

_REQUESTS: TypeAdapter[Request] = TypeAdapter(Annotated[Request, Field(discriminator="do")])


def read_request(line: bytes) -> Request:
    """The request in a line. Raises ControlError."""
    try:
        content = json.loads(line)
    except ValueError as error:
        raise ControlError("the request is not JSON", hint="one JSON object per line") from error
    if isinstance(content, dict) and (version := content.get("v")) != VERSION:
        raise ControlError(
            f"the assistant speaks version {VERSION} of its protocol, not {version}",
            hint="it was updated while it ran: restart it (systemctl --user restart edgevox)",
        )
    try:
        return _REQUESTS.validate_python(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ControlError(f"the request cannot be used: {place} {first['msg']}".strip()) from error


def write_request(request: Request) -> bytes:
    return line_of(request.model_dump())


def line_of(content: Mapping[str, object]) -> bytes:
    """The object as one line."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


def read_object(line: bytes) -> JsonObject:
    """The object in a line that is no request. Raises ControlError."""
    try:
        content = json.loads(line)
    except ValueError as error:
        raise ControlError("the line is not JSON") from error
    if not isinstance(content, dict):
        raise ControlError("the line is no JSON object")
    return content


_KINDS = {kind.__name__: kind for kind in vars(events).values() if isinstance(kind, type) and issubclass(kind, Event)}


def event_to_note(event: Event) -> JsonObject:
    """The event as a JSON object. Its time is that of this machine's monotonic clock."""
    return {"event": type(event).__name__, **dataclasses.asdict(event)}


def event_from_note(note: JsonObject) -> Event | None:
    """The event in a note; None for one that this version does not know."""
    kind = _KINDS.get(str(note.get("event")))
    if kind is None:
        return None
    names = {field.name for field in dataclasses.fields(kind)}
    try:
        return kind(**{name: value for name, value in note.items() if name in names})
    except TypeError:  # a part of it is missing
        return None


_PIECE_SAMPLES = 1 << 17


def audio_to_notes(sound: Audio) -> Iterator[JsonObject]:
    """What the notes that carry this sound hold."""
    for start in range(0, len(sound.samples), _PIECE_SAMPLES):
        piece = sound.samples[start : start + _PIECE_SAMPLES].astype("<f4")
        yield {"rate_hz": sound.rate_hz, "float32": base64.b64encode(piece.tobytes()).decode()}


def audio_from_note(note: JsonObject) -> Audio:
    """The sound in a note, at the other end."""
    samples = np.frombuffer(base64.b64decode(note["float32"]), dtype="<f4")
    return Audio(samples.astype(np.float32), int(note["rate_hz"]))


SOCKET_NAME = "control.sock"

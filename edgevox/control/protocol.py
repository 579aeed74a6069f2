"""What goes over the control socket: one JSON object per line, in both directions, of bounded length.

A connection is one request. The answer is any number of notes and then its end, which is `done` or `error`.
While a question is answered the client may send answers to what is asked back.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from edgevox.errors import ControlError
from edgevox.types import JsonObject

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


Request: TypeAlias = Status | Mute | Unmute | Talk | Stop | Reload | Ask | Say

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

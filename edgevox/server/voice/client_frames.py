"""What a client sends as text: JSON objects, read strictly. Everything else it sends is sound."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from edgevox.server.voice.closing import CloseCode, CutOff, not_understood

VERSION = 1
FRAME_BYTES = 65_536
TEXT_CHARS = 4_000

_Rate: TypeAlias = Annotated[int, Field(ge=8_000, le=96_000)]


class _Frame(BaseModel):
    model_config = ConfigDict(strict=True, frozen=True, extra="forbid", allow_inf_nan=False)


class Hello(_Frame):
    """The first frame: who it is, and which sound it sends and wants."""

    type: Literal["hello"]
    version: int
    token: str = Field(default="", max_length=512)
    rate_hz: _Rate = 16_000
    play_rate_hz: _Rate = 24_000
    speak: bool = True
    hears_itself: bool = False
    """Whether its microphone hears its loudspeaker: nobody cancels the echo."""


class Typed(_Frame):
    """A turn in words."""

    type: Literal["text"]
    text: str = Field(min_length=1, max_length=TEXT_CHARS)


class Answered(_Frame):
    """The answer to a question that needs one."""

    type: Literal["confirm"]
    token: str = Field(min_length=1, max_length=256)
    granted: bool


class Stop(_Frame):
    """Be quiet."""

    type: Literal["stop"]


class Played(_Frame):
    """So much of a passage has been heard."""

    type: Literal["played"]
    passage: int = Field(ge=1)
    samples: int = Field(ge=0)


class AudioEnd(_Frame):
    """The microphone is off."""

    type: Literal["audio_end"]


class Ping(_Frame):
    """Is anybody there?"""

    type: Literal["ping"]
    id: Annotated[str, Field(max_length=64)] | int | None = None


ClientFrame: TypeAlias = Hello | Typed | Answered | Stop | Played | AudioEnd | Ping

_FRAMES: TypeAdapter[ClientFrame] = TypeAdapter(Annotated[ClientFrame, Field(discriminator="type")])


def read_frame(text: str) -> ClientFrame:
    """Raises CutOff."""
    try:
        return _FRAMES.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        # The first step is the frame's own type, or nothing where that is what is wrong.
        place = ".".join(str(step) for step in first["loc"])
        raise not_understood(f"{place or 'the frame'}: {first['msg']}") from None


def read_hello(text: str) -> Hello:
    """The first frame. Raises CutOff."""
    hello = read_frame(text)
    if not isinstance(hello, Hello):
        raise not_understood(f"the first frame is hello, not {hello.type}")
    if hello.version != VERSION:
        raise CutOff(CloseCode.OTHER_VERSION, f"this server speaks version {VERSION}, not {hello.version}")
    return hello

"""A line to somebody who speaks from elsewhere: what they bring, and what the daemon makes of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from edgevox.agents.acting import Publish
from edgevox.agents.confirm import Confirm
from edgevox.audio.duplex import Duplex
from edgevox.bus import Bus
from edgevox.tools.scopes import Caller
from edgevox.types import Transcript
from edgevox.voice import Ear, Loudspeaker, VoiceLoop


@dataclass(frozen=True, slots=True)
class Line:
    """Their ear and loudspeaker, who they are, and where the events of their conversation go.

    Without `confirm` they are asked themselves, aloud and on their screen. `heard` is told all that the
    recogniser understands, also what may still change. `duplex` is how their sound goes both ways.
    """

    ear: Ear
    loudspeaker: Loudspeaker | None
    caller: Caller
    publish: Publish
    confirm: Confirm | None = None
    heard: Callable[[Transcript], None] = lambda _transcript: None
    duplex: Duplex = "device"


class OpenLine(Protocol):
    """Makes the conversation of a line, inside the block; at its end nothing is left of it."""

    def __call__(self, line: Line) -> AbstractAsyncContextManager[VoiceLoop]: ...


@dataclass(frozen=True, slots=True)
class Switchboard:
    """What the daemon has for those who speak from elsewhere.

    `longest_pause_s` is the longest silence that ends what is being said, and on the `bus` is what happens in
    the room.
    """

    open: OpenLine
    bus: Bus
    listens: bool
    speaks: bool
    longest_pause_s: float

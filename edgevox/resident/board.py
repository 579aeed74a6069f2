"""The status board: what the assistant is doing and how its parts are, read off the events."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from edgevox import __version__
from edgevox.events import (
    ConfirmationRequired,
    EngineChanged,
    Event,
    ModelStarted,
    PlaybackFinished,
    PlaybackStarted,
    RingEnded,
    RingStarted,
    SoundChanged,
    SoundDevice,
    SpeechDropped,
    SpeechStarted,
    TranscriptionStarted,
    TurnEnded,
)
from edgevox.types import JsonObject

Doing: TypeAlias = Literal[
    "starting", "listening", "hearing", "understanding", "thinking", "speaking", "asking", "ringing"
]


@dataclass
class _Engine:
    state: str
    detail: str = ""
    restarts: int = 0


@dataclass
class _Device:
    is_there: bool = False
    name: str = ""
    detail: str = ""


@dataclass
class StatusBoard:
    """Listens to the events of one session after the other; counts go on, states begin anew."""

    doing: Doing = "starting"
    turns: int = 0
    failed_turns: int = 0
    _started_s: float = field(default_factory=time.monotonic)
    _engines: dict[str, _Engine] = field(default_factory=dict)
    _devices: dict[SoundDevice, _Device] = field(default_factory=dict)
    _ringing: set[str] = field(default_factory=set)

    def __call__(self, event: Event) -> None:
        match event:
            case SpeechStarted():
                self.doing = "hearing"
            case TranscriptionStarted(early=False):
                self.doing = "understanding"
            case ModelStarted():
                self.doing = "thinking"
            case PlaybackStarted():
                self.doing = "speaking"
            case ConfirmationRequired():
                self.doing = "asking"
            case RingStarted(ring_id=ring_id):
                self._ringing.add(ring_id)
                self.rest()
            case RingEnded(ring_id=ring_id):
                self._ringing.discard(ring_id)
                self.rest()
            case TurnEnded(outcome=outcome):
                self.turns += outcome != "dropped"
                self.failed_turns += outcome == "failed"
                self.rest()
            case SpeechDropped() | PlaybackFinished():
                self.rest()
            case EngineChanged(engine=name, state=state, detail=detail):
                engine = self._engines.setdefault(name, _Engine(state))
                engine.state, engine.detail = state, detail
                engine.restarts += state == "restarting"
            case SoundChanged(device=kind, is_there=is_there, name=name, detail=detail):
                self._devices[kind] = _Device(is_there, name, detail)
            case _:
                pass

    def rest(self) -> None:
        """Nothing is going on but listening, and perhaps ringing."""
        self.doing = "ringing" if self._ringing else "listening"

    def facts(self) -> JsonObject:
        """What is on the board, for people and programs."""
        return {
            "pid": os.getpid(),
            "version": __version__,
            "up_s": round(time.monotonic() - self._started_s),
            "state": self.doing,
            "devices": {kind: _of(device) for kind, device in self._devices.items()},
            "engines": {name: _of(engine) for name, engine in self._engines.items()},
            "turns": self.turns,
            "failed_turns": self.failed_turns,
        }


def _of(entry: _Engine | _Device) -> JsonObject:
    return dict(vars(entry))

"""What parent and child say to each other: length-prefixed pickles over a socket pair that only they hold.

Pickle is safe here because both ends are this program, started by this user, on a socket without a name.
"""

from __future__ import annotations

import pickle
import struct
from dataclasses import dataclass
from typing import Any, TypeAlias

from edgevox.engine.pulse import PULSE
from edgevox.errors import EdgevoxError

LENGTH = struct.Struct("!I")
# A frame holds at most a few minutes of sound; more means that the two ends have lost step.
MAX_FRAME_BYTES = 256 * 1024 * 1024

# One cancel flag per request, so that a late cancel cannot hit the next one. Two bytes each, see CancelFlag.
FLAG_SLOTS = 64
FLAG_BYTES = 2
# Behind the flags, in the same memory.
PULSE_OFFSET = FLAG_SLOTS * FLAG_BYTES
SHARED_BYTES = PULSE_OFFSET + PULSE.size


@dataclass(frozen=True, slots=True)
class Load:
    """Parent: this is the engine you are."""

    engine: Any


@dataclass(frozen=True, slots=True)
class Run:
    """Parent: answer this."""

    request_id: int
    request: Any


@dataclass(frozen=True, slots=True)
class Ready:
    """Child: the model is read."""


@dataclass(frozen=True, slots=True)
class Reply:
    """Child: one piece of the answer."""

    request_id: int
    value: Any


@dataclass(frozen=True, slots=True)
class Finished:
    """Child: the answer is complete."""

    request_id: int


@dataclass(frozen=True, slots=True)
class Failed:
    """Child: loading (no request_id) or a request ended with an error that a user can read."""

    request_id: int | None
    error: EdgevoxError


ParentFrame: TypeAlias = Load | Run
ChildFrame: TypeAlias = Ready | Reply | Finished | Failed


def encode(frame: ParentFrame | ChildFrame) -> bytes:
    body = pickle.dumps(frame, protocol=pickle.HIGHEST_PROTOCOL)
    return LENGTH.pack(len(body)) + body


def decode(body: bytes) -> object:
    frame: object = pickle.loads(body)  # noqa: S301  (see the module's docstring)
    return frame


def flag_slot(request_id: int) -> int:
    """Where in the shared flags the flag of this request lies, in bytes."""
    return (request_id % FLAG_SLOTS) * FLAG_BYTES

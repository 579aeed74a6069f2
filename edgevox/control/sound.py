"""Sound over the control socket: samples in base64, in pieces that fit a line."""

from __future__ import annotations

import base64
from collections.abc import Iterator

import numpy as np

from edgevox.types import Audio, JsonObject

_PIECE_SAMPLES = 1 << 17


def sound_notes(sound: Audio) -> Iterator[JsonObject]:
    """What the notes that carry this sound hold."""
    for start in range(0, len(sound.samples), _PIECE_SAMPLES):
        piece = sound.samples[start : start + _PIECE_SAMPLES].astype("<f4")
        yield {"rate_hz": sound.rate_hz, "float32": base64.b64encode(piece.tobytes()).decode()}


def sound_of(note: JsonObject) -> Audio:
    """The sound in a note, at the other end."""
    samples = np.frombuffer(base64.b64decode(note["float32"]), dtype="<f4")
    return Audio(samples.astype(np.float32), int(note["rate_hz"]))

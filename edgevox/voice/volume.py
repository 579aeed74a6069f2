"""How loud the assistant speaks: changed in steps while it runs, and never so that it crackles."""

from __future__ import annotations

import numpy as np

from edgevox.types import Audio

_STEP_DB = 5.0
_QUIETEST_DB = -25.0
_LOUDEST_DB = 10.0
# Up to here the sound stays as it is; what is louder is bent so that it never reaches 1.
_KNEE = 0.7


class Volume:
    """The loudness of the voice, in decibels above or below what the synthesizer makes."""

    def __init__(self) -> None:
        self.gain_db = 0.0

    def raise_step(self) -> bool:
        """One step louder; False when it is as loud as it can be."""
        return self._set(self.gain_db + _STEP_DB)

    def lower_step(self) -> bool:
        """One step quieter; False when it is as quiet as it can be."""
        return self._set(self.gain_db - _STEP_DB)

    def applied(self, sound: Audio) -> Audio:
        """The sound as loud as it is to be."""
        if self.gain_db == 0.0:
            return sound
        samples = sound.samples * np.float32(10 ** (self.gain_db / 20))
        if self.gain_db > 0.0:
            size = np.abs(samples)
            bent = _KNEE + (1 - _KNEE) * np.tanh((size - _KNEE) / (1 - _KNEE))
            samples = np.where(size > _KNEE, np.copysign(bent, samples), samples)
        return Audio(samples.astype(np.float32), sound.rate_hz)

    def _set(self, gain_db: float) -> bool:
        bounded_db = min(max(gain_db, _QUIETEST_DB), _LOUDEST_DB)
        is_changed = bounded_db != self.gain_db
        self.gain_db = bounded_db
        return is_changed

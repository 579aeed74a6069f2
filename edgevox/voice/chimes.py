"""Soft tones that say something without a word: I listen, you were understood, nothing came of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from edgevox.types import Audio
from edgevox.voice.ring_sound import RATE_HZ

# A5; and a fourth that falls, lower than that, as a voice does that is sorry. Nothing here is as high as what
# rings, which is not to be taken for it.
HEARD_HZ = (880.0,)
FAILED_HZ = (622.3, 466.2)
# The same fourth, as somebody asks "yes?".
CALLED_HZ = (466.2, 622.3)

# The reply may have to wait for the end of the first: it is as short as a tone that does not click can be.
_HEARD_S = 0.09
_FAILED_S = 0.14
_EDGE_S = 0.03
# An octave above, or it sounds like a hearing test.
_OVERTONE = 0.25


@cache
def called(volume: float) -> Audio:
    """It was called, and listens."""
    return _tones(CALLED_HZ, _FAILED_S, volume)


@cache
def heard(volume: float) -> Audio:
    """Your words were taken. Its peak is `volume`."""
    return _tones(HEARD_HZ, _HEARD_S, volume)


@cache
def failed(volume: float) -> Audio:
    """Nothing came of them."""
    return _tones(FAILED_HZ, _FAILED_S, volume)


def _tones(tones_hz: Sequence[float], seconds: float, peak: float) -> Audio:
    samples = np.concatenate([_tone(tone_hz, seconds / len(tones_hz)) for tone_hz in tones_hz])
    samples *= peak / np.max(np.abs(samples))
    return Audio(samples.astype(np.float32), RATE_HZ)


def _tone(tone_hz: float, seconds: float) -> NDArray[np.float64]:
    t_s = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    phase = 2 * np.pi * tone_hz * t_s
    sound = np.sin(phase) + _OVERTONE * np.sin(2 * phase)
    # A raised cosine at both ends: what begins or ends in the middle of a wave clicks.
    from_end_s = np.minimum(t_s, t_s[-1] - t_s)
    return np.asarray(sound * (0.5 - 0.5 * np.cos(np.pi * np.minimum(1.0, from_end_s / _EDGE_S))))

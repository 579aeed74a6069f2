"""What is heard when something is due: a chime for timers and reminders, an alarm that grows louder."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from edgevox.types import Audio

RATE_HZ = 22_050
# E6 and C6, a third that falls; and a major chord that rises, above most of what a voice has.
CHIME_HZ = (1318.5, 1046.5)
ALARM_HZ = (784.0, 987.8, 1174.7)

_CHIME_PEAK = 0.6
_ALARM_PEAK = 0.85
_CHIME_STEP_S = 0.28
_ALARM_STEP_S = 0.16
_ALARM_REPEATS = 3
_RING_OUT_S = 0.7
# The partials of a small bell: how far above the tone, how loud, and how soon they are gone.
_PARTIALS = ((1.0, 1.0, 0.22), (2.0, 0.35, 0.12), (3.0, 0.12, 0.06))
_ATTACK_S = 0.004
# Nobody is to be frightened awake, and nobody is to sleep through it: full after half a minute or so.
_SOFTEST_DB = -20.0
_LOUDER_DB = 4.0


@cache
def chime() -> Audio:
    """Two tones, for what a person waits for."""
    return _struck(CHIME_HZ, _CHIME_STEP_S, _CHIME_PEAK)


def alarm(times_before: int) -> Audio:
    """A rising figure, softly at first; the louder, the more often it has sounded before."""
    gain_db = min(_SOFTEST_DB + _LOUDER_DB * times_before, 0.0)
    return _struck(ALARM_HZ * _ALARM_REPEATS, _ALARM_STEP_S, _ALARM_PEAK * 10 ** (gain_db / 20))


def _struck(tones_hz: Sequence[float], step_s: float, peak: float) -> Audio:
    """One bell after the other, each ringing on while the next is struck."""
    step = round(step_s * RATE_HZ)
    samples = np.zeros(step * (len(tones_hz) - 1) + round(_RING_OUT_S * RATE_HZ))
    for place, tone_hz in enumerate(tones_hz):
        bell = _bell(tone_hz)
        samples[place * step : place * step + len(bell)] += bell
    samples *= peak / np.max(np.abs(samples))
    return Audio(samples.astype(np.float32), RATE_HZ)


def _bell(tone_hz: float) -> NDArray[np.float64]:
    t_s = np.arange(round(_RING_OUT_S * RATE_HZ)) / RATE_HZ
    sound = sum(
        loudness * np.exp(-t_s / decay_s) * np.sin(2 * np.pi * tone_hz * above * t_s)
        for above, loudness, decay_s in _PARTIALS
    )
    # It begins and ends in silence: else it clicks.
    edges = np.minimum(1.0, t_s / _ATTACK_S) * np.minimum(1.0, (t_s[-1] - t_s) / 0.05)
    return np.asarray(sound * edges)

"""The tones of earcons and alarms."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from edgevox.core.types import Audio

RATE_HZ = 22_050
# E6 and C6, a falling third; and a rising major chord, above most of the energy of a voice.
CHIME_HZ = (1318.5, 1046.5)
ALARM_HZ = (784.0, 987.8, 1174.7)

_CHIME_PEAK = 0.6
_ALARM_PEAK = 0.85
_CHIME_STEP_S = 0.28
_ALARM_STEP_S = 0.16
_ALARM_REPEATS = 3
_RING_OUT_S = 0.7
# The partials of a small bell: frequency factor, amplitude, decay time.
_PARTIALS = ((1.0, 1.0, 0.22), (2.0, 0.35, 0.12), (3.0, 0.12, 0.06))
_ATTACK_S = 0.004
# An alarm starts softly and reaches full volume after about half a minute.
_SOFTEST_DB = -20.0
_LOUDER_DB = 4.0


@cache
def timer_chime() -> Audio:
    """Two tones, for a timer or a reminder."""
    return _struck(CHIME_HZ, _CHIME_STEP_S, _CHIME_PEAK)


def alarm_tone(times_before: int) -> Audio:
    """A rising figure that gets louder with `times_before`."""
    gain_db = min(_SOFTEST_DB + _LOUDER_DB * times_before, 0.0)
    return _struck(ALARM_HZ * _ALARM_REPEATS, _ALARM_STEP_S, _ALARM_PEAK * 10 ** (gain_db / 20))


def _struck(tones_hz: Sequence[float], step_s: float, peak: float) -> Audio:
    """Overlapping bell tones, one every `step_s`."""
    step = round(step_s * RATE_HZ)
    samples = np.zeros(step * (len(tones_hz) - 1) + round(_RING_OUT_S * RATE_HZ))
    for place, tone_hz in enumerate(tones_hz):
        tone = _bell_tone(tone_hz)
        samples[place * step : place * step + len(tone)] += tone
    samples *= peak / np.max(np.abs(samples))
    return Audio(samples.astype(np.float32), RATE_HZ)


def _bell_tone(tone_hz: float) -> NDArray[np.float64]:
    t_s = np.arange(round(_RING_OUT_S * RATE_HZ)) / RATE_HZ
    sound = sum(
        loudness * np.exp(-t_s / decay_s) * np.sin(2 * np.pi * tone_hz * above * t_s)
        for above, loudness, decay_s in _PARTIALS
    )
    # Fade in and out, against clicks.
    edges = np.minimum(1.0, t_s / _ATTACK_S) * np.minimum(1.0, (t_s[-1] - t_s) / 0.05)
    return np.asarray(sound * edges)


# A5; and a falling fourth below it. All are lower than the alarm tones, so that they are not confused.
HEARD_HZ = (880.0,)
FAILED_HZ = (622.3, 466.2)
# The same fourth, rising, as in "yes?".
CALLED_HZ = (466.2, 622.3)

# A reply may wait for the end of the first: it is as short as a tone without a click can be.
_HEARD_S = 0.09
_FAILED_S = 0.14
_EDGE_S = 0.03
# An octave above, or it sounds like a hearing test.
_OVERTONE = 0.25


def _tones(tones_hz: Sequence[float], seconds: float, peak: float) -> Audio:
    samples = np.concatenate([_tone(tone_hz, seconds / len(tones_hz)) for tone_hz in tones_hz])
    samples *= peak / np.max(np.abs(samples))
    return Audio(samples.astype(np.float32), RATE_HZ)


def _tone(tone_hz: float, seconds: float) -> NDArray[np.float64]:
    t_s = np.arange(round(seconds * RATE_HZ)) / RATE_HZ
    phase = 2 * np.pi * tone_hz * t_s
    sound = np.sin(phase) + _OVERTONE * np.sin(2 * phase)
    # A raised cosine at both ends, against clicks.
    from_end_s = np.minimum(t_s, t_s[-1] - t_s)
    return np.asarray(sound * (0.5 - 0.5 * np.cos(np.pi * np.minimum(1.0, from_end_s / _EDGE_S))))


# For a detected wake word, an accepted utterance and a failed turn, each with its peak as argument.
wake_tone = cache(partial(_tones, CALLED_HZ, _FAILED_S))
accepted_tone = cache(partial(_tones, HEARD_HZ, _HEARD_S))
error_tone = cache(partial(_tones, FAILED_HZ, _FAILED_S))

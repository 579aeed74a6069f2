from __future__ import annotations

import numpy as np

from edgevox.audio.tones import ALARM_HZ, CHIME_HZ, alarm_tone, timer_chime
from edgevox.core.types import Audio


def loudest_hz(sound: Audio, count: int) -> list[float]:
    """The strongest tones, the lowest first."""
    spectrum = np.abs(np.fft.rfft(sound.samples * np.hanning(len(sound.samples))))
    hz = np.fft.rfftfreq(len(sound.samples), 1 / sound.rate_hz)
    found: list[float] = []
    while len(found) < count:
        peak = hz[np.argmax(spectrum)]
        spectrum[np.abs(hz - peak) < 60] = 0.0
        found.append(float(peak))
    return sorted(found)


def peak(sound: Audio) -> float:
    return float(np.max(np.abs(sound.samples)))


def test_a_chime_is_its_two_tones() -> None:
    assert np.allclose(loudest_hz(timer_chime(), 2), sorted(CHIME_HZ), atol=10)


def test_an_alarm_is_its_three_tones() -> None:
    assert np.allclose(loudest_hz(alarm_tone(0), 3), sorted(ALARM_HZ), atol=15)


def test_an_alarm_begins_softly_and_grows_louder_without_ever_clipping() -> None:
    peaks = [peak(alarm_tone(times)) for times in range(30)]
    assert peaks == sorted(peaks)
    assert peaks[0] < 0.12 < 0.8 < peaks[-1] < 1.0
    assert peak(timer_chime()) < 0.8


def test_each_begins_and_ends_in_silence_and_leaves_time_to_speak() -> None:
    for sound in (timer_chime(), alarm_tone(3)):
        assert abs(sound.samples[0]) < 0.01
        assert abs(sound.samples[-1]) < 0.01
        assert 0.5 < sound.duration_s < 2.5

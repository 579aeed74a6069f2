"""Counting false accepts and misses."""

from __future__ import annotations

import numpy as np
import pytest

from edgevox.audio.vad import BLOCK_MS
from edgevox.audio.wake_word import WakeWordScore, WakeWordTrace, score_wake_word, trace_wake_word
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from tests.audio.sounds import noise


def heard(*sure_at_s: float, hours: float = 1.0) -> WakeWordTrace:
    """Ten seconds in which the model is 0.8 sure of the word at these moments; they count for more."""
    confidences = np.zeros(round(12_000 / BLOCK_MS), np.float32)
    for at_s in sure_at_s:
        place = round((at_s + 2) * 1000 / BLOCK_MS)
        confidences[place : place + 10] = 0.8
    return WakeWordTrace("made up", confidences, hours * 3600)


def test_every_detection_in_other_sounds_is_false() -> None:
    result = score_wake_word([], [heard(1.0, 5.0), heard(), heard(3.0)], 0.7)
    assert (result.false_accepts, result.false_per_hour) == (3, 1.0)
    assert result.missed_share is None


def test_a_word_without_a_detection_is_missed() -> None:
    result = score_wake_word([heard(0.5), heard(0.5, 3.0), heard(), heard(1.0)], [], 0.7)
    assert (result.missed, result.missed_share) == (1, 0.25)
    assert result.false_per_hour is None
    assert result.false_per_hour_at_most is None


def test_a_higher_cutoff_hears_less_of_both() -> None:
    assert score_wake_word([heard(1.0)], [heard(1.0)], 0.9) == WakeWordScore(0.9, 0, 1.0, 1, 1)


def test_a_detection_has_its_place_in_the_recording() -> None:
    (at_s,) = heard(4.0).accepts_s(0.7)
    assert at_s == pytest.approx(4.0, abs=0.05)


@pytest.mark.parametrize(("count", "at_most"), [(0, 2.996), (1, 4.744), (5, 10.513), (20, 29.062), (400, 434.48)])
def test_few_hours_leave_a_doubt(count: int, at_most: float) -> None:
    # The 95 % bounds of Poisson's distribution, from tables.
    assert WakeWordScore(0.5, count, 1.0, 0, 0).false_per_hour_at_most == pytest.approx(at_most, rel=0.002)


def test_noise_is_heard_as_long_as_it_is() -> None:
    result = trace_wake_word("okay_nabu", "hiss", Audio(noise(3, 0.1), SAMPLE_RATE_HZ))
    assert result.duration_s == 3
    assert len(result.confidences) == 6 * 1000 // BLOCK_MS
    assert result.accepts_s(0.5) == []

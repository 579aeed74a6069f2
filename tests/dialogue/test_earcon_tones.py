from __future__ import annotations

import numpy as np
import pytest

from edgevox.audio.dsp import Resampler
from edgevox.audio.endpointing import Endpointer, SpeechSegment
from edgevox.audio.tones import FAILED_HZ, HEARD_HZ, accepted_tone, error_tone
from edgevox.audio.vad import BLOCK_SAMPLES
from edgevox.config import AudioSettings
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from tests.dialogue.sounds import silent

BOTH = pytest.mark.parametrize("chime", [accepted_tone(0.2), error_tone(0.2)], ids=["heard", "failed"])


def loudest_hz(samples: np.ndarray, rate_hz: int) -> float:
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples)), 8 * len(samples)))
    return float(np.argmax(spectrum)) * rate_hz / (8 * len(samples))


def test_one_is_a_tone_and_the_other_falls() -> None:
    assert loudest_hz(accepted_tone(0.2).samples, accepted_tone(0.2).rate_hz) == pytest.approx(HEARD_HZ[0], abs=20)
    halves = np.split(error_tone(0.2).samples[: len(error_tone(0.2).samples) // 2 * 2], 2)
    assert [loudest_hz(half, error_tone(0.2).rate_hz) for half in halves] == pytest.approx(FAILED_HZ, abs=20)


@BOTH
def test_each_is_short_and_as_loud_as_it_is_to_be(chime: Audio) -> None:
    assert 0.06 <= chime.duration_s <= 0.15
    assert float(np.max(np.abs(chime.samples))) == pytest.approx(0.2)


@BOTH
def test_each_begins_and_ends_without_a_click(chime: Audio) -> None:
    edge = round(0.002 * chime.rate_hz)
    for end in (chime.samples[:edge], chime.samples[-edge:]):
        assert float(np.max(np.abs(end))) < 0.01
    assert float(np.max(np.abs(np.diff(chime.samples)))) < 0.2, "no step inside either"


@BOTH
def test_neither_becomes_an_utterance_where_it_is_heard(chime: Audio) -> None:
    resampler = Resampler(chime.rate_hz, SAMPLE_RATE_HZ)
    tone = np.concatenate([resampler.feed(chime.samples), resampler.finish()])
    sound = np.concatenate([silent(1.0), tone, silent(2.0)]).astype(np.float32)
    endpointer = Endpointer(AudioSettings())
    for start in range(0, len(sound) - BLOCK_SAMPLES + 1, BLOCK_SAMPLES):
        block = Audio(sound[start : start + BLOCK_SAMPLES], SAMPLE_RATE_HZ)
        assert not isinstance(endpointer.feed(block), SpeechSegment)

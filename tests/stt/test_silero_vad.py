from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.stt.silero_vad import SileroVad, at_whisper_rate
from tests.audio.sounds import espeak

SOUNDS = ["nothing", "silence", "white noise", "pink noise", "hum", "chord", "melody", "clicks", "knocks", "beeps"]


@pytest.mark.parametrize("sound", SOUNDS)
@pytest.mark.parametrize("rate_hz", [SAMPLE_RATE_HZ, 44_100])
def test_sound_without_speech_does_not_pass(sound: str, rate_hz: int) -> None:
    audio = Audio(without_speech(sound, rate_hz).astype(np.float32), rate_hz)
    assert list(SileroVad(longest_piece_s=28.0).pieces(audio)) == []


@pytest.mark.parametrize("sound", ["white noise", "pink noise", "hum", "knocks"])
def test_faint_sound_without_speech_does_not_pass(sound: str) -> None:
    samples = without_speech(sound, SAMPLE_RATE_HZ)
    assert heard_s(at_peak(samples.astype(np.float32), -55.0)) == 0


def test_a_quiet_voice_passes_as_whole_as_a_loud_one_and_unchanged(tmp_path: Path) -> None:
    spoken = espeak("Please turn on the light in the kitchen.", tmp_path)
    quiet = at_peak(spoken, -55.0)
    assert heard_s(quiet) > 0.9 * heard_s(at_peak(spoken, -6.0)) > 1.0
    pieces = SileroVad(longest_piece_s=28.0).pieces(Audio(quiet, SAMPLE_RATE_HZ))
    assert all(np.abs(piece).max() <= np.abs(quiet).max() for piece in pieces)


@pytest.mark.parametrize("rate_hz", [8_000, 22_050, 44_100, 48_000])
def test_a_tone_stays_itself_at_another_rate(rate_hz: int) -> None:
    resampled = at_whisper_rate(Audio(tone(440.0, rate_hz), rate_hz))
    expected = tone(440.0, SAMPLE_RATE_HZ)
    assert abs(len(resampled) - len(expected)) < 10
    middle = slice(1000, len(expected) - 1000)
    assert np.allclose(resampled[middle], expected[middle], atol=0.01)


def test_sound_at_the_right_rate_is_left_alone() -> None:
    samples = tone(440.0, SAMPLE_RATE_HZ)
    assert at_whisper_rate(Audio(samples, SAMPLE_RATE_HZ)) is samples


def heard_s(samples: NDArray[np.float32]) -> float:
    pieces = SileroVad(longest_piece_s=28.0).pieces(Audio(samples, SAMPLE_RATE_HZ))
    return sum(len(piece) for piece in pieces) / SAMPLE_RATE_HZ


def at_peak(samples: NDArray[np.float32], peak_dbfs: float) -> NDArray[np.float32]:
    """As a microphone of 16 bits gives it."""
    steps = 32_767 * 10 ** (peak_dbfs / 20) / np.abs(samples).max()
    stepped: NDArray[np.float32] = (np.rint(samples * steps) / 32_767).astype(np.float32)
    return stepped


def tone(frequency_hz: float, rate_hz: int) -> NDArray[np.float32]:
    return (0.5 * np.sin(2 * np.pi * frequency_hz * np.arange(rate_hz) / rate_hz)).astype(np.float32)


def without_speech(sound: str, rate_hz: int) -> NDArray[np.floating[Any]]:
    count = 3 * rate_hz
    random = np.random.default_rng(5)
    time_s = np.arange(count) / rate_hz
    white = random.standard_normal(count)
    spectrum = np.fft.rfft(white)
    pink = np.fft.irfft(spectrum / np.sqrt(np.maximum(1, np.arange(len(spectrum)))), count)
    notes_hz = np.repeat([262, 330, 392, 330, 262, 294], count // 6)
    sounds: dict[str, NDArray[np.floating[Any]]] = {
        "nothing": np.zeros(0),
        "silence": np.zeros(count),
        "white noise": 0.1 * white,
        "pink noise": 0.1 * pink / pink.std(),
        "hum": 0.3 * np.sin(2 * np.pi * 50 * time_s) + 0.1 * np.sin(2 * np.pi * 150 * time_s),
        "chord": 0.2 * np.sin(2 * np.pi * 262 * time_s) + 0.2 * np.sin(2 * np.pi * 392 * time_s),
        "melody": 0.3 * np.sin(2 * np.pi * np.cumsum(notes_hz) / rate_hz),
        "clicks": 0.9 * (random.random(count) < 0.0003),
        "knocks": 0.5 * white * np.tile(np.exp(-np.linspace(0, 30, count // 4)), 4),
        "beeps": 0.4 * np.sin(2 * np.pi * 2000 * time_s) * (np.sin(4 * np.pi * time_s) > 0),
    }
    return sounds[sound]

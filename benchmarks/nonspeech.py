"""Sounds in which nobody speaks: a transcriber that writes words for them invents them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.files import read_audio
from edgevox.core.types import SAMPLE_RATE_HZ, Audio

_DURATION_S = 4.0
_PIECE_S = 3.0


def sounds_without_speech(recordings: Path | None) -> Iterator[tuple[str, Audio]]:
    """Yield made sounds and, where there are recordings, pieces of the room noise among them."""
    for name, samples in _made(np.random.default_rng(3)):
        yield name, Audio(samples.astype(np.float32), SAMPLE_RATE_HZ)
    for path in sorted((recordings / "noise").glob("*.wav")) if recordings is not None else ():
        noise = read_audio(path)
        piece = round(_PIECE_S * noise.rate_hz)
        for start in range(0, len(noise.samples) - piece + 1, piece):
            yield (
                f"{path.stem} at {start / noise.rate_hz:.0f} s",
                Audio(noise.samples[start : start + piece], noise.rate_hz),
            )


def _made(random: np.random.Generator) -> Iterator[tuple[str, NDArray[np.floating[Any]]]]:
    count = round(_DURATION_S * SAMPLE_RATE_HZ)
    time_s = np.arange(count) / SAMPLE_RATE_HZ
    white = random.standard_normal(count)
    spectrum = np.fft.rfft(white)
    steps = np.maximum(1, np.arange(len(spectrum)))
    yield "silence", np.zeros(count)
    yield "faint hiss", 0.0005 * white
    yield "white noise", 0.1 * white
    yield "pink noise", 0.1 * _unit(np.fft.irfft(spectrum / np.sqrt(steps), count))
    yield "rumble", 0.2 * _unit(np.fft.irfft(spectrum / steps, count))
    yield "mains hum", 0.2 * _tone(2 * np.pi * 50 * time_s, (1.0, 3.0, 5.0))
    yield "chord", 0.2 * _tone(2 * np.pi * 261.6 * time_s, (1.0, 1.26, 1.498))
    notes_hz = np.repeat(random.choice([262, 294, 330, 349, 392, 440], 8), count // 8)
    decay = np.tile(np.linspace(1.0, 0.1, count // 8), 8)
    phase: NDArray[np.float64] = 2 * np.pi * np.cumsum(notes_hz) / SAMPLE_RATE_HZ
    yield "melody", 0.3 * decay * np.sin(phase)
    yield "organ melody", 0.15 * decay * _tone(phase, tuple(map(float, range(1, 12))))
    yield "clicks", 0.9 * (random.random(count) < 0.0003)
    yield "knocks", 0.5 * white * np.tile(np.exp(-np.linspace(0, 30, count // 4)), 4)
    yield "alarm beeps", 0.4 * np.sin(2 * np.pi * 2000 * time_s) * (np.sin(2 * np.pi * 2 * time_s) > 0)
    yield "sweep", 0.3 * np.sin(2 * np.pi * np.cumsum(np.linspace(100, 4000, count)) / SAMPLE_RATE_HZ)


def _tone(phase: NDArray[np.float64], ratios: Sequence[float]) -> NDArray[np.float64]:
    """A tone and others in these ratios to it, the higher the softer."""
    tone = np.zeros(len(phase))
    for ratio in ratios:
        tone += np.sin(ratio * phase) / ratio
    return tone


def _unit(samples: NDArray[np.float64]) -> NDArray[np.float64]:
    unit: NDArray[np.float64] = samples / samples.std()
    return unit

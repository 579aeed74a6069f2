"""Sounds to test with, made here, and a way to find one in a recording."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from edgevox.audio.files import read_audio
from edgevox.core.types import SAMPLE_RATE_HZ, Audio

Samples = NDArray[np.float32]


def sweep(duration_s: float, rate_hz: int = SAMPLE_RATE_HZ, level: float = 0.4) -> Samples:
    """A rising tone: no moment of it is like another, so that a lost or doubled sample shows."""
    at_s = np.arange(round(duration_s * rate_hz)) / rate_hz
    return (level * np.sin(2 * np.pi * (300 * at_s + 500 * at_s**2))).astype(np.float32)


def silence(duration_s: float, rate_hz: int = SAMPLE_RATE_HZ) -> Samples:
    return np.zeros(round(duration_s * rate_hz), dtype=np.float32)


def noise(duration_s: float, level: float, *, slope: float = 0.0) -> Samples:
    """White noise at 16 kHz; a slope of 0.5 makes it pink, 1 brown."""
    count = round(duration_s * SAMPLE_RATE_HZ)
    spectrum = np.fft.rfft(np.random.default_rng(7).standard_normal(count))
    shaped = np.fft.irfft(spectrum / np.maximum(1, np.arange(len(spectrum))) ** slope, count)
    return (level * shaped / np.std(shaped)).astype(np.float32)


def hum(duration_s: float, mains_hz: float, level: float = 0.1) -> Samples:
    at_s = np.arange(round(duration_s * SAMPLE_RATE_HZ)) / SAMPLE_RATE_HZ
    first, second, third = (np.sin(2 * np.pi * n * mains_hz * at_s) / n for n in (1, 2, 3))
    return (level * (first + second + third)).astype(np.float32)


def knocks(duration_s: float) -> Samples:
    """Three short hits a second, each 30 ms long."""
    samples = silence(duration_s)
    hit = noise(0.03, 0.5) * np.exp(-np.arange(480) / 80)
    for start in range(0, len(samples) - 480, SAMPLE_RATE_HZ // 3):
        samples[start : start + 480] = hit
    return samples


def espeak(text: str, folder: Path) -> Samples:
    """Speech at 16 kHz by a voice that is not Piper's."""
    program = shutil.which("espeak-ng")
    if program is None:
        pytest.fail("espeak-ng is not installed: `make test` installs it")
    path = folder / "espeak.wav"
    subprocess.run([program, "-w", str(path), text], check=True, timeout=30)
    return read_audio(path).samples


class Match(NamedTuple):
    """Where a sound begins in a recording, and how alike both are there: 1 is the same."""

    at: int
    likeness: float


def find(wanted: Samples, recording: Samples) -> Match:
    count = len(wanted) + len(recording)
    products = np.fft.irfft(np.fft.rfft(recording, count) * np.conj(np.fft.rfft(wanted, count)), count)
    at = int(np.argmax(products[: max(1, len(recording) - len(wanted) + 1)]))
    there = recording[at : at + len(wanted)]
    return Match(at, likeness(wanted[: len(there)], there))


def likeness(one: Samples, other: Samples) -> float:
    return float(np.dot(one, other) / np.sqrt(np.dot(one, one) * np.dot(other, other) + 1e-12))


def heard(audio: Audio, threshold: float = 0.02) -> slice:
    """From the first to the last sample that is not silence."""
    loud = np.flatnonzero(np.abs(audio.samples) > threshold)
    return slice(int(loud[0]), int(loud[-1]) + 1) if len(loud) else slice(0, 0)

"""A room with a loudspeaker and a microphone that hears it, made of numbers, and voices to be heard in it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from edgevox.audio.aec.canceller import EchoCanceller, EchoLevel
from edgevox.audio.aec.webrtc import LATENCY_SAMPLES
from edgevox.core.types import SAMPLE_RATE_HZ
from tests.audio.sounds import Samples

BLOCK = 320
# A monotonic clock does not begin at zero.
BEGUN_S = 1234.5


def talking(duration_s: float, seed: int, pitch_hz: float = 120.0, rate_hz: int = SAMPLE_RATE_HZ) -> Samples:
    """Speech without words: syllables of a buzz with formants, hisses, and short pauses, at -20 dBFS."""
    rng = np.random.default_rng(seed)
    sound = np.zeros(round(duration_s * rate_hz))
    begin = 0
    while begin < len(sound):
        syllable = sound[begin : begin + round(rng.uniform(0.12, 0.3) * rate_hz)]
        if rng.random() > 0.15:
            syllable += _syllable(rng, len(syllable), pitch_hz * rng.uniform(0.8, 1.3), rate_hz)
        begin += len(syllable)
    return (0.1 * sound / np.std(sound)).astype(np.float32)


def _syllable(rng: np.random.Generator, count: int, pitch_hz: float, rate_hz: int) -> np.ndarray:
    at_s = np.arange(count) / rate_hz
    phase = 2 * np.pi * pitch_hz * (at_s + 0.005 * np.sin(2 * np.pi * 3 * at_s))
    formants_hz = rng.uniform((300, 900, 2300), (800, 2200, 3300))
    widths_hz = np.array((80, 120, 200))
    sound = 0.3 * rng.standard_normal(count) * (rng.random() < 0.4)
    for harmonic in range(1, int(6000 / pitch_hz)):
        gain = 0.01 + np.sum(1 / (1 + ((harmonic * pitch_hz - formants_hz) / widths_hz) ** 2))
        sound += gain * np.sin(harmonic * phase + rng.uniform(0, 6)) / harmonic**0.3
    return np.hanning(count) * sound * rng.uniform(0.5, 1)


def echo_of(sound: Samples, delay_s: float, *, drift_ppm: float = 50.0, gain: float = 1.0) -> Samples:
    """What a microphone whose clock is wrong hears of it in a small room, as loud as it was played."""
    rng = np.random.default_rng(3)
    answer = rng.standard_normal(1600) * np.exp(-np.arange(1600) / 320)
    answer[0] = 3
    reverberant = np.convolve(sound, gain * answer / np.linalg.norm(answer))[: len(sound)]
    heard_at = np.arange(len(sound)) * (1 + drift_ppm * 1e-6) - delay_s * SAMPLE_RATE_HZ
    heard = np.interp(heard_at, np.arange(len(sound)), reverberant, left=0, right=0)
    return np.asarray(heard, dtype=np.float32)


class Late:
    """Takes nothing away, and is as late as the real one."""

    def __init__(self) -> None:
        self.frames = 0
        self._held = np.zeros(LATENCY_SAMPLES, dtype=np.float32)

    def cancel(self, played: Samples, heard: Samples) -> Samples:
        self.frames += 1
        both = np.concatenate((self._held, heard))
        self._held = both[len(heard) :]
        return both[: len(heard)]


def through(
    canceller: EchoCanceller,
    played: Samples,
    heard: Samples,
    *,
    played_rate_hz: int = SAMPLE_RATE_HZ,
    driver_errs_s: float = 0.0,
    jitter_s: float = 0.0,
    hole_at_s: float = np.inf,
    hole_s: float = 0.0,
    begun_s: float = BEGUN_S,
) -> tuple[Samples, list[EchoLevel | None]]:
    """What is left of `heard`, and what the canceller says of every block of it.

    The loudspeaker's device is given sound 80 ms ahead, in pieces that fit no block, and says that it is
    heard `driver_errs_s` later than it is; the moments that both devices name are off by up to `jitter_s`.
    What is to be heard after `hole_at_s` is heard `hole_s` later.
    """
    rng = np.random.default_rng(4)
    pieces = ((at_s + (hole_s if at_s >= hole_at_s else 0.0), piece) for at_s, piece in _given(played, played_rate_hz))
    piece = next(pieces, None)
    cleaned, levels = [], []
    for first in range(0, len(heard) - BLOCK + 1, BLOCK):
        ended_s = (first + BLOCK) / SAMPLE_RATE_HZ
        while piece is not None and piece[0] - 0.08 <= ended_s:
            said_s = begun_s + piece[0] + driver_errs_s + rng.uniform(-jitter_s, jitter_s)
            canceller.played.note(piece[1], said_s)
            piece = next(pieces, None)
        said_s = begun_s + ended_s + rng.uniform(-jitter_s, jitter_s)
        cleaned.append(canceller.cancel(heard[first : first + BLOCK], said_s))
        levels.append(canceller.level)
    return np.concatenate(cleaned), levels


def _given(played: Samples, rate_hz: int) -> Iterator[tuple[float, Samples]]:
    step = rate_hz * 11 // 1000
    for first in range(0, len(played), step):
        yield first / rate_hz, played[first : first + step]

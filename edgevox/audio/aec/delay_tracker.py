"""Detects that the delay between playback and its echo has changed, and by how much.

A sound server under load drops samples without reporting it. The echo then no longer matches the
reference, remains in the signal, and would be taken for a person.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from edgevox.core.types import SAMPLE_RATE_HZ

# The current audio, as much as barge-in detection needs. The room impulse response is estimated from the audio
# before it, with a gap between the two for an echo that comes early.
_NOW, _LEAST_NOW = round(0.4 * SAMPLE_RATE_HZ), round(0.2 * SAMPLE_RATE_HZ)
_BETWEEN = round(0.3 * SAMPLE_RATE_HZ)
_BEFORE, _LEAST_BEFORE = round(1.0 * SAMPLE_RATE_HZ), round(0.2 * SAMPLE_RATE_HZ)
_LATEST = round(0.6 * SAMPLE_RATE_HZ)
_HEARD = _NOW + _BETWEEN + _BEFORE
_PLAYED = _HEARD + _LATEST
# The part of the impulse response that is kept, around its peak.
_ANSWER_BEGINS, _ANSWER_ENDS = round(0.01 * SAMPLE_RATE_HZ), round(0.15 * SAMPLE_RATE_HZ)
# Regularisation for frequencies without energy.
_LEAST_SHARE = 0.02
# Spectral whitening: at 0 any two vowels correlate, at 1 the spectrum is flat.
_FLATNESS = 0.7
# The least ratio of the correlation peak to the RMS. For 160 people over as many replies, in their own voices
# and the reply's, the maximum was 13; an echo of 0.4 s has 15 and more 99 times of 100.
_STANDS_OUT = 14.0
# The canceller adapts to smaller changes by itself.
_LEAST_MOVE = round(0.002 * SAMPLE_RATE_HZ)


class EchoDelayTracker:
    """Keeps the last two seconds of playback and recording, and the room impulse response."""

    def __init__(self) -> None:
        self._played = np.zeros(0, dtype=np.float32)
        self._heard = np.zeros(0, dtype=np.float32)
        self._answer: NDArray[np.float64] | None = None

    def add(self, played: NDArray[np.float32], heard: NDArray[np.float32]) -> None:
        self._played = np.concatenate((self._played, played))[-_PLAYED:]
        self._heard = np.concatenate((self._heard, heard))[-_HEARD:]

    def delay_change_samples(self) -> int:
        """By how many samples the echo has moved; 0 if it has not, or cannot be found. Takes 5 ms."""
        if self._answer is None:
            until = -_NOW - _BETWEEN
            self._answer = _answer_of_room(self._played[:until], self._heard[until - _BEFORE : until])
        heard = self._heard[-_NOW:]
        if self._answer is None or len(heard) < _LEAST_NOW:
            return 0
        echo = _convolved(self._played[-_NOW - _LATEST - len(self._answer) :], self._answer)
        moved = delay(heard, echo[-_NOW - _LATEST :])
        return 0 if moved is None or abs(moved) < _LEAST_MOVE else moved


def delay(heard: NDArray[np.float32], played: NDArray[np.float64]) -> int | None:
    """The delay of the echo by cross-correlation, None without a clear peak; both arrays end together."""
    size = 1 << (len(heard) + len(played)).bit_length()
    crossed = np.fft.rfft(heard, size) * np.conj(np.fft.rfft(played, size))
    likeness = np.abs(np.fft.irfft(crossed / np.maximum(np.abs(crossed), 1e-12) ** _FLATNESS))
    best = int(np.argmax(likeness))
    if likeness[best] <= _STANDS_OUT * np.sqrt(np.mean(likeness**2)):
        return None
    shift = best if best < size // 2 else best - size
    return shift + len(played) - len(heard)


def _answer_of_room(played: NDArray[np.float32], heard: NDArray[np.float32]) -> NDArray[np.float64] | None:
    """Estimate the impulse response by deconvolution; both arrays end together."""
    if len(heard) < _LEAST_BEFORE or not played.any() or not heard.any():
        return None
    size = 1 << (len(heard) + len(played)).bit_length()
    source = np.fft.rfft(played, size)
    result = np.fft.rfft(np.concatenate((np.zeros(len(played) - len(heard)), heard)), size)
    power = np.abs(source) ** 2
    answer = np.fft.irfft(result * np.conj(source) / (power + _LEAST_SHARE * np.mean(power)))[:_LATEST]
    first = int(np.argmax(np.abs(answer)))
    answer[: max(0, first - _ANSWER_BEGINS)] = 0
    return np.asarray(answer[: first + _ANSWER_ENDS])


def _convolved(sound: NDArray[np.float32], answer: NDArray[np.float64]) -> NDArray[np.float64]:
    size = 1 << (len(sound) + len(answer)).bit_length()
    both = np.fft.rfft(sound, size) * np.fft.rfft(answer, size)
    return np.asarray(np.fft.irfft(both)[: len(sound)])

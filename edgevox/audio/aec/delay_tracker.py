"""Detects that the delay between playback and its echo has changed, and by how much.

A sound server under load drops samples without reporting it. The echo then no longer matches the
reference, remains in the signal, and would be taken for a person.
"""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from edgevox.core.types import SAMPLE_RATE_HZ

# What is heard now: as much as it takes to decide that somebody speaks. How the room answers is learnt from
# what was heard before that, with room between the two for an echo that comes early.
_NOW, _LEAST_NOW = round(0.4 * SAMPLE_RATE_HZ), round(0.2 * SAMPLE_RATE_HZ)
_BETWEEN = round(0.3 * SAMPLE_RATE_HZ)
_BEFORE, _LEAST_BEFORE = round(1.0 * SAMPLE_RATE_HZ), round(0.2 * SAMPLE_RATE_HZ)
_LATEST = round(0.6 * SAMPLE_RATE_HZ)
_HEARD = _NOW + _BETWEEN + _BEFORE
_PLAYED = _HEARD + _LATEST
# Of the room's answer: a moment before its first wall, and what most of the sound comes back in.
_ANSWER_BEGINS, _ANSWER_ENDS = round(0.01 * SAMPLE_RATE_HZ), round(0.15 * SAMPLE_RATE_HZ)
# Where a voice has next to no sound, nothing is learnt.
_LEAST_SHARE = 0.02
# Between the spectrum as it is, in which any two vowels are alike, and one that is all flat.
_FLATNESS = 0.7
# How far the likeness at one delay stands out of that at all others. Of 160 people over as many replies, in
# their own voices and the reply's, the most was 13; an echo of 0.4 s has 15 and more 99 times of 100.
_STANDS_OUT = 14.0
# A canceller follows less by itself.
_LEAST_MOVE = round(0.002 * SAMPLE_RATE_HZ)


class EchoDelayTracker:
    """The last two seconds of what was played and heard, and how the room answers."""

    def __init__(self) -> None:
        self._played: deque[NDArray[np.float32]] = deque()
        self._heard: deque[NDArray[np.float32]] = deque()
        self._answer: NDArray[np.float64] | None = None

    def add(self, played: NDArray[np.float32], heard: NDArray[np.float32]) -> None:
        """The next block; all are of one length."""
        for kept, block, samples in ((self._played, played, _PLAYED), (self._heard, heard, _HEARD)):
            kept.append(block)
            while len(block) * (len(kept) - 1) >= samples:
                kept.popleft()

    def delay_change_samples(self) -> int:
        """How many samples later the echo comes now: 5 ms of work.

        0 where it did not move, or cannot be told from what else is heard.
        """
        self._learn()
        heard, played = _joined(self._heard)[-_NOW:], _joined(self._played)
        if self._answer is None or len(heard) < _LEAST_NOW:
            return 0
        echo = _convolved(played[-_NOW - _LATEST - len(self._answer) :], self._answer)
        moved = delay(heard, echo[-_NOW - _LATEST :])
        return 0 if moved is None or abs(moved) < _LEAST_MOVE else moved

    def _learn(self) -> None:
        if self._answer is None:
            until = -_NOW - _BETWEEN
            heard, played = _joined(self._heard), _joined(self._played)
            self._answer = _answer_of_room(played[:until], heard[until - _BEFORE : until])


def delay(heard: NDArray[np.float32], played: NDArray[np.float64]) -> int | None:
    """How many samples after it was played it is heard, where that can be told; both end together."""
    size = 1 << (len(heard) + len(played)).bit_length()
    crossed = np.fft.rfft(heard, size) * np.conj(np.fft.rfft(played, size))
    likeness = np.abs(np.fft.irfft(crossed / np.maximum(np.abs(crossed), 1e-12) ** _FLATNESS))
    best = int(np.argmax(likeness))
    if likeness[best] <= _STANDS_OUT * np.sqrt(np.mean(likeness**2)):
        return None
    shift = best if best < size // 2 else best - size
    return shift + len(played) - len(heard)


def _answer_of_room(played: NDArray[np.float32], heard: NDArray[np.float32]) -> NDArray[np.float64] | None:
    """What makes the one out of the other, from the moment of playing on; both end together."""
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


def _joined(blocks: deque[NDArray[np.float32]]) -> NDArray[np.float32]:
    return np.concatenate(blocks) if blocks else np.zeros(0, dtype=np.float32)

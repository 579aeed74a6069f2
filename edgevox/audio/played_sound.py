"""What the loudspeaker really plays, and when: what an echo is made of."""

from __future__ import annotations

from collections import deque

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.resample import Resampler
from edgevox.audio.sample_clock import Hole, SampleClock
from edgevox.types import WHISPER_RATE_HZ

# Callbacks, each of 5 to 40 ms: so much can wait for a listener that is busy, and is thrown away without one.
_MOST_GIVEN = 2000
# How long the loudspeaker can be heard after its last sample: what drivers are wrong by, and a large room.
_RINGS_ON = WHISPER_RATE_HZ
# An echo may turn out to come later than it was thought to.
_KEPT = round(0.6 * WHISPER_RATE_HZ)
# What is to be heard later than this is left to the next look. soxr holds 20 ms back.
_AHEAD = round(0.1 * WHISPER_RATE_HZ)


class PlayedSound:
    """`note` runs in PortAudio's thread, `take` in the loop. Moments are those of SampleClock."""

    def __init__(self, rate_hz: int) -> None:
        self._given: deque[tuple[NDArray[np.float32], float, Hole | None]] = deque(maxlen=_MOST_GIVEN)
        self._resampler = Resampler(rate_hz, WHISPER_RATE_HZ)
        self._clock = SampleClock()
        self._first = 0
        self._samples = np.zeros(0, dtype=np.float32)
        """What is in the air from the moment `_first` on."""
        self._loud_until: int | None = None
        """Where the last sound ends; None once the room is silent."""

    @property
    def jumps(self) -> int:
        """How often it was not heard when it was to be."""
        return self._clock.jumps

    @property
    def losses(self) -> int:
        """How many of the jumps were a device that ran out of sound."""
        return self._clock.losses

    def note(self, samples: NDArray[np.float32], heard_at_s: float, hole: Hole | None = None) -> None:
        """The device was given these; the first will be in the air at `heard_at_s` (monotonic).

        After a `hole` they do not follow at once on those before them.
        """
        self._given.append((samples.copy(), heard_at_s, hole))

    def take(self, first: int, count: int) -> NDArray[np.float32] | None:
        """What is in the air from the moment `first` on; None where all is silent and has been for a while.

        Moments go forward, and back only by as much as is kept.
        """
        until = first + count
        while self._given and self._given[0][1] * WHISPER_RATE_HZ < until + _AHEAD:
            self._place(*self._given.popleft())
        self._forget_before(first - _KEPT)
        if self._loud_until is None or first > self._loud_until + _RINGS_ON:
            self._loud_until = None
            return None
        taken = np.zeros(count, dtype=np.float32)
        begin = min(count, max(0, self._first - first))
        there = self._samples[max(0, first - self._first) :][: count - begin]
        taken[begin : begin + len(there)] = there
        return taken

    def _place(self, given: NDArray[np.float32], heard_at_s: float, hole: Hole | None) -> None:
        if hole is not None and self._loud_until is not None:
            self._clock.forget(hole)
        held_s = self._resampler.held_samples / WHISPER_RATE_HZ
        samples = self._resampler.feed(given)
        # Not in a pause between two words: half a millisecond is another echo.
        first = self._clock.place(len(samples), heard_at_s - held_s, may_jump=self._loud_until is None)
        if given.any():
            self._loud_until = first + len(samples)
        end = self._first + len(self._samples)
        if first >= end + _RINGS_ON or not len(self._samples):
            self._first, self._samples = first, samples
        else:
            gap = np.zeros(max(0, first - end), dtype=np.float32)
            self._samples = np.concatenate((self._samples, gap, samples[max(0, end - first) :]))

    def _forget_before(self, first: int) -> None:
        if (passed := first - self._first) > 0:
            self._samples = self._samples[passed:]
            self._first = first

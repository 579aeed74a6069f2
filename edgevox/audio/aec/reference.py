"""The far-end reference: the samples that were played, aligned to the microphone's clock."""

from __future__ import annotations

from collections import deque
from statistics import median
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.dsp import Resampler
from edgevox.core.types import SAMPLE_RATE_HZ

Hole: TypeAlias = Literal["opened", "lost"]
"""Why samples are not contiguous: the device was just opened, or has lost samples."""

# Reported times are off by a buffer now and then: the median of this many is used.
_REMEMBERED = 25
# The least number for a median: right after a hole, drivers are wrong several times in a row.
_ENOUGH = 10
# The canceller adapts to smaller shifts, and restarts after every jump. On an idle machine reported times move by
# up to 41 ms within a reply although the echo does not.
_TOLERATED = round(0.05 * SAMPLE_RATE_HZ)
# No driver error is this large: the device was closed in between, or has lost samples.
_BREAK = round(0.25 * SAMPLE_RATE_HZ)


class SampleClock:
    """Places blocks on a common timeline: 16 kHz samples since the zero of the monotonic clock.

    It aligns the far-end reference with the microphone.
    """

    def __init__(self) -> None:
        self.jumps = 0
        """How often the alignment moved during playback: the filter must restart."""
        self.losses = 0
        """How many of the jumps were lost samples."""
        self._due: int | None = None
        self._off: deque[float] = deque(maxlen=_REMEMBERED)

    def forget(self, hole: Hole) -> None:
        """Place the next block at its reported time."""
        self._jump(is_loss=hole == "lost")
        self._due = None

    def place(self, count: int, reported_s: float, *, may_jump: bool) -> int:
        """Place the next `count` samples, reported for `reported_s`; returns the position of the first.

        With `may_jump` the device's times are followed; else samples are counted while that is about right.
        """
        reported = reported_s * SAMPLE_RATE_HZ
        if self._due is None or abs(reported - self._due) > _BREAK:
            if self._due is not None and not may_jump:
                self._jump(is_loss=True)
            self._due = round(reported)
            self._off.clear()
        self._off.append(reported - self._due)
        off = round(median(self._off))
        if off and (may_jump or (abs(off) > _TOLERATED and len(self._off) >= _ENOUGH)):
            if not may_jump:
                # After a long consistent history the driver is right: samples were lost without a report.
                self._jump(is_loss=len(self._off) == _REMEMBERED)
            self._due += off
            self._off = deque((each - off for each in self._off), maxlen=_REMEMBERED)
        first = self._due
        self._due += count
        return first

    def _jump(self, *, is_loss: bool) -> None:
        self.jumps += 1
        self.losses += is_loss


# Callbacks of 5 to 40 ms each that are kept for a busy reader; older ones are dropped.
_MOST_GIVEN = 2000
# How long the echo lasts after the last sample: driver errors and reverberation.
_RINGS_ON = SAMPLE_RATE_HZ
# Kept for an echo that turns out to be later than expected.
_KEPT = round(0.6 * SAMPLE_RATE_HZ)
# Audio later than this is left to the next call. soxr holds 20 ms back.
_AHEAD = round(0.1 * SAMPLE_RATE_HZ)


class FarEndReference:
    """The played samples. `note` runs in PortAudio's thread, `take` in the loop; positions are SampleClock's."""

    def __init__(self, rate_hz: int) -> None:
        self._given: deque[tuple[NDArray[np.float32], float, Hole | None]] = deque(maxlen=_MOST_GIVEN)
        self._resampler = Resampler(rate_hz, SAMPLE_RATE_HZ)
        self.clock = SampleClock()
        self._first = 0
        self._samples = np.zeros(0, dtype=np.float32)
        """The audio from position `_first` on."""
        self._loud_until: int | None = None
        """The end of the last sound; None once its echo is over."""

    def note(self, samples: NDArray[np.float32], heard_at_s: float, hole: Hole | None = None) -> None:
        """Add played samples, the first of which sounds at `heard_at_s` (monotonic); `hole` if not contiguous."""
        self._given.append((samples.copy(), heard_at_s, hole))

    def take(self, first: int, count: int) -> NDArray[np.float32] | None:
        """The audio from position `first` on; None once all is silent. Going back is limited to `_KEPT`."""
        until = first + count
        while self._given and self._given[0][1] * SAMPLE_RATE_HZ < until + _AHEAD:
            self._place(*self._given.popleft())
        if (passed := first - _KEPT - self._first) > 0:
            self._samples = self._samples[passed:]
            self._first += passed
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
            self.clock.forget(hole)
        held_s = self._resampler.held_samples / SAMPLE_RATE_HZ
        samples = self._resampler.feed(given)
        # No jump between two words: half a millisecond makes it another echo.
        first = self.clock.place(len(samples), heard_at_s - held_s, may_jump=self._loud_until is None)
        if given.any():
            self._loud_until = first + len(samples)
        end = self._first + len(self._samples)
        if first >= end + _RINGS_ON or not len(self._samples):
            self._first, self._samples = first, samples
        else:
            gap = np.zeros(max(0, first - end), dtype=np.float32)
            self._samples = np.concatenate((self._samples, gap, samples[max(0, end - first) :]))

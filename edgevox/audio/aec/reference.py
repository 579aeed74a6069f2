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
"""Why samples do not follow on those before them: the device was just opened, or has lost sound."""

# A driver's times are off by a buffer now and then; what half of so many say is true.
_REMEMBERED = 25
# Fewer say little: right after a hole, drivers are wrong several times in a row.
_ENOUGH = 10
# A canceller follows what is less, and has to begin anew after every jump. On an idle machine drivers change
# their mind by up to 41 ms in the middle of a reply, while the echo stays where it is.
_TOLERATED = round(0.05 * SAMPLE_RATE_HZ)
# No driver is so wrong: the device was closed in between, or has lost sound.
_BREAK = round(0.25 * SAMPLE_RATE_HZ)


class SampleClock:
    """Counts samples at 16 kHz; a moment is their number since the monotonic clock was zero.

    Two streams placed by two of these fit each other: what is played and what is heard.
    """

    def __init__(self) -> None:
        self.jumps = 0
        """How often it moved where it may not: what was learnt of the other stream is wrong."""
        self.losses = 0
        """How many of the jumps were lost sound; others begin anew, or put a count right."""
        self._due: int | None = None
        self._off: deque[float] = deque(maxlen=_REMEMBERED)

    def forget(self, hole: Hole) -> None:
        """What comes next is where the device says."""
        self._jump(is_loss=hole == "lost")
        self._due = None

    def place(self, count: int, said_s: float, *, may_jump: bool) -> int:
        """The moment of the first of the next `count` samples; the device says that it is `said_s`.

        Where it `may_jump` it goes by the device's times; else it counts, for as long as that is about right.
        """
        said = said_s * SAMPLE_RATE_HZ
        if self._due is None or abs(said - self._due) > _BREAK:
            if self._due is not None and not may_jump:
                self._jump(is_loss=True)
            self._due = round(said)
            self._off.clear()
        self._off.append(said - self._due)
        off = round(median(self._off))
        if off and (may_jump or (abs(off) > _TOLERATED and len(self._off) >= _ENOUGH)):
            if not may_jump:
                # Drivers that were right for so long are believed: sound was lost, and nobody has said so.
                self._jump(is_loss=len(self._off) == _REMEMBERED)
            self._due += off
            self._off = deque((each - off for each in self._off), maxlen=_REMEMBERED)
        first = self._due
        self._due += count
        return first

    def _jump(self, *, is_loss: bool) -> None:
        self.jumps += 1
        self.losses += is_loss


# Callbacks, each of 5 to 40 ms: so much can wait for a listener that is busy, and is thrown away without one.
_MOST_GIVEN = 2000
# How long the loudspeaker can be heard after its last sample: what drivers are wrong by, and a large room.
_RINGS_ON = SAMPLE_RATE_HZ
# An echo may turn out to come later than it was thought to.
_KEPT = round(0.6 * SAMPLE_RATE_HZ)
# What is to be heard later than this is left to the next look. soxr holds 20 ms back.
_AHEAD = round(0.1 * SAMPLE_RATE_HZ)


class FarEndReference:
    """`note` runs in PortAudio's thread, `take` in the loop. Moments are those of SampleClock."""

    def __init__(self, rate_hz: int) -> None:
        self._given: deque[tuple[NDArray[np.float32], float, Hole | None]] = deque(maxlen=_MOST_GIVEN)
        self._resampler = Resampler(rate_hz, SAMPLE_RATE_HZ)
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
        while self._given and self._given[0][1] * SAMPLE_RATE_HZ < until + _AHEAD:
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
        held_s = self._resampler.held_samples / SAMPLE_RATE_HZ
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

"""A ring of samples between one thread that writes and one that reads, without a lock between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


class Ring:
    """Room for `capacity` float32 samples, taken once; what does not fit is dropped and counted.

    One thread calls `write`, one other calls `read_into`; anybody may ask for the numbers.
    Each position is written by one side only, which is all the order that this needs.
    """

    __slots__ = ("_read", "_samples", "_written", "dropped_samples")

    def __init__(self, capacity: int) -> None:
        self._samples = np.zeros(capacity, dtype=np.float32)
        # Counts since the beginning, not places in the array: equal means empty, and none ever wraps.
        self._written = 0
        self._read = 0
        self.dropped_samples = 0
        """Samples that were written while there was no room."""

    @property
    def capacity(self) -> int:
        return len(self._samples)

    @property
    def available(self) -> int:
        """How many samples can be read."""
        return self._written - self._read

    @property
    def room(self) -> int:
        """How many samples can be written."""
        return self.capacity - (self._written - self._read)

    def write(self, samples: NDArray[np.float32]) -> int:
        """Add the samples for which there is room, the first ones, and say how many that were."""
        count = min(len(samples), self.room)
        start = self._written % self.capacity
        before_wrap = min(count, self.capacity - start)
        self._samples[start : start + before_wrap] = samples[:before_wrap]
        self._samples[: count - before_wrap] = samples[before_wrap:count]
        self._written += count
        self.dropped_samples += len(samples) - count
        return count

    def read_into(self, out: NDArray[np.float32]) -> int:
        """Fill `out` with the oldest samples, silence behind them, and say how many there were."""
        count = min(len(out), self._written - self._read)
        start = self._read % self.capacity
        before_wrap = min(count, self.capacity - start)
        out[:before_wrap] = self._samples[start : start + before_wrap]
        out[before_wrap:count] = self._samples[: count - before_wrap]
        out[count:] = 0.0
        self._read += count
        return count

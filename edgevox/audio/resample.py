"""One rate into another, piece by piece, as if it had been done in one go."""

from __future__ import annotations

import numpy as np
import soxr  # type: ignore[import-untyped]  # it has neither stubs nor py.typed
from numpy.typing import NDArray


class Resampler:
    """A stream of mono sound at another rate. Holds back about 20 ms until it is given more or finished."""

    def __init__(self, from_hz: int, to_hz: int) -> None:
        self.from_hz = from_hz
        self.to_hz = to_hz
        self._stream = soxr.ResampleStream(from_hz, to_hz, 1, dtype="float32") if from_hz != to_hz else None

    @property
    def held_samples(self) -> float:
        """How many samples of the new rate are held back."""
        return 0.0 if self._stream is None else self._stream.delay()

    def feed(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        """What can be said at the new rate by now."""
        return samples if self._stream is None else self._stream.resample_chunk(samples)

    def finish(self) -> NDArray[np.float32]:
        """What was held back. Nothing may be fed after it."""
        nothing = np.zeros(0, dtype=np.float32)
        return nothing if self._stream is None else self._stream.resample_chunk(nothing, last=True)

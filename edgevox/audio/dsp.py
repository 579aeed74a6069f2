"""Signal levels in dBFS, and streaming resampling of mono float32 samples."""

from __future__ import annotations

import atexit
import math
import weakref
from functools import cache

import numpy as np
import soxr  # type: ignore[import-untyped]  # it has neither stubs nor py.typed
from numpy.typing import NDArray

SILENCE_DBFS = -100.0


def dbfs(samples: NDArray[np.float32]) -> float:
    """The mean level: 0 for the loudest square wave, SILENCE_DBFS for nothing at all."""
    return decibels(float(np.dot(samples, samples)) / len(samples)) if len(samples) else SILENCE_DBFS


def decibels(power: float) -> float:
    """The level of a mean power, never below SILENCE_DBFS."""
    return max(SILENCE_DBFS, 10 * math.log10(power)) if power > 0 else SILENCE_DBFS


_open: weakref.WeakSet[Resampler] = weakref.WeakSet()


@cache
def _close_all_at_exit() -> None:
    """soxr prints "leaked instances" for every stream that a daemon thread still has when Python ends."""

    def close_all() -> None:
        for resampler in list(_open):
            resampler._stream = None

    atexit.register(close_all)


class Resampler:
    """Resamples a stream of mono samples. Holds back about 20 ms until fed again or finished."""

    def __init__(self, from_hz: int, to_hz: int) -> None:
        self.from_hz = from_hz
        self._stream = soxr.ResampleStream(from_hz, to_hz, 1, dtype="float32") if from_hz != to_hz else None
        _close_all_at_exit()
        _open.add(self)

    @property
    def held_samples(self) -> float:
        return 0.0 if self._stream is None else self._stream.delay()

    def feed(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        """Resample; returns the samples that are complete."""
        return samples if self._stream is None else self._stream.resample_chunk(samples)

    def finish(self) -> NDArray[np.float32]:
        """The samples held back; ends the stream."""
        nothing = np.zeros(0, dtype=np.float32)
        return nothing if self._stream is None else self._stream.resample_chunk(nothing, last=True)

"""How loud sound is, in decibels below the loudest that can be written down."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

SILENCE_DBFS = -100.0


def dbfs(samples: NDArray[np.float32]) -> float:
    """The mean level: 0 for the loudest square wave, SILENCE_DBFS for nothing at all."""
    return decibels(float(np.dot(samples, samples)) / len(samples)) if len(samples) else SILENCE_DBFS


def decibels(power: float) -> float:
    """The level of a mean power, never below SILENCE_DBFS."""
    return max(SILENCE_DBFS, 10 * math.log10(power)) if power > 0 else SILENCE_DBFS

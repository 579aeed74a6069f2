"""How much may come: so much in a second, and some more at once after a pause."""

from __future__ import annotations

import time
from collections.abc import Callable


class Allowance:
    """Fills with `per_s` each second, up to `burst`."""

    def __init__(self, *, per_s: float, burst: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._per_s = per_s
        self._burst = burst
        self._clock = clock
        self._left = burst
        self._at_s = clock()

    def take(self, amount: float) -> bool:
        """Use some of it; False where there is not enough."""
        now_s = self._clock()
        self._left = min(self._burst, self._left + (now_s - self._at_s) * self._per_s)
        self._at_s = now_s
        self._left -= amount
        return self._left >= 0

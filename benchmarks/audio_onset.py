"""Finds the first audible sample of an answer."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable

import numpy as np

from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio

AUDIBLE = 0.01


class OnsetMeter:
    """A loudspeaker that plays nothing, and notes when the first sample that can be heard would sound."""

    def __init__(self) -> None:
        self.audible_s: float | None = None
        self.heard_s = 0.0
        self._busy_until_s = 0.0

    def forget(self) -> None:
        """Make ready for another turn."""
        self.audible_s = None
        self._busy_until_s = 0.0

    async def play(self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None]) -> None:
        self.heard_s = 0.0
        async for chunk in chunks:
            if not self._busy_until_s:
                on_start()
            begins_s = max(time.monotonic(), self._busy_until_s)
            self._busy_until_s = begins_s + chunk.duration_s
            self.heard_s += chunk.duration_s
            if self.audible_s is None and (quiet_s := leading_silence_s(chunk)) < chunk.duration_s:
                self.audible_s = begins_s + quiet_s

    def duck(self, is_ducked: bool) -> None:
        """Nobody speaks over an answer here."""

    def hold(self, is_held: bool) -> None:
        """Nobody speaks over an answer here."""


def leading_silence_s(audio: Audio) -> float:
    loud = np.flatnonzero(np.abs(audio.samples) > AUDIBLE)
    return float(loud[0]) / audio.rate_hz if len(loud) else audio.duration_s

"""When the samples of a device are in the air, although what the device says of it jumps about."""

from __future__ import annotations

from collections import deque
from statistics import median
from typing import Literal, TypeAlias

from edgevox.types import WHISPER_RATE_HZ

Hole: TypeAlias = Literal["opened", "lost"]
"""Why samples do not follow on those before them: the device was just opened, or has lost sound."""

# A driver's times are off by a buffer now and then; what half of so many say is true.
_REMEMBERED = 25
# Fewer say little: right after a hole, drivers are wrong several times in a row.
_ENOUGH = 10
# A canceller follows what is less, and has to begin anew after every jump. On an idle machine drivers change
# their mind by up to 41 ms in the middle of a reply, while the echo stays where it is.
_TOLERATED = round(0.05 * WHISPER_RATE_HZ)
# No driver is so wrong: the device was closed in between, or has lost sound.
_BREAK = round(0.25 * WHISPER_RATE_HZ)


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
        said = said_s * WHISPER_RATE_HZ
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

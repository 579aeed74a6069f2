"""Notices that the wall clock was set, so that ten minutes stay ten minutes.

Times in the state files are wall-clock times, which outlive the process. A clock that nobody sets, and that
goes on while the machine sleeps, tells for how much they have become wrong: a machine without a clock of its
own often begins hours off, and is put right by the network in the middle of a timer.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from edgevox.platform_support import seconds_since_boot

# Less is the drift and the reading of two clocks, one after the other.
_SMALLEST_JUMP_S = 1.0
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class Reckoning(BaseModel):
    """How far the wall clock was ahead of the steady one when a time was written down, and in which boot."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    boot_id: str
    ahead_s: float


class SteadyClock:
    """Seconds since the machine was started, asleep or awake."""

    def __init__(self, since_boot_s: Callable[[], float], boot_id: str) -> None:
        self._since_boot_s = since_boot_s
        self._boot_id = boot_id

    @classmethod
    def of_machine(cls) -> SteadyClock | None:
        """None where the machine has no such clock: then nothing is noticed."""
        try:
            boot_id = _BOOT_ID.read_text(encoding="ascii").strip()
        except OSError:  # not Linux
            return None
        return cls(seconds_since_boot, boot_id)

    def reckoning(self, wall_s: float) -> Reckoning:
        return Reckoning(boot_id=self._boot_id, ahead_s=wall_s - self._since_boot_s())


def jump_s(before: Reckoning, now: Reckoning) -> float:
    """By how much the wall clock was set since. Across a reboot the wall clock is believed."""
    jump = now.ahead_s - before.ahead_s
    return jump if before.boot_id == now.boot_id and abs(jump) >= _SMALLEST_JUMP_S else 0.0

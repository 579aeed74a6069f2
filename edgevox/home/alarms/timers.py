"""Timers as state, and the correction of stored times after the wall clock was set.

Times are wall-clock seconds, so that timers survive a restart. A boot clock, which is never set, shows how far
they are off: a machine without a real-time clock is often corrected over the network while a timer runs.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from edgevox.core.languages import duration, turn_language
from edgevox.core.platform import seconds_since_boot
from edgevox.core.state_file import StateFile
from edgevox.core.turn import LOCAL, Caller
from edgevox.home.entities import HomeError
from edgevox.home.phrasing import brief

# Smaller differences are drift, and the delay between reading two clocks.
_SMALLEST_JUMP_S = 1.0
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


class ClockOffset(BaseModel):
    """The offset of the wall clock to the boot clock when a time was stored, and the boot id."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    boot_id: str
    ahead_s: float


class BootClock:
    """Seconds since boot, including suspend."""

    def __init__(self, since_boot_s: Callable[[], float], boot_id: str) -> None:
        self._since_boot_s = since_boot_s
        self._boot_id = boot_id

    @classmethod
    def of_machine(cls) -> BootClock | None:
        """None if the machine has no such clock; then changes of the wall clock go unnoticed."""
        try:
            boot_id = _BOOT_ID.read_text(encoding="ascii").strip()
        except OSError:  # not Linux
            return None
        return cls(seconds_since_boot, boot_id)

    def reckoning(self, wall_s: float) -> ClockOffset:
        return ClockOffset(boot_id=self._boot_id, ahead_s=wall_s - self._since_boot_s())


def jump_s(before: ClockOffset, now: ClockOffset) -> float:
    """By how much the wall clock was set since then; 0 across a reboot."""
    jump = now.ahead_s - before.ahead_s
    return jump if before.boot_id == now.boot_id and abs(jump) >= _SMALLEST_JUMP_S else 0.0


Clock: TypeAlias = Callable[[], float]
"""Returns seconds since 1970, such as time.time."""

TIMERS_FILE = "timers.json"
MAX_TIMER_S = 7 * 24 * 3600
MAX_TIMERS = 50


def remote(caller: Caller) -> Caller | None:
    """The caller as it is stored with a command; None for this machine's own microphone and keyboard."""
    return None if caller == LOCAL else replace(caller, is_scheduled=False)


class Timer(BaseModel):
    """One timer. While paused, `left_s` is its remaining time; otherwise it is due at `due_s`.

    `caller` is the remote client that scheduled the command, and `satellite` the one on which it was set. `language` is
    that of the turn that set it, "" if it was set by other means.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    length_s: int
    due_s: float
    name: str = ""
    command: str = ""
    caller: Caller | None = None
    satellite: str = ""
    language: str = ""
    left_s: float | None = None
    reckoned: ClockOffset | None = None

    @property
    def is_paused(self) -> bool:
        return self.left_s is not None

    @property
    def called(self) -> str:
        """ "pasta timer", "10 minute timer"."""
        name = self.name.casefold().removesuffix(" timer")
        return f"{brief(name)} timer" if name else f"{duration(self.length_s)} timer".replace("s timer", " timer")

    def is_due(self, now_s: float) -> bool:
        return self.left_s is None and self.due_s <= now_s

    def remaining_s(self, now_s: float) -> float:
        """The remaining time; 0 when due."""
        return max(0.0, self.due_s - now_s) if self.left_s is None else self.left_s


class _Content(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    timers: list[Timer] = Field(default_factory=list)


class Timers:
    """All timers, in a file or, without a path, in memory. All methods raise StateError."""

    def __init__(self, clock: Clock, path: Path | None = None) -> None:
        self._clock = clock
        self._file = StateFile(path, _Content)

    def all(self) -> tuple[Timer, ...]:
        """All timers, the next one first."""
        now_s = self._clock()
        timers = self._file.read().timers
        return tuple(sorted(timers, key=lambda timer: (timer.remaining_s(now_s), timer.id)))

    def in_order_of_start(self) -> tuple[Timer, ...]:
        return tuple(self._file.read().timers)

    def now_s(self) -> float:
        return self._clock()

    def remaining_s(self, timer: Timer) -> float:
        return timer.remaining_s(self._clock())

    def start(self, length_s: int, *, name: str = "", command: str = "", caller: Caller = LOCAL) -> Timer:
        """`caller` is that of the command. Raises HomeError for an invalid length, and for too many timers."""
        if not 0 < length_s <= MAX_TIMER_S:
            raise HomeError("A timer can be a second to a week long.")
        timer = Timer(
            id=uuid.uuid4().hex[:8],
            length_s=length_s,
            due_s=self._clock() + length_s,
            name=name,
            command=command,
            caller=remote(caller) if command else None,
            satellite=caller.satellite,
            language=turn_language(),
        )
        with self._file.changing() as content:
            if len(content.timers) >= MAX_TIMERS:
                raise HomeError(f"There are {MAX_TIMERS} timers already. Cancel some first.")
            content.timers.append(timer)
        return timer

    def extend(self, timer: Timer, seconds: int) -> Timer:
        """Add time, or remove it with a negative number; the remaining time is at least 0."""
        left_s = min(max(0.0, self.remaining_s(timer) + seconds), float(MAX_TIMER_S))
        if timer.is_paused:
            return self._replace(timer.model_copy(update={"left_s": left_s}))
        return self._replace(self._due_in(timer, left_s))

    def rename(self, timer: Timer, name: str) -> Timer:
        return self._replace(timer.model_copy(update={"name": name}))

    def pause(self, timer: Timer) -> Timer:
        return self._replace(timer.model_copy(update={"left_s": self.remaining_s(timer)}))

    def resume(self, timer: Timer) -> Timer:
        return self._replace(self._due_in(timer, self.remaining_s(timer)))

    def cancel(self, *timers: Timer) -> None:
        gone = {timer.id for timer in timers}
        with self._file.changing() as content:
            content.timers = [timer for timer in content.timers if timer.id not in gone]

    def end(self, timer_id: str) -> bool:
        """Remove a timer that is due; False if it is not, or if another process ended it."""
        now_s = self._clock()
        with self._file.changing() as content:
            left = [timer for timer in content.timers if timer.id != timer_id or not timer.is_due(now_s)]
            is_ended = len(left) < len(content.timers)
            content.timers = left
        return is_ended

    def correct_clock_jump(self, now: ClockOffset) -> None:
        """Move the timers that were started before the wall clock was set, so that they keep their length."""
        timers = self._file.read().timers
        if [_kept_up(timer, now) for timer in timers] != timers:
            with self._file.changing() as content:
                content.timers = [_kept_up(timer, now) for timer in content.timers]

    def forget_words(self, is_forgotten: Callable[[str], bool]) -> int:
        """Delete the names and commands that are to be forgotten, and return their number. The timers run on."""
        timers = [timer for timer in self.all() if is_forgotten(timer.name) or is_forgotten(timer.command)]
        for timer in timers:
            self._replace(timer.model_copy(update={"name": "", "command": ""}))
        return len(timers)

    def _due_in(self, timer: Timer, seconds: float) -> Timer:
        return timer.model_copy(update={"due_s": self._clock() + seconds, "left_s": None, "reckoned": None})

    def _replace(self, changed: Timer) -> Timer:
        with self._file.changing() as content:
            content.timers = [changed if timer.id == changed.id else timer for timer in content.timers]
        return changed


def _kept_up(timer: Timer, now: ClockOffset) -> Timer:
    if timer.is_paused:
        return timer
    if timer.reckoned is None:
        return timer.model_copy(update={"reckoned": now})
    jump = jump_s(timer.reckoned, now)
    return timer.model_copy(update={"due_s": timer.due_s + jump, "reckoned": now}) if jump else timer

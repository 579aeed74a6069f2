"""Timers as state: what was started, and when each is due. Nothing rings here.

Times are wall-clock seconds, so that timers survive a restart; the clock is passed in.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from edgevox.tools.home.agenda.steady_clock import Reckoning, jump_s
from edgevox.tools.home.home import HomeError
from edgevox.tools.home.state_file import StateFile
from edgevox.tools.home.wording import brief, duration

Clock: TypeAlias = Callable[[], float]
"""Seconds since 1970, as time.time gives them."""

FILE_NAME = "timers.json"
LONGEST_S = 7 * 24 * 3600
MOST = 50


class Timer(BaseModel):
    """One timer. While it is paused `left_s` holds what is left of it; else it is due at `due_s`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    length_s: int
    due_s: float
    name: str = ""
    command: str = ""
    left_s: float | None = None
    reckoned: Reckoning | None = None

    @property
    def is_paused(self) -> bool:
        return self.left_s is not None

    @property
    def called(self) -> str:
        """ "pasta timer", "10 minute timer"."""
        name = self.name.casefold().removesuffix(" timer")
        return (
            f"{brief(name)} timer"
            if name
            else f"{duration(self.length_s)} timer".replace("s timer", " timer")
        )

    def is_due(self, now_s: float) -> bool:
        return self.left_s is None and self.due_s <= now_s

    def remaining_s(self, now_s: float) -> float:
        """What is left; 0 when it is due."""
        return max(0.0, self.due_s - now_s) if self.left_s is None else self.left_s


class _Content(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    timers: list[Timer] = Field(default_factory=list)


class Timers:
    """The timers there are, in a file or, without one, in memory. Every method raises StateError."""

    def __init__(self, clock: Clock, path: Path | None = None) -> None:
        self._clock = clock
        self._file = StateFile(path, _Content)

    def all(self) -> tuple[Timer, ...]:
        """Every timer, the next to be due first."""
        now_s = self._clock()
        timers = self._file.read().timers
        return tuple(sorted(timers, key=lambda timer: (timer.remaining_s(now_s), timer.id)))

    def in_order_of_start(self) -> tuple[Timer, ...]:
        return tuple(self._file.read().timers)

    def now_s(self) -> float:
        return self._clock()

    def remaining_s(self, timer: Timer) -> float:
        return timer.remaining_s(self._clock())

    def start(self, length_s: int, *, name: str = "", command: str = "") -> Timer:
        """Raises HomeError for a length that is no length, and for one timer too many."""
        if not 0 < length_s <= LONGEST_S:
            raise HomeError("A timer can be a second to a week long.")
        timer = Timer(
            id=uuid.uuid4().hex[:8],
            length_s=length_s,
            due_s=self._clock() + length_s,
            name=name,
            command=command,
        )
        with self._file.changing() as content:
            if len(content.timers) >= MOST:
                raise HomeError(f"There are {MOST} timers already. Cancel some first.")
            content.timers.append(timer)
        return timer

    def extend(self, timer: Timer, seconds: int) -> Timer:
        """Make it longer, or shorter with a negative number; what is left is at least nothing."""
        left_s = min(max(0.0, self.remaining_s(timer) + seconds), float(LONGEST_S))
        if timer.is_paused:
            return self._replace(timer.model_copy(update={"left_s": left_s}))
        return self._replace(self._due_in(timer, left_s))

    def pause(self, timer: Timer) -> Timer:
        return self._replace(timer.model_copy(update={"left_s": self.remaining_s(timer)}))

    def resume(self, timer: Timer) -> Timer:
        return self._replace(self._due_in(timer, self.remaining_s(timer)))

    def cancel(self, *timers: Timer) -> None:
        gone = {timer.id for timer in timers}
        with self._file.changing() as content:
            content.timers = [timer for timer in content.timers if timer.id not in gone]

    def keep_up(self, now: Reckoning) -> None:
        """Move what was started before the wall clock was set, so that it lasts as long as it was to last."""
        timers = self._file.read().timers
        if [_kept_up(timer, now) for timer in timers] != timers:
            with self._file.changing() as content:
                content.timers = [_kept_up(timer, now) for timer in content.timers]

    def forget_words(self, is_forgotten: Callable[[str], bool]) -> int:
        """Take the name and the command from timers whose words are to be forgotten, and return how many.

        They run on, and ring.
        """
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


def _kept_up(timer: Timer, now: Reckoning) -> Timer:
    if timer.is_paused:
        return timer
    if timer.reckoned is None:
        return timer.model_copy(update={"reckoned": now})
    jump = jump_s(timer.reckoned, now)
    return timer.model_copy(update={"due_s": timer.due_s + jump, "reckoned": now}) if jump else timer

"""Alarms and reminders as state: what is to ring, and when. Nothing rings here.

What was set for a time of day keeps the time that clocks show, whatever happens to the zone or to the clock.
What was set for a length ("in twenty minutes"), or is put off, is a moment, and moves when the clock is set.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import date, datetime, timedelta, tzinfo
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, NaiveDatetime, model_validator

from edgevox.core.state_file import StateFile
from edgevox.home.alarms.time_expression import MACHINE_ZONE, local, moment, wall_s
from edgevox.home.alarms.timers import Clock, ClockOffset, jump_s
from edgevox.home.entities import HomeError

Kind: TypeAlias = Literal["alarm", "reminder"]

ALARMS_FILE = "alarms.json"
MAX_ALARMS = 100
_DAY = timedelta(days=1)


class Alarm(BaseModel):
    """An alarm, or a reminder of something.

    It rings when clocks show `at`, or at `due_s` where a length was said; both are the next time of one that
    rings on days of the week (`repeat`, 0 is Monday).
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    kind: Kind
    label: str = ""
    at: NaiveDatetime | None = None
    due_s: float | None = None
    repeat: tuple[int, ...] = ()
    skipped: tuple[date, ...] = ()
    snoozed_until_s: float | None = None
    reckoned: ClockOffset | None = None

    @model_validator(mode="after")
    def _has_a_time(self) -> Alarm:
        if (self.at is None) == (self.due_s is None):
            raise ValueError("an alarm has a time of day or a moment")
        if self.repeat and (self.at is None or not set(self.repeat) <= set(range(7))):
            raise ValueError("an alarm repeats on days of the week")
        return self

    def rings_s(self, zone: tzinfo) -> float:
        """When it rings next, in seconds since 1970."""
        if self.snoozed_until_s is not None:
            return self.snoozed_until_s
        return self._meant_s(zone)

    def rings(self, zone: tzinfo) -> datetime:
        """When it rings next."""
        return local(self.rings_s(zone), zone)

    def meant(self, zone: tzinfo) -> datetime:
        """The moment for which it was set, put off or not."""
        return local(self._meant_s(zone), zone)

    def _meant_s(self, zone: tzinfo) -> float:
        if self.at is not None:
            return wall_s(self.at, zone)
        assert self.due_s is not None
        return self.due_s

    def rings_on(self, day: date, zone: tzinfo) -> bool:
        if self.at is not None and self.repeat:
            return day >= self.at.date() and day.weekday() in self.repeat and day not in self.skipped
        return self.meant(zone).date() == day


class _Content(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    alarms: list[Alarm] = Field(default_factory=list)


class Alarms:
    """The alarms and reminders there are, in a file or, without one, in memory. All raise StateError."""

    def __init__(self, clock: Clock, path: Path | None = None, *, zone: tzinfo = MACHINE_ZONE) -> None:
        self._clock = clock
        self._file = StateFile(path, _Content)
        self.zone = zone

    def now(self) -> datetime:
        return local(self._clock(), self.zone)

    def all(self) -> tuple[Alarm, ...]:
        """Every alarm and reminder, the next to ring first."""
        return tuple(sorted(self._file.read().alarms, key=lambda alarm: (self.rings_s(alarm), alarm.id)))

    def rings_s(self, alarm: Alarm) -> float:
        """When it rings next, in seconds since 1970."""
        return alarm.rings_s(self.zone)

    def is_due(self, alarm: Alarm) -> bool:
        return self.rings_s(alarm) <= self._clock()

    def set(self, kind: Kind, at: datetime, *, label: str = "", repeat: tuple[int, ...] = ()) -> Alarm:
        """Ring when clocks show that time, and on those days of the week again. Raises HomeError.

        Without a zone, `at` is what clocks show here.
        """
        wall = (at.astimezone(self.zone) if at.tzinfo else at).replace(tzinfo=None, second=0, microsecond=0, fold=0)
        return self._add(Alarm(id=_new_id(), kind=kind, label=label, at=wall, repeat=repeat))

    def set_in(self, kind: Kind, seconds: float, *, label: str = "") -> Alarm:
        """Ring once, when so much time has gone by. Raises HomeError."""
        return self._add(Alarm(id=_new_id(), kind=kind, label=label, due_s=self._clock() + seconds))

    def cancel(self, *alarms: Alarm) -> None:
        gone = {alarm.id for alarm in alarms}
        with self._file.changing() as content:
            content.alarms = [alarm for alarm in content.alarms if alarm.id not in gone]

    def skip(self, alarm: Alarm, day: date) -> Alarm:
        """Let one that repeats be silent on one day."""
        changed = alarm.model_copy(update={"skipped": (*alarm.skipped, day), "snoozed_until_s": None})
        if alarm.at is not None and alarm.at.date() == day:
            changed = self._moved_on(changed, after=moment(alarm.at, self.zone))
        return self._replace(changed)

    def done(self, alarm_id: str) -> None:
        """It has rung: it goes, or waits for its next day. One that is not due stays as it is."""
        alarm = self._due_one(alarm_id)
        if alarm is None:
            return
        if alarm.repeat:
            self._replace(self._moved_on(alarm, after=self.now()))
        else:
            self.cancel(alarm)

    def snooze(self, alarm_id: str, seconds: float) -> None:
        """Ring again later. One that is not due stays as it is."""
        alarm = self._due_one(alarm_id)
        if alarm is not None:
            until_s = self._clock() + seconds
            self._replace(alarm.model_copy(update={"snoozed_until_s": until_s, "reckoned": None}))

    def correct_clock_jump(self, now: ClockOffset) -> None:
        """Move what counts a length of time and was set before the wall clock was."""
        alarms = self._file.read().alarms
        if [_kept_up(alarm, now) for alarm in alarms] != alarms:
            with self._file.changing() as content:
                content.alarms = [_kept_up(alarm, now) for alarm in content.alarms]

    def forget_words(self, is_forgotten: Callable[[str], bool]) -> int:
        """Take the label from alarms and reminders whose words are to be forgotten, and return how many.

        They stay set, and ring.
        """
        alarms = [alarm for alarm in self.all() if is_forgotten(alarm.label)]
        for alarm in alarms:
            self._replace(alarm.model_copy(update={"label": ""}))
        return len(alarms)

    def _due_one(self, alarm_id: str) -> Alarm | None:
        alarms = self._file.read().alarms
        return next((alarm for alarm in alarms if alarm.id == alarm_id and self.is_due(alarm)), None)

    def _moved_on(self, alarm: Alarm, after: datetime) -> Alarm:
        """One that repeats, waiting for its first time after that moment."""
        assert alarm.at is not None
        day = max(after.astimezone(self.zone).date(), alarm.at.date())
        while True:
            at = datetime.combine(day, alarm.at.time())
            if alarm.rings_on(day, self.zone) and wall_s(at, self.zone) > after.timestamp():
                break
            day += _DAY
        skipped = tuple(skip for skip in alarm.skipped if skip > day)
        return alarm.model_copy(update={"at": at, "skipped": skipped, "snoozed_until_s": None, "reckoned": None})

    def _add(self, alarm: Alarm) -> Alarm:
        with self._file.changing() as content:
            if len(content.alarms) >= MAX_ALARMS:
                raise HomeError(f"There are {MAX_ALARMS} alarms and reminders already. Cancel some first.")
            content.alarms.append(alarm)
        return alarm

    def _replace(self, changed: Alarm) -> Alarm:
        with self._file.changing() as content:
            content.alarms = [changed if alarm.id == changed.id else alarm for alarm in content.alarms]
        return changed


def _new_id() -> str:
    return uuid.uuid4().hex[:8]


def _kept_up(alarm: Alarm, now: ClockOffset) -> Alarm:
    if alarm.due_s is None and alarm.snoozed_until_s is None:
        return alarm
    if alarm.reckoned is None:
        return alarm.model_copy(update={"reckoned": now})
    jump = jump_s(alarm.reckoned, now)
    if not jump:
        return alarm
    counting = {"due_s": alarm.due_s, "snoozed_until_s": alarm.snoozed_until_s}
    moved = {name: moment_s + jump for name, moment_s in counting.items() if moment_s is not None}
    return alarm.model_copy(update={**moved, "reckoned": now})

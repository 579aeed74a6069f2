"""Alarms and reminders as state: what rings, and when. Nothing rings here.

One set for a time of day keeps its wall-clock time, whatever happens to the zone or the clock. One set for a
duration ("in twenty minutes"), or snoozed, is a fixed moment, and moves when the clock is set.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime, time, timedelta, tzinfo
from pathlib import Path
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, NaiveDatetime, model_validator

from edgevox.core.languages import turn_language
from edgevox.core.state_file import StateFile
from edgevox.core.turn import LOCAL, Caller
from edgevox.core.types import GUEST
from edgevox.home.alarms.sun import NoLocation, SunTime, SunTimes
from edgevox.home.alarms.time_expression import MACHINE_ZONE, local, moment, wall_s
from edgevox.home.alarms.timers import Clock, ClockOffset, jump_s, remote
from edgevox.home.entities import HomeError

Kind: TypeAlias = Literal["alarm", "reminder", "schedule"]

ALARMS_FILE = "alarms.json"
MAX_ALARMS = 100


class Alarm(BaseModel):
    """An alarm, a reminder, or a schedule: its label is the command that runs.

    It rings at the wall-clock time `at`, or at `due_s` if it was set for a duration; both are the next
    occurrence of one that repeats on weekdays (`repeat`, 0 is Monday). `sun` is the sun time that `at` follows, and
    `caller` the remote client that set a schedule. It rings on the `satellite` on which it was set. `person` is the
    enrolled person who set a reminder, "" if the voice was not recognised. `language` is that of the turn that set it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    kind: Kind
    label: str = ""
    at: NaiveDatetime | None = None
    due_s: float | None = None
    repeat: tuple[int, ...] = ()
    sun: SunTime | None = None
    skipped: tuple[date, ...] = ()
    snoozed_until_s: float | None = None
    reckoned: ClockOffset | None = None
    caller: Caller | None = None
    satellite: str = ""
    person: str = ""
    language: str = ""
    is_on: bool = True
    """whether it rings; one that is off is kept for another day"""

    @model_validator(mode="after")
    def _has_a_time(self) -> Alarm:
        if (self.at is None) == (self.due_s is None):
            raise ValueError("an alarm needs either at or due_s")
        if self.repeat and (self.at is None or not set(self.repeat) <= set(range(7))):
            raise ValueError("repeat must contain weekdays")
        return self

    def rings_s(self, zone: tzinfo) -> float:
        """The next ring time in seconds since 1970."""
        return self._meant_s(zone) if self.snoozed_until_s is None else self.snoozed_until_s

    def rings(self, zone: tzinfo) -> datetime:
        """The next ring time."""
        return local(self.rings_s(zone), zone)

    def meant(self, zone: tzinfo) -> datetime:
        """The moment for which it was set, without a snooze."""
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


def _stored(kind: Kind, caller: Caller) -> Caller | None:
    return remote(caller) if kind == "schedule" else None


def person_of(kind: Kind, caller: Caller) -> str:
    """The enrolled person to whom a reminder belongs; "" for alarms, schedules and guests."""
    return caller.person if kind == "reminder" and caller.person != GUEST else ""


class _Content(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    alarms: list[Alarm] = Field(default_factory=list)


class Alarms:
    """Alarms, reminders and schedules, in a file or, without a path, in memory. All methods raise StateError."""

    def __init__(
        self, clock: Clock, path: Path | None = None, *, zone: tzinfo = MACHINE_ZONE, sun_times: SunTimes | None = None
    ) -> None:
        self.sun_times = sun_times or SunTimes()
        self._clock = clock
        self._file = StateFile(path, _Content)
        self.zone = zone

    def now(self) -> datetime:
        return local(self._clock(), self.zone)

    def all(self) -> tuple[Alarm, ...]:
        """All alarms and reminders that are on, the next one first."""
        return tuple(alarm for alarm in self.with_those_off() if alarm.is_on)

    def with_those_off(self) -> tuple[Alarm, ...]:
        """All alarms and reminders, also those that were switched off, the next one first."""
        return tuple(sorted(self._file.read().alarms, key=lambda alarm: (self.rings_s(alarm), alarm.id)))

    def latest(self) -> tuple[Alarm, ...]:
        """The one that was set last, if any."""
        return tuple(self._file.read().alarms[-1:])

    def rings_s(self, alarm: Alarm) -> float:
        """The next ring time in seconds since 1970."""
        return alarm.rings_s(self.zone)

    def is_due(self, alarm: Alarm) -> bool:
        return self.rings_s(alarm) <= self._clock()

    def set(
        self,
        kind: Kind,
        at: datetime,
        *,
        label: str = "",
        repeat: tuple[int, ...] = (),
        sun: SunTime | None = None,
        caller: Caller = LOCAL,
    ) -> Alarm:
        """Ring at that wall-clock time, and again on the weekdays in `repeat`, then following `sun`. Raises HomeError.

        Without a time zone, `at` is local time.
        """
        wall = (at.astimezone(self.zone) if at.tzinfo else at).replace(tzinfo=None, second=0, microsecond=0, fold=0)
        alarm = Alarm(id=_new_id(), kind=kind, label=label, at=wall, repeat=repeat, sun=sun)
        return self._add(alarm, caller)

    def set_in(self, kind: Kind, seconds: float, *, label: str = "", caller: Caller = LOCAL) -> Alarm:
        """Ring once after this time. Raises HomeError."""
        due_s = self._clock() + seconds
        return self._add(Alarm(id=_new_id(), kind=kind, label=label, due_s=due_s), caller)

    def cancel(self, *alarms: Alarm) -> None:
        gone = {alarm.id for alarm in alarms}
        with self._file.changing() as content:
            content.alarms = [alarm for alarm in content.alarms if alarm.id not in gone]

    def change(self, alarm: Alarm, *, at: time | None, label: str, repeat: tuple[int, ...], is_on: bool) -> Alarm:
        """Give it another time of day (None keeps it), label or weekdays, or switch it; it rings next after now.

        One that does not repeat keeps its date if that is to come.
        """
        now, meant = self.now(), alarm.meant(self.zone).replace(tzinfo=None)
        is_as_before = at is None and repeat == alarm.repeat
        if is_as_before and alarm.due_s is not None and alarm.due_s > self._clock():
            return self._replace(alarm.model_copy(update={"is_on": is_on, "label": label}))
        day = meant.date() if not (repeat or alarm.repeat) and meant.date() > now.date() else now.date()
        wall = datetime.combine(day, (at or meant.time()).replace(second=0, microsecond=0))
        facts = {"at": wall, "due_s": None, "label": label, "repeat": repeat, "is_on": is_on}
        facts |= {"snoozed_until_s": None, "reckoned": None}
        changed = alarm.model_copy(update=facts | ({} if at is None else {"sun": None}))
        if repeat:
            changed = self._moved_on(changed, after=now)
        elif wall_s(wall, self.zone) <= self._clock():
            changed = changed.model_copy(update={"at": wall + timedelta(days=1)})
        return self._replace(changed)

    def skip(self, alarm: Alarm, day: date) -> Alarm:
        """Skip one day of a repeating alarm."""
        changed = alarm.model_copy(update={"skipped": (*alarm.skipped, day), "snoozed_until_s": None})
        if alarm.at is not None and alarm.at.date() == day:
            changed = self._moved_on(changed, after=moment(alarm.at, self.zone))
        return self._replace(changed)

    def done(self, alarm_id: str) -> bool:
        """Remove one that has rung, or move it to its next day; False if it is not due, or not any more."""
        with self._file.changing() as content:
            due = next((one for one in content.alarms if one.id == alarm_id and self.is_due(one)), None)
            if due is None:
                return False
            later = [self._moved_on(due, after=self.now())] if due.repeat else []
            content.alarms = [left for one in content.alarms for left in (later if one is due else [one])]
        return True

    def snooze(self, alarm_id: str, seconds: float) -> None:
        """Ring again later. One that is not due is unchanged."""
        alarm = self._due_one(alarm_id)
        if alarm is not None:
            until_s = self._clock() + seconds
            self._replace(alarm.model_copy(update={"snoozed_until_s": until_s, "reckoned": None}))

    def correct_clock_jump(self, now: ClockOffset) -> None:
        """Move the alarms with a duration that were set before the wall clock was changed."""
        alarms = self._file.read().alarms
        if [_kept_up(alarm, now) for alarm in alarms] != alarms:
            with self._file.changing() as content:
                content.alarms = [_kept_up(alarm, now) for alarm in content.alarms]

    def forget_words(self, is_forgotten: Callable[[str], bool]) -> int:
        """Delete the labels that are to be forgotten, and return their number. The alarms stay set."""
        alarms = [alarm for alarm in self.with_those_off() if is_forgotten(alarm.label)]
        self.cancel(*(alarm for alarm in alarms if alarm.kind == "schedule"))  # nothing is left to run
        for alarm in alarms:
            self._replace(alarm.model_copy(update={"label": ""}))
        return len(alarms)

    def _due_one(self, alarm_id: str) -> Alarm | None:
        alarms = self._file.read().alarms
        return next((alarm for alarm in alarms if alarm.id == alarm_id and self.is_due(alarm)), None)

    def _moved_on(self, alarm: Alarm, after: datetime) -> Alarm:
        """A repeating alarm, moved to its first occurrence after that moment."""
        assert alarm.at is not None
        day = max(after.astimezone(self.zone).date(), alarm.at.date())
        while True:
            at = self._at_on(alarm, day)
            if alarm.rings_on(day, self.zone) and wall_s(at, self.zone) > after.timestamp():
                break
            day += timedelta(days=1)
        skipped = tuple(skip for skip in alarm.skipped if skip > day)
        return alarm.model_copy(update={"at": at, "skipped": skipped, "snoozed_until_s": None, "reckoned": None})

    def _at_on(self, alarm: Alarm, day: date) -> datetime:
        """The wall-clock time on that day; that of the last occurrence where the sun's is not known."""
        assert alarm.at is not None
        if alarm.sun is not None:
            with suppress(NoLocation):
                if (at := self.sun_times.at(alarm.sun, day, self.zone)) is not None:
                    return at.replace(tzinfo=None)
        return datetime.combine(day, alarm.at.time())

    def _add(self, alarm: Alarm, caller: Caller) -> Alarm:
        set_by = {"caller": _stored(alarm.kind, caller), "satellite": caller.satellite, "language": turn_language()}
        alarm = alarm.model_copy(update={**set_by, "person": person_of(alarm.kind, caller)})
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

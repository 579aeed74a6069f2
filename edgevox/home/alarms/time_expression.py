"""A parsed time expression, and its resolution to a moment in the machine's time zone.

docs/guide/timers.md has the rules for an hour without am or pm. Alarms wake people: twelve is noon, and an hour from
four on is in the morning. Reminders are for the day: hours before six are meant only if said during them.

Local times compare by wall clock, which is wrong in the repeated hour: compare POSIX seconds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Literal, TypeAlias

from edgevox.home.alarms.sun import SunTime, SunTimes
from edgevox.home.entities import HomeError

_LATE_TO_BED_HOUR = 4


def moment(wall: datetime, zone: tzinfo) -> datetime:
    """The moment at which clocks in that zone show `wall`, a naive time.

    In the hour skipped by summer time the old offset applies (2:30 is 3:30), and of the repeated hour the
    first one is meant, as in calendars.
    """
    return wall.replace(tzinfo=zone, fold=0).astimezone(UTC).astimezone(zone)


def wall_s(wall: datetime, zone: tzinfo) -> float:
    """That moment in seconds since 1970."""
    return wall.replace(tzinfo=zone, fold=0).timestamp()


def local(seconds: float, zone: tzinfo) -> datetime:
    """Seconds since 1970 as local time of that zone."""
    return datetime.fromtimestamp(seconds, zone)


def tomorrow(now: datetime) -> date:
    """The day that people call tomorrow: shortly after midnight it is the same date."""
    return now.date() + timedelta(days=now.hour >= _LATE_TO_BED_HOUR)


class _MachineZone(tzinfo):
    """The machine's time zone according to the operating system."""

    def utcoffset(self, when: datetime | None) -> timedelta | None:
        if when is None:
            return None
        wall = when.replace(tzinfo=None, microsecond=0)
        return timedelta(seconds=round(wall.replace(tzinfo=UTC).timestamp() - wall.timestamp()))

    def dst(self, _when: datetime | None) -> timedelta | None:
        return None

    def tzname(self, when: datetime | None) -> str | None:
        return None if when is None else when.replace(tzinfo=None).astimezone().tzname()

    def fromutc(self, when: datetime) -> datetime:
        seconds = when.replace(tzinfo=UTC).timestamp()
        return datetime.fromtimestamp(seconds).replace(tzinfo=self)  # noqa: DTZ006 - the machine's zone


MACHINE_ZONE: tzinfo = _MachineZone()


Purpose: TypeAlias = Literal["alarm", "reminder", "schedule"]
Part: TypeAlias = Literal["morning", "afternoon", "evening", "night"]

HALF_DAY = 12 * 60
WHOLE_DAY = 24 * 60
# Hours for a reminder with a day but no time: the first one that is still ahead.
_NO_HOUR: dict[Part | None, tuple[int, ...]] = {
    None: (9 * 60, 15 * 60, 19 * 60),
    "morning": (9 * 60, 11 * 60),
    "afternoon": (15 * 60, 17 * 60),
    "evening": (19 * 60, 21 * 60),
    "night": (21 * 60, 23 * 60),
}
_PART_RANGES: dict[Part, range] = {
    "morning": range(HALF_DAY),
    "afternoon": range(HALF_DAY, 18 * 60),
    "evening": range(17 * 60, WHOLE_DAY),
    "night": range(18 * 60, WHOLE_DAY),
}
_ALARM_FROM = 4 * 60
_REMINDER_FROM = 7 * 60
_NIGHT_ENDS_HOUR = 6
_NAP_HOURS = range(11, 17)
_LONGEST_NAP_S = 3 * 3600
_DAYS_AHEAD = 9
_SUN_DAYS_AHEAD = 366


class PastTime(HomeError):
    """The time is in the past."""


@dataclass(frozen=True, slots=True)
class When:
    """The moment `at`, and the weekdays on which it repeats (0 is Monday).

    `wall` is its wall-clock time, which differs from `at` in the hour skipped by summer time. Without
    `has_time` no time of day was said, and it is a guess. `in_s` is the duration, if one was said, and `sun` the
    sun time that it follows.
    """

    at: datetime
    wall: datetime
    repeat: tuple[int, ...] = ()
    has_time: bool = True
    in_s: float | None = None
    sun: SunTime | None = None


@dataclass(frozen=True, slots=True)
class TimeExpression:
    """A parsed expression. `days` are the candidate dates, nearest first; empty if no day was said.

    `minutes` are minutes of the day, two candidates for an hour without am or pm; 1440 and more are after
    midnight, where the night belongs to the day before.
    """

    dates: tuple[date, ...] = ()
    repeat: tuple[int, ...] = ()
    minutes: tuple[int, ...] = ()
    part: Part | None = None
    in_s: float | None = None
    sun: SunTime | None = None

    @property
    def has_time(self) -> bool:
        return bool(self.minutes) or self.in_s is not None or self.sun is not None

    @property
    def has_days(self) -> bool:
        return bool(self.dates or self.repeat) or self.in_s is not None

    def when(self, now: datetime, purpose: Purpose, sun_times: SunTimes | None = None) -> When:
        """The moment that is meant, after `now` (local time). Raises PastTime, and NoLocation for a sun time."""
        if self.sun is not None:
            return self._sun_when(self.sun, now, sun_times or SunTimes())
        if self.in_s is not None:
            at = local(now.timestamp() + self.in_s, _zone(now))
            return When(at, at.replace(tzinfo=None), in_s=self.in_s)
        wall = self._wall(now, purpose)
        # "Monday at midnight" falls on Tuesdays.
        late = bool(self.minutes) and min(self.minutes) >= WHOLE_DAY
        repeat = tuple(sorted((day + late) % 7 for day in self.repeat))
        return When(moment(wall, _zone(now)), wall, repeat, self.has_time)

    def _sun_when(self, sun: SunTime, now: datetime, sun_times: SunTimes) -> When:
        days = self.dates or tuple(now.date() + timedelta(days=step) for step in range(-1, _SUN_DAYS_AHEAD))
        for day in days:
            at = sun_times.at(sun, day, _zone(now)) if not self.repeat or day.weekday() in self.repeat else None
            if at is not None and at.timestamp() > now.timestamp():
                return When(at, at.replace(tzinfo=None), self.repeat, sun=sun)
        raise PastTime("There is no such time then. For when?")

    def _wall(self, now: datetime, purpose: Purpose) -> datetime:
        minutes = self.minutes or _NO_HOUR[self.part]
        if self.repeat and purpose == "schedule" and len(self.minutes) > 1:
            # The hour that comes next, as without a repetition.
            soon = _first(now, _days_around(now), minutes, from_hour=min(now.hour, _NIGHT_ENDS_HOUR))
            minutes = (soon.hour * 60 + soon.minute,)
        if self.repeat:
            days = (day for day in _days_around(now) if day.weekday() in self.repeat)
            return _first(now, days, (_preferred(minutes, purpose),))
        if self.dates:
            for day in self.dates:
                left = [minute for minute in minutes if _ahead_s(_wall(day, minute), now) > 0]
                if left:
                    best = _preferred(minutes, purpose)
                    return _wall(day, best if best in left else left[0])
            raise PastTime("That is over already. For when?")
        if len(self.minutes) < 2:
            return _first(now, _days_around(now), minutes[:1])
        if purpose == "alarm":
            return _first(now, _days_around(now), _alarm_minutes(minutes, now))
        return _first(now, _days_around(now), minutes, from_hour=min(now.hour, _NIGHT_ENDS_HOUR))

    def shows(self, wall: datetime) -> bool:
        """Whether a time of day matches the expression: its hour, or its part of the day; without either, any."""
        minute = wall.hour * 60 + wall.minute
        if self.minutes:
            return minute in {said % WHOLE_DAY for said in self.minutes}
        return self.part is None or (minute or WHOLE_DAY - 1) in _PART_RANGES[self.part]

    def dates_at(self, at: time) -> tuple[date, ...]:
        """The calendar dates at that hour: midnight on Friday is the first moment of Saturday."""
        is_late = min(self.minutes) >= WHOLE_DAY if self.minutes else at == time()
        return tuple(day + timedelta(days=is_late) for day in self.dates)


def _alarm_minutes(minutes: tuple[int, ...], now: datetime) -> tuple[int, ...]:
    early, late = minutes
    if early < 60:
        return (late,)
    if early < _ALARM_FROM:
        return minutes
    is_nap = now.hour in _NAP_HOURS and 0 < _ahead_s(_wall(now.date(), late), now) <= _LONGEST_NAP_S
    return (late,) if is_nap else (early,)


def _preferred(minutes: tuple[int, ...], purpose: Purpose) -> int:
    """Of several candidate hours, the one that people usually mean."""
    starts = _ALARM_FROM if purpose == "alarm" else _REMINDER_FROM
    return minutes[0] if len(minutes) == 1 or minutes[0] >= starts else minutes[1]


def _first(now: datetime, days: Iterable[date], minutes: tuple[int, ...], *, from_hour: int = 0) -> datetime:
    """The first future candidate that is not before that hour of its day."""
    for day in days:
        for minute in minutes:
            wall = _wall(day, minute)
            if _ahead_s(wall, now) > 0 and wall.hour >= from_hour:
                return wall
    raise AssertionError(minutes)


def _days_around(now: datetime) -> Iterable[date]:
    """The dates from yesterday on, because its night may not be over."""
    return (now.date() + timedelta(days=offset) for offset in range(-1, _DAYS_AHEAD))


def _wall(day: date, minute: int) -> datetime:
    return datetime.combine(day, time()) + timedelta(minutes=minute)


def _ahead_s(wall: datetime, now: datetime) -> float:
    return wall_s(wall, _zone(now)) - now.timestamp()


def _zone(now: datetime) -> tzinfo:
    assert now.tzinfo is not None
    return now.tzinfo

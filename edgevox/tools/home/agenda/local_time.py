"""Local time: the machine's zone with its rules for summer time, and the moment that a wall clock shows.

The zone of `datetime.now().astimezone()` is only an offset: an alarm for next month would be an hour off.
Two times of one zone compare by what clocks show, which is wrong in the hour that comes twice: whoever asks
which of them is earlier asks for their seconds since 1970.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, tzinfo

_LATE_TO_BED_HOUR = 4


def moment(wall: datetime, zone: tzinfo) -> datetime:
    """When clocks in that zone show `wall`, a time without a zone.

    The hour that summer time leaves out is read by the clock as it was before (2:30 is 3:30), and of the hour
    that comes twice the first is meant, as calendars do.
    """
    return wall.replace(tzinfo=zone, fold=0).astimezone(UTC).astimezone(zone)


def wall_s(wall: datetime, zone: tzinfo) -> float:
    """The same in seconds since 1970."""
    return wall.replace(tzinfo=zone, fold=0).timestamp()


def local(seconds: float, zone: tzinfo) -> datetime:
    """Seconds since 1970 as the time of that zone."""
    return datetime.fromtimestamp(seconds, zone)


def tomorrow(now: datetime) -> date:
    """The day that people call so. To who is up after midnight, it begins with getting up."""
    return now.date() + timedelta(days=now.hour >= _LATE_TO_BED_HOUR)


class _MachineZone(tzinfo):
    """What the operating system knows of this machine's zone."""

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

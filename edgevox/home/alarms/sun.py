"""Sunrise, sunset, dawn and dusk at the place of the home, as times that alarms and schedules can follow."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from edgevox.core.languages import duration
from edgevox.home.entities import HomeError, Location

SunEvent: TypeAlias = Literal["sunrise", "sunset", "dawn", "dusk"]

_NO_LOCATION = "I do not know where you live: set home.latitude and home.longitude, then I know when the sun sets."


class NoLocation(HomeError):
    """The place of the home is needed and not known."""


class SunTime(BaseModel):
    """A time that follows the sun: so many minutes after the event, or before it if negative."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    event: SunEvent
    offset_minutes: int = 0

    @property
    def phrase(self) -> str:
        """ "sunset", "30 minutes before sunrise"."""
        if not self.offset_minutes:
            return self.event
        side = "after" if self.offset_minutes > 0 else "before"
        return f"{duration(abs(self.offset_minutes) * 60)} {side} {self.event}"


class SunTimes:
    """Computes sun times; `location` returns the place of the home, or None where it is not known."""

    def __init__(self, location: Callable[[], Location | None] = lambda: None) -> None:
        self._location = location

    def location(self) -> Location:
        """Raises NoLocation."""
        if (place := self._location()) is None:
            raise NoLocation(_NO_LOCATION)
        return place

    def at(self, sun: SunTime, day: date, zone: tzinfo) -> datetime | None:
        """The moment on that local date; None on a polar day or night. Raises NoLocation."""
        from astral import Observer  # imported here: it is seldom needed
        from astral.sun import dawn, dusk, sunrise, sunset

        place = self.location()
        observer = Observer(place.latitude, place.longitude)
        events: dict[SunEvent, Callable[..., datetime]] = {
            "sunrise": sunrise,
            "sunset": sunset,
            "dawn": dawn,
            "dusk": dusk,
        }
        for step in (0, -1, 1):  # a date of astral's is one in UTC
            try:
                moment = events[sun.event](observer, day + timedelta(days=step), tzinfo=UTC)
            except ValueError:  # the sun does not reach that height
                continue
            moment = moment.astimezone(zone).replace(second=0, microsecond=0)
            if moment.date() == day:
                return moment + timedelta(minutes=sun.offset_minutes)
        return None

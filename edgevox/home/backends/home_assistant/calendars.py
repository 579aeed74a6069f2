"""Calendar entities of Home Assistant: reading their events and adding to them."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, tzinfo
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from edgevox.home.backends.home_assistant.connection import Connection
from edgevox.home.backends.home_assistant.services import require_feature
from edgevox.home.calendar.ics import weekly_rule
from edgevox.home.entities import CalendarEvent, Entity, HomeError

# A bit of Home Assistant's supported_features.
_CREATES = 1
_IS_DATE = re.compile(r"\d{4}-\d\d-\d\d")


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True)

    summary: str = ""
    start: str
    end: str


class HomeAssistantCalendar:
    """A Calendar; `connection` returns the current one, or raises Unreachable."""

    def __init__(self, entity: Entity, connection: Callable[[], Connection]) -> None:
        self.name = entity.name
        self._entity = entity
        self._connection = connection

    @property
    def is_read_only(self) -> bool:
        return not int(self._entity.attributes.get("supported_features") or 0) & _CREATES

    async def events(self, start: datetime, end: datetime) -> tuple[CalendarEvent, ...]:
        """Raises HomeError."""
        period = {"start_date_time": start.isoformat(), "end_date_time": end.isoformat()}
        try:
            answer = await self._connection().call_service(
                "calendar", "get_events", period, self._entity.id, return_response=True
            )
        except TimeoutError:
            raise HomeError(f"Home Assistant takes too long to read the {self.name} calendar.") from None
        match answer:
            case {"response": dict(by_entity)}:
                match by_entity.get(self._entity.id):
                    case {"events": list(found)}:
                        return tuple(filter(None, (_event(entry, start.tzinfo) for entry in found)))
        return ()

    async def add(self, event: CalendarEvent) -> None:
        """Raises HomeError."""
        require_feature(self._entity, _CREATES, "cannot be changed from here")
        starts, ends = (
            (moment.date() if event.is_all_day else moment).isoformat() for moment in (event.start, event.end)
        )
        # The command of Home Assistant's own page; its service has no repetition.
        fields: dict[str, Any] = {"summary": event.title, "dtstart": starts, "dtend": ends}
        if event.repeat:
            fields["rrule"] = weekly_rule(event.repeat)
        try:
            await self._connection().command("calendar/event/create", entity_id=self._entity.id, event=fields)
        except TimeoutError:
            raise HomeError("Home Assistant does not answer; look whether the event is there.") from None


def _event(entry: Any, zone: tzinfo | None) -> CalendarEvent | None:  # noqa: ANN401 - it is looked at here
    """One event; None if it is not what Home Assistant documents."""
    try:
        found = _Event.model_validate(entry)
        if is_all_day := _IS_DATE.fullmatch(found.start) is not None:
            start, end = (datetime.combine(date.fromisoformat(day), time(), zone) for day in (found.start, found.end))
        else:
            start, end = (datetime.fromisoformat(at).astimezone(zone) for at in (found.start, found.end))
    except (ValidationError, ValueError, OverflowError):
        return None
    return CalendarEvent(found.summary, start, max(end, start + timedelta(seconds=1)), is_all_day)

"""The iCalendar format (RFC 5545): reads events with their repetitions, and adds events to an ICS file."""

from __future__ import annotations

import asyncio
import re
import stat
import threading
import uuid
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from pathlib import Path
from typing import TYPE_CHECKING

from edgevox.core.files import write_atomic
from edgevox.core.words import WEEKDAYS
from edgevox.home.entities import CalendarEvent, HomeError

if TYPE_CHECKING:
    import icalendar

MAX_BYTES = 20_000_000
# What the libraries raise for content that breaks the format.
# OSError: the time zone of a long name is looked for as a file.
MALFORMED = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError, OSError)

_PRODUCT = "-//EdgeVox//EN"
_END = b"END:VCALENDAR"
_BEGINS, _ENDS = re.compile(rb"^BEGIN:", re.MULTILINE), re.compile(rb"^END:", re.MULTILINE)
_OWNER_ONLY = stat.S_IRUSR | stat.S_IWUSR
# An event without a time zone is in local time, which the library takes for UTC.
_ANY_ZONE = timedelta(days=1)
# Rules that repeat within an hour make millions of occurrences, and no person writes them.
_TOO_FREQUENT = frozenset({"SECONDLY", "MINUTELY"})
_WITHIN_HOUR = ("BYSECOND", "BYMINUTE")


def read_events(content: bytes, start: datetime, end: datetime) -> tuple[CalendarEvent, ...]:
    """The events and occurrences that overlap the time from `start` to `end`. Raises MALFORMED."""
    import icalendar  # imported here: it takes 0.2 s, and most homes have no ICS calendar
    import recurring_ical_events

    if not content.strip():
        return ()
    if len(_BEGINS.findall(content)) != len(_ENDS.findall(content)) or _END not in content:
        raise ValueError("the file is cut off")  # icalendar would leave out what is not complete
    zone = start.tzinfo
    found: list[CalendarEvent] = []
    for calendar in icalendar.Calendar.from_ical(content, multiple=True):
        calendar.subcomponents = [part for part in calendar.subcomponents if not _is_too_frequent(part)]
        query = recurring_ical_events.of(calendar, skip_bad_series=True)
        for occurrence in query.between((start - _ANY_ZONE).astimezone(UTC), (end + _ANY_ZONE).astimezone(UTC)):
            event = _event(occurrence, zone)
            if event is not None and event.start < end and event.end > start:
                found.append(event)
    return tuple(found)


def _is_too_frequent(part: icalendar.Component) -> bool:
    rules = part.get("RRULE") or ()
    return any(
        any(str(often).upper() in _TOO_FREQUENT for often in rule.get("FREQ", ()))
        or any(len(rule.get(key, ())) > 1 for key in _WITHIN_HOUR)
        for rule in (rules if isinstance(rules, list) else [rules])
        if isinstance(rule, Mapping)
    )


def _event(occurrence: icalendar.Event, zone: tzinfo | None) -> CalendarEvent | None:
    """One occurrence in local time; None for a cancelled one."""
    if str(occurrence.get("STATUS", "")).upper() == "CANCELLED":
        return None
    is_all_day = not isinstance(occurrence.start, datetime)
    start, end = _moment(occurrence.start, zone), _moment(occurrence.end, zone)
    return CalendarEvent(str(occurrence.get("SUMMARY", "")), start, max(end, start + timedelta(seconds=1)), is_all_day)


def _moment(when: date, zone: tzinfo | None) -> datetime:
    if not isinstance(when, datetime):
        return datetime.combine(when, time(), zone)
    return when.replace(tzinfo=zone) if when.tzinfo is None else when.astimezone(zone)


def weekly_rule(repeat: tuple[int, ...]) -> str:
    """ "FREQ=WEEKLY;BYDAY=MO,TH"."""
    return f"FREQ=WEEKLY;BYDAY={','.join(WEEKDAYS[day][:2].upper() for day in repeat)}"


def written_event(event: CalendarEvent, uid: str) -> bytes:
    """The VEVENT of a new event, with CRLF line endings."""
    import icalendar

    made = icalendar.Event()
    made.add("UID", uid)
    made.add("DTSTAMP", datetime.now(UTC))
    made.add("SUMMARY", event.title)
    for name, moment in (("DTSTART", event.start), ("DTEND", event.end)):
        if event.is_all_day:
            made.add(name, moment.date())
        elif event.repeat:  # local time, so that a change to summer time does not move it
            made.add(name, moment.replace(tzinfo=None, fold=0))
        else:
            made.add(name, moment.astimezone(UTC))
    if event.repeat:
        made.add("RRULE", icalendar.vRecur.from_ical(weekly_rule(event.repeat)))
    return bytes(made.to_ical())


def written_calendar(vevent: bytes = b"") -> bytes:
    """A whole calendar with this event."""
    return b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:" + _PRODUCT.encode() + b"\r\n" + vevent + _END + b"\r\n"


class IcsFile:
    """A Calendar in an ICS file, which other programs may change at any time."""

    def __init__(self, path: Path) -> None:
        self.name = path.stem.replace("_", " ").replace("-", " ")
        self.is_read_only = False
        self._path = path
        self._writing = threading.Lock()

    async def events(self, start: datetime, end: datetime) -> tuple[CalendarEvent, ...]:
        """Raises HomeError."""
        return await asyncio.to_thread(self._events, start, end)

    async def add(self, event: CalendarEvent) -> None:
        """Raises HomeError."""
        await asyncio.to_thread(self._add, event)

    def _events(self, start: datetime, end: datetime) -> tuple[CalendarEvent, ...]:
        content = self._read()
        if content is None:
            raise HomeError(f"There is no file {self._path.name} yet: I make it when you add something to it.")
        try:
            return read_events(content, start, end)
        except MALFORMED:
            raise self._damaged() from None

    def _add(self, event: CalendarEvent) -> None:
        with self._writing:
            content = self._read()
            mode = _OWNER_ONLY if content is None else stat.S_IMODE(self._path.stat().st_mode)
            vevent = written_event(event, f"{uuid.uuid4()}@edgevox")
            changed = self._with_event(content, vevent) if content and content.strip() else written_calendar(vevent)
            try:
                write_atomic(self._path, changed, mode=mode)
            except OSError as error:
                raise self._unusable("write to", error) from None

    def _with_event(self, content: bytes, vevent: bytes) -> bytes:
        """The content with the event before its end, and every other byte as it was. Raises HomeError."""
        before, end, after = content.rpartition(_END)
        try:
            read_events(content, datetime.now(UTC), datetime.now(UTC))
        except MALFORMED:
            end = b""
        if not end or (before and not before.endswith(b"\n")):
            raise self._damaged()
        return before + (vevent if b"\r\n" in before else vevent.replace(b"\r\n", b"\n")) + end + after

    def _read(self) -> bytes | None:
        """None for a file that does not exist. Raises HomeError."""
        try:
            with self._path.open("rb") as file:
                content = file.read(MAX_BYTES + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unusable("read", error) from None
        if len(content) > MAX_BYTES:
            raise HomeError(f"The calendar file {self._path.name} is too large for me.")
        return content

    def _damaged(self) -> HomeError:
        return HomeError(f"The calendar file {self._path.name} is damaged: open it in another program, or replace it.")

    def _unusable(self, verb: str, error: OSError) -> HomeError:
        return HomeError(f"I cannot {verb} the calendar file {self._path.name}: {error.strerror or error}.")

"""Answers questions about the events of all calendars, and adds events: times are parsed, titles are only repeated."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta

from edgevox.core.languages import counted, listed
from edgevox.core.types import JsonObject
from edgevox.core.words import normalized_words
from edgevox.home.alarms.time_expression import WHOLE_DAY, Part, TimeExpression, moment
from edgevox.home.alarms.time_parser import InvalidTime, parse_time
from edgevox.home.alarms.time_phrasing import day_phrase, day_time, days_phrase, moment_phrase, repeat_phrase
from edgevox.home.entities import Calendar, CalendarEvent, HomeError
from edgevox.home.intents.weather_handlers import parse_period
from edgevox.home.phrasing import brief, sentence
from edgevox.home.resolve.fuzzy import find_by_words

NO_CALENDAR = (
    "No calendar is connected. Name an ICS file in the setting calendar.files or a server in calendar.caldav_url, or "
    "connect a Home Assistant that has one."
)
_FOR_WHEN = "For when? Say a day, and a time if it has one."
_AHEAD = timedelta(days=366)
_MOST_SPOKEN = 6
_MAX_TITLE_CHARS = 200
_ONE_HOUR = timedelta(hours=1)
_LONGEST = timedelta(days=14)
# The hours of a part of the day; a night ends in the morning.
_HOURS: dict[Part, tuple[int, int]] = {
    "morning": (0, 12),
    "afternoon": (12, 18),
    "evening": (17, 24),
    "night": (17, 28),
}
_SPAN = re.compile(r"\b(?:week|days)\b")
_WEEKEND = re.compile(r"\bweekend\b")
_MONTH = re.compile(r"(?:for |in )?(?P<which>this|next) month")
_FROM_TO = re.compile(r"\b(?:from|between) (?P<start>.+?) (?:to|until|till|and) (?P<end>.+)$", re.IGNORECASE)
_FOR_LENGTH = re.compile(r"^(?P<rest>.*?)[ ,]*\bfor (?P<length>(?!the\b).+)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Period:
    """The time that a question is about, in words and as moments."""

    words: str
    start: datetime
    end: datetime

    @property
    def is_one_day(self) -> bool:
        return self.end - self.start <= timedelta(hours=29)


def parse_asked_time(said: str, now: datetime) -> Period | None:
    """The period of "tomorrow", "this weekend", "on Friday afternoon", "March 3", "Friday at 3"; None for others."""
    words = " ".join(said.casefold().replace("'s", "").split())
    if found := _MONTH.fullmatch(words):
        first = now.date().replace(day=1)
        later = (first + timedelta(days=32)).replace(day=1)
        first, last = (now.date(), later) if found["which"] == "this" else (later, later + timedelta(days=32))
        return _days(f"{found['which']} month", first, last.replace(day=1), now)
    if _SPAN.search(words) and not _WEEKEND.search(words):
        period = parse_period(words, now.date())
        return _days(period.words, period.days[0], period.days[-1] + timedelta(days=1), now) if period else None
    try:
        asked = parse_time(words, now)
    except HomeError:
        return None
    if asked.in_s is not None and asked.in_s < timedelta(days=1).total_seconds():
        return None
    if asked.repeat or asked.sun or asked.in_s is not None:
        return None
    day = asked.dates[-1 if asked.part == "night" else 0] if asked.dates else now.date()
    if _WEEKEND.search(words):
        name = "next weekend" if "next" in words else "this weekend"
        return _days(name, day, day + timedelta(days=7 - day.weekday()), now)
    if asked.minutes:
        try:
            at = asked.when(now, "reminder").at
        except HomeError:
            return None
        return Period(f"at {moment_phrase(at, now)}", at, at + _ONE_HOUR)
    if asked.part is None:
        return _days(day_phrase(day, now), day, day + timedelta(days=1), now)
    first_hour, last_hour = _HOURS[asked.part]
    start, end = (_at(day, hour * 60, now) for hour in (first_hour, last_hour))
    is_today = day == now.date()
    part = "tonight" if is_today and asked.part == "night" else f"this {asked.part}" if is_today else ""
    return Period(part or f"{day_phrase(day, now)} {asked.part}", max(start, now) if now < end else start, end)


def _days(words: str, first: date, last: date, now: datetime) -> Period:
    """The days from `first` until before `last`; what is over of today is left out."""
    return Period(words, max(_at(first, 0, now), now), _at(last, 0, now))


def _at(day: date, minute: int, now: datetime) -> datetime:
    assert now.tzinfo is not None
    return moment(datetime.combine(day, time()) + timedelta(minutes=minute), now.tzinfo)


# --- reading


async def get_events(calendars: Sequence[Calendar], arguments: JsonObject, now: datetime) -> str:
    """The events of a day, the next one with a title, or the next one of all. Raises HomeError."""
    chosen = _named(calendars, str(arguments.get("calendar") or ""))
    title, day = (" ".join(str(arguments.get(slot) or "").split()) for slot in ("title", "day"))
    period = parse_asked_time(day, now) if day else None
    if day and period is None:
        raise HomeError("For which day: today, tomorrow, a day of the week or a date?")
    found, problem = await _read(chosen, period or Period("", now, now + _AHEAD))
    if title:
        found = find_events(found, title)
    if period is not None:
        return f"{_listing(found, period, now, title)}{problem}"
    coming = [event for event in found if title or event.start >= now]
    if not coming:
        about = f"no {brief(title)}" if title else "nothing"
        return f"I see {about} in your calendar in the coming year.{problem}"
    event = coming[0]
    subject = _title(event) if title else f"your next event is {_title(event)}"
    link = "is " if title else ""
    if event.start <= now and not event.is_all_day:
        return f"{sentence(f'{subject} {link}now, until {moment_phrase(event.end, now)}')}{problem}"
    return f"{sentence(f'{subject} {link}{_when(event, now)}')}{problem}"


async def find_titled(calendars: Sequence[Calendar], title: str, now: datetime) -> bool:
    """Whether an event to come has this title. Raises HomeError."""
    return bool(find_events((await _read(calendars, Period("", now, now + _AHEAD)))[0], title))


def find_events(events: Sequence[CalendarEvent], title: str) -> list[CalendarEvent]:
    """The events whose title has these words."""
    return list(find_by_words(normalized_words(title), events, lambda event: normalized_words(event.title)))


async def _read(calendars: Sequence[Calendar], period: Period) -> tuple[list[CalendarEvent], str]:
    """The events, earliest first, and a sentence about calendars that failed. Raises HomeError if all failed."""
    answers = await asyncio.gather(*(_attempt(calendar, period) for calendar in calendars))
    failed = [answer for answer in answers if isinstance(answer, HomeError)]
    if failed and len(failed) == len(answers):
        raise failed[0]
    events = {event for answer in answers if not isinstance(answer, HomeError) for event in answer}
    problem = "".join(f" {sentence(error.message)}" for error in failed)
    return sorted(events, key=lambda event: (event.start.timestamp(), not event.is_all_day, event.title)), problem


async def _attempt(calendar: Calendar, period: Period) -> tuple[CalendarEvent, ...] | HomeError:
    try:
        return await calendar.events(period.start, period.end)
    except HomeError as error:
        return error


def _listing(events: Sequence[CalendarEvent], period: Period, now: datetime, title: str) -> str:
    if not events:
        more = "more " if period.words == "today" and not title else ""
        about = f"no {brief(title)}" if title else f"nothing {more}".rstrip()
        return sentence(f"you have {about} in your calendar {period.words}")
    phrases = [
        f"{_title(event)} {_time_of(event, period) if period.is_one_day else _when(event, now)}"
        for event in events[:_MOST_SPOKEN]
    ]
    if len(events) > _MOST_SPOKEN:
        phrases.append(f"{len(events) - _MOST_SPOKEN} more")
    count = "one event" if len(events) == 1 else counted(len(events), "event")
    return sentence(f"{period.words} you have {count}: {listed(phrases, 'and')}")


def _time_of(event: CalendarEvent, period: Period) -> str:
    """The time of an event on a day that was said already."""
    if event.is_all_day or (event.start < period.start and event.end >= period.end):
        return "all day"
    return f"until {day_time(event.end)}" if event.start < period.start else f"at {day_time(event.start)}"


def _when(event: CalendarEvent, now: datetime) -> str:
    if not event.is_all_day:
        return f"at {moment_phrase(event.start, now)}"
    return f"{day_phrase(max(event.start.date(), now.date()), now)}, all day"


def _title(event: CalendarEvent) -> str:
    return brief(event.title) or "an event without a title"


def _named(calendars: Sequence[Calendar], name: str) -> Sequence[Calendar]:
    """The calendars of that name; all of them without a name. Raises HomeError if there is none."""
    if not calendars:
        raise HomeError(NO_CALENDAR)
    if not name:
        return calendars
    if found := find_by_words(normalized_words(name), calendars, lambda calendar: normalized_words(calendar.name)):
        return found
    names = listed([calendar.name for calendar in calendars], "and")
    raise HomeError(sentence(f"there is no {brief(name)} calendar, only {names}"))


# --- adding


async def create_event(calendars: Sequence[Calendar], arguments: JsonObject, now: datetime) -> str:
    """Add an event to the named calendar, or to the first one that can be changed. Raises HomeError."""
    chosen = [
        calendar for calendar in _named(calendars, str(arguments.get("calendar") or "")) if not calendar.is_read_only
    ]
    if not chosen:
        raise HomeError("That calendar can only be read.")
    title = " ".join(str(arguments["title"]).split())[:_MAX_TITLE_CHARS]
    said = " ".join(str(arguments.get("time") or "").split())
    if not title:
        raise HomeError("What shall I write into the calendar? Say, for example: add dentist on Friday at three.")
    if not said:
        raise HomeError(_FOR_WHEN)
    event = parse_event(title, said, now)
    await chosen[0].add(event)
    where = "your calendar" if len(calendars) == 1 else f"the {chosen[0].name} calendar"
    if event.repeat:
        when = days_phrase(event.repeat) if event.is_all_day else f"at {repeat_phrase(event.start, event.repeat)}"
    else:
        when = _when(event, now)
    until = "" if event.is_all_day or event.end - event.start == _ONE_HOUR else f", until {day_time(event.end)}"
    return sentence(f"I added {brief(title)} to {where} {when}{until}")


def parse_event(title: str, said: str, now: datetime) -> CalendarEvent:
    """The event at a time that was said: "Friday at 3", "tomorrow from 2 to 4", "March 3". Raises HomeError."""
    asked, ends, length = _parse_span(said, now)
    if asked.sun is not None:
        raise InvalidTime("A calendar needs a time of day, not that of the sun.")
    when = asked.when(now, "reminder")
    if not asked.has_time and asked.part is None:
        day = when.at.date()
        return CalendarEvent(title, _at(day, 0, now), _at(day + timedelta(days=1), 0, now), True, when.repeat)
    end = when.at + (length or _ONE_HOUR)
    if ends is not None:
        # The first such time after the start: "from 11 to 1" ends in the afternoon.
        later = sorted(minute + extra for minute in ends.minutes for extra in (0, WHOLE_DAY))
        end = next(at for minute in later if (at := _at(when.at.date(), minute, now)).timestamp() > when.at.timestamp())
    return CalendarEvent(title, when.at, end, False, when.repeat)


def _parse_span(said: str, now: datetime) -> tuple[TimeExpression, TimeExpression | None, timedelta | None]:
    """The time of the start, and that of the end or the length where one was said. Raises InvalidTime."""
    if found := _FROM_TO.search(said):
        try:
            start = parse_time(f"{said[: found.start()]} at {found['start']}", now)
            end = parse_time(found["end"], now)
        except InvalidTime:
            pass
        else:
            if start.minutes and end.minutes and not (start.has_days and end.has_days):
                days = end if end.has_days else start
                if len(end.minutes) == 1 and len(start.minutes) == 2:  # "from 2 to 4 pm"
                    near = [minute for minute in start.minutes if minute < end.minutes[0]]
                    start = replace(start, minutes=(near[-1],) if near else start.minutes)
                return replace(start, dates=days.dates, repeat=days.repeat), end, None
    if found := _FOR_LENGTH.match(said):
        length = _length(found["length"], now)
        if length and found["rest"]:
            return parse_time(found["rest"], now), None, length
    return parse_time(said, now), None, None


def _length(said: str, now: datetime) -> timedelta | None:
    try:
        seconds = parse_time(f"in {said}", now).in_s
    except HomeError:
        return None
    length = timedelta(seconds=seconds or 0)
    return length if timedelta() < length <= _LONGEST else None

"""Takes a clock time with its days off a request in another language than English: "jeden Werktag um halb sieben".

The words are in the table `times` of each language; in its patterns HOUR, MINUTE and DAYS stand for numbers and days of
the week, and AT for the word before a time. The English parser of times reads the result, so that an hour without am or
pm means the same in every language.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from edgevox.core.languages import listed
from edgevox.core.words import WEEKDAYS
from edgevox.home.rules.languages.templates import own_file

_PARTS = {
    "morning": "in the morning",
    "afternoon": "in the afternoon",
    "evening": "in the evening",
    "night": "at night",
}
_HOURS, _MINUTES = 24, 60


@dataclass(frozen=True, slots=True)
class TimedRequest:
    """A request without its time, and the time in English: "every weekday at 6:30"."""

    rest: str
    time: str


@dataclass(frozen=True, slots=True)
class _Clock:
    """A pattern of a clock time. A time is `shift_minutes` after the hour, or the minutes that are said before it."""

    pattern: re.Pattern[str]
    shift_minutes: int = 0
    is_before: bool = False
    fixed: str = ""


@dataclass(frozen=True, slots=True)
class _Days:
    """A pattern of days, and what it is in English; `is_every` if the days of the week in it repeat."""

    pattern: re.Pattern[str]
    day: str = ""
    part: str = ""
    is_every: bool = False


def timed_requests(text: str, language: str, *, is_alarm: bool = False) -> Iterator[TimedRequest]:
    """The ways to take one clock time off a request: with its days, and without. Nothing if there is not just one.

    An alarm is also set "auf" or "pour" a time, where a thermostat would be set to a value.
    """
    found = _first_clock(text, language, is_alarm=is_alarm)
    if found is None:
        return
    (begin, end), clock = found
    rest, day, part = f"{text[:begin]} {text[end:]}", "", ""
    if not is_alarm and _first_clock(rest, language, is_alarm=False):
        return
    for days in _days(language):
        said = days.pattern.search(rest)
        said_day = (days.day or _weekdays(said[0], language, is_every=days.is_every)) if said else ""
        if said is None or (said_day and day) or (days.part and part):
            continue
        rest = f"{rest[: said.start()]} {rest[said.end() :]}"
        day, part = day or said_day, part or days.part
    yield TimedRequest(_tidy(rest), " ".join(filter(None, (day, "at", clock, _PARTS.get(part, "")))))
    if day or part:
        yield TimedRequest(_tidy(f"{text[:begin]} {text[end:]}"), f"at {clock}")


def _tidy(text: str) -> str:
    return " ".join(text.split()).strip(" ,")


def _first_clock(text: str, language: str, *, is_alarm: bool) -> tuple[tuple[int, int], str] | None:
    """The place of the first clock time in the text, and the time: "6:30"."""
    found = [(said, clock) for clock in _clocks(language, is_alarm) if (said := clock.pattern.search(text))]
    if not found:
        return None
    said, clock = min(found, key=lambda one: (one[0].start(), -one[0].end()))
    if clock.fixed:
        return said.span(), clock.fixed
    numbers, groups = _numbers(language), said.groupdict()
    hour, minute = (_value(groups.get(unit) or "0", numbers) for unit in ("hour", "minute"))
    if hour > _HOURS or minute >= _MINUTES:
        return None
    minutes = (hour * 60 + (-minute if clock.is_before else minute) + clock.shift_minutes) % (_HOURS * 60)
    if not minutes // 60 and 0 < hour < _HOURS:
        minutes += 12 * 60  # half past twelve, as people say it before one
    return said.span(), f"{minutes // 60}:{minutes % 60:02}"


def _value(said: str, numbers: Mapping[str, int]) -> int:
    return int(said) if said.isdigit() else numbers[said.lower()]


def _weekdays(said: str, language: str, *, is_every: bool) -> str:
    days = [
        day
        for pattern, day in zip(own_file(language)["times"]["weekdays"], WEEKDAYS, strict=True)
        if re.search(rf"\b(?:{pattern})\b", said, re.IGNORECASE)
    ]
    return (f"every {listed(days, 'and')}" if is_every else days[0]) if days else ""


@cache
def _numbers(language: str) -> Mapping[str, int]:
    """The words for 0 to 59."""
    from hassil.numbers import get_rbnf_engine

    engine = get_rbnf_engine(language)
    return {
        words.replace("\u00ad", "").lower(): number
        for number in range(_MINUTES)
        for words in engine.format_number(number).text_by_ruleset.values()
    }


@cache
def _clocks(language: str, is_alarm: bool) -> tuple[_Clock, ...]:
    times = own_file(language)["times"]
    before = times["alarm_at"] if is_alarm else times["at"]
    return tuple(
        _Clock(
            _pattern(language, one["said"], before), one.get("shift", 0), one.get("is_before", False), one.get("at", "")
        )
        for one in times["clock"]
    )


@cache
def _days(language: str) -> tuple[_Days, ...]:
    times: Mapping[str, Any] = own_file(language)["times"]
    return tuple(
        _Days(_pattern(language, one["said"]), one.get("day", ""), one.get("part", ""), one.get("is_every", False))
        for one in times["days"]
    )


def _pattern(language: str, said: str, before: str = "") -> re.Pattern[str]:
    times = own_file(language)["times"]
    words = "|".join(re.escape(word) for word in sorted(_numbers(language), key=len, reverse=True))
    day = f"(?:{'|'.join(times['weekdays'])})"
    for placeholder, pattern in (
        ("HOUR", rf"(?P<hour>\d{{1,2}}|{words})"),
        ("MINUTE", rf"(?P<minute>\d{{1,2}}|{words})"),
        ("DAYS", rf"(?P<days>{day}(?:(?:,| {times['and']}) {day})*)"),
        ("AT", f"(?:{before})"),
    ):
        said = said.replace(placeholder, pattern)
    return re.compile(rf"(?<!\w)(?:{said})(?!\w)", re.IGNORECASE)

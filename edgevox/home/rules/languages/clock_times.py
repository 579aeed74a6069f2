"""Takes a clock time with its days off a request in another language than English: "jeden Werktag um halb sieben".

The words are in the table `times` of each language; in its patterns HOUR, MINUTE, DIGITS and DAYS stand for numbers and
days of the week, and AT for the word before a time. The English parser of times reads the result, so that an hour
without am or pm means the same in every language. A request whose day or interval is not known has no time: it is
better not understood than done on the wrong day.
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
    "forenoon": "in the morning",
    "midday": "in the afternoon",
    "afternoon": "in the afternoon",
    "evening": "in the evening",
    "night": "at night",
}
_HOURS, _MINUTES, _NOON = 24, 60, 12
_NIGHT_UNTIL = 5  # later hours "at night" are in the evening for the English parser
_TAKEN = "\0"  # where a time or a day was in a reminder


@dataclass(frozen=True, slots=True)
class TimedRequest:
    """A request without its time, and the time in English: "every weekday at 6:30"."""

    rest: str
    time: str


@dataclass(frozen=True, slots=True)
class _Clock:
    """A pattern of a clock time: `shift_minutes` after the hour, or the minutes that are said before it.

    `hour` is that of a name: noon is 12.
    """

    pattern: re.Pattern[str]
    shift_minutes: int = 0
    is_before: bool = False
    hour: int | None = None


@dataclass(frozen=True, slots=True)
class _ClockTime:
    """A clock time and its place in the text. `is_exact` if it is neither before nor after noon by choice.

    A leading zero is kept: 06:30 is in the morning.
    """

    begin: int
    end: int
    minutes: int
    is_exact: bool = False
    is_padded: bool = False

    def phrase(self, day: str = "", part: str = "", night_until: int = _NIGHT_UNTIL) -> str:
        """The time in English, with its day and part of the day: "tomorrow at 6:30 in the morning"."""
        hour, minute = divmod(self.minutes, _MINUTES)
        half = _PARTS.get(part, "")
        if (self.is_exact and 0 < hour <= _NOON) or (part == "forenoon" and hour == _NOON):
            half = "am" if hour < _NOON else "pm"
        elif (part == "midday" and hour in (10, 11)) or (part == "night" and _NIGHT_UNTIL <= hour < night_until):
            half = "am"
            if part == "night" and day == "today":
                day = "tomorrow"
        clock = f"{hour:0{2 if self.is_padded else 1}}:{minute:02}"
        return " ".join(filter(None, (day, "at", clock, half)))


@dataclass(frozen=True, slots=True)
class _Days:
    """A pattern of days, and what it is in English; `is_every` if the days of the week in it repeat."""

    pattern: re.Pattern[str]
    day: str = ""
    part: str = ""
    is_every: bool = False

    def said_day(self, said: str, language: str) -> str:
        """The day in English. Raises ValueError for several days that do not repeat, which no alarm can have."""
        return self.day or ("" if self.part else _weekdays(said, language, is_every=self.is_every))


def timed_requests(text: str, language: str, *, is_alarm: bool = False) -> Iterator[TimedRequest]:
    """The ways to take one clock time off a request: with its days, and without. Nothing if there is not just one.

    An alarm is also set "auf" or "pour" a time, where a thermostat would be set to a value.
    """
    clock = _first_clock(text, language, is_alarm=is_alarm)
    if clock is None or _is_unread(text, language):
        return
    rest, day, part = f"{text[: clock.begin]} {text[clock.end :]}", "", ""
    if not is_alarm and _first_clock(rest, language):
        return
    for days in _days(language):
        said = days.pattern.search(rest)
        try:
            said_day = days.said_day(said[0], language) if said else ""
        except ValueError:
            return
        if said is None or (said_day and day) or (days.part and part):
            continue
        rest = f"{rest[: said.start()]} {rest[said.end() :]}"
        day, part = day or said_day, part or days.part
    yield TimedRequest(_tidy(rest), clock.phrase(day, part, _night_until(language)))
    if day or part:
        yield TimedRequest(_tidy(f"{text[: clock.begin]} {text[clock.end :]}"), clock.phrase())


def timed_reminder(text: str, language: str) -> TimedRequest | None:
    """The task of a reminder and its time; None if it is no reminder, or its time is not clear.

    A day counts before the task and next to the clock time. Another one belongs to the task, if that follows the time:
    "um 20 Uhr daran, dass morgen der Müll kommt".
    """
    times = own_file(language)["times"]
    clock = _first_clock(text, language)
    if clock is None or _is_unread(text, language):
        return None
    rest = _polite(language).sub(" ", f"{text[: clock.begin]} {_TAKEN} {text[clock.end :]}")
    opening = re.compile(rf"{times['remind']}[\s,{_TAKEN}]*", re.IGNORECASE)
    day, part = "", ""
    for days in _days(language):
        said = next((one for one in days.pattern.finditer(rest) if _is_of_time(one, opening)), None)
        try:
            said_day = days.said_day(said[0], language) if said else ""
        except ValueError:
            return None
        if said is None or (said_day and day) or (days.part and part):
            continue
        rest = f"{rest[: said.start()]} {_TAKEN} {rest[said.end() :]}"
        day, part = day or said_day, part or days.part
    is_first = opening.fullmatch(rest[: rest.index(_TAKEN)]) is not None
    others = _first_clock(rest, language) or any(days.pattern.search(rest) for days in _days(language))
    pattern = times["reminder"].replace("REMIND", times["remind"])
    said = re.fullmatch(pattern, _tidy(rest.replace(_TAKEN, " ")), re.IGNORECASE)
    if said is None or (others and not is_first):
        return None
    return TimedRequest(said["task"].strip(" ,"), clock.phrase(day, part, _night_until(language)))


def without_polite_words(text: str, language: str) -> str:
    return " ".join(_polite(language).sub(" ", text).split())


def _is_of_time(said: re.Match[str], opening: re.Pattern[str]) -> bool:
    """Whether a day is before the task of a reminder, or next to its time."""
    before, after = said.string[: said.start()].rstrip(" ,"), said.string[said.end() :].lstrip(" ,")
    return before.endswith(_TAKEN) or after.startswith(_TAKEN) or opening.fullmatch(before) is not None


def _tidy(text: str) -> str:
    return " ".join(text.split()).strip(" ,")


def _night_until(language: str) -> int:
    return int(own_file(language)["times"].get("night_until", _NIGHT_UNTIL))


def _first_clock(text: str, language: str, *, is_alarm: bool = False) -> _ClockTime | None:
    """The first clock time in the text, the longest one at its place."""
    found = [(said, clock) for clock in _clocks(language, is_alarm) if (said := clock.pattern.search(text))]
    if not found:
        return None
    said, clock = min(found, key=lambda one: (one[0].start(), -one[0].end()))
    numbers, groups = _numbers(language), said.groupdict()
    said_hour, said_minute = (groups.get(unit) or "0" for unit in ("hour", "minute"))
    hour = _value(said_hour, numbers) if clock.hour is None else clock.hour
    minute = _value(said_minute, numbers)
    if hour > _HOURS or minute >= _MINUTES:
        return None
    shift = clock.shift_minutes + (-minute if clock.is_before else minute)
    minutes = (hour * _MINUTES + shift) % (_HOURS * _MINUTES)
    is_padded = len(said_hour) > 1 and said_hour.startswith("0")
    if minutes < _MINUTES and 0 < hour < _HOURS and not is_padded:
        minutes += _NOON * _MINUTES  # half past twelve, as people say it before one
    return _ClockTime(said.start(), said.end(), minutes, clock.hour is not None, is_padded)


def _value(said: str, numbers: Mapping[str, int]) -> int:
    return int(said) if said.isdigit() else numbers[said.lower()]


def _weekdays(said: str, language: str, *, is_every: bool) -> str:
    days = [
        day
        for pattern, day in zip(own_file(language)["times"]["weekdays"], WEEKDAYS, strict=True)
        if re.search(rf"\b(?:{pattern})\b", said, re.IGNORECASE)
    ]
    if len(days) > 1 and not is_every:
        raise ValueError(said)
    return f"every {listed(days, 'and')}" if is_every else "".join(days)


@cache
def _numbers(language: str) -> Mapping[str, int]:
    """The words for 0 to 59, with spaces for hyphens too: "vingt et un"."""
    from hassil.numbers import get_rbnf_engine

    engine = get_rbnf_engine(language)
    numbers: dict[str, int] = dict(own_file(language)["times"].get("numbers", {}))
    for number in range(_MINUTES):
        for said in engine.format_number(number).text_by_ruleset.values():
            words = said.replace("\u00ad", "").lower()
            numbers |= {words: number, words.replace("-", " "): number}
    return numbers


@cache
def _clocks(language: str, is_alarm: bool) -> tuple[_Clock, ...]:
    times = own_file(language)["times"]
    before = times["alarm_at"] if is_alarm else times["at"]
    units = rf"(?! ?(?:{times['units']})(?!\w))" if "units" in times else ""
    after = rf"(?!\w|[.,:]\d){units}"  # "um 1,5 Grad" and "um zehn Prozent" are values
    return tuple(
        _Clock(
            _pattern(language, f"(?:{one['said']}){after}", before),
            one.get("shift", 0),
            one.get("is_before", False),
            one.get("hour"),
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


@cache
def _unread(language: str) -> tuple[re.Pattern[str], ...]:
    return tuple(_pattern(language, said) for said in own_file(language)["times"]["unread"])


def _is_unread(text: str, language: str) -> bool:
    """Whether a request has a date, an interval, a range or a step, which are not read here."""
    return any(pattern.search(text) for pattern in _unread(language))


@cache
def _polite(language: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{own_file(language)['times']['polite']})", re.IGNORECASE)


def _pattern(language: str, said: str, before: str = "") -> re.Pattern[str]:
    times = own_file(language)["times"]
    numbers = sorted(_numbers(language).items(), key=lambda one: -len(one[0]))
    words = "|".join(re.escape(word) for word, _ in numbers)
    minutes = "|".join(re.escape(word) for word, number in numbers if number != 1)  # "a" and "one" are often one word
    day = f"(?:{'|'.join(times['weekdays'])})"
    for placeholder, pattern in (
        ("HOUR", rf"(?P<hour>\d{{1,2}}|{words})"),
        ("MINUTE", rf"(?P<minute>\d{{1,2}}|{minutes})"),
        ("DIGITS", r"(?P<minute>\d\d)"),
        ("DAYS", rf"(?:{day}(?:(?:,| {times['and']}) {day})*)"),
        ("AT", f"(?:{before})"),
    ):
        said = said.replace(placeholder, pattern)
    return re.compile(rf"(?<!\w)(?:{said})(?!\w)", re.IGNORECASE)

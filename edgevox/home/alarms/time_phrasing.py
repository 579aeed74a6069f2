"""English phrases for moments: "half past six tomorrow morning", "noon on Friday".

The time parser parses each phrase back to the same moment.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta

from edgevox.core.languages import counted, listed
from edgevox.core.words import NUMBER_WORDS, WEEKDAYS
from edgevox.home.alarms.sun import SunTime
from edgevox.home.alarms.time_expression import tomorrow

_BEFORE_HOUR = {
    0: "", 5: "five past ", 10: "ten past ", 15: "quarter past ", 20: "twenty past ", 25: "twenty-five past ",
    30: "half past ", 35: "twenty-five to ", 40: "twenty to ", 45: "quarter to ", 50: "ten to ", 55: "five to ",
}  # fmt: skip
_UNITS = ((86_400, "day"), (3600, "hour"), (60, "minute"))
_NEAR_DAYS = 7
_DAYS_WITHOUT_YEAR = 300


def clock_time(when: datetime) -> str:
    """ "seven", "half past six", "6:47", "noon", "midnight": without am or pm."""
    hour, minute = when.hour % 12 or 12, when.minute
    if _is_named(when):
        return "noon" if when.hour else "midnight"
    if minute not in _BEFORE_HOUR:
        return f"{hour}:{minute:02d}"
    return _BEFORE_HOUR[minute] + NUMBER_WORDS[hour if minute <= 30 else hour % 12 + 1]


def o_clock(when: datetime) -> str:
    """ "seven o'clock", "half past six": the answer to "what time is it?"."""
    is_bare = when.minute == 0 and not _is_named(when)
    return clock_time(when) + (" o'clock" if is_bare else "")


def day_time(when: datetime) -> str:
    """ "seven in the morning", "noon"."""
    part = _part(when)
    phrase = "" if _is_named(when) else " at night" if part == "night" else f" in the {part}"
    return f"{clock_time(when)}{phrase}"


def moment_phrase(when: datetime, now: datetime) -> str:
    """ "half past six tomorrow morning", "nine tonight", "noon on Friday", "six in the evening on …"."""
    at_midnight = (when.hour, when.minute) == (0, 0)
    # Midnight belongs to the day that it ends.
    day = when.date() - timedelta(days=at_midnight)
    days = (day - now.date()).days
    part = "" if _is_named(when) else _part(when)
    if days == 0:
        near = {"": "tonight" if at_midnight else "today", "night": "tonight"}.get(part, f"this {part}")
        return f"{clock_time(when)} {near}"
    if 0 < days < _NEAR_DAYS:
        return f"{clock_time(when)} {day_phrase(day, now)} {part}".rstrip()
    return f"{day_time(when)} {day_phrase(day, now)}"


def day_phrase(day: date, now: datetime) -> str:
    """ "today", "tomorrow", "on Friday", "on Friday, November 27"."""
    days = (day - now.date()).days
    if days == 0:
        return "today"
    if day == tomorrow(now):
        return "tomorrow"
    name = WEEKDAYS[day.weekday()]
    if 0 < days < _NEAR_DAYS:
        return f"on {name}"
    year = "" if abs(days) < _DAYS_WITHOUT_YEAR else f" {day.year}"
    return f"on {name}, {day:%B} {day.day}{year}"


def repeat_phrase(when: datetime, repeat: Sequence[int]) -> str:
    """ "quarter to seven in the morning every weekday"."""
    return f"{day_time(when)} {days_phrase(repeat)}"


def sun_phrase(sun: SunTime, repeat: Sequence[int] = ()) -> str:
    """ "at sunset", "30 minutes before sunrise every weekday"."""
    at = sun.phrase if sun.offset_minutes else f"at {sun.phrase}"
    return f"{at} {days_phrase(repeat)}" if repeat else at


def days_phrase(repeat: Sequence[int]) -> str:
    """ "every day", "every weekday", "every Monday and Thursday"."""
    match tuple(sorted(repeat)):
        case (0, 1, 2, 3, 4, 5, 6):
            return "every day"
        case (0, 1, 2, 3, 4):
            return "every weekday"
        case (5, 6):
            return "every weekend"
        case days:
            return f"every {listed([WEEKDAYS[day] for day in days], 'and')}"


def ago(seconds: float) -> str:
    """ "5 minutes ago", in the usual unit."""
    unit_s, unit = next((each for each in _UNITS if seconds >= each[0]), _UNITS[-1])
    return f"{counted(max(1, round(seconds / unit_s)), unit)} ago"


def _part(when: datetime) -> str:
    if when.hour < 12:
        return "morning"
    if when.hour < 18:
        return "afternoon"
    return "evening" if when.hour < 21 else "night"


def _is_named(when: datetime) -> bool:
    return when.hour % 12 == 0 and when.minute == 0

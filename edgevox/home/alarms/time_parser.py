"""Parses English time expressions as they are spoken and as Whisper writes them.

Hand-written, because `dateparser` and `parsedatetime` are large, guess where a question is needed ("later" is
a time to them), and know neither "half eight" nor repeating days. An unknown word makes the whole expression
unknown: an alarm at the wrong time is worse than a question.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable, Iterable
from datetime import date, datetime, timedelta

from edgevox.home.alarms.sun import SunEvent, SunTime
from edgevox.home.alarms.time_expression import HALF_DAY, WHOLE_DAY, Part, PastTime, TimeExpression, tomorrow
from edgevox.home.alarms.time_tokens import DAY_S, MONTH_NUMBERS, WEEKDAY_NUMBERS, TimeTokens, take_clock, take_length
from edgevox.home.entities import HomeError
from edgevox.home.phrasing import brief

_EVERY_DAY = (0, 1, 2, 3, 4, 5, 6)
_WORKDAYS = (0, 1, 2, 3, 4)
_WEEKEND = (5, 6)
_KINDS_OF_DAYS = {
    "weekday": _WORKDAYS, "workday": _WORKDAYS, "work day": _WORKDAYS, "working day": _WORKDAYS,
    "school day": _WORKDAYS, "weekend": _WEEKEND,
}  # fmt: skip
_REPEATS = {"daily": _EVERY_DAY} | {f"{name}s": days for name, days in _KINDS_OF_DAYS.items()}
_EVERY = {"day": _EVERY_DAY, "days": _EVERY_DAY} | _KINDS_OF_DAYS
_PLURAL_DAYS = {f"{name}s": number for name, number in WEEKDAY_NUMBERS.items() if name.endswith("day")}
_PARTS: dict[str, Part] = {
    "first thing in the morning": "morning", "first thing": "morning", "in the morning": "morning",
    "morning": "morning", "in the afternoon": "afternoon", "afternoon": "afternoon",
    "in the evening": "evening", "evening": "evening", "at night": "night", "in the night": "night",
    "night": "night",
}  # fmt: skip
_PLURAL_PARTS: dict[str, Part] = {
    "mornings": "morning", "afternoons": "afternoon", "evenings": "evening", "nights": "night",
}  # fmt: skip
_SUN_EVENTS: dict[str, SunEvent] = {"sunset": "sunset", "sunrise": "sunrise", "dawn": "dawn", "dusk": "dusk"}
_FILLERS = ("at", "on", "for", "the", "by", "of", "sharp", "please", "from", "or so", "or thereabouts", "ish")
_APPROXIMATELY = ("about", "around", "roughly", "approximately", "maybe", "like", "say", "exactly", "just", "another")
_MAX_CHARS = 120
_FURTHEST_S = 730 * DAY_S
_MOST_MONTHS = 24
_WITH_DATE = timedelta(days=430)  # "Friday the 13th" can be more than a year ahead
# Up to this minute of the half day, the hour is before noon: "four at night", but "five tonight".
_EARLY_UNTIL: dict[Part | None, int] = {
    "morning": HALF_DAY, "afternoon": 0, "evening": 60, "night": 5 * 60,
}  # fmt: skip


class InvalidTime(HomeError):
    """The text is not a time; the message can be spoken."""


def parse_time(text: str, now: datetime) -> TimeExpression:
    """Parse a time; `now` is local time. Raises InvalidTime, and PastTime for a past year."""
    if len(text) > _MAX_CHARS:
        raise InvalidTime("That is no time.")
    return _Reader(text, now).read()


class _Reader:
    """Reads phrases in any order: a day, repeating days, a clock time, a duration."""

    def __init__(self, text: str, now: datetime) -> None:
        self._text = text
        self._words = TimeTokens(text)
        self._now = now
        self._today = now.date()
        self._dates: tuple[date, ...] = ()
        self._weekday: int | None = None
        self._next_week = False
        self._is_weekly = False
        self._repeat: tuple[int, ...] = ()
        self._minutes: tuple[int, ...] = ()
        self._half = ""
        self._part: Part | None = None
        self._in_s: float | None = None
        self._sun: SunTime | None = None

    def read(self) -> TimeExpression:
        rules = (
            self._take_part,
            self._take_repeat,
            self._take_sun,
            self._take_date,
            self._take_near_day,
            self._take_weekday,
            self._take_clock,
            self._take_length,
            self._take_half,
        )
        while self._words:
            if not any(self._tried(rule) for rule in rules) and not self._words.take(*_FILLERS, *_APPROXIMATELY):
                raise self._unknown()
        return self._whole()

    def _tried(self, rule: Callable[[], bool]) -> bool:
        start = self._words.position
        if rule():
            return True
        self._words.position = start
        return False

    def _unknown(self) -> InvalidTime:
        return InvalidTime(f"I do not know what time “{brief(self._text)}” is.")

    # --- days

    def _take_repeat(self) -> bool:
        words = self._words
        if name := words.take(*_REPEATS):
            self._repeat = _REPEATS[name]
            return True
        words.take("in the")
        if name := words.take(*_PLURAL_PARTS):
            self._repeat, self._part = _EVERY_DAY, _PLURAL_PARTS[name]
            return True
        if not words.take("every single", "every", "each"):
            first = words.take_from(_PLURAL_DAYS)
            return first is not None and self._repeats_on(first)
        if name := words.take(*_EVERY):
            self._repeat = _EVERY[name]
            return True
        if words.peek() in _PARTS:
            self._repeat = _EVERY_DAY
            return self._take_part()
        if words.take("week"):
            self._is_weekly = True
            return True
        first = self._take_day_name()
        if first is None:
            raise InvalidTime("I can repeat on days of the week only.")
        return self._repeats_on(first)

    def _repeats_on(self, first: int) -> bool:
        days = {first}
        while self._words:
            start = self._words.position
            self._words.take("and")
            day = self._take_day_name()
            if day is None:
                self._words.position = start
                break
            days.add(day)
        self._repeat = tuple(sorted(days))
        return True

    def _take_day_name(self) -> int | None:
        day = self._words.take_from(WEEKDAY_NUMBERS)
        return self._words.take_from(_PLURAL_DAYS) if day is None else day

    def _take_weekday(self) -> bool:
        which = self._words.take("this coming", "this", "next", "coming")
        day = self._words.take_from(WEEKDAY_NUMBERS)
        if day is None:
            return False
        if self._words.take("to", "through", "until", "till"):
            last = self._words.take_from(WEEKDAY_NUMBERS)
            if last is None:
                return False
            self._repeat = tuple(sorted((day + step) % 7 for step in range((last - day) % 7 + 1)))
            return True
        if self._weekday is not None:
            raise InvalidTime("One day at a time, please, or say every.")
        if name := self._words.take(*_PLURAL_PARTS):  # "sunday evenings"
            self._repeat, self._part = (day,), _PLURAL_PARTS[name]
            return True
        self._weekday = day
        self._next_week = self._next_week or which == "next"
        return True

    def _take_near_day(self) -> bool:
        words, today = self._words, self._today
        match words.take(
            "day after tomorrow", "tomorrow", "later today", "today", "tonight", "this morning",
            "this afternoon", "this evening", "next weekend", "this weekend", "weekend",
            "next week", "next month",
        ):  # fmt: skip
            case "day after tomorrow":
                self._set_dates(today + timedelta(days=2))
            case "tomorrow":
                self._set_dates(tomorrow(self._now))
            case "today" | "later today":
                self._set_dates(today)
            case "tonight":
                nights = () if tomorrow(self._now) > today else (today - timedelta(days=1),)
                self._set_dates(*nights, today)
                self._part = "night"
            case "this morning" | "this afternoon" | "this evening" as said:
                self._set_dates(today)
                self._part = _PARTS[said.removeprefix("this ")]
            case "next week":
                self._next_week = True
            case "next month":
                self._set_dates(_months_on(today.replace(day=1), 1))
            case "":
                return False
            case said:
                saturday = today + timedelta(days=5 - today.weekday() + 7 * (said == "next weekend"))
                self._set_dates(max(saturday, today))
        return True

    def _take_date(self) -> bool:
        words = self._words
        if (month := words.take_from(MONTH_NUMBERS)) is not None:
            words.take("the")
            day = words.take_ordinal() or words.take_number()
            return day is not None and self._set_month_day(month, day)
        ordinal = words.take_ordinal()
        day = words.take_number() if ordinal is None else ordinal
        if day is None:
            return False
        words.take("of")
        if (month := words.take_from(MONTH_NUMBERS)) is not None:
            return self._set_month_day(month, day)
        if ordinal is None:
            return False
        months = (_months_on(self._today.replace(day=1), step) for step in range(14))
        self._set_dates(*self._days_of(months, day))
        return True

    def _set_month_day(self, month: int, day: int) -> bool:
        years = [str(self._today.year + step) for step in range(9)]
        if year := self._words.take(*years[:6]):
            years = [year]
        self._set_dates(*self._days_of((date(int(year), month, 1) for year in years), day))
        return True

    def _days_of(self, months: Iterable[date], day: int) -> list[date]:
        """The future dates with that day of the month."""
        lengths = ((first, calendar.monthrange(first.year, first.month)[1]) for first in months)
        days = [first.replace(day=day) for first, length in lengths if 1 <= day <= length]
        if days and days[-1] < self._today:
            raise PastTime("That is over already. For when?")
        return [day for day in days if day >= self._today]

    def _set_dates(self, *dates: date) -> None:
        if self._dates or not dates:
            raise self._unknown()
        self._dates = dates

    # --- clock times and durations

    def _take_clock(self) -> bool:
        minutes = take_clock(self._words)
        if minutes and self._minutes:
            raise self._unknown()
        self._minutes = minutes or self._minutes
        return bool(minutes)

    def _take_half(self) -> bool:
        said = self._words.take("am", "pm")
        self._half = said or self._half
        return bool(said)

    def _take_part(self) -> bool:
        name = self._words.take(*_PARTS)
        if name:
            self._part = _PARTS[name]
        return bool(name)

    def _take_length(self) -> bool:
        self._words.take("in", "within", "after")
        while self._words.take(*_APPROXIMATELY):
            pass
        length = take_length(self._words)
        if length is None:
            return False
        self._words.take("from now", "from today", "time")
        if length.total_s > _FURTHEST_S or length.months > _MOST_MONTHS:
            raise InvalidTime("That is too far away.")
        if length.seconds:
            self._in_s = length.total_s
        else:
            self._set_dates(_months_on(self._today, length.months) + timedelta(days=length.days))
        return True

    def _take_sun(self) -> bool:
        words, start = self._words, self._words.position
        length, side = take_length(words), words.take("beforehand", "afterwards")
        if length is None or length.months or not side:
            length, words.position = None, start
        event = words.take_from(_SUN_EVENTS)
        if event is None or self._sun is not None:
            return False
        minutes = round(length.total_s / 60) if length else 0
        self._sun = SunTime(event=event, offset_minutes=-minutes if side == "beforehand" else minutes)
        return True

    # --- result

    def _whole(self) -> TimeExpression:
        dates, repeat = self._days()
        part = None if self._sun else self._part
        said = TimeExpression(dates, repeat, self._settled_minutes(), part, self._in_s, self._sun)
        is_length = self._in_s is not None
        if self._sun and (is_length or said.minutes):
            raise self._unknown()
        if said == TimeExpression() or (is_length and said != TimeExpression(in_s=self._in_s)) or (dates and repeat):
            raise self._unknown()
        return said

    def _days(self) -> tuple[tuple[date, ...], tuple[int, ...]]:
        today, weekday = self._today, self._weekday
        if self._is_weekly:
            return (), (today.weekday() if weekday is None else weekday,)
        if self._next_week and self._dates and weekday is None:
            raise self._unknown()
        if self._next_week and not self._dates:
            monday = today + timedelta(days=7 - today.weekday())
            return (monday + timedelta(days=weekday or 0),), self._repeat
        if weekday is None:
            return self._dates, self._repeat
        if self._dates:
            near = (day for day in self._dates if day - today < _WITH_DATE)
            fitting = tuple(day for day in near if day.weekday() == weekday)
            if not fitting:
                raise InvalidTime("That day and that date do not fit together.")
            return fitting, self._repeat
        first = today + timedelta(days=(weekday - today.weekday()) % 7)
        both = (first, first + timedelta(days=7))
        # People say "today" for today: "Sunday" without an hour, said on a Sunday, is the next one.
        return both if self._minutes or first > today else both[::-1], self._repeat

    def _settled_minutes(self) -> tuple[int, ...]:
        """The clock time within the half or part of the day that was said."""
        minutes = self._minutes
        if len(minutes) == 2 and (self._half or self._part):
            is_early = self._half == "am" if self._half else minutes[0] < _EARLY_UNTIL[self._part]
            minutes = minutes[:1] if is_early else minutes[1:]
        if len(minutes) == 1 and self._part in ("evening", "night") and minutes[0] < _EARLY_UNTIL[self._part]:
            return (minutes[0] + WHOLE_DAY,)
        return minutes


def _months_on(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))

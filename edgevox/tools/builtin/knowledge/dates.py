"""Reads days as people name them: "next Friday", "in three weeks", "the fourth of July 2027", "Easter"."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta

from edgevox.core.words import MONTHS, SHORT_MONTHS, WEEKDAYS
from edgevox.tools.builtin.knowledge.numbers import NumberTooLong, Tokens, ordinal_value, take_number, whole_number

_MONTHS = {name.casefold(): number for number, name in enumerate(MONTHS, start=1)} | {
    short.casefold(): MONTHS.index(name) + 1 for short, name in SHORT_MONTHS.items() if short != "May"
}
_WEEKDAYS = {name.casefold(): number for number, name in enumerate(WEEKDAYS)}
_NEAR = {"today": 0, "now": 0, "tomorrow": 1, "yesterday": -1, "the day after tomorrow": 2, "day after tomorrow": 2,
         "the day before yesterday": -2, "day before yesterday": -2}  # fmt: skip
_UNITS = {"day": "day", "week": "week", "fortnight": "fortnight", "month": "month", "year": "year", "decade": "decade"}
_UNITS |= {f"{name}s": name for name in _UNITS}
_MAX_YEAR = 9999


@dataclass(frozen=True, slots=True)
class Day:
    """A day, how to speak of it, and whether it was named relative to today without a year."""

    date: date
    name: str
    is_yearly: bool = False


def _nth_weekday(year: int, month: int, weekday: int, nth: int) -> date:
    """The nth weekday of a month; -1 is the last one."""
    days = [day for day in calendar.Calendar().itermonthdates(year, month) if day.month == month]
    return [day for day in days if day.weekday() == weekday][nth - 1 if nth > 0 else nth]


def _easter(days: int) -> Callable[[int], date]:
    def of_year(year: int) -> date:
        from dateutil.easter import easter

        return easter(year) + timedelta(days=days)

    return of_year


def _fixed(month: int, day: int) -> Callable[[int], date]:
    return lambda year: date(year, month, day)


def _nth(month: int, weekday: int, nth: int, days: int = 0) -> Callable[[int], date]:
    return lambda year: _nth_weekday(year, month, weekday, nth) + timedelta(days=days)


_MON, _THU, _SUN = 0, 3, 6
_HOLIDAYS: dict[str, tuple[str, Callable[[int], date]]] = {
    "christmas eve": ("Christmas Eve", _fixed(12, 24)),
    "christmas day|christmas|xmas|x mas": ("Christmas", _fixed(12, 25)),
    "boxing day": ("Boxing Day", _fixed(12, 26)),
    "new years eve|new year eve": ("New Year's Eve", _fixed(12, 31)),
    "new years day|new years|new year day|new year": ("New Year's Day", _fixed(1, 1)),
    "epiphany|three kings day": ("Epiphany", _fixed(1, 6)),
    "groundhog day": ("Groundhog Day", _fixed(2, 2)),
    "valentines day|valentines|valentine day|valentine|saint valentines day": ("Valentine's Day", _fixed(2, 14)),
    "saint patricks day|st patricks day|st paddys day|saint pattys day|st pattys day": (
        "Saint Patrick's Day", _fixed(3, 17)),
    "april fools day|april fools|april fool day": ("April Fools' Day", _fixed(4, 1)),
    "earth day": ("Earth Day", _fixed(4, 22)),
    "may day": ("May Day", _fixed(5, 1)),
    "cinco de mayo": ("Cinco de Mayo", _fixed(5, 5)),
    "juneteenth": ("Juneteenth", _fixed(6, 19)),
    "canada day": ("Canada Day", _fixed(7, 1)),
    "independence day": ("Independence Day in the United States", _fixed(7, 4)),
    "bastille day": ("Bastille Day", _fixed(7, 14)),
    "australia day": ("Australia Day", _fixed(1, 26)),
    "anzac day": ("Anzac Day", _fixed(4, 25)),
    "halloween": ("Halloween", _fixed(10, 31)),
    "all saints day": ("All Saints' Day", _fixed(11, 1)),
    "bonfire night|guy fawkes night|guy fawkes day|guy fawkes": ("Bonfire Night", _fixed(11, 5)),
    "veterans day": ("Veterans Day", _fixed(11, 11)),
    "remembrance day": ("Remembrance Day", _fixed(11, 11)),
    "saint nicholas day|st nicholas day": ("Saint Nicholas Day", _fixed(12, 6)),
    "martin luther king day|mlk day|martin luther king junior day": ("Martin Luther King Day", _nth(1, _MON, 3)),
    "presidents day": ("Presidents' Day", _nth(2, _MON, 3)),
    "mothers day": ("Mother's Day in the United States", _nth(5, _SUN, 2)),
    "memorial day": ("Memorial Day", _nth(5, _MON, -1)),
    "fathers day": ("Father's Day", _nth(6, _SUN, 3)),
    "labor day": ("Labor Day in the United States", _nth(9, _MON, 1)),
    "columbus day|indigenous peoples day": ("Columbus Day", _nth(10, _MON, 2)),
    "canadian thanksgiving": ("Thanksgiving in Canada", _nth(10, _MON, 2)),
    "thanksgiving day|thanksgiving": ("Thanksgiving in the United States", _nth(11, _THU, 4)),
    "black friday": ("Black Friday", _nth(11, _THU, 4, 1)),
    "cyber monday": ("Cyber Monday", _nth(11, _THU, 4, 4)),
    "mardi gras|fat tuesday": ("Mardi Gras", _easter(-47)),
    "shrove tuesday|pancake day|pancake tuesday": ("Shrove Tuesday", _easter(-47)),
    "ash wednesday": ("Ash Wednesday", _easter(-46)),
    "palm sunday": ("Palm Sunday", _easter(-7)),
    "maundy thursday": ("Maundy Thursday", _easter(-3)),
    "good friday": ("Good Friday", _easter(-2)),
    "easter sunday|easter day|easter": ("Easter", _easter(0)),
    "easter monday": ("Easter Monday", _easter(1)),
    "ascension day|ascension": ("Ascension Day", _easter(39)),
    "pentecost|whit sunday|whitsun": ("Pentecost", _easter(49)),
    "whit monday|pentecost monday": ("Whit Monday", _easter(50)),
    "corpus christi": ("Corpus Christi", _easter(60)),
}  # fmt: skip


def holiday(name: str) -> tuple[str, Callable[[int], date]] | None:
    """A holiday by one of its names, with its date in a year."""
    plain = re.sub(r"[^\w ]", "", name.replace("-", " ")).strip()
    for names, entry in _HOLIDAYS.items():
        if plain in names.split("|"):
            return entry
    return None


def read_day(text: str, today: date, *, is_past: bool = False) -> Day | None:
    """The day that a text names; None if it names none. `is_past` prefers the last one to the next."""
    try:
        return _Days(today, is_past=is_past).read(" ".join(text.casefold().replace(",", " ").split()))
    except (NumberTooLong, OverflowError, ValueError):  # a day beyond the calendar
        return None


class _Days:
    def __init__(self, today: date, *, is_past: bool) -> None:
        self._today = today
        self._is_past = is_past

    def read(self, text: str) -> Day | None:
        text = re.sub(r"^(?:on|the date (?:of|on)) ", "", text)
        for form in (
            self._near,
            self._nth_weekday,
            self._shifted,
            self._weekday,
            self._holiday,
            self._written,
            self._iso,
        ):
            if (day := form(text)) is not None:
                return day
        return None

    def _near(self, text: str) -> Day | None:
        days = _NEAR.get(text)
        if days is None:
            return None
        return Day(self._today + timedelta(days=days), text.removeprefix("the ") if days in (0, 1, -1) else text)

    def _shifted(self, text: str) -> Day | None:
        """ "in three weeks", "10 days from now", "two weeks ago", "a week from Friday", "90 days after July 4"."""
        start, sign, length = self._today, 1, ""
        if found := re.fullmatch(r"(?:in|within) (?P<length>.+?)(?:'s?)?(?: time| from (?:now|today))?", text):
            length = found["length"]
        elif found := re.fullmatch(r"(?P<length>.+?) (?P<word>ago|from (?:now|today)|later|hence)", text):
            length, sign = found["length"], -1 if found["word"] == "ago" else 1
        elif found := re.fullmatch(r"(?P<length>.+?) (?P<word>from|after|before) (?P<day>.+)", text):
            base = self.read(found["day"])
            if base is None:
                return None
            length, start, sign = found["length"], base.date, -1 if found["word"] == "before" else 1
        elif text in ("next week", "next month", "next year", "last week", "last month", "last year"):
            return None
        shifted = shift(start, length, sign) if length else None
        return Day(shifted, text) if shifted else None

    def _nth_weekday(self, text: str) -> Day | None:
        """ "the third Monday of this month", "the last Friday in November"."""
        found = re.fullmatch(
            r"(?:the )?(?P<nth>first|second|third|fourth|last) (?P<day>\w+day) (?:of|in) "
            r"(?:(?P<near>the|this|next) month|(?P<month>[a-z]+)(?: (?P<year>\d{4}))?)", text,
        )  # fmt: skip
        if not found or found["day"] not in _WEEKDAYS or (found["month"] and found["month"] not in _MONTHS):
            return None
        weekday = _WEEKDAYS[found["day"]]
        nth = -1 if found["nth"] == "last" else ordinal_value(found["nth"]) or 1
        name = f"the {found['nth']} {WEEKDAYS[weekday]} of "
        if found["month"]:
            month = _MONTHS[found["month"]]
            year = int(found["year"]) if found["year"] else None
            return self._yearly(_nth(month, weekday, nth), year, f"{name}{MONTHS[month - 1]}")
        first = _moved(self._today.replace(day=1), found["near"] == "next", "month")
        return Day(_nth_weekday(first.year, first.month, weekday, nth), f"{name}{found['near']} month", is_yearly=True)

    def _weekday(self, text: str) -> Day | None:
        """ "Friday" is the coming one; "next Friday" that of next week, as for alarms."""
        found = re.fullmatch(r"(?:(?P<which>this coming|this|next|last|coming|past|the next|the last) )?(?P<day>\w+)"
                             r"(?P<week> next week| last week| this week)?", text)  # fmt: skip
        if not found or found["day"] not in _WEEKDAYS:
            return None
        number = _WEEKDAYS[found["day"]]
        ahead = (number - self._today.weekday()) % 7 or 7
        name = WEEKDAYS[number]
        which = (found["which"] or "").removeprefix("the ")
        monday = self._today - timedelta(days=self._today.weekday())
        if which == "next" or found["week"] == " next week":
            return Day(monday + timedelta(days=7 + number), f"next {name}" if which == "next" else f"{name} next week")
        if found["week"] == " last week":
            return Day(monday + timedelta(days=number - 7), f"{name} last week")
        if found["week"]:
            return Day(monday + timedelta(days=number), f"{name} this week")
        if which in ("last", "past") or (self._is_past and not which):
            return Day(self._today + timedelta(days=ahead - 7 if ahead < 7 else -7), f"last {name}")
        return Day(self._today + timedelta(days=ahead), f"this {name}" if which.startswith("this") else name)

    def _holiday(self, text: str) -> Day | None:
        text, year = self._without_year(text)
        entry = holiday(text)
        if entry is None:
            return None
        name, of_year = entry
        return self._yearly(of_year, year, name)

    def _yearly(self, of_year: Callable[[int], date], year: int | None, name: str) -> Day | None:
        if year is not None:
            return Day(of_year(year), f"{name} {year}")
        years = range(self._today.year, self._today.year + 9)
        if self._is_past:
            years = range(self._today.year, self._today.year - 9, -1)
        for each in years:
            try:
                day = of_year(each)
            except ValueError:  # February 29
                continue
            if day <= self._today if self._is_past else day >= self._today:
                return Day(day, name, is_yearly=True)
        return None

    def _without_year(self, text: str) -> tuple[str, int | None]:
        """The text without "2027", "in 2027", "this year" or "next year", and that year."""
        near = {"this": 0, "next": 1, "last": -1}
        if found := re.fullmatch(r"(?P<rest>.+?) (?:of )?(?P<which>this|next|last) year", text):
            return found["rest"], self._today.year + near[found["which"]]
        if found := re.fullmatch(r"(?P<which>this|next|last) year(?:'s|s)? (?P<rest>.+)", text):
            return found["rest"], self._today.year + near[found["which"]]
        if (found := re.fullmatch(r"(?P<which>this|next|last) (?P<rest>.+)", text)) and holiday(found["rest"]):
            return found["rest"], None if found["which"] != "this" else self._today.year
        if (found := re.fullmatch(r"(?P<rest>.+?) (?:in |of )?(?P<year>\d{4})", text)) and int(found["year"]):
            return found["rest"], int(found["year"])
        words = text.split(" ")
        for count in range(2, min(5, len(words))):
            year = spoken_year(" ".join(words[-count:]))
            if year is not None:
                rest = " ".join(words[:-count]).removesuffix(" in").removesuffix(" of")
                return rest, year
        return text, None

    def _written(self, text: str) -> Day | None:
        """ "July 4", "the fourth of July 2027", "4 July", "the 15th"."""
        text, year = self._without_year(text)
        words = text.removeprefix("the ").replace("-", " ").split(" ")
        words = [word for word in words if word not in ("of", "the")]
        months = [word for word in words if word in _MONTHS]
        rest = " ".join(word for word in words if word not in _MONTHS)
        number = _day_number(rest)
        if number is None or len(months) > 1:
            return None
        if not months:
            return self._of_month(number) if ordinal_day(rest) and year is None else None
        month = _MONTHS[months[0]]
        name = f"{MONTHS[month - 1]} {number}"
        if not 1 <= number <= 31 or number > calendar.monthrange(2024, month)[1]:
            return None
        if year is not None:
            return Day(date(year, month, number), f"{name}, {year}")
        return self._yearly(_fixed(month, number), None, name)

    def _of_month(self, number: int) -> Day | None:
        """The next day with that number: "the 15th"."""
        for months in range(14):
            first = shift(self._today.replace(day=1), f"{months} months", -1 if self._is_past else 1)
            if first is None or number > calendar.monthrange(first.year, first.month)[1]:
                continue
            day = first.replace(day=number)
            if day <= self._today if self._is_past else day >= self._today:
                return Day(day, f"{MONTHS[day.month - 1]} {number}", is_yearly=True)
        return None

    def _iso(self, text: str) -> Day | None:
        if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text) is None:
            return None
        day = date.fromisoformat(text)
        return Day(day, f"{MONTHS[day.month - 1]} {day.day}, {day.year}")


def ordinal_day(text: str) -> int | None:
    """ "fourth", "21st", "twenty first"; None for anything else."""
    words = text.split(" ")
    if len(words) == 1:
        return ordinal_value(words[0])
    tens, ones = {"twenty": 20, "thirty": 30}.get(words[0]), ordinal_value(words[1])
    return tens + ones if len(words) == 2 and tens and ones and ones < 10 else None


def _day_number(text: str) -> int | None:
    number = ordinal_day(text) or whole_number(text)
    return number if number is not None and 1 <= number <= 31 else None


def spoken_year(text: str) -> int | None:
    """ "1990", "nineteen ninety", "twenty twenty seven", "two thousand and five"; None for anything else."""
    if re.fullmatch(r"\d{4}", text):
        return int(text) or None
    words = text.replace("-", " ").split(" ")
    for count in range(1, len(words)):
        has_oh = words[count] == "oh" and len(words) == count + 2
        century, rest = whole_number(" ".join(words[:count])), whole_number(" ".join(words[count + has_oh :]))
        if century is not None and 10 <= century <= 21 and rest is not None and 0 <= rest < 100:
            return century * 100 + rest if rest >= 10 or has_oh else None
    year = whole_number(text)
    return year if year is not None and 1000 <= year <= _MAX_YEAR else None


def shift(start: date, length: str, sign: int = 1) -> date | None:
    """The day that is "three weeks", "a month and two days" later, or earlier; None if that is no length."""
    tokens, day = Tokens.of(length), start
    found = False
    while tokens:
        if found:
            tokens.take("and", ",")
        amount = take_number(tokens)
        if amount is None:
            if not tokens.take("a", "an", "one"):
                return None
            value = 1.0
        else:
            value = float(amount)
        unit = _UNITS.get(tokens.peek(), "")
        if not unit or abs(value) > 200_000:
            return None
        tokens.at += 1
        if tokens.take("and a half"):
            value += 0.5
        day = _moved(day, value * sign, unit)
        found = True
    return day if found else None


def _moved(day: date, amount: float, unit: str) -> date:
    per_day = {"day": 1, "week": 7, "fortnight": 14}
    if unit in per_day:
        return day + timedelta(days=round(amount * per_day[unit]))
    months = round(amount * {"month": 1, "year": 12, "decade": 120}[unit])
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))

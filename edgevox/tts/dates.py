"""How English says dates, years and the time of day."""

from __future__ import annotations

import re

_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_WEEKDAYS = {
    "Mon": "Monday",
    "Tue": "Tuesday",
    "Tues": "Tuesday",
    "Wed": "Wednesday",
    "Thu": "Thursday",
    "Thurs": "Thursday",
    "Fri": "Friday",
    "Sat": "Saturday",
    "Sun": "Sunday",
}
_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven"),
    *("twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_DECADES = (
    *("hundreds", "tens", "twenties", "thirties", "forties"),
    *("fifties", "sixties", "seventies", "eighties", "nineties"),
)

_SHORT_MONTHS = {month[:3]: month for month in _MONTHS} | {"Sept": "September"}
_MONTH = "|".join(_MONTHS)
_SHORT_MONTH = "|".join(_SHORT_MONTHS)
_ANY_MONTH = rf"(?:{_MONTH}|{_SHORT_MONTH})\b"
_YEAR = r"(?:1[1-9]|20)[0-9]{2}"
_MERIDIEM = r"(?: ?([AaPp]\.?[Mm]\b\.?))?"

_ISO_DATE = re.compile(
    rf"(?<![\w.,/-])({_YEAR})-(0[1-9]|1[0-2])-([0-2][0-9]|3[01])"
    r"(?:[T ]([0-2][0-9]:[0-5][0-9])(?::[0-5][0-9](?:\.[0-9]{1,9})?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?(?![\w-])"
)
_SLASH_DATE = re.compile(rf"(?<![\w.,/-])([0-9]{{1,2}})/([0-9]{{1,2}})/({_YEAR})(?![\w/])")
_SHORT_MONTH_DAY = re.compile(rf"\b({_SHORT_MONTH})\b\.?(?= [0-9]{{1,2}}\b)")
_DAY_SHORT_MONTH = re.compile(rf"\b([0-9]{{1,2}}) ({_SHORT_MONTH})\b\.?")
_MONTH_DAY = re.compile(rf"\b({_MONTH}) ([1-9]|[12][0-9]|3[01])(?![\w:%°/]|[.,][0-9])(?:(,?) ({_YEAR})\b)?")
_WEEKDAY = re.compile(rf"\b({'|'.join(_WEEKDAYS)})\b\.?(?=,? (?:[0-9]|{_ANY_MONTH}))")
_YEAR_SPAN = re.compile(rf"(?<![\w.,/-])({_YEAR}) ?(?:[-–]|to) ?({_YEAR})(?![\w-]|[.,][0-9])")
_KNOWN_YEAR = re.compile(
    rf"\b((?:[Ii]n|[Ss]ince|[Uu]ntil|[Dd]uring|[Yy]ear|[Ss]pring|[Ss]ummer|[Ff]all|[Aa]utumn|[Ww]inter"
    rf"|{_MONTH}),?(?: of)?) ({_YEAR})(?![\w%°/-]|[.,:][0-9]| ?[€$£¥])"
)
_DECADE = re.compile(r"(?<![\w.,])(?:'|’)?(1[1-9]|20)?([0-9])0s\b")

_TIME = re.compile(rf"(?<![\w:.,])([01]?[0-9]|2[0-4]):([0-5][0-9])(?![\w:]|\.[0-9]){_MERIDIEM}(?!\w)")
_TIME_JOINED = re.compile(r"(?<![\w:.,])((?:1[0-2]|0?[1-9])(?::[0-5][0-9])?)([AaPp][Mm])\b")
_TIME_SPAN = re.compile(r"(?<=[0-9Mm]) ?[-–] ?(?=[0-2]?[0-9](?::[0-5][0-9](?![0-9:])| [AaPp][Mm]\b))")


def say_dates(text: str) -> str:
    """2026-11-15, 11/15/2026, Nov. 15, Mon., the 1990s, in 1984. What could be two dates is left alone."""
    text = _ISO_DATE.sub(_iso_date, text)
    text = _SLASH_DATE.sub(_slash_date, text)
    text = _WEEKDAY.sub(lambda m: _WEEKDAYS[m[1]], text)
    text = _SHORT_MONTH_DAY.sub(lambda m: _SHORT_MONTHS[m[1]], text)
    text = _DAY_SHORT_MONTH.sub(lambda m: f"{m[1]} {_SHORT_MONTHS[m[2]]}", text)
    text = _MONTH_DAY.sub(_month_day, text)
    text = _YEAR_SPAN.sub(lambda m: f"{_year(m[1])} to {_year(m[2])}", text)
    text = _KNOWN_YEAR.sub(lambda m: f"{m[1]} {_year(m[2])}", text)
    return _DECADE.sub(_decade, text)


def say_times(text: str) -> str:
    """07:05, 10:00, 3:00 pm, 3pm, 9:00-17:00. Others, such as 3:30, are read well as they are."""
    text = _TIME_JOINED.sub(r"\1 \2", text)
    text = _TIME_SPAN.sub(" to ", text)
    return _TIME.sub(_time, text)


def _iso_date(match: re.Match[str]) -> str:
    year, month, day, at = match.groups()
    return _date(int(month), int(day), year) + (f" at {at}" if at else "")


def _slash_date(match: re.Match[str]) -> str:
    first, second = int(match[1]), int(match[2])
    month, day = (first, second) if second > 12 else (second, first)
    is_clear = 1 <= month <= 12 < day <= 31
    return _date(month, day, match[3]) if is_clear else match[0]


def _month_day(match: re.Match[str]) -> str:
    month, day, comma, year = match.groups()
    return f"{month} {_ordinal(int(day))}" + (f"{comma} {_year(year)}" if year else "")


def _date(month: int, day: int, year: str) -> str:
    return f"{_MONTHS[month - 1]} {_ordinal(day)}, {_year(year)}"


def _decade(match: re.Match[str]) -> str:
    century, tens = match[1], int(match[2])
    name = _DECADES[tens]
    if century == "20" and not tens:
        return "two thousands"
    if not century:
        return name if tens > 1 else match[0]
    return f"{_below_hundred(int(century))} {name}"


def _time(match: re.Match[str]) -> str:
    hour, minute, meridiem = int(match[1]), int(match[2]), match[3]
    behind = f" {meridiem}" if meridiem else ""
    if minute >= 10:
        return f"{hour}:{minute}{behind}"
    if minute:
        return f"{hour} oh {minute}{behind}"
    if meridiem:
        return f"{hour}{behind}"
    if hour in (0, 24):
        return "midnight"
    return f"{hour} o'clock" if hour <= 12 else f"{hour} hundred"


def _year(year: str) -> str:
    """The words for a year, which espeak would say as a quantity."""
    century, rest = divmod(int(year), 100)
    if century == 20 and rest < 10:
        return year
    match rest:
        case 0:
            words = "hundred"
        case _ if rest < 10:
            words = f"oh {_ONES[rest]}"
        case _:
            words = _below_hundred(rest)
    return f"{_below_hundred(century)} {words}"


def _below_hundred(number: int) -> str:
    if number < 20:
        return _ONES[number]
    tens, ones = divmod(number, 10)
    return _TENS[tens] + (f"-{_ONES[ones]}" if ones else "")


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if 11 <= number <= 13 else ending}"

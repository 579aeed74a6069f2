"""Tokens of a spoken time: numbers, days, months, durations and clock times."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from edgevox.core.words import MONTHS, NUMBER_WORDS, ORDINAL_WORDS, SHORT_MONTHS, SHORT_WEEKDAYS, WEEKDAYS
from edgevox.home.alarms.time_expression import HALF_DAY, WHOLE_DAY

ValueT = TypeVar("ValueT")


def _numbered(names: Sequence[str], short: Mapping[str, str], *, start: int) -> dict[str, int]:
    """The number of each name, also in its short forms, in lower case."""
    numbers = {name: number for number, name in enumerate(names, start)}
    return {form.lower(): numbers[name] for form, name in (*zip(names, names, strict=True), *short.items())}


_NUMBERS = {word: number for number, word in enumerate(NUMBER_WORDS[:20])}
_TENS = {NUMBER_WORDS[number]: number for number in range(20, 100, 10)} | {"fourty": 40}
_ORDINALS = {word: number for number, word in enumerate(ORDINAL_WORDS, start=1)} | {"thirtieth": 30}
WEEKDAY_NUMBERS = _numbered(WEEKDAYS, SHORT_WEEKDAYS, start=0)
MONTH_NUMBERS = _numbered(MONTHS, SHORT_MONTHS, start=1)
# Words that mark the number before them as minutes: "twenty minutes past", "ten to".
PAST = ("past", "after")
TO = ("to", "before", "till", "til", "of")
_SPELLINGS = (
    (re.compile(r"[’`´]"), "'"),
    (re.compile(r"\bo'? ?clock\b"), "oclock"),
    (re.compile(r"(?<![a-z])([ap])\.? ?m\b\.?"), r" \1m "),
    (re.compile(r"'s\b"), ""),
    (re.compile(r"\b(\d{1,2})[.:](\d\d)(?!\d)"), r" \1:\2 "),
    (re.compile(r"\bto ?morrow\b|\btmrw\b"), "tomorrow"),
    (re.compile(r"\bto night\b"), "tonight"),
    (re.compile(r"\bsun ?(?:set|down)s?\b"), "sunset"),
    (re.compile(r"\bsun ?(?:rise|up)s?\b"), "sunrise"),
    (re.compile(r"\bdaybreak\b"), "dawn"),
    (re.compile(r"\bnightfall\b"), "dusk"),
    # "Ten minutes before sunset" is a length; before an hour the same words are a clock time.
    (re.compile(r"\bbefore (?:the )?(?=sunset|sunrise|dawn|dusk)"), "beforehand "),
    (re.compile(r"\bafter (?:the )?(?=sunset|sunrise|dawn|dusk)"), "afterwards "),
)
_WORD = re.compile(r"\d{1,2}:\d\d|\d+\.\d+|\d+(?:st|nd|rd|th)\b|\d+|[^\W\d_]+")


class TimeTokens:
    """A cursor over the words. Every `take` method advances it on success only."""

    def __init__(self, text: str) -> None:
        text = text.casefold()
        for pattern, spelling in _SPELLINGS:
            text = pattern.sub(spelling, text)
        self._words = _WORD.findall(text)
        self.position = 0

    def __bool__(self) -> bool:
        return self.position < len(self._words)

    def peek(self) -> str:
        """The next word; "" at the end."""
        return self._words[self.position] if self else ""

    def take(self, *phrases: str) -> str:
        """The first of these phrases that comes next; "" if none does."""
        for phrase in phrases:
            expected = phrase.split()
            if self._words[self.position : self.position + len(expected)] == expected:
                self.position += len(expected)
                return phrase
        return ""

    def take_from(self, known: Mapping[str, ValueT]) -> ValueT | None:
        """The value of the next word, or None if it is unknown."""
        value = known.get(self.peek())
        if value is not None:
            self.position += 1
        return value

    def take_number(self) -> int | None:
        """A whole number below a hundred in words, or up to four digits."""
        word = self.peek()
        if word.isdecimal() and len(word) <= 4:
            self.position += 1
            return int(word)
        if word in _TENS:
            self.position += 1
            ones = _NUMBERS.get(self.peek(), 0)
            if 1 <= ones <= 9:
                self.position += 1
                return _TENS[word] + ones
            return _TENS[word]
        return self.take_from(_NUMBERS)

    def take_ordinal(self) -> int | None:
        """ "3rd", "third", "twenty third"."""
        start = self.position
        if digits := re.fullmatch(r"(\d{1,2})(?:st|nd|rd|th)", self.peek()):
            self.position += 1
            return int(digits[1])
        tens = _TENS.get(self.peek(), 0)
        self.position += bool(tens)
        ordinal = self.take_from(_ORDINALS)
        if ordinal is None or (tens and ordinal > 9):
            self.position = start
            return None
        return tens + ordinal


DAY_S = 86_400
UNITS_S = {
    "second": 1, "seconds": 1, "sec": 1, "secs": 1, "minute": 60, "minutes": 60, "min": 60, "mins": 60,
    "hour": 3600, "hours": 3600, "hr": 3600, "hrs": 3600, "day": DAY_S, "days": DAY_S,
    "week": 7 * DAY_S, "weeks": 7 * DAY_S, "fortnight": 14 * DAY_S,
}  # fmt: skip
_SHARES = {
    "three quarters of an": 0.75, "a quarter of an": 0.25, "quarter of an": 0.25, "half an": 0.5,
    "half a": 0.5, "a half": 0.5, "half": 0.5, "a couple of": 2, "couple of": 2, "an": 1, "a": 1,
}  # fmt: skip
_AND_SHARES = {"and a half": 0.5, "and a quarter": 0.25, "and three quarters": 0.75}


@dataclass(frozen=True, slots=True)
class Length:
    """A duration in months, days and seconds."""

    months: int = 0
    days: int = 0
    seconds: float = 0.0

    @property
    def total_s(self) -> float:
        """The total of a duration without months."""
        return self.days * DAY_S + self.seconds


def take_length(words: TimeTokens) -> Length | None:
    """The next duration; without one, the cursor position is undefined."""
    start = words.position
    months = 1 if words.take("a", "one") else words.take_number()
    if months and words.take("months", "month"):
        return Length(months=months)
    words.position = start
    days, seconds = 0, 0.0
    while True:
        start = words.position
        if days or seconds:
            words.take("and")
        amount = _amount(words)
        name = words.peek()
        unit_s = words.take_from(UNITS_S)
        # "The twenty second" is a day, and "five minutes past" is a clock time.
        is_other = (name == "second" and amount != 1) or words.peek() in (*PAST, *TO)
        if amount is None or unit_s is None or is_other:
            words.position = start
            return Length(0, days, seconds) if days or seconds else None
        part_s = (amount + _AND_SHARES.get(words.take(*_AND_SHARES), 0)) * unit_s
        if unit_s >= DAY_S and part_s % DAY_S == 0:
            days += round(part_s / DAY_S)
        else:
            seconds += part_s


def _amount(words: TimeTokens) -> float | None:
    if name := words.take(*_SHARES):
        return _SHARES[name]
    if "." in words.peek():
        amount = float(words.peek())
        words.position += 1
        return amount
    number = words.take_number()
    return None if number is None else number + _AND_SHARES.get(words.take(*_AND_SHARES), 0)


Minutes: TypeAlias = tuple[int, ...]
"""Candidate minutes of the day: two for an hour without am or pm, none for no hour."""

_NOON = ("noon", "midday", "lunchtime", "lunch time")
_ZERO = ("oh", "o", "zero")
_MINUTE_WORDS = ("minutes", "minute", "mins", "min")


def take_clock(words: TimeTokens) -> Minutes:
    """The next clock time; without one, the cursor position is undefined."""
    minutes = _related(words)
    if minutes:
        words.take("oclock", "hundred hours", "hundred", "hours")
    return minutes


def _related(words: TimeTokens) -> Minutes:
    """ "quarter to seven", "twenty minutes past five"; British "half eight" is half past eight."""
    if words.take("half past", "half after", "half"):
        return _moved(_hour(words), 30)
    start = words.position
    if words.take("a quarter", "quarter"):
        minutes: int | None = 15
    else:
        minutes = words.take_number()
        words.take(*_MINUTE_WORDS)
    if minutes is not None and minutes < 60:
        if words.take(*PAST):
            return _moved(_hour(words), minutes)
        if words.take(*TO):
            return _moved(_hour(words), -minutes)
    words.position = start
    return _plain(words)


def _plain(words: TimeTokens) -> Minutes:
    written = words.peek()
    if ":" in written or (written.isdecimal() and len(written) in (3, 4)):
        words.position += 1
        hour, minute = divmod(int(written.replace(":", "")), 100)
        return _possible(hour, minute, is_exact=written[0] == "0")
    possible = _hour(words)
    start = words.position
    is_single = bool(words.take(*_ZERO))
    minute = words.take_number() or 0
    is_minute = 1 <= minute <= 9 if is_single else 10 <= minute <= 59
    if is_minute and words.peek() not in (*UNITS_S, *PAST, *TO):
        return _moved(possible, minute)
    words.position = start
    return () if words.peek() in UNITS_S else possible


def _hour(words: TimeTokens) -> Minutes:
    start = words.position
    if words.take_number() != 12:  # "twelve noon"
        words.position = start
    if words.take(*_NOON):
        return (HALF_DAY,)
    if words.take("midnight"):
        return (WHOLE_DAY,)
    words.position = start
    is_exact = words.peek().startswith("0") or bool(words.take(*_ZERO))
    hour = words.take_number()
    return () if hour is None else _possible(hour, 0, is_exact=is_exact)


def _possible(hour: int, minute: int, *, is_exact: bool) -> Minutes:
    if minute > 59 or hour * 60 + minute > WHOLE_DAY:
        return ()
    total = hour * 60 + minute
    if is_exact or hour == 0 or hour > 12:
        return (total,)
    return (total % HALF_DAY, total % HALF_DAY + HALF_DAY)


def _moved(possible: Minutes, minutes: int) -> Minutes:
    """Minutes past or to an hour."""
    match possible:
        case (early, _):
            moved = (early + minutes) % HALF_DAY
            return (moved, moved + HALF_DAY)
        case (exact,) if exact < WHOLE_DAY:
            return ((exact + minutes) % WHOLE_DAY,)
        case (midnight,):
            return (midnight + minutes,)
        case _:
            return ()

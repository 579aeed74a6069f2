"""The words of a spoken time, one after the other: numbers, ordinals, days and months are recognised."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

ValueT = TypeVar("ValueT")

_NUMBERS = {
    word: number
    for number, word in enumerate(
        (
            "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
            "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
        )
    )
}  # fmt: skip
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fourty": 40, "fifty": 50, "sixty": 60, "seventy": 70,
    "eighty": 80, "ninety": 90,
}  # fmt: skip
_ORDINALS = {
    word: number
    for number, word in enumerate(
        (
            "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
            "eleventh", "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth",
            "eighteenth", "nineteenth", "twentieth",
        ),
        start=1,
    )
} | {"thirtieth": 30}  # fmt: skip
WEEKDAYS = {
    word: number
    for number, names in enumerate(
        (
            "monday mon", "tuesday tue tues", "wednesday wed weds", "thursday thu thur thurs", "friday fri",
            "saturday sat", "sunday sun",
        )
    )
    for word in names.split()
}  # fmt: skip
MONTHS = {
    word: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul",
            "august aug", "september sep sept", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for word in names.split()
}  # fmt: skip
# What makes minutes of a number: "twenty minutes past", "ten to".
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
)
_WORD = re.compile(r"\d{1,2}:\d\d|\d+\.\d+|\d+(?:st|nd|rd|th)\b|\d+|[^\W\d_]+")


class TimeWords:
    """A cursor over the words. Every `take` moves it when it succeeds, and leaves it where it was if not."""

    def __init__(self, text: str) -> None:
        text = text.casefold()
        for pattern, spelling in _SPELLINGS:
            text = pattern.sub(spelling, text)
        self._words = _WORD.findall(text)
        self.position = 0

    def __bool__(self) -> bool:
        return self.position < len(self._words)

    def peek(self) -> str:
        """The next word; "" behind the last."""
        return self._words[self.position] if self else ""

    def take(self, *phrases: str) -> str:
        """The first of these phrases that comes next; "" when none does."""
        for phrase in phrases:
            expected = phrase.split()
            if self._words[self.position : self.position + len(expected)] == expected:
                self.position += len(expected)
                return phrase
        return ""

    def take_from(self, known: Mapping[str, ValueT]) -> ValueT | None:
        """What the next word stands for, where it is known."""
        value = known.get(self.peek())
        if value is not None:
            self.position += 1
        return value

    def take_number(self) -> int | None:
        """A whole number below a hundred in words, or any in digits of at most four places."""
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

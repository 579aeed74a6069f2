"""Numbers as people say them."""

from __future__ import annotations

import random

# fmt: off
_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)
_TENS = ("zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
# fmt: on
_LARGEST = 1_000_000


def said_number(value: float, rng: random.Random) -> str:
    """A number in digits or in words, as a recogniser may write it: small ones more often in words."""
    in_words = rng.random() < (0.5 if abs(value) <= 12 else 0.3)
    if in_words and abs(value) < _LARGEST and float(value * 10).is_integer():
        return in_spoken_words(value, rng)
    with_commas = abs(value) >= 1000 and rng.random() < 0.3
    return f"{neat_number(value):,}" if with_commas else str(neat_number(value))


def neat_number(value: float) -> int | float:
    """20 for 20.0: nobody says or writes needless decimals."""
    return int(value) if float(value).is_integer() else value


def in_spoken_words(value: float, rng: random.Random) -> str:
    """A number below a million, with at most one decimal, in words."""
    if value < 0:
        return f"minus {in_spoken_words(-value, rng)}"
    whole, tenth = divmod(round(value * 10), 10)
    link = " and " if rng.random() < 0.5 else " "
    words = _whole_in_words(whole, link)
    if not tenth:
        return words
    if tenth == 5 and rng.random() < 0.5:
        return f"{words} and a half" if whole else "half"
    return f"{words} point {_SMALL[tenth]}"


def _whole_in_words(value: int, link: str) -> str:
    if value < 20:
        return _SMALL[value]
    if value < 100:
        tens, ones = divmod(value, 10)
        return f"{_TENS[tens]} {_SMALL[ones]}" if ones else _TENS[tens]
    unit, name = (1000, "thousand") if value >= 1000 else (100, "hundred")
    count, rest = divmod(value, unit)
    words = f"{_whole_in_words(count, link)} {name}"
    if not rest:
        return words
    return f"{words}{link if rest < 100 else ' '}{_whole_in_words(rest, link)}"

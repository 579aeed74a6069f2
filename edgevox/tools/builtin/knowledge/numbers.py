"""Reads numbers as they are spoken and written, and writes results so that they can be spoken."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from edgevox.core.words import NUMBER_WORDS, ORDINAL_WORDS, ordinal

MAX_DIGITS = 40
_TOKEN = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.\d+|\.\d+|\d+|[^\W\d_]+(?:'[^\W\d_]+)?|\*\*|\S")
_SMALL = {word: value for value, word in enumerate(NUMBER_WORDS[:20])}
_TENS = {NUMBER_WORDS[value]: value for value in range(20, 100, 10)}
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_ORDINALS = {word: value for value, word in enumerate(ORDINAL_WORDS, start=1)} | {
    "thirtieth": 30, "fortieth": 40, "fiftieth": 50, "hundredth": 100, "thousandth": 1000, "millionth": 10**6,
}  # fmt: skip
_PARTS = {
    "half": 2, "halves": 2, "quarter": 4, "quarters": 4, **_ORDINALS, **{f"{word}s": n for word, n in _ORDINALS.items()}
}  # fmt: skip
_NO_PART = frozenset({"first", "second", "firsts", "seconds"})


class NumberTooLong(ValueError):
    """A number with more digits than anyone says."""


@dataclass(slots=True)
class Tokens:
    """The words of a text, read from left to right."""

    words: tuple[str, ...]
    at: int = 0

    @classmethod
    def of(cls, text: str) -> Tokens:
        text = re.sub(r"(?<=[^\W\d_])-(?=[^\W\d_])", " ", text.casefold())
        return cls(tuple(_TOKEN.findall(text)))

    def __bool__(self) -> bool:
        return self.at < len(self.words)

    def peek(self, ahead: int = 0) -> str:
        place = self.at + ahead
        return self.words[place] if place < len(self.words) else ""

    def take(self, *phrases: str) -> str:
        """Take the first of the phrases that comes next; "" if none does."""
        for phrase in phrases:
            wanted = tuple(phrase.split(" "))
            if self.words[self.at : self.at + len(wanted)] == wanted:
                self.at += len(wanted)
                return phrase
        return ""


def take_number(tokens: Tokens) -> Fraction | None:
    """Take a number: "15", "1,250.5", "two hundred and six", "three point one", "2 1/2", "two thirds", "a dozen".

    Raises NumberTooLong.
    """
    start = tokens.at
    value = _take_parts(tokens)
    if value is None:
        tokens.at = start
        value = _take_whole(tokens)
    if value is None:
        tokens.at = start
        return None
    value = _with_fraction(tokens, value)
    if tokens.take("dozen"):
        value *= 12
    return value


def whole_number(text: str) -> int | None:
    """The whole number that a text is; None for any other text."""
    tokens = Tokens.of(text)
    try:
        value = take_number(tokens)
    except NumberTooLong:
        return None
    return int(value) if value is not None and not tokens and value.denominator == 1 else None


def _take_parts(tokens: Tokens) -> Fraction | None:
    """ "half", "a third", "three quarters", "3/4"; and "half a million"."""
    if tokens.peek().isdecimal() and tokens.peek(1) == "/" and tokens.peek(2).isdecimal():
        above, below = _digits(tokens.peek()), _digits(tokens.peek(2))
        if below and tokens.peek(3) != "/":
            tokens.at += 3
            return above / below
        return None
    start = tokens.at
    count = Fraction(1) if tokens.take("a", "an") else _take_cardinal(tokens)
    count = Fraction(1) if count is None else count
    part = tokens.peek()
    if part not in _PARTS or part in _NO_PART or (count == 1 and part.endswith("s")) or count.denominator != 1:
        tokens.at = start
        return None
    tokens.at += 1
    if tokens.peek(1) in ("dozen", *_SCALES):
        tokens.take("a", "an")
    return _scaled(tokens, count / _PARTS[part])


def _take_whole(tokens: Tokens) -> Fraction | None:
    if tokens.take("a", "an"):
        if tokens.peek() in ("hundred", "dozen", *_SCALES):
            return _scaled(tokens, Fraction(1)) if tokens.peek() != "dozen" else Fraction(1)
        return None
    if tokens.peek() == "hundred":  # "hundred and seven"
        return _scaled(tokens, Fraction(1))
    if tokens.peek()[:1].isdecimal() or (tokens.peek()[:1] == "." and tokens.peek()[1:].isdecimal()):
        tokens.at += 1
        return _scaled(tokens, _digits(tokens.peek(-1)))
    if tokens.peek() == "point" and _digit_word(tokens.peek(1)) is not None:
        return Fraction(0)
    return _take_cardinal(tokens)


def _digits(token: str) -> Fraction:
    plain = token.replace(",", "")
    if len(plain) > MAX_DIGITS:
        raise NumberTooLong
    return Fraction(plain)


def _scaled(tokens: Tokens, value: Fraction) -> Fraction:
    """ "5 million", "2 hundred and six"."""
    rest: Fraction | None = None
    if tokens.take("hundred"):
        value *= 100
        rest = _take_rest(tokens, 100)
    elif scale := tokens.take(*_SCALES):
        value *= _SCALES[scale]
        rest = _take_rest(tokens, _SCALES[scale])
    return value + (rest or 0)


def _take_rest(tokens: Tokens, below: int) -> Fraction | None:
    start = tokens.at
    has_and = bool(tokens.take("and"))
    rest = _take_cardinal(tokens)
    if rest is None or rest >= below or (has_and and tokens.peek() in _PARTS):
        tokens.at = start
        return None
    return rest


def _take_cardinal(tokens: Tokens) -> Fraction | None:
    """A whole number in words."""
    total = group = 0
    last, found = "", False
    while True:
        word = tokens.peek()
        if word in _TENS and last in ("", "hundred", "scale", "and"):
            group, last = group + _TENS[word], "tens"
        elif word in _SMALL and (last in ("", "hundred", "scale", "and") or (last == "tens" and 0 < _SMALL[word] < 10)):
            if word == "zero" and found:
                break
            group, last = group + _SMALL[word], "ones"
        elif word == "hundred" and last in ("ones", "tens") and 0 < group < 100:
            group, last = group * 100, "hundred"
        elif word in _SCALES and found and 0 < group < 1000 and (total == 0 or total % (_SCALES[word] * 1000) == 0):
            total, group, last = total + group * _SCALES[word], 0, "scale"
        elif word == "and" and last in ("hundred", "scale") and (tokens.peek(1) in _TENS or tokens.peek(1) in _SMALL):
            last = "and"
        else:
            break
        found = True
        tokens.at += 1
    return Fraction(total + group) if found else None


def _digit_word(word: str) -> str | None:
    if word.isdecimal():
        return word
    if word == "oh":
        return "0"
    return str(_SMALL[word]) if word in _SMALL and _SMALL[word] < 10 else None


def _with_fraction(tokens: Tokens, value: Fraction) -> Fraction:
    """ "point one four", "and a half", "2 1/2"."""
    if value.denominator == 1 and tokens.peek() == "point" and _digit_word(tokens.peek(1)) is not None:
        tokens.at += 1
        digits = ""
        while (digit := _digit_word(tokens.peek())) is not None and len(digits) < MAX_DIGITS:
            digits += digit
            tokens.at += 1
        return _scaled(tokens, value + Fraction(int(digits), 10 ** len(digits)))
    start = tokens.at
    has_and = bool(tokens.take("and"))
    if has_and or re.fullmatch(r"\d+", tokens.peek()):
        is_part = tokens.peek(1) == "/" if not has_and else True
        part = _take_parts(tokens) if is_part and value.denominator == 1 else None
        if part is not None and part < 1 and tokens.peek() != "of":
            return value + part
    tokens.at = start
    return value


def ordinal_value(word: str) -> int | None:
    """The number of "third", "3rd"; None for other words."""
    if word in _ORDINALS:
        return _ORDINALS[word]
    if (found := re.fullmatch(r"(\d{1,4})(?:st|nd|rd|th)", word)) and word == ordinal(int(found[1])):
        return int(found[1])
    return None


def number_text(value: Fraction) -> tuple[str, bool]:
    """The number for a spoken sentence, and whether it is exact: ("180", True), ("3.333", False)."""
    if value < 0:
        text, is_exact = number_text(-value)
        return f"minus {text}", is_exact
    size = value
    if size >= 10**15:
        return _power_text(value)
    if value.denominator == 1:
        return f"{value.numerator:,}", True
    if size < Fraction(1, 10**6):
        return _power_text(value)
    if (value * 10**4).denominator == 1:
        digits = 4
    elif size >= 1:
        digits = 2 if size >= 10 else 3
    else:
        digits = 3
        while size * 10 ** (digits - 2) < 1:
            digits += 1
    rounded = round(value, digits)
    text = f"{Decimal(rounded.numerator) / Decimal(rounded.denominator):,.{digits}f}".rstrip("0").rstrip(".")
    return text, rounded == value


def _power_text(value: Fraction) -> tuple[str, bool]:
    exponent = len(str(abs(value.numerator))) - len(str(value.denominator))
    exponent -= abs(value) < Fraction(10) ** exponent
    factor = value / Fraction(10) ** exponent
    text = f"{float(round(factor, 3)):g}"
    power = f"10 to the power of {'minus ' if exponent < 0 else ''}{abs(exponent)}"
    return (power if text == "1" else f"{text} times {power}"), round(factor, 3) == factor

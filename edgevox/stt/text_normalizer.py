"""Normalises transcripts to comparable words: lower case, numbers in words, one spelling."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

_TO_NINETEEN = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS = ("zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBER_WORDS = frozenset({*_TO_NINETEEN, *_TENS, "hundred", "thousand"})


@cache
def word_data() -> dict[str, Any]:
    """The content of words.toml."""
    return tomllib.loads(Path(__file__).with_name("words.toml").read_text(encoding="utf-8"))


def words_of(text: str) -> list[str]:
    """Split into lower-case words: no punctuation, numbers in words, one spelling of each word."""
    text = text.lower().replace("’", "'").replace("%", " percent ").replace("°", " degrees ")
    text = re.sub(r"(\d{1,2}):(\d{2})", _clock, text)
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    text = re.sub(r"\d+", lambda number: f" {_number_in_words(int(number.group()))} ", text)
    words = (word.strip("'") for word in re.findall(r"[\w']+", text.replace("-", " ").replace("t.v.", "tv")))
    spellings = word_data()["spellings"]
    return [part for word in words if word for part in spellings.get(word, word).split()]


def is_number_word(word: str) -> bool:
    """Whether `words_of` writes a number with this word."""
    return word in _NUMBER_WORDS


def _clock(time: re.Match[str]) -> str:
    hours, minutes = int(time.group(1)), int(time.group(2))
    return f"{hours} o'clock" if minutes == 0 else f"{hours} {minutes}"


def _number_in_words(number: int) -> str:
    if number < 20:
        return _TO_NINETEEN[number]
    if number < 100:
        tens, ones = divmod(number, 10)
        return _TENS[tens] + (f" {_TO_NINETEEN[ones]}" if ones else "")
    if number >= 1_000_000:
        return str(number)
    unit, name = (100, "hundred") if number < 1000 else (1000, "thousand")
    count, rest = divmod(number, unit)
    return f"{_number_in_words(count)} {name}" + (f" {_number_in_words(rest)}" if rest else "")

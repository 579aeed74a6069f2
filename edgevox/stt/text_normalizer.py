"""Normalises transcripts to comparable words: lower case, numbers in words, one spelling."""

from __future__ import annotations

import re
from typing import Any

from edgevox.core.files import packaged_toml
from edgevox.core.words import NUMBER_WORDS

SPOKEN_NUMBERS = frozenset({*"-".join(NUMBER_WORDS).split("-"), "hundred", "thousand"})
"""The words with which `words_of` writes numbers."""


def word_data() -> dict[str, Any]:
    """The content of words.toml."""
    return packaged_toml("stt/words.toml")


def words_of(text: str) -> list[str]:
    """Split into lower-case words: no punctuation, numbers in words, one spelling of each word."""
    text = text.lower().replace("’", "'").replace("%", " percent ").replace("°", " degrees ")
    text = re.sub(r"(\d{1,2}):(\d{2})", _clock, text)
    text = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    text = re.sub(r"\d+", lambda number: f" {_number_in_words(int(number.group()))} ", text)
    words = (word.strip("'") for word in re.findall(r"[\w']+", text.replace("-", " ").replace("t.v.", "tv")))
    spellings = word_data()["spellings"]
    return [part for word in words if word for part in spellings.get(word, word).split()]


def _clock(time: re.Match[str]) -> str:
    hours, minutes = int(time.group(1)), int(time.group(2))
    return f"{hours} o'clock" if minutes == 0 else f"{hours} {minutes}"


def _number_in_words(number: int) -> str:
    if number < 100:
        return NUMBER_WORDS[number]
    if number >= 1_000_000:
        return str(number)
    unit, name = (100, "hundred") if number < 1000 else (1000, "thousand")
    count, rest = divmod(number, unit)
    return f"{_number_in_words(count)} {name}" + (f" {_number_in_words(rest)}" if rest else "")

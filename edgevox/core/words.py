"""Splits English text into normalised words: case, accents, articles, plurals and number words are folded."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TypeAlias

Words: TypeAlias = tuple[str, ...]


def word_set(text: str) -> frozenset[str]:
    """The whitespace-separated words of `text`."""
    return frozenset(text.split())


_NOT_WORDS = word_set("the a an my our your his her their this that these those of in at on please")


_DIGITS = {
    word: str(number)
    for number, names in enumerate(
        (
            "zero", "one first 1st", "two second 2nd", "three third 3rd", "four fourth 4th", "five fifth 5th",
            "six sixth 6th", "seven seventh 7th", "eight eighth 8th", "nine ninth 9th", "ten tenth 10th",
            "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
            "nineteen", "twenty",
        )
    )
    for word in names.split()
}  # fmt: skip


# No name is longer, except one written by a model that does not stop.
_MAX_NAME_CHARS = 200


@lru_cache(maxsize=8192)
def normalized_words(text: str) -> Words:
    """Normalised words in order: "The Kitchen's lights" and "kitchen light" give the same."""
    return tuple(singular(word) for word in words_with_plurals(text))


@lru_cache(maxsize=8192)
def words_with_plurals(text: str) -> Words:
    """Normalised words in order, with plurals kept."""
    plain = "".join(
        letter
        for letter in unicodedata.normalize("NFKD", text[:_MAX_NAME_CHARS].casefold())
        if not unicodedata.combining(letter)
    )
    plain = re.sub(r"['’`]s\b|['’`]", "", plain)
    found = [_DIGITS.get(word, word) for word in re.findall(r"[^\W_]+", plain)]
    return tuple(word for word in found if word not in _NOT_WORDS) or tuple(found)


@lru_cache(maxsize=8192)
def singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


STOP_WORDS = word_set(
    """
    a about all am an and any are as at be been but by can could did do does for from get give had has have
    he her him his how i if in into is it its just know let like make many may me might much my need no not
    now of on one or our out please say she should show so some tell that the their them there these they
    thing this those to up us use using want was we were what when where which who why will with would you
    your
    """
)


def any_word_query(text: str, *, most: int, without: frozenset[str] = STOP_WORDS) -> str:
    """An SQLite full-text query for any word of the text, except those of `without`; "" if there is none.

    Only letters and digits are left, so that no word is query syntax.
    """
    # lower, not casefold: the index keeps ß.
    words = (word for word in re.findall(r"[^\W_]+", text.lower()) if word not in without)
    return " OR ".join(f'"{word}"' for word in list(dict.fromkeys(words))[:most])

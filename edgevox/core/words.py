"""English words for numbers, days and months, and texts as normalised words.

Normalising folds case, accents, articles, plurals and number words.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TypeAlias

Words: TypeAlias = tuple[str, ...]

_BELOW_TWENTY = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
NUMBER_WORDS = (
    *_BELOW_TWENTY,
    *(f"{tens}-{ones}" if ones != "zero" else tens for tens in _TENS for ones in _BELOW_TWENTY[:10]),
)
"""The words for 0 to 99."""
ORDINAL_WORDS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
    "twentieth",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
SHORT_WEEKDAYS = {day[:3]: day for day in WEEKDAYS} | {
    "Tues": "Tuesday", "Weds": "Wednesday", "Thur": "Thursday", "Thurs": "Thursday"
}  # fmt: skip
SHORT_MONTHS = {name[:3]: name for name in MONTHS} | {"Sept": "September"}


def number_value(said: str) -> float | None:
    """The value of a number in digits or words below a hundred: "2.5", "2,5", "twenty five"; None for other words."""
    word = said.casefold().replace(" ", "-")
    if word in NUMBER_WORDS:
        return float(NUMBER_WORDS.index(word))
    return float(said.replace(",", ".")) if re.fullmatch(r"\d+(?:[.,]\d+)?", said) else None


def ordinal(number: int) -> str:
    """ "1st", "22nd", "13th"."""
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if 11 <= number % 100 <= 13 else ending}"


_PAST = {
    "set": "set", "send": "sent", "run": "ran", "tell": "told", "put": "put", "get": "got", "find": "found",
    "go": "went", "cancel": "cancelled", "write": "wrote", "read": "read", "make": "made", "begin": "began",
    "take": "took",
}  # fmt: skip
_VOWELS = "aeiou"


def past_tense(command: str) -> str:
    """A command as what was done: "Stopped blinds" for "Stop blinds"; "Küchenlicht · einschalten" stays as it is."""
    if " · " in command:
        return command
    verb, space, rest = command.partition(" ")
    plain = verb.lower()
    if not plain:
        past = ""
    elif plain in _PAST:
        past = _PAST[plain]
    elif plain.endswith("e"):
        past = f"{plain}d"
    elif plain[-1:] == "y" and plain[-2:-1] not in _VOWELS:
        past = f"{plain[:-1]}ied"
    # One short syllable doubles its consonant: stopped, dimmed, skipped; not opened, cleaned.
    elif re.fullmatch(r"[^aeiou]+[aeiou][^aeiouwxy]", plain):
        past = f"{plain}{plain[-1]}ed"
    else:
        past = f"{plain}ed"
    return (past.capitalize() if verb[:1].isupper() else past) + space + rest


def word_set(text: str) -> frozenset[str]:
    """The whitespace-separated words of `text`."""
    return frozenset(text.split())


_NOT_WORDS = word_set("the a an my our your his her their this that these those of in at on please")
_DIGITS = {word: str(number) for number, word in enumerate(NUMBER_WORDS[:21])} | {
    word: str(number) for number in range(1, 11) for word in (ORDINAL_WORDS[number - 1], ordinal(number))
}
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

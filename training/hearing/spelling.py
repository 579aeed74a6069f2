"""A sentence as Whisper writes it: a capital, a mark at its end, and digits for larger numbers."""

from __future__ import annotations

import re

from training.heard import _CAPITALS as CAPITALS

_ONES = {
    word: n
    for n, word in enumerate(
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"], start=1
    )
}
_TEENS = {
    word: n
    for n, word in enumerate(
        [
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
            "seventeen",
            "eighteen",
            "nineteen",
        ],
        start=10,
    )
}
_TENS = {
    word: 10 * n
    for n, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2
    )
}
_ONE, _TEEN, _TEN = ("|".join(words) for words in (_ONES, _TEENS, _TENS))
_HUNDRED = re.compile(r"\b(?:a|one) hundred(?! and\b)\b")
_NUMBER = re.compile(rf"\b(?:({_TEN})(?:[ -]({_ONE}))?|({_TEEN}))\b")
_BEFORE_UNIT = re.compile(rf"\b({_ONE})(?= (?:percent|degrees)\b)")
_CLOCK = re.compile(
    rf"\b({_ONE}|ten|eleven|twelve) ((?:{_TEN})(?:[ -](?:{_ONE}))?|{_TEEN})\b(?! percent| degrees)"
)
_PERCENT = re.compile(r"(?<=\d) ?(?:percent|per cent)\b")


def as_written(text: str, *, is_question: bool) -> str:
    """The sentence with capitals, digits and a mark at its end."""
    text = " ".join(_capital(word) for word in text.strip().split(" "))
    text = _CLOCK.sub(lambda found: f"{_value(found[1])}:{_value(found[2])}", text)
    text = _HUNDRED.sub("100", text)
    text = _NUMBER.sub(lambda found: str(_value(found[0])), text)
    text = _BEFORE_UNIT.sub(lambda found: str(_ONES[found[1]]), text)
    text = _PERCENT.sub("%", text)
    mark = "" if text.endswith((".", "?", "!")) else "?" if is_question else "."
    return text[:1].upper() + text[1:] + mark


def _value(words: str) -> int:
    return sum(_ONES.get(word) or _TEENS.get(word) or _TENS[word] for word in re.split("[ -]", words))


def _capital(word: str) -> str:
    core = word.rstrip(",.?!:;")
    stem = core.removesuffix("'s")
    return CAPITALS[stem] + word[len(stem) :] if stem in CAPITALS else word

"""A sentence as a speech recogniser writes it: with or without case and marks, and with small mishearings.

What is heard is what counts: arguments that repeat the person's words change with them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from training.calls import Call
from training.mishearing import begun_late, homophoned, misheard_names, slurred

_OF_SHARE = 0.012
_SLURRED_SHARE = 0.05
# Of the sentences with marks and capitals: those with capitals in names, and of these, in every word.
_CASED_SHARE = 0.32
_EVERY_WORD_SHARE = 0.3
_CUT_SHARE = 0.05
_LOST_SHARE = 0.015
_HOMOPHONE_SHARE = 0.12

_CAPITALS = {
    "tv": "TV", "ac": "AC", "led": "LED", "co": "CO", "co2": "CO2", "christmas": "Christmas",
    "halloween": "Halloween",
    "monday": "Monday", "tuesday": "Tuesday", "wednesday": "Wednesday", "thursday": "Thursday",
    "friday": "Friday",
    "saturday": "Saturday", "sunday": "Sunday", "pc": "PC", "roomba": "Roomba", "wifi": "Wi-Fi",
    "xbox": "Xbox", "sonos": "Sonos",
    "mr.": "Mr.", "spanish": "Spanish", "rosie": "Rosie", "alfred": "Alfred", "dobby": "Dobby",
    "celsius": "Celsius",
    "fahrenheit": "Fahrenheit", "pm2.5": "PM2.5", "uv": "UV", "usb": "USB", "ok": "OK", "mom": "Mom",
}  # fmt: skip
_WORD = re.compile(r"[\w'.-]*\w\.?|\S")
_MARKS = re.compile(r"[,?!;]|[.:](?=\s|$)| -(?= )")
_HALF_OF_DAY = re.compile(r"\b([ap])\.m\.", re.IGNORECASE)
_BEHIND_FULL_STOP = re.compile(r"(?<=[a-z]{3}\. )[a-z]")
_SPACES = re.compile(r" {2,}")


@dataclass(frozen=True, slots=True)
class Heard:
    """What the recogniser wrote, and the calls in the same spelling."""

    text: str
    calls: tuple[Call, ...]


def heard(
    rng: random.Random,
    text: str,
    calls: Iterable[Call] = (),
    *,
    is_question: bool = False,
    fixed: Collection[str] = (),
    may_mishear: bool = True,
) -> Heard:
    """The sentence in one of the recognisers' spellings. Slots in `fixed` hold no words of the person."""
    calls = tuple(calls)
    is_bare = rng.random() < 0.5
    style = (
        _bare(rng) if is_bare else _titled(rng, text, calls) if rng.random() < _CASED_SHARE else _written(rng)
    )
    misheard = misheard_names(rng, calls) if may_mishear else {}

    def spelling(words: str) -> str:
        return style(_replaced(words, misheard) if misheard else words)

    said = text
    if may_mishear:
        way = rng.random()
        if way < _SLURRED_SHARE:
            said = slurred(rng, text, calls)
        elif way < _SLURRED_SHARE + _LOST_SHARE:
            said = begun_late(text, calls)
        elif way < _SLURRED_SHARE + _LOST_SHARE + _HOMOPHONE_SHARE:
            said = homophoned(rng, text, calls)
    spelt = spelling(said)
    if rng.random() < _OF_SHARE:
        spelt = re.sub(r"\b([Tt]urn|[Ss]witch) off\b", r"\1 of", spelt, count=1)
    same: dict[str, str] = {}
    respelt = tuple(
        Call(
            call.tool,
            {
                slot: _respelt(slot, value, text, spelling, fixed, same)
                for slot, value in call.arguments.items()
            },
        )
        for call in calls
    )
    if is_bare:
        return Heard(spelt, respelt)
    if may_mishear and rng.random() < _CUT_SHARE:
        spelt = _cut_in_two(spelt, respelt)
    if "dollars" in spelt:
        spelt = _with_sign(rng, spelt, respelt)
    return Heard(_ended(rng, spelt, is_question=is_question), respelt)


def _respelt(
    slot: str,
    value: Any,  # noqa: ANN401 - an argument
    text: str,
    spelling: Callable[[str], str],
    fixed: Collection[str],
    same: dict[str, str],
) -> Any:  # noqa: ANN401 - the same argument
    if isinstance(value, list):
        return [_respelt(slot, part, text, spelling, fixed, same) for part in value]
    if not isinstance(value, str) or slot in fixed or value not in text:
        return value
    if value not in same:
        same[value] = spelling(value)
    return same[value]


# --- spellings


def _bare(rng: random.Random) -> Callable[[str], str]:
    """Lower case, no marks."""
    no_apostrophes = rng.random() < 0.15
    no_hyphens = rng.random() < 0.6
    percent = " percent" if rng.random() < 0.6 else "%"
    british = rng.random() < 0.1

    def spell(text: str) -> str:
        text = _MARKS.sub("", _HALF_OF_DAY.sub(r"\1m", text.lower()))
        if no_apostrophes:
            text = text.replace("'", "")
        if no_hyphens:
            text = text.replace("-", " ")
        text = (
            text.replace("%", percent).replace("°c", " degrees celsius").replace("°f", " degrees fahrenheit")
        )
        text = text.replace("°", " degrees")
        if british:
            text = text.replace(" percent", " per cent")
        return _SPACES.sub(" ", text).strip()

    return spell


def _written(rng: random.Random) -> Callable[[str], str]:
    """With marks and capitals, as Whisper writes."""
    capitals = _CAPITALS if rng.random() < 0.75 else {}
    no_commas = rng.random() < 0.3

    def spell(text: str) -> str:
        if capitals:
            text = " ".join(capitals.get(word) or _capital(word, capitals) for word in text.split(" "))
        return text.replace(",", "") if no_commas else text

    return spell


def _titled(rng: random.Random, text: str, calls: tuple[Call, ...]) -> Callable[[str], str]:
    """Capitals where a recogniser that was told the names of a home puts them: in names, or in every word."""
    if rng.random() < _EVERY_WORD_SHARE:
        small = frozenset() if rng.random() < 0.5 else _SMALL
        return lambda text: " ".join(_with_capital(word, small) for word in text.split(" "))
    named = {
        word
        for call in calls
        for slot in ("name", "area", "floor")
        if isinstance(name := call.arguments.get(slot), str)
        for word in name.split()
        if word not in _SMALL
    }
    if text.split(" ", 1)[0] in named:  # its capital would be the sentence's
        return _written(rng)
    every = rng.random() < 0.06

    def spell(text: str) -> str:
        words = (_bare_word(word) in named for word in text.split(" "))
        return " ".join(
            (word.upper() if every else _with_capital(word)) if is_named else word
            for word, is_named in zip(text.split(" "), words, strict=True)
        )

    return spell


_SMALL = frozenset({"the", "a", "an", "in", "on", "at", "to", "of", "and", "for", "by", "is", "are"})


def _with_capital(word: str, small: Collection[str] = ()) -> str:
    if word in small:
        return word
    core = word.rstrip(",.?!:;")
    return (_CAPITALS.get(core) or core[:1].upper() + core[1:]) + word[len(core) :]


def _bare_word(word: str) -> str:
    return word.rstrip(",.?!:;").removesuffix("'s")


def _capital(word: str, capitals: dict[str, str]) -> str:
    stem = word.rstrip(",'s")
    return capitals[stem] + word[len(stem) :] if stem != word and stem in capitals else word


def _ended(rng: random.Random, text: str, *, is_question: bool) -> str:
    if ". " in text:
        text = _BEHIND_FULL_STOP.sub(lambda found: found[0].upper(), text)
    way = rng.random()
    mark = "?" if is_question and way < 0.9 else "." if way < 0.88 else "!" if way < 0.91 else ""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else mark)


# --- what a pause, and a sign, do to a sentence


_PLACE_BEGINS = re.compile(
    r" (?=(?:in|on|at|by) (?:the|my|our) |and (?:turn|switch|then|close|open|set)\b|please$)"
)


def _cut_in_two(text: str, calls: tuple[Call, ...]) -> str:
    """ "Turn on the lamp. In the kitchen": a pause that was taken for an end."""
    found = _PLACE_BEGINS.search(text, 8)
    if found is None or _splits_argument(text, found.start(), calls):
        return text
    rest = text[found.end() :]
    return f"{text[: found.start()].rstrip(',.')}. {rest[:1].upper()}{rest[1:]}"


def _splits_argument(text: str, at: int, calls: tuple[Call, ...]) -> bool:
    for call in calls:
        for value in call.arguments.values():
            if isinstance(value, str) and " " in value:
                start = text.find(value)
                if 0 <= start <= at < start + len(value):
                    return True
    return False


def _words(call: Call) -> tuple[str, ...]:
    return tuple(value for value in call.arguments.values() if isinstance(value, str) and value)


_DOLLARS = re.compile(r"\b(\d+) dollars\b")


def _with_sign(rng: random.Random, text: str, calls: tuple[Call, ...]) -> str:
    """ "$5" for 5 dollars, where that is nobody's own words."""
    if rng.random() < 0.5 or any("dollars" in value for call in calls for value in _words(call)):
        return text
    return _DOLLARS.sub(r"$\1", text)


def _replaced(text: str, misheard: dict[str, str]) -> str:
    def instead(found: re.Match[str]) -> str:
        word = found[0]
        stem = word.removesuffix(".").removesuffix("'s")
        other = misheard.get(stem.lower())
        return word if other is None else other + word[len(stem) :]

    return _WORD.sub(instead, text)

"""Classifies an answer as yes, no or unclear without a model, in every reply language."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

from edgevox.core.languages import ENGLISH, all_phrases

Answer: TypeAlias = Literal["yes", "no", "unclear"]


class _YesNoPhrases(NamedTuple):
    yes: tuple[str, ...]
    no: tuple[str, ...]
    polite: tuple[str, ...]
    idioms: tuple[str, ...]


# A longer sentence says something other than a plain yes.
_MAX_YES_WORDS = 6


def decide_yes_no(text: str, language: str = ENGLISH) -> Answer:
    """Classify the answer to a question such as "Unlock the front door?"; in doubt it is unclear.

    A yes must be nothing but a yes: "yes but", "yeah no", "I guess", a question or a long sentence is not one.
    A no may come with reasons. The answer may be in `language` or in English.
    """
    known = _phrases(language)
    words = _words(text)
    if not words or "?" in text:
        return "unclear"
    spoken = f" {' '.join(words)} "
    if any(f" {idiom} " in spoken for idiom in known.idioms):
        return "unclear"
    without_no = _without(spoken, known.no)
    if without_no != spoken:
        # "of course not" is not a yes, "yeah no" is neither.
        return "unclear" if _holds_any(without_no, known.yes) else "no"
    if len(words) > _MAX_YES_WORDS:
        return "unclear"
    rest = _without(_without(spoken, known.yes), known.polite)
    return "yes" if _holds_any(spoken, known.yes) and not rest.split() else "unclear"


@cache
def _phrases(language: str) -> _YesNoPhrases:
    """The phrases of a language, with the English ones: people may answer in either."""
    english, own = all_phrases()[ENGLISH], all_phrases().get(language)
    if own is None or own is english:
        return _YesNoPhrases(english.yes, english.no, english.polite, english.idioms)
    return _YesNoPhrases(
        english.yes + own.yes, english.no + own.no, english.polite + own.polite, english.idioms + own.idioms
    )


def _words(text: str) -> list[str]:
    # Recognisers write "I'm" with either apostrophe.
    plain = text.casefold().replace("'", "").replace("’", "")
    return re.findall(r"[^\W_]+", plain)


def _holds_any(spoken: str, phrases: tuple[str, ...]) -> bool:
    return any(f" {phrase} " in spoken for phrase in phrases)


def _without(spoken: str, phrases: tuple[str, ...]) -> str:
    # Longest first: "all right" before "right", "no thanks" before "no".
    for phrase in sorted(phrases, key=len, reverse=True):
        while f" {phrase} " in spoken:
            spoken = spoken.replace(f" {phrase} ", " | ")
    return spoken.replace("|", " ")

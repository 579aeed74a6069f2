"""Classifies an answer as yes, no or unclear without a model, in every reply language."""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, TypeAlias

from edgevox.core.languages import ENGLISH, all_phrases

Answer: TypeAlias = Literal["yes", "no", "unclear"]


# A longer sentence says something other than a plain yes.
_MAX_YES_WORDS = 6


def decide_yes_no(text: str, language: str = ENGLISH) -> Answer:
    """Classify the answer to a question such as "Unlock the front door?"; in doubt it is unclear.

    A yes must be nothing but a yes: "yes but", "yeah no", "I guess", a question or a long sentence is not one.
    A no may come with reasons. The answer may be in `language` or in English.
    """
    yes, no = _phrases(language, "yes"), _phrases(language, "no")
    # Recognisers write "I'm" with either apostrophe.
    words = re.findall(r"[^\W_]+", re.sub("['’]", "", text.casefold()))
    if not words or "?" in text:
        return "unclear"
    spoken = f" {' '.join(words)} "
    if _holds_any(spoken, _phrases(language, "idioms")):
        return "unclear"
    without_no = _without(spoken, no)
    if without_no != spoken:
        # "of course not" is not a yes, "yeah no" is neither.
        return "unclear" if _holds_any(without_no, yes) else "no"
    if len(words) > _MAX_YES_WORDS:
        return "unclear"
    rest = _without(_without(spoken, yes), _phrases(language, "polite"))
    return "yes" if _holds_any(spoken, yes) and not rest.split() else "unclear"


@cache
def _phrases(language: str, kind: Literal["yes", "no", "polite", "idioms"]) -> tuple[str, ...]:
    """The phrases of a language and the English ones, since people may answer in either."""
    english = all_phrases()[ENGLISH]
    own = all_phrases().get(language, english)
    # Longest first: "all right" before "right", "no thanks" before "no".
    return tuple(sorted(dict.fromkeys(getattr(english, kind) + getattr(own, kind)), key=len, reverse=True))


def _holds_any(spoken: str, phrases: tuple[str, ...]) -> bool:
    return any(f" {phrase} " in spoken for phrase in phrases)


def _without(spoken: str, phrases: tuple[str, ...]) -> str:
    for phrase in phrases:
        while f" {phrase} " in spoken:
            spoken = spoken.replace(f" {phrase} ", " | ")
    return spoken.replace("|", " ")

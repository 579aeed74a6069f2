"""Yes or no, decided without a model: only a plain yes is one."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from edgevox.languages import ENGLISH
from edgevox.tools.answer_words import answer_words

Answer: TypeAlias = Literal["yes", "no", "unclear"]

# A plain yes is short: in a longer sentence something else is being said.
_MAX_YES_WORDS = 6


def decide_yes_no(text: str, language: str = ENGLISH) -> Answer:
    """What a person answered to "Unlock the front door?". In doubt it is unclear, and then nothing happens.

    A yes has to be nothing but a yes: "yes but", "yeah no", "I guess", a question and a long sentence are
    none. A no may have reasons. Who speaks another `language` may answer in it, or in English.
    """
    known = answer_words(language)
    words = _words(text)
    if not words or "?" in text:
        return "unclear"
    spoken = f" {' '.join(words)} "
    if any(f" {idiom} " in spoken for idiom in known.idioms):
        return "unclear"
    without_no = _without(spoken, known.no)
    if without_no != spoken:
        # "of course not" is no yes, "yeah no" is neither.
        return "unclear" if _holds_any(without_no, known.yes) else "no"
    if len(words) > _MAX_YES_WORDS:
        return "unclear"
    rest = _without(_without(spoken, known.yes), known.polite)
    return "yes" if _holds_any(spoken, known.yes) and not rest.split() else "unclear"


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

"""Yes or no, decided without a model: only a plain yes is one."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

Answer: TypeAlias = Literal["yes", "no", "unclear"]

# A plain yes is short: in a longer sentence something else is being said.
_MAX_YES_WORDS = 6
_YES = (
    *("yes", "yeah", "yep", "yup", "yea", "aye", "sure", "sure thing", "okay", "ok", "alright", "all right"),
    *("affirmative", "correct", "confirm", "confirmed", "i confirm", "absolutely", "definitely", "certainly"),
    *("of course", "by all means", "do it", "do that", "do so", "go ahead", "go for it", "i do"),
    *("please do", "please do it", "please do that", "i am sure", "im sure"),
    *("thats right", "that is right", "thats correct", "that is correct"),
)
_NO = (
    *("no", "nope", "nah", "no way", "no thanks", "no thank you", "negative", "not", "never"),
    *("stop", "cancel", "abort", "quit", "wait", "hold on", "never mind", "nevermind"),
    *("forget it", "leave it", "not now", "not yet", "rather not", "better not", "please dont"),
    *("absolutely not", "definitely not", "certainly not", "of course not"),
    *("dont", "do not", "dont do it", "do not do it", "dont do that", "do not do that"),
)
_POLITE = ("please", "thanks", "thank you", "now", "then", "and")
# A no in them, and yet no no.
_IDIOMS = ("no problem", "no doubt", "no worries", "why not", "not sure", "dont know", "do not know")


def decide_yes_no(text: str) -> Answer:
    """What a person answered to "Unlock the front door?". In doubt it is unclear, and then nothing happens.

    A yes has to be nothing but a yes: "yes but", "yeah no", "I guess", a question and a long sentence are
    none. A no may have reasons.
    """
    words = _words(text)
    if not words or "?" in text:
        return "unclear"
    spoken = f" {' '.join(words)} "
    if any(f" {idiom} " in spoken for idiom in _IDIOMS):
        return "unclear"
    without_no = _without(spoken, _NO)
    if without_no != spoken:
        # "of course not" is no yes, "yeah no" is neither.
        return "unclear" if _holds_yes(without_no) else "no"
    if len(words) > _MAX_YES_WORDS:
        return "unclear"
    rest = _without(_without(spoken, _YES), _POLITE)
    return "yes" if _holds_yes(spoken) and not rest.split() else "unclear"


def _words(text: str) -> list[str]:
    # Recognisers write "I'm" with either apostrophe.
    plain = text.casefold().replace("'", "").replace("’", "")
    return re.findall(r"[^\W_]+", plain)


def _holds_yes(spoken: str) -> bool:
    return any(f" {phrase} " in spoken for phrase in _YES)


def _without(spoken: str, phrases: tuple[str, ...]) -> str:
    # Longest first: "all right" before "right", "no thanks" before "no".
    for phrase in sorted(phrases, key=len, reverse=True):
        while f" {phrase} " in spoken:
            spoken = spoken.replace(f" {phrase} ", " | ")
    return spoken.replace("|", " ")

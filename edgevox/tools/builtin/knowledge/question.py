"""What the readers share: the words of a sentence, its polite frame, and the tool call that a reader makes of it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, partial

from edgevox.core.types import JsonObject

MAX_QUESTION_CHARS = 200

pattern = cache(partial(re.compile, flags=re.IGNORECASE))
"""Compiles a regular expression at its first use: most sentences need few of them."""

_POLITE_START = (
    r"^(?:(?:gimme|please|hey|hi|hello|okay|ok|so|um|uh|well|alright|now|quick question|just|also|"
    r"(?:can|could|would|will) you(?: please)?|do you know|(?:can|could|may) (?:i|we) (?:get|have|know)|"
    r"i(?:'d| would) like(?: you)? to(?: know)?|i (?:want|need)(?: you)? to(?: know)?|i wonder|let me know|"
    r"(?:tell|show|give|find|get) (?:me|us)(?! a (?:random )?number)|i (?:need|want)|provide|mention)[,:]? +)+"
)
_POLITE_END = (
    r"(?:[, ]+(?:please|thanks|thank you|for me|for us|exactly|actually|right now|at the moment|currently|"
    r"by the way|if you can|(?:would|will|could|can) you))+$"
)
# "Gas mark aside, …"
_ASIDE = r"^[^\d,]*\b(?:aside|anyway|sorry|wait|hang on|hmm), +"
_SAME = {
    "’": "'", "‘": "'", "−": "-", "–": "-", "—": " - ", "½": " 1/2", "¼": " 1/4", "¾": " 3/4", "⅓": " 1/3",
    "⅔": " 2/3", "²": " squared", "³": " cubed", "√": " square root of ",
}  # fmt: skip


class NoAnswer(ValueError):
    """The question is understood and has no answer here; the message can be spoken."""


@dataclass(frozen=True, slots=True)
class Reading:
    """The call that answers a question: a tool and its arguments."""

    tool: str
    arguments: JsonObject = field(default_factory=dict)


def plain_question(text: str) -> str:
    """The question in lower case, without politeness and final punctuation; "" for a text that is too long."""
    if len(text) > MAX_QUESTION_CHARS:
        return ""
    for sign, same in _SAME.items():
        text = text.replace(sign, same)
    text = unicodedata.normalize("NFKC", text)
    text = " ".join(text.casefold().split()).strip(" .!?,;:")
    text = pattern(_POLITE_START).sub("", pattern(_ASIDE).sub("", text))
    return pattern(_POLITE_END).sub("", text).strip(" .!?,;:")


def first_match(forms: Iterable[str], text: str) -> dict[str, str] | None:
    """The named groups of the first form that matches the whole text; None if none does."""
    for form in forms:
        if found := pattern(form).fullmatch(text):
            return {name: value.strip(" ,") for name, value in found.groupdict(default="").items()}
    return None

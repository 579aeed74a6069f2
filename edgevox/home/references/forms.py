"""The forms of sentences that refer to what was said or done before."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from edgevox.home.grammar import pattern

Verb: TypeAlias = Literal[
    "on", "off", "open", "close", "lock", "unlock", "mute", "unmute", "pause", "resume", "toggle", "dock"
]  # fmt: skip
Pronoun: TypeAlias = Literal["it", "them", "both"]
PastQuestion: TypeAlias = Literal["asked", "said", "done", "today"]


@dataclass(frozen=True, slots=True)
class Undo:
    """ "Undo that", "put it back as it was"."""


@dataclass(frozen=True, slots=True)
class AskPast:
    """ "What did you just do?" """

    about: PastQuestion


@dataclass(frozen=True, slots=True)
class AskAction:
    """ "Which one did you turn off?", "what did I put on it?": `verb` is in the past tense."""

    verb: str


@dataclass(frozen=True, slots=True)
class Repeat:
    """ "Again"."""


@dataclass(frozen=True, slots=True)
class More:
    """ "More", "one more" or "a bit less" after a change of a value."""

    count: float | None = None
    is_less: bool = False


@dataclass(frozen=True, slots=True)
class Keep:
    """ "Keep it on", "leave them open"; without a verb "leave it as it is"."""

    verb: Verb | None
    meant: Pronoun


@dataclass(frozen=True, slots=True)
class Refrain:
    """ "Don't turn it off"; without a verb "don't do that". `is_again` if it is about the future only."""

    verb: Verb | None
    meant: Pronoun
    is_again: bool


@dataclass(frozen=True, slots=True)
class Switch:
    """ "Turn them off again", "and now off", "lock it"."""

    verb: Verb
    meant: Pronoun


@dataclass(frozen=True, slots=True)
class SetValue:
    """ "Set it to 30 percent", "make it blue"."""

    value: str
    meant: Pronoun


@dataclass(frozen=True, slots=True)
class Scale:
    """ "Halve it", "double that"."""

    factor: float
    meant: Pronoun


@dataclass(frozen=True, slots=True)
class Substitute:
    """ "Turn it off in ten minutes": the sentence with a name in place of the pronoun is for the model."""

    before: str
    after: str
    meant: Pronoun
    is_bare: bool = False
    """Without a pronoun: "a bit dimmer"."""


@dataclass(frozen=True, slots=True)
class Also:
    """ "And the bedroom one too", "the same in the kitchen"."""

    target: str


@dataclass(frozen=True, slots=True)
class Correct:
    """ "No, the bedroom", "I meant the desk lamp", "no, blue"; without a target only "not that one"."""

    right: str


@dataclass(frozen=True, slots=True)
class Other:
    """ "And the other one", "turn the other one off"."""

    verb: Verb | None


@dataclass(frozen=True, slots=True)
class Toggle:
    """ "Toggle the kitchen light"."""

    target: str


Form: TypeAlias = (
    Undo | AskPast | AskAction | Repeat | More | Keep | Refrain
    | Switch | SetValue | Scale | Substitute | Also | Correct | Other | Toggle
)  # fmt: skip

TAIL = r"(?:[, ]+(?:please|thanks|thank you|now|then|for me|right now|already))*$"
# Other commands, questions and talk are no target.
NO_TARGET = pattern(
    r"\b(?:is|are|was|were|do|does|did|don't|not|i|you|he|she|we|they|it|that|this|them|me|my mistake|what|when|where|"
    r"why|how|who|which|turn|switch|set|play|add|put|make|open|close|stop|start|lock|unlock|tell|remind|list|timer|"
    r"alarm|thanks|thank|worries|problem|way|idea|more|less|need|longer|matter|one cares|time|again)\b"
)
_STOPS = re.compile(r"[.!?;:–—]+(?=\s)")


def one_sentence(text: str) -> str:
    """The text as one sentence: "No. The bedroom." is "No, The bedroom"."""
    return " ".join(_STOPS.sub(",", text.replace("’", "'")).split()).strip(" .!?,")

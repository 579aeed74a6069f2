"""System prompts that depend on the utterance or change over time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from edgevox.core.words import word_set


class Instructions(Protocol):
    """A system prompt that is requested at every turn. It should change rarely, and only at its end."""

    def for_utterance(self, text: str) -> str:
        """Return the system prompt for an utterance; "" returns the default one."""


@dataclass(frozen=True, slots=True)
class CombinedInstructions:
    """Instructions followed by those of an API client."""

    first: str | Instructions
    more: str

    def for_utterance(self, text: str) -> str:
        first = self.first if isinstance(self.first, str) else self.first.for_utterance(text)
        return "\n\n".join(filter(None, (first, self.more)))


@dataclass(frozen=True, slots=True)
class SystemPrompt:
    """The system prompt of one turn, and the default one for utterances without special needs."""

    system: str
    default: str

    @classmethod
    def of(cls, instructions: str | Instructions, sentence: str = "") -> SystemPrompt:
        if isinstance(instructions, str):
            return cls(instructions, instructions)
        default = instructions.for_utterance("")
        return cls(instructions.for_utterance(sentence) if sentence else default, default)

    @property
    def is_default(self) -> bool:
        return self.system == self.default


_OPENINGS = word_set(
    """
    activate add announce are brighten bring can check clean close could cool decrease deactivate did dim
    disable do does drop enable fade find give had has have heat how increase is kill list lock lower make
    move mow mute open pause play please power put raise read reduce remove resume run set show shut silence
    skip start stop switch tell turn unlock unmute unpause vacuum warm was were what whats when where which
    who whos will would
    """
)
_POINTING_BACK = word_set(
    """
    actually again also another back both but else he her hers him his instead it its itself less more
    no not one ones other others same she so sorry still than that thats their them these they
    this those too wait well
    """
)


def is_self_contained(sentence: str) -> bool:
    """True for a command or question that can be understood without the history."""
    words = re.findall(r"[^\W_]+", re.sub(r"['’]", "", sentence.casefold()))
    return len(words) > 1 and words[0] in _OPENINGS and _POINTING_BACK.isdisjoint(words)

"""System prompts that depend on the utterance or change over time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Protocol

from edgevox.core.files import packaged_toml
from edgevox.core.words import word_set


class Instructions(Protocol):
    """A system prompt that is requested at every turn. It should change rarely, and only at its end."""

    def for_utterance(self, text: str) -> str:
        """Return the system prompt for an utterance; "" returns the default one."""


@dataclass(frozen=True, slots=True)
class CombinedInstructions:
    """Instructions followed by those of an API client."""

    first: str | Instructions
    more: str | Instructions

    def for_utterance(self, text: str) -> str:
        both = (one if isinstance(one, str) else one.for_utterance(text) for one in (self.first, self.more))
        return "\n\n".join(filter(None, both))


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


def is_self_contained(sentence: str) -> bool:
    """True for a command or question that can be understood without the history."""
    words = re.findall(r"[^\W_]+", re.sub(r"['’]", "", sentence.casefold()))
    return len(words) > 1 and words[0] in _words("openings") and _words("pointing_back").isdisjoint(words)


@cache
def _words(name: str) -> frozenset[str]:
    return word_set(packaged_toml("agents/instructions.toml")[name])

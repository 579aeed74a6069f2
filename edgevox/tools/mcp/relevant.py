"""Which tools of servers a model is told of: all where they are few, else those that fit the sentence.

A prompt has room for a dozen tools, and servers bring hundreds. The words of the sentence are looked for in
the tools' names and descriptions; a word that few tools have counts more than one that many have.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from edgevox.tools.home.names import word_set, words
from edgevox.tools.tool import Tool

MAX_CHARS = 12_000
"""No more of a prompt than this is taken by the tools of servers, however few they are."""

_NAME_WEIGHT = 3.0
_SLOT_WEIGHT = 0.5
_ENOUGH = 1.0
_MAX_WORDS = 60
_COMMON = word_set(
    """
    a about all am an and any are as at be been but by can could did do does for from get give had has have
    he her him his how i if in into is it its just know let like make many may me might much my need no not
    now of on one or our out please say she should show so some tell that the their them there these they
    thing this those to up us use using want was we were what when where which who why will with would you
    your
    """
)


class RelevantTools:
    """The tools that may be offered, looked through once; make a new one when they change."""

    def __init__(self, tools: Sequence[Tool], *, max_tools: int, max_chars: int = MAX_CHARS) -> None:
        self._entries = [_Entry(tool, place) for place, tool in enumerate(tools)]
        self._max_tools = max_tools
        self._max_chars = max_chars

    @property
    def are_few(self) -> bool:
        """Whether a model can be told of all of them, whatever it is asked."""
        size = sum(entry.chars for entry in self._entries)
        return len(self._entries) <= self._max_tools and size <= self._max_chars

    def names(self, sentence: str) -> tuple[str, ...]:
        """Those to offer, in their order; with "" those that are offered whatever is asked."""
        if self.are_few:
            return tuple(entry.tool.name for entry in self._entries)
        asked = Counter(_stems(sentence))
        if not asked:
            return ()
        scored = [(self._score(entry, asked), -entry.place, entry) for entry in self._entries]
        best = sorted((one for one in scored if one[0] >= _ENOUGH), key=lambda one: one[:2], reverse=True)
        chosen: list[_Entry] = []
        room = self._max_chars
        for _score, _place, entry in best[: self._max_tools]:
            if entry.chars <= room:
                chosen.append(entry)
                room -= entry.chars
        return tuple(entry.tool.name for entry in sorted(chosen, key=lambda entry: entry.place))

    @cached_property
    def _rarity(self) -> dict[str, float]:
        """How much a word tells: more the fewer tools have it."""
        seen = Counter(word for entry in self._entries for word in entry.weights)
        return {word: math.log(1 + len(self._entries) / count) for word, count in seen.items()}

    def _score(self, entry: _Entry, asked: Counter[str]) -> float:
        return sum(entry.weights[word] * self._rarity[word] for word in asked if word in entry.weights)


@dataclass(frozen=True)
class _Entry:
    tool: Tool
    place: int

    @cached_property
    def chars(self) -> int:
        return len(json.dumps(self.tool.openai_schema))

    @cached_property
    def weights(self) -> dict[str, float]:
        """What each word of the tool is worth; a long description does not win by its length."""
        described = Counter(_stems(self.tool.description))
        of_length = 1.0 + 0.5 * math.log(1 + len(described) / 8)
        weights = dict.fromkeys(described, 1.0 / of_length)
        for word in _stems(" ".join(self.tool.parameters.get("properties", {}))):
            weights[word] = max(weights.get(word, 0.0), _SLOT_WEIGHT)
        for word in _stems(self.tool.name):
            weights[word] = _NAME_WEIGHT
        return weights


def _stems(text: str) -> list[str]:
    """The words that tell something, without the endings that grammar gives them."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|[_./-]", " ", text)
    found = [word for part in parted.split() for word in words(part)]
    return [_stem(word) for word in found[:_MAX_WORDS] if word not in _COMMON]


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word.removesuffix(ending)
    return word

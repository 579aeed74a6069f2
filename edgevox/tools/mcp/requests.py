"""Reads a request for a tool of a server without a model: which tool it means, and what its arguments are.

A small model that was trained for the home knows none of these tools. A request for one of them mostly names it in its
own words, and holds the arguments as they are: a path, an address, an expression, the words behind the name of a
parameter. So a tool is meant if it shares words with the request, if all that it requires is there, and if it uses what
no sentence about the home has.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise

from edgevox.core.words import STOP_WORDS
from edgevox.tools.mcp.filling import (
    FIRST_SENTENCE,
    GENERIC,
    VAGUE,
    DescribedTool,
    Request,
    alike,
    describe,
    fill,
    words_of,
)
from edgevox.tools.mcp.sentence_parts import Held, held_in
from edgevox.tools.tool import Tool

# How much of the sentence has to be in the words of the tool, and how much of its best rival it has to exceed.
_ENOUGH_SHARE = 0.5
_CLEAR = 1.05


class ServerTools:
    """The tools of all servers, for choosing one; make another when they change."""

    def __init__(self, tools: Sequence[tuple[Tool, str]]) -> None:
        self.tools = tuple(tools)
        self._tools = tuple(describe(tool, server) for tool, server in tools)

    @cached_property
    def _rarity(self) -> Mapping[str, float]:
        """How much a word tells, by how few tools have it."""
        counts = Counter(word for tool in self._tools for word in tool.weights)
        return {word: math.log(1 + len(self._tools) / count) for word, count in counts.items()}

    def meant(self, text: str) -> Request | None:
        """The tool that a sentence means, with its arguments, or None."""
        if not self._tools:
            return None
        held = held_in(text)
        ranked = sorted(self._ranked(held), key=lambda found: -found[0])
        if not ranked:
            return None
        best, tool, request = ranked[0]
        if len(ranked) > 1 and best < _CLEAR * ranked[1][0] and not held.is_hard:
            return None
        return request if self._is_meant(held, tool, request) else None

    def _ranked(self, held: Held) -> Iterator[tuple[float, DescribedTool, Request]]:
        every = words_of(held.rest)
        said = [word for word in every if word not in STOP_WORDS]
        if held.paths and not said:  # "what is in ~/notes"
            said = ["read" if "." in held.paths[0].rpartition("/")[2] else "list"]
        said += map("".join, pairwise(every))  # "check out" for checkout
        asked = [word for word in words_of(held.rest) if word in ("which", "what", "how", "say", "show", "make", "get")]
        for tool in self._tools:
            score = sum(self._worth(word, tool) for word in {*said, *asked})
            request, used = fill(tool, held)
            if not score and not (used.hard and self._only_user(tool, held)):
                continue
            score += used.hard
            # What is in the sentence is for the tool, and what the tool requires is in the sentence.
            score *= 1.6**used.hard * 0.4 ** len(request.missing) * 0.1 ** max(0, self._kinds(held) - used.hard)
            score *= 1.3**used.named * 0.6**used.guessed * 1.4**used.times * _fits_path(tool, held)
            if not _names_verb(tool, {*said, *asked}):
                score *= 0.3  # "which accounts are there" creates none
            score *= 1.3 ** len((tool.names - GENERIC) & set(said))
            if said and said[0] in tool.names:
                score *= 1.5
            elif said and alike().get(said[0], frozenset()) & tool.names:
                score *= 1.4
            if re.search(rf"\buse (?:the )?{re.escape(tool.own)}\b", held.rest, re.IGNORECASE):
                score *= 3
            score /= 1 + 0.04 * len(tool.names)
            yield score, tool, request

    def _worth(self, word: str, tool: DescribedTool) -> float:
        rarity = self._rarity
        own = tool.weights.get(word, 0) * rarity.get(word, 0)
        other = (tool.weights.get(other, 0) * rarity.get(other, 0) for other in alike().get(word, ()))
        return max(own, 0.6 * max(other, default=0))

    def _only_user(self, tool: DescribedTool, held: Held) -> bool:
        """Whether no other tool uses the address that the sentence holds."""
        return bool(held.urls) and all(other is tool or not fill(other, held)[1].hard for other in self._tools)

    @staticmethod
    def _kinds(held: Held) -> int:
        return sum(map(bool, (held.urls, held.paths, held.sql)))

    def _is_meant(self, held: Held, tool: DescribedTool, request: Request) -> bool:
        if held.is_hard:
            is_named = _names_verb(tool, set(words_of(held.rest))) and len(request.missing) <= len(request.arguments)
            return not request.missing or is_named
        if request.missing:
            return False
        # A city and "time" are about a time zone, which nothing of the home has.
        if any(zone in _texts(request.arguments) for zone in held.zones) and "time" in words_of(held.rest):
            return True
        said = [word for word in words_of(held.rest) if word not in STOP_WORDS and word not in VAGUE]
        if not said:
            return False
        taken = {word for value in _texts(request.arguments) for word in words_of(value)}
        told = [word for word in said if word not in taken and not word.isdigit()]
        known = [word for word in told if word in tool.weights or alike().get(word, frozenset()) & tool.names]
        if len(known) < _ENOUGH_SHARE * len(told):
            return False
        if len(tool.names) == 1 and tool.names & set(said) - GENERIC:  # "echo good morning", "calculate …"
            return True
        # A verb alone may be about anything: what the tool is about has to be said as well.
        nouns = tool.names - GENERIC
        spoken = {word for word in told if word not in GENERIC}
        about = {word for word in spoken if tool.weights.get(word, 0) >= FIRST_SENTENCE and self._is_rare(word)}
        return len(nouns & spoken) > len(nouns) / 2 or len(about) >= 2

    def _is_rare(self, word: str) -> bool:
        return self._rarity.get(word, 0) >= math.log(4)


_FOLDER_WORDS, _FILE_WORDS = frozenset({"directory", "folder", "tree"}), frozenset({"file"})


def _fits_path(tool: DescribedTool, held: Held) -> float:
    """How well a tool for files or folders fits a path with or without an ending."""
    if len(held.paths) != 1:
        return 1.0
    is_file = "." in held.paths[0].rpartition("/")[2]
    is_for_folders, is_for_files = bool(tool.names & _FOLDER_WORDS), bool(tool.names & _FILE_WORDS)
    if is_for_folders == is_for_files:
        return 1.0
    return 1.15 if is_for_files == is_file else 0.6


_ACTS = frozenset({"create", "add", "delete", "remove", "write", "move", "update", "edit", "set", "insert", "append"})


def _names_verb(tool: DescribedTool, said: set[str]) -> bool:
    """Whether the verb of a tool that acts is said, in its own word or another; True for tools that do not act."""
    verbs = tool.names & _ACTS
    return not verbs or not said.isdisjoint(verbs.union(*(alike().get(verb, ()) for verb in verbs)))


def _texts(value: object) -> Iterator[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for member in value.values():
                yield from _texts(member)
        case list():
            for member in value:
                yield from _texts(member)

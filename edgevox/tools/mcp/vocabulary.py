"""The words by which sentences and tools of servers are compared: stems, synonyms, what a tool is about."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from edgevox.core.words import singular
from edgevox.tools.tool import Tool

# Words that people use for what programs call otherwise.
_SAME = (
    "read say show open contents content text display print view contain written inspect examine peek see recite",
    "list show which display enumerate",
    "directory folder dir where",
    "info metadata detail information property size big large when old modified changed permission touched weigh",
    "size big biggest large largest small smallest",
    "status state modified changed uncommitted pending dirty",
    "schema column field structure describe built layout definition",
    "tree nested hierarchy recursive subfolder subdirectory recursively everything underneath",
    "move rename change relocate transfer shift",
    "delete remove forget erase drop discard wipe",
    "create make new add start put setup ensure build begin",
    "add note record remember store",
    "append add attach insert",
    "search find look locate seek hunt mention track",
    "allow permit access accessible touch reach enter",
    "write save put store create jot overwrite",
    "edit replace change substitute swap exchange modify alter",
    "multiple both several",
    "log commit history committed happen",
    "diff difference compare differ",
    "fetch page website site web url address download get load visit browse retrieve",
    "checkout switch move go hop jump",
    "add stage",
    "calculate compute work evaluate",
    "convert conversion translate",
    "shuffle mix scramble jumble reorder",
    "choice sample choose pick select draw",
    "observation fact",
    "relation relationship connection",
    "first top head beginning",
    "last bottom tail end",
    "echo repeat parrot",
    "image picture photo logo",
    "operation job task",
    "toggle switch turn",
    "time hour clock",
    "generate make give",
    "env environment",
    "query sql execute",
    "think thinking thought step reason ponder",
)
_WORD = re.compile(r"[a-z0-9]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ENDING = re.compile(r"(?P<stem>.*[aeiouy].*?)(?:ing|ed)$")


def stem(word: str) -> str:
    """A word without its ending: commit for committed and commits, stag for stage and staging."""
    plain = singular(word)
    found = _ENDING.match(plain)
    if found and len(found["stem"]) >= 3:
        plain = found["stem"]
        if plain[-1] == plain[-2] and plain[-1] not in "aeiouls":
            plain = plain[:-1]
    if plain.endswith("i"):
        return f"{plain[:-1]}y"
    return plain[:-1] if plain.endswith("e") and len(plain) > 3 else plain


def stems(words: Iterable[str]) -> frozenset[str]:
    """The stems of these words."""
    return frozenset(map(stem, words))


# Verbs that are said of anything, and so do not tell a tool from the home.
GENERIC = stems(
    (
        *("read", "say", "show", "open", "display", "print", "view", "list", "which", "move", "rename", "delete"),
        *("remove", "forget", "erase", "drop", "create", "make", "new", "add", "start", "search", "find", "look"),
        *("write", "save", "put", "get", "switch", "stage", "work", "step", "run", "set", "update", "text", "site"),
        *("page", "return", "time", "current", "message", "add", "long", "big", "large", "size"),
        *("note", "record", "remember", "store", "change", "replace", "generate", "give", "where", "state", "field"),
    )
)
VAGUE = stems(("file", "get", "use", "tool", "server", "specific", "data", "please", "can", "new", "s", "m"))


def plain_words(text: str) -> list[str]:
    """The words of a text or an identifier, in the singular."""
    found = _WORD.findall(_CAMEL.sub(" ", text).casefold())
    return [singular(word) for word in found if len(word) > 1 or word.isdigit()]


def words_of(text: str) -> list[str]:
    """The stems of the words of a text or an identifier."""
    return [stem(word) for word in plain_words(text)]


@cache
def alike() -> Mapping[str, frozenset[str]]:
    """The other words for a word."""
    others_of: dict[str, set[str]] = {}
    for line in _SAME:
        group = {stem(word) for word in line.split()}
        for word in group:
            others_of.setdefault(word, set()).update(group - {word})
    return {word: frozenset(others) for word, others in others_of.items()}


NAME_WORD, FIRST_SENTENCE = 3.0, 1.5
_MIN_PART_CHARS = 5
_ACTS = stems(
    (
        *("create", "add", "delete", "remove", "write", "move", "update", "edit", "set", "insert", "append", "rename"),
        *("commit", "reset", "checkout", "switch", "unstage", "record", "replace", "make"),
    )
)
ACT_WORDS = _ACTS | stems(
    (
        *("new", "put", "save", "store", "erase", "drop", "forget", "stage", "start", "change", "jot", "overwrite"),
        *("swap", "exchange", "modify", "alter", "ensure", "setup", "discard", "wipe", "remember", "take"),
    )
)


@dataclass(frozen=True)
class DescribedTool:
    """A tool with the words that it is described by, each with its weight."""

    tool: Tool
    own: str
    """its name without that of its server"""
    weights: Mapping[str, float]
    names: frozenset[str]
    acts: frozenset[str]
    """verbs of its name and of the beginning of its description that change something"""

    @property
    def is_named_as_act(self) -> bool:
        """Whether its name says that it changes something."""
        return not self.acts.isdisjoint(self.names)


def describe(tool: Tool, server: str) -> DescribedTool:
    """The words of a tool of this server."""
    own = tool.name.removeprefix(f"{server}_") if server else tool.name
    weights: defaultdict[str, float] = defaultdict(float)
    names = words_of(_separated(own, tool.description))
    for word in names:
        weights[word] = max(weights[word], NAME_WORD)
    first = re.split(r"(?<=[.!?])\s", tool.description, maxsplit=1)[0]
    for word in words_of(first):
        weights[word] = max(weights[word], FIRST_SENTENCE)
    for word in words_of(tool.description[:400]):
        weights[word] = max(weights[word], 0.4)
    for name in tool.parameters.get("properties", {}):
        for word in words_of(name):
            weights[word] = max(weights[word], 0.7)
    if server:
        weights[stem(server)] = max(weights[stem(server)], 1.0)
    # "unstaged" in a name tells a state, not what is done.
    verbs = frozenset(words_of(first)[:4]) | stems(word for word in plain_words(own) if not word.endswith("ed"))
    return DescribedTool(tool, own, weights, frozenset(names) - {stem(server)}, verbs & _ACTS)


def _separated(name: str, description: str) -> str:
    """A name with its words apart: "carefulthinking" whose description has "thinking"."""
    known = {word for word in _WORD.findall(description.casefold()) if len(word) >= _MIN_PART_CHARS}
    found = [name]
    for word in _WORD.findall(name.casefold()):
        parts = [part for part in known if word.endswith(part) and len(word) - len(part) >= _MIN_PART_CHARS]
        if parts:
            part = max(parts, key=len)
            found += [word.removesuffix(part), part]
    return " ".join(found[1:] if len(found) > 1 else found)

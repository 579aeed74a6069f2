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
from pathlib import Path

from edgevox.core.words import STOP_WORDS
from edgevox.tools.mcp.filling import IS_PATH, Lookup, Request, Used, exchange_in, fill
from edgevox.tools.mcp.graph_requests import GraphTools
from edgevox.tools.mcp.sentence_parts import FILE, Held, held_in
from edgevox.tools.mcp.table_questions import TableTools
from edgevox.tools.mcp.vocabulary import (
    ACT_WORDS,
    FIRST_SENTENCE,
    GENERIC,
    NAME_WORD,
    VAGUE,
    DescribedTool,
    alike,
    describe,
    plain_words,
    stem,
    words_of,
)
from edgevox.tools.tool import Tool

# How much of the sentence has to be in the words of the tool, and how much of its best rival it has to exceed.
_ENOUGH_SHARE = 0.5
_CLEAR = 1.05
_NAMED_SHARE = 0.6


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

    @cached_property
    def _by_server(self) -> tuple[Sequence[DescribedTool], ...]:
        by_server: dict[str, list[DescribedTool]] = {}
        for described, (_, server) in zip(self._tools, self.tools, strict=True):
            by_server.setdefault(server, []).append(described)
        return tuple(by_server.values())

    @cached_property
    def _graphs(self) -> tuple[GraphTools, ...]:
        return tuple(graph for tools in self._by_server if (graph := GraphTools(tools)).is_graph)

    @cached_property
    def _tables(self) -> tuple[TableTools, ...]:
        return tuple(tables for tools in self._by_server if (tables := TableTools(tools)).are_complete)

    def looked_up(self, text: str) -> Request | Lookup | None:
        """What a sentence means, also where a server has to be asked before its request can be made; or None."""
        found = next((found for graph in self._graphs if (found := graph.meant(text))), None)
        return found or self.meant(text) or next((asked for each in self._tables if (asked := each.meant(text))), None)

    def forget_tables(self) -> None:
        """Ask for the tables of databases again before the next question about them."""
        for tables in self._tables:
            tables.forget()

    def meant(self, text: str) -> Request | None:
        """The tool that a sentence means, with its arguments, or None."""
        if not self._tools:
            return None
        held = held_in(text)
        held.rest = _SAID_BACK.sub("echo", _MAY.sub("is allowed", held.rest))
        ranked = sorted(self._ranked(held), key=lambda found: -found[0])
        if not ranked:
            return None
        best, tool, request, used = ranked[0]
        # Two tools that take the same values are two ways to do the same.
        is_same = len(ranked) > 1 and request.arguments and request.arguments == ranked[1][2].arguments
        if len(ranked) > 1 and best < _CLEAR * ranked[1][0] and not (held.is_hard or is_same):
            return None
        return request if self._is_meant(held, tool, request, used) else None

    def _ranked(self, held: Held) -> Iterator[tuple[float, DescribedTool, Request, Used]]:
        rest = _LOOKED_AT.sub("show", held.rest) if held.paths else held.rest
        rest = _TO_COMMIT.sub(" staged ", _NOT_ADDED.sub("unstaged", rest))
        plain = plain_words(_OFF_STAGE.sub("unstage", _NOT.sub(" un", rest)))  # "not staged" is unstaged
        every = list(map(stem, plain))
        said = [stem(word) for word in plain if word not in STOP_WORDS or word == "where"]
        spoken = set(said)
        if held.paths and not said:  # "what is in ~/notes"
            said = ["read" if "." in held.paths[0].rpartition("/")[2] else "list"]
        said += map("".join, pairwise(every))  # "check out" for checkout
        asked = [word for word in every if word in ASKED]
        is_question = bool(_QUESTION.match(held.rest))
        if _NAMING.match(held.rest):
            said.append("list")
        if not is_question and (_NEW.search(held.rest) or _NEEDED.match(held.rest)):
            said.insert(0, "creat")
        if held.paths and not self._is_verb_known(said):  # "the top line of ~/notes/a.txt"
            said.append("list" if held.folder else "read")
        if _IN_THE_NAME.search(held.rest):
            said += ["search", "pattern"]
        if _EXISTENCE.match(held.rest):  # "are there files", "is there a file called x"
            said += ["search"] if re.search(r"\b(?:called|named)\b", held.rest) else ["list"]
        if len(held.paths) == 2 and _CALLED.search(held.rest):  # "a.txt is to be called b.txt"
            said.insert(0, "renam")
        if len(held.paths) == 1 and not held.folder and exchange_in(held.rest):
            said.insert(0, "edit")
            is_question = False
        acts = bool(said) and said[0] in ACT_WORDS and not is_question
        if held.urls and not acts:
            said.append("fetch")  # a page that is asked about is read
        for tool in self._tools:
            score = sum(self._worth(word, tool) for word in {*said, *asked})
            request, used = fill(tool, held)
            if not score and used.times < 2:
                continue
            score += 0.5 * used.hard + 0.5 * used.required + 0.5 * used.times
            # What is in the sentence is for the tool, and what the tool requires is in the sentence.
            score *= 1.6**used.hard * 0.4 ** len(request.missing) * 0.1 ** max(0, self._kinds(held) - used.hard)
            score *= 1.3**used.named * 0.6**used.guessed * 1.4**used.times * _fits_path(tool, held)
            score *= 0.5 ** self._misread_files(held, request)
            score *= 0.3**used.unused * 1.5**used.required * 0.85 ** len(_unexplained(spoken, tool, request))
            if not _names_verb(tool, {*said, *asked}):
                score *= 0.3  # "which accounts are there" creates none
            if acts and not tool.tool.side_effects:
                score *= 0.2
            if is_question and tool.is_named_as_act:
                score *= 0.15
            score *= _fits_repository(tool, held) * _fits_sql(tool, held)
            score *= 1.3 ** len((tool.names - GENERIC) & set(said))
            if said and not {said[0], *alike().get(said[0], ())}.isdisjoint(tool.names | tool.acts):
                score *= 1.5
            if _is_called(tool, held):
                score *= 3
            score /= 1 + 0.04 * len(tool.names)
            yield score, tool, request, used

    def _worth(self, word: str, tool: DescribedTool) -> float:
        rarity = self._rarity
        own = tool.weights.get(word, 0) * rarity.get(word, 0)
        other = (tool.weights.get(other, 0) * rarity.get(other, 0) for other in alike().get(word, ()))
        return max(own, 0.6 * max(other, default=0))

    def _is_verb_known(self, said: Sequence[str]) -> bool:
        """Whether a word of the sentence is in the name of a tool, itself or another for the same."""
        names = frozenset().union(*(tool.names for tool in self._tools))
        return any(word in names or not alike().get(word, frozenset()).isdisjoint(names) for word in said)

    @staticmethod
    def _misread_files(held: Held, request: Request) -> bool:
        """Whether the name of a file is taken for a text."""
        files = FILE.findall(held.rest)
        return any(value in files and not IS_PATH.search(slot) for slot, value in request.arguments.items())

    @staticmethod
    def _kinds(held: Held) -> int:
        return sum(map(bool, (held.urls, held.paths, held.sql, held.revision and held.paths)))

    def _is_meant(self, held: Held, tool: DescribedTool, request: Request, used: Used) -> bool:
        if held.is_hard:
            is_named = _names_verb(tool, set(words_of(held.rest))) and len(request.missing) <= len(request.arguments)
            return not request.missing or is_named
        if request.missing:
            return False
        # A city and "time" are about a time zone, which nothing of the home has; so are two cities.
        zones = sum(zone in _texts(request.arguments) for zone in held.zones)
        if zones > 1 or (zones and not _TIME_WORDS.isdisjoint(words_of(held.rest))):
            return True
        if _is_called(tool, held):
            return True
        words = [stem(word) for word in plain_words(held.rest) if word not in STOP_WORDS or word == "where"]
        said = [word for word in words if word not in VAGUE]
        if not said:
            return False
        taken = {word for value in _texts(request.arguments) for word in words_of(value)}
        told = [word for word in said if word not in taken and not word.isdigit()]
        known = [word for word in told if word in tool.weights or alike().get(word, frozenset()) & tool.names]
        if len(known) < _ENOUGH_SHARE * len(told):
            return False
        if held.sum and held.sum in _texts(request.arguments):
            return True
        if len(request.named) > 1 and not used.guessed:  # "the note plants in the vault garden": each by its own name
            return True
        file = FILE.search(held.rest)
        if file and file[0] in _texts(request.arguments) and tool.names & {*told}:
            return True
        if len(tool.names) == 1 and tool.names & set(said) - GENERIC:  # "echo good morning", "calculate …"
            return True
        # A verb alone may be about anything: what the tool is about has to be said as well.
        nouns = tool.names - GENERIC
        spoken = {word for word in told if word not in GENERIC}
        about = {word for word in spoken if tool.weights.get(word, 0) >= FIRST_SENTENCE and self._is_rare(word)}
        named = {noun for noun in nouns if noun in spoken or alike().get(noun, frozenset()) & set(told)}
        if named and any(isinstance(value, list) and len(value) > 2 for value in request.arguments.values()):
            return True  # "mix up apples, pears and plums"
        is_named = len(named) > len(nouns) / 2 or len(tool.names & {*told}) >= _NAMED_SHARE * len(tool.names)
        # "from high to low" has the words of a range alone, which are not what a tool is about.
        slots = {word for name in tool.tool.parameters.get("properties", {}) for word in words_of(name)}
        if (
            said[0] not in GENERIC
            and tool.weights.get(said[0], 0) >= NAME_WORD
            and len(set(known)) > 1
            and held.rest.split()[0].casefold() not in STOP_WORDS
        ):
            return True  # "think step by step about …": its verb first, and another of its words
        is_paraphrased = len(nouns) > 1 and named == nouns
        return (is_named and (is_paraphrased or bool(nouns & spoken))) or (len(about) >= 2 and bool(about - slots))

    def _is_rare(self, word: str) -> bool:
        return self._rarity.get(word, 0) >= math.log(4)


ASKED = frozenset(map(stem, ("which", "what", "how", "say", "show", "make", "get")))
_QUESTION = re.compile(
    r"(?:what|which|who|where|when|how|is|are|has|have|does|do|did|show|list|print|display|"
    r"tell|give)\b",
    re.IGNORECASE,
)
_NOT = re.compile(r"(?:\bnot|n't) (?=\w+ed\b)", re.IGNORECASE)
_OFF_STAGE = re.compile(r"\b(?:off|out of|from) the stag(?:e|ing)\b", re.IGNORECASE)
# What is staged, in the words of those who do not say so.
_NOT_ADDED = re.compile(
    r"\b(?:not|haven't|hasn't|isn't|aren't|without being) (?:yet |been )*(?:added|staged)\b", re.IGNORECASE
)
_TO_COMMIT = re.compile(
    r"\b(?:(?:about|going|ready|set|waiting) to be|(?:will|would) be|(?:would|will) (?:I|we)|ready to) "
    r"commit(?:ted)?\b|\b(?:in|into|to|for|part of) (?:the|my) next commit\b",
    re.IGNORECASE,
)
_LOOKED_AT = re.compile(
    r"\b(?:have |take |get )?(?:a )?(?:quick |good )?(?:look|peek|glance) (?:at|into|inside)\b", re.IGNORECASE
)
_MAY = re.compile(
    r"\b(?:can|may) (?:you|i|we) (?:get into|go into|look into|access|see|use|open|work in|read|touch|reach|enter)$",
    re.IGNORECASE,
)
_SAID_BACK = re.compile(r"^(?:please )?(?:say back to me|say after me|repeat after me|say back)\b", re.IGNORECASE)
_CALLED = re.compile(r"\bbe (?:called|named)\b|\bbecomes?\b|\bcall it\b", re.IGNORECASE)
_NAMING = re.compile(r"name (?:all )?(?:the|my|every)\b", re.IGNORECASE)
# What has an indefinite article and a name is new: "open a branch named spring".
_NEW = re.compile(r"\ban? (?:new )?\w+ (?:called|named) \S", re.IGNORECASE)
_NEEDED = re.compile(r"(?:i |we )?(?:need|want|would like|'d like) (?:to have )?an? (?:new )?\w+", re.IGNORECASE)
# "which files have x in their name" is a search.
_IN_THE_NAME = re.compile(
    r"\b(?:in (?:their|its|the) (?:file ?)?names?|whose names?|names? (?:contain|include|with))\b", re.IGNORECASE
)
_EXISTENCE = re.compile(r"(?:are|is) there\b", re.IGNORECASE)
_TIME_WORDS = frozenset(map(stem, ("time", "clock", "late", "hour")))
_CONTENTS_VERBS = frozenset(map(stem, ("read", "write", "edit")))
_FOLDER_WORDS = frozenset(map(stem, ("directory", "folder", "tree")))


def _fits_path(tool: DescribedTool, held: Held) -> float:
    """How well a tool for one file or for folders fits a path with or without an ending."""
    if len(held.paths) != 1:
        return 1.0
    is_file = not held.folder or bool(held.files)
    is_for_folders = bool(tool.names & _FOLDER_WORDS)
    own = set(words_of(tool.own))
    takes_contents = stem("file") in own and not own.isdisjoint(_CONTENTS_VERBS)
    is_for_a_file = takes_contents or bool(re.search(r"file(?!s)", tool.own, re.IGNORECASE))
    if is_for_folders == is_for_a_file:
        return 1.0
    if is_for_a_file == is_file:
        return 1.15
    return 0.1 if takes_contents else 0.4


def _fits_repository(tool: DescribedTool, held: Held) -> float:
    """A folder that is a repository is meant for tools that ask for one, and those are for no other folder."""
    if not held.paths or not any("repo" in name.casefold() for name in tool.tool.parameters.get("properties", {})):
        return 1.0
    if not held.folder:
        return 0.2
    folder = Path(held.paths[0]).expanduser()
    try:
        if (folder / ".git").exists():
            return 2.0
        return 0.2 if folder.exists() else 1.0  # one that is not here may be another machine's
    except OSError:
        return 1.0


def _fits_sql(tool: DescribedTool, held: Held) -> float:
    """A query is for the tool whose description has the query's verb."""
    verb = held.sql.partition(" ")[0]
    return 2.5 if verb and re.search(rf"\b{verb}\b", tool.tool.description, re.IGNORECASE) else 1.0


def _is_called(tool: DescribedTool, held: Held) -> bool:
    """Whether the tool is called by its name: "use echo", "with the calculator"."""
    name = re.escape(tool.own).replace("_", "[ _-]").replace(r"\-", "[ _-]")
    return bool(re.search(rf"\b(?:use|using|with|via) (?:the )?{name}\b", held.rest, re.IGNORECASE))


def _unexplained(spoken: set[str], tool: DescribedTool, request: Request) -> set[str]:
    """The words that the tool neither has nor takes."""
    taken = {word for value in _texts(request.arguments) for word in words_of(value)}
    known = {word for word in spoken if word in tool.weights or alike().get(word, frozenset()) & tool.names}
    return spoken - known - taken - VAGUE


def _names_verb(tool: DescribedTool, said: set[str]) -> bool:
    """Whether the verb of a tool that acts is said, in its own word or another; True for tools that do not act."""
    if not tool.is_named_as_act:
        return True
    return not said.isdisjoint(tool.acts.union(*(alike().get(verb, ()) for verb in tool.acts)))


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

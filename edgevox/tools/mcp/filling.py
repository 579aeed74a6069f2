"""Fills the arguments of a server's tool from the words of a sentence, by what its schema says about them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from edgevox.core.words import STOP_WORDS, normalized_words, singular
from edgevox.tools.mcp.arguments import asks_for_zone
from edgevox.tools.mcp.sentence_parts import FILE, NUMBER, QUOTED, Held
from edgevox.tools.mcp.vocabulary import FIRST_SENTENCE, DescribedTool, alike, plain_words, stem, stems, words_of


@dataclass(frozen=True, slots=True)
class Request:
    """A tool that is meant, and its arguments; `missing` names required ones that are not in the sentence."""

    tool: str
    arguments: dict[str, Any]
    missing: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    """values beside the word of their parameter, as in "the vault garden" """

    @property
    def named_words(self) -> frozenset[str]:
        """The words of those values."""
        return frozenset(word for value in self.named for word in normalized_words(value))


@dataclass(frozen=True, slots=True)
class Lookup:
    """Calls whose results decide what is called next; `then` gets them in order."""

    requests: tuple[Request, ...]
    then: Next


Next: TypeAlias = "Callable[[Sequence[str]], Request | Lookup | str]"
"""The next call, or the answer."""


# --- arguments

IS_PATH = re.compile(r"path|file|dir|folder|repo|source|destination|root", re.IGNORECASE)
_IS_URL = re.compile(r"\bur[il]s?\b|address|link", re.IGNORECASE)
_IS_SQL = re.compile(r"sql|query", re.IGNORECASE)
_IS_SUM = re.compile(r"expression|formula|equation", re.IGNORECASE)
# "'local', 'remote' or 'all'" in a description are the values of a parameter.
_OPTION = re.compile(r"\(?'([A-Za-z][\w-]*)'\)?")
_LINK = r"(?:(?:is|are|called|named|titled|of|that says|saying|reading|:|=|to be) )*"
_ENDS = (
    r"(?= (?:in|to|from|of|with|on|for|at|into|and|as|by|using|have|has|is|are|contains?|saying|containing|reading|"
    r"that|off|under|below)\b|[,;]|$)"
)
_MAKES = stems(("create", "make", "new"))
_NEW_INSIDE = re.compile(r"\b(?:called|named) [\"'“]?(?P<name>[\w.-]+)", re.IGNORECASE)
_IS_REVISION = re.compile(r"revision|commit|\bsha|\bref\b|target", re.IGNORECASE)
_NAMED_WITH = re.compile(
    r"\b(?:have|has|with|contain(?:s|ing)?) (?:the )?(?:word )?(?P<value>[\w.-]+) in (?:their|its|the) ", re.IGNORECASE
)
_COMPARED_WITH = re.compile(
    r"\b(?:between|against|with|from|to|and|does|versus|vs|since) (?:the )?(?:branch )?(?P<value>[A-Za-z][\w./-]*)",
    re.IGNORECASE,
)
IS_PATTERN = re.compile(r"pattern|glob|query", re.IGNORECASE)
_IS_ORDER = re.compile(r"sort|order", re.IGNORECASE)
_IS_SORTED = stems(("sort", "order", "first", "by", "largest", "biggest", "smallest"))
# Names of things, which the word for the thing stands before: "the note plants", "the table books".
_NAME_WORDS = frozenset({"name", "filename", "title", "file", "id"})
_LEAD = re.compile(
    r"^(?:(?:please|can you|could you|would you|hey|i want (?:you )?to|use|the|a|an|tool|to|say|for|about|me|this|that|"
    r"in|of|on|from|with|called|named|my|it|is|what|what's|which|how|are|there|does|do|s|and|run|execute|show|get|give|"
    r"tell|say|query|search|find|read|open|list|up|down|over|back|onto|anything|something|any)\b[ :,]*)+",
    re.IGNORECASE,
)


_LOOKS = ("look", "looks", "like", "have", "contain", "consist")
_KIND_OF_THING = re.compile(
    r"^(?:(?:any|all|the|every) )?(?:files?|nodes?|things?|anything|something|everything|documents?|notes?) "
    r"(?:called|named|about|mentioning|containing|related to|to do with|with|that mentions?)(?: the (?:name|word))? ",
    re.IGNORECASE,
)
_PROPER = re.compile(r"(?<=\w )[A-Z][a-z][\w'-]*(?: [A-Z][\w'-]*)*")
_ENUMERATION = re.compile(r", (?:and |or )?| (?:and|or) (?=\S+$)")
_ENUMERATED = re.compile(r"[\w'-]+(?:, (?:and |or )?[\w'-]+)+(?: (?:and|or) [\w'-]+)?")
# "replace rye with oat", "rename the tag a to b": what there is, and what it becomes.
_EXCHANGE = re.compile(
    r"\b(?:(?:replac|chang|substitut)(?:e|ing)|renam(?:e|ing)|(?P<swap>swap(?:ping)?|exchang(?:e|ing))) "
    r"(?:(?:the )?(?:text|words?|phrase|string|line) )?(?:from )?(?P<old>\S.*?) (?:with|by|to|into|(?(swap)for|with)) "
    r"(?P<new>\S.*?)(?= (?:in|at)$|$| in |[.'\"] [A-Z])",
    re.IGNORECASE,
)
# "oat milk should become rye milk", "instead of oat milk put rye milk"
_BECOMING = re.compile(
    r"^(?:(?:please|can you|could you)[ ,]+)*(?:(?:in|inside)[ ,]+)?(?:(?:make|let) )?(?:the )?(?:words? |text |line )?"
    r"(?P<old>\S.*?) (?:should|must|needs to|has to|ought to) (?:now )?(?:become|be|read|say|turn into|be changed to) "
    r"(?P<new>\S.*?)(?: (?:in|instead|now))*$|"
    r"\binstead of (?P<old_first>\S.*?),? (?:put|write|use|have|say|insert) (?P<new_last>\S.*?)(?: in)?$|"
    r"\b(?:turn|make) (?P<old_turned>\S.*?) into (?P<new_turned>\S.*?)(?: in)?$",
    re.IGNORECASE,
)
_CONTAINING = re.compile(
    r"\b(?:containing|which says|that says|saying|reading|"
    r"with (?:the )?(?:following |new )?(?:text|words|contents?|lines?)):? (?P<value>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
# "that Tom likes hiking": what is known of a name.
_STATEMENT = re.compile(r"\bthat (?P<subject>[A-Z][\w'-]*(?: [A-Z][\w'-]*)*) (?P<said>\S.*)$")


def exchange_in(rest: str) -> tuple[str, str] | None:
    """What there is and what it becomes: ("rye", "oat") for "replace rye with oat"."""
    if found := _EXCHANGE.search(rest):
        return found["old"], found["new"]
    if found := _BECOMING.search(rest):
        old, new = filter(None, found.groups())
        return old, new
    return None


def _side_of(name: str) -> str:
    """Which side of an exchange a parameter is."""
    first = plain_words(name)[:1]
    if first in (["old"], ["find"], ["search"], ["source"], ["from"]):
        return "old"
    return "new" if first in (["new"], ["replace"], ["replacement"], ["destination"], ["target"], ["to"]) else ""


@dataclass(slots=True)
class Used:
    """What the arguments are of: kinds of hard things, those of them that are required, paths and addresses that no
    argument has, words behind a parameter's name, mere remainders, times and zones."""

    hard: int = 0
    required: int = 0
    unused: int = 0
    named: int = 0
    guessed: int = 0
    times: int = 0


def fill(described: DescribedTool, held: Held) -> tuple[Request, Used]:
    """The arguments of a tool from a sentence."""
    tool = described.tool
    slots = tool.parameters.get("properties", {})
    required = set(tool.parameters.get("required", ()))
    own = replace(held, urls=[*held.urls], paths=[*held.paths], clocks=[*held.clocks], zones=[*held.zones])
    arguments: dict[str, Any] = {}
    missing: list[str] = []
    words = _Filling(own, described)
    ordered = sorted(slots, key=lambda name: (name not in required, list(slots).index(name)))
    for name in ordered:
        before = len(own.urls) + len(own.paths)
        value = words.value(name, slots[name], is_required=name in required)
        words.used.required += name in required and len(own.urls) + len(own.paths) < before
        if value is not None:
            arguments[name] = value
        elif name in required:
            missing.append(name)
    words.used.unused = len(own.urls) + len(own.paths)
    words.used.hard = sum(
        bool(before) and len(after) < len(before)
        for before, after in (
            (held.urls, own.urls),
            (held.paths, own.paths),
            (held.sql, own.sql),
            (held.revision, own.revision),
        )
    )
    if held.clocks and held.zones:  # a time somewhere is for a tool that takes both
        words.used.unused += len(own.clocks) + len(own.zones)
    words.used.times = len(held.zones) - len(own.zones) + len(held.clocks) - len(own.clocks)
    return Request(tool.name, arguments, tuple(missing), tuple(words.named)), words.used


def resolved_schema(slot: Mapping[str, Any], schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """A part of a schema without references and null."""
    reference = slot.get("$ref")
    if isinstance(reference, str):
        kept = schema.get("$defs", schema.get("definitions", {}))
        found = kept.get(reference.rpartition("/")[2])
        return found if isinstance(found, Mapping) else slot
    for way in slot.get("anyOf", ()):
        if isinstance(way, Mapping) and way.get("type") != "null":
            return {**slot, **way}
    return slot


def _members(schema: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [slot for slot in schema.get("properties", {}).values() if isinstance(slot, Mapping)]


class _Filling:
    """Fills one call; every value of the sentence is used once."""

    def __init__(self, held: Held, described: DescribedTool) -> None:
        self._held = held
        self._numbers = list(NUMBER.finditer(held.rest))
        self._schema = described.tool.parameters
        self._names = described.names
        self._noun = plain_words(described.own)[-1:]
        self._takes_a_file = stem("file") in words_of(described.own) and self._needs_one_place()
        self._own_words = {word for word, weight in described.weights.items() if weight >= FIRST_SENTENCE}
        self._is_about_sql = bool(re.search(r"\bSQL", described.tool.description))
        self._takes_globs = bool(re.search(r"\bglob", described.tool.description, re.IGNORECASE))
        kinds = [self._type(self._resolved(slot)) for slot in _members(self._schema)]
        # "from 2 to 3" is for two numbers in their order, also where neither is required.
        self._has_one_for_each = len(self._numbers) == sum(kind in ("number", "integer") for kind in kinds)
        self.used = Used()
        self.named: list[str] = []

    def _needs_one_place(self) -> bool:
        """Whether one path is all that is required to find something."""
        required = self._schema.get("required", ())
        return sum(bool(IS_PATH.search(name) or IS_PATTERN.search(name)) for name in required) == 1

    def _asks_for_name(self) -> bool:
        return any("name" in plain_words(name) for name in self._schema.get("required", ()))

    def value(self, name: str, slot: object, *, is_required: bool, parent: str = "") -> object:
        """The value of a parameter, or None."""
        if not isinstance(slot, Mapping):
            return None
        slot = self._resolved(slot)
        if "enum" in slot:
            return self._choice(slot["enum"], is_required=is_required, is_order=bool(_IS_ORDER.search(name)))
        match self._type(slot):
            case "string":
                return self._text(name, slot, is_required=is_required, parent=parent)
            case "number" | "integer" as kind:
                return self._number(name, slot, kind, is_required=is_required)
            case "boolean":
                return self._is_wished(name, slot) or (False if is_required else None)
            case "array" if is_required:
                return self._list(name, slot)
            case "object" if is_required:
                return self._object(slot, parent=name)
        return None

    def _resolved(self, slot: Mapping[str, Any]) -> Mapping[str, Any]:
        return resolved_schema(slot, self._schema)

    @staticmethod
    def _type(slot: Mapping[str, Any]) -> str:
        kind = slot.get("type", "string")
        if isinstance(kind, list):
            kind = next((one for one in kind if one != "null"), "string")
        return str(kind)

    def _choice(self, choices: Sequence[object], *, is_required: bool, is_order: bool = False) -> object:
        stemmed = words_of(self._held.rest)
        said = " ".join(stemmed)
        if is_order and _IS_SORTED.isdisjoint(stemmed):
            return None
        for choice in choices:
            words = " ".join(words_of(str(choice)))
            if words and re.search(rf"\b{re.escape(words)}\b", said):
                return choice
        for choice in choices if is_order else ():  # "the biggest first" is by size
            if not alike().get(stem(str(choice)), frozenset()).isdisjoint(stemmed):
                return choice
        return choices[0] if is_required and len(choices) == 1 else None

    def _is_wished(self, name: str, slot: Mapping[str, Any]) -> bool | None:
        """True if a flag is named: its own words, or the first of its description ("Preview changes")."""
        if slot.get("default") is True:
            return None
        said = set(words_of(self._held.rest))
        first = words_of(str(slot.get("description", "")))[:1]
        is_named = set(words_of(name)) <= said or (first and first[0] in said - self._own_words and len(first[0]) > 4)
        return True if is_named else None

    def _text(self, name: str, slot: Mapping[str, Any], *, is_required: bool, parent: str) -> str | None:
        held, about = self._held, f"{name} {slot.get('description', '')}"
        if slot.get("format") == "uri" or _IS_URL.search(name):
            return held.urls.pop(0) if held.urls else None
        if asks_for_zone(about):
            return held.zones.pop(0) if held.zones else None
        if _IS_SUM.search(name):
            return held.sum or None
        if re.search(r"\btime\b", name, re.IGNORECASE) and held.clocks:
            return held.clocks.pop(0)
        if _IS_SQL.search(name) and (held.sql or self._is_about_sql or "SQL" in about):
            sql, held.sql = held.sql, ""
            return sql or None
        if _IS_REVISION.search(name) and held.revision:
            revision, held.revision = held.revision, ""
            return revision
        if IS_PATH.search(name) and held.paths:
            files = held.files if self._takes_a_file else []
            is_new = len(held.paths) == 1 and not self._names.isdisjoint(_MAKES) and not self._asks_for_name()
            inside = _NEW_INSIDE.search(held.rest) if is_new and held.folder and not files else None
            path = held.paths.pop(0)
            if inside:
                return f"{path.rstrip('/')}/{inside['name']}"
            return files[0] if len(files) == 1 else path
        if not is_required:
            return None
        if (side := _side_of(name)) and (pair := exchange_in(held.rest)):
            self.used.named += 1
            return self._without_nouns(pair[side == "new"])
        if len(options := _OPTION.findall(str(slot.get("description", "")))) > 1:
            return str(self._choice(options, is_required=True) or options[0])
        if "name" in plain_words(name) and len(proper := _PROPER.findall(held.rest)) == 1:
            self.used.named += 1
            return str(proper[0])
        if found := self._behind(name, parent):
            self.used.named += 1
            self.named.append(found)
            return found
        if _IS_REVISION.search(name) and (ref := self._compared_branch()):
            return ref
        self.used.guessed += 1
        if IS_PATH.search(name):
            file = FILE.search(held.rest)
            return file[0] if file else None
        if IS_PATTERN.search(name) and (part := _NAMED_WITH.search(held.rest)):
            return f"**/*{part['value']}*" if self._takes_globs else part["value"]
        left = file[0] if self._takes_globs and (file := FILE.search(held.rest)) else self._left()
        # A pattern in the manner of a shell finds a name anywhere below only with these.
        return f"**/*{left}*" if left and self._takes_globs and "*" not in left else left

    def _behind(self, name: str, parent: str) -> str | None:
        """The words behind the parameter's own: "the message Add my plan", "of type dog"."""
        words = [word for word in plain_words(name) if word not in _NAME_WORDS] or plain_words(parent) or self._noun
        if not {"content", "text", "body"}.isdisjoint(words):
            words = ["text", *words]
            # Lines stay lines, as they were written.
            if found := _CONTAINING.search(self._held.raw if "\n" in self._held.raw else self._held.rest):
                return found["value"].strip(" \"'“”.,")
        for word in reversed(words):
            form = rf"\b{re.escape(word)}s?[:,]? {_LINK}(?P<value>(?:the )?\S.*?)(?:{_ENDS})"
            if word == "message":
                form = rf"\b{word}[:,]? {_LINK}(?P<value>\S.*)$"
            if found := re.search(form, self._held.rest, re.IGNORECASE):
                quoted = QUOTED.match(self._held.rest, found.start("value"))
                value = (quoted[1] or quoted[2]) if quoted else found["value"].strip(" \"'“”.,")
                if (
                    value
                    and value.casefold().partition(" ")[0] not in (*STOP_WORDS, *_LOOKS)
                    and not self._is_own_word(value)
                ):
                    return value
        for word in reversed(words):  # "the books table"
            found = re.search(
                rf"\b(?:the|my|our) (?P<value>[\w-]+) {re.escape(word)}\b", self._held.rest, re.IGNORECASE
            )
            if found and stem(found["value"].casefold()) not in self._own_words:
                return found["value"]
        if plain_words(name)[-1:] in (["type"], ["kind"], ["category"]) and (
            found := re.search(r"\ban? (?P<value>[\w-]+) (?:called|named)\b", self._held.rest, re.IGNORECASE)
        ):
            return found["value"]
        if "name" in plain_words(name) and (
            found := re.search(rf"\b(?:called|named) (?P<value>.+?){_ENDS}", self._held.rest)
        ):
            return found["value"].strip(" \"'")
        return None

    def _compared_branch(self) -> str | None:
        """The branch that something is compared with: "how does draft differ", "what changed since draft"."""
        for found in _COMPARED_WITH.finditer(self._held.rest):
            word = found["value"]
            if word.casefold() not in STOP_WORDS and not self._is_own_word(word) and stem(word) not in self._own_words:
                self.used.named += 1
                return word
        return None

    def _is_own_word(self, value: str) -> bool:
        """Whether a word is one of the tool's name or another for it, and so no value."""
        word = stem(value.casefold())
        is_plain = word == value.casefold()  # "of type savings" is no "save"
        return word in self._names or (is_plain and not alike().get(word, frozenset()).isdisjoint(self._names))

    def _without_nouns(self, text: str) -> str:
        """A value without the words before it that name the tool: "the tag work" is work."""
        words = text.split()
        known = self._names | {"the", "a", "an"}
        while len(words) > 1 and not known.isdisjoint((words[0].casefold(), stem(words[0].casefold()))):
            words.pop(0)
        return " ".join(words).strip(" \"'“”.,")

    def _left(self) -> str | None:
        """What is left of the sentence without the words that name the tool."""
        rest = self._held.rest
        if quoted := QUOTED.search(rest):
            return quoted[1] or quoted[2]
        is_all = self._held.text.strip(" .?!") == rest
        if is_all and len(self._names) == 1 and stem(rest.partition(" ")[0].casefold()) in self._names:
            return rest.partition(" ")[2].strip() or None  # "echo this is a test": all the rest, as it is
        if ": " in rest:
            return rest.partition(": ")[2].strip() or None
        if found := re.search(
            r"\b(?:called|named|with the name|for|about) (?P<value>.+?)(?: in (?:the|my) .+)?$", rest, re.IGNORECASE
        ):
            value = _KIND_OF_THING.sub("", found["value"])
            value = re.sub(r" (?:in|under|inside|within|below|at|on)$", "", value)
            return value.strip(" \"'.,") or None
        others = {other for word in self._names for other in alike().get(word, ())}
        words = rest.split()
        known = self._names | others | self._own_words | stems(("file", "database"))
        while words and (stem(words[0].casefold().strip(",.:")) in known or _LEAD.match(f"{words[0]} ")):
            words.pop(0)
        while words and words[-1].casefold() in ("in", "of", "from", "to", "at", "on", "please", "the", "with"):
            words.pop()
        text = " ".join(words)
        for phrase in (" in the ", " in my ", " to the file", " to "):
            head, is_there, _tail = text.partition(phrase)
            if is_there and head:
                text = head
        return text.strip(" \"'.,") or None

    def _number(self, name: str, slot: Mapping[str, Any], kind: str, *, is_required: bool) -> float | None:
        words = {*words_of(name), *words_of(str(slot.get("description", "")))}
        chosen = next((found for found in self._numbers if self._beside(found) & words - STOP_WORDS), None)
        if chosen is None and self._numbers and (is_required or self._has_one_for_each):
            chosen = self._numbers[0]
        if chosen is not None:
            self._numbers.remove(chosen)
            value = float(chosen[0])
            return int(value) if kind == "integer" or value.is_integer() else value
        if not is_required:
            return None
        low = slot.get("default", slot.get("minimum"))
        return int(low) if isinstance(low, int | float) else None

    def _beside(self, number: re.Match[str]) -> set[str]:
        """The words before and behind a number."""
        before, behind = words_of(self._held.rest[: number.start()]), words_of(self._held.rest[number.end() :])
        return {*before[-1:], *behind[:1]}

    def _list(self, name: str, slot: Mapping[str, Any]) -> list[object] | None:
        members = slot.get("items")
        member = self._resolved(members) if isinstance(members, Mapping) else {"type": "string"}
        if self._type(member) == "object":
            made = self._object(member, parent=singular(name))
            return None if made is None else [made]
        if IS_PATH.search(name):
            is_all_paths = self._needs_one_place()
            files = (self._held.files if is_all_paths else FILE.findall(self._held.rest)) or self._held.paths[:]
            if is_all_paths or files == self._held.paths:
                self._held.paths.clear()
            return [*files] or None
        if self._type(member) != "string":
            return None
        if found := _ENUMERATED.search(self._held.rest):
            self.used.named += 1
            return [*_ENUMERATION.split(found[0])]
        value = self._text(singular(name), member, is_required=True, parent="")
        if value and NUMBER.search(value):  # "between 5 and 9" names nothing
            return None
        return None if value is None else [part for part in _ENUMERATION.split(value) if part]

    def _object(self, slot: Mapping[str, Any], *, parent: str) -> dict[str, Any] | None:
        made: dict[str, Any] = {}
        required = slot.get("required", ())
        if len(required) == 2 and (stated := _STATEMENT.search(self._held.rest)):
            names = [name for name in required if "name" in plain_words(name)]
            lists = [name for name in required if self._type(slot.get("properties", {}).get(name, {})) == "array"]
            if len(names) == len(lists) == 1:
                self.used.named += 1
                return {names[0]: stated["subject"], lists[0]: [stated["said"].strip(" .,")]}
        for name, inner in slot.get("properties", {}).items():
            if name not in required or not isinstance(inner, Mapping):
                continue
            if self._type(self._resolved(inner)) == "array":
                found = self._behind(name, parent) or self._behind(parent, "")
                made[name] = [found] if found and found not in made.values() else []
                if not made[name] and all(other == name or "name" in plain_words(other) for other in required):
                    return None  # a name with nothing to add to it
                continue
            is_exchanged = bool(_side_of(name)) and exchange_in(self._held.rest) is not None
            if not is_exchanged and plain_words(name)[:1] in (["old"], ["new"]):
                return None  # half of an exchange is none
            named = None if is_exchanged else self._behind(name, parent)
            self.used.named += named is not None
            value = named or self.value(name, inner, is_required=True, parent=parent)
            if value is None or value in made.values():
                return None  # one remainder is not two values
            made[name] = value
        return made

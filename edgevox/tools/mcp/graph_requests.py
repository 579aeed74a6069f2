"""Reads what is to be remembered, forgotten or recalled, for a server that keeps a graph of entities and facts.

Such a server is known by the shapes of its schemas, not by its names: lists of entities with a type and facts, of facts
about a name, of relations between two names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from edgevox.core.words import STOP_WORDS
from edgevox.tools.mcp.filling import Lookup, Next, Request, resolved_schema
from edgevox.tools.mcp.vocabulary import DescribedTool, plain_words, stems, words_of

_MAX_FACTS_CHARS = 600
_NOT_OF_FACTS = stems(("any", "more", "anymore", "longer", "no", "not", "does", "doesn", "isn", "don", "never"))
_DELETES = stems(("delete", "remove", "forget", "erase", "drop", "discard"))
_STARTS = frozenset({"from", "source", "subject", "start"})
_ENDS = frozenset({"to", "target", "object", "destination", "end"})


@dataclass(frozen=True, slots=True)
class _Shape:
    """One tool with the list that it takes, and the fields of its members by their role."""

    tool: str
    slot: str
    fields: Mapping[str, str]

    def call(self, **values: object) -> Request:
        return Request(self.tool, {self.slot: [{self.fields[role]: value for role, value in values.items()}]})

    def call_with(self, value: object) -> Request:
        return Request(self.tool, {self.slot: value})


class GraphTools:
    """The tools of one server for entities, facts and relations."""

    def __init__(self, tools: Iterable[DescribedTool]) -> None:
        self._shapes: dict[str, _Shape] = {}
        for described in tools:
            if (found := _shape_of(described)) is not None:
                role, shape = found
                self._shapes.setdefault(role, shape)

    @property
    def is_graph(self) -> bool:
        """Whether facts can be added to what is known, and looked up."""
        return {"entities", "facts", "search"} <= self._shapes.keys()

    def meant(self, text: str) -> Request | Lookup | None:
        """What to call for a statement to keep, a thing to forget or a question about what is known; or None."""
        plain = _POLITE.sub("", " ".join(text.split()).strip(" .?!")).strip(" ,")
        if "read" in self._shapes and _EVERYTHING.match(plain):
            return Request(self._shapes["read"].tool, {})
        if found := _recalled(plain):
            return self._look_up(found, partial(self._tell, found))
        if "delete_entities" in self._shapes and (forgotten := _forgotten_entity(plain)):
            return self._look_up(forgotten, partial(self._forget, forgotten))
        if "delete_facts" in self._shapes and (statement := _stated(plain, _FORGET)):
            return self._look_up(statement.subject, partial(self._delete, statement))
        if made := _new_entity(plain):
            name, kind, facts = made
            return self._shapes["entities"].call(name=name, kind=kind, facts=facts)
        if statement := _stated(plain, _REMEMBER) or _stated_first(plain):
            return self._look_up(statement.subject, partial(self._add, statement))
        return None

    def _look_up(self, query: str, then: Next) -> Lookup:
        return Lookup((self._shapes["search"].call_with(query),), then)

    def _tell(self, name: str, results: Sequence[str]) -> str:
        known = self._entity(results[0], name)
        facts = [str(one) for one in ((known,) if known else self._entities(results[0]))]
        facts += [" ".join(relation) for relation in self._relations(results[0])]
        return f"{'; '.join(facts)[:_MAX_FACTS_CHARS]}." if facts else f"I know nothing about {name}."

    def _forget(self, name: str, results: Sequence[str]) -> Request | str:
        known = self._entity(results[0], name)
        return self._shapes["delete_entities"].call_with([known.name]) if known else f"I know nothing about {name}."

    def _delete(self, statement: _Statement, results: Sequence[str]) -> Request | str:
        """Delete the fact, or the relation, that has most of the words of the statement."""
        known = self._entity(results[0], statement.subject)
        said = set(words_of(statement.said)) - STOP_WORDS - _NOT_OF_FACTS
        requests: list[tuple[int, Request]] = []
        if known is None:
            return f"I did not know that about {statement.subject}."
        for fact in known.facts:
            shared = len(said & set(words_of(fact)))
            requests.append((shared, self._shapes["delete_facts"].call(name=known.name, facts=[fact])))
        for start, kind, end in self._relations(results[0]):
            if start == known.name and "delete_relations" in self._shapes:
                shared = len(said & set(words_of(f"{kind} {end}")))
                requests.append((shared, self._shapes["delete_relations"].call(start=start, kind=kind, end=end)))
        shared, best = max(requests, key=lambda found: found[0], default=(0, None))
        if best is None or not shared or 2 * shared < len(said):
            return f"I did not know that about {statement.subject}."
        return best

    def _add(self, statement: _Statement, results: Sequence[str]) -> Request | Lookup:
        known = self._entity(results[0], statement.subject)
        if known is None:
            return self._shapes["entities"].call(
                name=statement.subject, kind=statement.kind or statement.guessed_kind, facts=[statement.said]
            )
        plain = self._shapes["facts"].call(name=known.name, facts=[statement.said])
        if "relations" in self._shapes and (other := _END_NAME.search(statement.said)):
            return self._look_up(other[0], partial(self._relate, known.name, statement.said, plain))
        return plain

    def _relate(self, subject: str, said: str, plain: Request, results: Sequence[str]) -> Request:
        """A relation if what ends the statement is an entity, else a fact."""
        name = _END_NAME.search(said)
        other = self._entity(results[0], name[0]) if name else None
        if name is None or other is None or other.name == subject:
            return plain
        kind = said[: name.start()].strip()
        kind = re.sub(r"^(?:is|are|was) (?:(?:the|a|an) )?", "", kind) or kind
        return self._shapes["relations"].call(start=subject, end=other.name, kind=kind)

    def _entities(self, content: str) -> list[_Entity]:
        """The entities of a result, whose fields are those by which they are created."""
        fields = self._shapes["entities"].fields
        return [
            _Entity(str(one[fields["name"]]), str(one.get(fields["kind"], "")), _texts(one.get(fields["facts"])))
            for one in _members_with(content, fields["name"])
        ]

    def _entity(self, content: str, name: str) -> _Entity | None:
        """The entity of that name, in any case of its letters."""
        plain = name.casefold().replace("_", " ")
        found = (one for one in self._entities(content) if one.name.casefold().replace("_", " ") == plain)
        return next(found, None)

    def _relations(self, content: str) -> list[tuple[str, str, str]]:
        if (shape := self._shapes.get("relations")) is None:
            return []
        start, kind, end = (shape.fields[role] for role in ("start", "kind", "end"))
        found = _members_with(content, start)
        return [(str(one[start]), str(one[kind]), str(one[end])) for one in found if {kind, end} <= one.keys()]


@dataclass(frozen=True, slots=True)
class _Entity:
    name: str
    kind: str
    facts: tuple[str, ...]

    def __str__(self) -> str:
        kind = f" ({self.kind})" if self.kind else ""
        return f"{self.name.replace('_', ' ')}{kind}: {', '.join(self.facts) or 'nothing more'}"


def _members_with(content: str, key: str) -> list[dict[str, Any]]:
    """The objects with this key in the lists of a result."""
    try:
        read = json.loads(content)
        read = json.loads(read) if isinstance(read, str) else read
    except ValueError:
        return []
    lists = read.values() if isinstance(read, dict) else (read,)
    every = (one for members in lists if isinstance(members, list) for one in members)
    return [one for one in every if isinstance(one, dict) and key in one]


def _texts(value: object) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


# --- the shapes of the schemas


def _shape_of(described: DescribedTool) -> tuple[str, _Shape] | None:
    """The role of a tool that takes one list or one query."""
    schema = described.tool.parameters
    required = schema.get("required", ())
    if not required and not described.acts and stems(("read", "graph")) <= described.names:
        return "read", _Shape(described.tool.name, "", {})
    if len(required) != 1:
        return None
    slot = schema.get("properties", {}).get(required[0])
    if not isinstance(slot, Mapping):
        return None
    slot, is_deleting = resolved_schema(slot, schema), not _DELETES.isdisjoint(described.names)
    shape = partial(_Shape, described.tool.name, required[0])
    if slot.get("type") == "string":
        is_search = not described.acts and words_of(required[0])[-1:] == words_of("query")
        return ("search", shape({})) if is_search and "SQL" not in described.tool.description else None
    members = slot.get("items")
    if slot.get("type") != "array" or not isinstance(members, Mapping):
        return None
    member = resolved_schema(members, schema)
    if member.get("type") == "string":
        if "name" not in plain_words(required[0]):
            return None
        return ("delete_entities", shape({})) if is_deleting else None
    role, fields = _member_roles(member, schema)
    return (f"delete_{role}" if is_deleting else role, shape(fields)) if role else None


def _member_roles(member: Mapping[str, Any], schema: Mapping[str, Any]) -> tuple[str, dict[str, str]]:
    """What the members of a list are, and their fields by role; "" if they are something else."""
    slots = member.get("properties", {})
    texts: list[str] = []
    lists: list[str] = []
    for name in member.get("required", ()):
        kind = resolved_schema(slots.get(name, {}), schema).get("type")
        (lists if kind == "array" else texts).append(name)
    kinds = [name for name in texts if plain_words(name)[-1:] in (["type"], ["kind"], ["category"])]
    names = [name for name in texts if name not in kinds]
    if len(names) == 1 and len(lists) == 1 and "name" in plain_words(names[0]):
        if not kinds:
            return "facts", {"name": names[0], "facts": lists[0]}
        if len(kinds) == 1:
            return "entities", {"name": names[0], "kind": kinds[0], "facts": lists[0]}
    if len(names) == 2 and len(kinds) == 1 and not lists:
        start = [name for name in names if not _STARTS.isdisjoint(plain_words(name))]
        end = [name for name in names if not _ENDS.isdisjoint(plain_words(name))]
        if len(start) == len(end) == 1:
            return "relations", {"start": start[0], "end": end[0], "kind": kinds[0]}
    return "", {}


# --- sentences

_POLITE = re.compile(
    r"^(?:(?:please|hey|hi|ok|okay|so|well|also|and|kindly|now|(?:can|could|would|will) you|"
    r"i(?: would|'d)? (?:want|like|need) you to|i need to|you should)\b[ ,]*)+|[ ,]*\b(?:please|thanks|thank you)$",
    re.IGNORECASE,
)
_WHERE = r"(?: (?:in|to|into|from|on) (?:your |the |my )?(?:memory|mind|knowledge(?: graph)?|graph|file|record|notes))"
_REMEMBER = re.compile(
    rf"^(?:(?:remember|keep in mind|bear in mind|(?:do not|don't|never) forget|memori[sz]e|learn|commit to memory|"
    rf"(?:make|take|keep) a note|for (?:the|your) record)(?:{_WHERE})?[:,]?(?: (?:this|the fact))?(?: that|:)?|"
    rf"(?:note|write|jot|save|store|record|add|put|know|keep)(?: (?:this|it))?(?: down)?(?:{_WHERE})?"
    rf"(?: (?:the|a|this) (?:new )?(?:fact|observation|information|detail))?(?:{_WHERE})?(?: that|:)|"
    rf"(?:note|write|jot) down)"
    rf" (?P<said>\S.*?)(?:{_WHERE})?$",
    re.IGNORECASE,
)
_NO_STATEMENT = re.compile(r"(?:to|me|it|this|that|when|where|what|how|why|who|if)\b", re.IGNORECASE)
_FORGET = re.compile(
    rf"^(?:forget|delete|remove|erase|drop|unlearn)"
    rf"(?: (?:the|this|your|that) (?:fact|note|observation|information))?(?:{_WHERE})? that "
    rf"(?P<said>\S.*?)(?:{_WHERE})?$|"
    r"^(?P<said_first>\S.*? no longer \S.*?)[,.;:]? (?:so |and |please )*"
    r"(?:forget|delete|remove|erase|drop) (?:that|it)$|"
    r"^(?P<said_not>\S.*? (?:any ?more|any longer))[,.;:]? (?:so |and |please )*"
    r"(?:forget|delete|remove|erase|drop) (?:that|it)\b.*$",
    re.IGNORECASE,
)
_TOLD_LAST = re.compile(
    rf"^(?P<said>\S.*?)[,.;:] (?:so |and |please |just |can you |could you )*(?:remember|memori[sz]e|save|store|note|"
    rf"record|keep|write|jot)(?: (?:this|that|it))(?: down)?(?: (?:connection|relation(?:ship)?|link|fact|down))?"
    rf"(?:{_WHERE})?(?: for (?:me|later))?$",
    re.IGNORECASE,
)
_RECALLED = re.compile(
    r"^(?:tell me |say |show me |list |recall |give me )?"
    r"(?:(?:what|which facts|anything|something|everything|all|much)(?: else| all)?(?: that)? )?"
    r"(?:(?:do|did|have|has|can|is) )?(?:there )?"
    r"(?:(?:you|we|i) (?:already )?"
    r"(?:know|remember|recall|have|got|(?:have )?(?:stored|noted|saved|kept|told you)|tell you)"
    r"(?: anything| something| much)?|is (?:known|stored|saved|noted|remembered))"
    r"(?: (?:stored|noted|saved|kept|written down|on file|on record))?"
    rf"(?:{_WHERE})? (?:about|on|of|regarding|concerning) (?P<name>\S.*?)(?:{_WHERE})?$|"
    r"^(?:remind me|tell me|refresh my memory)(?: of)? what (?:you know|i (?:have )?told you|you remember) "
    r"(?:about|of) (?P<name_told>\S.*)$|"
    r"^do you (?:still )?remember (?P<name_known>[A-Z][\w'-]*(?: [A-Z][\w'-]*)*)$|"
    rf"^(?:look up|check) (?P<name_sought>[\w' -]+?){_WHERE}$",
    re.IGNORECASE,
)
# "who in your memory drinks coffee"
_KNOWN_THERE = re.compile(rf"^[Ww]ho(?:(?P<said> [a-z]\S*(?: \S+)*?){_WHERE}|{_WHERE} (?P<said_behind>[a-z].*))$")
_EVERYTHING = re.compile(
    r"^(?:(?:show|tell|give|list|read)(?: me)? )?(?:everything|all|what)(?: that)? (?:else )?(?:do )?"
    r"(?:you(?:'ve| have)?|i(?:'ve| have)?) (?:remember(?:ed)?|know|stored|saved|noted|learn(?:ed|t)|told you)"
    rf"(?: to remember)?(?: (?:so far|already|until now))*(?:{_WHERE})?$",
    re.IGNORECASE,
)
_FIRST_KNOWN = re.compile(
    r"^(?:who|which \w+|what \w+)(?: (?:else|all))? (?:do|did) (?:you|i|we) (?:know|have|remember)"
    rf"(?: about)?(?:{_WHERE})? (?:that|who|which) (?:is |are |has |have )?(?P<said>\S.*)$",
    re.IGNORECASE,
)
_FORGOTTEN = re.compile(
    r"^(?:forget|delete|remove|erase|wipe|drop|clear)(?: out)? (?:about )?"
    r"(?:(?:(?:everything|all|anything|what|whatever)(?: that)?"
    r"(?: (?:you|we|i) (?:know|remember|have|stored|told you))?"
    rf"(?: there is)?(?:{_WHERE})? (?:about|on|of) (?:the )?(?:person |entity |entry )?)(?P<all>\S.*?)(?:{_WHERE})?|"
    r"(?:the )?(?:person |entity |entry |node )?(?P<name>[^\W\d_][\w' -]*?)"
    rf"(?:(?:{_WHERE})| (?:completely|entirely|altogether)))$",
    re.IGNORECASE,
)
_NAME = r"[A-Z][\w'-]*(?: [A-Z][\w'-]*)*"
_END_NAME = re.compile(rf"(?<=\w ){_NAME}$")
_BEINGS = (
    "person|man|woman|friend|colleague|coworker|neighbou?r|boss|teacher|student|doctor|client|customer|relative|"
    "brother|sister|cousin|aunt|uncle|child|son|daughter|dog|cat|pet|animal|horse|bird|company|firm|organi[sz]ation|"
    "team|club|project|city|town|country|place|event|entity|node|contact"
)
_NEW_ENTITY = re.compile(
    rf"^(?:(?:create|add|make|save|store|remember|record|note|put|register)(?: down)?(?:{_WHERE})? |"
    rf"(?:there(?:'s| is)|i have|i've got|i(?: have)? (?:just )?met|we have|meet) )"
    rf"(?:a|an|the|my|our|this)? ?(?:new )?(?P<kind>{_BEINGS})(?:{_WHERE})?"
    rf"(?: in (?:my|our) (?:life|family|house|office))?"
    rf"(?:,| (?:called|named|by the name of|whose name is))? (?P<name>(?-i:{_NAME})|\w+)(?:{_WHERE})?"
    rf"(?P<rest>(?:,| who| that| which| with| and)? ?.*)$",
    re.IGNORECASE,
)
_VERBS = (
    "is|are|was|were|has|have|had|does|doesn't|do|don't|did|didn't|isn't|aren't|will|won't|would|can|can't|could|must|"
    "should|likes?|loves?|hates?|wants?|needs?|works?|lives?|plays?|drinks?|eats?|owns?|speaks?|knows?|moved|got|went|"
    "prefers?|enjoys?|studies|studied|started|married|born|bought|sold|became|belongs?|runs?|goes|comes|takes?|keeps?|"
    "collects?|dislikes?|drives?|teaches|walks?|met|turned|quit|left|joined|retired|costs?|starts?|ends?|uses?|visits?|"
    "wears?|sings?|reads?|writes?|barks?|sleeps?|supports?|manages?|leads?|never|always|often|usually|no longer"
)
_STATED = (
    re.compile(rf"^(?P<subject>{_NAME})(?:'s|’s) (?P<said>\S.*)$"),
    re.compile(rf"^(?P<subject>{_NAME}) (?P<said>[a-z]\S*(?: .+)?)$"),
    re.compile(r"^(?P<subject>[\w-]+)(?:'s|’s) (?P<said>\S.*)$"),
    re.compile(
        rf"^(?P<subject>(?:(?:my|our|the|his|her) )?[\w-]+(?: [\w-]+)??(?: [\w-]+)??) (?P<said>(?:{_VERBS})\b.*)$",
        re.IGNORECASE,
    ),
)
_KIND = re.compile(
    r"^(?:is|was) (?:an?|my|our|the) (?:\w+ )??(?P<kind>[\w-]+)(?: (?:who|that|from|in|at|of|and|called)\b.*)?$"
)


@dataclass(frozen=True, slots=True)
class _Statement:
    subject: str
    said: str
    is_name: bool

    @property
    def kind(self) -> str:
        """The kind of thing that it says the subject is."""
        return found["kind"].casefold() if (found := _KIND.match(self.said)) else ""

    @property
    def guessed_kind(self) -> str:
        return "person" if self.is_name else "thing"


def _statement(said: str) -> _Statement | None:
    """The subject of a statement and what is said of it."""
    said = said.strip(" \"'“”.,")
    if _NO_STATEMENT.match(said):
        return None
    for form in _STATED:
        if found := form.match(said):
            subject = re.sub(r"^(?:the|my|our|his|her) ", "", found["subject"], flags=re.IGNORECASE)
            if subject.casefold() in ("i", "we", "you", "it", "he", "she", "they", "there"):
                if subject.casefold() not in ("i", "we"):
                    return None
                subject = "User"
            return _Statement(subject, found["said"].strip(" .,"), found["subject"][:1].isupper())
    return None


def _stated(plain: str, form: re.Pattern[str]) -> _Statement | None:
    found = form.match(plain)
    return _statement(next(filter(None, found.groups()))) if found else None


def _stated_first(plain: str) -> _Statement | None:
    """The statement of "Tom hates cilantro, remember that"."""
    return _stated(plain, _TOLD_LAST)


def _recalled(plain: str) -> str:
    """The name or the words that are asked about; "" if it is no such question."""
    if found := _RECALLED.match(plain):
        name = re.sub(r"^(?:the|my|our|a|an) ", "", next(filter(None, found.groups())), flags=re.IGNORECASE)
        is_list = name.islower() and re.search(
            rf" on (?:\w+ )?{re.escape(name)}$", plain
        )  # "what do we have on the list"
        return "" if is_list or name.casefold() in ("it", "this", "that", "me", "you", "yourself") else name
    if found := _FIRST_KNOWN.match(plain):
        return found["said"]
    if found := _KNOWN_THERE.match(plain):
        said = re.sub(r"^(?:is|are|has|have|knows?)\b ?", "", next(filter(None, found.groups())).strip())
        return said if said[:1].islower() and not said.startswith(("do ", "did ", "you ", "i ", "we ")) else ""
    return ""


def _forgotten_entity(plain: str) -> str:
    found = _FORGOTTEN.match(plain)
    name = (found["all"] or found["name"] or "") if found else ""
    return (
        "" if name.casefold() in ("it", "this", "that", "me", "everything", "all") or " that " in f"{name} " else name
    )


def _new_entity(plain: str) -> tuple[str, str, list[str]] | None:
    found = _NEW_ENTITY.match(plain)
    if not found:
        return None
    rest = re.sub(
        r"^[ ,]*(?:(?:and|but) )?(?:who|that|which|with|he|she|it|they|his|her)?(?:'s)?\b[ ,]*",
        lambda lead: "has " if "with" in lead[0] else "is " if "'s" in lead[0] else "",
        found["rest"].strip(),
    )
    rest = re.sub(rf"{_WHERE}$", "", f" {rest}", flags=re.IGNORECASE).strip(" .,")
    if not found["name"][:1].isupper() and not re.search(r"called|named|name", plain):
        return None
    return found["name"], found["kind"].casefold(), [rest] if rest else []

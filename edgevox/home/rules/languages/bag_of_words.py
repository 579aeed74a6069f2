"""Reads a request whatever the order of its words, if every word of it is known.

Templates have an order, and people have another: "in de keuken alle lampen graag uit". Here a sentence is a bag of
phrases: names of the home, and the words of a language (`words` and `sensors.classes` of its file). A word that is not
known makes it unreadable, so that talk is not taken for a command; so does a second name or room, which may be two
commands in one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import Any, TypeAlias

from edgevox.home.rules.languages.templates import Match, Names, fold, own_file

_Phrase: TypeAlias = tuple[str, ...]
_Kind: TypeAlias = tuple[str, str]
"""A domain and a class, "" for any."""

_PIECE = re.compile(r"\d+(?:[.,]\d+)?|[%°]|\w+'?|'\w+")
_MAX_PHRASE_WORDS = 6
_SENSOR = "binary_sensor"
_ON_OFF = frozenset(
    {
        "light",
        "switch",
        "fan",
        "media_player",
        "input_boolean",
        "climate",
        "humidifier",
        "siren",
        "automation",
        "remote",
    }
)
# What "open" or "lock" does to things of a domain; other domains are turned on and off.
_ACTS: Mapping[str, Mapping[str, str]] = {
    "cover": {"open": "HassTurnOn", "close": "HassTurnOff"},
    "valve": {"open": "HassTurnOn", "close": "HassTurnOff"},
    "scene": {"on": "HassTurnOn"},
    "script": {"on": "HassTurnOn"},
    "lock": {"lock": "HassTurnOn", "close": "HassTurnOn", "unlock": "HassTurnOff", "open": "HassTurnOff"},
}
_SWITCHED: Mapping[str, str] = {"on": "HassTurnOn", "off": "HassTurnOff"}
_STATES: Mapping[str, tuple[str, ...]] = {
    "cover": ("open", "closed", "opening", "closing"),
    "valve": ("open", "closed", "opening", "closing"),
    "lock": ("locked", "unlocked"),
    "person": ("home", "not_home"),
}
_OPPOSITES = {"on": "off", "open": "closed", "locked": "unlocked", "home": "not_home"}
_OPPOSITES |= {second: first for first, second in _OPPOSITES.items()}
# The slot of a percentage, and the intent, for each domain that has one.
_LEVELS: Mapping[str, tuple[str, str]] = {
    "light": ("HassLightSet", "brightness"),
    "cover": ("HassSetPosition", "position"),
    "valve": ("HassSetPosition", "position"),
    "fan": ("HassFanSetSpeed", "percentage"),
    "media_player": ("HassSetVolume", "volume_level"),
}
_DOOR = "kind:cover/door"  # a door has a lock
_WATCHED = frozenset({("cover", "door"), ("cover", "window")})  # there are more of their sensors than of motors
_NOUNS = ("kind:", "thing:", "measure", "status", "level:")


@dataclass(frozen=True, slots=True)
class _Token:
    """A phrase of the sentence: its tags, and what it stands for if it is a name, a place or a number."""

    tags: frozenset[str]
    entities: tuple[tuple[str, _Kind], ...] = ()
    area: str = ""
    floor: str = ""
    number: float | None = None

    def is_any(self, allowed: Collection[str]) -> bool:
        return not self.tags.isdisjoint(allowed)


@dataclass(slots=True)
class _Bag:
    """The tokens of a sentence, by what they are."""

    words: list[_Token] = field(default_factory=list)
    names: list[_Token] = field(default_factory=list)
    areas: list[str] = field(default_factory=list)
    floors: list[str] = field(default_factory=list)
    numbers: list[float] = field(default_factory=list)

    @property
    def places(self) -> dict[str, str]:
        return {slot: found[0] for slot, found in (("area", self.areas), ("floor", self.floors)) if found}

    def has(self, *tags: str) -> bool:
        return any(token.is_any(tags) for token in self.words)

    def has_only(self, allowed: Collection[str]) -> bool:
        return all(token.is_any(allowed) for token in self.words)

    def kinds(self) -> Iterator[_Kind]:
        """The kinds of things of which the sentence may speak."""
        tags = dict.fromkeys(tag for token in self.words for tag in sorted(token.tags) if tag.startswith("kind:"))
        for tag in tags:
            domain, _, device_class = tag.removeprefix("kind:").partition("/")
            if domain != "sensor":
                yield domain, device_class
        if not tags and self.places and self.has("do:on", "do:off"):  # "éteins la cuisine"
            yield "light", ""
        if _DOOR in tags:
            yield "lock", ""
        if self.has("is:home", "is:not_home"):
            yield "person", ""


def read_words(text: str, language: str, names: Names) -> Match | None:
    """What a sentence asks for, by its words alone; None if a word is not known, or they do not say it."""
    grammar = own_file(language)
    if "words" not in grammar:
        return None
    tokens = _tokens(_pieces(text), _vocabulary(language), _labels(names), grammar.get("compound_links", ""))
    if tokens is None:
        return None
    tokens = _with_one_role(tokens)
    at_home = frozenset(kind for token in _labels(names).values() for _, kind in token.entities)
    return next(
        (found for bag in _bags(tokens) if (found := _question(bag, tokens, at_home) or _command(bag, at_home))), None
    )


# --- words


def _pieces(text: str) -> list[str]:
    return _PIECE.findall(fold(text.replace("-", " ").replace("\u2019", "'")).casefold())


def spellings(template: str) -> Iterator[str]:
    """All spellings of a template: "lamp[en]|licht(en|jes)" is "lamp", "lampen", "lichten" and "lichtjes"."""
    for one in re.split(r"\|(?![^(\[]*[)\]])", template):
        if (group := re.search(r"([(\[])([^()\[\]]*)[)\]]", one)) is None:
            yield one
            continue
        for choice in (*group[2].split("|"), "") if group[1] == "[" else group[2].split("|"):
            yield from spellings(one[: group.start()] + choice + one[group.end() :])


@cache
def _vocabulary(language: str) -> Mapping[_Phrase, _Token]:
    """The phrases of a language and their tags."""
    from hassil.numbers import get_rbnf_engine

    grammar = own_file(language)
    tags: dict[_Phrase, set[str]] = {}

    def add(phrases: str, *names: str) -> None:
        for phrase in spellings(phrases):
            tags.setdefault(tuple(_pieces(phrase)), set()).update(names)

    for name, value in grammar["words"].items():
        if isinstance(value, str):
            add(value, name)
        else:
            for detail, phrases in value.items():
                add(phrases, f"{name}:{detail}")
    for device_class, one in grammar["sensors"]["classes"].items():
        for part, tag in (("things", "thing"), ("on", "state_on"), ("verbs", "state_on"), ("off", "state_off")):
            if part in one:
                add(one[part], f"{tag}:{device_class}")
        if "found" in one:  # "is there smoke"
            add(one["things"], f"found:{device_class}")
    known = {phrase: _Token(frozenset(found)) for phrase, found in tags.items() if phrase}
    engine = get_rbnf_engine(language)
    for number in range(101):
        for spelling in engine.format_number(number).text_by_ruleset.values():
            known.setdefault(tuple(_pieces(str(spelling))), _Token(frozenset({"number"}), number=number))
    return known


@lru_cache(maxsize=4)
def _labels(names: Names) -> Mapping[_Phrase, _Token]:
    """The names of the home; one label may be a thing and a room."""
    found: dict[_Phrase, _Token] = {}
    for slot, label, name, context in names.entries:
        phrase = tuple(_pieces(label))
        one = found.get(phrase, _Token(frozenset()))
        match slot:
            case "area":
                one = _Token(one.tags, one.entities, name, one.floor)
            case "floor":
                one = _Token(one.tags, one.entities, one.area, name)
            case _:
                entity = name, (str(context["domain"]), str(context.get("device_class", "")))
                one = _Token(one.tags, (*one.entities, entity), one.area, one.floor)
        found[phrase] = one
    return found


def _tokens(
    pieces: Sequence[str], words: Mapping[_Phrase, _Token], labels: Mapping[_Phrase, _Token], links: str
) -> list[_Token] | None:
    """The phrases of a sentence, the longest first; None if a word is not known."""
    tokens: list[_Token] = []
    at = 0
    while at < len(pieces):
        for length in range(min(_MAX_PHRASE_WORDS, len(pieces) - at), 0, -1):
            phrase = tuple(pieces[at : at + length])
            if token := labels.get(phrase) or words.get(phrase):
                tokens.append(token)
                at += length
                break
        else:
            piece = pieces[at]
            if piece[0].isdigit():
                tokens.append(_Token(frozenset({"number"}), number=float(piece.replace(",", "."))))
            elif parts := _parted(piece, words, labels, links):
                tokens += parts
            else:
                return None
            at += 1
    return tokens


def _parted(
    word: str, words: Mapping[_Phrase, _Token], labels: Mapping[_Phrase, _Token], links: str
) -> tuple[_Token, _Token] | None:
    """The two parts of a compound of a name and a noun: "keukenlicht"."""
    if not links:
        return None
    for label, token in labels.items():
        if len(label) != 1 or not word.startswith(label[0]):
            continue
        rest = word.removeprefix(label[0])
        for noun in (rest, re.sub(rf"^(?:{links})", "", rest)):
            found = words.get((noun,))
            if found and any(tag.startswith(_NOUNS) for tag in found.tags):
                return token, found
    return None


def _with_one_role(tokens: list[_Token]) -> list[_Token]:
    """The tokens with "auf" and "zu" of German as prepositions, and as what is wanted at the end of a sentence."""
    roles = ("do:", "is:", "state_")
    return [
        token
        if "fill" not in token.tags
        else _Token(frozenset(tag for tag in token.tags if not tag.startswith(roles)))
        if at < len(tokens) - 1
        else _Token(token.tags - {"fill"} or token.tags)
        for at, token in enumerate(tokens)
    ]


def _bags(tokens: Iterable[_Token]) -> Iterator[_Bag]:
    """The sentence with labels of things and rooms taken as rooms, then as things."""
    for is_place_first in (True, False):
        bag = _Bag()
        for token in tokens:
            if token.number is not None:
                bag.numbers.append(token.number)
            elif (token.area or token.floor) and (is_place_first or not token.entities):
                places = bag.areas if token.area else bag.floors
                places += [] if (token.area or token.floor) in places else [token.area or token.floor]
            elif token.entities:
                bag.names += [] if token in bag.names else [token]
            else:
                bag.words.append(token)
        if max(len(bag.names), len(bag.areas), len(bag.floors), len(bag.numbers)) <= 1:
            yield bag


# --- questions

_ALWAYS = frozenset({"fill", "all", "here"})


def _question(bag: _Bag, tokens: Sequence[_Token], at_home: Collection[_Kind]) -> Match | None:
    first = next((token for token in tokens if token.tags != {"fill"}), None)
    if first is None or bag.numbers:
        return None
    if (first.is_any(("what", "status")) or not bag.has("ask")) and (found := _value(bag)):
        return found
    if not first.is_any(("ask",)):
        return None
    is_not = bag.has("not")
    allowed = _ALWAYS | {"ask", "not", "status"}
    for name, kind in bag.names[0].entities if bag.names else ():
        if state := _state(bag, kind, allowed):
            return Match("HassGetState", {"name": name, **bag.places, "state": _OPPOSITES[state] if is_not else state})
    if bag.names:
        return None
    for domain, device_class in _known_first((*bag.kinds(), *_sensor_kinds(bag)), at_home):
        if state := _state(bag, (domain, device_class), allowed):
            slots = {"domain": domain, **({"device_class": device_class} if device_class else {}), **bag.places}
            return Match("HassGetState", {**slots, "state": _OPPOSITES[state] if is_not else state})
    return None


def _known_first(kinds: Iterable[_Kind], at_home: Collection[_Kind]) -> list[_Kind]:
    """The kinds that the home has before the others; a sensor of a door or window before the thing itself."""
    domains = {domain for domain, _ in at_home}

    def rank(kind: _Kind) -> tuple[bool, bool]:
        is_known = kind in at_home or (not kind[1] and kind[0] in domains)
        return not is_known, kind in _WATCHED

    return sorted(dict.fromkeys(kinds), key=rank)


def _value(bag: _Bag) -> Match | None:
    """A question for the value or the state of a thing with a name."""
    allowed = _ALWAYS | {"ask", "what", "measure", "status"}
    for name, kind in bag.names[0].entities if bag.names else ():
        nouns = {tag for token in bag.words for tag in token.tags if tag in (f"kind:{kind[0]}", "kind:sensor")}
        is_asked = bag.has("status") or (kind[0] == "sensor" and bag.has("measure", "what"))
        if is_asked and bag.has_only(allowed | nouns):
            return Match("HassGetState", {"name": name, **bag.places})
    return None


def _sensor_kinds(bag: _Bag) -> Iterator[_Kind]:
    tags = dict.fromkeys(
        tag for token in bag.words for tag in sorted(token.tags) if tag.startswith(("thing:", "state_on:"))
    )
    things = [tag.partition(":")[2] for tag in tags if tag.startswith("thing:")]
    yield from ((_SENSOR, one) for one in dict.fromkeys((*things, *(tag.partition(":")[2] for tag in tags))))


def _state(bag: _Bag, kind: _Kind, allowed: Collection[str]) -> str:
    """The state that is asked for of things of a kind; "" if the words say none, or say something else too."""
    domain, device_class = kind
    if domain == _SENSOR:
        return _sensor_state(bag, device_class, allowed)
    states = _STATES.get(domain, ("on", "off"))
    nouns = {f"kind:{domain}"} | {tag for token in bag.words for tag in token.tags if tag.startswith(f"kind:{domain}/")}
    if domain == "lock":
        nouns |= {_DOOR}
    said = [state for state in states if bag.has(f"is:{state}")]
    if not said or not bag.has_only({*allowed, *nouns, *(f"is:{state}" for state in states)}):
        return ""
    return said[0] if len(said) == 1 else ""


def _sensor_state(bag: _Bag, device_class: str, allowed: Collection[str]) -> str:
    suffix = f":{device_class}" if device_class else ":"
    tags = {tag for token in bag.words for tag in token.tags if tag.endswith(suffix) or not device_class}
    on, off, things = (
        {tag for tag in tags if tag.startswith(start)}
        for start in (f"state_on{suffix}", f"state_off{suffix}", f"thing{suffix}")
    )
    if not bag.has_only({*allowed, "kind:sensor", "detect", *on, *off, *things}):
        return ""
    is_off = any(token.is_any(off) and not token.is_any(on) for token in bag.words)
    is_on = any(token.is_any(on) and not token.is_any(off) for token in bag.words)
    if is_on and is_off:
        return ""
    if is_off:
        return "off"
    return "on" if is_on or bag.has(f"found{suffix}") else ""


# --- commands


def _command(bag: _Bag, at_home: Collection[_Kind]) -> Match | None:
    if bag.has("not"):
        return None
    for name, kind in bag.names[0].entities if bag.names else ():
        if found := _act(bag, kind, {"name": name, **bag.places}):
            return found
    if bag.names:
        return None
    is_here = not bag.places and not bag.has("all")
    for domain, device_class in _known_first(bag.kinds(), at_home):
        slots = {"domain": domain, **({"device_class": device_class} if device_class else {}), **bag.places}
        if found := _act(bag, (domain, device_class), slots):
            return Match(found.intent, found.slots, is_here)
    return None


def _act(bag: _Bag, kind: _Kind, slots: Mapping[str, Any]) -> Match | None:
    """The command for things of a kind."""
    domain, _ = kind
    nouns = {
        tag for token in bag.words for tag in token.tags if tag == f"kind:{domain}" or tag.startswith(f"kind:{domain}/")
    }
    if domain == "lock":
        nouns |= {_DOOR}
    allowed = _ALWAYS | {"verb"} | nouns
    if bag.numbers:
        return _level(bag, domain, slots, allowed)
    acts = _ACTS.get(domain) or (_SWITCHED if domain in _ON_OFF else {})
    said = [
        {acts[act] for act in acts if f"do:{act}" in token.tags} for token in bag.words if not token.is_any(allowed)
    ]
    said = said or [{acts[act] for act in acts if f"do:{act}" in token.tags} for token in bag.words]
    wanted = set.intersection(*filter(None, said)) if any(said) else set()
    if len(wanted) != 1 or not bag.has_only({*allowed, *(f"do:{act}" for act in acts)}):
        return None
    return Match(wanted.pop(), slots)


def _level(bag: _Bag, domain: str, slots: Mapping[str, Any], allowed: Collection[str]) -> Match | None:
    if domain not in _LEVELS:
        return None
    intent, slot = _LEVELS[domain]
    level = f"level:{slot}"
    if not bag.has("percent", level) or not bag.has_only({*allowed, "percent", "to", level, "do:open", "do:close"}):
        return None
    number = bag.numbers[0]
    return Match(intent, {**slots, slot: int(number)}) if 0 <= number <= 100 else None

"""Builds the home's system prompt, and the list of names for ASR biasing.

A large home is cut to its most useful entities. The fixed part depends on names, places and kinds only, never
on states, so that it can stay in the prefix cache. Entities that an utterance mentions and the fixed part
lacks are added behind it.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, TypeVar

from edgevox.config.sections import HomeSettings
from edgevox.core.errors import StateError
from edgevox.core.words import Words, normalized_words, word_set, words_with_plurals
from edgevox.home.entities import Area, Entity, Floor, HomeError, House
from edgevox.home.prompt_text import (
    HOME_INSTRUCTIONS,
    area_lines,
    home_instructions,
    home_names,
    home_prompt,
    names_in_order,
    sanitize_name,
)
from edgevox.home.resolve.fuzzy import HOUSE_WORDS, fuzzy_readings
from edgevox.home.resolve.labels import Label, Labels, every_kind_word, labels_of, place_words, vocabulary

_DOMAINS_BY_USE = (
    "light", "switch", "cover", "climate", "media_player", "lock", "fan", "vacuum", "scene", "script", "todo",
    "input_boolean", "valve", "lawn_mower",
)  # fmt: skip
_ORDER = {domain: place for place, domain in enumerate(_DOMAINS_BY_USE)}

# With long names and many aliases a house is cut sooner: a context holds tokens, not things.
_LETTERS_PER_THING = 100
_LETTERS_OF_A_KIND = 20
_MOST_ALIASES = 2

_NamedT = TypeVar("_NamedT", bound=Entity | Area | Floor)


def fixed_part(house: House, max_things: int) -> House:
    """The house as a model always sees it: all of it, or what `max_things` things may take of a prompt."""
    letters = max_things * _LETTERS_PER_THING
    if len(house.entities) <= max_things and _letters(home_prompt(house)) <= letters:
        return house
    floors = _fitting(_by_name(house.floors), letters // 8)
    # An area's name stands in its floor's line, and once more where its own begins.
    areas = _fitting(_by_name(house.areas), letters // 8)
    things = itertools.islice(by_usefulness(house), max_things)
    return House(_fitting(things, letters * 5 // 8), areas, floors)


def by_usefulness(house: House) -> Iterator[Entity]:
    """Everything, first what people speak to most: one thing of each area, then one more of each, and so on.

    In an area, the first of each kind comes before the second of any.
    """
    by_area = defaultdict[str | None, list[Entity]](list)
    for entity in house.entities:
        by_area[entity.area].append(entity)
    ranked = list[tuple[bool, int, str, Entity]]()
    for area, things in by_area.items():
        for turn, entity in enumerate(_first_of_each_kind_first(things)):
            # The first of an area may be a sensor: without it, nothing would tell that there is such an area.
            is_late = turn > 0 and entity.domain not in _ORDER
            ranked.append((is_late, turn, area or "", entity))
    return (entity for *_, entity in sorted(ranked, key=lambda rank: rank[:3]))


def with_few_aliases(things: Iterable[_NamedT]) -> Iterator[_NamedT]:
    """The things, each with no more aliases than a large house has room for."""
    return (replace(thing, aliases=thing.aliases[:_MOST_ALIASES]) for thing in things)


def _first_of_each_kind_first(things: Iterable[Entity]) -> list[Entity]:
    counts = Counter[str]()
    ranked = list[tuple[bool, int, int, Entity]]()
    for entity in sorted(things, key=_as_said):
        domain = entity.domain
        ranked.append((domain not in _ORDER, counts[domain], _ORDER.get(domain, len(_ORDER)), entity))
        counts[domain] += 1
    return [entity for *_, entity in sorted(ranked, key=lambda rank: rank[:3])]


def _as_said(entity: Entity) -> tuple[bool, int, str, str]:
    """Who gives a thing an alias means to speak to it, and a short name is said sooner than a long one."""
    return not entity.aliases, len(normalized_words(entity.name)), entity.name.casefold(), entity.id


def _fitting(things: Iterable[_NamedT], letters: int) -> tuple[_NamedT, ...]:
    """The first of the things, as many as fit in."""
    fitting = list[_NamedT]()
    for thing in with_few_aliases(things):
        names = (sanitize_name(name) for name in (thing.name, *thing.aliases))
        letters -= _letters(", ".join(names)) + _LETTERS_OF_A_KIND
        if letters < 0:
            break
        fitting.append(thing)
    return tuple(fitting)


def _letters(text: str) -> int:
    """How much of a prompt a text takes, in plain letters.

    Four of them are a token; a Greek or Cyrillic letter is up to three quarters of one, a Chinese one three.
    """
    return sum(1 if letter.isascii() else 3 if letter < "\u0800" else 12 for letter in text)


def _by_name(places: tuple[_NamedT, ...]) -> tuple[_NamedT, ...]:
    return tuple(sorted(places, key=lambda place: (place.name.casefold(), place.id)))


MAX_MENTIONED = 8
"""A sentence names no more things than this: what fits more of them is a word for many."""

# Words of commands and questions. In a name they tell nothing: who plays jazz does not name the Play Room.
_COMMAND_WORDS = word_set(
    """
    activate add again alarm all also and announce any are be brighter bring can change check clean close
    colder cool could cover current dark degree did dim do does down everything for from get give go good half
    have hello hey higher hour how hundred i is it item kind last left level list lock low lower make many me
    media minute more music mute need next no not now off okay open out pause percent play please put quiet
    quieter read remind remove resume right run say second set show skip some start state status still stop
    switch tell than thank them there think time timer to today tomorrow too turn unlock unmute up us volume
    want warm warmer was we weather week were what when where which who will with would yes you
    """
)
_MANY = _COMMAND_WORDS | every_kind_word()


def mentioned_entities(house: House, sentence: str, told: Collection[str]) -> tuple[Entity, ...]:
    """What the sentence names and is not among those `told`, which are ids; at most MOST_NAMED things."""
    known = labels_of(house)
    heard = normalized_words(sentence)
    fits = _fits(house, known, _Utterance(heard, words_with_plurals(sentence)))
    if not fits:
        others = fuzzy_readings(heard, vocabulary(house, known.values()) | _COMMAND_WORDS)
        tried = (_fits(house, known, _Utterance(reading, reading)) for reading in others)
        fits = next(filter(None, tried), [])
    found = list[Entity]()
    for alike in _best(fits):
        if len(alike) <= MAX_MENTIONED:
            found += (entity for entity in alike if entity.id not in told)
    return tuple(found[:MAX_MENTIONED])


class _Utterance:
    """The words of a sentence: singular, with neighbours joined ("bed room"), and as they were spoken."""

    def __init__(self, heard: Words, spoken: Words) -> None:
        self.words = frozenset((*heard, *("".join(pair) for pair in itertools.pairwise(heard))))
        self.spoken = frozenset(spoken)
        self._in_order = f" {' '.join(heard)} "

    def has_in_a_row(self, name: str) -> bool:
        return f" {' '.join(normalized_words(name))} " in self._in_order


@dataclass(frozen=True, slots=True)
class _Fit:
    """A thing that is perhaps meant: the words of the sentence that it explains, and how they stand there."""

    entity: Entity
    said: frozenset[str]
    is_in_a_row: bool


def _best(fits: Sequence[_Fit]) -> Iterator[list[Entity]]:
    """Things that explain most, in groups that explain the same.

    "The attic fan and the cellar light" are not the attic light: other names have its words, and in a row.
    """
    in_rows = frozenset[str]().union(*(fit.said for fit in fits if fit.is_in_a_row))
    groups = defaultdict[frozenset[str], list[Entity]](list)
    for fit in fits:
        is_elsewhere = not fit.is_in_a_row and fit.said <= in_rows
        if not is_elsewhere and not any(fit.said < other.said for other in fits):
            groups[fit.said].append(fit.entity)
    return (groups[said] for said in sorted(groups, key=len, reverse=True))


def _fits(house: House, known: Mapping[str, Labels], said: _Utterance) -> list[_Fit]:
    """What is named in whole; where nothing is, what is named in part."""
    places = place_words(house.places)
    whole, part = list[_Fit](), list[_Fit]()
    for entity in house.entities:
        its = known[entity.id]
        if its.words.isdisjoint(said.words):
            continue
        explained = (its.words | its.extra) & said.words
        names = (entity.name, *entity.aliases)
        labels = zip(names, its.labels, strict=True)
        if any(_is_whole(name, label, said) for name, label in labels):
            whole.append(_Fit(entity, explained, any(map(said.has_in_a_row, names))))
        elif any(_is_part(label, said, places) for label in its.labels):
            part.append(_Fit(entity, explained, is_in_a_row=False))
    return whole or part


def _is_whole(name: str, label: Label, said: _Utterance) -> bool:
    """True when all that tells a thing from others is said, or, where nothing does, all of its name."""
    if _telling(label):
        return label.told_by <= said.words
    return said.spoken.issuperset(words_with_plurals(name))  # the kitchen lights are not the Kitchen Light


def _is_part(label: Label, said: _Utterance, places: frozenset[str]) -> bool:
    common = label.told_by & said.words
    return 2 * len(common) >= len(label.told_by) and bool((common & _telling(label)) - places)


def _telling(label: Label) -> frozenset[str]:
    """The words of a name that no command and no other kind of thing is likely to have."""
    return frozenset(word for word in label.told_by - _MANY if not word.isdigit())


MAX_ENTITIES = HomeSettings().max_things
"""A model is told of so many things, where the user says nothing else."""

# A recogniser's prompt holds fewer: a name has two tokens at least.
_MAX_ASR_NAMES = 64

_Names: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _FixedPrompt:
    """What is always told of a house: names to a recogniser, and `text`, of the things with these ids."""

    made_of: _Names
    text: str
    ids: frozenset[str]
    names: tuple[str, ...]
    all_names: tuple[str, ...]


class HomePrompt:
    """The instructions of an assistant that runs a home, with `before` in front of them.

    `house` gives the home as it is now; while it raises HomeError or StateError, nothing is told of the home.
    """

    def __init__(self, house: Callable[[], House], *, max_things: int = MAX_ENTITIES, before: str = "") -> None:
        self._house = house
        self._max_things = max_things
        self._before = before
        self._last: tuple[House, _FixedPrompt] | None = None

    def for_utterance(self, text: str) -> str:
        """What is always told, and behind it lines of those other things that the sentence names."""
        try:
            house = self._house()
        except (HomeError, StateError):
            return self._behind_before(HOME_INSTRUCTIONS)
        told = self._told(house)
        if not text or len(told.ids) == len(house.entities):
            return told.text
        named = mentioned_entities(house, text, told.ids)
        if not named:
            return told.text
        shown = House(tuple(with_few_aliases(named)), tuple(with_few_aliases(house.areas)))
        return f"{told.text}\n{area_lines(shown)}"

    def names(self) -> tuple[str, ...]:
        """Names for priming the recogniser, which takes as many as it has room for, from the first on."""
        told = self._told_now()
        return told.names if told else ()

    def all_names(self) -> tuple[str, ...]:
        """Every name and alias of the house, for finding out what was misheard."""
        told = self._told_now()
        return told.all_names if told else ()

    def _told_now(self) -> _FixedPrompt | None:
        try:
            return self._told(self._house())
        except (HomeError, StateError):
            return None

    def _told(self, house: House) -> _FixedPrompt:
        last = self._last
        if last is not None and last[0] is house:
            return last[1]
        made_of = _names(house)
        if last is not None and last[1].made_of == made_of:
            told = last[1]
        else:
            part = fixed_part(house, self._max_things)
            all_names = home_names(house)
            told = _FixedPrompt(
                made_of,
                self._behind_before(home_instructions(part)),
                frozenset(entity.id for entity in part.entities),
                rare_words_first(all_names) if part is house else _most_useful_names(house),
                all_names,
            )
        self._last = house, told
        return told

    def _behind_before(self, instructions: str) -> str:
        return "\n".join(filter(None, (self._before, instructions)))


def _names(house: House) -> _Names:
    """All of a house that a prompt depends on."""
    things = tuple(
        (entity.id, entity.name, entity.aliases, entity.domain, entity.device_class, entity.area)
        for entity in house.entities
    )
    return things, house.areas, house.floors


def _most_useful_names(house: House) -> tuple[str, ...]:
    places = sorted(house.places, key=lambda place: (place.name.casefold(), place.id))
    things = with_few_aliases((*places, *by_usefulness(house)))
    return rare_words_first(names_in_order(things))[:_MAX_ASR_NAMES]


def rare_words_first(names: Iterable[str]) -> tuple[str, ...]:
    """The names, first those with a word that a recogniser has not seen before and may misspell."""
    seen = set(HOUSE_WORDS | every_kind_word())
    unusual, usual = list[str](), list[str]()
    for name in names:
        new = {word for word in normalized_words(name) if not word.isdigit()} - seen
        (unusual if new else usual).append(name)
        seen |= new
    return (*unusual, *usual)

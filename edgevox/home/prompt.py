"""Builds the home's system prompt, and the list of names for ASR biasing.

A large home is cut to its most useful entities. The fixed part depends only on names, places and kinds, never
on states, so that it stays in the prefix cache. Entities that an utterance mentions and the fixed part lacks
are appended to it.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeAlias, TypeVar

from edgevox.config.sections import HomeSettings
from edgevox.core.errors import StateError
from edgevox.core.words import Words, normalized_words, words_with_plurals
from edgevox.home import prompt_text
from edgevox.home.entities import Area, Entities, Entity, Floor, HomeError, House
from edgevox.home.resolve.fuzzy import fuzzy_readings, known_words
from edgevox.home.resolve.labels import Label, Labels, every_kind_word, labels_of, place_words, vocabulary

_DOMAINS_BY_USE = (
    "light", "switch", "cover", "climate", "media_player", "lock", "fan", "vacuum", "scene", "script", "todo",
    "input_boolean", "valve", "lawn_mower",
)  # fmt: skip
_ORDER = {domain: place for place, domain in enumerate(_DOMAINS_BY_USE)}

# A home with long names and many aliases is cut sooner, because the context limits tokens, not entities.
_LETTERS_PER_THING = 100
_LETTERS_OF_A_KIND = 20
_MOST_ALIASES = 2

_NamedT = TypeVar("_NamedT", bound=Entity | Area | Floor)


def fixed_part(house: House, max_things: int) -> House:
    """The part of the home that is in every prompt: all of it, or as much as fits the space of `max_things`."""
    letters = max_things * _LETTERS_PER_THING
    if len(house.entities) <= max_things and _letters(prompt_text.home_prompt(house)) <= letters:
        return house
    floors = _fitting(_by_name(house.floors), letters // 8)
    # An area's name appears in the line of its floor, and again at the start of its own.
    areas = _fitting(_by_name(house.areas), letters // 8)
    things = itertools.islice(by_usefulness(house), max_things)
    return House(_fitting(things, letters * 5 // 8), areas, floors)


def by_usefulness(house: House) -> Iterator[Entity]:
    """All entities, the most used first: one of each area, then a second one of each, and so on.

    Within an area, the first of each kind comes before the second of any.
    """
    by_area = defaultdict[str | None, list[Entity]](list)
    for entity in house.entities:
        by_area[entity.area].append(entity)
    ranked = list[tuple[bool, int, str, Entity]]()
    for area, things in by_area.items():
        for turn, entity in enumerate(_first_of_each_kind_first(things)):
            # The first entity of an area is kept even if it is a sensor: otherwise the area would not appear.
            is_late = turn > 0 and entity.domain not in _ORDER
            ranked.append((is_late, turn, area or "", entity))
    return (entity for *_, entity in sorted(ranked, key=lambda rank: rank[:3]))


def with_few_aliases(things: Iterable[_NamedT]) -> Iterator[_NamedT]:
    """The entities, each with no more aliases than a large home has room for."""
    return (replace(thing, aliases=thing.aliases[:_MOST_ALIASES]) for thing in things)


def _first_of_each_kind_first(things: Iterable[Entity]) -> list[Entity]:
    counts = Counter[str]()
    ranked = list[tuple[bool, int, int, Entity]]()
    for entity in sorted(things, key=_alias_first):
        domain = entity.domain
        ranked.append((domain not in _ORDER, counts[domain], _ORDER.get(domain, len(_ORDER)), entity))
        counts[domain] += 1
    return [entity for *_, entity in sorted(ranked, key=lambda rank: rank[:3])]


def _alias_first(entity: Entity) -> tuple[bool, int, str, str]:
    """Sort key: entities with an alias first, because it was made for speaking, and then short names."""
    return not entity.aliases, len(normalized_words(entity.name)), entity.name.casefold(), entity.id


def _fitting(things: Iterable[_NamedT], letters: int) -> tuple[_NamedT, ...]:
    """As many of the first entities as fit."""
    fitting = list[_NamedT]()
    for thing in with_few_aliases(things):
        names = (prompt_text.sanitize_name(name) for name in (thing.name, *thing.aliases))
        letters -= _letters(", ".join(names)) + _LETTERS_OF_A_KIND
        if letters < 0:
            break
        fitting.append(thing)
    return tuple(fitting)


def _letters(text: str) -> int:
    """The length of a text in the prompt, in ASCII letters.

    Four of them are a token; a Greek or Cyrillic letter is up to three quarters of a token, a Chinese one three.
    """
    return sum(1 if letter.isascii() else 3 if letter < "\u0800" else 12 for letter in text)


def _by_name(places: Iterable[_NamedT]) -> list[_NamedT]:
    return sorted(places, key=lambda place: (place.name.casefold(), place.id))


MAX_MENTIONED = 8
"""A sentence mentions no more entities than this; words that match more are generic."""


@cache
def _common_words() -> frozenset[str]:
    """Words of commands and kinds, which do not identify an entity: "play jazz" does not mention the Play Room."""
    return known_words("commands") | every_kind_word()


def mentioned_entities(house: House, sentence: str, excluded: Collection[str]) -> Entities:
    """The entities that the sentence mentions, without the ids in `excluded`; at most MAX_MENTIONED."""
    known = labels_of(house)
    heard = normalized_words(sentence)
    fits = _fits(house, known, _Utterance(heard, words_with_plurals(sentence)))
    if not fits:
        others = fuzzy_readings(heard, vocabulary(house, known.values()) | known_words("commands"))
        tried = (_fits(house, known, _Utterance(reading, reading)) for reading in others)
        fits = next(filter(None, tried), [])
    found = list[Entity]()
    for alike in _best(fits):
        if len(alike) <= MAX_MENTIONED:
            found += (entity for entity in alike if entity.id not in excluded)
    return tuple(found[:MAX_MENTIONED])


class _Utterance:
    """The words of a sentence: in the singular, with neighbours joined ("bed room"), and as spoken."""

    def __init__(self, heard: Words, spoken: Words) -> None:
        self.words = frozenset((*heard, *("".join(pair) for pair in itertools.pairwise(heard))))
        self.spoken = frozenset(spoken)
        self._in_order = f" {' '.join(heard)} "

    def has_in_a_row(self, name: str) -> bool:
        return f" {' '.join(normalized_words(name))} " in self._in_order


@dataclass(frozen=True, slots=True)
class _Fit:
    """A candidate entity: which words of the sentence it explains, and whether they are adjacent."""

    entity: Entity
    said: frozenset[str]
    is_in_a_row: bool


def _best(fits: Sequence[_Fit]) -> Iterator[list[Entity]]:
    """The candidates that explain most words, grouped by the words that they explain.

    "The attic fan and the cellar light" does not mention the attic light: other names have its words, and adjacent.
    """
    in_rows = frozenset[str]().union(*(fit.said for fit in fits if fit.is_in_a_row))
    groups = defaultdict[frozenset[str], list[Entity]](list)
    for fit in fits:
        is_elsewhere = not fit.is_in_a_row and fit.said <= in_rows
        if not is_elsewhere and not any(fit.said < other.said for other in fits):
            groups[fit.said].append(fit.entity)
    return (groups[said] for said in sorted(groups, key=len, reverse=True))


def _fits(house: House, known: Mapping[str, Labels], said: _Utterance) -> list[_Fit]:
    """The entities mentioned by their full name; if there are none, by a part of it."""
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
    """True if all distinctive words of a name are said, or, if it has none, the whole name."""
    if _distinctive_words(label):
        return label.distinctive <= said.words
    return said.spoken.issuperset(words_with_plurals(name))  # "kitchen lights" is not the Kitchen Light


def _is_part(label: Label, said: _Utterance, places: frozenset[str]) -> bool:
    common = label.distinctive & said.words
    return 2 * len(common) >= len(label.distinctive) and bool((common & _distinctive_words(label)) - places)


def _distinctive_words(label: Label) -> frozenset[str]:
    """The words of a name that are unlikely in commands and in names of other kinds."""
    return frozenset(word for word in label.distinctive - _common_words() if not word.isdigit())


MAX_ENTITIES = HomeSettings().max_things
"""The default limit of entities in the prompt."""

# An ASR prompt holds fewer: a name has at least two tokens.
_MAX_ASR_NAMES = 64

_Names: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _FixedPrompt:
    """The fixed part of the prompt (`text`, with the entities in `ids`), and the names for the recogniser."""

    key: _Names
    text: str
    ids: frozenset[str] = frozenset()
    names: tuple[str, ...] = ()
    all_names: tuple[str, ...] = ()


class HomePrompt:
    """The system prompt of an assistant that controls a home, preceded by `before`.

    `house` returns the current home; while it raises HomeError or StateError, the prompt lists no entities.
    """

    def __init__(self, house: Callable[[], House], *, max_things: int = MAX_ENTITIES, before: str = "") -> None:
        self._house = house
        self._max_things = max_things
        self._before = before
        self._last: tuple[House, _FixedPrompt] | None = None

    def for_utterance(self, text: str) -> str:
        """The fixed part, followed by lines for further entities that the sentence mentions."""
        house, fixed = self._current()
        is_cut = len(fixed.ids) < len(house.entities)
        named = mentioned_entities(house, text, fixed.ids) if text and is_cut else ()
        if not named:
            return fixed.text
        shown = House(tuple(with_few_aliases(named)), tuple(with_few_aliases(house.areas)))
        return f"{fixed.text}\n{prompt_text.area_lines(shown)}"

    def names(self) -> tuple[str, ...]:
        """Names for biasing the recogniser, most useful first; it takes as many as fit."""
        return self._current()[1].names

    def all_names(self) -> tuple[str, ...]:
        """Every name and alias of the home, for correcting misheard names."""
        return self._current()[1].all_names

    def _current(self) -> tuple[House, _FixedPrompt]:
        """The home, and its prompt, which is built again only when a name, a place or a kind changes."""
        try:
            house = self._house()
        except (HomeError, StateError):
            return House(()), _FixedPrompt((), self._with_prefix(prompt_text.HOME_INSTRUCTIONS))
        last = self._last
        if last is not None and last[0] is house:
            return last
        key = _names(house)
        if last is not None and last[1].key == key:
            fixed = last[1]
        else:
            part = fixed_part(house, self._max_things)
            all_names = prompt_text.home_names(house)
            fixed = _FixedPrompt(
                key,
                self._with_prefix(prompt_text.home_instructions(part)),
                frozenset(entity.id for entity in part.entities),
                rare_words_first(all_names) if part is house else _most_useful_names(house),
                all_names,
            )
        self._last = house, fixed
        return self._last

    def _with_prefix(self, instructions: str) -> str:
        return "\n".join(filter(None, (self._before, instructions)))


def _names(house: House) -> _Names:
    """Everything in a home that the prompt depends on."""
    things = tuple(
        (entity.id, entity.name, entity.aliases, entity.domain, entity.device_class, entity.area)
        for entity in house.entities
    )
    return things, house.areas, house.floors


def _most_useful_names(house: House) -> tuple[str, ...]:
    things = with_few_aliases((*_by_name(house.places), *by_usefulness(house)))
    return rare_words_first(prompt_text.names_in_order(things))[:_MAX_ASR_NAMES]


def rare_words_first(names: Iterable[str]) -> tuple[str, ...]:
    """The names, first those with a word that is new to the recogniser and may be misspelled."""
    seen = set(known_words("house") | every_kind_word())
    unusual, usual = list[str](), list[str]()
    for name in names:
        new = {word for word in normalized_words(name) if not word.isdigit()} - seen
        (unusual if new else usual).append(name)
        seen |= new
    return (*unusual, *usual)

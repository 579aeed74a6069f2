"""Which things of a large house a model is always told of.

The choice depends on names, places and kinds alone, never on states, so it stays as it is while the house
does. Every area is heard of, and people speak to lights sooner than to sensors.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TypeVar

from edgevox.tools.home.house import Area, Entity, Floor, House
from edgevox.tools.home.names import words
from edgevox.tools.home.prompt import home_prompt, neutral_name

_SPOKEN_TO = (
    "light", "switch", "cover", "climate", "media_player", "lock", "fan", "vacuum", "scene", "script", "todo",
    "input_boolean", "valve", "lawn_mower",
)  # fmt: skip
_ORDER = {domain: place for place, domain in enumerate(_SPOKEN_TO)}

# With long names and many aliases a house is cut sooner: a context holds tokens, not things.
_LETTERS_PER_THING = 100
_LETTERS_OF_A_KIND = 20
_MOST_ALIASES = 2

_Named = TypeVar("_Named", bound=Entity | Area | Floor)


def stable_part(house: House, max_things: int) -> House:
    """The house as a model always sees it: all of it, or what `max_things` things may take of a prompt."""
    letters = max_things * _LETTERS_PER_THING
    if len(house.entities) <= max_things and _letters(home_prompt(house)) <= letters:
        return house
    floors = _fitting(_by_name(house.floors), letters // 8)
    # An area's name stands in its floor's line, and once more where its own begins.
    areas = _fitting(_by_name(house.areas), letters // 8)
    things = itertools.islice(most_spoken_to(house), max_things)
    return House(_fitting(things, letters * 5 // 8), areas, floors)


def most_spoken_to(house: House) -> Iterator[Entity]:
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


def with_few_aliases(things: Iterable[_Named]) -> Iterator[_Named]:
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
    return not entity.aliases, len(words(entity.name)), entity.name.casefold(), entity.id


def _fitting(things: Iterable[_Named], letters: int) -> tuple[_Named, ...]:
    """The first of the things, as many as fit in."""
    fitting = list[_Named]()
    for thing in with_few_aliases(things):
        names = (neutral_name(name) for name in (thing.name, *thing.aliases))
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


def _by_name(places: tuple[_Named, ...]) -> tuple[_Named, ...]:
    return tuple(sorted(places, key=lambda place: (place.name.casefold(), place.id)))

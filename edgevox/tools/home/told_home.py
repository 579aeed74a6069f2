"""What models are told of a home that may be large, and changes while they run.

Only names are told, never states: a state that stood in a prompt would be an old one when it is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

from edgevox.errors import StateError
from edgevox.settings.home_sections import HomeSettings
from edgevox.tools.home.home import HomeError
from edgevox.tools.home.house import House
from edgevox.tools.home.kinds import every_kind_word
from edgevox.tools.home.named import named_things
from edgevox.tools.home.names import HOUSE_WORDS, words
from edgevox.tools.home.prompt import (
    HOME_INSTRUCTIONS,
    area_lines,
    home_instructions,
    home_names,
    names_in_order,
)
from edgevox.tools.home.relevant import most_spoken_to, stable_part, with_few_aliases

MAX_THINGS = HomeSettings().max_things
"""A model is told of so many things, where the user says nothing else."""

# A recogniser's prompt holds fewer: a name has two tokens at least.
_MOST_NAMES = 64

_Names: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Told:
    """What is always told of a house: names to a recogniser, and `text`, of the things with these ids."""

    made_of: _Names
    text: str
    ids: frozenset[str]
    names: tuple[str, ...]
    all_names: tuple[str, ...]


class ToldHome:
    """The instructions of an assistant that runs a home, with `before` in front of them.

    `house` gives the home as it is now; while it raises HomeError or StateError, nothing is told of the home.
    """

    def __init__(self, house: Callable[[], House], *, max_things: int = MAX_THINGS, before: str = "") -> None:
        self._house = house
        self._max_things = max_things
        self._before = before
        self._last: tuple[House, _Told] | None = None

    def for_sentence(self, text: str) -> str:
        """What is always told, and behind it lines of those other things that the sentence names."""
        try:
            house = self._house()
        except (HomeError, StateError):
            return self._behind_before(HOME_INSTRUCTIONS)
        told = self._told(house)
        if not text or len(told.ids) == len(house.entities):
            return told.text
        named = named_things(house, text, told.ids)
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

    def _told_now(self) -> _Told | None:
        try:
            return self._told(self._house())
        except (HomeError, StateError):
            return None

    def _told(self, house: House) -> _Told:
        last = self._last
        if last is not None and last[0] is house:
            return last[1]
        made_of = _names(house)
        if last is not None and last[1].made_of == made_of:
            told = last[1]
        else:
            part = stable_part(house, self._max_things)
            all_names = home_names(house)
            told = _Told(
                made_of,
                self._behind_before(home_instructions(part)),
                frozenset(entity.id for entity in part.entities),
                unusual_first(all_names) if part is house else _most_useful_names(house),
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
    things = with_few_aliases((*places, *most_spoken_to(house)))
    return unusual_first(names_in_order(things))[:_MOST_NAMES]


def unusual_first(names: Iterable[str]) -> tuple[str, ...]:
    """The names, first those with a word that a recogniser has not seen before and may misspell."""
    seen = set(HOUSE_WORDS | every_kind_word())
    unusual, usual = list[str](), list[str]()
    for name in names:
        new = {word for word in words(name) if not word.isdigit()} - seen
        (unusual if new else usual).append(name)
        seen |= new
    return (*unusual, *usual)

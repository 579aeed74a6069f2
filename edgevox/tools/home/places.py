"""Areas and floors by the names that people give them."""

from __future__ import annotations

from functools import lru_cache

from edgevox.tools.home.house import Area, Entity, Floor, House, Place
from edgevox.tools.home.kinds import ALL_WORDS
from edgevox.tools.home.names import Words, are_same, readings, words

_HOUSE = frozenset({"house", "home", "everywhere", "apartment", "flat", "place"})


def find_place(house: House, said: str) -> Place | None:
    """The area or floor that is meant, perhaps misheard: a model may mix up the two slots."""
    heard = words(said)
    for reading in (heard, *readings(heard, place_words(house.places))):
        if place := place_called(house, reading):
            return place
    return None


def place_called(house: House, said: Words) -> Place | None:
    """The area or floor with exactly that name."""
    return next(
        (place for place in house.places if any(are_same(said, label) for label in _labels(place))), None
    )


def things_at(place: Place, pool: tuple[Entity, ...]) -> tuple[Entity, ...]:
    """What of a pool stands in an area, or on a floor."""
    match place:
        case Area():
            return tuple(entity for entity in pool if entity.area == place.id)
        case Floor():
            return tuple(entity for entity in pool if entity.floor == place.id)


def is_whole_house(said: Words) -> bool:
    """True for "the whole house", "everywhere", and for no words at all."""
    return set(said) <= ALL_WORDS | _HOUSE


@lru_cache(maxsize=128)
def place_words(places: tuple[Place, ...]) -> frozenset[str]:
    """Every word of the places' names."""
    return frozenset(word for place in places for label in _labels(place) for word in label)


def _labels(place: Place) -> tuple[Words, ...]:
    return tuple(words(label) for label in (place.name, *place.aliases))

"""From the slots of a call to the things it means: name, area, floor, domain and device class.

Ways to match, best first; the first that finds anything decides, and nothing is guessed:

1. the name as it is: the same words in any order, split in any way ("bed room lamp")
2. a kind of thing, with or without a place: "lights", "the kitchen blinds", "everything upstairs"
3. the name with its area, its floor or its kind added: "kitchen ceiling lamp" for the Ceiling Light there
4. a part of the name that belongs to one thing only: "ceiling"
5. all of this again with misheard words put right

Several things where one was asked for give a question; a plural means all of them.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from edgevox.tools.home.home import HomeError
from edgevox.tools.home.house import Area, Entity, House
from edgevox.tools.home.kinds import ALL_WORDS, kind_called, of_kind
from edgevox.tools.home.labels import Fit, Labels, best_fits, labels_of, vocabulary
from edgevox.tools.home.names import Words, is_plural, nearest, readings, spoken_words, words
from edgevox.tools.home.places import find_place, is_whole_house, place_called, things_at
from edgevox.tools.home.wording import brief, listed, place_of, sentence, the

_MOST_NAMED = 4


class NotFound(HomeError):
    """Nothing in the home is called so; the message names what is nearest."""

    code = "not_found"


class Unclear(HomeError):
    """Several things are meant; the message is a question."""

    code = "unclear"


@dataclass(frozen=True, slots=True)
class Slots:
    """The slots that say which things are meant, as the model gave them."""

    name: str | None = None
    area: str | None = None
    floor: str | None = None
    domain: str | None = None
    device_class: str | None = None

    @property
    def is_empty(self) -> bool:
        return self == Slots()


def find(house: House, slots: Slots, domains: Collection[str]) -> tuple[Entity, ...]:
    """The things that are meant, among those of `domains`; at least one. Raises NotFound and Unclear."""
    candidates = tuple(entity for entity in house.entities if not domains or entity.domain in domains)
    here = _in_place(house, slots, candidates)
    pool = _of_class(here, slots)
    where = slots.area or slots.floor
    if slots.name is None or set(words(slots.name)) <= ALL_WORDS:
        if pool:
            return pool
        raise NotFound(_nothing(slots, where))
    known = labels_of(house)
    found = _whole_name(house, slots, pool, known) or _named(house, slots.name, pool, known)
    if not found and pool != here:  # a small model's domain is a guess; the name is what was said
        found = _named(house, slots.name, here, known)
    if found:
        return found
    fit, named = best_fits(words(slots.name), house.entities, known)
    if fit <= Fit.SAME_PLAIN_WORDS:
        raise NotFound(_not_that(named[0], where, candidates))
    raise NotFound(_unknown_name(slots.name, where, here or candidates))


def find_area(house: House, said: str) -> Area:
    """The area that is meant. Raises NotFound."""
    found = find_place(house, said)
    if isinstance(found, Area):
        return found
    raise NotFound(_unknown_place(house, said))


def one_of(found: tuple[Entity, ...], house: House) -> Entity:
    """The only one. Raises Unclear when there are more."""
    if len(found) > 1:
        raise Unclear(_which(found, house))
    return found[0]


# --- places


def _in_place(house: House, slots: Slots, pool: tuple[Entity, ...]) -> tuple[Entity, ...]:
    for said in (slots.area, slots.floor):
        if said is None or is_whole_house(words(said)):
            continue
        place = find_place(house, said)
        if place is None:
            raise NotFound(_unknown_place(house, said))
        pool = things_at(place, pool)
    return pool


# --- kinds


def _of_class(pool: tuple[Entity, ...], slots: Slots) -> tuple[Entity, ...]:
    if slots.domain is not None:
        pool = tuple(entity for entity in pool if entity.domain == slots.domain)
    if slots.device_class is not None:
        wanted = {slots.device_class, _SAME_CLASS.get(slots.device_class, slots.device_class)}
        pool = tuple(entity for entity in pool if entity.device_class in wanted)
    return pool


# The same thing is called differently as a cover and as a sensor, and by different makers.
_SAME_CLASS = {"garage": "garage_door", "garage_door": "garage", "blind": "shade", "shade": "blind"}


def _kind_phrase(house: House, said: Words, pool: tuple[Entity, ...]) -> tuple[Entity, ...]:
    """What "lights kitchen", "all lights" or "everything upstairs" means: a kind, a place, or both."""
    rest = tuple(word for word in said if word not in ALL_WORDS)
    kinds = [word for word in rest if kind_called(word)]
    ways: list[tuple[str | None, Words]] = [
        (kind, tuple(word for word in rest if word != kind)) for kind in kinds
    ]
    if rest != said:
        ways.append((None, rest))
    for kind, place_said in ways:
        place = place_called(house, place_said)
        if place is None and not is_whole_house(place_said):
            continue
        there = things_at(place, pool) if place else pool
        found = of_kind(kind, there) if kind else there
        if found:
            return found
    return ()


# --- names


def _whole_name(
    house: House, slots: Slots, pool: tuple[Entity, ...], known: dict[str, Labels]
) -> tuple[Entity, ...]:
    """The Kitchen Light, where the slots are the area kitchen and the name light."""
    place = find_place(house, slots.area) if slots.area else None
    if place is None or slots.name is None or _is_many(slots.name):
        return ()
    fit, found = best_fits((*words(place.name), *words(slots.name)), pool, known)
    return found if fit is Fit.SAME_WORDS and len(found) == 1 else ()


def _named(house: House, name: str, pool: tuple[Entity, ...], known: dict[str, Labels]) -> tuple[Entity, ...]:
    """What a name means in a pool; nothing when nothing there is called so. Raises Unclear."""
    heard = words(name)
    if found := _read(house, name, heard, pool, known):
        return found
    for reading in readings(heard, vocabulary(house, known.values())):
        if found := _read(house, name, reading, pool, known):
            return found
    return ()


def _read(
    house: House, name: str, said: Words, pool: tuple[Entity, ...], known: dict[str, Labels]
) -> tuple[Entity, ...]:
    if not said:
        return ()
    wants_all = _is_many(name) or not ALL_WORDS.isdisjoint(said)
    fit, found = best_fits(said, pool, known)
    is_its_name = fit <= Fit.SAME_PLAIN_WORDS
    if not is_its_name or (wants_all and not _is_own_plural(found)):
        of_a_kind = _kind_phrase(house, said, pool)
        if of_a_kind and (not is_its_name or len(of_a_kind) > len(found)):
            found = of_a_kind
    if len(found) > 1 and not wants_all and not _are_twins(found):
        raise Unclear(_which(found, house))
    return found


def _is_many(name: str) -> bool:
    """True for "desk lamps" and for "the lights in the kitchen"."""
    return is_plural(name) or any(
        is_plural(word) and kind_called(words(word)[0]) for word in spoken_words(name)
    )


def _is_own_plural(found: tuple[Entity, ...]) -> bool:
    """True where a thing's own name is the plural that was said: a group called Kitchen Lights."""
    return any(is_plural(label) for entity in found for label in (entity.name, *entity.aliases))


def _are_twins(found: tuple[Entity, ...]) -> bool:
    """True for the sides of one thing: a door's lock and its sensor, with the same name in the same place."""
    names = {(words(entity.name), entity.area) for entity in found}
    return len(names) == 1 and len({entity.domain for entity in found}) == len(found)


# --- sentences


def _which(found: tuple[Entity, ...], house: House) -> str:
    several_places = len({entity.area for entity in found}) > 1
    same_names = len({entity.name for entity in found}) < len(found)
    with_place = several_places and same_names
    names = [the(entity) + (place_of(entity, house) if with_place else "") for entity in found]
    if len(names) > _MOST_NAMED:
        return f"Which one? There are {len(names)}: {listed(names[:_MOST_NAMED], 'and')}, and others."
    return f"Which one: {listed(names, 'or')}?"


def _not_that(entity: Entity, where: str | None, candidates: tuple[Entity, ...]) -> str:
    """Why something is not meant that is called so: it is elsewhere, or cannot do that."""
    is_elsewhere = where and entity in candidates
    return sentence(f"{the(entity)} {f'is not{_in(where)}' if is_elsewhere else 'cannot do that'}")


def _unknown_name(name: str, where: str | None, candidates: tuple[Entity, ...]) -> str:
    close = nearest(name, [entity.name for entity in candidates])
    known = f" Did you mean {listed([the(near) for near in close], 'or')}?" if close else ""
    return f"I know nothing called {brief(name)}{_in(where)}.{known}"


def _unknown_place(house: House, said: str) -> str:
    names = [place.name for place in house.places]
    close = nearest(said, names) or names[:_MOST_NAMED]
    known = f" I know {listed([the(name) for name in close], 'and')}." if close else ""
    return f"I know no room called {brief(said)}.{known}"


def _nothing(slots: Slots, where: str | None) -> str:
    kind = (slots.device_class or slots.domain or "device").replace("_", " ")
    return f"I know of no {kind}{_in(where)}."


def _in(where: str | None) -> str:
    return f" in {the(brief(where))}" if where else ""

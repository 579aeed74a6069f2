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

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache

from edgevox.tools.home.home import HomeError
from edgevox.tools.home.house import Area, Entity, Floor, House, Place
from edgevox.tools.home.kinds import ALL_WORDS, every_kind_word, kind_called, kind_words, of_kind, plain
from edgevox.tools.home.names import Words, are_same, is_plural, nearest, readings, spoken_words, words
from edgevox.tools.home.wording import listed, place_of, the

_MOST_NAMED = 4
_HOUSE = frozenset({"house", "home", "everywhere", "apartment", "flat", "place"})


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
    found = _whole_name(house, slots, pool) or _named(house, slots.name, pool)
    if not found and pool != here:  # a small model's domain is a guess; the name is what was said
        found = _named(house, slots.name, here)
    if found:
        return found
    raise NotFound(_unknown(slots.name, where, [entity.name for entity in here or candidates]))


def find_area(house: House, said: str) -> Area:
    """The area that is meant. Raises NotFound."""
    found = _place(house, said)
    if isinstance(found, Area):
        return found
    raise NotFound(_unknown_place(house, said))


def is_place(house: House, said: str) -> bool:
    """True for the name of an area or a floor."""
    return _place(house, said) is not None


def one_of(found: tuple[Entity, ...], house: House) -> Entity:
    """The only one. Raises Unclear when there are more."""
    if len(found) > 1:
        raise Unclear(_which(found, house))
    return found[0]


# --- places


def _in_place(house: House, slots: Slots, pool: tuple[Entity, ...]) -> tuple[Entity, ...]:
    for said in (slots.area, slots.floor):
        if said is None or _is_whole_house(words(said)):
            continue
        place = _place(house, said)
        if place is None:
            raise NotFound(_unknown_place(house, said))
        pool = _at(place, pool)
    return pool


def _at(place: Place, pool: tuple[Entity, ...]) -> tuple[Entity, ...]:
    match place:
        case Area():
            return tuple(entity for entity in pool if entity.area == place.id)
        case Floor():
            return tuple(entity for entity in pool if entity.floor == place.id)


def _place(house: House, said: str) -> Place | None:
    """An area or a floor, perhaps misheard: a model may mix up the two slots."""
    heard = words(said)
    for reading in (heard, *readings(heard, _place_words(house.places))):
        if place := _place_called(house, reading):
            return place
    return None


def _place_called(house: House, said: Words) -> Place | None:
    return next(
        (place for place in house.places if any(are_same(said, label) for label in _labels(place))), None
    )


def _is_whole_house(said: Words) -> bool:
    return set(said) <= ALL_WORDS | _HOUSE


@lru_cache(maxsize=16)
def _place_words(places: tuple[Place, ...]) -> frozenset[str]:
    return frozenset(word for place in places for label in _labels(place) for word in label)


def _labels(place: Place) -> tuple[Words, ...]:
    return tuple(words(label) for label in (place.name, *place.aliases))


# --- kinds


def _of_class(pool: tuple[Entity, ...], slots: Slots) -> tuple[Entity, ...]:
    if slots.domain is not None:
        pool = tuple(entity for entity in pool if entity.domain == slots.domain)
    if slots.device_class is not None:
        wanted = {slots.device_class, _SAME_CLASS.get(slots.device_class, slots.device_class)}
        pool = tuple(entity for entity in pool if entity.device_class in wanted)
    return pool


# The same thing is called differently as a cover and as a sensor.
_SAME_CLASS = {
    "garage": ("garage_door",),
    "garage_door": ("garage",),
    "blind": ("shade",),
    "shade": ("blind",),
}


def _kind_phrase(house: House, said: Words, pool: tuple[Entity, ...]) -> tuple[Entity, ...]:
    """What "lights kitchen", "all lights" or "everything upstairs" means: a kind, a place, or both."""
    rest = tuple(word for word in said if word not in ALL_WORDS)
    kinds = [word for word in rest if kind_called(word)]
    ways: list[tuple[str | None, Words]] = [
        (kind, tuple(word for word in rest if word != kind)) for kind in kinds
    ]
    if rest != said:
        ways.append((None, rest))
    for kind, place_words in ways:
        place = _place_called(house, place_words)
        if place is None and not _is_whole_house(place_words):
            continue
        there = _at(place, pool) if place else pool
        found = of_kind(kind, there) if kind else there
        if found:
            return found
    return ()


# --- names


@dataclass(frozen=True, slots=True)
class _Said:
    """A name as it was said, in the forms in which it is compared."""

    joined: str
    in_order: Words
    plain_in_order: Words
    plain_set: frozenset[str]
    set: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Label:
    """One way to call a thing; `told_by` are the words that tell it from its neighbours."""

    joined: str
    in_order: Words
    plain_in_order: Words
    plain_set: frozenset[str]
    told_by: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Known:
    """All the ways to call a thing, and the words that may be added to them or left out.

    `keys` are all the words of its labels, in every form: what shares none of them is not meant.
    """

    labels: tuple[_Label, ...]
    extra: frozenset[str]
    words: frozenset[str]
    keys: frozenset[str]


# How well a thing is matched, best first.
_SAME_WORDS, _SAME_PLAIN_WORDS, _SAME_BUT_FOR_EXTRAS, _PART_OF, _NOT_AT_ALL = range(5)


def _whole_name(house: House, slots: Slots, pool: tuple[Entity, ...]) -> tuple[Entity, ...]:
    """The Kitchen Light, where the slots are the area kitchen and the name light."""
    place = _place(house, slots.area) if slots.area else None
    if place is None or slots.name is None or _is_many(slots.name):
        return ()
    ranks = _ranked((*words(place.name), *words(slots.name)), pool, _known_things(house))
    found = ranks.get(_SAME_WORDS, [])
    return tuple(found) if len(found) == 1 else ()


def _named(house: House, name: str, pool: tuple[Entity, ...]) -> tuple[Entity, ...]:
    """What a name means in a pool; nothing when nothing there is called so. Raises Unclear."""
    heard = words(name)
    known = _known_things(house)
    if found := _read(house, name, heard, pool, known):
        return found
    vocabulary = _vocabulary(house, known.values())
    for reading in readings(heard, vocabulary):
        if found := _read(house, name, reading, pool, known):
            return found
    return ()


def _read(
    house: House, name: str, said: Words, pool: tuple[Entity, ...], known: dict[str, _Known]
) -> tuple[Entity, ...]:
    if not said:
        return ()
    wants_all = _is_many(name) or not ALL_WORDS.isdisjoint(said)
    ranks = _ranked(said, pool, known)
    best = min(ranks, default=_NOT_AT_ALL)
    found = tuple(ranks.get(best, ()))
    if best >= _SAME_BUT_FOR_EXTRAS or (wants_all and not _is_own_plural(found)):
        of_a_kind = _kind_phrase(house, said, pool)
        if of_a_kind and (best >= _SAME_BUT_FOR_EXTRAS or len(of_a_kind) > len(found)):
            found = of_a_kind
    if len(found) > 1 and not wants_all and not _are_twins(found):
        raise Unclear(_which(found, house))
    return found


def _is_many(name: str) -> bool:
    """True for "desk lamps" and for "the lights in the kitchen"."""
    return is_plural(name) or any(
        is_plural(word) and kind_called(words(word)[0]) for word in spoken_words(name)
    )


def _ranked(said: Words, pool: tuple[Entity, ...], known: dict[str, _Known]) -> dict[int, list[Entity]]:
    plain_words = tuple(sorted(map(plain, said)))
    this = _Said(
        "".join(said), tuple(sorted(said)), plain_words, frozenset(plain_words), frozenset(said) - ALL_WORDS
    )
    keys = this.set | this.plain_set | {this.joined}
    ranks: dict[int, list[Entity]] = {}
    for entity in pool:
        its = known[entity.id]
        if its.keys.isdisjoint(keys):
            continue
        told_by = this.set - its.extra
        rank = min(_rank(this, label, told_by) for label in its.labels)
        if rank != _NOT_AT_ALL:
            ranks.setdefault(rank, []).append(entity)
    return ranks


def _rank(said: _Said, label: _Label, told_by: frozenset[str]) -> int:
    if said.joined == label.joined or said.in_order == label.in_order:
        return _SAME_WORDS
    if said.plain_in_order == label.plain_in_order:
        return _SAME_PLAIN_WORDS
    if told_by and told_by <= label.told_by:
        is_whole = told_by == label.told_by and label.plain_set <= said.plain_set
        return _SAME_BUT_FOR_EXTRAS if is_whole else _PART_OF
    return _NOT_AT_ALL


def _is_own_plural(found: tuple[Entity, ...]) -> bool:
    """True where a thing's own name is the plural that was said: a group called Kitchen Lights."""
    return any(is_plural(label) for entity in found for label in (entity.name, *entity.aliases))


def _are_twins(found: tuple[Entity, ...]) -> bool:
    """True for the sides of one thing: a door's lock and its sensor, with the same name in the same place."""
    return len({(words(entity.name), entity.area) for entity in found}) == 1 and len(
        {entity.domain for entity in found}
    ) == len(found)


def _known_things(house: House) -> dict[str, _Known]:
    places: dict[str | None, frozenset[str]] = {place.id: _place_words((place,)) for place in house.places}
    nowhere: frozenset[str] = frozenset()
    return {
        entity.id: _known(
            entity.name,
            entity.aliases,
            entity.domain,
            entity.device_class,
            places.get(entity.area, nowhere),
            places.get(entity.floor, nowhere),
        )
        for entity in house.entities
    }


# States change all the time, names hardly ever: this is kept.
@lru_cache(maxsize=4096)
def _known(
    name: str,
    aliases: tuple[str, ...],
    domain: str,
    device_class: str | None,
    area: frozenset[str],
    floor: frozenset[str],
) -> _Known:
    extra = kind_words(domain, device_class) | area | floor | {"device"}
    labels = tuple(_label(words(text), extra) for text in (name, *aliases))
    its_words = frozenset(word for label in labels for word in label.in_order)
    plain_words = (label.plain_set for label in labels)
    return _Known(labels, extra, its_words, its_words.union((label.joined for label in labels), *plain_words))


def _label(said: Words, extra: frozenset[str]) -> _Label:
    plain_words = tuple(sorted(map(plain, said)))
    return _Label(
        "".join(said), tuple(sorted(said)), plain_words, frozenset(plain_words), frozenset(said) - extra
    )


def _vocabulary(house: House, known: Iterable[_Known]) -> frozenset[str]:
    """Every word that somebody may mean."""
    return _place_words(house.places).union(every_kind_word(), ALL_WORDS, *(its.words for its in known))


# --- sentences


def _which(found: tuple[Entity, ...], house: House) -> str:
    several_places = len({entity.area for entity in found}) > 1
    same_names = len({entity.name for entity in found}) < len(found)
    with_place = several_places and same_names
    names = [the(entity) + (place_of(entity, house) if with_place else "") for entity in found]
    if len(names) > _MOST_NAMED:
        return f"Which one? There are {len(names)}: {listed(names[:_MOST_NAMED], 'and')}, and others."
    return f"Which one: {listed(names, 'or')}?"


def _unknown(name: str, where: str | None, names: Iterable[str]) -> str:
    close = nearest(name, names)
    place = f" in the {where.removeprefix('the ')}" if where else ""
    sentence = f"I know nothing called {name}{place}."
    return f"{sentence} Did you mean {listed([the(near) for near in close], 'or')}?" if close else sentence


def _unknown_place(house: House, said: str) -> str:
    names = [place.name for place in house.places]
    close = nearest(said, names) or names[:_MOST_NAMED]
    known = f" I know {listed([the(name) for name in close], 'and')}." if close else ""
    return f"I know no room called {said}.{known}"


def _nothing(slots: Slots, where: str | None) -> str:
    kind = (slots.device_class or slots.domain or "device").replace("_", " ")
    place = f" in the {where.removeprefix('the ')}" if where else ""
    return f"I know of no {kind}{place}."

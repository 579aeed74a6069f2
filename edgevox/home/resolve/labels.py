"""Labels of entities and places, words for kinds of entities, and how well a spoken name fits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, lru_cache

from edgevox.core.files import packaged_toml
from edgevox.core.words import Words, normalized_words
from edgevox.home.entities import Area, Entities, Entity, Floor, House, Place
from edgevox.home.phrasing import knows_state
from edgevox.home.resolve.fuzzy import are_same, fuzzy_readings


@dataclass(frozen=True, slots=True)
class Kind:
    """Entities of these domains, and of these device classes if there are any; the first word is the main one."""

    words: Words
    domains: frozenset[str]
    device_classes: frozenset[str] = frozenset()

    def has(self, entity: Entity) -> bool:
        """Whether an entity is of this kind; without a device class its name decides."""
        if entity.domain not in self.domains:
            return False
        if not self.device_classes or entity.device_class in self.device_classes:
            return True
        return entity.device_class is None and self.is_named_in(entity)

    def is_named_in(self, entity: Entity) -> bool:
        labels = (entity.name, *entity.aliases)
        return any(not set(self.words).isdisjoint(normalized_words(label)) for label in labels)


@cache
def _by_word() -> Mapping[str, Kind]:
    return {
        word: Kind(tuple(line.split()), frozenset(kind["domains"]), frozenset(kind.get("device_classes", ())))
        for line, kind in packaged_toml("home/resolve/vocabulary.toml")["kinds"].items()
        for word in line.split()
    }


# A lamp is a light, but "the lamps" does not mean all lights.
_NARROW = frozenset({"lamp", "bulb"})

ALL_WORDS = frozenset({"all", "every", "everything", "both", "any", "entire", "whole"})


def kind_called(word: str) -> Kind | None:
    """The kind that a word (in the singular) stands for, or None."""
    return _by_word().get(word)


def plain(word: str) -> str:
    """The main synonym of a kind word: "light" for "lamp"; any other word unchanged."""
    kind = kind_called(word)
    return kind.words[0] if kind else word


def of_kind(word: str, pool: Entities) -> Entities:
    """The entities that a kind word means: "lamp" means those with it in their name, if there are any."""
    kind = kind_called(word)
    found = tuple(entity for entity in pool if kind and kind.has(entity)) or _unclassified(word, pool)
    return tuple(entity for entity in found if word in _NARROW and word in normalized_words(entity.name)) or found


# What hangs in front of a window; many integrations report it as a cover without a class.
_WINDOW_COVERS = frozenset({"awning", "blind", "curtain", "drape", "shade", "shutter"})
# What people switch through a plug or a relay, and call by what is behind it.
_BEHIND_SWITCHES = frozenset({"light", "fan", "climate", "humidifier", "media_player"})
_SWITCHES = frozenset({"switch", "input_boolean"})


def of_slots(domain: str | None, device_class: str | None, pool: Entities) -> Entities:
    """The entities that a domain and a device class mean; where none has them, those whose names say so."""
    found = pool
    if domain is not None:
        found = tuple(entity for entity in pool if entity.domain == domain)
    if device_class is not None:
        wanted = {device_class, _SAME_CLASS.get(device_class, device_class)}
        kind = kind_called(device_class)
        of_class = tuple(
            entity
            for entity in found
            if entity.device_class in wanted
            or (kind and kind.device_classes and not entity.device_class and kind.has(entity))
        )
        of_kind = tuple(entity for entity in found if kind and kind.device_classes and kind.has(entity))
        alike = tuple(entity for entity in found if {device_class, entity.device_class} <= _PRESENCE)
        return of_class or of_kind or alike or _unclassified(device_class, found)
    if not found and domain in _BEHIND_SWITCHES:
        kinds = [kind for kind in _by_word().values() if domain in kind.domains]
        switches = (entity for entity in pool if entity.domain in _SWITCHES)
        found = tuple(entity for entity in switches if any(kind.is_named_in(entity) for kind in kinds))
    return found


# "Is someone there": makers disagree on what their sensors notice.
_PRESENCE = frozenset({"motion", "moving", "occupancy", "presence"})
# One kind of device has different classes as a cover and as a sensor, and from different makers.
_SAME_CLASS = {"garage": "garage_door", "garage_door": "garage", "blind": "shade", "shade": "blind"}


def _unclassified(word: str, pool: Entities) -> Entities:
    """Covers without a class whose names say nothing else, where a word for window covers finds none of its kind."""
    if word not in _WINDOW_COVERS:
        return ()
    unclear = [entity for entity in pool if entity.domain == "cover" and entity.device_class is None]
    classed = [kind for kind in _by_word().values() if "cover" in kind.domains and kind.device_classes]
    others = [kind for kind in classed if _WINDOW_COVERS.isdisjoint(kind.words) and "window" not in kind.words]
    return tuple(entity for entity in unclear if not any(kind.is_named_in(entity) for kind in others))


@lru_cache(maxsize=512)
def kind_words(domain: str, device_class: str | None) -> frozenset[str]:
    """All words for the kind of an entity, which do not distinguish it from others of its kind."""
    probe = Entity("", "", domain, "", device_class=device_class)
    return frozenset(word for word, kind in _by_word().items() if kind.has(probe))


@cache
def every_kind_word() -> frozenset[str]:
    return frozenset(_by_word())


_HOUSE = frozenset({"house", "home", "everywhere", "apartment", "flat", "place"})


_ROOM_SIZES = frozenset({"master", "main", "primary", "big", "large", "small", "little"})


def find_place(house: House, said: str) -> Place | None:
    """The area or floor that is meant, possibly misheard: a model may confuse the two slots."""
    heard = normalized_words(said)
    # "The master bedroom" is the bedroom where there is only one.
    plain = tuple(word for word in heard if word not in _ROOM_SIZES)
    for reading in (heard, *((plain,) if plain != heard else ()), *fuzzy_readings(heard, place_words(house.places))):
        if place := place_called(house, reading):
            return place
    return None


def place_called(house: House, said: Words) -> Place | None:
    """The area or floor with exactly that name; of several, such as "our bedroom" and an empty Bedroom, one in use."""
    named = [place for place in house.places if any(are_same(said, label) for label in _place_labels(place))]
    if len(named) > 1:
        return next((place for place in named if entities_at(place, house.entities)), named[0])
    return named[0] if named else None


def entities_at(place: Place, pool: Entities) -> Entities:
    """The entities of a pool in an area or on a floor."""
    match place:
        case Area():
            return tuple(entity for entity in pool if entity.area == place.id)
        case Floor():
            return tuple(entity for entity in pool if entity.floor == place.id)


def is_whole_house(said: Words) -> bool:
    """Whether the words mean the whole house ("everywhere"), or there are none."""
    return set(said) <= ALL_WORDS | _HOUSE


@lru_cache(maxsize=128)
def place_words(places: tuple[Place, ...]) -> frozenset[str]:
    """All words of the places' names."""
    return frozenset(word for place in places for label in _place_labels(place) for word in label)


def _place_labels(place: Place) -> tuple[Words, ...]:
    return tuple(normalized_words(label) for label in (place.name, *place.aliases))


def name_with_state(house: House, said: str, state: str) -> str:
    """A name that means what can be in this state: "the front door" may be a lock, and "open" is its sensor.

    The name itself where what has it knows the state, or where it is not clear what else is meant.
    """
    fit, found = best_fits(normalized_words(said), house.entities, labels_of(house))
    if fit is Fit.NONE or any(knows_state(entity, state) for entity in found):
        return said
    words = set(normalized_words(said))
    able = [
        entity
        for entity in house.entities
        if knows_state(entity, state)
        and any(words <= set(normalized_words(label)) for label in (entity.name, *entity.aliases))
    ]
    return able[0].name if len(able) == 1 else said


class Fit(IntEnum):
    """How well a name matches, best first."""

    SAME_WORDS = 0
    """in any order, and split in any way"""
    SAME_PLAIN_WORDS = 1
    """with a synonym for its kind: "desk light" for the Desk Lamp"""
    WITH_MORE = 2
    """with its area, floor or kind added: "office desk lamp" """
    PART = 3
    """some of its distinctive words: "desk" """
    NONE = 4


@dataclass(frozen=True, slots=True)
class Label:
    """One name of an entity, in the forms that are compared.

    `distinctive` are its distinctive words: without its area, floor and kind.
    """

    joined: str
    sorted: Words
    plain_sorted: Words
    plain: frozenset[str]
    distinctive: frozenset[str]


@dataclass(frozen=True, slots=True)
class Labels:
    """All names of an entity. `extra` are words that may be added or left out.

    `keys` are all words in every form: a name that shares none of them cannot match.
    """

    labels: tuple[Label, ...]
    extra: frozenset[str]
    words: frozenset[str]
    keys: frozenset[str]


def labels_of(house: House) -> dict[str, Labels]:
    """The labels of all entities by id."""
    nowhere: frozenset[str] = frozenset()
    areas: dict[str | None, frozenset[str]] = {area.id: place_words((area,)) for area in house.areas}
    floors: dict[str | None, frozenset[str]] = {floor.id: place_words((floor,)) for floor in house.floors}
    return {
        entity.id: _build_labels(
            (entity.name, *entity.aliases),
            entity.domain,
            entity.device_class,
            areas.get(entity.area, nowhere),
            floors.get(entity.floor, nowhere),
        )
        for entity in house.entities
    }


def vocabulary(house: House, known: Iterable[Labels]) -> frozenset[str]:
    """All words that names and kinds consist of."""
    return place_words(house.places).union(every_kind_word(), ALL_WORDS, *(its.words for its in known))


def best_fits(said: Words, pool: Entities, known: Mapping[str, Labels]) -> tuple[Fit, Entities]:
    """The entities that match a name best, and how well."""
    heard = _label(said, ALL_WORDS)
    keys = heard.distinctive | heard.plain | {heard.joined}
    best, found = Fit.NONE, list[Entity]()
    for entity in pool:
        its = known[entity.id]
        if its.keys.isdisjoint(keys):
            continue
        distinctive = heard.distinctive - its.extra
        fit = min(_fit(heard, label, distinctive) for label in its.labels)
        if fit < best:
            best, found = fit, []
        if fit == best and fit is not Fit.NONE:
            found.append(entity)
    return best, tuple(found)


def _fit(heard: Label, label: Label, distinctive: frozenset[str]) -> Fit:
    if heard.joined == label.joined or heard.sorted == label.sorted:
        return Fit.SAME_WORDS
    if heard.plain_sorted == label.plain_sorted:
        return Fit.SAME_PLAIN_WORDS
    if distinctive and distinctive <= label.distinctive:
        is_whole = distinctive == label.distinctive and label.plain <= heard.plain
        return Fit.WITH_MORE if is_whole else Fit.PART
    return Fit.NONE


# Cached, because names change rarely, unlike states.
@lru_cache(maxsize=4096)
def _build_labels(
    names: tuple[str, ...], domain: str, device_class: str | None, area: frozenset[str], floor: frozenset[str]
) -> Labels:
    extra = kind_words(domain, device_class) | area | floor | {"device"}
    labels = tuple(_label(normalized_words(name), extra) for name in names)
    its_words = frozenset(word for label in labels for word in label.sorted)
    keys = its_words.union((label.joined for label in labels), *(label.plain for label in labels))
    return Labels(labels, extra, its_words, keys)


def _label(said: Words, extra: frozenset[str]) -> Label:
    plain_words = tuple(sorted(map(plain, said)))
    return Label("".join(said), tuple(sorted(said)), plain_words, frozenset(plain_words), frozenset(said) - extra)

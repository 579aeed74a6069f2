"""Resolves the slots of a call (name, area, floor, domain, device class) to entities.

Ways to match, best first; the first that finds anything decides, and nothing is guessed:

1. the name as it is: the same words in any order, split in any way ("bed room lamp")
2. a kind of entity, with or without a place: "lights", "the kitchen blinds", "everything upstairs"
3. the name with its area, its floor or its kind added: "kitchen ceiling lamp" for the Ceiling Light there
4. a part of the name that belongs to one entity only: "ceiling"
5. all of this again with misheard words corrected

Several entities where one was asked for give a question; a plural means all of them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

from edgevox.core.files import packaged_toml
from edgevox.core.languages import listed
from edgevox.core.words import Words, normalized_words, words_with_plurals
from edgevox.home.entities import Area, Entities, Entity, HomeError, House
from edgevox.home.intents.catalogue import known_tools
from edgevox.home.phrasing import brief, place_of, sentence, the
from edgevox.home.resolve import labels
from edgevox.home.resolve.fuzzy import closest_names, fuzzy_readings, is_plural

_MOST_NAMED = 4
_MOST_CHOICES = 3


class TargetNotFound(HomeError):
    """No entity matches; the message names the closest ones."""

    code = "not_found"


class ClarificationNeeded(HomeError):
    """Several entities match; the message is a question between `choices`, or an open one."""

    code = "unclear"
    choices: Entities = ()

    @classmethod
    def between(cls, found: Entities, house: House) -> ClarificationNeeded:
        error = cls(_which(found, house))
        error.choices = found
        return error


@dataclass(frozen=True, slots=True)
class Slots:
    """The slots of a call that select entities, as the model wrote them."""

    name: str | None = None
    area: str | None = None
    floor: str | None = None
    domain: str | None = None
    device_class: str | None = None

    @property
    def is_empty(self) -> bool:
        return self == Slots()

    @property
    def has_place(self) -> bool:
        return bool(self.area or self.floor)


def find_entities(house: House, slots: Slots, domains: Collection[str]) -> Entities:
    """The matching entities of `domains`, at least one. Raises TargetNotFound and ClarificationNeeded."""
    candidates = tuple(entity for entity in house.entities if not domains or entity.domain in domains)
    here = _in_place(house, slots, candidates)
    pool = labels.of_slots(slots.domain, slots.device_class, here)
    where = slots.area or slots.floor
    if slots.name is None or set(normalized_words(slots.name)) <= labels.ALL_WORDS:
        if pool:
            return pool
        kind = (slots.device_class or slots.domain or "device").replace("_", " ")
        raise TargetNotFound(f"I know of no {kind}{_in(where)}.")
    known = labels.labels_of(house)
    found = _whole_name(house, slots, pool, known) or _named(house, slots.name, pool, known)
    if not found and pool != here:  # small models guess the domain; the name was spoken
        found = _named(house, slots.name, here, known)
    if found:
        return found
    fit, named = labels.best_fits(normalized_words(slots.name), house.entities, known)
    if fit <= labels.Fit.SAME_PLAIN_WORDS:
        problem = f"is not{_in(where)}" if where and named[0] in candidates else "cannot do that"
        raise TargetNotFound(sentence(f"{the(named[0])} {problem}"))
    raise TargetNotFound(_unknown_name(slots.name, where, here or candidates))


EXCEPT = "except"
"""The slot for what a call leaves as it is. No model is trained on it: CommandClauses fills it."""
_FLOOR_OF = re.compile(r" (?:floors?|carpets?|rugs?)$", re.IGNORECASE)


def find_area(house: House, said: str) -> Area:
    """The matching area, also for "the bedroom floor" and "the office carpet". Raises TargetNotFound."""
    for name in (said, _FLOOR_OF.sub("", said)):
        found = labels.find_place(house, name)
        if isinstance(found, Area):
            return found
    raise TargetNotFound(_unknown_place(house, said))


def excepted_entities(house: House, said: str) -> Entities:
    """The entities of "the kitchen", "the tv and the desk lamp". Raises TargetNotFound and ClarificationNeeded."""
    parts = [said] if labels.find_place(house, said) else [part for part in _AND.split(said) if part.strip()]
    found: dict[str, Entity] = {}
    for part in parts:
        place = labels.find_place(house, part)
        meant = labels.entities_at(place, house.entities) if place else find_entities(house, Slots(name=part), ())
        found |= {entity.id: entity for entity in meant}
    return tuple(found.values())


def without_excepted(entities: Entities, house: House, said: str) -> Entities:
    """The entities without those that are excepted, at least one. Raises HomeError."""
    kept = {entity.id for entity in excepted_entities(house, said)}
    left = tuple(entity for entity in entities if entity.id not in kept)
    if len(left) == len(entities):
        raise TargetNotFound(f"I am not sure which of them {said} is.")
    if not left:
        raise TargetNotFound("Then nothing is left to change.")
    return left


_AND = re.compile(r"\s*(?:,|\band\b|\bor\b)\s*")


def single_entity(found: Entities, house: House) -> Entity:
    """The only entity. Raises ClarificationNeeded when there are more."""
    if len(found) > 1:
        raise ClarificationNeeded.between(found, house)
    return found[0]


# --- places


def _in_place(house: House, slots: Slots, pool: Entities) -> Entities:
    for said in (slots.area, slots.floor):
        if said is None or labels.is_whole_house(normalized_words(said)):
            continue
        place = labels.find_place(house, said)
        if place is None:
            raise TargetNotFound(_unknown_place(house, said))
        pool = labels.entities_at(place, pool)
    return pool


# --- kinds


def _kind_phrase(house: House, said: Words, pool: Entities) -> Entities:
    """The entities of "lights kitchen", "all lights" or "everything upstairs": a kind, a place, or both."""
    rest = tuple(word for word in said if word not in labels.ALL_WORDS)
    kinds = [word for word in rest if labels.kind_called(word)]
    ways: list[tuple[str | None, Words]] = [(kind, tuple(word for word in rest if word != kind)) for kind in kinds]
    if rest != said:
        ways.append((None, rest))
    for kind, place_said in ways:
        place = labels.place_called(house, place_said)
        if place is None and not labels.is_whole_house(place_said):
            continue
        there = labels.entities_at(place, pool) if place else pool
        found = labels.of_kind(kind, there) if kind else there
        if found:
            return found
    return ()


# --- names


def _whole_name(house: House, slots: Slots, pool: Entities, known: dict[str, labels.Labels]) -> Entities:
    """The Kitchen Light, where the slots are the area kitchen and the name light."""
    place = labels.find_place(house, slots.area) if slots.area else None
    if place is None or slots.name is None or _is_many(slots.name):
        return ()
    fit, found = labels.best_fits((*normalized_words(place.name), *normalized_words(slots.name)), pool, known)
    return found if fit is labels.Fit.SAME_WORDS and len(found) == 1 else ()


def _named(house: House, name: str, pool: Entities, known: dict[str, labels.Labels]) -> Entities:
    """The entities of a pool that a name matches, or none. Raises ClarificationNeeded."""
    heard = normalized_words(name)
    if found := _read(house, name, heard, pool, known):
        return found
    for reading in fuzzy_readings(heard, labels.vocabulary(house, known.values())):
        if found := _read(house, name, reading, pool, known):
            return found
    return ()


def _read(house: House, name: str, said: Words, pool: Entities, known: dict[str, labels.Labels]) -> Entities:
    if not said:
        return ()
    wants_all = _is_many(name) or not labels.ALL_WORDS.isdisjoint(said)
    fit, found = labels.best_fits(said, pool, known)
    is_its_name = fit <= labels.Fit.SAME_PLAIN_WORDS
    if not is_its_name or (wants_all and not _is_own_plural(found)):
        of_a_kind = _kind_phrase(house, said, pool)
        if of_a_kind and (not is_its_name or len(of_a_kind) > len(found)):
            found = of_a_kind
    if len(found) > 1 and not wants_all and not _are_twins(found):
        raise ClarificationNeeded.between(found, house)
    return found


def _is_many(name: str) -> bool:
    """True for "desk lamps" and for "the lights in the kitchen"."""
    return is_plural(name) or any(
        is_plural(word) and labels.kind_called(normalized_words(word)[0]) for word in words_with_plurals(name)
    )


def _is_own_plural(found: Entities) -> bool:
    """True for an entity whose own name is a plural: a group called Kitchen Lights."""
    return any(is_plural(label) for entity in found for label in (entity.name, *entity.aliases))


def _are_twins(found: Entities) -> bool:
    """True for the parts of one device: a door's lock and its sensor, with the same name in the same area."""
    names = {(normalized_words(entity.name), entity.area) for entity in found}
    return len(names) == 1 and len({entity.domain for entity in found}) == len(found)


# --- sentences


def _which(found: Entities, house: House) -> str:
    several_places = len({entity.area for entity in found}) > 1
    same_names = len({entity.name for entity in found}) < len(found)
    with_place = several_places and same_names
    names = [the(entity) + (place_of(entity, house) if with_place else "") for entity in found]
    if len(names) > _MOST_NAMED:
        return f"Which one? There are {len(names)}: {listed(names[:_MOST_CHOICES], 'and')}, and others."
    return f"Which one: {listed(names, 'or')}?"


def _unknown_name(name: str, where: str | None, candidates: Entities) -> str:
    close = closest_names(name, [entity.name for entity in candidates])
    known = f" Did you mean {listed([the(near) for near in close], 'or')}?" if close else ""
    return f"I know nothing called {brief(name)}{_in(where)}.{known}"


def _unknown_place(house: House, said: str) -> str:
    names = [place.name for place in house.places]
    close = closest_names(said, names) or names[:_MOST_NAMED]
    known = f" I know {listed([the(name) for name in close], 'and')}." if close else ""
    return f"I know no room called {brief(said)}.{known}"


def _in(where: str | None) -> str:
    return f" in {the(brief(where))}" if where else ""


# "Close" does not mean "unlock", though the tool is the same.
_GUARDED = frozenset({"lock", "alarm_control_panel"})

# "Everything off in the kitchen" must not unlock a door or close a valve.
_SAFE_DOMAINS = {
    "turn_on": frozenset({"light"}),
    "turn_off": frozenset({"light", "switch", "fan", "media_player", "input_boolean"}),
}

_NO_PLAYER = "There is no player here. For music on this machine, set media.music_folder or media.stations."
# Selects the player when none is named: the first of these states that any player is in.
_ACTIVE = {
    "media_pause": ("playing", "buffering"),
    "media_unpause": ("paused",),
    "media_next": ("playing", "buffering", "paused"),
    "media_previous": ("playing", "buffering", "paused"),
}
_PERHAPS_ACTIVE = ("playing", "buffering", "paused", "on", "idle")


def resolved_targets(tool: str, arguments: Mapping[str, Any], house: House) -> Entities:
    """The entities of a call; none where the resolver raises HomeError."""
    try:
        return resolve_targets(tool, arguments, house) if has_targets(tool) else ()
    except HomeError:
        return ()


def has_targets(tool: str) -> bool:
    """False for timers, the time and the like."""
    return tool in known_tools() and known_tools()[tool].target_domains is not None


def resolve_targets(tool: str, arguments: Mapping[str, Any], house: House) -> Entities:
    """The entities of a call, at least one. Raises TargetNotFound and ClarificationNeeded, with speakable messages."""
    slots = Slots(*(arguments.get(slot.name) or None for slot in fields(Slots)))
    try:
        return _resolve(tool, slots, arguments, house)
    except TargetNotFound:
        if slots.name is None or slots.has_place or labels.find_place(house, slots.name) is None:
            raise
        # Small models write an area as a name.
        return _resolve(tool, replace(slots, name=None, area=slots.name), arguments, house)


def _resolve(tool: str, slots: Slots, arguments: Mapping[str, Any], house: House) -> Entities:
    domains = known_tools()[tool].target_domains or frozenset()
    match tool:
        case "turn_on" | "turn_off":
            return _switch_targets(tool, slots, house, domains)
        case "get_state":
            if slots.is_empty:
                raise ClarificationNeeded("What would you like to know about?")
            if slots.name and slots.area is None and (state := arguments.get("state")):
                slots = replace(slots, name=labels.name_with_state(house, slots.name, str(state)))
            return find_entities(house, slots, domains)
        case "climate_set_temperature" if slots.name is None:
            # A water heater is meant only by its name.
            return _resolve_any(slots, house, domains - {"water_heater"})
        case "climate_get_temperature":
            # A water heater is meant only by its name.
            return _thermometers(find_entities(house, slots, domains if slots.name else domains - {"water_heater"}))
        case "vacuum_clean_area":
            return (single_entity(find_entities(house, Slots(name=slots.name), domains), house),)
        case "vacuum_start" if slots.name is None and slots.has_place:
            try:
                return find_entities(house, slots, domains)
            except TargetNotFound:  # the only one of the home
                return (single_entity(find_entities(house, Slots(), domains), house),)
        case "shopping_list_add_item" | "shopping_list_complete_item":
            return (_shopping_list(house, domains),)
        case "list_get_items" | "media_get_playing":
            return find_entities(house, slots, domains)
        case "list_clear":
            return (single_entity(find_entities(house, slots, domains), house),)
        case "get_weather" | "get_forecast":
            return find_entities(house, slots, domains)[:1]
        case "light_set" if slots.name is None and not slots.has_place:
            return _unnamed_lights(find_entities(house, slots, domains), with_colour=bool(arguments.get("color")))
        case _ if domains == {"media_player"} and (arguments.get(EXCEPT) or _is_every(slots.name)):
            return find_entities(house, slots, domains)
        case _ if domains == {"media_player"}:
            return (_player(tool, slots, house, domains),)
        case _:
            return _resolve_any(slots, house, domains)


def _shopping_list(house: House, domains: frozenset[str]) -> Entity:
    """The shopping list, whatever the language of its name. Raises HomeError."""
    named = {normalized_words(name) for name in _shopping_lists()}
    for entity in house.entities:
        if entity.domain == "todo" and any(
            normalized_words(label) in named for label in (entity.name, *entity.aliases)
        ):
            return entity
    return single_entity(find_entities(house, Slots(name="shopping list"), domains), house)


@cache
def _shopping_lists() -> tuple[str, ...]:
    """The names of a shopping list in other languages than English."""
    codes = ("de", "es", "fr", "it", "nl", "pt")
    return tuple(name for code in codes for name in packaged_toml(f"home/rules/languages/{code}.toml")["shopping_list"])


def _resolve_any(slots: Slots, house: House, domains: frozenset[str]) -> Entities:
    found = find_entities(house, slots, domains)
    return found if slots.name or slots.has_place else (single_entity(found, house),)


def _unnamed_lights(lights: Entities, *, with_colour: bool) -> Entities:
    """ "The lights" of an unknown room: those that are on, or all; for a colour, of those that have colours."""
    coloured = tuple(light for light in lights if _has_colours(light)) if with_colour else ()
    fit = coloured or lights
    return tuple(light for light in fit if light.state == "on") or fit


# Modes of Home Assistant's lights in which they only dim or change between whites.
_COLOURLESS = frozenset({"onoff", "brightness", "color_temp", "white", "unknown"})


def _has_colours(light: Entity) -> bool:
    modes = frozenset(light.attributes.get("supported_color_modes") or ())
    return "color" in light.attributes or bool(modes - _COLOURLESS)


def _switch_targets(tool: str, slots: Slots, house: House, domains: frozenset[str]) -> Entities:
    if slots.is_empty:
        raise ClarificationNeeded("What should I turn on?" if tool == "turn_on" else "What should I turn off?")
    if slots.domain is None and slots.device_class is None and _names_no_kind(slots.name):
        return find_entities(house, slots, _SAFE_DOMAINS[tool])
    found = find_entities(house, slots, domains)
    others = tuple(entity for entity in found if entity.domain not in _GUARDED)
    if slots.domain in _GUARDED or (not others and slots.domain is None and slots.device_class is None):
        return found
    if not others:
        raise TargetNotFound(sentence(f"{the(found[0])} cannot do that"))
    return others


def _names_no_kind(name: str | None) -> bool:
    """True for "everything", "all upstairs", and no name at all."""
    said = normalized_words(name or "all")
    return not labels.ALL_WORDS.isdisjoint(said) and not any(map(labels.kind_called, said))


def _is_every(name: str | None) -> bool:
    return not labels.ALL_WORDS.isdisjoint(normalized_words(name or ""))


def _thermometers(found: Entities) -> Entities:
    """The thermostats if there are any, otherwise the temperature sensors."""
    thermostats = tuple(entity for entity in found if entity.domain in ("climate", "water_heater"))
    measuring = thermostats or tuple(entity for entity in found if entity.device_class == "temperature")
    if not measuring:
        raise TargetNotFound("I know of no thermometer there.")
    return measuring


def _player(tool: str, slots: Slots, house: House, domains: frozenset[str]) -> Entity:
    if not any(entity.domain in domains for entity in house.entities):
        raise TargetNotFound(_NO_PLAYER)
    found = find_entities(house, slots, domains)
    if len(found) > 1 and slots.name is None:
        for state in _ACTIVE.get(tool, _PERHAPS_ACTIVE):
            if active := tuple(entity for entity in found if entity.state == state):
                return single_entity(active, house)
        if tool in _ACTIVE or tool == "set_volume_relative":
            raise TargetNotFound("Nothing is paused." if tool == "media_unpause" else "Nothing is playing.")
    return single_entity(found, house)

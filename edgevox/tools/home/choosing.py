"""Which things a call is about. The tools act on them, and the rule for confirmation looks at them before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from edgevox.tools.home.home import HomeError
from edgevox.tools.home.home_tool import SWITCHED_DOMAINS
from edgevox.tools.home.house import Entity, House
from edgevox.tools.home.kinds import ALL_WORDS, kind_called
from edgevox.tools.home.matching import NotFound, Slots, Unclear, find, one_of
from edgevox.tools.home.names import words
from edgevox.tools.home.places import find_place
from edgevox.tools.home.wording import sentence, the

_SWITCHED = frozenset(SWITCHED_DOMAINS)

# Who says "close" does not mean "unlock", though the tool is the same.
_GUARDED = frozenset({"lock", "alarm_control_panel"})

# "Everything off in the kitchen" must not unlock a door or close a valve.
_HARMLESS = {
    "turn_on": frozenset({"light"}),
    "turn_off": frozenset({"light", "switch", "fan", "media_player", "input_boolean"}),
}

_DOMAINS: dict[str, frozenset[str]] = {
    "turn_on": _SWITCHED,
    "turn_off": _SWITCHED,
    "get_state": frozenset(),
    "light_set": frozenset({"light"}),
    "set_position": frozenset({"cover", "valve"}),
    "climate_set_temperature": frozenset({"climate"}),
    "climate_get_temperature": frozenset({"climate", "sensor"}),
    "fan_set_speed": frozenset({"fan"}),
    **dict.fromkeys(
        (
            "set_volume", "set_volume_relative", "media_pause", "media_unpause", "media_next",
            "media_previous", "media_search_and_play", "media_player_mute", "media_player_unmute",
        ),
        frozenset({"media_player"}),
    ),
    **dict.fromkeys(("vacuum_start", "vacuum_return_to_base", "vacuum_clean_area"), frozenset({"vacuum"})),
    **dict.fromkeys(("lawn_mower_start_mowing", "lawn_mower_dock"), frozenset({"lawn_mower"})),
    **dict.fromkeys(
        (
            "list_add_item", "list_complete_item", "list_remove_item",
            "shopping_list_add_item", "shopping_list_complete_item",
        ),
        frozenset({"todo"}),
    ),
    "get_weather": frozenset({"weather"}),
}  # fmt: skip

# Which player is meant when none is named: the first of these states that any player is in.
_ACTIVE = {
    "media_pause": ("playing", "buffering"),
    "media_unpause": ("paused",),
    "media_next": ("playing", "buffering", "paused"),
    "media_previous": ("playing", "buffering", "paused"),
}
_PERHAPS_ACTIVE = ("playing", "buffering", "paused", "on", "idle")


def targets(tool: str, arguments: Mapping[str, Any], house: House) -> tuple[Entity, ...]:
    """What a call would touch; nothing where the call would end in a question or an error, and do nothing."""
    try:
        return choose(tool, arguments, house) if has_targets(tool) else ()
    except HomeError:
        return ()


def has_targets(tool: str) -> bool:
    """False for timers, the time and the like."""
    return tool in _DOMAINS


def choose(tool: str, arguments: Mapping[str, Any], house: House) -> tuple[Entity, ...]:
    """What a call is about; at least one thing. Raises NotFound and Unclear, whose messages can be spoken."""
    slots = _slots(arguments)
    try:
        return _choose(tool, slots, house)
    except NotFound:
        if slots.name is None or slots.area or slots.floor or find_place(house, slots.name) is None:
            raise
        # A small model's mistake: the kitchen is no device's name.
        return _choose(tool, replace(slots, name=None, area=slots.name), house)


def _choose(tool: str, slots: Slots, house: House) -> tuple[Entity, ...]:
    domains = _DOMAINS[tool]
    match tool:
        case "turn_on" | "turn_off":
            return _switched(tool, slots, house)
        case "get_state":
            if slots.is_empty:
                raise Unclear("What would you like to know about?")
            return find(house, slots, domains)
        case "light_set" | "set_position" | "fan_set_speed" if slots.name or slots.area or slots.floor:
            return find(house, slots, domains)
        case "climate_get_temperature":
            return _thermometers(slots, house)
        case "vacuum_clean_area":
            return (one_of(find(house, Slots(name=slots.name), domains), house),)
        case "vacuum_start" if slots.name is None and (slots.area or slots.floor):
            return _vacuums(slots, house)
        case "shopping_list_add_item" | "shopping_list_complete_item":
            return (one_of(find(house, Slots(name="shopping list"), domains), house),)
        case "get_weather":
            return find(house, slots, domains)[:1]
        case _ if domains == {"media_player"}:
            return (_player(tool, slots, house),)
        case _:
            return _one_unless_all(slots, find(house, slots, domains), house)


def _slots(arguments: Mapping[str, Any]) -> Slots:
    given = {
        slot: arguments.get(slot) or None for slot in ("name", "area", "floor", "domain", "device_class")
    }
    return Slots(**given)


def _switched(tool: str, slots: Slots, house: House) -> tuple[Entity, ...]:
    if slots.is_empty:
        raise Unclear("What should I turn on?" if tool == "turn_on" else "What should I turn off?")
    if slots.domain is None and slots.device_class is None and _names_no_kind(slots.name):
        return find(house, slots, _HARMLESS[tool])
    found = find(house, slots, _SWITCHED)
    others = tuple(entity for entity in found if entity.domain not in _GUARDED)
    if slots.domain in _GUARDED or (not others and slots.domain is None and slots.device_class is None):
        return found
    if not others:
        raise NotFound(sentence(f"{the(found[0])} cannot do that"))
    return others


def _names_no_kind(name: str | None) -> bool:
    """True for "everything", "all upstairs", and no name at all."""
    said = words(name or "all")
    return not ALL_WORDS.isdisjoint(said) and not any(map(kind_called, said))


def _one_unless_all(slots: Slots, found: tuple[Entity, ...], house: House) -> tuple[Entity, ...]:
    """Without a name or a place there must be only one; who names many, or a place, means all of them."""
    return found if slots.name or slots.area or slots.floor else (one_of(found, house),)


def _thermometers(slots: Slots, house: House) -> tuple[Entity, ...]:
    """Thermostats where there are any, else what measures the temperature."""
    found = find(house, slots, _DOMAINS["climate_get_temperature"])
    measuring = tuple(
        entity for entity in found if entity.domain == "climate" or entity.device_class == "temperature"
    )
    thermostats = tuple(entity for entity in measuring if entity.domain == "climate")
    if not measuring:
        raise NotFound("I know of no thermometer there.")
    return thermostats or measuring


def _vacuums(slots: Slots, house: House) -> tuple[Entity, ...]:
    """The vacuum cleaners that stand there, or else the only one, which can go there."""
    try:
        return find(house, slots, _DOMAINS["vacuum_start"])
    except NotFound:
        return (one_of(find(house, Slots(), _DOMAINS["vacuum_start"]), house),)


def _player(tool: str, slots: Slots, house: House) -> Entity:
    found = find(house, slots, _DOMAINS[tool])
    if len(found) > 1 and slots.name is None:
        for state in _ACTIVE.get(tool, _PERHAPS_ACTIVE):
            if active := tuple(entity for entity in found if entity.state == state):
                return one_of(active, house)
        if tool in _ACTIVE:
            raise NotFound("Nothing is paused." if tool == "media_unpause" else "Nothing is playing.")
    return one_of(found, house)

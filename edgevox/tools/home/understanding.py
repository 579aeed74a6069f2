"""A call in the home's own words: what a small model guessed beside what was said is put right.

The tools find the same things with and without it. But what is logged, shown, remembered and scored is the
call, and a call should say what is done.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from edgevox.tools.home.catalogue import CATALOGUE
from edgevox.tools.home.choosing import has_targets, targets
from edgevox.tools.home.house import Entity, House
from edgevox.tools.home.names import words
from edgevox.tools.home.places import find_place, is_whole_house

_PLACES = ("area", "floor")
_KINDS = ("domain", "device_class")
_SENSORS = ("sensor", "binary_sensor")
_POSSESSIVES = ("'s", "’s")
_SLOTS: dict[str, dict[str, Any]] = {tool.name: tool.parameters["properties"] for tool in CATALOGUE}


def understood(tool: str, arguments: Mapping[str, Any], house: House) -> dict[str, Any]:
    """The arguments as the home understands them; what the call is about stays the same."""
    meant = dict(arguments)
    if not has_targets(tool):
        return meant
    for change in (_name_for_place, _without_whole_house, _without_possessive, _with_true_kinds):
        for other in change(tool, meant, house):
            about, found = targets(tool, meant, house), targets(tool, other, house)
            # A place that is none finds nothing. Any other call that finds nothing ends in a question.
            if found and (found == about or (change is _name_for_place and not about)):
                meant = other
    return meant


def _name_for_place(tool: str, arguments: Mapping[str, Any], house: House) -> Iterator[dict[str, Any]]:
    """A lamp called Reading Nook is no area. Only its whole name will do: the garden is no garden valve."""
    area, domain = arguments.get("area"), arguments.get("domain")
    if not area or arguments.get("name") or "name" not in _SLOTS[tool] or find_place(house, area):
        return
    called = [entity for entity in house.entities if words(area) in map(words, _labels(entity))]
    if any(domain in (None, entity.domain) for entity in called):
        yield {"name": area} | _without(arguments, "area")


def _without_whole_house(_tool: str, arguments: Mapping[str, Any], house: House) -> Iterator[dict[str, Any]]:
    """All the lights of the house are all the lights."""
    for slot in _PLACES:
        place = arguments.get(slot)
        if place and is_whole_house(words(place)) and find_place(house, place) is None:
            yield _without(arguments, slot)


def _without_possessive(_tool: str, arguments: Mapping[str, Any], house: House) -> Iterator[dict[str, Any]]:
    """The boiler's pressure is that of the boiler; but a list may be called Joe's."""
    name = arguments.get("name") or ""
    if not name.endswith(_POSSESSIVES):
        return
    if not any(name.casefold() == label.casefold() for entity in house.entities for label in _labels(entity)):
        yield {**arguments, "name": name[: -len(_POSSESSIVES[0])]}


def _with_true_kinds(tool: str, arguments: Mapping[str, Any], house: House) -> Iterator[dict[str, Any]]:
    """A thing that is called by its name is of its own kind, not of the one that was guessed."""
    if not arguments.get("name"):
        return
    meant = dict(arguments)
    for slot in _KINDS:
        guess = meant.get(slot)
        kinds = {getattr(entity, slot) for entity in targets(tool, meant, house)}
        # A sensor's class is a part of the question for it: where it was left out, the home knows it.
        is_left_out = guess is None and slot == "device_class" and meant.get("domain") in _SENSORS
        if not kinds or guess in kinds or not (guess or is_left_out):
            continue
        kind = kinds.pop() if len(kinds) == 1 else None
        is_known = kind in _SLOTS[tool][slot].get("enum", ())
        meant = {**meant, slot: kind} if is_known else _without(meant, slot)
        yield meant


def _labels(entity: Entity) -> tuple[str, ...]:
    return entity.name, *entity.aliases


def _without(arguments: Mapping[str, Any], dropped: str) -> dict[str, Any]:
    return {slot: value for slot, value in arguments.items() if slot != dropped}

"""Resolves a home call once: normalised arguments, entities, the targets to confirm, and the question.

Normalising an argument never changes the entities of a call, so that logs, the page and scores show what was done.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from edgevox.core.languages import listed
from edgevox.core.types import JsonObject
from edgevox.core.words import normalized_words
from edgevox.home.entities import Area, Entities, Entity, HomeError, House
from edgevox.home.intents.call_phrases import call_phrase
from edgevox.home.intents.catalogue import known_tools
from edgevox.home.intents.quantities import STEP
from edgevox.home.phrasing import sentence, the
from edgevox.home.resolve.labels import find_place, is_whole_house
from edgevox.home.resolve.target_resolver import (
    EXCEPT,
    ClarificationNeeded,
    find_area,
    has_targets,
    resolve_targets,
    resolved_targets,
    without_excepted,
)
from edgevox.tools.calls import PROGRAMS
from edgevox.tools.tool import Resolution, Speech, Target

ENTITY_IDS = "entity_ids"
"""The slot for exactly these entities, whatever the other slots select. Only hooks fill it: see `references`."""
_PLACES = ("area", "floor")
_KINDS = ("domain", "device_class")
_SENSORS = ("sensor", "binary_sensor")
# Turning them on acts on other entities.
_PROGRAMS = PROGRAMS | {"group"}
_POSSESSIVES = ("'s", "’s")
_Proposals: TypeAlias = Iterator[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ResolvedIntent(Resolution):
    """A home call with the entities to act on, and the area to clean; `agreed` is the question of a later call.

    `choices` are the entities between which the answer asks to choose, in the order in which it names them.
    """

    entities: Entities = ()
    area: Area | None = None
    choices: Entities = ()
    agreed: str = ""
    code: str = field(default="", repr=False)
    """the code of a lock or an alarm panel, which is not among the arguments: those are logged, shown and remembered"""


def resolve_intent(tool: str, arguments: JsonObject, house: House) -> ResolvedIntent:
    """Resolve a call that has targets in one snapshot of the house; a HomeError of the resolver becomes the answer."""
    if ENTITY_IDS in arguments:
        normalized, entities = dict(arguments), _by_id(arguments[ENTITY_IDS], house)
    else:
        normalized, entities = _normalize(tool, arguments, house)
    code = str(normalized.pop("code", None) or "")
    try:
        entities = entities or resolve_targets(tool, normalized, house)
        if excepted := normalized.get(EXCEPT):
            entities = without_excepted(entities, house, str(excepted))
        if tool in ("light_set", "light_set_temperature") and STEP in normalized:
            entities = _lit(entities)
        area = _area_to_clean(tool, normalized, house)
    except HomeError as error:
        return ResolvedIntent(
            normalized,
            answer=Speech(sentence(error.message), is_failure=True),
            summary=call_phrase(tool, normalized),
            choices=error.choices if isinstance(error, ClarificationNeeded) else (),
        )
    return ResolvedIntent(
        normalized,
        _targets(tool, normalized, entities),
        confirmation_question(tool, entities),
        summary=call_phrase(tool, normalized, entities, area),
        entities=entities,
        area=area,
        code=code,
    )


def _by_id(entity_ids: Iterable[str], house: House) -> Entities:
    """The entities with these ids; none if one is gone."""
    found = [house.entity(entity_id) for entity_id in entity_ids]
    return tuple(filter(None, found)) if all(found) else ()


def _lit(lights: Entities) -> Entities:
    """The lights that become brighter or dimmer: those that are on, or a few that are off. Raises HomeError."""
    lit = tuple(light for light in lights if light.state == "on")
    if not lit and len(lights) > 3:
        raise HomeError("None of these lights is on. Which one do you mean?")
    return lit or lights


def refresh_intent(tool: str, intent: ResolvedIntent, house: House) -> ResolvedIntent | None:
    """The same entities, found by id, in their current state; None when one is gone."""
    entities = tuple(filter(None, (house.entity(entity.id) for entity in intent.entities)))
    if len(entities) < len(intent.entities) or (intent.area and house.area(intent.area.id) is None):
        return None
    return dataclasses.replace(intent, targets=_targets(tool, intent.arguments, entities), entities=entities)


def _targets(tool: str, arguments: JsonObject, entities: Entities) -> tuple[Target, ...]:
    """The entities that the policy judges; locking a door and closing a garage are safe.

    A scene, a script, an automation or a group is judged by what it acts on.
    """
    found: list[Target] = []
    for entity in entities:
        if _is_safe_direction(tool, arguments, entity) or _is_so_already(tool, arguments, entity):
            continue
        is_known = entity.acts_on is not None
        if not (is_known and entity.domain in ("scene", "script")):
            is_unknown = entity.domain in _PROGRAMS and not is_known
            kind = entity.domain, entity.device_class or ""
            found.append(Target(*kind, entity.name, entity.id, entity.aliases, is_unknown))
        found += entity.acts_on or ()
    return tuple(dict.fromkeys(found))


def _area_to_clean(tool: str, arguments: JsonObject, house: House) -> Area | None:
    if tool == "vacuum_clean_area":
        return find_area(house, arguments["area"])
    if tool != "vacuum_start" or arguments.get("name"):
        return None
    place = find_place(house, arguments.get("area") or "")
    return place if isinstance(place, Area) else None


def _is_safe_direction(tool: str, arguments: JsonObject, entity: Entity) -> bool:
    match tool, entity.domain:
        case "turn_on", "lock" | "alarm_control_panel":
            return True
        case "turn_off", "cover" | "valve" | "scene" | "script":
            return True
        case "stop_moving", _:
            return True
        case "alarm_set_mode", _:
            return mode_called(str(arguments.get("mode", "")), ALARM_MODES) != "disarmed"
        case "set_position", "cover" | "valve" if STEP in arguments:
            return bool(arguments[STEP] <= 0)
        case "set_position", "cover" | "valve":
            return bool(arguments.get("position", 100) <= (entity.attributes.get("position") or 0))
        case _:
            return False


def _is_so_already(tool: str, arguments: JsonObject, entity: Entity) -> bool:
    """Whether a call would open or disarm what is open or disarmed: there is nothing to ask."""
    match tool, entity.domain:
        case "turn_off", "lock":
            return entity.state == "unlocked"
        case "turn_off", "alarm_control_panel":
            return entity.state == "disarmed"
        case "alarm_set_mode", _:
            return entity.state == "disarmed"
        case "turn_on", "cover" | "valve":
            return entity.state == "open" and entity.attributes.get("position", 100) == 100
        case _:
            return False


ALARM_MODES = ("away", "home", "night", "vacation", "disarmed")
_MODE_WORDS = {
    "heating": "heat", "heater": "heat", "warm": "heat", "cooling": "cool", "cold": "cool", "air conditioning": "cool",
    "automatic": "auto", "fan": "fan only", "drying": "dry", "economy": "eco", "energy saving": "eco",
    "energy saver": "eco", "saving": "eco", "stay": "home", "out": "away", "sleep": "night", "sleeping": "night",
    "bed": "night", "holiday": "vacation", "disarm": "disarmed", "off": "disarmed",
}  # fmt: skip
_AUTOMATIC = ("auto", "heat_cool")


def mode_called(said: str, modes: Sequence[str]) -> str | None:
    """The mode of a device that a person means, or None."""
    spoken = " ".join(said.casefold().replace("_", " ").removesuffix(" mode").split())
    by_words = {mode.casefold().replace("_", " "): mode for mode in modes}
    for words in (spoken, _MODE_WORDS.get(spoken, spoken)):
        if words in by_words:
            return by_words[words]
        if words in _AUTOMATIC:
            return next((mode for mode in _AUTOMATIC if mode in modes), None)
    return None


# --- normalising


def normalize_arguments(tool: str, arguments: Mapping[str, Any], house: House) -> dict[str, Any]:
    """The arguments without a model's wrong guesses; the entities of the call stay the same."""
    return _normalize(tool, arguments, house)[0] if has_targets(tool) else dict(arguments)


def _normalize(tool: str, arguments: Mapping[str, Any], house: House) -> tuple[dict[str, Any], Entities]:
    normalized, entities = dict(arguments), resolved_targets(tool, arguments, house)
    for change in (_name_for_place, _without_whole_house, _without_possessive, _with_true_kinds):
        for other in change(tool, normalized, house, entities):
            found = resolved_targets(tool, other, house)
            # An unknown place finds nothing. Any other call that finds nothing ends in a question.
            if found and (found == entities or (change is _name_for_place and not entities)):
                normalized, entities = other, found
    return normalized, entities


def _name_for_place(tool: str, arguments: JsonObject, house: House, _found: Entities) -> _Proposals:
    """Moves an area that is the whole name of an entity to `name`: a lamp called Reading Nook is no area."""
    area, domain = arguments.get("area"), arguments.get("domain")
    if not area or arguments.get("name") or "name" not in _slots(tool) or find_place(house, area):
        return
    called = [entity for entity in house.entities if normalized_words(area) in map(normalized_words, _labels(entity))]
    if any(domain in (None, entity.domain) for entity in called):
        yield {"name": area} | _without(arguments, "area")


def _without_whole_house(_tool: str, arguments: JsonObject, house: House, _found: Entities) -> _Proposals:
    """Drops an area or floor that means the whole house."""
    for slot in _PLACES:
        place = arguments.get(slot)
        if place and is_whole_house(normalized_words(place)) and find_place(house, place) is None:
            yield _without(arguments, slot)


def _without_possessive(_tool: str, arguments: JsonObject, house: House, _found: Entities) -> _Proposals:
    """Drops a possessive 's ("the boiler's"), unless it is part of a name, such as a list called Joe's."""
    name = arguments.get("name") or ""
    if not name.endswith(_POSSESSIVES):
        return
    if not any(name.casefold() == label.casefold() for entity in house.entities for label in _labels(entity)):
        yield {**arguments, "name": name[: -len(_POSSESSIVES[0])]}


def _with_true_kinds(tool: str, arguments: JsonObject, _house: House, found: Entities) -> _Proposals:
    """Replaces a guessed domain or device class by that of the named entity."""
    if not arguments.get("name"):
        return
    normalized = dict(arguments)
    for slot in _KINDS:
        guess = normalized.get(slot)
        kinds = {getattr(entity, slot) for entity in found}
        # Which sensor is meant depends on its class, so a missing class is filled in.
        is_left_out = guess is None and slot == "device_class" and normalized.get("domain") in _SENSORS
        if not kinds or guess in kinds or not (guess or is_left_out):
            continue
        kind = kinds.pop() if len(kinds) == 1 else None
        is_known = kind in _slots(tool)[slot].get("enum", ())
        normalized = {**normalized, slot: kind} if is_known else _without(normalized, slot)
        yield normalized


def _slots(tool: str) -> dict[str, Any]:
    slots: dict[str, Any] = known_tools()[tool].parameters["properties"]
    return slots


def _labels(entity: Entity) -> tuple[str, ...]:
    return entity.name, *entity.aliases


def _without(arguments: Mapping[str, Any], dropped: str) -> dict[str, Any]:
    return {slot: value for slot, value in arguments.items() if slot != dropped}


# --- the confirmation question

# The verbs for on and off.
_QUESTION_VERBS = {
    "lock": ("Lock", "Unlock"),
    "alarm_control_panel": ("Arm", "Disarm"),
    "cover": ("Open", "Close"),
    "valve": ("Open", "Close"),
}
_QUESTION_FORMS = {"list_clear": "Remove everything from", "alarm_set_mode": "Disarm"}
_NOT_IN_A_NAME = re.compile(r"[^\w' -]")
_MAX_QUESTION_CHARS = 50
_MAX_NAMED = 4
_HARMLESS = frozenset({"light", "media_player", "climate", "fan", "humidifier", "vacuum", "lawn_mower"})


def confirmation_question(tool: str, entities: Entities) -> str:
    """The question before a call that needs a yes: "Unlock the front door?" """
    if tool in _QUESTION_FORMS:
        return f"{_QUESTION_FORMS[tool]} {listed([in_question(the(entity)) for entity in entities], 'and')}?"
    is_off = tool == "turn_off"
    through = _acts_on_phrase(entities) if tool == "turn_on" else ""
    has_verb = is_off or tool in ("turn_on", "set_position")
    verbs = {_QUESTION_VERBS.get(entity.domain, ("", ""))[is_off] for entity in entities if has_verb}
    verb = (verbs.pop() if len(verbs) == 1 else "") or tool.replace("_", " ").capitalize()
    names = listed([in_question(the(entity)) for entity in entities], "and")
    return f"{verb} {names}{through}?"


def _acts_on_phrase(entities: Entities) -> str:
    """What scenes, scripts and groups act on, as far as it may need a yes: ", which changes the front door"."""
    programs = [entity for entity in entities if entity.domain in _PROGRAMS]
    acted_on = [target for entity in programs for target in entity.acts_on or () if target.domain not in _HARMLESS]
    if any(entity.acts_on is None or any(it.is_unknown for it in entity.acts_on) for entity in programs):
        return ", though I cannot see all that it does"
    names = dict.fromkeys(in_question(the(target.name)) for target in acted_on)
    return f", which changes {listed(list(names)[:_MAX_NAMED], 'and')}" if names else ""


def in_question(text: str) -> str:
    """A name or a message inside a question; a sentence in it would sound like part of the question."""
    plain = " ".join(_NOT_IN_A_NAME.sub(" ", text).split())
    return plain[:_MAX_QUESTION_CHARS].rstrip()

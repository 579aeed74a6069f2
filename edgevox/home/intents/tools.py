"""The home tools bound to a home, with normalised arguments, confirmation targets and confirmation questions.

Each call is answered in a sentence, so no second model call is needed. Normalising an argument never
changes the targets of a call: what is logged, shown and scored then says what is done.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, TypeAlias

from edgevox.core.errors import StateError
from edgevox.core.languages import listed
from edgevox.core.types import JsonObject
from edgevox.core.words import normalized_words
from edgevox.home.alarms import alarm_handlers
from edgevox.home.alarms.alarms import Alarms
from edgevox.home.alarms.timers import Timers
from edgevox.home.entities import Entity, Home, HomeError, House
from edgevox.home.intents import handlers
from edgevox.home.intents.catalogue import CATALOGUE, HomeTool
from edgevox.home.phrasing import sentence, the
from edgevox.home.resolve.labels import find_place, is_whole_house
from edgevox.home.resolve.target_resolver import has_targets, resolved_targets
from edgevox.tools.tool import ConfirmLevel, Speech, Target, Tool

_PLACES = ("area", "floor")
_KINDS = ("domain", "device_class")
_SENSORS = ("sensor", "binary_sensor")
_POSSESSIVES = ("'s", "’s")
_SLOTS: dict[str, dict[str, Any]] = {tool.name: tool.parameters["properties"] for tool in CATALOGUE}


def normalize_arguments(tool: str, arguments: Mapping[str, Any], house: House) -> dict[str, Any]:
    """The arguments as the home understands them; what the call is about stays the same."""
    meant = dict(arguments)
    if not has_targets(tool):
        return meant
    for change in (_name_for_place, _without_whole_house, _without_possessive, _with_true_kinds):
        for other in change(tool, meant, house):
            about, found = resolved_targets(tool, meant, house), resolved_targets(tool, other, house)
            # A place that is none finds nothing. Any other call that finds nothing ends in a question.
            if found and (found == about or (change is _name_for_place and not about)):
                meant = other
    return meant


def _name_for_place(tool: str, arguments: Mapping[str, Any], house: House) -> Iterator[dict[str, Any]]:
    """A lamp called Reading Nook is no area. Only its whole name will do: the garden is no garden valve."""
    area, domain = arguments.get("area"), arguments.get("domain")
    if not area or arguments.get("name") or "name" not in _SLOTS[tool] or find_place(house, area):
        return
    called = [entity for entity in house.entities if normalized_words(area) in map(normalized_words, _labels(entity))]
    if any(domain in (None, entity.domain) for entity in called):
        yield {"name": area} | _without(arguments, "area")


def _without_whole_house(_tool: str, arguments: Mapping[str, Any], house: House) -> Iterator[dict[str, Any]]:
    """All the lights of the house are all the lights."""
    for slot in _PLACES:
        place = arguments.get(slot)
        if place and is_whole_house(normalized_words(place)) and find_place(house, place) is None:
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
        kinds = {getattr(entity, slot) for entity in resolved_targets(tool, meant, house)}
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


Now: TypeAlias = Callable[[], datetime]
_Handler: TypeAlias = Callable[[Home, str, Mapping[str, Any]], Awaitable[str]]

# Given to the model when it wants to answer and has not said what: only it can.
ANSWER_YOURSELF = "Answer in one short sentence of your own."
_NEVER_MIND = "All right."
# What other people hear cannot be taken back.
_SAID_TO_OTHERS = frozenset({"broadcast"})
# By their names they would be taken for the alarm of the house, which needs a yes.
_ALARM_CLOCK = frozenset({"set_alarm", "cancel_alarm"})

_HANDLERS: dict[str, _Handler] = {
    "turn_on": handlers.switch,
    "turn_off": handlers.switch,
    "get_state": handlers.get_state,
    "light_set": handlers.set_light,
    "set_position": handlers.set_position,
    "climate_set_temperature": handlers.set_temperature,
    "climate_get_temperature": handlers.get_temperature,
    "fan_set_speed": handlers.set_speed,
    "set_volume": handlers.set_volume,
    "set_volume_relative": handlers.step_volume,
    "media_pause": handlers.control_player,
    "media_unpause": handlers.control_player,
    "media_next": handlers.control_player,
    "media_previous": handlers.control_player,
    "media_search_and_play": handlers.play,
    "media_player_mute": handlers.control_player,
    "media_player_unmute": handlers.control_player,
    "vacuum_start": handlers.run_robot,
    "vacuum_return_to_base": handlers.run_robot,
    "vacuum_clean_area": handlers.run_robot,
    "lawn_mower_start_mowing": handlers.run_robot,
    "lawn_mower_dock": handlers.run_robot,
    "list_add_item": handlers.change_list,
    "list_complete_item": handlers.change_list,
    "list_remove_item": handlers.change_list,
    "shopping_list_add_item": handlers.change_list,
    "shopping_list_complete_item": handlers.change_list,
    "get_weather": handlers.get_weather,
}


def home_tools(home: Home, timers: Timers, alarms: Alarms, now: Now) -> tuple[Tool, ...]:
    """Every home tool, in the catalogue's order. `now` gives the local time."""
    return tuple(_bound(tool, home, timers, alarms, now) for tool in CATALOGUE)


def _bound(tool: HomeTool, home: Home, timers: Timers, alarms: Alarms, now: Now) -> Tool:
    async def run(**arguments: Any) -> Speech | str:  # noqa: ANN401 - the schema says what they are
        try:
            return await _answer(tool.name, arguments, home, timers, alarms, now)
        except (HomeError, StateError) as error:
            # Not an error for the model: it would guess, where the user should be asked.
            return Speech(sentence(error.message))

    return Tool(
        name=tool.name,
        description=tool.description,
        parameters=tool.parameters,
        run=run,
        side_effects=tool.has_side_effects,
        confirm=_confirm(tool.name),
        examples=tool.examples,
        is_trained_on=True,
        targets=lambda arguments: _confirmation_targets(tool.name, arguments, home),
        question=lambda arguments: confirmation_question(tool.name, arguments, home),
        normalize_arguments=lambda arguments: normalize_arguments(tool.name, arguments, home.house()),
    )


async def _answer(
    name: str, arguments: Mapping[str, Any], home: Home, timers: Timers, alarms: Alarms, now: Now
) -> Speech | str:
    match name:
        case "respond":
            message = str(arguments.get("message") or "").strip()
            return Speech(message) if message else ANSWER_YOURSELF
        case "nevermind":
            return Speech(_NEVER_MIND)
        case "get_current_time":
            return Speech(handlers.current_time(now()))
        case "get_current_date":
            return Speech(handlers.current_date(now()))
        case "broadcast":
            await home.announce(str(arguments["message"]))
            return Speech("Announced.")
        case "set_alarm" | "set_reminder" | "cancel_alarm" | "alarm_status":
            return Speech(await asyncio.to_thread(alarm_handlers.run_alarm, alarms, name, arguments))
        case _ if name in _HANDLERS:
            return Speech(await _HANDLERS[name](home, name, arguments))
        case _:
            return Speech(await asyncio.to_thread(alarm_handlers.run_timer, timers, name, arguments))


# --- before a call runs


def _confirm(tool: str) -> ConfirmLevel | None:
    if tool in _SAID_TO_OTHERS:
        return "voice"
    return "never" if tool in _ALARM_CLOCK else None


def _confirmation_targets(tool: str, arguments: JsonObject, home: Home) -> tuple[Target, ...]:
    """What the rule for confirmation should know; locking a door and closing a garage risk nothing.

    Raises HomeError when it cannot be done, and StateError when nothing is known: the rule then asks.
    """
    if not has_targets(tool):
        return ()
    return tuple(
        Target(entity.domain, entity.device_class or "", entity.name)
        for entity in resolved_targets(tool, arguments, home.house())
        if not _is_safe_direction(tool, arguments, entity)
    )


def _is_safe_direction(tool: str, arguments: JsonObject, entity: Entity) -> bool:
    match tool, entity.domain:
        case "turn_on", "lock" | "alarm_control_panel":
            return True
        case "turn_off", "cover" | "valve":
            return True
        case "set_position", "cover" | "valve":
            return bool(arguments.get("position", 100) <= (entity.attributes.get("position") or 0))
        case _:
            return False


_QUESTION_VERBS = {
    ("turn_off", "lock"): "Unlock",
    ("turn_off", "alarm_control_panel"): "Disarm",
    ("turn_on", "cover"): "Open",
    ("set_position", "cover"): "Open",
    ("turn_on", "valve"): "Open",
    ("set_position", "valve"): "Open",
    ("turn_on", "lock"): "Lock",
    ("turn_on", "alarm_control_panel"): "Arm",
    ("turn_off", "cover"): "Close",
    ("turn_off", "valve"): "Close",
}


_NOT_IN_A_NAME = re.compile(r"[^\w' -]")
_MOST_NAME_CHARS = 50


def confirmation_question(tool: str, arguments: JsonObject, home: Home) -> str:
    """The question before a call that needs a yes: "Unlock the front door?" """
    if tool in _SAID_TO_OTHERS:
        return f"Announce “{_in_a_question(str(arguments.get('message', '')))}”?"
    try:
        found = resolved_targets(tool, arguments, home.house())
    except (HomeError, StateError):
        found = ()
    verbs = {_QUESTION_VERBS.get((tool, entity.domain), "") for entity in found}
    words = tool.replace("_", " ").capitalize()
    verb = verbs.pop() or words if len(verbs) == 1 else words
    return f"{verb} {listed([_in_question(entity) for entity in found], 'and')}?" if found else f"{words}?"


def _in_question(entity: Entity) -> str:
    """The thing as a question names it. A name that is itself a sentence would be heard as ours."""
    return _in_a_question(the(entity))


def _in_a_question(text: str) -> str:
    plain = " ".join(_NOT_IN_A_NAME.sub(" ", text).split())
    return plain[:_MOST_NAME_CHARS].rstrip()

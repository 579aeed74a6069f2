"""The words for a resolved home call, as people read it: "Unlock front door", never `turn_off front door`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from edgevox.core.languages import capitalized, counted, duration, listed
from edgevox.core.types import JsonObject
from edgevox.home.entities import Area, Entities, Entity
from edgevox.home.intents.quantities import STEP
from edgevox.home.phrasing import brief, number, the

_MAX_NAMED = 3

# The verb of a switching tool by domain; "" for the other domains.
_SWITCHING: Mapping[str, Mapping[str, str]] = {
    "turn_on": {
        "": "turn on", "cover": "open", "valve": "open", "lock": "lock", "alarm_control_panel": "arm", "script": "run",
        "scene": "activate", "vacuum": "start", "lawn_mower": "start", "button": "press", "input_button": "press",
    },
    "turn_off": {
        "": "turn off", "cover": "close", "valve": "close", "lock": "unlock", "alarm_control_panel": "disarm",
        "vacuum": "stop", "lawn_mower": "stop",
    },
}  # fmt: skip
_FORMS: Mapping[str, str] = {
    "get_state": "check {}",
    "climate_get_temperature": "check the temperature of {}",
    "get_weather": "check the weather",
    "light_set": "set {} to {}",
    "set_position": "set {} to {}",
    "climate_set_temperature": "set {} to {}",
    "fan_set_speed": "set {} to {}",
    "set_volume": "set the volume of {} to {}",
    "media_pause": "pause {}",
    "media_unpause": "resume {}",
    "media_next": "skip to the next track on {}",
    "media_previous": "skip to the previous track on {}",
    "media_player_mute": "mute {}",
    "media_player_unmute": "unmute {}",
    "vacuum_start": "start {}",
    "vacuum_return_to_base": "send {} home",
    "lawn_mower_start_mowing": "start {}",
    "lawn_mower_dock": "send {} home",
    "stop_moving": "stop {}",
    "vacuum_pause": "pause {}",
    "lawn_mower_pause": "pause {}",
    "media_get_playing": "check what is playing",
    "list_clear": "clear {}",
    "climate_set_mode": "set {} to {}",
    "select_option": "set {} to {}",
    "set_number": "set {} to {}",
    "humidifier_set_humidity": "set {} to {}",
    "get_history": "check the history of {}",
    "light_set_temperature": "set {} to {}",
    "get_forecast": "check the forecast",
}
_ITEM_FORMS: Mapping[str, str] = {
    "list_add_item": "add {} to {}",
    "shopping_list_add_item": "add {} to {}",
    "list_complete_item": "tick off {} on {}",
    "shopping_list_complete_item": "tick off {} on {}",
    "list_remove_item": "remove {} from {}",
}
# Calls about the timer or alarm with an id, which nobody reads.
_BY_ID: Mapping[str, str] = {
    "cancel_timer": "cancel the timer",
    "pause_timer": "pause the timer",
    "unpause_timer": "resume the timer",
    "increase_timer": "add {} to the timer",
    "decrease_timer": "remove {} from the timer",
    "cancel_alarm": "cancel what was set",
    "set_alarm": "change what was set",
}
# What a step does, more and less.
_STEPS: Mapping[str, tuple[str, str]] = {"light_set": ("brighten", "dim"), "set_position": ("open", "close")}


def _bare_name(thing: Entity | Area) -> str:
    return the(thing).removeprefix("the ")


def call_phrase(
    tool: str,
    arguments: JsonObject,
    entities: Entities = (),
    area: Area | None = None,
    *,
    name: Callable[[Entity | Area], str] = _bare_name,
) -> str:
    """What the call does, as a command; "" for a tool whose name says it."""
    names = _names(entities, name) if entities else _said(arguments)
    if tool in _SWITCHING:
        verbs = {_SWITCHING[tool].get(entity.domain, _SWITCHING[tool][""]) for entity in entities}
        return _capitalized(f"{verbs.pop() if len(verbs) == 1 else _SWITCHING[tool]['']} {names}")
    if tool in _ITEM_FORMS:
        if arguments.get("reopen"):
            return _capitalized(f"put {brief(str(arguments.get('item', '')))} back on {names or 'shopping list'}")
        return _capitalized(_ITEM_FORMS[tool].format(brief(str(arguments.get("item", ""))), names or "shopping list"))
    if area is not None:
        return _capitalized(f"clean {name(area)} with {names}")
    if arguments.get(STEP) and (len(entities) != 1 or tool == "light_set_temperature"):
        return _capitalized(_step(tool, names, arguments[STEP]))
    if tool in _FORMS:
        return _capitalized(_FORMS[tool].format(names, _value(arguments)))
    return _capitalized(_other(tool, arguments, names))


def _other(tool: str, arguments: JsonObject, names: str) -> str:
    if arguments.get("id") and tool in _BY_ID:
        return _BY_ID[tool].format(_length(arguments))
    match tool:
        case "media_search_and_play":
            return f"play {brief(str(arguments.get('search_query', '')))} on {names}"
        case "set_volume_relative":
            step = arguments.get("volume_step", "up")
            if isinstance(step, str):
                return f"turn {step} {names}"
            return f"turn {'up' if step > 0 else 'down'} {names} by {abs(step)} percent"
        case "start_timer" if arguments.get("conversation_command"):
            return f"schedule {brief(str(arguments['conversation_command']))} in {_length(arguments)}"
        case "start_timer":
            return f"start a timer of {_length(arguments)}"
        case "increase_timer" | "decrease_timer":
            verb, to = ("add", "to") if tool == "increase_timer" else ("take", "off")
            return f"{verb} {_length(arguments)} {to} {_timer(arguments)}"
        case "cancel_timer" | "pause_timer":
            return f"{tool.partition('_')[0]} {_timer(arguments)}"
        case "unpause_timer":
            return f"resume {_timer(arguments)}"
        case "cancel_all_timers":
            return "cancel all timers"
        case "timer_status":
            return f"check {_timer(arguments)}"
        case "alarm_status":
            return "check the alarms and reminders"
        case "cancel_alarm":
            what = brief(str(arguments.get("name") or arguments.get("time") or ""))
            return f"cancel the alarm or reminder {what}"
        case "set_alarm":
            return f"set an alarm for {brief(str(arguments.get('time', '')))}"
        case "set_reminder":
            return f"set a reminder: {brief(str(arguments.get('task', '')))}"
        case "get_current_time" | "get_current_date":
            return f"check the {tool.rpartition('_')[2]}"
        case "broadcast":
            return f"announce “{brief(str(arguments.get('message', '')))}”"
        case "respond":
            return "answer"
        case "vacuum_clean_area":
            return f"clean {names}"
        case "nevermind":
            return "drop the request"
        case "list_get_items":
            return (
                f"look for {brief(str(arguments['item']))} on {names or 'the lists'}"
                if arguments.get("item")
                else f"read {names}"
            )
        case "list_create":
            return f"create a list called {brief(str(arguments.get('name', '')))}"
        case "calendar_get_events":
            return "read the calendar"
        case "calendar_create_event":
            time = brief(str(arguments.get("time") or ""))
            return f"add {brief(str(arguments.get('title', '')))} to the calendar {time}"
        case "alarm_set_mode":
            mode = str(arguments.get("mode", ""))
            return f"disarm {names}" if mode == "disarmed" else f"arm {names} for {mode}"
        case _:
            return ""


def _step(tool: str, names: str, step: float) -> str:
    if tool == "light_set_temperature":
        return f"make {names} {'colder' if step > 0 else 'warmer'}"
    more, less = _STEPS.get(tool, ("raise", "lower"))
    unit = "degrees" if tool == "climate_set_temperature" else "percent"
    return f"{more if step > 0 else less} {names} by {number(abs(step))} {unit}"


def _value(arguments: JsonObject) -> str:
    """The value that a call sets: "red at 40 percent", "21 degrees"."""
    match arguments:
        case {"color": color, "brightness": brightness}:
            return f"{color} at {brightness} percent"
        case {"color": value}:
            return str(value)
        case {"temperature": int() | float() as degrees}:
            return f"{number(degrees)} degrees"
        case {"position": percent}:
            return f"{percent} percent open"
        case {"value": int() | float() as value}:
            return number(value)
        case {"humidity": percent}:
            return f"{percent} percent"
        case {"kelvin": kelvin}:
            return f"{kelvin} kelvin"
        case {"mode": value} | {"option": value}:
            return str(value).replace("_", " ")
        case {"brightness": percent} | {"percentage": percent} | {"volume_level": percent}:
            return f"{percent} percent"
        case _:
            return ""


def _timer(arguments: JsonObject) -> str:
    return f"the {brief(str(arguments['name']))} timer" if arguments.get("name") else "the timer"


def _length(arguments: JsonObject) -> str:
    units = {"hours": 3600, "minutes": 60, "seconds": 1}
    return duration(sum(int(arguments.get(unit) or 0) * seconds for unit, seconds in units.items()))


def _names(entities: Entities, name: Callable[[Entity | Area], str]) -> str:
    if len(entities) <= _MAX_NAMED:
        return listed([name(entity) for entity in entities], "and")
    kinds = {entity.domain.replace("_", " ") for entity in entities}
    return counted(len(entities), kinds.pop() if len(kinds) == 1 else "thing")


def _said(arguments: Mapping[str, Any]) -> str:
    """The targets of a call that could not be resolved, as they were said."""
    parts = (arguments.get(slot) for slot in ("area", "floor", "name", "device_class", "domain"))
    return brief(" ".join(str(part).replace("_", " ") for part in parts if part))


def _capitalized(text: str) -> str:
    return capitalized(" ".join(text.split()))

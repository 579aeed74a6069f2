"""Home Assistant's intents as calls of our own tools."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from edgevox.core.types import JsonObject, ToolCall
from edgevox.home.grammar import tool_call
from edgevox.home.intents.catalogue import known_tools
from edgevox.home.rules.languages.templates import Match

# Older and newer names of the same intents.
_RENAMED = {"media_mute": "media_player_mute", "media_unmute": "media_player_unmute"}
_KINDS = ("domain", "device_class")
_NOON = 12


def tool_of(intent: str) -> str:
    """The name of the tool for an intent: HassLightSet is light_set."""
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", intent.removeprefix("Hass")).lower()
    return _RENAMED.get(snake, snake)


def _clock(slots: Mapping[str, Any]) -> str:
    """The time of an alarm in English: "tomorrow at 6:30"."""
    hour, minute = slots.get("hour"), int(slots.get("minute") or 0)
    if "half_to" in slots:
        hour, minute = int(slots["half_to"] or 12) - 1, 30
    elif "half_past" in slots:
        hour, minute = slots["half_past"], 30
    hour = int(hour or 0) % 24
    half = slots.get("part", "") if 0 < hour <= _NOON else ""
    clock = f"{hour % 12 + 12 * (half == 'pm')}:{minute:02}" if half else f"{hour}:{minute:02}"
    return f"{slots['day']} at {clock}" if slots.get("day") else clock


def _of_own(match: Match) -> ToolCall | None:
    """The call of a sentence that only we have templates for."""
    match match.intent:
        case "EdgeVoxSetAlarm":
            return tool_call("set_alarm", time=_clock(match.slots))
        case "EdgeVoxSetReminder":
            return tool_call("set_reminder", task=str(match.slots["task"]).strip(" ,"), time=_clock(match.slots))
        case "EdgeVoxCancelAlarm":
            return tool_call("cancel_alarm")
        case "EdgeVoxAlarmStatus":
            return tool_call("alarm_status")
        case "EdgeVoxListGetItems":
            return tool_call("list_get_items", name=match.slots["name"])
        case _:
            return None


def call_of(match: Match) -> ToolCall | None:
    """The call of a matched sentence; None if there is no such tool, or a required slot is missing."""
    if own := _of_own(match):
        return own
    name, slots = tool_of(match.intent), dict(match.slots)
    if name == "light_set" and "brightness" not in slots and "color" not in slots and "temperature" in slots:
        name, slots = "light_set_temperature", {**slots, "kelvin": slots.pop("temperature")}
    if (tool := known_tools().get(name)) is None:
        return None
    properties = tool.parameters["properties"]
    arguments = {
        slot: _value(slots[slot])
        for slot, schema in properties.items()
        if slot in slots and _knows(slot, slots, schema)
    }
    if any(slot not in arguments for slot in tool.parameters.get("required", ())):
        return None
    return tool_call(name, **arguments)


def _knows(slot: str, slots: Mapping[str, Any], schema: JsonObject) -> bool:
    if slot == "name" and slots[slot] == "all":
        return False
    return slot not in _KINDS or slots[slot] in schema.get("enum", (slots[slot],))


def _value(value: object) -> object:
    match value:
        case float() if value.is_integer():
            return int(value)
        case str():
            return value.strip(" -,")  # a wildcard of "Nudel-Timer" is "Nudel-"
        case _:
            return value

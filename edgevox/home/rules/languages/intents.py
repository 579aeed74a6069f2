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


def tool_of(intent: str) -> str:
    """The name of the tool for an intent: HassLightSet is light_set."""
    snake = re.sub(r"(?<!^)(?=[A-Z])", "_", intent.removeprefix("Hass")).lower()
    return _RENAMED.get(snake, snake)


def _of_own(match: Match) -> ToolCall | None:
    """The call of a sentence that only we have templates for."""
    match match.intent:
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

"""What a home tool is made of: its name, its description and its slots. FROZEN, like the catalogue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from edgevox.types import JsonObject

_TEXT = {"type": "string"}
_PERCENT = {"type": "integer", "minimum": 0, "maximum": 100}
_COUNT = {"type": "integer", "minimum": 0}

COVER_CLASSES = [
    "awning",
    "blind",
    "curtain",
    "damper",
    "door",
    "garage",
    "gate",
    "shade",
    "shutter",
    "window",
]
SENSOR_CLASSES = [
    "battery", "battery_charging", "carbon_dioxide", "carbon_monoxide", "cold", "connectivity", "energy",
    "garage_door", "gas", "heat", "humidity", "illuminance", "light", "lock", "moisture", "motion", "moving",
    "occupancy", "opening", "plug", "pm25", "power", "presence", "pressure", "problem", "running", "safety",
    "smoke", "sound", "tamper", "temperature", "update", "vibration", "voltage",
]  # fmt: skip
SWITCHED_DOMAINS = (
    "light", "switch", "fan", "cover", "lock", "media_player", "climate", "scene", "script", "valve",
    "vacuum", "lawn_mower", "humidifier", "siren", "input_boolean", "automation", "alarm_control_panel",
)  # fmt: skip
_MEDIA = [
    "album", "app", "artist", "channel", "episode", "game", "genre", "movie", "music", "playlist", "podcast",
    "season", "track", "tv_show", "url", "video",
]  # fmt: skip


def one_of(*texts: str) -> dict[str, Any]:
    return {"type": "string", "enum": list(texts)}


_SLOTS: dict[str, dict[str, Any]] = {
    "name": _TEXT,
    "area": _TEXT,
    "floor": _TEXT,
    "state": _TEXT,
    "brightness": _PERCENT,
    "color": _TEXT,
    "temperature": {"type": "number"},
    "position": {**_PERCENT, "description": "0 closed, 100 open"},
    "percentage": _PERCENT,
    "volume_level": _PERCENT,
    "volume_step": {"anyOf": [one_of("up", "down"), {"type": "integer", "minimum": -100, "maximum": 100}]},
    "hours": _COUNT,
    "minutes": _COUNT,
    "seconds": _COUNT,
    "start_hours": _COUNT,
    "start_minutes": _COUNT,
    "start_seconds": _COUNT,
    "conversation_command": {**_TEXT, "description": "command to run when it ends"},
    "item": _TEXT,
    "message": _TEXT,
    "task": _TEXT,
    "time": {**_TEXT, "description": "as the user says it"},
    "search_query": _TEXT,
    "media_class": one_of(*_MEDIA),
}
PLACE = ("name", "area", "floor")
STARTED_AS = ("name", "area", "start_hours", "start_minutes", "start_seconds")
LENGTH = ("hours", "minutes", "seconds")


@dataclass(frozen=True, slots=True)
class HomeTool:
    """One tool: what the model reads of it, and sentences a person would say."""

    name: str
    description: str
    parameters: JsonObject
    has_side_effects: bool
    examples: tuple[str, ...]


def home_tool(
    name: str,
    description: str,
    slots: tuple[str, ...],
    examples: tuple[str, ...],
    *,
    required: tuple[str, ...] = (),
    has_side_effects: bool = True,
    own_slots: dict[str, dict[str, Any]] | None = None,
) -> HomeTool:
    known = {**_SLOTS, **(own_slots or {})}
    parameters: dict[str, Any] = {"type": "object", "properties": {slot: known[slot] for slot in slots}}
    if required:
        parameters["required"] = list(required)
    return HomeTool(name, description, parameters, has_side_effects, examples)

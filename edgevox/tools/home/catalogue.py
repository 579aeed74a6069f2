"""The home tools as a model sees them: names, slots, descriptions. FROZEN: a model is trained on them.

The names are Home Assistant's intents in snake case without "Hass", the slots are theirs. Any change here,
to a single letter, needs a new HOME_TOOLS_VERSION and a model that was trained on it; a test holds a digest.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from edgevox.types import JsonObject

HOME_TOOLS_VERSION = 1

_TEXT = {"type": "string"}
_PERCENT = {"type": "integer", "minimum": 0, "maximum": 100}
_COUNT = {"type": "integer", "minimum": 0}

_COVERS = ["awning", "blind", "curtain", "damper", "door", "garage", "gate", "shade", "shutter", "window"]
_SENSES = [
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


def _one_of(*texts: str) -> dict[str, Any]:
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
    "volume_step": {"anyOf": [_one_of("up", "down"), {"type": "integer", "minimum": -100, "maximum": 100}]},
    "hours": _COUNT,
    "minutes": _COUNT,
    "seconds": _COUNT,
    "start_hours": _COUNT,
    "start_minutes": _COUNT,
    "start_seconds": _COUNT,
    "conversation_command": {**_TEXT, "description": "command to run when it ends"},
    "item": _TEXT,
    "message": _TEXT,
    "search_query": _TEXT,
    "media_class": _one_of(*_MEDIA),
}
_PLACE = ("name", "area", "floor")
_STARTED_AS = ("name", "area", "start_hours", "start_minutes", "start_seconds")
_LENGTH = ("hours", "minutes", "seconds")


@dataclass(frozen=True, slots=True)
class HomeTool:
    """One tool: what the model reads of it, and sentences a person would say."""

    name: str
    description: str
    parameters: JsonObject
    has_side_effects: bool
    examples: tuple[str, ...]


def _tool(
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


_ACTED_ON = {
    "domain": _one_of(*SWITCHED_DOMAINS),
    "device_class": _one_of(*_COVERS, "outlet", "switch", "tv"),
}
_ASKED_ABOUT = {
    "domain": _one_of("sensor", "binary_sensor", *SWITCHED_DOMAINS, "weather", "todo", "person"),
    "device_class": _one_of(*_COVERS, *_SENSES),
}
_MOVED = {"domain": _one_of("cover", "valve"), "device_class": _one_of(*_COVERS)}

CATALOGUE: tuple[HomeTool, ...] = (
    _tool(
        "turn_on",
        "Turn on, open, lock or activate things",
        (*_PLACE, "domain", "device_class"),
        ("switch the hallway light on", "open the curtains in the bedroom", "lock up the front door"),
        own_slots=_ACTED_ON,
    ),
    _tool(
        "turn_off",
        "Turn off, close or unlock things",
        (*_PLACE, "domain", "device_class"),
        ("lights out in the office", "shut the garage door", "unlock the front door for me"),
        own_slots=_ACTED_ON,
    ),
    _tool(
        "get_state",
        "Ask for the state of things, or whether they are in a state",
        (*_PLACE, "domain", "device_class", "state"),
        ("did I leave the garage open", "which lights are still on", "tell me the outdoor temperature"),
        has_side_effects=False,
        own_slots=_ASKED_ABOUT,
    ),
    _tool(
        "light_set",
        "Set brightness in percent or colour of lights",
        (*_PLACE, "brightness", "color"),
        ("dim the bedside lamp to a quarter", "make the living room purple"),
    ),
    _tool(
        "set_position",
        "Set how far blinds and other covers are open",
        (*_PLACE, "domain", "device_class", "position"),
        ("leave the blinds half open", "garage door to ten percent"),
        required=("position",),
        own_slots=_MOVED,
    ),
    _tool(
        "climate_set_temperature",
        "Set the temperature of the heating",
        (*_PLACE, "temperature"),
        ("I would like it to be 22 degrees in the office", "heating to nineteen and a half"),
        required=("temperature",),
    ),
    _tool(
        "climate_get_temperature",
        "Ask how warm it is indoors",
        _PLACE,
        ("how warm is it in the bedroom", "is it cold upstairs"),
        has_side_effects=False,
    ),
    _tool(
        "fan_set_speed",
        "Set the speed of fans in percent",
        (*_PLACE, "percentage"),
        ("run the ceiling fan at a third of its speed",),
        required=("percentage",),
    ),
    _tool(
        "set_volume",
        "Set the volume of a player in percent",
        ("name", "area", "volume_level"),
        ("I want the TV at volume twenty",),
        required=("volume_level",),
    ),
    _tool(
        "set_volume_relative",
        "Make a player louder or quieter",
        ("name", "area", "volume_step"),
        ("the radio is too quiet", "a bit less noise from the TV", "fifteen percent louder in the kitchen"),
        required=("volume_step",),
    ),
    _tool("media_pause", "Pause a player", ("name", "area"), ("hold the film for a moment",)),
    _tool("media_unpause", "Go on playing", ("name", "area"), ("carry on with the music",)),
    _tool("media_next", "Skip to the next track", ("name", "area"), ("I do not like this song, skip it",)),
    _tool("media_previous", "Back to the previous track", ("name", "area"), ("play that last song again",)),
    _tool(
        "media_search_and_play",
        "Find something and play it",
        ("name", "area", "search_query", "media_class"),
        ("put on some Miles Davis in the kitchen", "I want to watch Casablanca on the TV"),
        required=("search_query",),
    ),
    _tool("media_player_mute", "Mute a player", ("name", "area"), ("silence the TV",)),
    _tool("media_player_unmute", "Unmute a player", ("name", "area"), ("sound back on, please",)),
    _tool(
        "start_timer",
        "Start a timer, or do something later",
        (*_LENGTH, "name", "conversation_command"),
        ("wake me in forty minutes", "pasta timer, nine minutes", "in half an hour close the garage door"),
    ),
    _tool(
        "increase_timer",
        "Add time to a timer",
        (*_LENGTH, *_STARTED_AS),
        ("give the pasta two more minutes",),
    ),
    _tool(
        "decrease_timer",
        "Take time off a timer",
        (*_LENGTH, *_STARTED_AS),
        ("make the pasta timer a minute shorter",),
    ),
    _tool("cancel_timer", "Cancel a timer", _STARTED_AS, ("I do not need the egg timer any more",)),
    _tool("cancel_all_timers", "Cancel every timer", ("area",), ("stop every timer that is running",)),
    _tool("pause_timer", "Pause a timer", _STARTED_AS, ("hold my timer", "freeze the half hour timer")),
    _tool("unpause_timer", "Let a paused timer go on", _STARTED_AS, ("let the pasta timer go on",)),
    _tool(
        "timer_status",
        "Ask how much time is left on timers",
        _STARTED_AS,
        ("how long do the eggs still need",),
        has_side_effects=False,
    ),
    _tool("vacuum_start", "Start a vacuum cleaner", _PLACE, ("let the robot clean up",)),
    _tool("vacuum_return_to_base", "Send a vacuum cleaner home", ("name", "area"), ("robot, go home",)),
    _tool(
        "vacuum_clean_area",
        "Vacuum one area",
        ("area", "name"),
        ("the kitchen floor needs a clean",),
        required=("area",),
    ),
    _tool("lawn_mower_start_mowing", "Start mowing the lawn", ("name",), ("the grass is too long, cut it",)),
    _tool("lawn_mower_dock", "Send a lawn mower home", ("name",), ("get the mower back to its station",)),
    _tool(
        "list_add_item",
        "Add to a list",
        ("item", "name"),
        ("put call the plumber on my chores",),
        required=("item", "name"),
    ),
    _tool(
        "list_complete_item",
        "Tick off on a list",
        ("item", "name"),
        ("I have watered the plants, tick it off my tasks",),
        required=("item", "name"),
    ),
    _tool(
        "list_remove_item",
        "Delete from a list",
        ("item", "name"),
        ("drop the dentist from my to-do list",),
        required=("item", "name"),
    ),
    _tool(
        "shopping_list_add_item",
        "Add to the shopping list",
        ("item",),
        ("we are out of butter", "remind me to buy eggs"),
        required=("item",),
    ),
    _tool(
        "shopping_list_complete_item",
        "Tick off on the shopping list",
        ("item",),
        ("I have bought the bread",),
        required=("item",),
    ),
    _tool(
        "get_weather",
        "Ask for the weather",
        ("name",),
        ("do I need an umbrella", "is it nice outside"),
        has_side_effects=False,
    ),
    _tool("get_current_time", "Ask for the time", (), ("how late is it",), has_side_effects=False),
    _tool("get_current_date", "Ask for the date", (), ("which day is today",), has_side_effects=False),
    _tool(
        "broadcast",
        "Announce a message in the whole home",
        ("message",),
        ("tell everyone that lunch is on the table",),
        required=("message",),
    ),
    _tool(
        "respond",
        "Answer without doing anything",
        ("message",),
        ("good morning", "who are you"),
        has_side_effects=False,
    ),
    _tool("nevermind", "Forget the request", (), ("oh, leave it",), has_side_effects=False),
)


def digest() -> str:
    """A fingerprint of all that a model reads: it changes with any letter or order of it."""
    read = [(tool.name, tool.description, tool.parameters) for tool in CATALOGUE]
    return hashlib.sha256(json.dumps(read, ensure_ascii=False).encode()).hexdigest()[:16]

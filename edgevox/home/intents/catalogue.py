"""The home tools as a model sees them: names, slots, descriptions. FROZEN: a model is trained on them.

The names are Home Assistant's intents in snake case without "Hass", the slots are theirs; only alarms and
reminders are our own. Any change here, to a single letter, needs a new HOME_TOOLS_VERSION and a model that
was trained on it; a test holds a digest.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from edgevox.core.types import JsonObject

_TEXT = {"type": "string"}
_PERCENT = {"type": "integer", "minimum": 0, "maximum": 100}
_COUNT = {"type": "integer", "minimum": 0}

COVER_CLASSES = ["awning", "blind", "curtain", "damper", "door", "garage", "gate", "shade", "shutter", "window"]
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


HOME_TOOLS_VERSION = 2

_PLUG_CLASSES = ("outlet", "switch", "tv")
_ACTED_ON = {"domain": one_of(*SWITCHED_DOMAINS), "device_class": one_of(*COVER_CLASSES, *_PLUG_CLASSES)}
_ASKED_ABOUT = {
    "domain": one_of("sensor", "binary_sensor", *SWITCHED_DOMAINS, "weather", "todo", "person"),
    "device_class": one_of(*COVER_CLASSES, *SENSOR_CLASSES, *_PLUG_CLASSES),
}
_MOVED = {"domain": one_of("cover", "valve"), "device_class": one_of(*COVER_CLASSES)}

CATALOGUE: tuple[HomeTool, ...] = (
    home_tool(
        "turn_on",
        "Turn on, open, lock or activate things",
        (*PLACE, "domain", "device_class"),
        ("switch the hallway light on", "open the curtains in the bedroom", "lock up the front door"),
        own_slots=_ACTED_ON,
    ),
    home_tool(
        "turn_off",
        "Turn off, close or unlock things",
        (*PLACE, "domain", "device_class"),
        ("lights out in the office", "shut the garage door", "unlock the front door for me"),
        own_slots=_ACTED_ON,
    ),
    home_tool(
        "get_state",
        "Ask for the state of things, or whether they are in a state",
        (*PLACE, "domain", "device_class", "state"),
        ("did I leave the garage open", "which lights are still on", "tell me the outdoor temperature"),
        has_side_effects=False,
        own_slots=_ASKED_ABOUT,
    ),
    home_tool(
        "light_set",
        "Set brightness in percent or colour of lights",
        (*PLACE, "brightness", "color"),
        ("dim the bedside lamp to a quarter", "make the living room purple"),
    ),
    home_tool(
        "set_position",
        "Set how far blinds and other covers are open",
        (*PLACE, "domain", "device_class", "position"),
        ("leave the blinds half open", "garage door to ten percent"),
        required=("position",),
        own_slots=_MOVED,
    ),
    home_tool(
        "climate_set_temperature",
        "Set the temperature of the heating",
        (*PLACE, "temperature"),
        ("I would like it to be 22 degrees in the office", "heating to nineteen and a half"),
        required=("temperature",),
    ),
    home_tool(
        "climate_get_temperature",
        "Ask how warm it is indoors",
        PLACE,
        ("how warm is it in the bedroom", "is it cold upstairs"),
        has_side_effects=False,
    ),
    home_tool(
        "fan_set_speed",
        "Set the speed of fans in percent",
        (*PLACE, "percentage"),
        ("run the ceiling fan at a third of its speed",),
        required=("percentage",),
    ),
    home_tool(
        "set_volume",
        "Set the volume of a player in percent",
        ("name", "area", "volume_level"),
        ("I want the TV at volume twenty",),
        required=("volume_level",),
    ),
    home_tool(
        "set_volume_relative",
        "Make a player louder or quieter",
        ("name", "area", "volume_step"),
        ("the radio is too quiet", "a bit less noise from the TV", "fifteen percent louder in the kitchen"),
        required=("volume_step",),
    ),
    home_tool("media_pause", "Pause a player", ("name", "area"), ("hold the film for a moment",)),
    home_tool("media_unpause", "Go on playing", ("name", "area"), ("carry on with the music",)),
    home_tool("media_next", "Skip to the next track", ("name", "area"), ("I do not like this song, skip it",)),
    home_tool("media_previous", "Back to the previous track", ("name", "area"), ("play that last song again",)),
    home_tool(
        "media_search_and_play",
        "Find something and play it",
        ("name", "area", "search_query", "media_class"),
        ("put on some Miles Davis in the kitchen", "I want to watch Casablanca on the TV"),
        required=("search_query",),
    ),
    home_tool("media_player_mute", "Mute a player", ("name", "area"), ("silence the TV",)),
    home_tool("media_player_unmute", "Unmute a player", ("name", "area"), ("sound back on, please",)),
    home_tool(
        "start_timer",
        "Start a timer, or do something later",
        (*LENGTH, "name", "conversation_command"),
        ("wake me in forty minutes", "pasta timer, nine minutes", "in half an hour close the garage door"),
    ),
    home_tool("increase_timer", "Add time to a timer", (*LENGTH, *STARTED_AS), ("give the pasta two more minutes",)),
    home_tool(
        "decrease_timer", "Take time off a timer", (*LENGTH, *STARTED_AS), ("make the pasta timer a minute shorter",)
    ),
    home_tool("cancel_timer", "Cancel a timer", STARTED_AS, ("I do not need the egg timer any more",)),
    home_tool("cancel_all_timers", "Cancel every timer", ("area",), ("stop every timer that is running",)),
    home_tool("pause_timer", "Pause a timer", STARTED_AS, ("hold my timer", "freeze the half hour timer")),
    home_tool("unpause_timer", "Let a paused timer go on", STARTED_AS, ("let the pasta timer go on",)),
    home_tool(
        "timer_status",
        "Ask how much time is left on timers",
        STARTED_AS,
        ("how long do the eggs still need",),
        has_side_effects=False,
    ),
    home_tool(
        "set_alarm",
        "Set an alarm for a time of day",
        ("time", "name"),
        ("get me up at half past six", "alarm tomorrow at seven"),
        required=("time",),
    ),
    home_tool(
        "set_reminder",
        "Remind the user of something",
        ("task", "time"),
        ("at six I have to feed the cat, remind me", "do not let me forget the dentist on Monday"),
        required=("task",),
    ),
    home_tool(
        "cancel_alarm",
        "Cancel alarms or reminders",
        ("time", "name"),
        ("I can sleep in tomorrow, no alarm", "forget the reminder about the cat"),
    ),
    home_tool(
        "alarm_status",
        "Ask which alarms and reminders are set",
        ("time", "name"),
        ("when do you wake me", "what should I not forget tomorrow"),
        has_side_effects=False,
    ),
    home_tool("vacuum_start", "Start a vacuum cleaner", PLACE, ("let the robot clean up",)),
    home_tool("vacuum_return_to_base", "Send a vacuum cleaner home", ("name", "area"), ("robot, go home",)),
    home_tool(
        "vacuum_clean_area",
        "Vacuum one area",
        ("area", "name"),
        ("the kitchen floor needs a clean",),
        required=("area",),
    ),
    home_tool("lawn_mower_start_mowing", "Start mowing the lawn", ("name",), ("the grass is too long, cut it",)),
    home_tool("lawn_mower_dock", "Send a lawn mower home", ("name",), ("get the mower back to its station",)),
    home_tool(
        "list_add_item",
        "Add to a list",
        ("item", "name"),
        ("put call the plumber on my chores",),
        required=("item", "name"),
    ),
    home_tool(
        "list_complete_item",
        "Tick off on a list",
        ("item", "name"),
        ("I have watered the plants, tick it off my tasks",),
        required=("item", "name"),
    ),
    home_tool(
        "list_remove_item",
        "Delete from a list",
        ("item", "name"),
        ("drop the dentist from my to-do list",),
        required=("item", "name"),
    ),
    home_tool(
        "shopping_list_add_item",
        "Add to the shopping list",
        ("item",),
        ("we are out of butter", "remind me to buy eggs"),
        required=("item",),
    ),
    home_tool(
        "shopping_list_complete_item",
        "Tick off on the shopping list",
        ("item",),
        ("I have bought the bread",),
        required=("item",),
    ),
    home_tool(
        "get_weather",
        "Ask for the weather",
        ("name",),
        ("do I need an umbrella", "is it nice outside"),
        has_side_effects=False,
    ),
    home_tool("get_current_time", "Ask for the time", (), ("how late is it",), has_side_effects=False),
    home_tool("get_current_date", "Ask for the date", (), ("which day is today",), has_side_effects=False),
    home_tool(
        "broadcast",
        "Announce a message in the whole home",
        ("message",),
        ("tell everyone that lunch is on the table",),
        required=("message",),
    ),
    home_tool(
        "respond",
        "Answer without doing anything",
        ("message",),
        ("good morning", "who are you"),
        has_side_effects=False,
    ),
    home_tool("nevermind", "Forget the request", (), ("oh, leave it",), has_side_effects=False),
)


def digest() -> str:
    """A fingerprint of all that a model reads: it changes with any letter or order of it."""
    read = [(tool.name, tool.description, tool.parameters) for tool in CATALOGUE]
    return hashlib.sha256(json.dumps(read, ensure_ascii=False).encode()).hexdigest()[:16]

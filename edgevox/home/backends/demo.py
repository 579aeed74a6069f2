"""The demo home: two floors, seven areas, and entities whose states are kept in one small file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, assert_never

from pydantic import BaseModel, ConfigDict, Field

from edgevox.core.state_file import StateFile
from edgevox.home.backends.local_lists import LIST_VERBS, Line, as_items, change_lines, forget_lines, waiting
from edgevox.home.entities import Action, Area, Entity, Floor, HomeError, House, ListItem
from edgevox.home.phrasing import number, sentence, the

FLOORS = (
    Floor("ground_floor", "Ground Floor", ("Downstairs", "Main Floor")),
    Floor("upper_floor", "Upper Floor", ("Upstairs", "Top Floor")),
)
AREAS = (
    Area("kitchen", "Kitchen", (), "ground_floor"),
    Area("living_room", "Living Room", ("Lounge", "Sitting Room"), "ground_floor"),
    Area("hallway", "Hallway", ("Hall", "Entrance"), "ground_floor"),
    Area("garage", "Garage", (), "ground_floor"),
    Area("garden", "Garden", ("Yard", "Outside"), "ground_floor"),
    Area("bedroom", "Bedroom", (), "upper_floor"),
    Area("office", "Office", ("Study",), "upper_floor"),
)
_FLOOR_OF = {area.id: area.floor for area in AREAS}


def _entry(
    entity_id: str,
    name: str,
    area: str | None,
    state: str,
    *aliases: str,
    device_class: str | None = None,
    **attributes: Any,  # noqa: ANN401 - attributes of any kind
) -> Entity:
    domain = entity_id.partition(".")[0]
    floor = _FLOOR_OF[area] if area else None
    return Entity(entity_id, name, domain, state, aliases, area, floor, device_class, attributes)


SHOPPING_LIST = "todo.shopping_list"

FIRST_DAY = House(
    entities=(
        _entry("light.kitchen", "Kitchen Light", "kitchen", "off", brightness=0),
        _entry("light.counter", "Counter Light", "kitchen", "off", brightness=0),
        _entry("switch.coffee_machine", "Coffee Machine", "kitchen", "off", "Coffee Maker"),
        _entry(
            "media_player.kitchen", "Kitchen Speaker", "kitchen", "idle", "Radio",
            device_class="speaker", volume_level=30, is_volume_muted=False, media_title="", track=1,
        ),
        _entry("light.living_room", "Living Room Light", "living_room", "on", brightness=80),
        _entry("light.floor_lamp", "Floor Lamp", "living_room", "off", brightness=0, color="white"),
        _entry(
            "media_player.tv", "TV", "living_room", "playing",
            device_class="tv", volume_level=40, is_volume_muted=False, media_title="the news", track=1,
        ),
        _entry(
            "climate.thermostat", "Thermostat", "living_room", "heat", "Heating",
            temperature=21.0, current_temperature=20.5, min_temp=7.0, max_temp=30.0, unit="°C",
        ),
        _entry("cover.living_room_blinds", "Living Room Blinds", "living_room", "open",
               device_class="blind", position=100),
        _entry("vacuum.robot", "Robot Vacuum", "living_room", "docked", "Robot", battery=100),
        _entry("light.hallway", "Hallway Light", "hallway", "on", brightness=100),
        _entry("lock.front_door", "Front Door", "hallway", "locked", "Front Door Lock"),
        _entry("binary_sensor.front_door", "Front Door", "hallway", "off", device_class="door"),
        _entry("alarm_control_panel.house", "Alarm", "hallway", "disarmed", "Burglar Alarm"),
        _entry("light.garage", "Garage Light", "garage", "off", brightness=0),
        _entry("cover.garage_door", "Garage Door", "garage", "closed", device_class="garage", position=0),
        _entry("light.garden", "Garden Lights", "garden", "off", brightness=0),
        _entry("lawn_mower.garden", "Mower", "garden", "docked", "Lawn Mower"),
        _entry("sensor.outdoor_temperature", "Outdoor Temperature", "garden", "14.5",
               device_class="temperature", unit="°C"),
        _entry("light.bedroom", "Bedroom Light", "bedroom", "off", brightness=0),
        _entry("light.bedside_lamp", "Bedside Lamp", "bedroom", "off", brightness=0, color="white"),
        _entry("fan.bedroom", "Ceiling Fan", "bedroom", "off", percentage=0),
        _entry("cover.bedroom_curtains", "Curtains", "bedroom", "closed", device_class="curtain", position=0),
        _entry("sensor.bedroom_temperature", "Bedroom Temperature", "bedroom", "19.5",
               device_class="temperature", unit="°C"),
        _entry("light.desk_lamp", "Desk Lamp", "office", "off", brightness=0, color="white"),
        _entry("switch.printer", "Printer", "office", "off", device_class="outlet"),
        _entry("binary_sensor.office_window", "Office Window", "office", "off", device_class="window"),
        _entry("weather.home", "Weather", None, "partlycloudy",
               temperature=15.0, humidity=62, wind_speed=12, unit="°C"),
        _entry("scene.movie_night", "Movie Night", None, "never"),
        _entry(SHOPPING_LIST, "Shopping List", None, "0", "Groceries"),
        _entry("todo.tasks", "To-Do List", None, "0", "Tasks", "Chores"),
    ),
    areas=AREAS,
    floors=FLOORS,
)  # fmt: skip

# The states and attributes that a scene sets.
SCENES: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {
    "scene.movie_night": {
        "light.living_room": ("off", {"brightness": 0}),
        "light.floor_lamp": ("on", {"brightness": 20}),
        "cover.living_room_blinds": ("closed", {"position": 0}),
        "media_player.tv": ("on", {}),
    }
}

FIRST_ITEMS = {SHOPPING_LIST: ("milk", "bread"), "todo.tasks": ("water the plants",)}


_ON_STATES = {
    "cover": ("open", "closed"),
    "valve": ("open", "closed"),
    "lock": ("locked", "unlocked"),
    "alarm_control_panel": ("armed_away", "disarmed"),
    "climate": ("heat", "off"),
    "vacuum": ("cleaning", "docked"),
    "lawn_mower": ("mowing", "docked"),
    "scene": ("active", "never"),
}
_COLOURS = frozenset(
    {
        "amber", "aqua", "beige", "black", "blue", "brown", "coral", "cyan", "gold", "gray", "green", "grey",
        "indigo", "ivory", "khaki", "lavender", "lime", "magenta", "maroon", "mint", "navy", "olive",
        "orange", "pink", "purple", "red", "salmon", "silver", "tan", "teal", "turquoise", "violet", "white",
        "yellow", "warm white", "cool white", "cold white",
    }
)  # fmt: skip


def entity_after(entity: Entity, action: Action) -> Entity:
    """The entity after the action. Raises HomeError if it does not support it."""
    values = action.values
    match action.verb:
        case "turn_on":
            return _switched(entity, on=True)
        case "turn_off":
            return _switched(entity, on=False)
        case "set_light":
            return _lit(entity, values)
        case "set_position":
            position = values["position"]
            return _with(entity, "open" if position else "closed", position=position)
        case "set_temperature":
            return _tempered(entity, values["temperature"])
        case "set_speed":
            percentage = values["percentage"]
            return _with(entity, "on" if percentage else "off", percentage=percentage)
        case "set_volume":
            return _with(entity, entity.state, volume_level=values["volume_level"])
        case "pause" | "unpause" | "next" | "previous" | "mute" | "unmute" | "play":
            return _played(entity, action)
        case "start":
            return _switched(entity, on=True)
        case "clean_area":
            return _with(entity, "cleaning", cleaning=values["area"])
        case "dock":
            return _switched(entity, on=False)
        case "add_item" | "complete_item" | "remove_item":
            raise AssertionError(action.verb)  # list items are not part of the entity
        case _:
            assert_never(action.verb)


def _switched(entity: Entity, *, on: bool) -> Entity:
    state = _ON_STATES.get(entity.domain, ("on", "off"))[0 if on else 1]
    match entity.domain:
        case "light":
            brightness = (entity.attributes.get("brightness") or 100) if on else 0
            return _with(entity, state, brightness=brightness)
        case "fan":
            return _with(entity, state, percentage=(entity.attributes.get("percentage") or 50) if on else 0)
        case "cover" | "valve":
            return _with(entity, state, position=100 if on else 0)
        case "media_player" if on and entity.state not in ("off", "idle"):
            return entity
        case _:
            return replace(entity, state=state)


def _lit(entity: Entity, values: Mapping[str, Any]) -> Entity:
    changes = dict(values)
    if "color" in changes:
        changes["color"] = str(changes["color"]).casefold().strip()
        if "color" not in entity.attributes:
            raise HomeError(sentence(f"{the(entity)} cannot change its colour"))
        if changes["color"] not in _COLOURS:
            raise HomeError(f"I do not know the colour {changes['color']}. Try red, green, blue or white.")
    changes.setdefault("brightness", entity.attributes.get("brightness") or 100)
    return _with(entity, "on" if changes["brightness"] else "off", **changes)


def _tempered(entity: Entity, temperature: float) -> Entity:
    low, high = entity.attributes["min_temp"], entity.attributes["max_temp"]
    if not low <= temperature <= high:
        raise HomeError(sentence(f"{the(entity)} goes from {number(low)} to {number(high)} degrees"))
    return _with(entity, "heat" if entity.state == "off" else entity.state, temperature=float(temperature))


def _played(entity: Entity, action: Action) -> Entity:
    attributes = entity.attributes
    match action.verb:
        case "mute" | "unmute":
            return _with(entity, entity.state, is_volume_muted=action.verb == "mute")
        case "play":
            return _with(entity, "playing", media_title=action.values["search_query"], track=1)
        case "pause" if entity.state != "playing":
            raise HomeError(sentence(f"nothing is playing on {the(entity)}"))
        case "unpause" if entity.state not in ("paused", "playing"):
            raise HomeError(sentence(f"nothing is paused on {the(entity)}"))
        case "pause":
            return _with(entity, "paused")
        case "unpause":
            return _with(entity, "playing")
        case "next" | "previous":
            if entity.state not in ("playing", "paused"):
                raise HomeError(sentence(f"nothing is playing on {the(entity)}"))
            step = 1 if action.verb == "next" else -1
            return _with(entity, "playing", track=max(1, attributes.get("track", 1) + step))
        case _:
            raise AssertionError(action.verb)


def _with(entity: Entity, state: str, **changes: Any) -> Entity:  # noqa: ANN401 - attributes of any kind
    return replace(entity, state=state, attributes={**entity.attributes, **changes})


HOME_FILE = "demo-home.json"


class _StoredEntity(BaseModel):
    model_config = ConfigDict(extra="forbid")

    state: str
    attributes: dict[str, Any] = Field(default_factory=dict)


class _Content(BaseModel):
    """The changes since the initial state."""

    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    things: dict[str, _StoredEntity] = Field(default_factory=dict)
    lists: dict[str, list[Line]] = Field(
        default_factory=lambda: {name: [Line(text=text) for text in texts] for name, texts in FIRST_ITEMS.items()}
    )


class DemoHome:
    """A simulated home, stored in a file or, without a path, in memory."""

    def __init__(self, path: Path | None = None) -> None:
        self.announcements: list[str] = []
        self._file = StateFile(path, _Content)

    problem = ""

    async def start(self) -> None:
        """Nothing to connect."""

    async def close(self) -> None:
        """Nothing to disconnect."""

    def house(self) -> House:
        """Raises StateError."""
        return _house(self._file.read())

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        """Raises HomeError and StateError."""
        return await asyncio.to_thread(self._apply, action)

    async def items(self, list_id: str) -> tuple[ListItem, ...]:
        """Raises StateError."""
        return as_items(self._file.read().lists.get(list_id, []))

    async def announce(self, message: str) -> None:
        """Does nothing: the demo home has no loudspeakers."""
        self.announcements.append(message)

    def forget_words(self, is_forgotten: Callable[[str], bool]) -> int:
        """Delete list items and titles that are to be forgotten, and return their number. Raises StateError."""
        with self._file.changing() as content:
            forgotten = sum(forget_lines(lines, is_forgotten) for lines in content.lists.values())
            for thing in content.things.values():
                if is_forgotten(str(thing.attributes.get("media_title", ""))):
                    thing.attributes["media_title"] = ""
                    forgotten += 1
        return forgotten

    def _apply(self, action: Action) -> tuple[Entity, ...]:
        with self._file.changing() as content:
            if action.verb in LIST_VERBS:
                done = {target.id for target in action.targets}
                for list_id in done:
                    change_lines(content.lists.setdefault(list_id, []), action)
            else:
                changed = _changed(_house(content), action)
                done = set(changed)
                for entity in changed.values():
                    content.things[entity.id] = _StoredEntity(state=entity.state, attributes=dict(entity.attributes))
            house = _house(content)
        afterwards = (house.entity(target.id) for target in action.targets if target.id in done)
        return tuple(entity for entity in afterwards if entity is not None)


def _house(content: _Content) -> House:
    return replace(FIRST_DAY, entities=tuple(_now(entity, content) for entity in FIRST_DAY.entities))


def _now(entity: Entity, content: _Content) -> Entity:
    if entity.domain == "todo":
        return replace(entity, state=waiting(content.lists.get(entity.id, [])))
    if (thing := content.things.get(entity.id)) is None:
        return entity
    return replace(entity, state=thing.state, attributes={**entity.attributes, **thing.attributes})


def _changed(house: House, action: Action) -> dict[str, Entity]:
    """The changed entities. Raises HomeError if none of the targets supports the action."""
    done: dict[str, Entity] = {}
    refusal: HomeError | None = None
    for target in action.targets:
        entity = house.entity(target.id)
        if entity is None:
            continue
        try:
            done[entity.id] = entity_after(entity, action)
        except HomeError as error:
            refusal = refusal or error
            continue
        if action.verb == "turn_on":
            done |= _scene(house, entity.id)
    if refusal is not None and not done:
        raise refusal
    return done


def _scene(house: House, scene_id: str) -> dict[str, Entity]:
    changed: dict[str, Entity] = {}
    for entity_id, (state, attributes) in SCENES.get(scene_id, {}).items():
        if entity := house.entity(entity_id):
            changed[entity_id] = replace(entity, state=state, attributes={**entity.attributes, **attributes})
    return changed

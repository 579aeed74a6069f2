"""The demo home as it is on its first day: two floors, seven areas, and what stands in them."""

from __future__ import annotations

from typing import Any

from edgevox.tools.home.house import Area, Entity, Floor, House

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


def _thing(
    entity_id: str,
    name: str,
    area: str | None,
    state: str,
    *aliases: str,
    device_class: str | None = None,
    **attributes: Any,  # noqa: ANN401 - whatever a thing of its domain has
) -> Entity:
    domain = entity_id.partition(".")[0]
    floor = _FLOOR_OF[area] if area else None
    return Entity(entity_id, name, domain, state, aliases, area, floor, device_class, attributes)


SHOPPING_LIST = "todo.shopping_list"

FIRST_DAY = House(
    entities=(
        _thing("light.kitchen", "Kitchen Light", "kitchen", "off", brightness=0),
        _thing("light.counter", "Counter Light", "kitchen", "off", brightness=0),
        _thing("switch.coffee_machine", "Coffee Machine", "kitchen", "off", "Coffee Maker"),
        _thing(
            "media_player.kitchen", "Kitchen Speaker", "kitchen", "idle", "Radio",
            device_class="speaker", volume_level=30, is_volume_muted=False, media_title="", track=1,
        ),
        _thing("light.living_room", "Living Room Light", "living_room", "on", brightness=80),
        _thing("light.floor_lamp", "Floor Lamp", "living_room", "off", brightness=0, color="white"),
        _thing(
            "media_player.tv", "TV", "living_room", "playing",
            device_class="tv", volume_level=40, is_volume_muted=False, media_title="the news", track=1,
        ),
        _thing(
            "climate.thermostat", "Thermostat", "living_room", "heat", "Heating",
            temperature=21.0, current_temperature=20.5, min_temp=7.0, max_temp=30.0, unit="°C",
        ),
        _thing("cover.living_room_blinds", "Living Room Blinds", "living_room", "open",
               device_class="blind", position=100),
        _thing("vacuum.robot", "Robot Vacuum", "living_room", "docked", "Robot", battery=100),
        _thing("light.hallway", "Hallway Light", "hallway", "on", brightness=100),
        _thing("lock.front_door", "Front Door", "hallway", "locked", "Front Door Lock"),
        _thing("binary_sensor.front_door", "Front Door", "hallway", "off", device_class="door"),
        _thing("alarm_control_panel.house", "Alarm", "hallway", "disarmed", "Burglar Alarm"),
        _thing("light.garage", "Garage Light", "garage", "off", brightness=0),
        _thing("cover.garage_door", "Garage Door", "garage", "closed", device_class="garage", position=0),
        _thing("light.garden", "Garden Lights", "garden", "off", brightness=0),
        _thing("lawn_mower.garden", "Mower", "garden", "docked", "Lawn Mower"),
        _thing("sensor.outdoor_temperature", "Outdoor Temperature", "garden", "14.5",
               device_class="temperature", unit="°C"),
        _thing("light.bedroom", "Bedroom Light", "bedroom", "off", brightness=0),
        _thing("light.bedside_lamp", "Bedside Lamp", "bedroom", "off", brightness=0, color="white"),
        _thing("fan.bedroom", "Ceiling Fan", "bedroom", "off", percentage=0),
        _thing("cover.bedroom_curtains", "Curtains", "bedroom", "closed", device_class="curtain", position=0),
        _thing("sensor.bedroom_temperature", "Bedroom Temperature", "bedroom", "19.5",
               device_class="temperature", unit="°C"),
        _thing("light.desk_lamp", "Desk Lamp", "office", "off", brightness=0, color="white"),
        _thing("switch.printer", "Printer", "office", "off", device_class="outlet"),
        _thing("binary_sensor.office_window", "Office Window", "office", "off", device_class="window"),
        _thing("weather.home", "Weather", None, "partlycloudy",
               temperature=15.0, humidity=62, wind_speed=12, unit="°C"),
        _thing("scene.movie_night", "Movie Night", None, "never"),
        _thing(SHOPPING_LIST, "Shopping List", None, "0", "Groceries"),
        _thing("todo.tasks", "To-Do List", None, "0", "Tasks", "Chores"),
    ),
    areas=AREAS,
    floors=FLOORS,
)  # fmt: skip

# What a scene sets: a thing's state, and the attributes that change with it.
SCENES: dict[str, dict[str, tuple[str, dict[str, Any]]]] = {
    "scene.movie_night": {
        "light.living_room": ("off", {"brightness": 0}),
        "light.floor_lamp": ("on", {"brightness": 20}),
        "cover.living_room_blinds": ("closed", {"position": 0}),
        "media_player.tv": ("on", {}),
    }
}

FIRST_ITEMS = {SHOPPING_LIST: ("milk", "bread"), "todo.tasks": ("water the plants",)}

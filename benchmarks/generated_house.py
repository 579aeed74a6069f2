"""Generates a house of any size: twenty devices that commands are about, and more as in real houses."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime

from edgevox.home import Action, Area, Entity, Floor, House, ListItem
from edgevox.home.backends.demo import entity_after
from edgevox.home.entities import Calendar, Forecast, ForecastKind, StateChange

FLOORS = (
    Floor("cellar_floor", "Cellar", ("Basement",)),
    Floor("ground_floor", "Ground Floor", ("Downstairs",)),
    Floor("upper_floor", "Upper Floor", ("Upstairs",)),
)
_FIRST_ROOMS = ("Kitchen", "Living Room", "Hallway", "Garage", "Garden", "Bedroom", "Office")
_MORE_ROOMS = (
    "Guest Room", "Nursery", "Bathroom", "Guest Bathroom", "Laundry Room", "Wine Cellar", "Workshop", "Attic",
    "Terrace", "Balcony", "Library", "Dining Room", "Pantry", "Music Room", "Sauna", "Gym", "Winter Garden",
)  # fmt: skip
_FIRST_THINGS = (
    ("light", None, "Kitchen Light", "Kitchen"),
    ("switch", None, "Coffee Machine", "Kitchen"),
    ("media_player", "speaker", "Kitchen Speaker", "Kitchen"),
    ("light", None, "Floor Lamp", "Living Room"),
    ("light", None, "Reading Lamp", "Living Room"),
    ("media_player", "tv", "TV", "Living Room"),
    ("climate", None, "Thermostat", "Living Room"),
    ("cover", "blind", "Living Room Blinds", "Living Room"),
    ("light", None, "Hallway Light", "Hallway"),
    ("lock", None, "Front Door", "Hallway"),
    ("cover", "garage", "Garage Door", "Garage"),
    ("switch", None, "Dehumidifier", "Garage"),
    ("switch", None, "Pond Pump", "Garden"),
    ("sensor", "moisture", "Lawn Moisture", "Garden"),
    ("light", None, "Bedroom Light", "Bedroom"),
    ("fan", None, "Ceiling Fan", "Bedroom"),
    ("cover", "curtain", "Curtains", "Bedroom"),
    ("light", None, "Desk Lamp", "Office"),
    ("switch", "outlet", "Printer", "Office"),
    ("scene", None, "Movie Night", None),
)
# What stands in rooms, about as often as it does: for each thing to switch there are two that measure.
_MORE_THINGS = (
    ("light", None, "Ceiling Light"), ("light", None, "Wall Lights"), ("light", None, "LED Strip"),
    ("switch", "outlet", "Outlet by the Window"), ("switch", None, "Night Mode"),
    ("cover", "shutter", "Shutter"), ("climate", None, "Radiator"),
    ("media_player", "speaker", "Sonos One"), ("fan", None, "Air Purifier"),
    ("scene", None, "Cosy Evening"),
    ("sensor", "temperature", "Temperature"), ("sensor", "humidity", "Humidity"),
    ("sensor", "illuminance", "Illuminance"), ("sensor", "power", "Outlet Power"),
    ("sensor", "energy", "Outlet Energy Today"), ("sensor", "battery", "Motion Sensor Battery"),
    ("sensor", "carbon_dioxide", "Air Quality CO2"), ("sensor", "signal_strength", "Router Signal"),
    ("binary_sensor", "motion", "Motion"), ("binary_sensor", "window", "Window Left"),
    ("binary_sensor", "smoke", "Smoke Detector"), ("binary_sensor", "problem", "Radiator Valve Problem"),
)  # fmt: skip


def generated_house(things: int) -> House:
    """The twenty things and others, the same at every call; at least twenty things."""
    rooms = _FIRST_ROOMS if things == len(_FIRST_THINGS) else (*_FIRST_ROOMS, *_MORE_ROOMS)
    floors = itertools.cycle(floor.id for floor in FLOORS)
    areas = tuple(Area(_slug(room), room, (), floor) for room, floor in zip(rooms, floors, strict=False))
    floor_of = {area.id: area.floor for area in areas}
    entities = list[Entity]()
    every = itertools.chain(_FIRST_THINGS, _others(rooms))
    for number, (domain, device_class, name, room) in enumerate(itertools.islice(every, things)):
        area = _slug(room) if room else None
        floor = floor_of[area] if area else None
        entity_id = f"{domain}.{_slug(name)}_{number}"
        entities.append(Entity(entity_id, name, domain, "off", (), area, floor, device_class))
    return House(tuple(entities), areas, floors=FLOORS)


class MemoryHome:
    """A home that does what it is told, and forgets it."""

    def __init__(self, house: House) -> None:
        self._house = house

    def house(self) -> House:
        return self._house

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        changed = {entity.id: entity_after(entity, action) for entity in action.targets}
        entities = (changed.get(entity.id, entity) for entity in self._house.entities)
        self._house = replace(self._house, entities=tuple(entities))
        return tuple(changed.values())

    async def items(self, list_id: str) -> tuple[ListItem, ...]:
        return ()

    async def announce(self, message: str) -> None:
        return None

    async def forecast(self, weather_id: str, kind: ForecastKind) -> tuple[Forecast, ...]:
        return ()

    async def changes(self, entity_id: str, since: datetime) -> tuple[StateChange, ...]:
        return ()

    def calendars(self) -> tuple[Calendar, ...]:
        return ()


def _others(rooms: tuple[str, ...]) -> Iterator[tuple[str, str | None, str, str]]:
    mix = random.Random(8)
    for round_number in itertools.count(1):
        things = [(thing, room) for thing in _MORE_THINGS for room in rooms]
        mix.shuffle(things)
        for (domain, device_class, what), room in things:
            again = "" if round_number == 1 else f" {round_number}"
            yield domain, device_class, f"{room} {what}{again}", room


def _slug(name: str) -> str:
    return "_".join(name.lower().split())

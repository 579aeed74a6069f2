"""One announced thing: what it is called, where it is, and how it is now."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from edgevox.tools.home.house import Area, Entity
from edgevox.tools.home.mqtt.announcement import Announced, BadAnnouncement, Config
from edgevox.tools.home.mqtt.availability import Availability
from edgevox.tools.home.mqtt.climates import Climate
from edgevox.tools.home.mqtt.component import Component, Values
from edgevox.tools.home.mqtt.covers import Cover, Valve
from edgevox.tools.home.mqtt.fans import Fan
from edgevox.tools.home.mqtt.lights import JsonLight, TopicLight
from edgevox.tools.home.mqtt.sensors import BinarySensor, Sensor
from edgevox.tools.home.mqtt.switches import (
    AlarmPanel,
    Humidifier,
    LawnMower,
    Lock,
    Pressed,
    Siren,
    Switch,
    Vacuum,
)

_MAX_NAME_CHARS = 80
_MAX_TOPICS = 16


def _light(config: Config) -> Component:
    match config.text("schema", "basic"):
        case "json":
            return JsonLight(config)
        case "basic" | "default":
            return TopicLight(config)
        case other:
            raise BadAnnouncement(f"schema {other}")


_COMPONENTS: dict[str, Callable[[Config], Component]] = {
    "alarm_control_panel": AlarmPanel,
    "binary_sensor": BinarySensor,
    "button": lambda config: Pressed(config, "payload_press", "PRESS"),
    "climate": Climate,
    "cover": Cover,
    "fan": Fan,
    "humidifier": Humidifier,
    "lawn_mower": LawnMower,
    "light": _light,
    "lock": Lock,
    "scene": lambda config: Pressed(config, "payload_on", "ON"),
    "sensor": Sensor,
    "siren": Siren,
    "switch": Switch,
    "vacuum": Vacuum,
    "valve": Valve,
}


@dataclass(frozen=True, slots=True)
class Identity:
    """What a thing is called; `id` is what its announcement would have it called in Home Assistant."""

    id: str
    name: str
    domain: str
    area: Area | None
    device_class: str | None


class Thing:
    """Follows the messages about one thing."""

    def __init__(self, announced: Announced, clock: Callable[[], float]) -> None:
        """Raises BadAnnouncement for what nobody can use by voice."""
        config = announced.config
        if announced.component not in _COMPONENTS:
            raise BadAnnouncement(f"a {announced.component[:40]} is of no use here")
        # Home Assistant shows neither to a voice assistant: they are about the device, not the home.
        if config.has("entity_category") or not config.flag("enabled_by_default", default=True):
            raise BadAnnouncement("not for every day")
        self.announced = announced
        self.identity = _identity(announced)
        self.id = self.identity.id  # or another, where there is a thing of that id already
        self.component = _COMPONENTS[announced.component](config)
        self.news: set[str] = set()
        self._availability = Availability(config)
        self._values: Values = dict(self.component.known)
        self._unit = config.text("unit_of_measurement")
        self._expire_after_s = config.number("expire_after", 0)
        self._off_after_s = config.number("off_delay", 0)
        self._heard_s = 0.0
        self._clock = clock
        self._entity: Entity | None = None
        if len(self.topics) > _MAX_TOPICS:
            raise BadAnnouncement("too many topics")

    @property
    def topics(self) -> frozenset[str]:
        return self._availability.topics | {channel.topic for channel in self.component.channels}

    def take(self, topic: str, payload: str) -> None:
        """A message on one of its topics."""
        self._entity = None
        self._availability.take(topic, payload)
        for channel in self.component.channels:
            if channel.topic == topic and (values := channel.values(payload)):
                self._values |= values
                self.news |= values.keys()
                self._heard_s = self._clock()

    def assume(self, values: Values) -> None:
        """It does not tell, so it is taken to be as it was told to be."""
        self._entity = None
        self._values |= values

    def entity(self) -> Entity:
        """The thing as it is now."""
        if self._entity is None or self._expire_after_s or self._off_after_s:
            self._entity = self._as_it_is()
        return self._entity

    def _as_it_is(self) -> Entity:
        attributes = {name: value for name, value in self._values.items() if name != "state"}
        if self._unit:
            attributes["unit"] = self._unit
        identity = self.identity
        return Entity(
            self.id,
            identity.name,
            identity.domain,
            self._state(),
            area=identity.area.id if identity.area else None,
            device_class=identity.device_class,
            attributes=attributes,
        )

    def _state(self) -> str:
        silent_s = self._clock() - self._heard_s
        if not self._availability.is_available or 0 < self._expire_after_s < silent_s:
            return "unavailable"
        state = str(self._values.get("state", "unknown"))
        return "off" if state == "on" and 0 < self._off_after_s < silent_s else state


def _identity(announced: Announced) -> Identity:
    config, component = announced.config, announced.component
    device = config.part("device")
    name = _name(config, device.text("name"), announced.object_id)
    wanted = config.text("default_entity_id") or config.text("object_id")
    own_id = slug(wanted.partition(".")[2] or wanted) or slug(name) or slug(announced.object_id) or "thing"
    place = _plain(device.text("suggested_area"))
    area = Area(slug(place) or place, place) if place else None
    device_class = slug(config.text("device_class")) or None
    return Identity(f"{component}.{own_id}", name, component, area, device_class)


def _name(config: Config, of_device: str, object_id: str) -> str:
    """A part of a device has both names; what says that it has none of its own has the device's."""
    device, own = _plain(of_device), _plain(config.text("name"))
    if not config.mentions("name"):
        own = _plain(config.text("device_class")).title()
    if not device:
        return own or _plain(object_id)
    if own.casefold().startswith(device.casefold()):
        return own
    return device if device.casefold().endswith(own.casefold()) else f"{device} {own}"[:_MAX_NAME_CHARS]


def _plain(text: str) -> str:
    """A name as it is spoken: devices are often called living_room/lamp."""
    spoken = "".join(letter if letter.isprintable() and letter not in "_/" else " " for letter in text)
    return " ".join(spoken.split())[:_MAX_NAME_CHARS]


def slug(text: str) -> str:
    return re.sub(r"\W+", "_", text.casefold()).strip("_")[:_MAX_NAME_CHARS]

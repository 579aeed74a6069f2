"""Entities announced over MQTT: identity, availability and state, with limits against a flooding broker."""

from __future__ import annotations

import json
import logging
import re
import time
from collections.abc import Callable
from dataclasses import replace

from edgevox.home.backends.mqtt.component import OutgoingMessage, StateTopic, Values, states
from edgevox.home.backends.mqtt.components import COMPONENTS
from edgevox.home.backends.mqtt.discovery import (
    DiscoveredEntity,
    DiscoveryConfig,
    InvalidDiscovery,
    UnusableTemplate,
    parse_discovery,
)
from edgevox.home.entities import Area, Entity, House


class Availability:
    """Availability topics. Without any an entity is always available; otherwise only once it reports so."""

    def __init__(self, config: DiscoveryConfig) -> None:
        """Raises InvalidDiscovery."""
        own = (_source(config, "availability_topic", "availability_template"),)
        listed = tuple(_source(part, "topic", "value_template") for part in config.parts("availability"))
        self._sources = tuple(source for source in (*own, *listed) if source is not None)
        self._mode = config.text("availability_mode", "latest")
        self._reported: dict[str, bool] = {}
        self._latest = False

    @property
    def topics(self) -> frozenset[str]:
        return frozenset(source.topic for source in self._sources)

    def take(self, topic: str, payload: str) -> None:
        for source in self._sources:
            if source.topic == topic and (state := source.values(payload).get("state")) in ("available", "away"):
                self._latest = self._reported[topic] = state == "available"

    @property
    def is_available(self) -> bool:
        if not self._sources:
            return True
        match self._mode:
            case "all":
                return all(self._reported.get(topic, False) for topic in self.topics)
            case "any":
                return any(self._reported.values())
            case _:
                return self._latest


def _source(config: DiscoveryConfig, topic_key: str, template_key: str) -> StateTopic | None:
    if (topic := config.topic(topic_key)) is None:
        return None
    away = config.text("payload_not_available", "offline")
    reported = {away: "away", config.text("payload_available", "online"): "available"}
    return StateTopic(topic, config.template(template_key), states(reported))


_MAX_NAME_CHARS = 80
_MAX_TOPICS = 16


class MqttEntity:
    """One announced entity and its state, updated from messages."""

    def __init__(self, announced: DiscoveredEntity, clock: Callable[[], float]) -> None:
        """Raises InvalidDiscovery for entities that voice cannot use."""
        config = announced.config
        if announced.component not in COMPONENTS:
            raise InvalidDiscovery(f"unsupported component {announced.component[:40]}")
        # Home Assistant hides both from voice assistants: they are about the device, not the home.
        if config.has("entity_category") or not config.flag("enabled_by_default", default=True):
            raise InvalidDiscovery("a diagnostic or disabled entity")
        self.announced = announced
        config, self.left_out = config.without_bad_templates()
        place = _plain(config.part("device").text("suggested_area"))
        self.area = Area(slug(place) or place, place) if place else None
        self._blank = Entity(
            _entity_id(announced),
            _name(announced),
            announced.component,
            "unknown",
            area=self.area.id if self.area else None,
            device_class=slug(config.text("device_class")) or None,
        )
        self.id = self._blank.id  # changed if another entity already has this id
        self.component = COMPONENTS[announced.component](config)
        self.news: set[str] = set()
        self._availability = Availability(config)
        self._values: Values = dict(self.component.initial_values)
        if unit := config.text("unit_of_measurement"):
            self._values["unit"] = unit
        self._expire_after_s = config.number("expire_after", 0)
        self._off_after_s = config.number("off_delay", 0)
        self._reported_s = 0.0
        self._clock = clock
        self._entity: Entity | None = None
        if len(self.topics) > _MAX_TOPICS:
            raise InvalidDiscovery("too many topics")

    @property
    def topics(self) -> frozenset[str]:
        return self._availability.topics | {channel.topic for channel in self.component.channels}

    def take(self, topic: str, payload: str) -> None:
        """Take a message on one of its topics."""
        self._entity = None
        self._availability.take(topic, payload)
        for channel in self.component.channels:
            if channel.topic == topic and (values := channel.values(payload)):
                self._values |= values
                self.news |= values.keys()
                self._reported_s = self._clock()

    def assume(self, values: Values) -> None:
        """Set the values of an entity without state feedback after a command."""
        self._entity = None
        self._values |= values

    @property
    def question(self) -> OutgoingMessage | None:
        """The message that asks for a state which is neither known nor retained; None if there is no such message.

        Zigbee2MQTT does not retain states by default and repeats them only half a minute after a start.
        """
        config = self.announced.config
        if (
            "state" in self._values
            or config.part("origin").text("name") != "Zigbee2MQTT"
            or not self.component.commands
        ):
            return None
        topic = config.topic("state_topic") or config.topic("mode_state_topic")
        templates = [channel.template for channel in self.component.channels if channel.topic == topic]
        names = [key for template in templates for key in (template.keys if template else ("state",))]
        payload = json.dumps(dict.fromkeys(names, ""))
        return OutgoingMessage(f"{topic}/get", payload) if topic and names else None

    def entity(self) -> Entity:
        """The current entity."""
        if self._entity is None or self._expire_after_s or self._off_after_s:
            self._entity = self._current()
        return self._entity

    def _current(self) -> Entity:
        attributes = {name: value for name, value in self._values.items() if name != "state"}
        return replace(self._blank, id=self.id, state=self._state(), attributes=attributes)

    def _state(self) -> str:
        silent_s = self._clock() - self._reported_s
        if not self._availability.is_available or 0 < self._expire_after_s < silent_s:
            return "unavailable"
        state = str(self._values.get("state", "unknown"))
        return "off" if state == "on" and 0 < self._off_after_s < silent_s else state


def _entity_id(announced: DiscoveredEntity) -> str:
    """The id that Home Assistant would choose."""
    config = announced.config
    wanted = config.text("default_entity_id") or config.text("object_id")
    candidates = (wanted.partition(".")[2] or wanted, _name(announced), announced.object_id)
    return f"{announced.component}.{next(filter(None, map(slug, candidates)), 'thing')}"


def _name(announced: DiscoveredEntity) -> str:
    """Device name and own name for a part of a device; the device name if its own is null."""
    config = announced.config
    device, own = _plain(config.part("device").text("name")), _plain(config.text("name"))
    if not config.mentions("name"):
        own = _plain(config.text("device_class")).title()
    if not device:
        return own or _plain(announced.object_id)
    if own.casefold().startswith(device.casefold()):
        return own
    return device if device.casefold().endswith(own.casefold()) else f"{device} {own}"[:_MAX_NAME_CHARS]


def _plain(text: str) -> str:
    """A name for speaking: devices are often called living_room/lamp."""
    spoken = "".join(letter if letter.isprintable() and letter not in "_/" else " " for letter in text)
    return " ".join(spoken.split())[:_MAX_NAME_CHARS]


def slug(text: str) -> str:
    return re.sub(r"\W+", "_", text.casefold()).strip("_")[:_MAX_NAME_CHARS]


log = logging.getLogger(__name__)

MAX_ENTITIES = 1000
MAX_TOPICS = 4000
MAX_STATE_BYTES = 16_384
# A thousand entities may have templates for one topic, and everything else waits meanwhile.
_MAX_READING_S = 0.5


class MqttEntities:
    """All announced entities, updated from messages."""

    def __init__(self, prefix: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.revision = 0  # changes when entities are added or removed
        self._has_overflowed = False
        self._prefix = f"{prefix}/"
        self._clock = clock
        self._by_id: dict[str, MqttEntity] = {}
        # Discovery messages by path, with the ids of their entities.
        self._announced: dict[str, tuple[str, ...]] = {}
        self._subscribers: dict[str, list[MqttEntity]] = {}
        self._unusable: dict[str, str] = {}  # by key of the announcement
        # The last payload by topic: entities of one device share a topic, and are announced one by one.
        self._last: dict[str, str] = {}

    @property
    def topics(self) -> frozenset[str]:
        """The topics to subscribe to."""
        return frozenset(self._subscribers)

    def house(self) -> House:
        """Sorted by id, so that the home is the same after a restart."""
        entities = tuple(self._by_id[entity_id].entity() for entity_id in sorted(self._by_id))
        areas: dict[str, Area] = {}
        for thing in self._by_id.values():
            if thing.area:
                areas.setdefault(thing.area.id, thing.area)
        return House(entities, tuple(areas[area_id] for area_id in sorted(areas)), left_out=self._left_out())

    def _left_out(self) -> tuple[str, ...]:
        """What is not listed because of its templates, and why: entities and parts of them."""
        parts = (f"{thing.entity().name}: {why}" for thing in self._by_id.values() for why in thing.left_out)
        return (*self._unusable.values(), *parts)

    def questions(self) -> tuple[OutgoingMessage, ...]:
        """The messages that ask for unknown states, one per device and state."""
        asked = (thing.question for thing in self._by_id.values())
        return tuple(dict.fromkeys(question for question in asked if question))

    def find(self, entity_id: str) -> MqttEntity | None:
        return self._by_id.get(entity_id)

    def take(self, topic: str, payload: bytes) -> None:
        """Take any message."""
        if topic.startswith(self._prefix) and topic.endswith("/config"):
            self._take_announcement(topic.removeprefix(self._prefix), payload)
        # Not else: a discovery message may name any topic.
        if topic in self._subscribers and len(payload) <= MAX_STATE_BYTES:
            text = payload.decode(errors="replace")
            self._last[topic] = text
            until_s = self._clock() + _MAX_READING_S
            for thing in self._subscribers[topic]:
                thing.take(topic, text)
                if self._clock() > until_s:
                    log.warning("a message on %s takes too long to parse", topic[:200])
                    break

    def _take_announcement(self, path: str, payload: bytes) -> None:
        for key in [key for key in self._unusable if key.partition(" ")[0] == path]:
            del self._unusable[key]
        try:
            announced = parse_discovery(path, payload)
        except InvalidDiscovery as error:
            log.debug("ignored the discovery message %s: %s", path[:200], error)
            return
        before = {thing.announced.key: entity_id for entity_id, thing in self._of(path)}
        for key, entity_id in before.items():
            if key not in {one.key for one in announced}:
                self._remove(entity_id)
        ids = tuple(filter(None, (self._add(one, before.get(one.key)) for one in announced)))
        if ids:
            self._announced[path] = ids
        else:
            self._announced.pop(path, None)

    def _of(self, path: str) -> list[tuple[str, MqttEntity]]:
        return [(entity_id, self._by_id[entity_id]) for entity_id in self._announced.get(path, ())]

    def _add(self, announced: DiscoveredEntity, entity_id: str | None) -> str | None:
        """Add an entity and return its id; None if it is rejected."""
        if entity_id is not None:
            if self._by_id[entity_id].announced == announced:
                return entity_id
            self._remove(entity_id)
            if not entity_id.startswith(f"{announced.component}."):
                entity_id = None
        try:
            thing = MqttEntity(announced, self._clock)
        except InvalidDiscovery as error:
            log.debug("ignored the entity %s: %s", announced.key[:200], error)
            if isinstance(error, UnusableTemplate) and len(self._unusable) < MAX_ENTITIES:
                self._unusable[announced.key] = f"{_name(announced)}: {error}"
            return None
        if len(self._by_id) >= MAX_ENTITIES or len(self._subscribers) + len(thing.topics) > MAX_TOPICS:
            if not self._has_overflowed:
                log.warning("too many entities: ignored %s and all further ones", announced.key[:200])
            self._has_overflowed = True
            return None
        thing.id = entity_id or self._free_id(thing.id)
        self._by_id[thing.id] = thing
        self.revision += 1
        for topic in thing.topics:
            self._subscribers.setdefault(topic, []).append(thing)
            if topic in self._last:
                thing.take(topic, self._last[topic])
        return thing.id

    def _free_id(self, wanted: str) -> str:
        number, free = 1, wanted
        while free in self._by_id:
            number += 1
            free = f"{wanted}_{number}"
        return free

    def _remove(self, entity_id: str) -> None:
        thing = self._by_id.pop(entity_id)
        self.revision += 1
        for topic in thing.topics:
            self._subscribers[topic].remove(thing)
            if not self._subscribers[topic]:
                del self._subscribers[topic]
                self._last.pop(topic, None)

"""All the things that were announced, by their topics; a broker that floods us finds its bounds here."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from edgevox.tools.home.house import Area, House
from edgevox.tools.home.mqtt.announcement import (
    Announced,
    BadAnnouncement,
    read_announcement,
)
from edgevox.tools.home.mqtt.thing import Thing

log = logging.getLogger(__name__)

MAX_THINGS = 1000
MAX_TOPICS = 4000
MAX_STATE_BYTES = 16_384
# A thousand things may have templates for one topic, and everything else waits meanwhile.
_MAX_READING_S = 0.5


class Things:
    """Takes every message, and knows the house."""

    def __init__(self, prefix: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.revision = 0  # another one when things have come or gone
        self._has_overflowed = False
        self._prefix = f"{prefix}/"
        self._clock = clock
        self._by_id: dict[str, Thing] = {}
        # Announcements by their path, with the ids of what they brought.
        self._announced: dict[str, tuple[str, ...]] = {}
        self._followers: dict[str, list[Thing]] = {}
        # Things of one device share a topic, and are announced one after the other.
        self._last: dict[str, str] = {}

    @property
    def topics(self) -> frozenset[str]:
        """The topics to be followed now."""
        return frozenset(self._followers)

    def house(self) -> House:
        """Sorted by id, so that it is the same house after a restart."""
        entities = tuple(self._by_id[entity_id].entity() for entity_id in sorted(self._by_id))
        areas: dict[str, Area] = {}
        for thing in self._by_id.values():
            if area := thing.identity.area:
                areas.setdefault(area.id, area)
        return House(entities, tuple(areas[area_id] for area_id in sorted(areas)))

    def find(self, entity_id: str) -> Thing | None:
        return self._by_id.get(entity_id)

    def take(self, topic: str, payload: bytes) -> None:
        """A message, whatever it is about."""
        if topic.startswith(self._prefix) and topic.endswith("/config"):
            self._take_announcement(topic.removeprefix(self._prefix), payload)
        # Not else: an announcement may name any topic.
        if topic in self._followers and len(payload) <= MAX_STATE_BYTES:
            text = payload.decode(errors="replace")
            self._last[topic] = text
            until_s = self._clock() + _MAX_READING_S
            for thing in self._followers[topic]:
                thing.take(topic, text)
                if self._clock() > until_s:
                    log.warning("a message on %s takes too long to read", topic[:200])
                    break

    def _take_announcement(self, path: str, payload: bytes) -> None:
        try:
            announced = read_announcement(path, payload)
        except BadAnnouncement as error:
            log.debug("the announcement %s is not used: %s", path[:200], error)
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

    def _of(self, path: str) -> list[tuple[str, Thing]]:
        return [(entity_id, self._by_id[entity_id]) for entity_id in self._announced.get(path, ())]

    def _add(self, announced: Announced, entity_id: str | None) -> str | None:
        """The id of the thing; None for one that is not taken in."""
        if entity_id is not None:
            if self._by_id[entity_id].announced == announced:
                return entity_id
            self._remove(entity_id)
            if not entity_id.startswith(f"{announced.component}."):
                entity_id = None
        try:
            thing = Thing(announced, self._clock)
        except BadAnnouncement as error:
            log.debug("%s is not taken in: %s", announced.key[:200], error)
            return None
        if len(self._by_id) >= MAX_THINGS or len(self._followers) + len(thing.topics) > MAX_TOPICS:
            if not self._has_overflowed:
                log.warning(
                    "%s is not taken in, nor what comes after it: too many things", announced.key[:200]
                )
            self._has_overflowed = True
            return None
        thing.id = entity_id or self._free_id(thing.identity.id)
        self._by_id[thing.id] = thing
        self.revision += 1
        for topic in thing.topics:
            self._followers.setdefault(topic, []).append(thing)
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
            self._followers[topic].remove(thing)
            if not self._followers[topic]:
                del self._followers[topic]
                self._last.pop(topic, None)

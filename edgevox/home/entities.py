"""Floors, areas and entities of a home as immutable values, and the protocol that a backend implements.

A backend (demo, Home Assistant, MQTT) reports the entities and applies one action at a time. Matching names,
resolving targets and wording the answers is done by the tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from edgevox.core.errors import ToolError

Attributes: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Floor:
    """One storey."""

    id: str
    name: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Area:
    """A room, or a place outside; `floor` is a floor's id."""

    id: str
    name: str
    aliases: tuple[str, ...] = ()
    floor: str | None = None


Place: TypeAlias = Area | Floor


@dataclass(frozen=True, slots=True)
class Entity:
    """One thing with a state, in Home Assistant's words; `id` is `domain.something`, `area`, `floor` are ids.

    Percentages (`brightness`, `position`, `percentage`, `volume_level`) are whole numbers from 0 to 100 here,
    whatever the house itself counts in.
    """

    id: str
    name: str
    domain: str
    state: str
    aliases: tuple[str, ...] = ()
    area: str | None = None
    floor: str | None = None
    device_class: str | None = None
    attributes: Attributes = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class ListItem:
    """One line of a shopping list or a to-do list."""

    text: str
    is_done: bool = False


@dataclass(frozen=True, slots=True)
class House:
    """A whole home at one moment."""

    entities: tuple[Entity, ...]
    areas: tuple[Area, ...] = ()
    floors: tuple[Floor, ...] = ()

    @property
    def places(self) -> tuple[Place, ...]:
        return (*self.areas, *self.floors)

    def entity(self, entity_id: str) -> Entity | None:
        """The thing with that id, or None."""
        return next((entity for entity in self.entities if entity.id == entity_id), None)

    def area(self, area_id: str | None) -> Area | None:
        """The area with that id, or None."""
        return next((area for area in self.areas if area.id == area_id), None)

    def floor(self, floor_id: str | None) -> Floor | None:
        """The floor with that id, or None."""
        return next((floor for floor in self.floors if floor.id == floor_id), None)


Verb: TypeAlias = Literal[
    "turn_on",
    "turn_off",
    "set_light",
    "set_position",
    "set_temperature",
    "set_speed",
    "set_volume",
    "pause",
    "unpause",
    "next",
    "previous",
    "mute",
    "unmute",
    "play",
    "start",
    "clean_area",
    "dock",
    "add_item",
    "complete_item",
    "remove_item",
]


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to be done to some entities, all of which can do it.

    `turn_on` opens covers and valves, locks locks and arms alarms; `turn_off` does the opposite. The values:

    set_light        brightness (0 to 100), color (a colour's name), or both
    set_position     position (0 closed, 100 open)
    set_temperature  temperature
    set_speed        percentage
    set_volume       volume_level (0 to 100)
    play             search_query, and media_class where it is known
    clean_area       area (an area's id)
    *_item           item
    """

    verb: Verb
    targets: tuple[Entity, ...]
    values: Attributes = field(default_factory=dict, hash=False)


class Home(Protocol):
    """A home. Whoever acts on it or reads it may get a HomeError, whose message can be spoken."""

    def house(self) -> House:
        """Everything in the home, as far as it is known now; it never waits for the home.

        While the home cannot be reached, this is how it was; a home that was never known raises HomeError.
        """

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        """Do it, and return those that did it, as they are afterwards and in the same order."""

    async def items(self, list_id: str) -> tuple[ListItem, ...]:
        """What is on a list, in the list's order."""

    async def announce(self, message: str) -> None:
        """Say something to everybody in the home."""


class ConnectedHome(Home, Protocol):
    """A home that has to be reached."""

    async def start(self) -> None:
        """Connect. Returns when the house is known, or when `problem` says why it is not; raises nothing.

        A connection that is lost later is made again in the background, for as long as it takes.
        """

    async def close(self) -> None:
        """Disconnect; raises nothing."""

    @property
    def problem(self) -> str:
        """Why the home cannot be reached now, in a sentence that says what to do; "" while all is well."""


class HomeError(ToolError):
    """The home did not do what was asked; the message is a sentence for the user."""

    code = "home_error"

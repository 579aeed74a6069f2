"""What a home is made of: floors, areas and the things in them, as values that never change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

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

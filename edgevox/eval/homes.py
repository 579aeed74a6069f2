"""A home as a suite writes it: floors, areas and things by name, without states."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from edgevox.tools.home import Area, Entity, Floor, House
from edgevox.tools.home.house import Place


class _Named(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1)
    aliases: tuple[str, ...] = ()


class _Area(_Named):
    floor: str | None = None


class _Entity(_Named):
    domain: str = Field(min_length=1)
    device_class: str | None = None
    area: str | None = None


class HomeText(BaseModel):
    """A home in JSON. A place is named by its own name, in any case of letters."""

    model_config = ConfigDict(extra="forbid")

    floors: tuple[_Named, ...] = ()
    areas: tuple[_Area, ...] = ()
    entities: tuple[_Entity, ...] = ()

    def model_post_init(self, _context: Any, /) -> None:  # noqa: ANN401 - pydantic's own
        """Raises ValueError for a floor or an area that is not there."""
        self.house()

    def house(self) -> House:
        """The home; what it is made of gets ids from the names."""
        floors = tuple(Floor(_id(floor.name), floor.name, floor.aliases) for floor in self.floors)
        areas = tuple(
            Area(_id(area.name), area.name, area.aliases, _found(area.floor, floors, "floor"))
            for area in self.areas
        )
        floor_of = {area.id: area.floor for area in areas}
        entities = []
        for number, thing in enumerate(self.entities):
            area = _found(thing.area, areas, "area")
            entities.append(
                Entity(
                    id=f"{thing.domain}.{_id(thing.name)}_{number}",
                    name=thing.name,
                    domain=thing.domain,
                    state="unknown",
                    aliases=thing.aliases,
                    area=area,
                    floor=floor_of[area] if area else None,
                    device_class=thing.device_class,
                )
            )
        return House(tuple(entities), areas, floors)


def _found(name: str | None, places: Iterable[Place], kind: str) -> str | None:
    """The id of the place of that name. Raises ValueError."""
    if name is None:
        return None
    for place in places:
        if _id(name) == place.id:
            return place.id
    raise ValueError(f"there is no {kind} called {name} in this home")


def _id(name: str) -> str:
    return "_".join(name.casefold().split())

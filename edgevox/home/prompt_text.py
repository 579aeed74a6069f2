"""The home part of the system prompt. FROZEN: a model is trained on it.

Nothing here changes while the home stays as it is, so the prompt is evaluated once: no states, no time, and
the order depends on names alone. Any change needs a new HOME_PROMPT_VERSION; a test holds a digest.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from edgevox.home.entities import Entity, House, Place
from edgevox.tools.sanitize import sanitize_tool_output

HOME_PROMPT_VERSION = 3

HOME_INSTRUCTIONS = (
    "You run this home by voice. For each thing the user asks for, call the tool that does it. Use names, "
    "areas and floors as the user says them, and leave out what was not said. If no tool fits, respond in "
    "one short sentence."
)

_NO_AREA = "Anywhere"
_MAX_NAME_CHARS = 60


def home_instructions(house: House) -> str:
    """The system prompt of an assistant that runs this home, without its tools; what may change is last."""
    return f"{HOME_INSTRUCTIONS}\nHome:\n{home_prompt(house)}"


def home_prompt(house: House) -> str:
    """The home for the system prompt: a line for each floor and area, things by kind, names only."""
    return "\n".join(filter(None, (*_floor_lines(house), area_lines(house))))


def area_lines(house: House) -> str:
    """The things alone: a line for each area that has any."""
    lines = []
    for area in (*sorted(house.areas, key=lambda area: (area.name.casefold(), area.id)), None):
        here = [entity for entity in house.entities if house.area(entity.area) == area]
        if here:
            lines.append(f"{_called(area) if area else _NO_AREA}: {'; '.join(_by_kind(here))}")
    return "\n".join(lines)


def home_names(house: House) -> tuple[str, ...]:
    """Every name and alias, once each and in a stable order, for priming the recogniser."""
    names = names_in_order((*house.places, *house.entities))
    return tuple(sorted(names, key=lambda name: (name.casefold(), name)))


def names_in_order(things: Iterable[Entity | Place]) -> tuple[str, ...]:
    """The names and aliases of things, once each."""
    names = (sanitize_name(name) for thing in things for name in (thing.name, *thing.aliases))
    return tuple(dict.fromkeys(names))


def sanitize_name(name: str) -> str:
    """A name from outside as it may stand in a prompt: one line, not long, and no marker of any format."""
    return sanitize_tool_output(" ".join(name.split())[:_MAX_NAME_CHARS])


def _floor_lines(house: House) -> Iterator[str]:
    for floor in sorted(house.floors, key=lambda floor: (floor.name.casefold(), floor.id)):
        areas = sorted(area.name for area in house.areas if area.floor == floor.id)
        yield f"{_called(floor)}: {', '.join(map(sanitize_name, areas))}"


def _by_kind(entities: Iterable[Entity]) -> Iterator[str]:
    in_order = sorted(entities, key=lambda entity: (_kind(entity), entity.name.casefold(), entity.id))
    for kind, group in itertools.groupby(in_order, _kind):
        yield f"{kind} {', '.join(map(_called, group))}"


def _kind(entity: Entity) -> str:
    return f"{entity.domain} {entity.device_class}" if entity.device_class else entity.domain


def _called(thing: Entity | Place) -> str:
    aliases = ", ".join(map(sanitize_name, thing.aliases))
    return sanitize_name(thing.name) + (f" ({aliases})" if aliases else "")

"""The demo home: needs nothing, does what it is told, and remembers it in one small file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from edgevox.tools.home.demo_effects import after
from edgevox.tools.home.demo_house import FIRST_DAY, FIRST_ITEMS, SCENES
from edgevox.tools.home.home import Action, HomeError
from edgevox.tools.home.house import Entity, House, ListItem
from edgevox.tools.home.list_lines import (
    LIST_VERBS,
    Line,
    as_items,
    change_lines,
    forget_lines,
    waiting,
)
from edgevox.tools.home.state_file import StateFile

FILE_NAME = "demo-home.json"


class _Thing(BaseModel):
    model_config = ConfigDict(extra="forbid")

    state: str
    attributes: dict[str, Any] = Field(default_factory=dict)


class _Content(BaseModel):
    """What has changed since the first day."""

    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    things: dict[str, _Thing] = Field(default_factory=dict)
    lists: dict[str, list[Line]] = Field(
        default_factory=lambda: {
            name: [Line(text=text) for text in texts] for name, texts in FIRST_ITEMS.items()
        }
    )


class DemoHome:
    """A home that is only a file; without one it lives in memory."""

    def __init__(self, path: Path | None = None) -> None:
        self.announcements: list[str] = []
        self._file = StateFile(path, _Content)

    problem = ""

    async def start(self) -> None:
        """There is nothing to connect to."""

    async def close(self) -> None:
        """Nor to disconnect from."""

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
        """Nobody else lives here: it is only noted, and not kept."""
        self.announcements.append(message)

    def forget_words(self, is_forgotten: Callable[[str], bool]) -> int:
        """Delete list items and titles that are to be forgotten, and return how many. Raises StateError."""
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
                    content.things[entity.id] = _Thing(state=entity.state, attributes=dict(entity.attributes))
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
    """The things that are different afterwards. Raises HomeError when none of the targets could do it."""
    done: dict[str, Entity] = {}
    refusal: HomeError | None = None
    for target in action.targets:
        entity = house.entity(target.id)
        if entity is None:
            continue
        try:
            done[entity.id] = after(entity, action)
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

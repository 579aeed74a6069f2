"""A shopping list and a to-do list in a local file, for a home without lists."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from edgevox.core.state_file import StateFile
from edgevox.core.words import normalized_words
from edgevox.home.entities import Action, ConnectedHome, Entity, House, ListItem, Location

LIST_VERBS = frozenset({"add_item", "complete_item", "remove_item"})


class Line(BaseModel):
    """One item in the file."""

    model_config = ConfigDict(extra="forbid")

    text: str
    is_done: bool = False


class ItemLists(BaseModel):
    """The items of each list, as they are stored."""

    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    lists: dict[str, list[Line]] = Field(default_factory=dict)

    def items(self, list_id: str) -> tuple[ListItem, ...]:
        return tuple(ListItem(line.text, line.is_done) for line in self.lists.get(list_id, ()))

    def state(self, list_id: str) -> str:
        """The state of a list as in Home Assistant: the number of open items."""
        return str(sum(not item.is_done for item in self.items(list_id)))

    def change(self, action: Action) -> None:
        """Apply an action whose verb is one of LIST_VERBS."""
        text = str(action.values["item"])
        for list_id in {target.id for target in action.targets}:
            lines = self.lists.setdefault(list_id, [])
            meant = [line for line in lines if normalized_words(line.text) == normalized_words(text)]
            match action.verb:
                case "add_item":
                    lines.append(Line(text=text))
                case "complete_item":
                    for line in meant:
                        line.is_done = True
                case "remove_item":
                    self.lists[list_id] = [line for line in lines if line not in meant]
                case _:
                    raise AssertionError(action.verb)

    def forget(self, is_forgotten: Callable[[str], bool]) -> int:
        """Delete the items that are to be forgotten, and return their number."""
        before = sum(map(len, self.lists.values()))
        self.lists = {
            list_id: [line for line in lines if not is_forgotten(line.text)] for list_id, lines in self.lists.items()
        }
        return before - sum(map(len, self.lists.values()))


LISTS_FILE = "lists.json"

_LISTS = (
    Entity("todo.shopping_list", "Shopping List", "todo", "0", ("Groceries",)),
    Entity("todo.to_do", "To-Do List", "todo", "0", ("Tasks", "Chores")),
)


def forget_items(path: Path, is_forgotten: Callable[[str], bool]) -> int:
    """Delete the items that are to be forgotten, and return their number. Raises StateError."""
    with StateFile(path, ItemLists).changing() as lists:
        return lists.forget(is_forgotten)


class HomeWithLocalLists:
    """Adds two lists to a home as long as it has none; they are in a file or, without a path, in memory."""

    def __init__(self, home: ConnectedHome, path: Path | None = None) -> None:
        self._home = home
        self._file = StateFile(path, ItemLists)

    @property
    def problem(self) -> str:
        return self._home.problem

    @property
    def location(self) -> Location | None:
        return self._home.location

    async def start(self) -> None:
        await self._home.start()

    async def close(self) -> None:
        await self._home.close()

    def house(self) -> House:
        """Raises HomeError and StateError."""
        house = self._home.house()
        return house if _has_lists(house) else replace(house, entities=(*house.entities, *self._entities()))

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        """Raises HomeError and StateError."""
        if action.verb not in LIST_VERBS or _has_lists(self._home.house()):
            return await self._home.apply(action)
        return await asyncio.to_thread(self._change, action)

    async def items(self, list_id: str) -> tuple[ListItem, ...]:
        """Raises HomeError and StateError."""
        if _has_lists(self._home.house()):
            return await self._home.items(list_id)
        return self._file.read().items(list_id)

    async def announce(self, message: str) -> None:
        """Raises HomeError."""
        await self._home.announce(message)

    def _entities(self) -> list[Entity]:
        lists = self._file.read()
        return [replace(entity, state=lists.state(entity.id)) for entity in _LISTS]

    def _change(self, action: Action) -> tuple[Entity, ...]:
        with self._file.changing() as lists:
            lists.change(action)
        now = {entity.id: entity for entity in self._entities()}
        return tuple(now[target.id] for target in action.targets if target.id in now)


def _has_lists(house: House) -> bool:
    return any(entity.domain == "todo" for entity in house.entities)

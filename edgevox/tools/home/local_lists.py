"""A shopping list and a to-do list of our own, for a home that has none: kept in one small file."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from edgevox.tools.home.home import Action, ConnectedHome
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

FILE_NAME = "lists.json"

_LISTS = (
    Entity("todo.shopping_list", "Shopping List", "todo", "0", ("Groceries",)),
    Entity("todo.to_do", "To-Do List", "todo", "0", ("Tasks", "Chores")),
)


class _Content(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Literal[1] = 1
    lists: dict[str, list[Line]] = Field(default_factory=dict)


class LocalLists:
    """The two lists; without a path they live in memory."""

    def __init__(self, path: Path | None = None) -> None:
        self._file = StateFile(path, _Content)

    def entities(self) -> tuple[Entity, ...]:
        """Raises StateError."""
        lists = self._file.read().lists
        return tuple(replace(entity, state=waiting(lists.get(entity.id, []))) for entity in _LISTS)

    def items(self, list_id: str) -> tuple[ListItem, ...]:
        """Raises StateError."""
        return as_items(self._file.read().lists.get(list_id, []))

    def change(self, action: Action) -> tuple[Entity, ...]:
        """Do it, and return the lists that it was about as they are now. Raises StateError."""
        with self._file.changing() as content:
            for target in action.targets:
                change_lines(content.lists.setdefault(target.id, []), action)
        now = {entity.id: entity for entity in self.entities()}
        return tuple(now[target.id] for target in action.targets if target.id in now)

    def forget_words(self, is_forgotten: Callable[[str], bool]) -> int:
        """Delete the items that are to be forgotten, and return how many. Raises StateError."""
        with self._file.changing() as content:
            return sum(forget_lines(lines, is_forgotten) for lines in content.lists.values())


class WithLocalLists:
    """A home, and the lists of our own while it has no lists of its own."""

    def __init__(self, home: ConnectedHome, path: Path | None = None) -> None:
        self._home = home
        self._lists = LocalLists(path)

    @property
    def problem(self) -> str:
        return self._home.problem

    async def start(self) -> None:
        await self._home.start()

    async def close(self) -> None:
        await self._home.close()

    def house(self) -> House:
        """Raises HomeError and StateError."""
        house = self._home.house()
        return (
            house if _has_lists(house) else replace(house, entities=house.entities + self._lists.entities())
        )

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        """Raises HomeError and StateError."""
        if action.verb not in LIST_VERBS or _has_lists(self._home.house()):
            return await self._home.apply(action)
        return await asyncio.to_thread(self._lists.change, action)

    async def items(self, list_id: str) -> tuple[ListItem, ...]:
        """Raises HomeError and StateError."""
        if _has_lists(self._home.house()):
            return await self._home.items(list_id)
        return self._lists.items(list_id)

    async def announce(self, message: str) -> None:
        """Raises HomeError."""
        await self._home.announce(message)

    def forget_words(self, is_forgotten: Callable[[str], bool]) -> int:
        """Delete the items of our own lists that are to be forgotten. Raises StateError."""
        return self._lists.forget_words(is_forgotten)


def _has_lists(house: House) -> bool:
    return any(entity.domain == "todo" for entity in house.entities)

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
from edgevox.home.backends.wrapped import WrappedHome
from edgevox.home.entities import Action, ConnectedHome, Entity, HomeError, House, ListItem

LIST_VERBS = frozenset({"add_item", "complete_item", "reopen_item", "remove_item", "clear_items", "create_list"})
_MAX_LISTS = 50
_MAX_NAME_CHARS = 60


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
    names: dict[str, str] = Field(default_factory=dict)
    """The lists that a person created: name by id."""

    def created(self) -> tuple[Entity, ...]:
        """The lists that a person created."""
        return tuple(Entity(list_id, name, "todo", self.state(list_id)) for list_id, name in self.names.items())

    def items(self, list_id: str) -> tuple[ListItem, ...]:
        return tuple(ListItem(line.text, line.is_done) for line in self.lists.get(list_id, ()))

    def state(self, list_id: str) -> str:
        """The state of a list as in Home Assistant: the number of open items."""
        return str(sum(not item.is_done for item in self.items(list_id)))

    def change(self, action: Action) -> tuple[str, ...]:
        """Apply an action whose verb is one of LIST_VERBS; returns the ids of the changed lists. Raises HomeError."""
        if action.verb == "create_list":
            return (self._create(str(action.values["name"])),)
        text = str(action.values.get("item", ""))
        for list_id in {target.id for target in action.targets}:
            lines = self.lists.setdefault(list_id, [])
            meant = [line for line in lines if normalized_words(line.text) == normalized_words(text)]
            match action.verb:
                case "add_item":
                    due = action.values.get("due")  # these lists have no dates of their own
                    lines.append(Line(text=f"{text} ({due})" if due else text))
                case "complete_item" | "reopen_item":
                    for line in meant:
                        line.is_done = action.verb == "complete_item"
                case "remove_item":
                    self.lists[list_id] = [line for line in lines if line not in meant]
                case "clear_items":
                    self.lists[list_id] = []
                case _:
                    raise AssertionError(action.verb)
        return tuple(target.id for target in action.targets)

    def _create(self, said: str) -> str:
        name = " ".join(said.split())[:_MAX_NAME_CHARS]
        if not normalized_words(name):
            raise HomeError("How should the list be called?")
        if any(normalized_words(name) == normalized_words(other) for other in self.names.values()):
            raise HomeError(f"There is already a list called {name}.")
        if len(self.names) >= _MAX_LISTS:
            raise HomeError(f"There are {_MAX_LISTS} lists already; I keep no more.")
        list_id = f"todo.own_{'_'.join(normalized_words(name))}"
        self.names[list_id] = name
        self.lists[list_id] = []
        return list_id

    def forget(self, is_forgotten: Callable[[str], bool]) -> int:
        """Delete the items that are to be forgotten, and return their number."""
        before = sum(map(len, self.lists.values()))
        self.lists = {
            list_id: [line for line in lines if not is_forgotten(line.text)] for list_id, lines in self.lists.items()
        }
        forgotten = [list_id for list_id, name in self.names.items() if is_forgotten(name)]
        for list_id in forgotten:
            del self.names[list_id]
            self.lists.pop(list_id, None)
        return before - sum(map(len, self.lists.values())) + len(forgotten)


LISTS_FILE = "lists.json"

_LISTS = (
    Entity("todo.shopping_list", "Shopping List", "todo", "0", ("Groceries",)),
    Entity("todo.to_do", "To-Do List", "todo", "0", ("Tasks", "Chores")),
)


def forget_items(path: Path, is_forgotten: Callable[[str], bool]) -> int:
    """Delete the items that are to be forgotten, and return their number. Raises StateError."""
    with StateFile(path, ItemLists).changing() as lists:
        return lists.forget(is_forgotten)


class HomeWithLocalLists(WrappedHome):
    """Adds two lists to a home as long as it has none, and those that a person creates.

    They are in a file or, without a path, in memory.
    """

    def __init__(self, home: ConnectedHome, path: Path | None = None) -> None:
        super().__init__(home)
        self._file = StateFile(path, ItemLists)

    def house(self) -> House:
        """Raises HomeError and StateError."""
        house = self._home.house()
        return replace(house, entities=(*house.entities, *self._entities(house)))

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        """Raises HomeError and StateError."""
        house = self._home.house()
        own = {entity.id for entity in self._entities(house)}
        if action.verb == "create_list" or (action.verb in LIST_VERBS and action.targets[0].id in own):
            return await asyncio.to_thread(self._change, action, house)
        return await self._home.apply(action)

    async def items(self, list_id: str) -> tuple[ListItem, ...]:
        """Raises HomeError and StateError."""
        if any(entity.id == list_id for entity in self._entities(self._home.house())):
            return self._file.read().items(list_id)
        return await self._home.items(list_id)

    def _entities(self, house: House) -> list[Entity]:
        """The lists in the file beside those of the home."""
        lists = self._file.read()
        default = () if _has_lists(house) else _LISTS
        return [*(replace(entity, state=lists.state(entity.id)) for entity in default), *lists.created()]

    def _change(self, action: Action, house: House) -> tuple[Entity, ...]:
        with self._file.changing() as lists:
            changed = lists.change(action)
        now = {entity.id: entity for entity in self._entities(house)}
        return tuple(now[list_id] for list_id in changed if list_id in now)


def _has_lists(house: House) -> bool:
    return any(entity.domain == "todo" for entity in house.entities)

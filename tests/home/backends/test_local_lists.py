"""Local lists: added to a home without lists, stored, forgotten, and hidden by the home's own."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path

import pytest

from edgevox.core.state_file import StateFile
from edgevox.core.types import ToolCall
from edgevox.home import Action, Alarms, ConnectedHome, DemoHome, Entity, HomeError, House, ListItem, Timers, home_tools
from edgevox.home.backends.local_lists import LISTS_FILE, HomeWithLocalLists, ItemLists, forget_items
from edgevox.home.entities import Calendar, Forecast, ForecastKind, StateChange
from edgevox.tools import ToolExecutor, ToolRegistry
from tests.home.conftest import NOW, Clock

LAMP = Entity("light.lamp", "Lamp", "light", "off")
OWN_LIST = Entity("todo.shopping_list", "Shopping List", "todo", "7")


class FakeHome:
    """A home that notes what it is asked."""

    def __init__(self, *entities: Entity) -> None:
        self.entities = entities
        self.problem = ""
        self.location = None
        self.asked: list[str] = []

    async def start(self) -> None:
        self.asked.append("start")

    async def close(self) -> None:
        self.asked.append("close")

    def house(self) -> House:
        if self.problem:
            raise HomeError(self.problem)
        return House(self.entities)

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        self.asked.append(action.verb)
        return action.targets

    async def items(self, list_id: str) -> tuple[ListItem, ...]:
        self.asked.append(list_id)
        return (ListItem("theirs"),)

    async def announce_problem(self) -> str:
        return ""

    def room_of(self, origin_id: str) -> str:
        return ""

    async def announce(self, message: str) -> None:
        self.asked.append(message)

    async def forecast(self, weather_id: str, kind: ForecastKind) -> tuple[Forecast, ...]:
        self.asked.append(kind)
        return ()

    async def changes(self, entity_id: str, since: datetime) -> tuple[StateChange, ...]:
        return ()

    def calendars(self) -> tuple[Calendar, ...]:
        return ()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / LISTS_FILE


async def say(home: ConnectedHome, tool: str, /, **arguments: str) -> str:
    executor = ToolExecutor(ToolRegistry(home_tools(home, Timers(Clock()), Alarms(Clock()), lambda: NOW)))
    result = await executor.dispatch(ToolCall("1", tool, json.dumps(arguments)))
    assert result.speech is not None, result
    return result.speech


async def test_a_home_without_lists_gets_two(path: Path) -> None:
    home = HomeWithLocalLists(FakeHome(LAMP), path)
    assert await say(home, "shopping_list_add_item", item="eggs") == "I added eggs to the shopping list."
    assert await say(home, "list_add_item", item="call mum", name="to do list") == "I added call mum to the to-do list."
    assert await say(home, "get_state", name="shopping list") == "On the shopping list: eggs."
    assert await say(home, "shopping_list_complete_item", item="egg") == ("Eggs is ticked off on the shopping list.")
    assert await say(home, "list_remove_item", item="mum", name="chores") == "I took call mum off the to-do list."
    assert await say(home, "get_state", name="to-do") == "The to-do list is empty."


async def test_items_are_visible_to_the_next_command(path: Path) -> None:
    await say(HomeWithLocalLists(FakeHome(), path), "shopping_list_add_item", item="eggs")
    home = HomeWithLocalLists(FakeHome(), path)
    assert await home.items("todo.shopping_list") == (ListItem("eggs"),)
    assert [(entity.id, entity.state) for entity in home.house().entities] == [
        ("todo.shopping_list", "1"),
        ("todo.to_do", "0"),
    ]


async def test_a_home_with_lists_of_its_own_keeps_them(path: Path) -> None:
    inner = FakeHome(LAMP, OWN_LIST)
    home = HomeWithLocalLists(inner, path)
    assert home.house().entities == (LAMP, OWN_LIST)
    await say(home, "shopping_list_add_item", item="eggs")
    assert await home.items("todo.shopping_list") == (ListItem("theirs"),)
    assert inner.asked == ["todo.shopping_list", "add_item", "todo.shopping_list"]
    assert StateFile(path, ItemLists).read().items(OWN_LIST.id) == ()
    assert HomeWithLocalLists(DemoHome(), path).house() == DemoHome().house()


async def test_lists_come_and_go_with_those_of_the_home(path: Path) -> None:
    inner = FakeHome()
    home = HomeWithLocalLists(inner, path)
    await say(home, "shopping_list_add_item", item="eggs")
    inner.entities = (OWN_LIST,)
    assert home.house().entities == (OWN_LIST,)
    inner.entities = ()
    assert await home.items("todo.shopping_list") == (ListItem("eggs"),)


async def test_a_created_list_stands_beside_those_of_the_home(path: Path) -> None:
    inner = FakeHome(OWN_LIST)
    home = HomeWithLocalLists(inner, path)
    assert await say(home, "list_create", name="holiday") == "I made the holiday list."
    await say(home, "list_add_item", item="sun cream", name="holiday list")
    again = HomeWithLocalLists(inner, path)
    assert await say(again, "get_state", name="holiday list") == "On the holiday list: sun cream."
    assert inner.asked == []


async def test_everything_else_goes_to_the_home(path: Path) -> None:
    inner = FakeHome(LAMP)
    home = HomeWithLocalLists(inner, path)
    await home.start()
    assert await say(home, "turn_on", name="lamp") == "The lamp is off."
    await home.announce("lunch")
    await home.close()
    assert inner.asked == ["start", "turn_on", "lunch", "close"]


async def test_an_unknown_home_is_not_treated_as_one_without_lists(path: Path) -> None:
    inner = FakeHome()
    inner.problem = "The home does not answer."
    home = HomeWithLocalLists(inner, path)
    assert home.problem == "The home does not answer."
    with pytest.raises(HomeError, match="does not answer"):
        home.house()
    with pytest.raises(HomeError, match="does not answer"):
        await home.apply(Action("add_item", (OWN_LIST,), {"item": "eggs"}))


async def test_words_are_forgotten(path: Path) -> None:
    home = HomeWithLocalLists(FakeHome(), path)
    for item in ("eggs", "a gift for Anna"):
        await say(home, "shopping_list_add_item", item=item)
    assert forget_items(path, lambda text: "anna" in text.casefold()) == 1
    assert forget_items(path, lambda text: "anna" in text.casefold()) == 0
    assert await home.items("todo.shopping_list") == (ListItem("eggs"),)

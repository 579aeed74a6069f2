"""What a call would touch, known before it acts: safe by default, and pure."""

from __future__ import annotations

import pytest

from edgevox.home import DemoHome, resolved_targets
from edgevox.home.entities import HomeError
from edgevox.home.intents.catalogue import catalogue
from edgevox.home.resolve.target_resolver import resolve_targets
from tests.home.houses import house, thing

DEMO = DemoHome().house()


def ids(tool: str, **arguments: object) -> list[str]:
    return [entity.id for entity in resolved_targets(tool, arguments, DEMO)]


@pytest.mark.parametrize(
    ("tool", "arguments", "meant"),
    [
        ("turn_off", {"name": "front door"}, ["lock.front_door"]),
        ("turn_on", {"name": "garage door"}, ["cover.garage_door"]),
        ("set_position", {"name": "garage door", "position": 50}, ["cover.garage_door"]),
        ("turn_off", {"name": "alarm"}, ["alarm_control_panel.house"]),
        ("light_set", {"area": "kitchen", "brightness": 5}, ["light.kitchen", "light.counter"]),
        ("climate_set_temperature", {"temperature": 20}, ["climate.thermostat"]),
        ("media_pause", {}, ["media_player.tv"]),
        ("set_volume", {"area": "kitchen", "volume_level": 5}, ["media_player.kitchen"]),
        ("vacuum_clean_area", {"area": "bedroom"}, ["vacuum.robot"]),
        ("shopping_list_add_item", {"item": "tea"}, ["todo.shopping_list"]),
        ("list_add_item", {"item": "tea", "name": "chores"}, ["todo.tasks"]),
        ("get_weather", {}, ["weather.home"]),
        ("start_timer", {"minutes": 5}, []),
        ("get_current_time", {}, []),
        ("no_such_tool", {}, []),
        ("turn_on", {"name": "lamp"}, []),
        ("turn_on", {"name": "spaceship"}, []),
        ("turn_on", {}, []),
    ],
)
def test_the_targets_of_a_call(tool: str, arguments: dict[str, object], meant: list[str]) -> None:
    assert ids(tool, **arguments) == meant


@pytest.mark.parametrize(
    "arguments",
    [
        {"area": "hallway"},
        {"name": "everything"},
        {"name": "everything in the hallway"},
        {"name": "all", "area": "hallway"},
        {"name": "hallway"},
        {"floor": "downstairs"},
        {"name": "everything downstairs"},
    ],
)
@pytest.mark.parametrize("tool", ["turn_on", "turn_off"])
def test_everything_never_means_locks_alarms_and_doors(tool: str, arguments: dict[str, object]) -> None:
    found = resolved_targets(tool, arguments, DEMO)
    assert found
    assert {entity.domain for entity in found} <= {"light", "switch", "fan", "media_player"}


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        ({"name": "all doors"}, ["cover.garage_door"]),
        ({"name": "doors"}, ["cover.garage_door"]),
        ({"name": "front door", "domain": "cover"}, []),
        ({"name": "front door", "device_class": "door"}, []),
        ({"name": "front door", "domain": "lock"}, ["lock.front_door"]),
        ({"name": "doors", "domain": "lock"}, ["lock.front_door"]),
        ({"name": "front door"}, ["lock.front_door"]),
    ],
)
def test_who_closes_doors_does_not_unlock_them(arguments: dict[str, str], meant: list[str]) -> None:
    assert ids("turn_off", **arguments) == meant


def test_a_room_in_the_name_slot_is_a_room() -> None:
    assert ids("light_set", name="kitchen", brightness=10) == ["light.kitchen", "light.counter"]


def test_the_player_that_plays_is_meant() -> None:
    playing = house(
        thing("Radio", "media_player", "kitchen", state="paused"),
        thing("TV", "media_player", "living_room", state="playing"),
    )
    assert [e.name for e in resolved_targets("media_next", {}, playing)] == ["TV"]
    assert [e.name for e in resolved_targets("media_unpause", {}, playing)] == ["Radio"]
    with pytest.raises(HomeError, match="Nothing is playing"):
        resolve_targets("media_pause", {}, house(*(thing(n, "media_player", state="off") for n in ("A", "B"))))


def test_two_thermostats_and_no_name_are_a_question() -> None:
    two = house(thing("Radiator", "climate", "kitchen"), thing("Heater", "climate", "bedroom"))
    with pytest.raises(HomeError, match="Which one: the radiator or the heater"):
        resolve_targets("climate_set_temperature", {"temperature": 20}, two)
    assert len(resolve_targets("climate_set_temperature", {"temperature": 20, "floor": "upstairs"}, two)) == 1


@pytest.mark.parametrize("tool", catalogue().values(), ids=lambda tool: tool.name)
def test_no_tool_has_targets_in_an_empty_home(tool: object) -> None:
    assert resolved_targets(getattr(tool, "name", ""), {"name": "light", "area": "kitchen", "item": "x"}, house()) == ()

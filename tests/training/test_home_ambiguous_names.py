"""Names that mislead: a thing called by its kind, a hatch, Henry, a basement. What the list says counts."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from edgevox.home.entities import Area, Entity, Floor, House
from training.home.commands import ambiguous_names, several
from training.home.houses import KnownHome, random_house
from training.home.speaker import Request, Speaker

_KINDS = House(
    (
        Entity("humidifier.a", "Humidifier", "humidifier", ""),
        Entity("cover.a", "West Shutters", "cover", "", device_class="shutter"),
        Entity("alarm_control_panel.a", "House Alarm", "alarm_control_panel", ""),
    ),
    (Area("a0", "Kitchen"),),
)
_OPENINGS = House(
    (
        Entity("cover.a", "Barrier", "cover", "", device_class="gate"),
        Entity("binary_sensor.a", "Hatch", "binary_sensor", "", device_class="opening"),
        Entity("binary_sensor.b", "Bay", "binary_sensor", "", device_class="garage_door"),
    )
)
_VACUUM = House((Entity("vacuum.a", "Henry", "vacuum", ""),), (Area("a0", "Kitchen"),))
_MOWER = House((Entity("lawn_mower.a", "Henry", "lawn_mower", ""),), (Area("a0", "Kitchen"),))
_FLOORS = House((), (Area("a0", "Cellar", (), "f0"), Area("a1", "Attic")), (Floor("f0", "Basement"),))


def _drawn(builder: Callable[[Speaker], Request], house: House | None, count: int = 300) -> list[Request]:
    known = KnownHome(house)
    return [builder(Speaker(random.Random(seed), known)) for seed in range(count)]


@pytest.mark.parametrize("builder", [ambiguous_names.by_kind, ambiguous_names.by_kind_asked])
def test_a_thing_called_by_its_kind_is_named_where_it_is_listed(builder: Callable[[Speaker], Request]) -> None:
    found = set()
    for made in _drawn(builder, _KINDS):
        slots = made.calls[0].arguments
        for name in ("humidifier", "west shutters", "house alarm"):
            if f" {name} " in f" {made.text} ":
                found.add(name)
                assert slots["name"] == name, made
                assert slots.keys().isdisjoint({"domain", "device_class", "area"}), made
    assert found == {"humidifier", "west shutters", "house alarm"}


def test_where_nothing_is_called_so_the_kind_is_meant() -> None:
    for made in _drawn(ambiguous_names.by_kind_asked, None):
        assert "name" not in made.calls[0].arguments, made
        assert "domain" in made.calls[0].arguments


def test_what_is_open_is_asked_of_a_cover_without_a_class_and_of_a_sensor_with_its_own() -> None:
    asked = {
        str(made.calls[0].arguments["name"]): made.calls[0].arguments
        for made in _drawn(ambiguous_names.opened, _OPENINGS)
    }
    assert asked["barrier"].keys() == {"name", "state"}
    assert asked["barrier"]["state"] in ("open", "closed")
    assert asked["hatch"]["device_class"] == "opening"
    assert asked["bay"]["device_class"] == "garage_door"
    assert asked["bay"]["state"] in ("on", "off")


def test_a_cover_with_an_odd_name_opens_by_its_name() -> None:
    for made in _drawn(ambiguous_names.odd_cover, _OPENINGS):
        assert made.calls[0].arguments["name"] == "barrier"
        assert made.calls[0].tool in ("turn_on", "turn_off", "set_position")


@pytest.mark.parametrize(
    ("house", "tools"),
    [
        (_VACUUM, {"vacuum_start", "vacuum_return_to_base", "vacuum_clean_area"}),
        (_MOWER, {"lawn_mower_start_mowing", "lawn_mower_dock"}),
    ],
)
def test_the_list_says_what_henry_does(house: House, tools: set[str]) -> None:
    made = _drawn(ambiguous_names.sent, house) + _drawn(ambiguous_names.in_room, house)
    assert {one.calls[0].tool for one in made} == tools
    assert {one.calls[0].arguments["name"] for one in made} == {"Henry"}
    assert not any("the Henry" in one.text for one in made)


def test_back_on_his_dock_is_docked() -> None:
    asked = [made for made in _drawn(ambiguous_names.asked, _VACUUM) if "on his dock" in made.text]
    assert asked
    assert all(made.calls[0].arguments == {"name": "Henry", "state": "docked"} for made in asked)


def test_a_basement_is_the_floor_that_the_list_shows_and_a_cellar_the_room() -> None:
    made = [call.calls[0].arguments for call in _drawn(ambiguous_names.storey, _FLOORS)]
    assert {slots["floor"] for slots in made if "floor" in slots} == {"basement"}
    assert {slots["area"] for slots in made if "area" in slots} == {"attic", "cellar"}


def test_each_of_several_orders_keeps_its_own_verb() -> None:
    opposite = 0
    for made in _drawn(several.opposed, _OPENINGS):
        assert 2 <= len(made.calls) <= 4
        opposite += {"turn_on", "turn_off"} <= {call.tool for call in made.calls}
        if made.text.startswith(("open ", "raise ", "start ", "lock ", "arm ", "turn on ")):
            assert made.calls[0].tool == "turn_on", made
        if made.text.startswith(("close ", "shut ", "unlock ", "disarm ", "turn off ")):
            assert made.calls[0].tool == "turn_off", made
    assert opposite > 150


def test_nobody_shares_a_name_with_a_robot() -> None:
    for seed in range(300):
        house = random_house(random.Random(seed))
        named = [thing.name for thing in house.entities if thing.domain in ("person", "vacuum", "lawn_mower")]
        assert len(named) == len(set(named))

"""A call is rewritten as the home understands it, and is about the same entities as before."""

from __future__ import annotations

import pytest

from edgevox.home import Area, House, resolved_targets
from edgevox.home.intents.resolution import normalize_arguments
from tests.home.houses import AREAS, FLOORS, house, thing

HOME = house(
    thing("Ceiling Lamp", area="kitchen"),
    thing("Reading Nook", area="living_room"),
    thing("Garden Valve", "valve"),
    thing("Shed Door", "binary_sensor", device_class="opening"),
    thing("Air Monitor", "sensor", device_class="aqi"),
    thing("Boiler", "sensor", device_class="pressure"),
    thing("Tablet", "sensor", device_class="battery"),
    thing("Tablet", "binary_sensor", device_class="connectivity"),
    thing("Corner Shop's", "todo"),
    thing("TV", "media_player", "living_room"),
)


@pytest.mark.parametrize(
    ("tool", "arguments", "meant"),
    [
        ("turn_off", {"area": "house", "domain": "light"}, {"domain": "light"}),
        ("turn_off", {"floor": "the whole home", "domain": "light"}, {"domain": "light"}),
        ("turn_on", {"area": "reading nook"}, {"name": "reading nook"}),
        ("turn_on", {"area": "reading nook", "domain": "light"}, {"name": "reading nook", "domain": "light"}),
        (
            "get_state",
            {"name": "shed door", "domain": "binary_sensor", "device_class": "door", "state": "on"},
            {"name": "shed door", "domain": "binary_sensor", "device_class": "opening", "state": "on"},
        ),
        (
            "get_state",
            {"name": "air monitor", "domain": "sensor", "device_class": "illuminance"},
            {"name": "air monitor", "domain": "sensor"},
        ),
        (
            "get_state",
            {"name": "air monitor", "domain": "binary_sensor", "device_class": "gas"},
            {"name": "air monitor", "domain": "sensor"},
        ),
        (
            "get_state",
            {"name": "boiler", "domain": "sensor"},
            {"name": "boiler", "domain": "sensor", "device_class": "pressure"},
        ),
        ("get_state", {"name": "boiler's"}, {"name": "boiler"}),
        ("get_state", {"name": "boiler’s"}, {"name": "boiler"}),
    ],
)
def test_what_was_guessed_is_put_right(tool: str, arguments: dict[str, object], meant: dict[str, object]) -> None:
    assert normalize_arguments(tool, arguments, HOME) == meant


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("turn_off", {"area": "house"}),  # everything off: without a place it would be a question
        ("turn_on", {"area": "garden", "domain": "light"}),  # a valve is not what lights up
        ("turn_on", {"area": "garden"}),
        ("turn_off", {"area": "kitchen", "domain": "light"}),
        ("turn_on", {"name": "lounge lights"}),
        ("turn_on", {"name": "spaceship", "domain": "light"}),
        ("get_state", {"name": "boiler"}),
        ("get_state", {"name": "air monitor", "domain": "sensor"}),
        ("get_state", {"name": "tablet", "domain": "sensor", "device_class": "battery"}),
        ("get_state", {"name": "tablet", "domain": "binary_sensor", "device_class": "connectivity"}),
        ("list_add_item", {"item": "cheese", "name": "corner shop's"}),
        ("media_search_and_play", {"search_query": "boiler's"}),
        ("start_timer", {"minutes": 5, "name": "boiler's"}),
        ("no_such_tool", {"area": "house"}),
    ],
)
def test_what_is_right_or_unknown_stays(tool: str, arguments: dict[str, object]) -> None:
    assert normalize_arguments(tool, arguments, HOME) == arguments


def test_a_room_called_house_is_a_room() -> None:
    home = House(
        (thing("Porch Light"), thing("Lamp", area="kitchen")), (*AREAS, Area("h", "Summer House", ("House",))), FLOORS
    )

    assert normalize_arguments("turn_off", {"area": "house", "domain": "light"}, home)["area"] == "house"


@pytest.mark.parametrize("tool", ["turn_on", "turn_off", "get_state"])
@pytest.mark.parametrize("name", [None, "ceiling lamp", "tablet's", "shed door", "garden"])
@pytest.mark.parametrize("area", [None, "kitchen", "home", "cellar"])
@pytest.mark.parametrize("kind", [{}, {"domain": "light"}, {"domain": "sensor"}, {"device_class": "door"}])
def test_a_call_is_about_the_same_things(tool: str, name: str | None, area: str | None, kind: dict[str, str]) -> None:
    said = {slot: value for slot, value in {"name": name, "area": area}.items() if value} | kind

    assert resolved_targets(tool, normalize_arguments(tool, said, HOME), HOME) == resolved_targets(tool, said, HOME)

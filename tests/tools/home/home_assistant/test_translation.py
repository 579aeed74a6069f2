"""States, registries and exposure of Home Assistant in our words, from plain dictionaries."""

from __future__ import annotations

from typing import Any

import pytest

from edgevox.tools.home import Area, Entity, Floor
from edgevox.tools.home.home_assistant.exposure import Exposure, read_exposure
from edgevox.tools.home.home_assistant.registries import Registered, Registries, registries
from edgevox.tools.home.home_assistant.translation import entity


def translated(entity_id: str, state: str, **attributes: Any) -> Entity:
    everything = Registries(exposure=Exposure(frozenset({entity_id})))
    found = entity(entity_id, state, attributes, everything)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("entity_id", "state", "attributes", "expected"),
    [
        ("light.a", "on", {"brightness": 255}, {"brightness": 100}),
        ("light.a", "on", {"brightness": 102}, {"brightness": 40}),
        ("light.a", "on", {"brightness": 1}, {"brightness": 1}),
        ("light.a", "off", {"brightness": None}, {"brightness": 0}),
        ("light.a", "on", {"supported_color_modes": ["onoff"]}, {"supported_color_modes": ["onoff"]}),
        ("media_player.a", "playing", {"volume_level": 0.29, "media_title": "News"},
         {"volume_level": 29, "media_title": "News"}),
        ("media_player.a", "off", {"entity_picture": "/api/x?token=y"}, {}),
        ("cover.a", "open", {"current_position": 70}, {"position": 70}),
        ("cover.a", "open", {"current_position": None}, {}),
        ("fan.a", "on", {"percentage": 33.4, "percentage_step": 33.3},
         {"percentage": 33, "percentage_step": 33.3}),
        ("climate.a", "heat", {"temperature": 21, "current_temperature": 19.5, "min_temp": 7},
         {"temperature": 21, "current_temperature": 19.5, "min_temp": 7}),
        ("sensor.a", "20.5", {"unit_of_measurement": "°C"}, {"unit": "°C"}),
        ("weather.a", "sunny", {"temperature": 20, "temperature_unit": "°C"},
         {"temperature": 20, "unit": "°C"}),
        ("light.a", "on", {"brightness": "bright", "volume_level": True}, {}),
    ],
)  # fmt: skip
def test_attributes_are_whole_percentages_and_nothing_more_than_needed(
    entity_id: str, state: str, attributes: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert translated(entity_id, state, **attributes).attributes == expected


@pytest.mark.parametrize(
    ("friendly_name", "name"),
    [
        ("Hall Light", "Hall Light"),
        ("0_Ground_floor", "0 Ground floor"),
        (" ", "hall lamp"),
        (None, "hall lamp"),
    ],
)
def test_a_thing_is_called_as_people_call_it(friendly_name: str | None, name: str) -> None:
    assert translated("light.hall_lamp", "on", friendly_name=friendly_name).name == name


def test_a_registered_name_stands_in_for_a_missing_one() -> None:
    house = Registries(things={"light.a": Registered(name="Desk Lamp")})
    found = entity("light.a", "on", {}, house)
    assert found is not None
    assert found.name == "Desk Lamp"


def test_a_thing_stands_where_it_or_its_device_does() -> None:
    house = registries(
        areas=[
            {"area_id": "attic", "name": "Attic", "aliases": ["Loft"], "floor_id": "top"},
            {"area_id": "hall", "name": "Hall"},
        ],
        floors=[{"floor_id": "top", "name": "Top Floor", "aliases": ["Upstairs"]}],
        devices=[{"id": "d1", "area_id": "attic"}, {"id": "d2", "area_id": None}],
        entities=[
            {"entity_id": "light.own", "device_id": "d1", "area_id": "hall"},
            {"entity_id": "light.device", "device_id": "d1", "area_id": None},
            {"entity_id": "light.nowhere", "device_id": "d2", "area_id": None},
        ],
        details={"light.own": {"aliases": ["B", "A", None, " "]}, "light.device": None},
        exposure=Exposure(),
    )
    assert house.areas == (Area("attic", "Attic", ("Loft",), "top"), Area("hall", "Hall"))
    assert house.floors == (Floor("top", "Top Floor", ("Upstairs",)),)
    places = {}
    for entity_id in house.things:
        found = entity(entity_id, "on", {}, house)
        assert found is not None
        places[entity_id] = (found.area, found.floor, found.aliases)
    assert places == {
        "light.own": ("hall", None, ("A", "B")),
        "light.device": ("attic", "top", ()),
        "light.nowhere": (None, None, ()),
    }


# --- exposure


def test_without_a_decision_home_assistant_s_defaults_are_exposed() -> None:
    default = read_exposure({"exposed_entities": {"light.a": {}, "light.b": {"cloud.alexa": True}}})
    assert default.has("light.a", None)
    assert default.has("sensor.a", "temperature")
    assert default.has("binary_sensor.a", "window")
    assert not default.has("sensor.a", "battery")
    assert not default.has("camera.a", None)
    assert not default.has("alarm_control_panel.a", None)


def test_what_the_user_exposed_is_all_there_is() -> None:
    decided = read_exposure(
        {
            "exposed_entities": {
                "camera.a": {"conversation": True},
                "light.a": {"conversation": False},
                "light.b": {},
            }
        }
    )
    assert decided.has("camera.a", None)
    assert not decided.has("light.a", None)
    assert not decided.has("light.b", None)


def test_who_is_no_administrator_reads_the_exposure_from_the_entries() -> None:
    entries: list[dict[str, Any]] = [
        {"entity_id": "camera.a", "options": {"conversation": {"should_expose": True}}},
        {"entity_id": "light.a", "options": {"conversation": {"should_expose": False}}},
        {"entity_id": "light.b", "options": {}},
        {"entity_id": "light.c"},
    ]
    exposure = read_exposure(None, entries)
    assert exposure == Exposure(exposed=frozenset({"camera.a"}), hidden=frozenset({"light.a"}))


def test_what_the_user_hid_is_hidden_though_nothing_is_exposed() -> None:
    hidden = read_exposure({"exposed_entities": {"light.a": {"conversation": False}}})
    assert not hidden.has("light.a", None)
    assert hidden.has("light.b", None)


def test_hidden_and_diagnostic_things_are_not_exposed_by_default() -> None:
    lists = [
        {"entity_id": "switch.hidden", "hidden_by": "user"},
        {"entity_id": "switch.diagnostic", "entity_category": "diagnostic"},
        {"entity_id": "switch.plain"},
    ]
    house = registries([], [], [], lists, {}, Exposure())
    known = [entity_id for entity_id in house.things if entity(entity_id, "on", {}, house)]
    assert known == ["switch.plain"]
    exposed = registries([], [], [], lists, {}, Exposure(frozenset({"switch.hidden"})))
    assert entity("switch.hidden", "on", {}, exposed) is not None

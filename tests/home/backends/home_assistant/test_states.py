"""Conversion of Home Assistant's states, and live updates."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from edgevox.home import Area, Entity, Floor
from edgevox.home.backends.home_assistant.registries import (
    Exposure,
    Registries,
    RegistryEntry,
    parse_registries,
    read_exposure,
)
from edgevox.home.backends.home_assistant.states import LiveStates, to_entity


def translated(entity_id: str, state: str, **attributes: Any) -> Entity:
    everything = Registries(exposure=Exposure(frozenset({entity_id})))
    found = to_entity(entity_id, state, attributes, everything)
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
def test_attributes_are_percentages_and_only_the_needed_ones(
    entity_id: str, state: str, attributes: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert translated(entity_id, state, **attributes).attributes == expected


@pytest.mark.parametrize(
    ("friendly_name", "name"),
    [("Hall Light", "Hall Light"), ("0_Ground_floor", "0 Ground floor"), (" ", "hall lamp"), (None, "hall lamp")],
)
def test_the_best_available_name_is_used(friendly_name: str | None, name: str) -> None:
    assert translated("light.hall_lamp", "on", friendly_name=friendly_name).name == name


def test_a_registered_name_replaces_a_missing_one() -> None:
    house = Registries(things={"light.a": RegistryEntry(name="Desk Lamp")})
    found = to_entity("light.a", "on", {}, house)
    assert found is not None
    assert found.name == "Desk Lamp"


def test_the_area_is_the_entitys_or_its_devices() -> None:
    house = parse_registries(
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
        found = to_entity(entity_id, "on", {}, house)
        assert found is not None
        places[entity_id] = (found.area, found.floor, found.aliases)
    assert places == {
        "light.own": ("hall", None, ("A", "B")),
        "light.device": ("attic", "top", ()),
        "light.nowhere": (None, None, ()),
    }


# --- exposure


def test_without_user_choices_the_defaults_are_exposed() -> None:
    default = read_exposure({"exposed_entities": {"light.a": {}, "light.b": {"cloud.alexa": True}}})
    assert default.has("light.a", None)
    assert default.has("sensor.a", "temperature")
    assert default.has("binary_sensor.a", "window")
    assert not default.has("sensor.a", "battery")
    assert not default.has("camera.a", None)
    assert not default.has("alarm_control_panel.a", None)


def test_only_entities_exposed_by_the_user_are_included() -> None:
    decided = read_exposure(
        {"exposed_entities": {"camera.a": {"conversation": True}, "light.a": {"conversation": False}, "light.b": {}}}
    )
    assert decided.has("camera.a", None)
    assert not decided.has("light.a", None)
    assert not decided.has("light.b", None)


def test_without_admin_rights_the_exposure_is_read_from_the_entries() -> None:
    entries: list[dict[str, Any]] = [
        {"entity_id": "camera.a", "options": {"conversation": {"should_expose": True}}},
        {"entity_id": "light.a", "options": {"conversation": {"should_expose": False}}},
        {"entity_id": "light.b", "options": {}},
        {"entity_id": "light.c"},
    ]
    exposure = read_exposure(None, entries)
    assert exposure == Exposure(exposed=frozenset({"camera.a"}), hidden=frozenset({"light.a"}))


def test_an_entity_hidden_by_the_user_is_not_a_default() -> None:
    hidden = read_exposure({"exposed_entities": {"light.a": {"conversation": False}}})
    assert not hidden.has("light.a", None)
    assert hidden.has("light.b", None)


def test_hidden_and_diagnostic_entities_are_not_exposed_by_default() -> None:
    lists = [
        {"entity_id": "switch.hidden", "hidden_by": "user"},
        {"entity_id": "switch.diagnostic", "entity_category": "diagnostic"},
        {"entity_id": "switch.plain"},
    ]
    house = parse_registries([], [], [], lists, {}, Exposure())
    known = [entity_id for entity_id in house.things if to_entity(entity_id, "on", {}, house)]
    assert known == ["switch.plain"]
    exposed = parse_registries([], [], [], lists, {}, Exposure(frozenset({"switch.hidden"})))
    assert to_entity("switch.hidden", "on", {}, exposed) is not None


def live_house(**states: str) -> LiveStates:
    live = LiveStates()
    live.register(Registries())
    live.begin({"a": {f"light.{name}": {"s": state, "a": {}} for name, state in states.items()}})
    return live


def states(live: LiveStates) -> dict[str, str]:
    return {entity.id: entity.state for entity in live.house().entities}


def test_additions_changes_and_removals_are_followed() -> None:
    live = live_house(a="off", b="off")
    live.take({"a": {"light.c": {"s": "on", "a": {"brightness": 255}}}})
    live.take({"c": {"light.a": {"+": {"s": "on"}}, "light.c": {"+": {"a": {"brightness": 51}}}}})
    live.take({"r": ["light.b", "light.unknown"]})
    assert states(live) == {"light.a": "on", "light.c": "on"}
    light = live.entity("light.c")
    assert light is not None
    assert light.attributes == {"brightness": 20}
    live.take({"c": {"light.c": {"-": {"a": ["brightness"]}}}})
    light = live.entity("light.c")
    assert light is not None
    assert light.attributes == {}


def test_the_time_of_the_last_change_is_known() -> None:
    live = LiveStates()
    live.begin({"a": {"light.a": {"s": "on", "a": {}, "lc": 1_700_000_000.5}, "light.b": {"s": "on", "lc": "never"}}})
    first, second = live.house().entities
    assert first.changed_at == datetime.fromtimestamp(1_700_000_000.5, UTC)
    assert second.changed_at is None
    live.take({"c": {"light.a": {"+": {"a": {"brightness": 10}, "lu": 1_700_000_100.0}}}})
    live.take({"c": {"light.b": {"+": {"s": "off", "lc": 1_700_000_200}}}})
    first, second = live.house().entities
    assert first.changed_at == datetime.fromtimestamp(1_700_000_000.5, UTC)
    assert second.changed_at == datetime.fromtimestamp(1_700_000_200, UTC)


def test_a_new_subscription_drops_missing_entities() -> None:
    live = live_house(a="off", b="off")
    live.begin({"a": {"light.b": {"s": "on", "a": {}}}})
    assert states(live) == {"light.b": "on"}


def test_an_unchanged_house_is_the_same_object() -> None:
    live = live_house(a="off")
    before = live.house()
    live.take({"a": {"camera.not_exposed": {"s": "idle"}}})
    live.take({"c": {"light.a": {"+": {"c": "context only"}}}})
    assert live.house() is before


def test_new_registries_apply_at_once() -> None:
    live = live_house(a="off", b="off")
    live.register(Registries(exposure=Exposure(frozenset({"light.b"}))))
    assert states(live) == {"light.b": "off"}


async def test_a_waiter_for_a_state_is_woken() -> None:
    live = live_house(a="off")
    waiting = asyncio.create_task(live.wait_until("light.a", lambda light: light.state == "on"))
    for state in ("unavailable", "off", "on"):
        await asyncio.sleep(0)
        assert not waiting.done()
        live.take({"c": {"light.a": {"+": {"s": state}}}})
    async with asyncio.timeout(5):
        await waiting


def test_an_entity_that_changed_ten_times_is_converted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    converted: list[str] = []

    def counted(entity_id: str, *rest: Any) -> Entity | None:
        converted.append(entity_id)
        return to_entity(entity_id, *rest)

    live = LiveStates()
    live.register(Registries())
    live.begin({"a": {f"sensor.s{n}": {"s": "0", "a": {"device_class": "temperature"}} for n in range(1000)}})
    assert len(live.house().entities) == 1000
    monkeypatch.setattr("edgevox.home.backends.home_assistant.states.to_entity", counted)
    for n in range(10_000):
        live.take({"c": {f"sensor.s{n % 1000}": {"+": {"s": str(n), "lc": n, "c": "x"}}}})
    assert converted == []
    assert [entity.state for entity in live.house().entities] == [str(n) for n in range(9_000, 10_000)]
    assert len(converted) == 1000

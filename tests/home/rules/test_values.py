"""Numbers, humidifiers, water heaters and buttons are set by rule, and questions about the past are answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from edgevox.home import DemoHome, HomeError
from edgevox.home.entities import Entity, House, StateChange
from edgevox.home.grammar import plain_request
from edgevox.home.intents.history_handlers import answer_history
from edgevox.home.intents.resolution import resolve_intent
from edgevox.home.rules import values
from tests.home.conftest import Bench
from tests.home.houses import house, thing
from tests.home.rules.test_rules import Talk

NOW = datetime(2026, 3, 1, 19, 5, tzinfo=UTC)
DOOR = thing("Front Door", "binary_sensor", device_class="door")
HOME = house(
    DOOR,
    thing("Front Door", "lock", state="locked"),
    thing("Volume Limit", "number"),
    thing("Bedroom Humidifier", "humidifier", "bedroom"),
    thing("Boiler", "water_heater"),
    thing("Thermostat", "climate"),
    thing("Bedroom Heating", "climate", "bedroom"),
    thing("Back Door", "lock", state="locked"),
    thing("Back Door Contact", "binary_sensor", device_class="door"),
    thing("Feed Cat", "button"),
    thing("Desk Lamp"),
)


@pytest.mark.parametrize(
    ("text", "tool", "arguments"),
    [
        ("Set the volume limit to 40.", "set_number", {"name": "volume limit", "value": 40}),
        (
            "set the bedroom humidifier to 50 percent",
            "humidifier_set_humidity",
            {"name": "bedroom humidifier", "humidity": 50},
        ),
        ("set the boiler to 55 degrees", "climate_set_temperature", {"name": "boiler", "temperature": 55}),
        ("press the feed cat button", "turn_on", {"name": "feed cat"}),
        (
            "When was the front door last opened?",
            "get_history",
            {"name": "front door", "state": "opened", "since": "last"},
        ),
        (
            "when was the back door last opened",
            "get_history",
            {"name": "Back Door Contact", "state": "opened", "since": "last"},
        ),
        ("when did the front door last open", "get_history", {"name": "front door", "state": "open", "since": "last"}),
        (
            "how long has the desk lamp been on?",
            "get_history",
            {"name": "desk lamp", "state": "on", "since": "how_long"},
        ),
    ],
)
def test_a_request_becomes_a_call(text: str, tool: str, arguments: Mapping[str, Any]) -> None:
    (call,) = values.parse(plain_request(text), HOME)
    assert (call.name, json.loads(call.arguments)) == (tool, arguments)


@pytest.mark.parametrize(
    "text",
    [
        "set the desk lamp to 40 percent",
        "set the bedroom to 22 degrees",
        "set the thermostat to 21",
        "when was the war ended",
        "press the desk lamp",
    ],
)
def test_what_is_about_something_else_is_left_to_others(text: str) -> None:
    assert values.parse(plain_request(text), HOME) == ()


def test_a_water_heater_is_meant_by_its_name_only() -> None:
    home = house(thing("Boiler", "water_heater"), thing("Thermostat", "climate"))
    (thermostat,) = resolve_intent("climate_set_temperature", {"temperature": 21}, home).entities
    assert thermostat.domain == "climate"


class RecordedHome(DemoHome):
    """A home with a front door and a record of it."""

    def __init__(self, door: Entity, *changes: StateChange) -> None:
        super().__init__()
        self._door = door
        self._record = changes

    def house(self) -> House:
        return house(self._door)

    async def changes(self, entity_id: str, since: datetime) -> tuple[StateChange, ...]:
        return tuple(change for change in self._record if change.at >= since)


async def asked(home: RecordedHome, state: str, since: str) -> str:
    arguments = {"name": "front door", "state": state, "since": since}
    return await answer_history(home, resolve_intent("get_history", arguments, home.house()), NOW)


async def test_the_past_of_a_state_is_told() -> None:
    record = (
        StateChange(NOW - timedelta(days=3), "on"),
        StateChange(NOW - timedelta(days=2), "off"),
        StateChange(NOW - timedelta(days=1, hours=2), "on"),
        StateChange(NOW - timedelta(days=1, hours=1), "off"),
    )
    closed = replace(DOOR, state="off", changed_at=NOW - timedelta(days=1, hours=1))
    home = RecordedHome(closed, *record)
    assert (
        await asked(home, "opened", "last")
        == "The front door was last opened yesterday at five past five in the afternoon."
    )
    assert await asked(home, "open", "how_long") == "The front door is closed."
    opened = RecordedHome(replace(DOOR, state="on", changed_at=NOW - timedelta(minutes=90, seconds=20)))
    assert await asked(opened, "open", "how_long") == "The front door has been open for 1 hour and 30 minutes."
    assert "I do not know" in await asked(RecordedHome(closed), "opened", "last")


async def test_a_restart_of_the_home_does_not_open_a_door() -> None:
    began, restarted = NOW - timedelta(hours=20), NOW - timedelta(hours=1)
    away = (StateChange(restarted - timedelta(minutes=1), "unavailable"), StateChange(restarted, "on"))
    door = replace(DOOR, state="on", changed_at=restarted)
    opened = RecordedHome(door, StateChange(NOW - timedelta(days=3), "off"), StateChange(began, "on"), *away)
    assert await asked(opened, "open", "how_long") == "The front door has been open for 20 hours."
    was_opened = "The front door was last opened yesterday at five past eleven in the evening."
    assert await asked(opened, "opened", "last") == was_opened
    always = RecordedHome(door, StateChange(NOW - timedelta(hours=30), "on"), *away)
    assert await asked(always, "open", "how_long") == "The front door has been open for at least 30 hours."


async def test_a_state_that_began_before_the_record_began_when_the_home_says() -> None:
    door = replace(DOOR, state="on", changed_at=NOW - timedelta(days=20))
    home = RecordedHome(door, StateChange(NOW - timedelta(days=10), "on"))
    assert await asked(home, "open", "how_long") == "The front door has been open for 480 hours."
    assert "last opened" in await asked(home, "opened", "last")


async def test_a_home_that_cannot_be_reached_says_so() -> None:
    class Away(RecordedHome):
        async def changes(self, entity_id: str, since: datetime) -> tuple[StateChange, ...]:
            raise HomeError("I cannot reach it.")

    with pytest.raises(HomeError, match="cannot reach"):
        await asked(Away(replace(DOOR, state="off")), "opened", "last")


async def test_questions_about_the_past_pass_the_other_readers(bench: Bench) -> None:
    talk = Talk(bench)
    unknown = "I do not know since when the front door has been locked."
    assert await talk.say("How long has the front door been locked?") == unknown
    assert "any time in the last 10 days" in await talk.say("when was the front door last opened?")
    assert talk.model.requests == []

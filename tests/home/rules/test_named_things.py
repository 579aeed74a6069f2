"""A value beside a name, and the name of a routine alone, are requests whatever the form of the sentence is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from edgevox.home.entities import Entity
from edgevox.home.grammar import plain_request
from edgevox.home.rules import lists, named_things
from tests.home.houses import house, thing


def selector(name: str, *options: str) -> Entity:
    return replace(thing(name, "select"), attributes={"options": list(options)})


HOME = house(
    selector("Soundbar Mode", "movie", "night", "off"),
    selector("Dishwasher Program", "eco", "glass"),
    thing("Soundbar", "media_player"),
    thing("Dishwasher", "switch"),
    thing("Car Charge Limit", "number"),
    thing("Volume Limit", "number"),
    thing("Desk Lamp"),
    thing("Laundry Dehumidifier", "humidifier"),
    thing("Water The Plants", "script"),
    thing("Cat Feeder", "button"),
    thing("Chores", "todo"),
)


@pytest.mark.parametrize(
    ("text", "tool", "arguments"),
    [
        ("soundbar mode night", "select_option", {"name": "Soundbar Mode", "option": "night"}),
        ("put the soundbar on night", "select_option", {"name": "Soundbar Mode", "option": "night"}),
        ("use the eco program for the dishwasher", "select_option", {"name": "Dishwasher Program", "option": "eco"}),
        ("charge the car to 90 percent", "set_number", {"name": "Car Charge Limit", "value": 90}),
        ("volume limit twenty five please", "set_number", {"name": "Volume Limit", "value": 25}),
        ("Water the plants.", "turn_on", {"name": "Water The Plants", "domain": "script"}),
        ("feed the cat", "turn_on", {"name": "Cat Feeder"}),
        (
            "laundry dehumidifier to 50 percent",
            "humidifier_set_humidity",
            {"name": "Laundry Dehumidifier", "humidity": 50},
        ),
    ],
)
def test_a_name_and_a_value_are_a_request(text: str, tool: str, arguments: Mapping[str, Any]) -> None:
    (call,) = named_things.parse(plain_request(text), HOME)
    assert (call.name, json.loads(call.arguments)) == (tool, arguments)


@pytest.mark.parametrize(
    "text",
    [
        "turn the soundbar off",
        "what is the volume limit",
        "is the dishwasher on eco",
        "play the movie on the soundbar",
        "desk lamp 40 percent",
        "the car needs 90 minutes to the garage",
        "don't feed the cat",
        "plants",
    ],
)
def test_what_says_more_or_less_is_left_to_others(text: str) -> None:
    assert named_things.parse(plain_request(text), HOME) == ()


def test_an_item_for_a_day_is_due_then() -> None:
    now = datetime(2026, 3, 11, 10, 0, tzinfo=UTC)  # a Wednesday
    (call,) = lists.parse_due("add clean the gutters to my chores for friday", HOME, now)

    assert json.loads(call.arguments) == {"item": "clean the gutters", "name": "chores", "due": "2026-03-13"}
    assert lists.parse_due("add clean the gutters to my chores", HOME, now) == ()

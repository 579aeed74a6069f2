"""Relative changes: by a step, an amount, a factor or to the end, from the current value of what is named."""

from __future__ import annotations

import json

import pytest

from edgevox.home.grammar import plain_request
from edgevox.home.rules import steps
from tests.home.conftest import Bench

LAMP, TV, FAN, BLINDS = "light.living_room", "media_player.tv", "fan.bedroom", "cover.living_room_blinds"


@pytest.fixture
async def home(bench: Bench) -> Bench:
    """The living room light at 40 percent and all others off, the fan at 40, the blinds at 40, the TV at 40."""
    await bench.say("turn_off", domain="light")
    await bench.say("light_set", name="living room light", brightness=40)
    await bench.say("fan_set_speed", percentage=40)
    await bench.say("set_position", name="living room blinds", position=40)
    return bench


async def change(home: Bench, text: str) -> str:
    """Carry out what a text asks for; returns the sentence of a refusal."""
    read = steps.parse(plain_request(text), home.home.house())
    if isinstance(read, str):
        return read
    assert read, text
    for call in read:
        await home.say(call.name, **json.loads(call.arguments))
    return ""


@pytest.mark.parametrize(
    ("text", "brightness"),
    [
        ("make it brighter", 60),
        ("the living room light a tiny bit dimmer, please", 30),
        ("living room light much brighter", 80),
        ("raise the living room light by 10", 50),
        ("take ten percent off the living room light", 30),
        ("half as bright in the living room", 20),
        ("double the brightness of the living room light", 80),
        ("living room light a quarter brighter", 50),
        ("living room light all the way up", 100),
        ("as bright as it goes in the living room", 100),
        ("it's too dark in here", 60),
        ("not so bright in the living room", 20),
        ("living room light dimmer, but not off", 20),
        ("the living room light is far too bright", 5),
        ("I can hardly read, living room light up a bit", 50),
        ("my eyes hurt the living room light is too bright", 20),
        ("not that bright in the living room", 20),
    ],
)
async def test_lights_change_from_their_own_value(home: Bench, text: str, brightness: int) -> None:
    await change(home, text)
    assert home.entity(LAMP).attributes["brightness"] == brightness


@pytest.mark.parametrize(
    ("text", "entity", "slot", "value"),
    [
        ("two degrees warmer", "climate.thermostat", "temperature", 23),
        ("not so warm, three degrees less please", "climate.thermostat", "temperature", 18),
        ("half a degree cooler", "climate.thermostat", "temperature", 20.5),
        ("turn the heating up by one and a half degrees", "climate.thermostat", "temperature", 22.5),
        ("it's too cold, turn the heating up", "climate.thermostat", "temperature", 22),
        ("fifty degrees warmer", "climate.thermostat", "temperature", 30),
        ("louder", TV, "volume_level", 50),
        ("the tv is too loud", TV, "volume_level", 30),
        ("I can barely hear the tv", TV, "volume_level", 50),
        ("make that the tv is more quiet", TV, "volume_level", 30),
        ("tv twice as loud", TV, "volume_level", 80),
        ("ceiling fan half as fast", FAN, "percentage", 20),
        ("the fan is too noisy, slower please", FAN, "percentage", 15),
        ("open the blinds a bit more", BLINDS, "position", 50),
        ("blinds all the way down", BLINDS, "position", 0),
    ],
)
async def test_everything_that_has_a_value_changes_alike(
    home: Bench, text: str, entity: str, slot: str, value: float
) -> None:
    await change(home, text)
    assert home.entity(entity).attributes[slot] == value


async def test_several_lights_each_change_from_their_own_value(home: Bench) -> None:
    await home.say("light_set", name="hallway light", brightness=80)
    await change(home, "dim the lights")
    assert [home.entity(light).attributes["brightness"] for light in (LAMP, "light.hallway")] == [20, 60]
    assert home.state("light.kitchen") == "off"


async def test_what_is_off_does_not_become_less(home: Bench) -> None:
    assert await change(home, "make the garage light dimmer") == "The garage light is off."
    assert home.state("light.garage") == "off"


@pytest.mark.parametrize(
    "text",
    [
        "raise the blinds",
        "open the blinds",
        "open the radio",
        "set the living room light to 40 percent",
        "dim the living room light ten percent",
        "is the kitchen brighter than the hallway",
        "light up the garden",
        "tell me more",
        "cheer me up a bit",
        "slow down",
        "turn it up",
        "pause the tv, lights up to full in the living room",
        "make the living room light a warmer colour",
        "brighter living room light, but not the floor lamp",
        "a bit more milk on the shopping list",
        "why is the tv louder today",
    ],
)
def test_other_sentences_are_no_relative_change(bench: Bench, text: str) -> None:
    assert steps.parse(plain_request(text), bench.home.house()) == ()


async def test_a_wish_for_a_change_is_carried_out(home: Bench) -> None:
    await change(home, "it would be lovely if the living room were a bit brighter")
    assert home.entity(LAMP).attributes["brightness"] == 50

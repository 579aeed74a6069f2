"""Sensors that people have named themselves: whatever they are called, they can be asked for."""

from __future__ import annotations

import random

from edgevox.home.entities import Entity, House
from training.home.houses import KnownHome
from training.home.lexicon.custom_sensors import is_own, own_name
from training.home.sensor_questions import own_sensor
from training.home.speaker import Speaker


def test_a_question_says_the_whole_name_and_asks_for_that_sensor() -> None:
    for seed in range(3000):
        made = own_sensor(Speaker(random.Random(seed), KnownHome(None)))
        (call,) = made.calls
        assert call.tool == "get_state"
        assert call.arguments["name"] in made.text, made
        assert call.arguments.keys() <= {"name", "domain"}
        assert call.arguments.get("domain", "sensor") == "sensor"


def test_a_name_that_says_when_twice_comes_to_an_end() -> None:
    drawn = random.Random(3)
    names = {name for name, _ in (own_name(drawn) for _ in range(20_000)) if "so far this" in name}
    assert names
    for name in names:
        entity = Entity("sensor.a", name, "sensor", "1", device_class=None)
        assert is_own(name, None)
        for seed in range(30):
            assert own_sensor(Speaker(random.Random(seed), KnownHome(House((entity,))))).text

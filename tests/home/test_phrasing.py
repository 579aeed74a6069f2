"""Names and states as they are spoken."""

from __future__ import annotations

from dataclasses import replace

import pytest

from edgevox.home.entities import Entity
from edgevox.home.phrasing import state_phrase, the
from tests.home.houses import thing


@pytest.mark.parametrize(
    ("entity", "spoken"),
    [
        (thing("Kitchen Light"), "the kitchen light"),
        (thing("Dusty", "vacuum"), "Dusty"),
        (thing("Robot", "vacuum"), "the robot"),
        (thing("Robot Vacuum", "vacuum"), "the robot vacuum"),
        (thing("Shopping", "todo"), "the shopping list"),
        (thing("Shopping List", "todo"), "the shopping list"),
        (thing("Anna's lamp"), "Anna's lamp"),
    ],
)
def test_a_name_is_spoken_as_people_say_it(entity: Entity, spoken: str) -> None:
    assert the(entity) == spoken


def test_a_sensor_without_a_value_has_no_unit() -> None:
    sensor = replace(thing("Outdoor Temperature", "sensor"), state="unknown", attributes={"unit": "°C"})
    assert state_phrase(sensor) == "not known"
    assert state_phrase(replace(sensor, state="unavailable")) == "not answering"

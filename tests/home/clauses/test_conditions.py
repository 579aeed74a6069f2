"""Conditions are separated from requests, and resolved to entities and a state or a limit."""

from __future__ import annotations

import pytest

from edgevox.home import Entity, HomeError, House
from edgevox.home.backends.demo import first_day
from edgevox.home.clauses.conditions import ConditionalRequest, resolve_condition, split_condition


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tell me when the front door opens", ConditionalRequest("the front door opens")),
        ("let me know if the window opens", ConditionalRequest("the window opens")),
        ("when the robot is done, tell me", ConditionalRequest("the robot is done")),
        ("remind me to lock up when I open the door", ConditionalRequest("I open the door", task="lock up")),
        (
            "whenever the tv turns off turn on the lamp",
            ConditionalRequest("the tv turns off", "turn on the lamp", "", True),
        ),
        (
            "when the garage light turns on turn off the hall light",
            ConditionalRequest("the garage light turns on", "turn off the hall light"),
        ),
        ("turn off the fan once it drops below 20", ConditionalRequest("it drops below 20", "turn off the fan")),
    ],
)
def test_a_request_is_separated_from_its_condition(text: str, expected: ConditionalRequest) -> None:
    assert split_condition(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "tell me if the front door is open",
        "tell me when you are done",
        "let me know when it is ten",
        "when is the front door open",
        "turn on the lights if you can",
        "tell me when christmas is",
        "remind me to call mum when she is back",
        "turn on the light if the door is open",
    ],
)
def test_other_sentences_have_no_condition_to_watch(text: str) -> None:
    assert split_condition(text) is None


@pytest.mark.parametrize(
    ("text", "entity_id", "meaning"),
    [
        ("the front door opens", "binary_sensor.front_door", "open"),
        ("the front door is unlocked", "lock.front_door", "unlocked"),
        ("someone opens the garage door", "cover.garage_door", "open"),
        ("the robot is done", "vacuum.robot", "done"),
        ("it gets below minus five outside", "sensor.outdoor_temperature", -5.0),
        ("the temperature in the bedroom rises above 21.5 degrees", "sensor.bedroom_temperature", 21.5),
        ("it rains", "weather.home", "rainy"),
    ],
)
def test_a_condition_is_resolved(text: str, entity_id: str, meaning: str | float) -> None:
    condition = resolve_condition(text, first_day())
    assert condition.entity_ids == (entity_id,)
    assert meaning in (condition.state, condition.below, condition.above)


def test_the_only_person_of_a_home_is_the_one_who_comes_home() -> None:
    anna = Entity("person.anna", "Anna", "person", "not_home")
    assert resolve_condition("I get home", House((anna,))).phrase == "you come home"
    with pytest.raises(HomeError, match="several"):
        resolve_condition("I get home", House((anna, Entity("person.ben", "Ben", "person", "home"))))

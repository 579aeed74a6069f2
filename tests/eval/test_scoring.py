"""Which calls count as the same."""

from __future__ import annotations

import pytest

from edgevox.eval import Call
from edgevox.eval.values import same_arguments, same_calls, same_tools, same_value


@pytest.mark.parametrize(
    ("wanted", "made"),
    [
        ("Kitchen Light", "kitchen  light"),
        ("desk lamp", "the desk lamp"),
        ("desk lamp", "my desk lamp"),
        ("turn off the lights", "turn off lights"),
        ("Dinner is ready!", "dinner is ready"),
        ("Anna's room", "anna’s room"),
        (20, "20"),
        (20, 20.0),
        (20.5, "20.5"),
        (True, True),
        (True, "true"),
        (["milk", "bread"], ["Milk", "the bread"]),
        ({"a": 1, "b": None}, {"a": "1"}),
    ],
)
def test_the_same_value_in_another_spelling(wanted: object, made: object) -> None:
    assert same_value(wanted, made)


@pytest.mark.parametrize(
    ("wanted", "made"),
    [
        ("desk lamp", "desk light"),
        ("a", "an"),
        (20, 21),
        (20, "twenty"),
        (True, 1),
        (True, False),
        (["milk", "bread"], ["bread", "milk"]),
        (["milk"], "milk"),
        ({"a": 1}, {"a": 1, "b": 2}),
        ("", None),
    ],
)
def test_another_value(wanted: object, made: object) -> None:
    assert not same_value(wanted, made)


def test_a_slot_more_or_less_is_wrong() -> None:
    assert not same_arguments({"name": "lamp"}, {"name": "lamp", "area": "kitchen"})
    assert not same_arguments({"name": "lamp", "area": "kitchen"}, {"name": "lamp"})
    assert not same_arguments({"name": "milk"}, {"item": "milk"})


def test_a_null_is_a_slot_that_was_left_out() -> None:
    assert same_arguments({"name": "lamp"}, {"name": "lamp", "area": None})


@pytest.mark.parametrize(
    ("wanted", "made", "is_lenient"),
    [
        ({"area": "hall", "domain": "light"}, {"area": "hall"}, True),
        ({"area": "hall"}, {"area": "hall", "domain": "light"}, True),
        ({"area": "hall", "domain": "light"}, {"area": "hall", "domain": "fan"}, False),
        ({"area": "hall", "domain": "light"}, {"area": "kitchen"}, False),
        ({"area": "hall", "device_class": "blind"}, {"area": "hall"}, False),
    ],
)
def test_the_domain_may_be_missing_on_one_side(wanted: dict[str, str], made: dict[str, str], is_lenient: bool) -> None:
    assert same_arguments(wanted, made, lenient_domain=True) is is_lenient
    assert not same_arguments(wanted, made)


ON, OFF = Call("turn_on", {"name": "lamp"}), Call("turn_off", {"name": "fan"})
ON_AGAIN = Call("turn_on", {"name": "radio"})


def test_several_calls_may_come_in_any_order_unless_it_matters() -> None:
    assert same_calls([ON, OFF, ON_AGAIN], [ON_AGAIN, OFF, ON], ordered=False)
    assert not same_calls([ON, OFF, ON_AGAIN], [ON_AGAIN, OFF, ON], ordered=True)
    assert same_calls([ON, OFF], [ON, OFF], ordered=True)


def test_a_call_too_many_or_too_few_is_wrong() -> None:
    assert not same_tools([ON], [ON, ON], ordered=False)
    assert not same_calls([ON, OFF], [ON], ordered=False)
    assert not same_calls([ON, ON], [ON, ON_AGAIN], ordered=False)


def test_the_right_tools_with_other_arguments_are_the_right_tools() -> None:
    assert same_tools([ON], [ON_AGAIN], ordered=True)
    assert not same_calls([ON], [ON_AGAIN], ordered=True)

"""Amounts in other units equal what is said; rare names vary and are copied."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from training.asr_noise import simulate_asr
from training.sampled_tools import SampledTool
from training.spoken_values import in_other_unit, named_unit, rare_name, unit_behind
from training.tool_files import load_tools
from training.types import Call

# In the smallest unit of a kind.
WORTH = {
    "second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800,
    "gram": 1, "kilo": 1000, "kilogram": 1000, "tonne": 1_000_000,
    "millimetre": 1, "centimetre": 10, "metre": 1000, "kilometre": 1_000_000,
    "millilitre": 1, "litre": 1000,
}  # fmt: skip
UNITS = (
    "seconds", "minutes", "hours", "days", "grams", "kilograms", "millimetres", "centimetres", "metres",
    "kilometres", "millilitres", "litres",
)  # fmt: skip
_DIGITS = re.compile(r"([\d.,]+) ([a-z]+?)s?(?:(?: and)? ([\d.,]+) ([a-z]+?)s?)?")
BLOCK = """
tool soak | steep
about Soak something
slot minutes | duration int 1..600
ask soak it for {minutes} minutes
ask {minutes} minutes in the water
ask leave it in there, {minutes} minutes
"""


@pytest.mark.parametrize("unit", UNITS)
def test_what_is_said_in_digits_is_the_number_that_is_written(unit: str) -> None:
    rng = random.Random(unit)
    checked = 0
    for _ in range(400):
        made = in_other_unit(unit, lambda number: isinstance(number, (int, float)), rng)
        assert made is not None
        said, number = made
        found = _DIGITS.fullmatch(said)
        if found:
            amount = sum(
                float(found[count].replace(",", "")) * WORTH[found[name]]
                for count, name in ((1, 2), (3, 4))
                if found[count]
            )
            assert amount == pytest.approx(number * WORTH[unit.removesuffix("s")]), said
            checked += 1
    assert checked > 10


@pytest.mark.parametrize(
    ("unit", "words", "number"),
    [
        ("minutes", "half an hour", 30),
        ("minutes", "an hour and a half", 90),
        ("minutes", "three quarters of an hour", 45),
        ("seconds", "a minute", 60),
        ("grams", "a quarter of a kilo", 250),
        ("days", "one week", 7),
        ("millilitres", "half a litre", 500),
    ],
)
def test_fractions_in_words_are_told_as_numbers(unit: str, words: str, number: int) -> None:
    rng = random.Random(3)
    made = [in_other_unit(unit, lambda _: True, rng) for _ in range(2000)]
    assert {one[1] for one in made if one and one[0] == words} == {number}


def test_whole_numbers_stay_whole() -> None:
    rng = random.Random(4)
    made = [in_other_unit("grams", lambda number: isinstance(number, int), rng) for _ in range(500)]
    assert all(isinstance(one[1], int) for one in made if one)


@pytest.mark.parametrize(
    ("name", "about", "unit"),
    [
        ("minutes", "", "minutes"),
        ("fade_seconds", "", "seconds"),
        ("length_m", "", "metres"),
        ("duration", "how many minutes", "minutes"),
        ("duration", "", None),
        ("m", "", None),
        ("min_salary", "", None),
        ("ml_per_hour", "", None),
        ("speed", "metres per minute", None),
        ("weight_kg", "how many grams less", "kilograms"),
    ],
)
def test_a_unit_is_known_where_the_slot_names_it(name: str, about: str, unit: str | None) -> None:
    assert named_unit(name, about) == unit


def test_a_unit_is_read_behind_a_number() -> None:
    assert unit_behind(" minutes long") == ("minutes", 8)
    assert unit_behind(" kilos of flour") == ("kilograms", 6)
    assert unit_behind(" minutesque") is None
    assert unit_behind(" people") is None


def test_only_a_slot_that_shows_its_unit_is_given_another_one(tmp_path: Path) -> None:
    (tmp_path / "soak.txt").write_text(BLOCK)
    (tool,) = load_tools(tmp_path)
    rng = random.Random(5)
    in_hours = {"minutes": 0, "duration": 0}
    for _ in range(1500):
        drawn: SampledTool = tool.draw(rng)
        ((name, _),) = drawn.slots
        text, _arguments = drawn.request(rng)
        in_hours[name] += "hour" in text
    assert in_hours["minutes"] > 100
    assert in_hours["duration"] == 0


def test_names_hardly_repeat_and_come_in_many_shapes() -> None:
    rng = random.Random(1)
    names = [rare_name(rng) for _ in range(2000)]
    assert len(set(names)) > 1500
    assert sum(" " in name for name in names) > 500
    assert all(any(mark in name for name in names) for mark in "'-øłğí")
    assert all(name == name.strip() and name[:1].isalpha() for name in names)


def test_a_name_is_an_argument_as_it_was_heard() -> None:
    rng = random.Random(2)
    for _ in range(500):
        name = rare_name(rng)
        said = simulate_asr(rng, f"please ring {name} tonight", (Call("call", {"who": name}),), may_mishear=False)
        assert str(said.calls[0].arguments["who"]) in said.text

"""Units: every factor agrees with pint, and only questions about quantities are read."""

from __future__ import annotations

from fractions import Fraction

import pint
import pytest

from edgevox.core.files import packaged_toml
from edgevox.tools.builtin.knowledge.question import NoAnswer
from edgevox.tools.builtin.knowledge.units import (
    NO_RATES,
    Quantity,
    Unit,
    converted,
    read_conversion,
    read_unit,
    spoken_conversion,
)

# Our names where pint has another.
_PINT_NAMES = {
    "us ton": "short_ton", "imperial ton": "long_ton", "tonne": "metric_ton", "fluid ounce": "fluid_ounce",
    "us pint": "pint", "us quart": "quart", "us gallon": "gallon", "imperial pint": "imperial_pint",
    "imperial gallon": "imperial_gallon", "calorie": "kilocalorie", "full turn": "turn", "year": "365 * day",
    "decade": "3650 * day", "century": "36500 * day", "furlong": "660 * foot", "fathom": "6 * foot",
    "acre": "4840 * yard ** 2",
}  # fmt: skip


def pint_expression(name: str) -> str:
    name = name.casefold()
    if name in _PINT_NAMES:
        return _PINT_NAMES[name]
    for prefix, power in (("square ", 2), ("cubic ", 3)):
        if name.startswith(prefix):
            return f"{name.removeprefix(prefix)} ** {power}"
    for joined in ("nautical mile", "light year", "watt hour"):
        name = name.replace(joined, joined.replace(" ", "_"))
    return name.replace(" per ", " / ")


def test_every_factor_agrees_with_pint() -> None:
    registry: pint.UnitRegistry[float] = pint.UnitRegistry()
    for dimension, units in packaged_toml("tools/builtin/knowledge/units.toml").items():
        base = next(name for name, (factor, *_) in units.items() if factor == "1")
        for name, (factor, *_aliases) in units.items():
            if name == "metric cup":
                expected = 0.25
            else:
                expected = registry.parse_expression(f"1 * {pint_expression(name)}").to(pint_expression(base)).magnitude
            assert float(Fraction(factor)) == pytest.approx(expected, rel=2e-6), f"{dimension}: {name}"


def test_temperatures_agree_with_pint() -> None:
    registry: pint.UnitRegistry[float] = pint.UnitRegistry()
    names = {"degree Celsius": "degC", "degree Fahrenheit": "degF", "kelvin": "kelvin"}
    for first, pint_first in names.items():
        for second, pint_second in names.items():
            for value in (-40, 0, 37, 100, 451):
                quantity = Quantity(Fraction(value), Unit(first, "temperature", Fraction(1)), "")
                result = converted(quantity, Unit(second, "temperature", Fraction(1)))
                expected = registry.Quantity(value, pint_first).to(pint_second).magnitude
                assert float(result) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("how many grams are in a pound", "1 pound is about 453.59 grams."),
        ("grams in a pound", "1 pound is about 453.59 grams."),
        ("Convert 5 miles to kilometers.", "5 miles is about 8.047 kilometers."),
        ("what is 5 miles in kilometres", "5 miles is about 8.047 kilometres."),
        ("what's 5 foot 10 in cm", "5 feet 10 inches is 177.8 centimeters."),
        ("100 degrees fahrenheit in celsius", "100 degrees Fahrenheit is about 37.8 degrees Celsius."),
        ("how many cups are in a gallon", "1 US gallon is 16 cups."),
        ("how many tablespoons in a cup of sugar", "1 cup is 16 tablespoons."),
        ("how many ounces in a cup", "1 cup is 8 ounces."),
        ("how many minutes are in two and a half hours", "2.5 hours is 150 minutes."),
        ("how many weeks are in a year", "1 year is 52 weeks and 1 day."),
        ("how much is ten euros in dollars", NO_RATES),
        ("convert 10 pounds to kilos", "10 pounds is about 4.536 kilograms."),
        ("convert 10 pounds to dollars", NO_RATES),
    ],
)
def test_a_question_about_units_has_a_spoken_answer(text: str, said: str) -> None:
    reading = read_conversion(text)
    assert reading is not None
    assert spoken_conversion(**reading.arguments) == said


@pytest.mark.parametrize(
    "text",
    [
        "how many lights are on in the kitchen",
        "how many minutes are left on the timer",
        "what is the temperature in fahrenheit",
        "set a timer for ten minutes",
        "change the thermostat to 20 degrees",
        "turn the fan to high",
        "how many people in a minute",
        "add two cups of flour to the list",
    ],
)
def test_other_sentences_are_no_conversions(text: str) -> None:
    assert read_conversion(text) is None


def test_volume_and_mass_are_not_mixed() -> None:
    with pytest.raises(NoAnswer, match="volume"):
        spoken_conversion("a cup", "grams")
    assert read_unit("parsnips") is None

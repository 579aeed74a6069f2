"""Amounts said in another unit than the slot's: "an hour and twenty minutes" where it counts minutes.

Only a slot that names its unit can be given such an amount: any other takes the number that was said.
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from training.number_words import neat_number, said_number

# What slots, their descriptions and people call a unit. Short forms count in the name of a slot only.
_CALLED = {
    "seconds": ("seconds", "second", "secs"),
    "minutes": ("minutes", "minute", "mins"),
    "hours": ("hours", "hour"),
    "days": ("days",),
    "grams": ("grams", "gram", "g"),
    "kilograms": ("kilograms", "kilogram", "kilos", "kg"),
    "millimetres": ("millimetres", "millimetre", "millimeters", "mm"),
    "centimetres": ("centimetres", "centimetre", "centimeters", "cm"),
    "metres": ("metres", "meters", "m"),
    "kilometres": ("kilometres", "kilometers", "km"),
    "millilitres": ("millilitres", "milliliters", "ml"),
    "litres": ("litres", "liters"),
}
_UNITS = {called: unit for unit, names in _CALLED.items() for called in names}
_SHORTEST_WORD = 4
_WORDS = re.compile(r"[a-z]+")
UNIT_BEHIND = re.compile(rf" ({'|'.join(name for name in _UNITS if len(name) >= _SHORTEST_WORD)})\b")


@dataclass(frozen=True, slots=True)
class _Other:
    """A unit to say instead; `worth` is one of it in the slot's unit."""

    one: str
    many: str
    worth: float
    has_rest: bool = False


_HOUR = _Other("hour", "hours", 60, has_rest=True)
_MINUTE = _Other("minute", "minutes", 60, has_rest=True)
_KILO = _Other("kilo", "kilos", 1000)
_OTHERS: dict[str, tuple[_Other, ...]] = {
    "seconds": (_MINUTE,),
    "minutes": (_HOUR,),
    "hours": (_Other("day", "days", 24), _Other("minute", "minutes", 1 / 60)),
    "days": (_Other("week", "weeks", 7),),
    "grams": (_KILO, _KILO, _Other("kilogram", "kilograms", 1000)),
    "kilograms": (_Other("gram", "grams", 0.001), _Other("tonne", "tonnes", 1000)),
    "millimetres": (_Other("centimetre", "centimetres", 10),),
    "centimetres": (_Other("metre", "metres", 100),),
    "metres": (_Other("kilometre", "kilometres", 1000),),
    "kilometres": (_Other("metre", "metres", 0.001),),
    "millilitres": (_Other("litre", "litres", 1000),),
    "litres": (_Other("millilitre", "millilitres", 0.001),),
}
_AMOUNTS = (0.25, 0.5, 0.5, 0.75, 1, 1, 1.5, 1.5, 2, 2, 2.5, 3, 3, 3.5, 4, 5, 6, 8, 10, 12)
_FINE_AMOUNTS = (1.1, 1.2, 1.4, 1.6, 1.8, 2.2, 2.4, 3.2, 4.5)
_SMALL_AMOUNTS = (100, 150, 200, 250, 300, 400, 500, 600, 750, 800, 900, 1200, 1500)
_MINUTES = (6, 15, 30, 45, 75, 90, 105, 150)
_RESTS = (5, 10, 15, 20, 25, 30, 40, 45, 50)
_TRIES = 5


@functools.cache
def named_unit(name: str, about: str) -> str | None:
    """The unit that a slot's name or else its description says it counts; None for a rate or none."""
    parts = name.lower().split("_")
    words = _WORDS.findall(about.lower())
    if "per" in parts or "per" in words:
        return None
    found = {_UNITS[part] for part in parts if part in _UNITS and (len(part) > 1 or len(parts) > 1)}
    found = found or {_UNITS[word] for word in words if word in _UNITS and len(word) >= _SHORTEST_WORD}
    return found.pop() if len(found) == 1 else None


def unit_behind(words: str) -> tuple[str, int] | None:
    """The unit that `words` begin with, and how long it is written."""
    found = UNIT_BEHIND.match(words)
    return (_UNITS[found[1]], found.end()) if found else None


def in_other_unit(
    unit: str, fits: Callable[[object], bool], rng: random.Random
) -> tuple[str, int | float] | None:
    """An amount in another unit, and the number of `unit` that it is; None where none was found that fits."""
    for _ in range(_TRIES):
        other = rng.choice(_OTHERS[unit])
        said, amount = _said(other, rng)
        number = neat_number(round(amount * other.worth, 3))
        if fits(number):
            return said, number
    return None


def _said(other: _Other, rng: random.Random) -> tuple[str, float]:
    if other.worth < 1:
        amount: float = rng.choice(_MINUTES if other.one == "minute" else _SMALL_AMOUNTS)
        return f"{said_number(amount, rng)} {other.many}", amount
    if other.has_rest and rng.random() < 0.35:
        whole, rest = rng.choice((1, 1, 2, 3)), rng.choice(_RESTS)
        part = "minutes" if other.one == "hour" else "seconds"
        ones = rng.choice((_a(other.one), "one " + other.one, "1 " + other.one))
        big = ones if whole == 1 else f"{said_number(whole, rng)} {other.many}"
        link = rng.choice((" and ", " and ", " "))
        return f"{big}{link}{said_number(rest, rng)} {part}", whole + rest / other.worth
    if other.worth >= 100 and rng.random() < 0.25:
        amount = rng.choice(_FINE_AMOUNTS)
        return f"{said_number(amount, rng)} {other.many}", amount
    amount = rng.choice(_AMOUNTS)
    match amount:
        case 0.25:
            return f"a quarter of {_a(other.one)}", amount
        case 0.5:
            return f"half {_a(other.one)}", amount
        case 0.75:
            return f"three quarters of {_a(other.one)}", amount
        case 1:
            return rng.choice((_a(other.one), f"one {other.one}", f"1 {other.one}")), amount
        case 1.5 if rng.random() < 0.6:
            return rng.choice((f"{_a(other.one)} and a half", f"one and a half {other.many}")), amount
        case _:
            return f"{said_number(amount, rng)} {other.many}", amount


def _a(noun: str) -> str:
    return f"an {noun}" if noun == "hour" else f"a {noun}"

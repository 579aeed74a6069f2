"""Reads a spoken value, and sets it on entities with the tool of their kind: "make it blue", "set it to 30 percent"."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from edgevox.core.types import ToolCall
from edgevox.core.words import NUMBER_WORDS
from edgevox.home.colours import find_colour
from edgevox.home.entities import Entities, HomeError, House
from edgevox.home.intents.relative import pattern
from edgevox.home.references.addressing import call_on


@dataclass(frozen=True, slots=True)
class Value:
    """A number with its unit, or a colour."""

    number: float | None = None
    unit: Literal["percent", "degrees", ""] = ""
    colour: str = ""


_VALUE_PARTS = pattern(r"^(?:to |at )?(?P<number>.+?) ?(?P<unit>%|percent|degrees?)?$")
_HALF = pattern(r"^half(?:[ -]?way)?(?: open)?$")


def read_value(said: str) -> Value | None:
    """The value that a text is, or None."""
    said = said.casefold().strip()
    if _HALF.match(said):
        return Value(50, "percent")
    found = _VALUE_PARTS.match(said)
    if found is None:
        return None
    number = _number(found["number"])
    if number is not None:
        unit = found["unit"] or ""
        return Value(number, "degrees" if unit.startswith("degree") else "percent" if unit else "")
    if found["unit"]:
        return None
    try:
        return Value(colour=find_colour(said).name)
    except HomeError:
        return None


def _number(said: str) -> float | None:
    words = said.replace(" ", "-")
    if words in NUMBER_WORDS:
        return float(NUMBER_WORDS.index(words))
    if words in ("hundred", "a-hundred", "one-hundred"):
        return 100.0
    try:
        return float(said)
    except ValueError:
        return None


# The tool, the slot, and the unit of a bare number.
_TOOLS = {
    "light": ("light_set", "brightness", "percent"),
    "fan": ("fan_set_speed", "percentage", "percent"),
    "cover": ("set_position", "position", "percent"),
    "valve": ("set_position", "position", "percent"),
    "media_player": ("set_volume", "volume_level", "percent"),
    "climate": ("climate_set_temperature", "temperature", "degrees"),
}
_MAX_PERCENT = 100


def value_call(said: str, entities: Entities, house: House) -> ToolCall | None:
    """The call that sets entities of one kind to a value, or None if it does not fit them."""
    value = read_value(said)
    domains = {entity.domain for entity in entities}
    if value is None or len(domains) != 1 or (domain := domains.pop()) not in _TOOLS:
        return None
    if value.colour:
        return call_on("light_set", entities, {"color": value.colour}, house) if domain == "light" else None
    tool, slot, unit = _TOOLS[domain]
    number = _fitting(value, unit)
    if number is None or (domain == "media_player" and len(entities) > 1):
        return None
    return call_on(tool, entities, {slot: number}, house)


def _fitting(value: Value, unit: str) -> float | int | None:
    if value.number is None or value.unit not in ("", unit):
        return None
    if unit == "degrees":
        return value.number
    return round(value.number) if value.number <= _MAX_PERCENT else None

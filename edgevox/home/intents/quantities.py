"""What can be more or less: brightness, temperature, speed, position, volume; the tool that sets it and its steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from edgevox.home.entities import Entity, HomeError
from edgevox.home.phrasing import sentence, the

STEP = "step"
"""The slot for a change relative to the current value. No model is trained on it: hooks and rules fill it."""

LOWEST_BRIGHTNESS = 5


@dataclass(frozen=True, slots=True)
class Quantity:
    """A value of the entities of a domain: its tool, slot and unit, and a small, a usual and a large step."""

    domain: str
    tool: str
    slot: str
    unit: Literal["percent", "degrees"]
    steps: tuple[float, float, float]


BRIGHTNESS = Quantity("light", "light_set", "brightness", "percent", (10, 20, 40))
TEMPERATURE = Quantity("climate", "climate_set_temperature", "temperature", "degrees", (0.5, 1, 3))
SPEED = Quantity("fan", "fan_set_speed", "percentage", "percent", (10, 25, 50))
POSITION = Quantity("cover", "set_position", "position", "percent", (10, 20, 50))
VOLUME = Quantity("media_player", "set_volume", "volume_level", "percent", (5, 10, 25))
QUANTITIES = (BRIGHTNESS, TEMPERATURE, SPEED, POSITION, VOLUME)


def stepped(entity: Entity, slot: str, step: float) -> float:
    """The value of a slot after a step, within its limits. Raises HomeError where the value is unknown."""
    before = entity.attributes.get(slot)
    if not isinstance(before, int | float):
        raise HomeError(sentence(f"I do not know how {the(entity)} is set"))
    if slot == TEMPERATURE.slot:
        return before + step
    if slot == BRIGHTNESS.slot and not before:
        return abs(step)  # "dim the lamp", which is off: a dim light
    lowest = LOWEST_BRIGHTNESS if slot == BRIGHTNESS.slot else 0
    return round(min(100, max(lowest, before + step)))

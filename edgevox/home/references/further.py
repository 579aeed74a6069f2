"""Continues a change of a value: "more", "one more", "a bit less"."""

from __future__ import annotations

from dataclasses import replace

from edgevox.core.types import ToolCall
from edgevox.home.entities import House
from edgevox.home.intents.relative import STEP, stepped
from edgevox.home.references.addressing import call_on, values_of
from edgevox.home.references.effects import Effect

# The slot of a tool, its usual step, and the largest change that is repeated as it was.
_SLOTS: dict[str, tuple[str, float, float]] = {
    "light_set": ("brightness", 20, 40),
    "climate_set_temperature": ("temperature", 1, 3),
    "fan_set_speed": ("percentage", 25, 50),
    "set_position": ("position", 20, 50),
    "set_volume": ("volume_level", 10, 25),
}
_VOLUME_STEP = "volume_step"


def further(effect: Effect, house: House, *, count: float | None = None, is_less: bool = False) -> ToolCall | None:
    """The call that changes the same value again; `is_less` goes half a step back. None if no value was changed."""
    arguments = effect.arguments
    if (step := arguments.get(_VOLUME_STEP)) is not None:
        if not isinstance(step, int | float):
            step = 10 if step == "up" else -10
        return _call(effect, {_VOLUME_STEP: round(_next_step(step, count, is_less))}, house)
    if effect.call.name not in _SLOTS or not effect.entities:
        return None
    slot, usual, largest = _SLOTS[effect.call.name]
    if count == 1 and slot != "temperature":
        count = None  # "one more" step
    step = arguments.get(STEP)
    if step is None:
        before, after = effect.entities[0].attributes.get(slot), arguments.get(slot)
        if not isinstance(before, int | float) or not isinstance(after, int | float) or before == after:
            return None
        step = after - before
        if abs(step) > largest:
            step = usual if step > 0 else -usual
    step = _next_step(step, count, is_less)
    now = house.entity(effect.entities[0].id)
    if now is None:
        return None
    if len(effect.entities) == 1:
        return _call(effect, {slot: stepped(now, slot, step)}, house)
    return _call(effect, {slot: stepped(now, slot, step), STEP: step}, house)


def _next_step(step: float, count: float | None, is_less: bool) -> float:
    size = count if count is not None else abs(step) / 2 if is_less else abs(step)
    return size if (step > 0) != is_less else -size


def _call(effect: Effect, values: dict[str, float], house: House) -> ToolCall:
    kept = {slot: value for slot, value in values_of(effect.arguments).items() if slot not in (STEP, "color")}
    if effect.entities:
        return call_on(effect.call.name, effect.entities, {**kept, **values}, house)
    return replace(effect.call, id="")

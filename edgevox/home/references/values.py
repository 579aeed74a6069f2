"""Sets a spoken value on entities with the tool of their kind: "make it blue", "set it to 30 percent"."""

from __future__ import annotations

from edgevox.core.types import ToolCall
from edgevox.home.entities import Entities, House
from edgevox.home.references.addressing import call_on
from edgevox.home.references.forms import Value, read_value

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

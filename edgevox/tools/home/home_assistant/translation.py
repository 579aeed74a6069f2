"""A state of Home Assistant in our words: an entity with its name, its place and whole percentages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from edgevox.tools.home.home_assistant.registries import Registered, Registries
from edgevox.tools.home.house import Entity

# Taken over as they are, where they are set.
_KEPT = frozenset(
    {
        "temperature", "current_temperature", "target_temp_low", "target_temp_high", "target_temp_step",
        "min_temp", "max_temp", "hvac_modes", "media_title", "is_volume_muted", "percentage",
        "percentage_step", "supported_features", "supported_color_modes", "code_format",
    }
)  # fmt: skip
_UNITS = ("unit_of_measurement", "temperature_unit")
_NOWHERE = Registered()


def entity(
    entity_id: str, state: str, attributes: Mapping[str, Any], registries: Registries
) -> Entity | None:
    """The entity, or None for one that is not for voice assistants."""
    registered = registries.things.get(entity_id, _NOWHERE)
    device_class = _text(attributes.get("device_class"))
    exposure = registries.exposure
    if not exposure.has(entity_id, device_class):
        return None
    if registered.is_hidden and entity_id not in exposure.exposed:
        return None
    domain, _, object_id = entity_id.partition(".")
    return Entity(
        id=entity_id,
        name=_name(_text(attributes.get("friendly_name")), registered.name, object_id),
        domain=domain,
        state=state,
        aliases=registered.aliases,
        area=registered.area,
        floor=registered.floor,
        device_class=device_class,
        attributes=_attributes(domain, state, attributes),
    )


def _name(*candidates: str | None) -> str:
    """The first that is a name, without the underscores that nobody says."""
    names = (" ".join((name or "").replace("_", " ").split()) for name in candidates)
    return next(filter(None, names), "")


def _attributes(domain: str, state: str, attributes: Mapping[str, Any]) -> dict[str, Any]:
    ours = {key: attributes[key] for key in _KEPT & attributes.keys() if attributes[key] is not None}
    unit = next((attributes[key] for key in _UNITS if attributes.get(key)), None)
    if unit is not None:
        ours["unit"] = unit
    match domain:
        case "light":
            brightness = _number(attributes.get("brightness"))
            if state == "off":
                ours["brightness"] = 0
            elif brightness is not None:
                # What is on at all is not at 0 percent.
                ours["brightness"] = max(1, round(brightness / 255 * 100))
        case "media_player":
            if (volume := _number(attributes.get("volume_level"))) is not None:
                ours["volume_level"] = round(volume * 100)
        case "cover" | "valve":
            if (position := _number(attributes.get("current_position"))) is not None:
                ours["position"] = round(position)
        case "fan":
            if (speed := _number(ours.pop("percentage", None))) is not None:
                ours["percentage"] = round(speed)
        case _:
            pass
    return ours


def _text(value: Any) -> str | None:  # noqa: ANN401 - an attribute may be anything
    return value if isinstance(value, str) else None


def _number(value: Any) -> float | None:  # noqa: ANN401 - an attribute may be anything
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None

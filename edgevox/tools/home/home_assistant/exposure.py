"""Which entities are for voice assistants: what the user exposed, or else Home Assistant's defaults.

Nothing else is known here: not to the model, not to a tool, not to a confirmation question.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

# Home Assistant's own defaults for its Assist.
_DOMAINS = frozenset(
    {
        "climate", "cover", "fan", "humidifier", "light", "lock", "media_player", "scene", "script", "switch",
        "todo", "vacuum", "water_heater",
    }
)  # fmt: skip
_CLASSES = {
    "binary_sensor": frozenset({"door", "garage_door", "lock", "motion", "opening", "presence", "window"}),
    "sensor": frozenset(
        {
            "aqi", "carbon_monoxide", "carbon_dioxide", "humidity", "pm10", "pm25", "temperature",
            "volatile_organic_compounds",
        }
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Exposure:
    """What the user decided for single entities; as long as nothing is exposed so, the defaults hold."""

    decided: Mapping[str, bool] = field(default_factory=dict)

    def has(self, entity_id: str, device_class: str | None) -> bool:
        if self._is_decided:
            return self.decided.get(entity_id, False)
        domain = entity_id.partition(".")[0]
        is_default = domain in _DOMAINS or device_class in _CLASSES.get(domain, ())
        return is_default and self.decided.get(entity_id, True)

    def may_have(self, entity_id: str) -> bool:
        """False for what is not exposed, whatever its device class."""
        if self._is_decided:
            return self.decided.get(entity_id, False)
        domain = entity_id.partition(".")[0]
        return domain in _DOMAINS or domain in _CLASSES

    @property
    def _is_decided(self) -> bool:
        return any(self.decided.values())


def read_exposure(answer: Mapping[str, Any]) -> Exposure:
    """From the answer to `homeassistant/expose_entity/list`."""
    return Exposure(
        {
            entity_id: bool(assistants["conversation"])
            for entity_id, assistants in answer.get("exposed_entities", {}).items()
            if "conversation" in assistants
        }
    )

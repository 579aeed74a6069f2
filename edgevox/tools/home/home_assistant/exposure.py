"""Which entities are for voice assistants: what the user exposed, or else Home Assistant's defaults.

Nothing else is known here: not to the model, not to a tool, not to a confirmation question.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

# Home Assistant's name for its own assistant, Assist; it is also what we are.
_ASSIST = "conversation"
# What it exposes to it by default.
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

    exposed: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()

    def has(self, entity_id: str, device_class: str | None) -> bool:
        if self.exposed:
            return entity_id in self.exposed
        domain = entity_id.partition(".")[0]
        is_default = domain in _DOMAINS or device_class in _CLASSES.get(domain, ())
        return is_default and entity_id not in self.hidden

    def may_have(self, entity_id: str) -> bool:
        """False for what is not exposed, whatever its device class."""
        if self.exposed:
            return entity_id in self.exposed
        domain = entity_id.partition(".")[0]
        return domain in _DOMAINS or domain in _CLASSES


def read_exposure(answer: Mapping[str, Any] | None, entities: Iterable[Mapping[str, Any]] = ()) -> Exposure:
    """From the answer to `homeassistant/expose_entity/list`; without one, from the entities' own entries.

    Only administrators get that answer, and a token need not be an administrator's.
    """
    if answer is not None:
        decided = {
            entity_id: assistants.get(_ASSIST) for entity_id, assistants in answer["exposed_entities"].items()
        }
    else:
        options = {entry["entity_id"]: entry.get("options") or {} for entry in entities}
        decided = {entity_id: its.get(_ASSIST, {}).get("should_expose") for entity_id, its in options.items()}
    return Exposure(
        exposed=frozenset(entity_id for entity_id, is_exposed in decided.items() if is_exposed),
        hidden=frozenset(entity_id for entity_id, is_exposed in decided.items() if is_exposed is False),
    )

"""The live states of Home Assistant's entities, translated into our entities."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from edgevox.home.backends.home_assistant.registries import Registries, RegistryEntry
from edgevox.home.entities import Entity, House

# Attributes that are copied unchanged.
_KEPT = frozenset(
    {
        "temperature", "current_temperature", "target_temp_low", "target_temp_high", "target_temp_step",
        "min_temp", "max_temp", "hvac_modes", "media_title", "is_volume_muted", "percentage",
        "percentage_step", "supported_features", "supported_color_modes", "code_format", "options", "media_artist",
        "color_temp_kelvin", "min_color_temp_kelvin", "max_color_temp_kelvin", "humidity", "wind_speed",
    }
)  # fmt: skip
_UNITS = ("unit_of_measurement", "temperature_unit")
_NOWHERE = RegistryEntry()


def to_entity(entity_id: str, state: str, attributes: Mapping[str, Any], registries: Registries) -> Entity | None:
    """The entity, or None if it is not exposed to voice assistants."""
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
    """The first non-empty name, with underscores as spaces."""
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
                # A light that is on is never at 0 percent.
                ours["brightness"] = max(1, round(brightness / 255 * 100))
        case "climate":
            names = {"modes": _texts(attributes.get("hvac_modes")), "presets": _texts(attributes.get("preset_modes"))}
            ours |= {name: known for name, known in names.items() if known}
            if preset := _text(attributes.get("preset_mode")):
                ours["preset"] = preset
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


def _texts(value: Any) -> tuple[str, ...]:  # noqa: ANN401 - an attribute may be anything
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list | tuple) else ()


def _number(value: Any) -> float | None:  # noqa: ANN401 - an attribute may be anything
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number else None


class LiveStates:
    """Stores changes as they arrive (one dictionary entry), and converts them when read."""

    def __init__(self) -> None:
        self._registries = Registries()
        self._states: dict[str, tuple[str, dict[str, Any]]] = {}
        self._entities: dict[str, Entity] = {}
        # A dictionary for its order, so that the prompt lists entities in the same order.
        self._changed: dict[str, None] = {}
        self._house: House | None = None
        # Set at the next change, and replaced by a new one.
        self._news = asyncio.Event()

    def begin(self, event: Mapping[str, Any]) -> None:
        """Take the first event of a subscription, which has every state; others are deleted."""
        gone = self._states.keys() - event.get("a", {}).keys()
        self.take({**event, "r": gone})

    def register(self, registries: Registries) -> None:
        """Use these registries from now on."""
        self._registries = registries
        self._entities.clear()
        self._changed = dict.fromkeys(self._states)
        self._house = None

    def take(self, event: Mapping[str, Any]) -> None:
        """Take an event of `subscribe_entities`: a is added, c changed, r removed."""
        for entity_id, added in event.get("a", {}).items():
            self._states[entity_id] = (added["s"], dict(added.get("a", {})))
            self._touch(entity_id)
        for entity_id, change in event.get("c", {}).items():
            state, attributes = self._states.get(entity_id, ("unknown", {}))
            more, less = change.get("+", {}), change.get("-", {})
            attributes.update(more.get("a", {}))
            for key in less.get("a", ()):
                attributes.pop(key, None)
            self._states[entity_id] = (more.get("s", state), attributes)
            self._touch(entity_id)
        for entity_id in event.get("r", ()):
            self._states.pop(entity_id, None)
            self._touch(entity_id)

    def house(self) -> House:
        self._catch_up()
        if self._house is None:
            self._house = House(tuple(self._entities.values()), self._registries.areas, self._registries.floors)
        return self._house

    def entity(self, entity_id: str) -> Entity | None:
        self._catch_up()
        return self._entities.get(entity_id)

    def all_ids(self, domain: str) -> tuple[str, ...]:
        """All available entities of a domain, exposed to voice assistants or not."""
        start = f"{domain}."
        return tuple(
            entity_id
            for entity_id, (state, _) in self._states.items()
            if entity_id.startswith(start) and state != "unavailable"
        )

    def attribute(self, entity_id: str, key: str) -> Any:  # noqa: ANN401 - an attribute may be anything
        """Home Assistant's attribute of any entity; None if missing."""
        _, attributes = self._states.get(entity_id, ("", {}))
        return attributes.get(key)

    async def wait_until(self, entity_id: str, is_so: Callable[[Entity], bool]) -> None:
        """Wait, without a timeout, until the condition holds for the entity."""
        while (now := self.entity(entity_id)) is None or not is_so(now):
            await self._news.wait()

    def _touch(self, entity_id: str) -> None:
        self._changed[entity_id] = None
        self._news.set()
        self._news = asyncio.Event()

    def _catch_up(self) -> None:
        for entity_id in self._changed:
            state = self._states.get(entity_id)
            now = to_entity(entity_id, *state, self._registries) if state else None
            if now == self._entities.get(entity_id):
                continue
            self._house = None
            if now is None:
                del self._entities[entity_id]
            else:
                self._entities[entity_id] = now
        self._changed.clear()

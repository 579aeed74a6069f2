"""What an action does to a thing of the demo home."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, assert_never

from edgevox.tools.home.home import Action, HomeError
from edgevox.tools.home.house import Entity
from edgevox.tools.home.wording import number, sentence, the

_ON_STATES = {
    "cover": ("open", "closed"),
    "valve": ("open", "closed"),
    "lock": ("locked", "unlocked"),
    "alarm_control_panel": ("armed_away", "disarmed"),
    "climate": ("heat", "off"),
    "vacuum": ("cleaning", "docked"),
    "lawn_mower": ("mowing", "docked"),
    "scene": ("active", "never"),
}
_COLOURS = frozenset(
    {
        "amber", "aqua", "beige", "black", "blue", "brown", "coral", "cyan", "gold", "gray", "green", "grey",
        "indigo", "ivory", "khaki", "lavender", "lime", "magenta", "maroon", "mint", "navy", "olive",
        "orange", "pink", "purple", "red", "salmon", "silver", "tan", "teal", "turquoise", "violet", "white",
        "yellow", "warm white", "cool white", "cold white",
    }
)  # fmt: skip


def after(entity: Entity, action: Action) -> Entity:
    """The thing as it is after the action. Raises HomeError when it cannot do that."""
    values = action.values
    match action.verb:
        case "turn_on":
            return _switched(entity, on=True)
        case "turn_off":
            return _switched(entity, on=False)
        case "set_light":
            return _lit(entity, values)
        case "set_position":
            position = values["position"]
            return _with(entity, "open" if position else "closed", position=position)
        case "set_temperature":
            return _tempered(entity, values["temperature"])
        case "set_speed":
            percentage = values["percentage"]
            return _with(entity, "on" if percentage else "off", percentage=percentage)
        case "set_volume":
            return _with(entity, entity.state, volume_level=values["volume_level"])
        case "pause" | "unpause" | "next" | "previous" | "mute" | "unmute" | "play":
            return _played(entity, action)
        case "start":
            return _switched(entity, on=True)
        case "clean_area":
            return _with(entity, "cleaning", cleaning=values["area"])
        case "dock":
            return _switched(entity, on=False)
        case "add_item" | "complete_item" | "remove_item":
            raise AssertionError(action.verb)  # the items are not the entity's
        case _:
            assert_never(action.verb)


def _switched(entity: Entity, *, on: bool) -> Entity:
    state = _ON_STATES.get(entity.domain, ("on", "off"))[0 if on else 1]
    match entity.domain:
        case "light":
            brightness = (entity.attributes.get("brightness") or 100) if on else 0
            return _with(entity, state, brightness=brightness)
        case "fan":
            return _with(entity, state, percentage=(entity.attributes.get("percentage") or 50) if on else 0)
        case "cover" | "valve":
            return _with(entity, state, position=100 if on else 0)
        case "media_player" if on and entity.state not in ("off", "idle"):
            return entity
        case _:
            return replace(entity, state=state)


def _lit(entity: Entity, values: Mapping[str, Any]) -> Entity:
    changes = dict(values)
    if "color" in changes:
        changes["color"] = str(changes["color"]).casefold().strip()
        if "color" not in entity.attributes:
            raise HomeError(sentence(f"{the(entity)} cannot change its colour"))
        if changes["color"] not in _COLOURS:
            raise HomeError(f"I do not know the colour {changes['color']}. Try red, green, blue or white.")
    changes.setdefault("brightness", entity.attributes.get("brightness") or 100)
    return _with(entity, "on" if changes["brightness"] else "off", **changes)


def _tempered(entity: Entity, temperature: float) -> Entity:
    low, high = entity.attributes["min_temp"], entity.attributes["max_temp"]
    if not low <= temperature <= high:
        raise HomeError(sentence(f"{the(entity)} goes from {number(low)} to {number(high)} degrees"))
    return _with(entity, "heat" if entity.state == "off" else entity.state, temperature=float(temperature))


def _played(entity: Entity, action: Action) -> Entity:
    attributes = entity.attributes
    match action.verb:
        case "mute" | "unmute":
            return _with(entity, entity.state, is_volume_muted=action.verb == "mute")
        case "play":
            return _with(entity, "playing", media_title=action.values["search_query"], track=1)
        case "pause" if entity.state != "playing":
            raise HomeError(sentence(f"nothing is playing on {the(entity)}"))
        case "unpause" if entity.state not in ("paused", "playing"):
            raise HomeError(sentence(f"nothing is paused on {the(entity)}"))
        case "pause":
            return _with(entity, "paused")
        case "unpause":
            return _with(entity, "playing")
        case "next" | "previous":
            if entity.state not in ("playing", "paused"):
                raise HomeError(sentence(f"nothing is playing on {the(entity)}"))
            step = 1 if action.verb == "next" else -1
            return _with(entity, "playing", track=max(1, attributes.get("track", 1) + step))
        case _:
            raise AssertionError(action.verb)


def _with(entity: Entity, state: str, **changes: Any) -> Entity:  # noqa: ANN401 - attributes of any kind
    return replace(entity, state=state, attributes={**entity.attributes, **changes})

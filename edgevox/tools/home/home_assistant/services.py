"""From an action to the service of Home Assistant that does it to one entity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from edgevox.tools.home.home import Action, HomeError
from edgevox.tools.home.home_assistant.colours import colour_data
from edgevox.tools.home.home_assistant.service import Service, can, in_state, refusal, set_to
from edgevox.tools.home.home_assistant.switching import dock, start, turn_off, turn_on
from edgevox.tools.home.house import Entity
from edgevox.tools.home.wording import brief, number, sentence, the

# Bits of supported_features, in Home Assistant's numbers.
_COVER_HAS_POSITION = 4
_CLIMATE_HAS_TARGET, _CLIMATE_HAS_RANGE = 1, 2
_FAN_HAS_SPEED = 1
_PLAYER_HAS_VOLUME, _PLAYER_MUTES = 4, 8
_PLAYER_PAUSES, _PLAYER_PLAYS, _PLAYER_SKIPS, _PLAYER_GOES_BACK = 1, 16384, 32, 16
_VACUUM_CLEANS_AREAS = 16384

_OFF = ("off", "standby", "unavailable", "unknown")


def service_for(entity: Entity, action: Action) -> Service | None:
    """The service; None where there is nothing left to do. Raises HomeError when the entity cannot do it."""
    values = action.values
    match action.verb:
        case "turn_on":
            return turn_on(entity)
        case "turn_off":
            return turn_off(entity)
        case "start":
            return start(entity)
        case "dock":
            return dock(entity)
        case "set_light":
            return _light(entity, values)
        case "set_position":
            return _position(entity, values["position"])
        case "set_temperature":
            return _temperature(entity, values["temperature"])
        case "set_speed":
            return _speed(entity, values["percentage"])
        case "set_volume":
            return _volume(entity, values["volume_level"])
        case "pause" | "unpause" | "next" | "previous" | "mute" | "unmute":
            return _player(entity, action)
        case "clean_area":
            return _clean(entity, values["area"])
        case "play" | "add_item" | "complete_item" | "remove_item":
            raise AssertionError(action.verb)  # these need more than one service
        case _:
            assert_never(action.verb)


def _light(entity: Entity, values: Mapping[str, Any]) -> Service:
    brightness, colour = values.get("brightness"), values.get("color")
    if brightness == 0:
        return turn_off(entity)
    modes = frozenset(entity.attributes.get("supported_color_modes", ()))
    data: dict[str, Any] = {}
    if colour is not None:
        colour_fields = colour_data(str(colour), modes)
        if colour_fields is None:
            raise HomeError(f"I do not know the colour {brief(str(colour))}. Try red, green, blue or white.")
        if not colour_fields:
            raise refusal(entity, "cannot change its colour")
        data |= colour_fields
    if brightness is None:
        return Service("turn_on", data, in_state("on"))
    if not modes - {"onoff", "unknown"}:
        raise refusal(entity, "cannot be dimmed")
    data["brightness_pct"] = brightness
    return Service("turn_on", data, set_to("brightness", brightness, within=2), value="brightness")


def _position(entity: Entity, position: int) -> Service | None:
    if not can(entity, _COVER_HAS_POSITION):
        if position in (0, 100):
            return turn_on(entity) if position else turn_off(entity)
        raise refusal(entity, "can only be opened or closed")
    is_there = set_to("position", position, within=3)
    return Service(
        f"set_{entity.domain}_position",
        {"position": position},
        lambda now: now.state in ("opening", "closing") or is_there(now),
        value="position",
    )


def _temperature(entity: Entity, temperature: float) -> Service:
    attributes = entity.attributes
    low, high = attributes.get("min_temp"), attributes.get("max_temp")
    if low is not None and high is not None and not low <= temperature <= high:
        raise refusal(entity, f"goes from {number(low)} to {number(high)} degrees")
    step = attributes.get("target_temp_step") or 0.5
    coldest, warmest = attributes.get("target_temp_low"), attributes.get("target_temp_high")
    if can(entity, _CLIMATE_HAS_RANGE) and coldest is not None and warmest is not None:
        # It keeps between two temperatures: the range moves, and stays as wide as it was.
        half = (warmest - coldest) / 2
        between = {"target_temp_low": temperature - half, "target_temp_high": temperature + half}
        is_low = set_to("target_temp_low", temperature - half, within=step)
        return Service("set_temperature", between, is_low, value="target_temp_low")
    if not can(entity, _CLIMATE_HAS_TARGET):
        raise refusal(entity, "cannot be set to a temperature")
    is_set = set_to("temperature", temperature, within=step)
    return Service("set_temperature", {"temperature": temperature}, is_set, value="temperature")


def _speed(entity: Entity, percentage: int) -> Service:
    if percentage == 0:
        return turn_off(entity)
    if not can(entity, _FAN_HAS_SPEED):
        raise refusal(entity, "has only one speed")
    step = entity.attributes.get("percentage_step") or 1
    is_set = set_to("percentage", percentage, within=max(1, step))
    return Service("set_percentage", {"percentage": percentage}, is_set, value="percentage")


def _volume(entity: Entity, level: int) -> Service:
    if entity.state in _OFF:
        raise refusal(entity, "is off")
    if not can(entity, _PLAYER_HAS_VOLUME):
        raise refusal(entity, "cannot be set to a volume")
    is_set = set_to("volume_level", level, within=1)
    return Service("volume_set", {"volume_level": level / 100}, is_set, value="volume_level")


def _player(entity: Entity, action: Action) -> Service:
    is_active = entity.state in ("playing", "paused", "buffering")
    match action.verb:
        case "mute" | "unmute":
            muted = action.verb == "mute"
            if entity.state in _OFF:
                raise refusal(entity, "is off")
            _need(entity, _PLAYER_MUTES)
            return Service(
                "volume_mute",
                {"is_volume_muted": muted},
                lambda now: now.attributes.get("is_volume_muted", False) is muted,
            )
        case "pause":
            if entity.state not in ("playing", "buffering"):
                raise HomeError(_nothing("playing", entity))
            _need(entity, _PLAYER_PAUSES)
            return Service("media_pause", is_done=lambda now: now.state not in ("playing", "buffering"))
        case "unpause":
            if not is_active:
                raise HomeError(_nothing("paused", entity))
            _need(entity, _PLAYER_PLAYS)
            return Service("media_play", is_done=in_state("playing", "buffering"))
        case "next" | "previous":
            if not is_active:
                raise HomeError(_nothing("playing", entity))
            _need(entity, _PLAYER_SKIPS if action.verb == "next" else _PLAYER_GOES_BACK)
            return Service(f"media_{action.verb}_track")
        case _:
            raise AssertionError(action.verb)


def _clean(entity: Entity, area: str) -> Service:
    if not can(entity, _VACUUM_CLEANS_AREAS):
        raise refusal(entity, "cannot be sent to a single room")
    return Service("clean_area", {"cleaning_area_id": [area]}, in_state("cleaning"))


def _need(entity: Entity, feature: int) -> None:
    if not can(entity, feature):
        raise refusal(entity, "cannot do that")


def _nothing(doing: str, entity: Entity) -> str:
    return sentence(f"nothing is {doing} on {the(entity)}")

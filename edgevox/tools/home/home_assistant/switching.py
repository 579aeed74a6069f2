"""Turning on and off, which is called differently for doors, locks, alarms and robots."""

from __future__ import annotations

from edgevox.tools.home.home_assistant.service import Service, can, in_state, refusal
from edgevox.tools.home.house import Entity

# Bits of supported_features, in Home Assistant's numbers.
_COVER_OPENS, _COVER_CLOSES = 1, 2
_ARMS = ((2, "alarm_arm_away"), (1, "alarm_arm_home"), (4, "alarm_arm_night"))
_CLIMATE_TURNS_ON = 256
_PLAYER_TURNS_ON, _PLAYER_TURNS_OFF, _PLAYER_STOPS = 128, 256, 4096
_VACUUM_RETURNS, _VACUUM_STARTS = 16, 8192
_MOWER_STARTS, _MOWER_DOCKS = 1, 4

_NOT_ON = ("off", "standby", "unavailable", "unknown")


def turn_on(entity: Entity) -> Service | None:
    """None for what is on already, and must not begin anew. Raises HomeError when it cannot."""
    match entity.domain:
        case "cover" | "valve":
            _need(entity, _COVER_OPENS, "cannot be opened")
            return Service(f"open_{entity.domain}", is_done=in_state("open", "opening"))
        case "lock":
            return Service("lock", is_done=in_state("locked", "locking", "jammed"))
        case "alarm_control_panel":
            return _arm(entity)
        case "climate" | "media_player" if entity.state not in _NOT_ON:
            return None
        case "climate":
            return _heat(entity)
        case "media_player":
            _need(entity, _PLAYER_TURNS_ON, "cannot be turned on from here")
            return Service("turn_on", is_done=lambda now: now.state not in _NOT_ON)
        case "vacuum" | "lawn_mower":
            return start(entity)
        case "scene" | "script":
            return Service("turn_on")
        case "button" | "input_button":
            return Service("press")
        case _:
            return Service("turn_on", is_done=in_state("on"))


def turn_off(entity: Entity) -> Service:
    """Raises HomeError when it cannot."""
    match entity.domain:
        case "cover" | "valve":
            _need(entity, _COVER_CLOSES, "cannot be closed")
            return Service(f"close_{entity.domain}", is_done=in_state("closed", "closing"))
        case "lock":
            return Service("unlock", is_done=in_state("unlocked", "unlocking", "open", "opening", "jammed"))
        case "alarm_control_panel":
            return Service("alarm_disarm", is_done=in_state("disarmed"))
        case "climate":
            if "off" not in entity.attributes.get("hvac_modes", ()):
                raise refusal(entity, "cannot be turned off")
            return Service("set_hvac_mode", {"hvac_mode": "off"}, in_state("off"))
        case "media_player":
            if can(entity, _PLAYER_TURNS_OFF):
                return Service("turn_off", is_done=in_state("off", "standby", "idle"))
            _need(entity, _PLAYER_STOPS, "cannot be turned off")
            return Service("media_stop", is_done=in_state("off", "standby", "idle"))
        case "vacuum" | "lawn_mower":
            return dock(entity)
        case "scene":
            raise refusal(entity, "is a scene; it cannot be turned off")
        case _:
            return Service("turn_off", is_done=in_state("off"))


def start(entity: Entity) -> Service:
    """Robots. Raises HomeError when it cannot."""
    if entity.domain == "lawn_mower":
        _need(entity, _MOWER_STARTS, "cannot be started from here")
        return Service("start_mowing", is_done=in_state("mowing"))
    _need(entity, _VACUUM_STARTS, "cannot be started from here")
    return Service("start", is_done=in_state("cleaning"))


def dock(entity: Entity) -> Service:
    """Robots. Raises HomeError when it cannot."""
    if entity.domain == "lawn_mower":
        _need(entity, _MOWER_DOCKS, "cannot be sent home")
        return Service("dock", is_done=in_state("docked", "returning"))
    _need(entity, _VACUUM_RETURNS, "cannot be sent home")
    return Service("return_to_base", is_done=in_state("docked", "returning"))


def _arm(entity: Entity) -> Service:
    for feature, service in _ARMS:
        if can(entity, feature):
            return Service(
                service,
                is_done=lambda now: now.state.startswith("armed") or now.state in ("arming", "pending"),
            )
    raise refusal(entity, "cannot be armed from here")


def _heat(entity: Entity) -> Service:
    modes = [mode for mode in entity.attributes.get("hvac_modes", ()) if mode != "off"]
    if can(entity, _CLIMATE_TURNS_ON) or not modes:
        return Service("turn_on", is_done=lambda now: now.state not in _NOT_ON)
    mode = next((mode for mode in ("heat_cool", "auto", "heat") if mode in modes), modes[0])
    return Service("set_hvac_mode", {"hvac_mode": mode}, in_state(mode))


def _need(entity: Entity, feature: int, otherwise: str) -> None:
    if not can(entity, feature):
        raise refusal(entity, otherwise)

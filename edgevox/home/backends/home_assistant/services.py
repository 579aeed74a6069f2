"""Maps an action on one entity to a Home Assistant service call, and to the state that confirms it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias, assert_never

from edgevox.home.colours import Colour, find_colour
from edgevox.home.entities import Action, Entity, HomeError
from edgevox.home.phrasing import number, sentence, the

IsDone: TypeAlias = Callable[[Entity], bool]


@dataclass(frozen=True, slots=True)
class Service:
    """A service of the entity's own domain."""

    name: str
    data: dict[str, Any] = field(default_factory=dict)
    is_done: IsDone | None = None
    """None if no state confirms it"""
    value: str | None = None
    """the attribute that it sets; while it changes, the entity is moving, however long that takes"""


def in_state(*states: str) -> IsDone:
    return lambda entity: entity.state in states


def not_in_state(*states: str) -> IsDone:
    return lambda entity: entity.state not in states


def set_to(key: str, wanted: float, *, within: float) -> IsDone:
    """Whether the attribute has the wanted value; devices round differently."""

    def is_set(entity: Entity) -> bool:
        now = entity.attributes.get(key)
        return isinstance(now, int | float) and abs(now - wanted) <= within

    return is_set


def supports(entity: Entity, feature: int) -> bool:
    """Whether a bit of its `supported_features` is set."""
    features = entity.attributes.get("supported_features", 0)
    return isinstance(features, int) and bool(features & feature)


def unsupported(entity: Entity, cannot: str) -> HomeError:
    """ "The kitchen light cannot be dimmed." """
    return HomeError(sentence(f"{the(entity)} {cannot}"))


def require_feature(entity: Entity, feature: int, message: str = "cannot do that") -> None:
    """Raises HomeError if a bit of `supported_features` is not set."""
    if not supports(entity, feature):
        raise unsupported(entity, message)


# Bits of Home Assistant's supported_features; those of switches and players are in the table below.
_COVER_HAS_POSITION = 4
_CLIMATE_HAS_TARGET, _CLIMATE_HAS_RANGE, _CLIMATE_TURNS_ON = 1, 2, 256
_FAN_HAS_SPEED = 1
_PLAYER_HAS_VOLUME, _PLAYER_MUTES = 4, 8
_VACUUM_CLEANS_AREAS = 16384

_OFF = ("off", "standby", "unavailable", "unknown")
_ACTIVE = ("playing", "paused", "buffering")
_COLOURED = frozenset({"hs", "xy", "rgb", "rgbw", "rgbww"})


class _Row(NamedTuple):
    """A service without data, what confirms it, the feature bit that it needs, and the refusal without it."""

    service: str
    is_done: IsDone | None = None
    feature: int = 0
    refusal: str = "cannot do that"


_is_on = not_in_state(*_OFF)
_is_stopped = in_state("off", "standby", "idle")
_is_docked = in_state("docked", "returning")


def _is_armed(entity: Entity) -> bool:
    return entity.state.startswith("armed") or entity.state in ("arming", "pending")


# By verb and domain; of several rows the first that the entity supports.
_SERVICES: Mapping[tuple[str, str], tuple[_Row, ...]] = {
    ("turn_on", "alarm_control_panel"): (
        _Row("alarm_arm_away", _is_armed, 2),
        _Row("alarm_arm_home", _is_armed, 1),
        _Row("alarm_arm_night", _is_armed, 4, "cannot be armed from here"),
    ),
    ("turn_on", "button"): (_Row("press"),),
    ("turn_on", "cover"): (_Row("open_cover", in_state("open", "opening"), 1, "cannot be opened"),),
    ("turn_on", "input_button"): (_Row("press"),),
    ("turn_on", "lawn_mower"): (_Row("start_mowing", in_state("mowing"), 1, "cannot be started from here"),),
    ("turn_on", "lock"): (_Row("lock", in_state("locked", "locking", "jammed")),),
    ("turn_on", "media_player"): (_Row("turn_on", _is_on, 128, "cannot be turned on from here"),),
    ("turn_on", "scene"): (_Row("turn_on"),),
    ("turn_on", "script"): (_Row("turn_on"),),
    ("turn_on", "vacuum"): (_Row("start", in_state("cleaning"), 8192, "cannot be started from here"),),
    ("turn_on", "valve"): (_Row("open_valve", in_state("open", "opening"), 1, "cannot be opened"),),
    ("turn_on", "water_heater"): (_Row("turn_on", _is_on, 8, "cannot be turned on from here"),),
    ("turn_on", ""): (_Row("turn_on", in_state("on")),),
    ("turn_off", "alarm_control_panel"): (_Row("alarm_disarm", in_state("disarmed")),),
    ("turn_off", "cover"): (_Row("close_cover", in_state("closed", "closing"), 2, "cannot be closed"),),
    ("turn_off", "lawn_mower"): (_Row("dock", _is_docked, 4, "cannot be sent home"),),
    ("turn_off", "lock"): (_Row("unlock", in_state("unlocked", "unlocking", "open", "opening", "jammed")),),
    ("turn_off", "media_player"): (
        _Row("turn_off", _is_stopped, 256),
        _Row("media_stop", _is_stopped, 4096, "cannot be turned off"),
    ),
    ("turn_off", "vacuum"): (_Row("return_to_base", _is_docked, 16, "cannot be sent home"),),
    ("turn_off", "valve"): (_Row("close_valve", in_state("closed", "closing"), 2, "cannot be closed"),),
    ("turn_off", "water_heater"): (_Row("turn_off", in_state("off"), 8, "cannot be turned off"),),
    ("turn_off", ""): (_Row("turn_off", in_state("off")),),
    ("stop", "cover"): (_Row("stop_cover", feature=8, refusal="cannot be stopped half way"),),
    ("stop", "valve"): (_Row("stop_valve", feature=8, refusal="cannot be stopped half way"),),
    ("pause", "lawn_mower"): (_Row("pause", in_state("paused"), 2, "cannot be paused"),),
    ("pause", "vacuum"): (_Row("pause", in_state("paused", "idle"), 4, "cannot be paused"),),
    ("pause", ""): (_Row("media_pause", not_in_state("playing", "buffering"), 1),),
    ("unpause", ""): (_Row("media_play", in_state("playing", "buffering"), 16384),),
    ("next", ""): (_Row("media_next_track", feature=32),),
    ("previous", ""): (_Row("media_previous_track", feature=16),),
}


def service_for(entity: Entity, action: Action) -> Service | None:
    """The service; None if there is nothing to do. Raises HomeError if the entity does not support it."""
    values = action.values
    match action.verb:
        case "turn_on" | "turn_off" if entity.domain in ("alarm_control_panel", "lock") and values.get("code"):
            service = _from_table(action.verb, entity)
            return replace(service, data={"code": str(values["code"])})
        case "turn_on" | "start":
            return _turn_on(entity)
        case "turn_off" | "dock":
            return _turn_off(entity)
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
        case "mute" | "unmute":
            return _mute(entity, action.verb == "mute")
        case "stop":
            return _from_table("stop", entity)
        case "pause" if entity.domain in ("vacuum", "lawn_mower"):
            return _from_table("pause", entity)
        case "set_mode":
            return _mode(entity, str(values["mode"]))
        case "select_option":
            option = str(values["option"])
            return Service("select_option", {"option": option}, in_state(option))
        case "set_number":
            return _number(entity, float(values["value"]))
        case "set_humidity":
            humidity = int(values["humidity"])
            is_set = set_to("humidity", humidity, within=1)
            return Service("set_humidity", {"humidity": humidity}, is_set, value="humidity")
        case "arm":
            return _armed(entity, str(values["mode"]), values.get("code"))
        case "pause" | "unpause" | "next" | "previous":
            if entity.state not in _ACTIVE or (action.verb == "pause" and entity.state == "paused"):
                doing = "paused" if action.verb == "unpause" else "playing"
                raise HomeError(sentence(f"nothing is {doing} on {the(entity)}"))
            return _from_table(action.verb, entity)
        case "clean_area":
            require_feature(entity, _VACUUM_CLEANS_AREAS, "cannot be sent to a single room")
            return Service("clean_area", {"cleaning_area_id": [values["area"]]}, in_state("cleaning"))
        case "play" | "add_item" | "complete_item" | "reopen_item" | "remove_item" | "clear_items" | "create_list":
            raise AssertionError(action.verb)  # these need more than one service call
        case _:
            assert_never(action.verb)


def _number(entity: Entity, value: float) -> Service:
    low, high = entity.attributes.get("min"), entity.attributes.get("max")
    if low is not None and high is not None and not low <= value <= high:
        raise unsupported(entity, f"goes from {number(low)} to {number(high)}")
    step = entity.attributes.get("step") or 0.0

    def is_set(now: Entity) -> bool:
        try:
            return abs(float(now.state) - value) <= step / 2 + 1e-6
        except ValueError:
            return False

    return Service("set_value", {"value": value}, is_set)


def _mode(entity: Entity, mode: str) -> Service:
    if mode in entity.attributes.get("presets", ()):
        return Service("set_preset_mode", {"preset_mode": mode}, lambda now: now.attributes.get("preset") == mode)
    if mode not in entity.attributes.get("modes", ()):
        raise unsupported(entity, f"has no mode {mode}")
    return Service("set_hvac_mode", {"hvac_mode": mode}, in_state(mode))


# The bits of supported_features for the ways to arm.
_ARM_FEATURES = {"home": 1, "away": 2, "night": 4, "vacation": 32}


def _armed(entity: Entity, mode: str, code: object) -> Service:
    data = {"code": str(code)} if code else {}
    if mode == "disarmed":
        return Service("alarm_disarm", data, in_state("disarmed"))
    require_feature(entity, _ARM_FEATURES[mode], f"has no mode {mode}")
    return Service(f"alarm_arm_{mode}", data, _is_armed)


def _from_table(verb: str, entity: Entity) -> Service:
    rows = _SERVICES.get((verb, entity.domain)) or _SERVICES[verb, ""]
    for row in rows:
        if not row.feature or supports(entity, row.feature):
            return Service(row.service, is_done=row.is_done)
    raise unsupported(entity, rows[-1].refusal)


def _turn_on(entity: Entity) -> Service | None:
    """None if it is already on and must not restart."""
    if entity.domain in ("climate", "media_player") and entity.state not in _OFF:
        return None
    if entity.domain != "climate":
        return _from_table("turn_on", entity)
    modes = [mode for mode in entity.attributes.get("hvac_modes", ()) if mode != "off"]
    if supports(entity, _CLIMATE_TURNS_ON) or not modes:
        return Service("turn_on", is_done=_is_on)
    mode = next((mode for mode in ("heat_cool", "auto", "heat") if mode in modes), modes[0])
    return Service("set_hvac_mode", {"hvac_mode": mode}, in_state(mode))


def _turn_off(entity: Entity) -> Service:
    if entity.domain == "scene":
        raise unsupported(entity, "is a scene; it cannot be turned off")
    if entity.domain in ("button", "input_button"):
        raise unsupported(entity, "is a button; it can only be pressed")
    if entity.domain != "climate":
        return _from_table("turn_off", entity)
    if "off" not in entity.attributes.get("hvac_modes", ()):
        raise unsupported(entity, "cannot be turned off")
    return Service("set_hvac_mode", {"hvac_mode": "off"}, in_state("off"))


def _light(entity: Entity, values: Mapping[str, Any]) -> Service:
    brightness = values.get("brightness")
    if brightness == 0:
        return _turn_off(entity)
    modes = frozenset(entity.attributes.get("supported_color_modes", ()))
    data = _colour(entity, find_colour(str(values["color"])), modes) if values.get("color") is not None else {}
    if brightness is None:
        return Service("turn_on", data, in_state("on"))
    if not modes - {"onoff", "unknown"}:
        raise unsupported(entity, "cannot be dimmed")
    data["brightness_pct"] = brightness
    return Service("turn_on", data, set_to("brightness", brightness, within=2), value="brightness")


def _colour(entity: Entity, colour: Colour, modes: frozenset[str]) -> dict[str, Any]:
    is_coloured = not _COLOURED.isdisjoint(modes)
    # A colour light mixes a white by itself, except the one that is also a colour's name.
    if colour.kelvin and ("color_temp" in modes or (is_coloured and not colour.css_name)):
        return {"color_temp_kelvin": colour.kelvin}
    if not is_coloured:
        raise unsupported(entity, "cannot change its colour")
    return {"color_name": colour.css_name} if colour.css_name else {"rgb_color": list(colour.rgb)}


def _position(entity: Entity, position: int) -> Service | None:
    if not supports(entity, _COVER_HAS_POSITION):
        if position in (0, 100):
            return _turn_on(entity) if position else _turn_off(entity)
        raise unsupported(entity, "can only be opened or closed")
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
        raise unsupported(entity, f"goes from {number(low)} to {number(high)} degrees")
    step = attributes.get("target_temp_step") or 0.5
    coldest, warmest = attributes.get("target_temp_low"), attributes.get("target_temp_high")
    if supports(entity, _CLIMATE_HAS_RANGE) and coldest is not None and warmest is not None:
        # With a target range, the range moves and keeps its width.
        half = (warmest - coldest) / 2
        between = {"target_temp_low": temperature - half, "target_temp_high": temperature + half}
        is_low = set_to("target_temp_low", temperature - half, within=step)
        return Service("set_temperature", between, is_low, value="target_temp_low")
    require_feature(entity, _CLIMATE_HAS_TARGET, "cannot be set to a temperature")
    is_set = set_to("temperature", temperature, within=step)
    return Service("set_temperature", {"temperature": temperature}, is_set, value="temperature")


def _speed(entity: Entity, percentage: int) -> Service:
    if percentage == 0:
        return _turn_off(entity)
    require_feature(entity, _FAN_HAS_SPEED, "has only one speed")
    step = entity.attributes.get("percentage_step") or 1
    is_set = set_to("percentage", percentage, within=max(1, step))
    return Service("set_percentage", {"percentage": percentage}, is_set, value="percentage")


def _volume(entity: Entity, level: int) -> Service:
    if entity.state in _OFF:
        raise unsupported(entity, "is off")
    require_feature(entity, _PLAYER_HAS_VOLUME, "cannot be set to a volume")
    is_set = set_to("volume_level", level, within=1)
    return Service("volume_set", {"volume_level": level / 100}, is_set, value="volume_level")


def _mute(entity: Entity, muted: bool) -> Service:
    if entity.state in _OFF:
        raise unsupported(entity, "is off")
    require_feature(entity, _PLAYER_MUTES)
    return Service(
        "volume_mute", {"is_volume_muted": muted}, lambda now: now.attributes.get("is_volume_muted", False) is muted
    )

"""Maps an action on one entity to a Home Assistant service call, and to the state that confirms it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, assert_never

from edgevox.home.entities import Action, Entity, HomeError
from edgevox.home.phrasing import brief, number, sentence, the

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


# CSS colour names; Home Assistant takes an unknown name for white.
_NAMES = frozenset(
    {
        "aliceblue", "antiquewhite", "aqua", "aquamarine", "azure", "beige", "bisque", "black",
        "blanchedalmond", "blue", "blueviolet", "brown", "burlywood", "cadetblue", "chartreuse",
        "chocolate", "coral", "cornflowerblue", "cornsilk", "crimson", "cyan", "darkblue", "darkcyan",
        "darkgoldenrod", "darkgray", "darkgreen", "darkgrey", "darkkhaki", "darkmagenta", "darkolivegreen",
        "darkorange", "darkorchid", "darkred", "darksalmon", "darkseagreen", "darkslateblue",
        "darkslategray", "darkslategrey", "darkturquoise", "darkviolet", "deeppink", "deepskyblue",
        "dimgray", "dimgrey", "dodgerblue", "firebrick", "floralwhite", "forestgreen", "fuchsia",
        "gainsboro", "ghostwhite", "gold", "goldenrod", "gray", "green", "greenyellow", "grey", "honeydew",
        "hotpink", "indianred", "indigo", "ivory", "khaki", "lavender", "lavenderblush", "lawngreen",
        "lemonchiffon", "lightblue", "lightcoral", "lightcyan", "lightgoldenrodyellow", "lightgray",
        "lightgreen", "lightgrey", "lightpink", "lightsalmon", "lightseagreen", "lightskyblue",
        "lightslategray", "lightslategrey", "lightsteelblue", "lightyellow", "lime", "limegreen", "linen",
        "magenta", "maroon", "mediumaquamarine", "mediumblue", "mediumorchid", "mediumpurple",
        "mediumseagreen", "mediumslateblue", "mediumspringgreen", "mediumturquoise", "mediumvioletred",
        "midnightblue", "mintcream", "mistyrose", "moccasin", "navajowhite", "navy", "oldlace", "olive",
        "olivedrab", "orange", "orangered", "orchid", "palegoldenrod", "palegreen", "paleturquoise",
        "palevioletred", "papayawhip", "peachpuff", "peru", "pink", "plum", "powderblue", "purple", "red",
        "rosybrown", "royalblue", "saddlebrown", "salmon", "sandybrown", "seagreen", "seashell", "sienna",
        "silver", "skyblue", "slateblue", "slategray", "slategrey", "snow", "springgreen", "steelblue",
        "tan", "teal", "thistle", "tomato", "turquoise", "violet", "wheat", "white", "whitesmoke", "yellow",
        "yellowgreen",
    }
)  # fmt: skip
_MORE = {"amber": [255, 191, 0], "mint": [62, 180, 137], "peach": [255, 203, 164], "lilac": [200, 162, 200]}
_WHITES_K = {
    "warmwhite": 2700,
    "softwhite": 2700,
    "warm": 2700,
    "white": 4000,
    "neutralwhite": 4000,
    "coolwhite": 5500,
    "coldwhite": 6500,
    "cool": 5500,
    "cold": 6500,
    "daylight": 6500,
}
_COLOURED = frozenset({"hs", "xy", "rgb", "rgbw", "rgbww"})


def colour_data(said: str, colour_modes: frozenset[str]) -> dict[str, Any] | None:
    """The service data for a colour: {} if the light does not support it, None if it is unknown."""
    name = "".join(said.casefold().split()).replace("-", "")
    is_coloured = not _COLOURED.isdisjoint(colour_modes)
    if name in _WHITES_K and "color_temp" in colour_modes:
        return {"color_temp_kelvin": _WHITES_K[name]}
    if name in _NAMES:
        return {"color_name": name} if is_coloured else {}
    if name in _MORE:
        return {"rgb_color": _MORE[name]} if is_coloured else {}
    if name in _WHITES_K:
        # A colour light mixes white by itself.
        return {"color_temp_kelvin": _WHITES_K[name]} if is_coloured else {}
    return None


# Bits of Home Assistant's supported_features.
_COVER_OPENS, _COVER_CLOSES = 1, 2
_ARMS = ((2, "alarm_arm_away"), (1, "alarm_arm_home"), (4, "alarm_arm_night"))
_CLIMATE_TURNS_ON = 256
_PLAYER_TURNS_ON, _PLAYER_TURNS_OFF, _PLAYER_STOPS = 128, 256, 4096
_VACUUM_RETURNS, _VACUUM_STARTS = 16, 8192
_MOWER_STARTS, _MOWER_DOCKS = 1, 4

_NOT_ON = ("off", "standby", "unavailable", "unknown")


def turn_on(entity: Entity) -> Service | None:
    """None if it is already on and must not restart. Raises HomeError if unsupported."""
    match entity.domain:
        case "cover" | "valve":
            require_feature(entity, _COVER_OPENS, "cannot be opened")
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
            require_feature(entity, _PLAYER_TURNS_ON, "cannot be turned on from here")
            return Service("turn_on", is_done=lambda now: now.state not in _NOT_ON)
        case "vacuum" | "lawn_mower":
            return start_robot(entity)
        case "scene" | "script":
            return Service("turn_on")
        case "button" | "input_button":
            return Service("press")
        case _:
            return Service("turn_on", is_done=in_state("on"))


def turn_off(entity: Entity) -> Service:
    """Raises HomeError if unsupported."""
    match entity.domain:
        case "cover" | "valve":
            require_feature(entity, _COVER_CLOSES, "cannot be closed")
            return Service(f"close_{entity.domain}", is_done=in_state("closed", "closing"))
        case "lock":
            return Service("unlock", is_done=in_state("unlocked", "unlocking", "open", "opening", "jammed"))
        case "alarm_control_panel":
            return Service("alarm_disarm", is_done=in_state("disarmed"))
        case "climate":
            if "off" not in entity.attributes.get("hvac_modes", ()):
                raise unsupported(entity, "cannot be turned off")
            return Service("set_hvac_mode", {"hvac_mode": "off"}, in_state("off"))
        case "media_player":
            if supports(entity, _PLAYER_TURNS_OFF):
                return Service("turn_off", is_done=in_state("off", "standby", "idle"))
            require_feature(entity, _PLAYER_STOPS, "cannot be turned off")
            return Service("media_stop", is_done=in_state("off", "standby", "idle"))
        case "vacuum" | "lawn_mower":
            return dock_robot(entity)
        case "scene":
            raise unsupported(entity, "is a scene; it cannot be turned off")
        case _:
            return Service("turn_off", is_done=in_state("off"))


def start_robot(entity: Entity) -> Service:
    """Start a vacuum or mower. Raises HomeError if unsupported."""
    if entity.domain == "lawn_mower":
        require_feature(entity, _MOWER_STARTS, "cannot be started from here")
        return Service("start_mowing", is_done=in_state("mowing"))
    require_feature(entity, _VACUUM_STARTS, "cannot be started from here")
    return Service("start", is_done=in_state("cleaning"))


def dock_robot(entity: Entity) -> Service:
    """Dock a vacuum or mower. Raises HomeError if unsupported."""
    if entity.domain == "lawn_mower":
        require_feature(entity, _MOWER_DOCKS, "cannot be sent home")
        return Service("dock", is_done=in_state("docked", "returning"))
    require_feature(entity, _VACUUM_RETURNS, "cannot be sent home")
    return Service("return_to_base", is_done=in_state("docked", "returning"))


def _arm(entity: Entity) -> Service:
    for feature, service in _ARMS:
        if supports(entity, feature):
            return Service(
                service, is_done=lambda now: now.state.startswith("armed") or now.state in ("arming", "pending")
            )
    raise unsupported(entity, "cannot be armed from here")


def _heat(entity: Entity) -> Service:
    modes = [mode for mode in entity.attributes.get("hvac_modes", ()) if mode != "off"]
    if supports(entity, _CLIMATE_TURNS_ON) or not modes:
        return Service("turn_on", is_done=lambda now: now.state not in _NOT_ON)
    mode = next((mode for mode in ("heat_cool", "auto", "heat") if mode in modes), modes[0])
    return Service("set_hvac_mode", {"hvac_mode": mode}, in_state(mode))


# Bits of Home Assistant's supported_features.
_COVER_HAS_POSITION = 4
_CLIMATE_HAS_TARGET, _CLIMATE_HAS_RANGE = 1, 2
_FAN_HAS_SPEED = 1
_PLAYER_HAS_VOLUME, _PLAYER_MUTES = 4, 8
_PLAYER_PAUSES, _PLAYER_PLAYS, _PLAYER_SKIPS, _PLAYER_GOES_BACK = 1, 16384, 32, 16
_VACUUM_CLEANS_AREAS = 16384

_OFF = ("off", "standby", "unavailable", "unknown")


def service_for(entity: Entity, action: Action) -> Service | None:
    """The service; None if there is nothing to do. Raises HomeError if the entity does not support it."""
    values = action.values
    match action.verb:
        case "turn_on":
            return turn_on(entity)
        case "turn_off":
            return turn_off(entity)
        case "start":
            return start_robot(entity)
        case "dock":
            return dock_robot(entity)
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
            raise AssertionError(action.verb)  # these need more than one service call
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
            raise unsupported(entity, "cannot change its colour")
        data |= colour_fields
    if brightness is None:
        return Service("turn_on", data, in_state("on"))
    if not modes - {"onoff", "unknown"}:
        raise unsupported(entity, "cannot be dimmed")
    data["brightness_pct"] = brightness
    return Service("turn_on", data, set_to("brightness", brightness, within=2), value="brightness")


def _position(entity: Entity, position: int) -> Service | None:
    if not supports(entity, _COVER_HAS_POSITION):
        if position in (0, 100):
            return turn_on(entity) if position else turn_off(entity)
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
    if not supports(entity, _CLIMATE_HAS_TARGET):
        raise unsupported(entity, "cannot be set to a temperature")
    is_set = set_to("temperature", temperature, within=step)
    return Service("set_temperature", {"temperature": temperature}, is_set, value="temperature")


def _speed(entity: Entity, percentage: int) -> Service:
    if percentage == 0:
        return turn_off(entity)
    if not supports(entity, _FAN_HAS_SPEED):
        raise unsupported(entity, "has only one speed")
    step = entity.attributes.get("percentage_step") or 1
    is_set = set_to("percentage", percentage, within=max(1, step))
    return Service("set_percentage", {"percentage": percentage}, is_set, value="percentage")


def _volume(entity: Entity, level: int) -> Service:
    if entity.state in _OFF:
        raise unsupported(entity, "is off")
    if not supports(entity, _PLAYER_HAS_VOLUME):
        raise unsupported(entity, "cannot be set to a volume")
    is_set = set_to("volume_level", level, within=1)
    return Service("volume_set", {"volume_level": level / 100}, is_set, value="volume_level")


def _player(entity: Entity, action: Action) -> Service:
    is_active = entity.state in ("playing", "paused", "buffering")
    match action.verb:
        case "mute" | "unmute":
            muted = action.verb == "mute"
            if entity.state in _OFF:
                raise unsupported(entity, "is off")
            require_feature(entity, _PLAYER_MUTES)
            return Service(
                "volume_mute",
                {"is_volume_muted": muted},
                lambda now: now.attributes.get("is_volume_muted", False) is muted,
            )
        case "pause":
            if entity.state not in ("playing", "buffering"):
                raise HomeError(_nothing("playing", entity))
            require_feature(entity, _PLAYER_PAUSES)
            return Service("media_pause", is_done=lambda now: now.state not in ("playing", "buffering"))
        case "unpause":
            if not is_active:
                raise HomeError(_nothing("paused", entity))
            require_feature(entity, _PLAYER_PLAYS)
            return Service("media_play", is_done=in_state("playing", "buffering"))
        case "next" | "previous":
            if not is_active:
                raise HomeError(_nothing("playing", entity))
            require_feature(entity, _PLAYER_SKIPS if action.verb == "next" else _PLAYER_GOES_BACK)
            return Service(f"media_{action.verb}_track")
        case _:
            raise AssertionError(action.verb)


def _clean(entity: Entity, area: str) -> Service:
    if not supports(entity, _VACUUM_CLEANS_AREAS):
        raise unsupported(entity, "cannot be sent to a single room")
    return Service("clean_area", {"cleaning_area_id": [area]}, in_state("cleaning"))


def _nothing(doing: str, entity: Entity) -> str:
    return sentence(f"nothing is {doing} on {the(entity)}")

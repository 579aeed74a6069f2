"""MQTT lights, with a topic for each value or one JSON object for all, and their colour models."""

from __future__ import annotations

import colorsys
import json
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from edgevox.home.backends.mqtt.component import (
    Command,
    OutgoingMessage,
    Reader,
    Values,
    about,
    numbers,
    of_percent,
    one_of,
    percent,
    states,
    unsupported,
)
from edgevox.home.backends.mqtt.discovery import DiscoveryConfig
from edgevox.home.backends.mqtt.switches import Switch
from edgevox.home.entities import Action, Entity, HomeError

Rgb: TypeAlias = tuple[int, int, int]

COLOURS: Mapping[str, Rgb] = {
    "amber": (255, 191, 0), "aqua": (0, 255, 255), "beige": (245, 245, 220), "black": (0, 0, 0),
    "blue": (0, 0, 255), "brown": (165, 42, 42), "coral": (255, 127, 80), "crimson": (220, 20, 60),
    "cyan": (0, 255, 255), "gold": (255, 215, 0), "gray": (128, 128, 128), "green": (0, 255, 0),
    "grey": (128, 128, 128), "indigo": (75, 0, 130), "ivory": (255, 255, 240), "khaki": (240, 230, 140),
    "lavender": (230, 230, 250), "light blue": (173, 216, 230), "light green": (144, 238, 144),
    "lilac": (200, 162, 200), "lime": (50, 205, 50), "magenta": (255, 0, 255), "maroon": (128, 0, 0),
    "mint": (152, 255, 152), "navy": (0, 0, 128), "olive": (128, 128, 0), "orange": (255, 165, 0),
    "peach": (255, 218, 185), "pink": (255, 105, 180), "purple": (128, 0, 128), "red": (255, 0, 0),
    "rose": (255, 0, 127), "salmon": (250, 128, 114), "silver": (192, 192, 192), "sky blue": (135, 206, 235),
    "tan": (210, 180, 140), "teal": (0, 128, 128), "turquoise": (64, 224, 208), "violet": (148, 0, 211),
    "white": (255, 255, 255), "yellow": (255, 255, 0),
}  # fmt: skip

# Whites as colour temperatures in kelvin, and their RGB for lights without colour temperature.
WHITES: Mapping[str, int] = {"warm white": 2700, "white": 4000, "cool white": 6000, "cold white": 6000}
_AS_RGB: Mapping[str, Rgb] = {
    "warm white": (255, 180, 107),
    "cool white": (235, 240, 255),
    "cold white": (235, 240, 255),
}
_D65 = (0.3127, 0.3290)


def rgb_of(name: str) -> Rgb | None:
    """None for an unknown colour."""
    return COLOURS.get(name) or _AS_RGB.get(name)


def to_hs(rgb: Rgb) -> tuple[float, float]:
    """Hue in degrees, saturation in percent."""
    hue, saturation, _ = colorsys.rgb_to_hsv(*(part / 255 for part in rgb))
    return round(hue * 360, 1), round(saturation * 100, 1)


def from_hs(hue: float, saturation: float) -> Rgb:
    red, green, blue = colorsys.hsv_to_rgb(hue % 360 / 360, min(1.0, max(0.0, saturation / 100)), 1)
    return round(red * 255), round(green * 255), round(blue * 255)


def to_xy(rgb: Rgb) -> tuple[float, float]:
    """CIE 1931, from sRGB."""
    red, green, blue = (_linear(part / 255) for part in rgb)
    x = 0.4124 * red + 0.3576 * green + 0.1805 * blue
    y = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    z = 0.0193 * red + 0.1192 * green + 0.9505 * blue
    total = x + y + z
    return (round(x / total, 4), round(y / total, 4)) if total else _D65


def from_xy(x: float, y: float) -> Rgb:
    """At full brightness."""
    if y <= 0:
        return 0, 0, 0
    wide, deep = x / y, (1 - x - y) / y
    linear = (
        3.2406 * wide - 1.5372 - 0.4986 * deep,
        -0.9689 * wide + 1.8758 + 0.0415 * deep,
        0.0557 * wide - 0.2040 + 1.0570 * deep,
    )
    brightest = max(linear)
    red, green, blue = (_curved(max(0.0, part / brightest)) for part in linear)
    return round(red * 255), round(green * 255), round(blue * 255)


def nearest_name(rgb: Rgb) -> str:
    """The name of the nearest known colour."""
    return min(COLOURS, key=lambda name: sum((a - b) ** 2 for a, b in zip(COLOURS[name], rgb, strict=True)))


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)


def _curved(part: float) -> float:
    return part * 12.92 if part <= 0.0031308 else float(1.055 * part ** (1 / 2.4) - 0.055)


_WITHIN = 2  # percent; a scale of 254 steps does not hit every percent
# In order of preference; each letter is a channel of the colour, in JSON too.
_COLOUR_MODES = ("rgb", "hs", "xy")


class _Light(Switch):
    def command(self, target: Entity, action: Action) -> Command:
        match action.verb:
            case "turn_on":
                return self.lit(target, None, None)
            case "set_light":
                brightness = action.values.get("brightness")
                return self.lit(target, brightness, _colour(action.values.get("color")))
            case _:
                return super().command(target, action)

    def lit(self, target: Entity, brightness: int | None, colour: str | None) -> Command:
        """The command for on, with optional brightness (0 is off) and colour. Raises HomeError."""
        raise NotImplementedError

    def as_lit(
        self, messages: tuple[OutgoingMessage, ...], brightness: int | None, colour: str | None, *news: str
    ) -> Command:
        """The command for these messages.

        `news` must be reported anew, because the reported colour never equals the one that was set.
        """
        assumed: Values = {"state": "on"}
        expected = {"state": one_of("on")}
        if brightness is not None:
            assumed["brightness"] = brightness
            expected["brightness"] = about(brightness, within=_WITHIN)
        if colour is not None:
            assumed["color"] = colour
        return Command(messages, assumed, self.when(*news, **expected))


def _colour(said: object) -> str | None:
    """Raises HomeError for an unknown colour."""
    if said is None:
        return None
    name = " ".join(str(said).casefold().replace("-", " ").split())
    if rgb_of(name) is None:
        raise HomeError(f"I do not know the colour {name}. Try red, green, blue or white.")
    return name


def _white(config: DiscoveryConfig, name: str) -> int:
    """The colour temperature of a white, within the light's range."""
    if config.flag("color_temp_kelvin"):
        low, high = config.number("min_kelvin", 2000), config.number("max_kelvin", 6500)
        return round(min(high, max(low, WHITES[name])))
    low, high = config.number("min_mireds", 153), config.number("max_mireds", 500)
    return round(min(high, max(low, 1_000_000 / WHITES[name])))


class TopicLight(_Light):
    """A light with one topic per value (the default schema)."""

    state_template = "state_value_template"

    def __init__(self, config: DiscoveryConfig) -> None:
        """Raises InvalidDiscovery."""
        super().__init__(config)
        self._scale = config.number("brightness_scale", 255)
        dim = numbers("brightness", percent(0, self._scale))
        self.subscribe("brightness_state_topic", "brightness_value_template", dim, "brightness")
        for mode, to_rgb in _TO_RGB.items():
            self.subscribe(f"{mode}_state_topic", f"{mode}_value_template", _read_colour(to_rgb), "color")

    def lit(self, target: Entity, brightness: int | None, colour: str | None) -> Command:
        if brightness == 0:
            return self.switched("off")
        style: list[OutgoingMessage] = []
        if colour is not None:
            style.append(self._coloured(target, colour))
        if brightness is not None:
            style.append(self._dimmed(target, brightness))
        on = self.publish("command_topic", self.payloads["on"])
        match self.config.text("on_command_type", "last"):
            case "brightness" if self.config.topic("brightness_command_topic"):
                if brightness is None:
                    style.append(self._dimmed(target, target.attributes.get("brightness") or 100))
                messages = tuple(style)
            case "first":
                messages = (on, *style)
            case _:
                messages = (*style, on)
        # A light that shows a white by its temperature reports no colour.
        news = ("color",) if colour and not self._has_temperature(colour) else ()
        return self.as_lit(messages, brightness, colour, *news)

    def _has_temperature(self, colour: str) -> bool:
        return colour in WHITES and self.config.topic("color_temp_command_topic") is not None

    def _dimmed(self, target: Entity, brightness: int) -> OutgoingMessage:
        if self.config.topic("brightness_command_topic") is None:
            raise unsupported(target, "be dimmed")
        level = max(1, of_percent(brightness, 0, self._scale))
        return self.publish("brightness_command_topic", level, "brightness_command_template")

    def _coloured(self, target: Entity, colour: str) -> OutgoingMessage:
        if self._has_temperature(colour):
            value = _white(self.config, colour)
            return self.publish("color_temp_command_topic", value, "color_temp_command_template")
        rgb = rgb_of(colour)
        for mode in _COLOUR_MODES:
            if rgb is not None and self.config.topic(f"{mode}_command_topic"):
                parts = _in_mode(mode, rgb)
                names = {"rgb": ("red", "green", "blue"), "hs": ("hue", "sat"), "xy": ("x", "y")}[mode]
                more = dict(zip(names, parts, strict=True))
                joined = ",".join(map(str, parts))
                return self.publish(f"{mode}_command_topic", joined, f"{mode}_command_template", **more)
        raise unsupported(target, "change its colour")


def _in_mode(mode: str, rgb: Rgb) -> tuple[float, ...]:
    match mode:
        case "hs":
            return to_hs(rgb)
        case "xy":
            return to_xy(rgb)
        case _:
            return rgb


def _as_rgb(red: float, green: float, blue: float) -> Rgb:
    return round(red), round(green), round(blue)


_TO_RGB: dict[str, Callable[..., Rgb]] = {"rgb": _as_rgb, "hs": from_hs, "xy": from_xy}


def _read_colour(to_rgb: Callable[..., Rgb]) -> Reader:
    def read(text: str) -> Values:
        parts = [float(part) for part in text.split(",")]
        return {"color": nearest_name(to_rgb(*parts))} if all(map(math.isfinite, parts)) else {}

    return read


class JsonLight(_Light):
    """A light with one JSON object for all values, as zigbee2mqtt and ESPHome use it."""

    state_template = ""  # the whole object is parsed

    def __init__(self, config: DiscoveryConfig) -> None:
        """Raises InvalidDiscovery."""
        super().__init__(config)
        offered = config.texts("supported_color_modes") or tuple(
            mode for mode in (*_COLOUR_MODES, "color_temp") if config.flag(mode)
        )
        # Lights with four or five channels accept three as well.
        self._colour_mode = next((mode for mode in _COLOUR_MODES for one in offered if one.rstrip("w") == mode), None)
        self._has_whites = "color_temp" in offered
        self._can_dim = config.flag("brightness") or bool(set(offered) - {"onoff"})
        self._scale = config.number("brightness_scale", 255)
        if self.reports:
            self.reports |= {"brightness"} if self._can_dim else set()
            self.reports |= {"color"} if self._colour_mode or self._has_whites else set()

    def read_state(self, text: str) -> Values:
        said = json.loads(text)
        if not isinstance(said, dict):
            return {}
        values: Values = {}
        if "state" in said:
            values |= states(self.reported | {"ON": "on", "OFF": "off"})(str(said["state"]))
        if isinstance(level := said.get("brightness"), int | float):
            values["brightness"] = percent(0, self._scale)(level)
        if colour := _reported_colour(said):
            values["color"] = colour
        return values

    def lit(self, target: Entity, brightness: int | None, colour: str | None) -> Command:
        if brightness == 0:
            return self.switched("off")
        wanted: dict[str, Any] = {"state": "ON"}
        if brightness is not None:
            if not self._can_dim:
                raise unsupported(target, "be dimmed")
            wanted["brightness"] = max(1, of_percent(brightness, 0, self._scale))
        if colour is not None:
            wanted |= self._coloured(target, colour)
        message = self.publish("command_topic", json.dumps(wanted))
        # Not every light reports its colour in the object.
        return self.as_lit((message,), brightness, colour, *(("state",) if colour else ()))

    def switched(self, state: str) -> Command:
        message = self.publish("command_topic", json.dumps({"state": state.upper()}))
        return Command((message,), {"state": state}, self.when(state=one_of(state)))

    def _coloured(self, target: Entity, colour: str) -> dict[str, Any]:
        if colour in WHITES and self._has_whites:
            return {"color_temp": _white(self.config, colour)}
        rgb = rgb_of(colour)
        if self._colour_mode is None or rgb is None:
            raise unsupported(target, "change its colour")
        parts = _in_mode(self._colour_mode, rgb)
        return {"color": dict(zip(self._colour_mode, parts, strict=True))}


def _reported_colour(said: dict[str, Any]) -> str | None:
    if said.get("color_mode") == "color_temp" or ("color_temp" in said and "color" not in said):
        return "white"
    colour = said.get("color")
    if not isinstance(colour, dict):
        return None
    for mode, to_rgb in _TO_RGB.items():
        parts = [colour.get(part) for part in mode]
        if all(isinstance(part, int | float) and math.isfinite(part) for part in parts):
            return nearest_name(to_rgb(*parts))
    return None

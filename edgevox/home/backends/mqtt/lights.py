"""MQTT lights, with a topic for each value or one JSON object for all."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from typing import Any

from edgevox.home.backends.mqtt import component
from edgevox.home.backends.mqtt.discovery import DiscoveryConfig
from edgevox.home.colours import Colour, Rgb, find_colour, from_hs, from_xy, nearest_name, to_hs, to_xy
from edgevox.home.entities import Attributes, Entity

_WITHIN = 2  # percent; a scale of 254 steps does not hit every percent


def _rounded(red: float, green: float, blue: float) -> Rgb:
    return round(red), round(green), round(blue)


# Colour modes in order of preference; each letter is a channel of the colour, in JSON too.
_TO_RGB: dict[str, Callable[..., Rgb]] = {"rgb": _rounded, "hs": from_hs, "xy": from_xy}
_FROM_RGB: dict[str, Callable[[Rgb], tuple[float, ...]]] = {"rgb": lambda rgb: rgb, "hs": to_hs, "xy": to_xy}
# The variables of a command template.
_VARIABLES = {"rgb": ("red", "green", "blue"), "hs": ("hue", "sat"), "xy": ("x", "y")}


class _Light(component.Component):
    can_dim: bool

    def __init__(self, config: DiscoveryConfig) -> None:
        """Raises InvalidDiscovery."""
        super().__init__(config, "command_topic")
        self.on, self.off = config.text("payload_on", "ON"), config.text("payload_off", "OFF")
        self.states = {config.text("state_on") or self.on: "on", config.text("state_off") or self.off: "off"}
        self.scale = config.number("brightness_scale", 255)
        self.commands |= {"turn_on": self._lit, "set_light": self._lit}

    def _lit(self, target: Entity, values: Attributes) -> component.Command:
        """The command for on, with optional brightness (0 is off) and colour. Raises HomeError."""
        brightness, spoken = values.get("brightness"), values.get("color")
        colour = None if spoken is None else find_colour(str(spoken))
        if brightness == 0:
            return self.commands["turn_off"](target, {})
        if brightness is not None and not self.can_dim:
            raise component.unsupported(target, "be dimmed")
        assumed: component.Values = {"state": "on"}
        expected = {"state": component.one_of("on")}
        if brightness is not None:
            assumed["brightness"] = brightness
            expected["brightness"] = component.about(brightness, within=_WITHIN)
        if colour is not None:
            assumed["color"] = colour.name
        news = () if colour is None else self.reported_with(colour)
        return component.Command(
            tuple(self.messages(target, brightness, colour)), assumed, self.when(*news, **expected)
        )

    def messages(
        self, target: Entity, brightness: int | None, colour: Colour | None
    ) -> Iterable[component.OutgoingMessage]:
        """The messages for on. Raises HomeError if the colour is unsupported."""
        raise NotImplementedError

    def reported_with(self, colour: Colour) -> tuple[str, ...]:
        """The values that must be reported anew: the reported colour never equals the one that was set."""
        raise NotImplementedError

    def level(self, brightness: int) -> int:
        """The brightness on the light's scale; a light that is on is never at 0."""
        return max(1, component.of_percent(brightness, 0, self.scale))

    def temperature(self, kelvin: int) -> int:
        """The colour temperature in the light's unit and range."""
        config = self.config
        if config.flag("color_temp_kelvin"):
            low, high = config.number("min_kelvin", 2000), config.number("max_kelvin", 6500)
            return round(min(high, max(low, kelvin)))
        low, high = config.number("min_mireds", 153), config.number("max_mireds", 500)
        return round(min(high, max(low, 1_000_000 / kelvin)))


class TopicLight(_Light):
    """A light with one topic per value (the default schema)."""

    def __init__(self, config: DiscoveryConfig) -> None:
        """Raises InvalidDiscovery."""
        super().__init__(config)
        self.can_dim = config.topic("brightness_command_topic") is not None
        self.sends(("turn_off",), self.off, "off")
        self.subscribe("state_topic", "state_value_template", component.states(self.states), "state")
        dim = component.numbers("brightness", component.percent(0, self.scale))
        self.subscribe("brightness_state_topic", "brightness_value_template", dim, "brightness")
        for mode, to_rgb in _TO_RGB.items():
            self.subscribe(f"{mode}_state_topic", f"{mode}_value_template", _read_colour(to_rgb), "color")

    def messages(
        self, target: Entity, brightness: int | None, colour: Colour | None
    ) -> Iterable[component.OutgoingMessage]:
        order = self.config.text("on_command_type", "last")
        on = self.publish("command_topic", self.on)
        if order == "brightness" and self.can_dim:
            brightness = brightness or target.attributes.get("brightness") or 100
        style: list[component.OutgoingMessage] = []
        if colour is not None:
            style.append(self._coloured(target, colour))
        if brightness is not None:
            style.append(
                self.publish("brightness_command_topic", self.level(brightness), "brightness_command_template")
            )
        if order == "brightness" and self.can_dim:
            return style
        return (on, *style) if order == "first" else (*style, on)

    def reported_with(self, colour: Colour) -> tuple[str, ...]:
        # A light that shows a white by its temperature reports no colour.
        return () if self._has_temperature(colour) else ("color",)

    def _has_temperature(self, colour: Colour) -> bool:
        return colour.kelvin is not None and self.config.topic("color_temp_command_topic") is not None

    def _coloured(self, target: Entity, colour: Colour) -> component.OutgoingMessage:
        if colour.kelvin is not None and self._has_temperature(colour):
            value = self.temperature(colour.kelvin)
            return self.publish("color_temp_command_topic", value, "color_temp_command_template")
        for mode, from_rgb in _FROM_RGB.items():
            if self.config.topic(f"{mode}_command_topic"):
                parts = from_rgb(colour.rgb)
                variables = dict(zip(_VARIABLES[mode], parts, strict=True))
                joined = ",".join(map(str, parts))
                return self.publish(f"{mode}_command_topic", joined, f"{mode}_command_template", **variables)
        raise component.unsupported(target, "change its colour")


def _read_colour(to_rgb: Callable[..., Rgb]) -> component.Reader:
    def read(text: str) -> component.Values:
        parts = [float(part) for part in text.split(",")]
        return {"color": nearest_name(to_rgb(*parts))} if all(map(math.isfinite, parts)) else {}

    return read


class JsonLight(_Light):
    """A light with one JSON object for all values, as zigbee2mqtt and ESPHome use it."""

    def __init__(self, config: DiscoveryConfig) -> None:
        """Raises InvalidDiscovery."""
        super().__init__(config)
        offered = config.texts("supported_color_modes") or tuple(
            mode for mode in (*_TO_RGB, "color_temp") if config.flag(mode)
        )
        # Lights with four or five channels accept three as well.
        self._colour_mode = next((mode for mode in _TO_RGB for one in offered if one.rstrip("w") == mode), None)
        self._has_whites = "color_temp" in offered
        self.can_dim = config.flag("brightness") or bool(set(offered) - {"onoff"})
        self.sends(("turn_off",), json.dumps({"state": "OFF"}), "off", template="")
        has_colour = self._colour_mode is not None or self._has_whites
        reports = ("state", *(["brightness"] if self.can_dim else []), *(["color"] if has_colour else []))
        self.subscribe("state_topic", "", self._read, *reports)  # no template: the whole object is parsed

    def _read(self, text: str) -> component.Values:
        report = json.loads(text)
        values: component.Values = {}
        if "state" in report:
            values |= component.states(self.states | {"ON": "on", "OFF": "off"})(str(report["state"]))
        if isinstance(level := report.get("brightness"), int | float):
            values["brightness"] = component.percent(0, self.scale)(level)
        if colour := _reported_colour(report):
            values["color"] = colour
        return values

    def messages(
        self, target: Entity, brightness: int | None, colour: Colour | None
    ) -> Iterable[component.OutgoingMessage]:
        wanted: dict[str, Any] = {"state": "ON"}
        if brightness is not None:
            wanted["brightness"] = self.level(brightness)
        if colour is not None:
            wanted |= self._coloured(target, colour)
        return (self.publish("command_topic", json.dumps(wanted)),)

    def reported_with(self, colour: Colour) -> tuple[str, ...]:
        return ("state",)  # not every light reports its colour in the object

    def _coloured(self, target: Entity, colour: Colour) -> dict[str, Any]:
        if colour.kelvin is not None and self._has_whites:
            return {"color_temp": self.temperature(colour.kelvin)}
        if self._colour_mode is None:
            raise component.unsupported(target, "change its colour")
        parts = _FROM_RGB[self._colour_mode](colour.rgb)
        return {"color": dict(zip(self._colour_mode, parts, strict=True))}


def _reported_colour(report: dict[str, Any]) -> str | None:
    if report.get("color_mode") == "color_temp" or ("color_temp" in report and "color" not in report):
        return "white"
    colour = report.get("color")
    if not isinstance(colour, dict):
        return None
    for mode, to_rgb in _TO_RGB.items():
        parts = [colour.get(part) for part in mode]
        if all(isinstance(part, int | float) and math.isfinite(part) for part in parts):
            return nearest_name(to_rgb(*parts))
    return None

"""MQTT components for climate: fans, thermostats and air conditioners."""

from __future__ import annotations

from edgevox.home.backends.mqtt.component import (
    Command,
    Component,
    Values,
    about,
    numbers,
    of_percent,
    one_of,
    percent,
    unsupported,
)
from edgevox.home.backends.mqtt.discovery import DiscoveryConfig
from edgevox.home.backends.mqtt.switches import Switch
from edgevox.home.entities import Action, Entity, HomeError
from edgevox.home.phrasing import number, sentence, the


class Fan(Switch):
    state_template = "state_value_template"

    def __init__(self, config: DiscoveryConfig) -> None:
        """Raises InvalidDiscovery."""
        super().__init__(config)
        # The range begins with the slowest speed; below it is off.
        self._low = config.number("speed_range_min", 1) - 1
        self._high = config.number("speed_range_max", 100)
        read = numbers("percentage", percent(self._low, self._high))
        self.subscribe("percentage_state_topic", "percentage_value_template", read, "percentage")

    def command(self, target: Entity, action: Action) -> Command:
        if action.verb != "set_speed":
            return super().command(target, action)
        wanted = int(action.values["percentage"])
        if self.config.topic("percentage_command_topic") is None:
            raise unsupported(target, "change its speed")
        if wanted == 0:
            return self.switched("off")
        speed = max(1, of_percent(wanted, self._low, self._high))
        on = () if target.state == "on" else self.switched("on").messages
        set_speed = self.publish("percentage_command_topic", speed, "percentage_command_template")
        assumed: Values = {"state": "on", "percentage": wanted}
        step = 100 / max(1.0, self._high - self._low)
        is_done = self.when(state=one_of("on"), percentage=about(wanted, within=step / 2 + 1))
        return Command((*on, set_speed), assumed, is_done)


_MODES = ("auto", "off", "cool", "heat", "dry", "fan_only", "heat_cool")
# The modes for "on", in order of preference.
_ON_MODES = ("heat", "heat_cool", "auto", "cool", "dry", "fan_only")
_RANGE_C = (7.0, 35.0)
_RANGE_F = (45.0, 95.0)


class Climate(Component):
    """A climate device; its state is its mode."""

    def __init__(self, config: DiscoveryConfig) -> None:
        """Raises InvalidDiscovery."""
        super().__init__(config)
        self._modes = config.texts("modes") or _MODES
        is_fahrenheit = config.text("temperature_unit", "C").upper() == "F"
        low, high = _RANGE_F if is_fahrenheit else _RANGE_C
        self.low, self.high = config.number("min_temp", low), config.number("max_temp", high)
        self.unit = "°F" if is_fahrenheit else "°C"
        self.subscribe("mode_state_topic", "mode_state_template", self._read_mode, "state")
        self.subscribe("temperature_state_topic", "temperature_state_template", numbers("temperature"), "temperature")
        self.subscribe(
            "current_temperature_topic",
            "current_temperature_template",
            numbers("current_temperature"),
            "current_temperature",
        )
        self.subscribe(
            "current_humidity_topic", "current_humidity_template", numbers("current_humidity"), "current_humidity"
        )

    @property
    def initial_values(self) -> Values:
        return {"min_temp": self.low, "max_temp": self.high, "unit": self.unit}

    def _read_mode(self, text: str) -> Values:
        return {"state": text} if text in _MODES else {}

    def command(self, target: Entity, action: Action) -> Command:
        match action.verb:
            case "turn_on":
                return self._switched(target, on=True)
            case "turn_off":
                return self._switched(target, on=False)
            case "set_temperature":
                return self._tempered(target, float(action.values["temperature"]))
            case _:
                raise unsupported(target)

    def _switched(self, target: Entity, *, on: bool) -> Command:
        is_on_already = on and target.state in _ON_MODES
        ways = [mode for mode in _ON_MODES if mode in self._modes] if on else ["off"]
        mode = target.state if is_on_already else ways[0] if ways else ""
        if self.config.topic("power_command_topic"):
            payload = self.config.text("payload_on", "ON") if on else self.config.text("payload_off", "OFF")
            message = self.publish("power_command_topic", payload, "power_command_template")
            wanted = one_of(*_ON_MODES) if on else one_of("off")
        elif self.config.topic("mode_command_topic") and mode in self._modes:
            message = self.publish("mode_command_topic", mode, "mode_command_template")
            wanted = one_of(mode)
        else:
            raise unsupported(target, f"be turned {'on' if on else 'off'}")
        return Command((message,), {"state": mode or "heat"}, self.when(state=wanted))

    def _tempered(self, target: Entity, temperature: float) -> Command:
        if self.config.topic("temperature_command_topic") is None:
            raise unsupported(target, "be set to a temperature")
        if not self.low <= temperature <= self.high:
            raise HomeError(sentence(f"{the(target)} goes from {number(self.low)} to {number(self.high)} degrees"))
        message = self.publish("temperature_command_topic", temperature, "temperature_command_template")
        step = self.config.number("temp_step", 0.5)
        is_done = self.when(temperature=about(temperature, within=step / 2 + 0.01))
        return Command((message,), {"temperature": temperature}, is_done)

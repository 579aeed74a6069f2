"""The MQTT components by name: sensors, switches, locks, alarm panels, robots, fans, thermostats, covers and valves."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from edgevox.home.backends.mqtt import component
from edgevox.home.backends.mqtt.discovery import DiscoveryConfig, InvalidDiscovery
from edgevox.home.backends.mqtt.lights import JsonLight, TopicLight
from edgevox.home.entities import Attributes, Entity, HomeError, Verb
from edgevox.home.phrasing import number, sentence, the

_MAX_STATE_CHARS = 255
_NEEDS_CODE = "needs a code, and I know none"
_ARMED = ("armed_away", "armed_home", "armed_night", "armed_vacation", "armed_custom_bypass")


def _sensor(config: DiscoveryConfig) -> component.Component:
    """A number or text, with an optional unit."""
    device = component.Component(config, "state_topic")
    unknown = component.states({})
    device.subscribe(
        "state_topic", "value_template", lambda text: unknown(text) or {"state": text[:_MAX_STATE_CHARS]}, "state"
    )
    return device


def _binary_sensor(config: DiscoveryConfig) -> component.Component:
    device = component.Component(config, "state_topic")
    reported = {config.text("payload_on", "ON"): "on", config.text("payload_off", "OFF"): "off"}
    device.subscribe("state_topic", "value_template", component.states(reported), "state")
    return device


def _button(config: DiscoveryConfig, payload: str) -> component.Component:
    """Scenes and buttons: a command without a state."""
    device = component.Component(config, "command_topic")
    device.sends(("turn_on",), payload)
    device.refuses(("turn_off",), "cannot be turned off")
    return device


def _switch(
    config: DiscoveryConfig, template: str = "value_template", parse: Callable[[str], str] | None = None
) -> component.Component:
    """An on/off device; `parse` finds the state in a message."""
    device = component.Component(config, "command_topic")
    on, off = config.text("payload_on", "ON"), config.text("payload_off", "OFF")
    reported = {config.text("state_on") or on: "on", config.text("state_off") or off: "off"}

    def read(text: str) -> component.Values:
        return component.states(reported)(text if parse is None or text in reported else parse(text))

    device.subscribe("state_topic", template, read, "state")
    device.sends(("turn_on",), on, "on")
    device.sends(("turn_off",), off, "off")
    return device


def _siren(config: DiscoveryConfig) -> component.Component:
    """A switch whose messages may be JSON objects with a state."""
    device = _switch(config, "state_value_template", lambda text: str(json.loads(text)["state"]))
    verbs: Mapping[Verb, str] = {"turn_on": "on", "turn_off": "off"}
    for verb, state in verbs.items():
        payload = config.text(f"payload_{state}", state.upper())
        has_own = state == "off" and config.has("command_off_template")
        template = "command_off_template" if has_own else "command_template"
        if not config.has(template):
            payload = json.dumps({"state": payload})
        device.sends((verb,), payload, state, template=template, state=payload)
    return device


def _humidifier(config: DiscoveryConfig) -> component.Component:
    device = _switch(config, "state_value_template")
    _subscribe_number(device, "current_humidity")
    read = component.numbers("humidity")
    device.subscribe("target_humidity_state_topic", "target_humidity_state_template", read, "humidity")

    def set_humidity(target: Entity, values: Attributes) -> component.Command:
        humidity = int(values["humidity"])
        if config.topic("target_humidity_command_topic") is None:
            raise component.unsupported(target, "be set to a humidity")
        low, high = config.number("min_humidity", 0), config.number("max_humidity", 100)
        if not low <= humidity <= high:
            raise HomeError(sentence(f"{the(target)} goes from {number(low)} to {number(high)} percent"))
        message = device.publish("target_humidity_command_topic", humidity, "target_humidity_command_template")
        return component.Command(
            (message,), {"humidity": humidity}, device.when(humidity=component.about(humidity, within=1))
        )

    device.commands["set_humidity"] = set_humidity
    return device


def _number(config: DiscoveryConfig) -> component.Component:
    """A number in a range; its state is its value."""
    device = component.Component(config, "command_topic")
    low, high = config.number("min", 1), config.number("max", 100)
    device.initial_values = {"min": low, "max": high}
    device.subscribe("state_topic", "value_template", lambda text: {"state": number(float(text))}, "state")

    def set_number(target: Entity, values: Attributes) -> component.Command:
        value = float(values["value"])
        if not low <= value <= high:
            raise HomeError(sentence(f"{the(target)} goes from {number(low)} to {number(high)}"))
        plain: float = int(value) if value.is_integer() else value
        message = device.publish("command_topic", plain, "command_template")
        state = number(value)
        return component.Command((message,), {"state": state}, device.when(state=component.one_of(state)))

    device.commands["set_number"] = set_number
    return device


def _subscribe_number(device: component.Component, name: str) -> None:
    device.subscribe(f"{name}_topic", f"{name}_template", component.numbers(name), name)


def _lock(config: DiscoveryConfig) -> component.Component:
    """A lock; it counts as locked when it reports so, not while it turns."""
    device = component.Component(config, "command_topic")
    known = ("locked", "unlocked", "locking", "unlocking", "jammed")
    reported = {config.text(f"state_{state}", state.upper()): state for state in known}
    device.subscribe("state_topic", "value_template", component.states(reported), "state")
    device.sends(("turn_on",), config.text("payload_lock", "LOCK"), "locked", code="")
    device.sends(("turn_off",), config.text("payload_unlock", "UNLOCK"), "unlocked", code="")
    if config.has("code_format"):
        device.refuses(("turn_on", "turn_off"), _NEEDS_CODE)
    return device


def _alarm_panel(config: DiscoveryConfig) -> component.Component:
    """An alarm panel; arms in away mode if supported, and is "arming" while it counts down."""
    device = component.Component(config, "command_topic")
    known = (*_ARMED, "disarmed", "arming", "disarming", "pending", "triggered")
    device.subscribe("state_topic", "value_template", component.plain_states(*known), "state")
    offered = config.texts("supported_features")
    ways = [armed.removeprefix("armed_") for armed in _ARMED]
    default = next((way for way in ways if not offered or f"arm_{way}" in offered), "away")

    def arm(target: Entity, values: Attributes) -> component.Command:
        mode, code = str(values["mode"]), str(values.get("code") or "")
        is_off, own_code = mode == "disarmed", config.text("code")
        if own_code and config.flag(f"code_{'disarm' if is_off else 'arm'}_required", default=True):
            if not code:
                raise HomeError(sentence(f"{the(target)} {_NEEDS_CODE}"))
            if not own_code.startswith("REMOTE_CODE") and code != own_code:
                raise HomeError(sentence(f"that is not the code of {the(target)}"))
        if not is_off and offered and f"arm_{mode}" not in offered:
            raise component.unsupported(target, f"be armed for {mode}")
        way = "disarm" if is_off else f"arm_{mode}"
        payload = config.text(f"payload_{way}", way.upper())
        message = device.publish("command_topic", payload, "command_template", action=payload, code=code)
        states = ("disarmed",) if is_off else (f"armed_{mode}", *_ARMED, "arming")
        return component.Command((message,), {"state": states[0]}, device.when(state=component.one_of(*states)))

    device.commands = {
        "arm": arm,
        "turn_on": lambda target, values: arm(target, {**values, "mode": default}),
        "turn_off": lambda target, values: arm(target, {**values, "mode": "disarmed"}),
    }
    return device


def _vacuum(config: DiscoveryConfig) -> component.Component:
    """A vacuum, which reports in one JSON object."""
    device = component.Component(config)
    read_state = component.plain_states("cleaning", "docked", "paused", "idle", "returning", "error")

    def read(text: str) -> component.Values:
        report = json.loads(text)
        values = read_state(report.get("state"))
        if isinstance(battery := report.get("battery_level"), int | float):
            values["battery"] = battery
        return values

    device.subscribe("state_topic", "value_template", read, "state")
    device.sends(("turn_on", "start"), config.text("payload_start", "start"), "cleaning", template="")
    home = config.text("payload_return_to_base", "return_to_base")
    device.sends(("turn_off", "dock"), home, "returning", "docked", template="")
    device.sends(("pause",), config.text("payload_pause", "pause"), "paused", "idle", template="")
    if "pause" not in (config.texts("supported_features") or ("pause",)):
        device.refuses(("pause",), "cannot be paused")
    device.refuses(("clean_area",), "cannot be sent to one room")
    return device


def _lawn_mower(config: DiscoveryConfig) -> component.Component:
    device = component.Component(config)
    known = component.plain_states("mowing", "docked", "paused", "returning", "error")
    device.subscribe("activity_state_topic", "activity_value_template", known, "state")

    def sends(command: str, *verbs: Verb, done: tuple[str, ...]) -> None:
        device.sends(verbs, command, *done, topic=f"{command}_command_topic", template=f"{command}_command_template")

    sends("start_mowing", "turn_on", "start", done=("mowing",))
    sends("pause", "pause", done=("paused",))
    sends("dock", "turn_off", "dock", done=("returning", "docked"))
    return device


def _fan(config: DiscoveryConfig) -> component.Component:
    device = _switch(config, "state_value_template")
    # The range begins with the slowest speed; below it is off.
    low, high = config.number("speed_range_min", 1) - 1, config.number("speed_range_max", 100)
    read = component.numbers("percentage", component.percent(low, high))
    device.subscribe("percentage_state_topic", "percentage_value_template", read, "percentage")

    def set_speed(target: Entity, values: Attributes) -> component.Command:
        wanted = int(values["percentage"])
        if config.topic("percentage_command_topic") is None:
            raise component.unsupported(target, "change its speed")
        if wanted == 0:
            return device.commands["turn_off"](target, {})
        on = () if target.state == "on" else device.commands["turn_on"](target, {}).messages
        speed = max(1, component.of_percent(wanted, low, high))
        message = device.publish("percentage_command_topic", speed, "percentage_command_template")
        step = 100 / max(1.0, high - low)
        is_done = device.when(state=component.one_of("on"), percentage=component.about(wanted, within=step / 2 + 1))
        return component.Command((*on, message), {"state": "on", "percentage": wanted}, is_done)

    device.commands["set_speed"] = set_speed
    return device


_MODES = ("auto", "off", "cool", "heat", "dry", "fan_only", "heat_cool")
# The modes for "on", in order of preference.
_ON_MODES = ("heat", "heat_cool", "auto", "cool", "dry", "fan_only")


def _climate(config: DiscoveryConfig) -> component.Component:
    """A climate device; its state is its mode."""
    device = component.Component(config)
    is_fahrenheit = config.text("temperature_unit", "C").upper() == "F"
    low, high = (45.0, 95.0) if is_fahrenheit else (7.0, 35.0)
    low, high = config.number("min_temp", low), config.number("max_temp", high)
    device.initial_values = {"min_temp": low, "max_temp": high, "unit": "°F" if is_fahrenheit else "°C"}
    device.subscribe("mode_state_topic", "mode_state_template", component.plain_states(*_MODES), "state")
    device.subscribe(
        "temperature_state_topic", "temperature_state_template", component.numbers("temperature"), "temperature"
    )
    _subscribe_number(device, "current_temperature")
    _subscribe_number(device, "current_humidity")
    modes = (config.texts("modes") or _MODES) if config.topic("mode_command_topic") else ()

    def switch(target: Entity, state: str) -> component.Command:
        possible = _ON_MODES if state == "on" else ("off",)
        mode = target.state if target.state in possible else next((one for one in possible if one in modes), "")
        if config.topic("power_command_topic"):
            payload = config.text(f"payload_{state}", state.upper())
            message = device.publish("power_command_topic", payload, "power_command_template")
            is_done = device.when(state=component.one_of(*possible))
        elif config.topic("mode_command_topic") and mode in modes:
            message = device.publish("mode_command_topic", mode, "mode_command_template")
            is_done = device.when(state=component.one_of(mode))
        else:
            raise component.unsupported(target, f"be turned {state}")
        return component.Command((message,), {"state": mode or possible[0]}, is_done)

    def set_temperature(target: Entity, values: Attributes) -> component.Command:
        temperature = float(values["temperature"])
        if config.topic("temperature_command_topic") is None:
            raise component.unsupported(target, "be set to a temperature")
        if not low <= temperature <= high:
            raise HomeError(sentence(f"{the(target)} goes from {number(low)} to {number(high)} degrees"))
        message = device.publish("temperature_command_topic", temperature, "temperature_command_template")
        step = config.number("temp_step", 0.5)
        is_done = device.when(temperature=component.about(temperature, within=step / 2 + 0.01))
        return component.Command((message,), {"temperature": temperature}, is_done)

    presets = config.texts("preset_modes") if config.topic("preset_mode_command_topic") else ()
    device.initial_values |= {"modes": tuple(modes), "presets": tuple(presets)}
    device.subscribe("preset_mode_state_topic", "preset_mode_value_template", lambda text: {"preset": text}, "preset")

    def set_mode(target: Entity, values: Attributes) -> component.Command:
        mode = str(values["mode"])
        name, topic = ("preset", "preset_mode_command") if mode in presets else ("state", "mode_command")
        if config.topic(f"{topic}_topic") is None or mode not in (*presets, *modes):
            raise component.unsupported(target, f"be set to {mode}")
        message = device.publish(f"{topic}_topic", mode, f"{topic}_template")
        return component.Command((message,), {name: mode}, device.when(**{name: component.one_of(mode)}))

    device.commands = {
        "turn_on": lambda target, values: switch(target, "on"),
        "turn_off": lambda target, values: switch(target, "off"),
        "set_temperature": set_temperature,
        "set_mode": set_mode,
    }
    return device


def _select(config: DiscoveryConfig) -> component.Component:
    """A choice of options; its state is the chosen one."""
    device = component.Component(config, "command_topic")
    options = config.texts("options")
    device.initial_values = {"options": tuple(options)}
    device.subscribe("state_topic", "value_template", component.plain_states(*dict.fromkeys(options)), "state")

    def select(target: Entity, values: Attributes) -> component.Command:
        option = str(values["option"])
        message = device.publish("command_topic", option, "command_template")
        return component.Command((message,), {"state": option}, device.when(state=component.one_of(option)))

    device.commands["select_option"] = select
    return device


_WITHIN = 3  # percent; motors do not stop exactly


class _Positioned(component.Component):
    """A component that opens and closes. A command is done once it starts to move, not when it arrives."""

    def __init__(self, config: DiscoveryConfig, *needed_topics: str) -> None:
        super().__init__(config, *needed_topics)
        self._open, self._closed = config.number("position_open", 100), config.number("position_closed", 0)
        self.stop_payload = config.text("payload_stop")
        self._names = {
            config.text(f"state_{state}", state): state for state in ("open", "closed", "opening", "closing")
        }
        self.commands = {
            "turn_on": lambda target, values: self.moved(target, 100),
            "turn_off": lambda target, values: self.moved(target, 0),
            "set_position": lambda target, values: self.moved(target, int(values["position"])),
            "stop": lambda target, values: self.stopped(target),
        }

    def moved(self, target: Entity, position: int) -> component.Command:
        message = self.message(target, position)
        if self.is_optimistic or self.reports.isdisjoint({"state", "position"}):
            return component.Command((message,), {"state": "open" if position else "closed", "position": position})
        way = _Movement(target, position, has_position="position" in self.reports)
        return component.Command((message,), {}, way.is_begun, way.state)

    def stopped(self, target: Entity) -> component.Command:
        """The command to stay where it is. Raises HomeError."""
        if not self.stop_payload or self.config.topic("command_topic") is None:
            raise component.unsupported(target, "be stopped half way")
        assumed = {"state": "closed" if target.attributes.get("position") == 0 else "open"}
        return component.Command((self.publish("command_topic", self.stop_payload),), assumed)

    def message(self, target: Entity, position: int) -> component.OutgoingMessage:
        """Raises HomeError."""
        raise NotImplementedError

    def end(self, position: int) -> str:
        """The command to open or close fully."""
        return self.config.text("payload_open", "OPEN") if position else self.config.text("payload_close", "CLOSE")

    def own_position(self, position: int) -> int:
        return component.of_percent(position, self._closed, self._open)

    def read_position(self, number: float) -> component.Values:
        position = component.percent(self._closed, self._open)(number)
        return {"position": position, "state": "open" if position else "closed"}


class _Movement:
    """A movement from the current to the target position."""

    def __init__(self, target: Entity, position: int, *, has_position: bool) -> None:
        self._before: float | None = target.attributes.get("position")
        self._wanted = position
        self._has_position = has_position
        is_opening = position > (50 if self._before is None or not has_position else self._before)
        self._moving, self._end = ("opening", "open") if is_opening else ("closing", "closed")

    def is_begun(self, entity: Entity, news: frozenset[str]) -> bool:
        """At the target, or moving towards it."""
        if entity.state == self._moving or self._is_there(entity):
            return True
        now = entity.attributes.get("position")
        if now is None or self._before is None:
            self._before = now
            return False
        return bool(abs(now - self._wanted) < abs(self._before - self._wanted))

    def state(self, entity: Entity) -> str:
        """The state for the answer: a cover that stops at 1 percent counts as closed."""
        if not self._is_there(entity):
            return self._moving
        return "open" if self._wanted else "closed"

    def _is_there(self, entity: Entity) -> bool:
        if not self._has_position:
            return entity.state == self._end
        now = entity.attributes.get("position")
        return now is not None and abs(now - self._wanted) <= _WITHIN


class _Cover(_Positioned):
    """A cover, with or without tilt."""

    def __init__(self, config: DiscoveryConfig) -> None:
        super().__init__(config)
        # null: it cannot be stopped
        is_unstoppable = config.mentions("payload_stop") and not config.has("payload_stop")
        self.stop_payload = "" if is_unstoppable else config.text("payload_stop", "STOP")
        self._tilt = config.number("tilt_min", 0), config.number("tilt_max", 100)
        self._names = {config.text("state_stopped", "stopped"): "open", **self._names}
        self.subscribe("state_topic", "value_template", component.states(self._names), "state")
        self.subscribe("position_topic", "position_template", self._read_position, "state", "position")
        self.subscribe(
            "tilt_status_topic",
            "tilt_status_template",
            component.numbers("tilt", component.percent(*self._tilt)),
            "tilt",
        )

    def _read_position(self, text: str) -> component.Values:
        values = self.read_position(float(text))
        return {"position": values["position"]} if self.config.topic("state_topic") else values

    def moved(self, target: Entity, position: int) -> component.Command:
        if self.config.topic("command_topic") or self.config.topic("set_position_topic"):
            return super().moved(target, position)
        value = component.of_percent(position, *self._tilt)
        message = self.publish("tilt_command_topic", value, "tilt_command_template", tilt_position=value)
        return component.Command((message,), {"tilt": position}, self.when("tilt"))

    def message(self, target: Entity, position: int) -> component.OutgoingMessage:
        if position in (0, 100) and self.config.topic("command_topic"):
            return self.publish("command_topic", self.end(position))
        if self.config.topic("set_position_topic") is None:
            raise component.unsupported(target, "stop half way")
        value = self.own_position(position)
        return self.publish("set_position_topic", value, "set_position_template", position=value)


class _Valve(_Positioned):
    """A valve, which reports its state, its position, or both in one object."""

    def __init__(self, config: DiscoveryConfig) -> None:
        super().__init__(config, "command_topic")
        self._has_position = config.flag("reports_position")
        reported = ("state", "position") if self._has_position else ("state",)
        self.subscribe("state_topic", "value_template", self._read, *reported)

    def _read(self, text: str) -> component.Values:
        if text in self._names:
            return {"state": self._names[text]}
        report = json.loads(text)
        parts = report if isinstance(report, dict) else {"position": report}
        position, state = parts.get("position"), str(parts.get("state"))
        values = self.read_position(position) if isinstance(position, int | float) else {}
        return values | ({"state": self._names[state]} if state in self._names else {})

    def message(self, target: Entity, position: int) -> component.OutgoingMessage:
        if not self._has_position and position not in (0, 100):
            raise component.unsupported(target, "stop half way")
        value: object = self.own_position(position) if self._has_position else self.end(position)
        return self.publish("command_topic", value, "command_template")


def _light(config: DiscoveryConfig) -> component.Component:
    match config.text("schema", "basic"):
        case "json":
            return JsonLight(config)
        case "basic" | "default":
            return TopicLight(config)
        case other:
            raise InvalidDiscovery(f"schema {other}")


COMPONENTS: Mapping[str, Callable[[DiscoveryConfig], component.Component]] = {
    "alarm_control_panel": _alarm_panel,
    "binary_sensor": _binary_sensor,
    "button": lambda config: _button(config, config.text("payload_press", "PRESS")),
    "climate": _climate,
    "cover": _Cover,
    "fan": _fan,
    "humidifier": _humidifier,
    "lawn_mower": _lawn_mower,
    "light": _light,
    "lock": _lock,
    "number": _number,
    "select": _select,
    "scene": lambda config: _button(config, config.text("payload_on", "ON")),
    "sensor": _sensor,
    "siren": _siren,
    "switch": _switch,
    "vacuum": _vacuum,
    "valve": _Valve,
}
"""Makes a component of its discovery message. Each raises InvalidDiscovery."""

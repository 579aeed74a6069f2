"""MQTT components with a few discrete states: switches, locks, alarm panels, robots, scenes."""

from __future__ import annotations

import json

from edgevox.home.backends.mqtt.component import (
    Command,
    Component,
    OutgoingMessage,
    Values,
    numbers,
    one_of,
    states,
    unsupported,
)
from edgevox.home.backends.mqtt.discovery import DiscoveryConfig
from edgevox.home.entities import Action, Entity, HomeError
from edgevox.home.phrasing import sentence, the


class Switch(Component):
    """Switches, humidifiers and other on/off devices."""

    state_template = "value_template"

    def __init__(self, config: DiscoveryConfig) -> None:
        """Raises InvalidDiscovery."""
        super().__init__(config)
        config.needed_topic("command_topic")
        self.payloads = {"on": config.text("payload_on", "ON"), "off": config.text("payload_off", "OFF")}
        self.reported = {
            config.text("state_on") or self.payloads["on"]: "on",
            config.text("state_off") or self.payloads["off"]: "off",
        }
        self.subscribe("state_topic", self.state_template, self.read_state, "state")

    def read_state(self, text: str) -> Values:
        return states(self.reported)(text)

    def command(self, target: Entity, action: Action) -> Command:
        match action.verb:
            case "turn_on":
                return self.switched("on")
            case "turn_off":
                return self.switched("off")
            case _:
                raise unsupported(target)

    def switched(self, state: str) -> Command:
        message = self.publish("command_topic", self.payloads[state], "command_template")
        return Command((message,), {"state": state}, self.when(state=one_of(state)))


class Humidifier(Switch):
    state_template = "state_value_template"

    def __init__(self, config: DiscoveryConfig) -> None:
        """Raises InvalidDiscovery."""
        super().__init__(config)
        self.subscribe(
            "current_humidity_topic", "current_humidity_template", numbers("current_humidity"), "current_humidity"
        )


class Siren(Switch):
    """A switch whose messages may be JSON objects with a state."""

    state_template = "state_value_template"

    def read_state(self, text: str) -> Values:
        if text in self.reported:
            return super().read_state(text)
        said = json.loads(text)
        return super().read_state(str(said["state"])) if isinstance(said, dict) and "state" in said else {}

    def switched(self, state: str) -> Command:
        payload = self.payloads[state]
        own = "command_off_template" if state == "off" and self.config.has("command_off_template") else None
        if own is None and not self.config.has("command_template"):
            payload = json.dumps({"state": payload})
        message = self.publish("command_topic", payload, own or "command_template", state=payload)
        return Command((message,), {"state": state}, self.when(state=one_of(state)))


class Button(Component):
    """Scenes and buttons: a command without a state."""

    def __init__(self, config: DiscoveryConfig, payload_key: str, payload: str) -> None:
        """Raises InvalidDiscovery."""
        super().__init__(config)
        config.needed_topic("command_topic")
        self._payload = config.text(payload_key, payload)

    def command(self, target: Entity, action: Action) -> Command:
        if action.verb != "turn_on":
            raise unsupported(target, "be turned off")
        return Command((self.publish("command_topic", self._payload, "command_template"),), {})


class Lock(Component):
    """A lock; it counts as locked when it reports so, not while it turns."""

    def __init__(self, config: DiscoveryConfig) -> None:
        """Raises InvalidDiscovery."""
        super().__init__(config)
        config.needed_topic("command_topic")
        reported = {
            config.text(f"state_{state}", state.upper()): state
            for state in ("locked", "unlocked", "locking", "unlocking", "jammed")
        }
        self.subscribe("state_topic", "value_template", states(reported), "state")

    def command(self, target: Entity, action: Action) -> Command:
        match action.verb:
            case "turn_on":
                payload, state = self.config.text("payload_lock", "LOCK"), "locked"
            case "turn_off":
                payload, state = self.config.text("payload_unlock", "UNLOCK"), "unlocked"
            case _:
                raise unsupported(target)
        if self.config.has("code_format"):
            raise needs_code(target)
        message = self.publish("command_topic", payload, "command_template", code="")
        return Command((message,), {"state": state}, self.when(state=one_of(state)))


_ARMED = ("armed_away", "armed_home", "armed_night", "armed_vacation", "armed_custom_bypass")


class AlarmPanel(Component):
    """An alarm panel; arms in away mode if supported, and is "arming" while it counts down."""

    def __init__(self, config: DiscoveryConfig) -> None:
        """Raises InvalidDiscovery."""
        super().__init__(config)
        config.needed_topic("command_topic")
        known = (*_ARMED, "disarmed", "arming", "disarming", "pending", "triggered")
        self.subscribe("state_topic", "value_template", states({state: state for state in known}), "state")
        offered = config.texts("supported_features")
        ways = [state for state in _ARMED if not offered or f"arm_{state.removeprefix('armed_')}" in offered]
        self._armed = ways[0] if ways else ""

    def command(self, target: Entity, action: Action) -> Command:
        match action.verb:
            case "turn_on" if self._armed:
                state, needed = self._armed, "code_arm_required"
                way = state.removeprefix("armed_")
                payload = self.config.text(f"payload_arm_{way}", f"ARM_{way.upper()}")
                wanted = one_of(*_ARMED, "arming")
            case "turn_off":
                state, needed = "disarmed", "code_disarm_required"
                payload = self.config.text("payload_disarm", "DISARM")
                wanted = one_of(state)
            case _:
                raise unsupported(target)
        if self.config.has("code") and self.config.flag(needed, default=True):
            raise needs_code(target)
        message = self.publish("command_topic", payload, "command_template", action=payload, code="")
        return Command((message,), {"state": state}, self.when(state=wanted))


def needs_code(target: Entity) -> HomeError:
    return HomeError(sentence(f"{the(target)} needs a code, and I know none"))


class Vacuum(Component):
    """A vacuum, which reports in one JSON object."""

    def __init__(self, config: DiscoveryConfig) -> None:
        """Raises InvalidDiscovery."""
        super().__init__(config)
        self.subscribe("state_topic", "value_template", _read_vacuum, "state")

    def command(self, target: Entity, action: Action) -> Command:
        match action.verb:
            case "turn_on" | "start":
                payload, state = self.config.text("payload_start", "start"), "cleaning"
                wanted = one_of("cleaning")
            case "turn_off" | "dock":
                payload, state = self.config.text("payload_return_to_base", "return_to_base"), "returning"
                wanted = one_of("returning", "docked")
            case "clean_area":
                raise unsupported(target, "be sent to one room")
            case _:
                raise unsupported(target)
        return Command((self.publish("command_topic", payload),), {"state": state}, self.when(state=wanted))


def _read_vacuum(text: str) -> Values:
    said = json.loads(text)
    if not isinstance(said, dict):
        return {}
    values: Values = {}
    if said.get("state") in ("cleaning", "docked", "paused", "idle", "returning", "error"):
        values["state"] = said["state"]
    if isinstance(battery := said.get("battery_level"), int | float):
        values["battery"] = battery
    return values


class LawnMower(Component):
    def __init__(self, config: DiscoveryConfig) -> None:
        """Raises InvalidDiscovery."""
        super().__init__(config)
        known = ("mowing", "docked", "paused", "returning", "error")
        self.subscribe(
            "activity_state_topic", "activity_value_template", states({state: state for state in known}), "state"
        )

    def command(self, target: Entity, action: Action) -> Command:
        match action.verb:
            case "turn_on" | "start":
                return self._sent(target, "start_mowing", "mowing", "mowing")
            case "turn_off" | "dock":
                return self._sent(target, "dock", "returning", "returning", "docked")
            case _:
                raise unsupported(target)

    def _sent(self, target: Entity, command: str, assumed: str, *wanted: str) -> Command:
        if self.config.topic(f"{command}_command_topic") is None:
            raise unsupported(target)
        message: OutgoingMessage = self.publish(f"{command}_command_topic", command, f"{command}_command_template")
        return Command((message,), {"state": assumed}, self.when(state=one_of(*wanted)))

"""MQTT components with a position: blinds, curtains, garage doors and valves."""

from __future__ import annotations

import json

from edgevox.home.backends.mqtt.component import (
    Command,
    Component,
    OutgoingMessage,
    Values,
    numbers,
    of_percent,
    percent,
    unsupported,
)
from edgevox.home.backends.mqtt.discovery import DiscoveryConfig
from edgevox.home.entities import Action, Entity

_WITHIN = 3  # percent; motors do not stop exactly


class PositionedComponent(Component):
    """A component that opens and closes. A command is done once it starts to move, not when it arrives."""

    def __init__(self, config: DiscoveryConfig) -> None:
        """Raises InvalidDiscovery."""
        super().__init__(config)
        self._open = config.number("position_open", 100)
        self._closed = config.number("position_closed", 0)
        self._names = {
            config.text(f"state_{state}", state): state for state in ("open", "closed", "opening", "closing")
        }

    def command(self, target: Entity, action: Action) -> Command:
        match action.verb:
            case "turn_on":
                return self.moved(target, 100)
            case "turn_off":
                return self.moved(target, 0)
            case "set_position":
                return self.moved(target, int(action.values["position"]))
            case _:
                raise unsupported(target)

    def moved(self, target: Entity, position: int) -> Command:
        message = self.message(target, position)
        if self.is_optimistic or self.reports.isdisjoint({"state", "position"}):
            return Command((message,), {"state": "open" if position else "closed", "position": position})
        way = _Movement(target, position, has_position="position" in self.reports)
        return Command((message,), {}, way.is_begun, way.state)

    def message(self, target: Entity, position: int) -> OutgoingMessage:
        """Raises HomeError."""
        raise NotImplementedError

    def end(self, position: int) -> str:
        """The command to open or close fully."""
        name, usual = ("payload_open", "OPEN") if position else ("payload_close", "CLOSE")
        return self.config.text(name, usual)

    def own_position(self, position: int) -> int:
        return of_percent(position, self._closed, self._open)

    def read_position(self, number: float) -> Values:
        position = percent(self._closed, self._open)(number)
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


class Cover(PositionedComponent):
    """A cover, with or without tilt."""

    def __init__(self, config: DiscoveryConfig) -> None:
        """Raises InvalidDiscovery."""
        super().__init__(config)
        self._stopped = config.text("state_stopped", "stopped")
        self._tilt_low, self._tilt_high = config.number("tilt_min", 0), config.number("tilt_max", 100)
        self.subscribe("state_topic", "value_template", self._read_state, "state")
        self.subscribe("position_topic", "position_template", self._read_position, "state", "position")
        tilt = numbers("tilt", percent(self._tilt_low, self._tilt_high))
        self.subscribe("tilt_status_topic", "tilt_status_template", tilt, "tilt")

    def _read_state(self, text: str) -> Values:
        if text == self._stopped:
            return {"state": "open"}
        return {"state": self._names[text]} if text in self._names else {}

    def _read_position(self, text: str) -> Values:
        values = self.read_position(float(text))
        return {"position": values["position"]} if self.config.topic("state_topic") else values

    def moved(self, target: Entity, position: int) -> Command:
        if self.config.topic("command_topic") or self.config.topic("set_position_topic"):
            return super().moved(target, position)
        if self.config.topic("tilt_command_topic") is None:
            raise unsupported(target)
        value = of_percent(position, self._tilt_low, self._tilt_high)
        message = self.publish("tilt_command_topic", value, "tilt_command_template", tilt_position=value)
        return Command((message,), {"tilt": position}, self.when("tilt"))

    def message(self, target: Entity, position: int) -> OutgoingMessage:
        if position in (0, 100) and self.config.topic("command_topic"):
            return self.publish("command_topic", self.end(position))
        if self.config.topic("set_position_topic") is None:
            raise unsupported(target, "stop half way")
        value = self.own_position(position)
        return self.publish("set_position_topic", value, "set_position_template", position=value)


class Valve(PositionedComponent):
    """A valve, which reports its state, its position, or both in one object."""

    def __init__(self, config: DiscoveryConfig) -> None:
        """Raises InvalidDiscovery."""
        super().__init__(config)
        config.needed_topic("command_topic")
        self._has_position = config.flag("reports_position")
        told = ("state", "position") if self._has_position else ("state",)
        self.subscribe("state_topic", "value_template", self._read, *told)

    def _read(self, text: str) -> Values:
        if text in self._names:
            return {"state": self._names[text]}
        said = json.loads(text)
        parts = said if isinstance(said, dict) else {"position": said}
        position, state = parts.get("position"), str(parts.get("state"))
        values = self.read_position(position) if isinstance(position, int | float) else {}
        return values | ({"state": self._names[state]} if state in self._names else {})

    def message(self, target: Entity, position: int) -> OutgoingMessage:
        if not self._has_position and position not in (0, 100):
            raise unsupported(target, "stop half way")
        value: object = self.own_position(position) if self._has_position else self.end(position)
        return self.publish("command_topic", value, "command_template")

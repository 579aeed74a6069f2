"""Fans: on, off, and a speed in a range of their own."""

from __future__ import annotations

from edgevox.tools.home.home import Action
from edgevox.tools.home.house import Entity
from edgevox.tools.home.mqtt.announcement import Config
from edgevox.tools.home.mqtt.component import (
    Order,
    Values,
    about,
    cannot,
    numbers,
    of_percent,
    one_of,
    percent,
)
from edgevox.tools.home.mqtt.switches import Switch


class Fan(Switch):
    state_template = "state_value_template"

    def __init__(self, config: Config) -> None:
        """Raises BadAnnouncement."""
        super().__init__(config)
        # The range begins with the slowest speed; what is below it is off.
        self._low = config.number("speed_range_min", 1) - 1
        self._high = config.number("speed_range_max", 100)
        read = numbers("percentage", percent(self._low, self._high))
        self.follow("percentage_state_topic", "percentage_value_template", read, "percentage")

    def order(self, target: Entity, action: Action) -> Order:
        if action.verb != "set_speed":
            return super().order(target, action)
        wanted = int(action.values["percentage"])
        if self.config.topic("percentage_command_topic") is None:
            raise cannot(target, "change its speed")
        if wanted == 0:
            return self.switched("off")
        speed = max(1, of_percent(wanted, self._low, self._high))
        on = () if target.state == "on" else self.switched("on").messages
        set_speed = self.publish("percentage_command_topic", speed, "percentage_command_template")
        assumed: Values = {"state": "on", "percentage": wanted}
        step = 100 / max(1.0, self._high - self._low)
        is_done = self.when(state=one_of("on"), percentage=about(wanted, within=step / 2 + 1))
        return Order((*on, set_speed), assumed, is_done)

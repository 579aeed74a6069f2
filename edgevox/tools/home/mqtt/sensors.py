"""Things that are only read."""

from __future__ import annotations

from edgevox.tools.home.mqtt.announcement import Config
from edgevox.tools.home.mqtt.component import NOTHING_SAID, Component, Values, states

_MAX_STATE_CHARS = 255


class Sensor(Component):
    """A number or a word, in a unit where it has one."""

    def __init__(self, config: Config) -> None:
        """Raises BadAnnouncement."""
        super().__init__(config)
        config.needed_topic("state_topic")
        self.follow("state_topic", "value_template", _read, "state")


def _read(text: str) -> Values:
    return {"state": "unknown" if text == NOTHING_SAID else text[:_MAX_STATE_CHARS]}


class BinarySensor(Component):
    """Knows on and off."""

    def __init__(self, config: Config) -> None:
        """Raises BadAnnouncement."""
        super().__init__(config)
        config.needed_topic("state_topic")
        reported = {config.text("payload_on", "ON"): "on", config.text("payload_off", "OFF"): "off"}
        self.follow("state_topic", "value_template", states(reported), "state")

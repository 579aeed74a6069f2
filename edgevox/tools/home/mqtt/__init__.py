"""A home behind an MQTT broker, with things that announce themselves as they do to Home Assistant."""

from edgevox.tools.home.mqtt.broker import Broker
from edgevox.tools.home.mqtt.home import MqttHome

__all__ = ["Broker", "MqttHome"]

"""MQTT backend: entities that use Home Assistant's MQTT discovery."""

from __future__ import annotations

from edgevox.home.backends.mqtt.backend import MqttHome
from edgevox.home.backends.mqtt.connection import Broker

__all__ = ["Broker", "MqttHome"]

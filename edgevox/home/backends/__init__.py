"""Backends of a home: demo, Home Assistant and MQTT."""

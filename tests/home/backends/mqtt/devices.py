"""Simulated MQTT devices that announce themselves and answer as zigbee2mqtt, Tasmota and ESPHome do."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Mapping
from typing import Any

import aiomqtt

from tests.home.backends.mqtt.mosquitto import PASSWORD, USER, Mosquitto

PREFIX = "homeassistant"


class Devices:
    """Everything on one connection: topics with answers, and a note of every command that came."""

    def __init__(self, mosquitto: Mosquitto) -> None:
        self.commands: list[tuple[str, str]] = []
        self._mosquitto = mosquitto
        self._answers: dict[str, Callable[[str], Mapping[str, str]]] = {}
        self._announced: dict[str, str] = {}
        self._client: aiomqtt.Client | None = None
        self._stack = contextlib.AsyncExitStack()
        self._task: asyncio.Task[None] | None = None

    async def connect(self) -> None:
        self._client = aiomqtt.Client("127.0.0.1", self._mosquitto.port, username=USER, password=PASSWORD, timeout=5)
        await self._stack.enter_async_context(self._client)
        for topic in self._answers:
            await self._client.subscribe(topic)
        for topic, payload in self._announced.items():
            await self._client.publish(topic, payload, retain=True)
        await self._client.publish("devices/announced", qos=1)
        self._task = asyncio.create_task(self._answer(self._client))

    async def disconnect(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait((self._task,), timeout=5)
        with contextlib.suppress(aiomqtt.MqttError):
            await self._stack.aclose()
        self._stack = contextlib.AsyncExitStack()

    async def publish(self, topic: str, payload: object, *, retain: bool = True) -> None:
        assert self._client is not None
        text = payload if isinstance(payload, str) else json.dumps(payload)
        await self._client.publish(topic, text, qos=1, retain=retain)

    def has(self, path: str, config: Mapping[str, Any], **states: str) -> None:
        """A thing to be announced, and what is kept of its topics."""
        self._announced[f"{PREFIX}/{path}/config"] = json.dumps(config)
        self._announced |= {topic.replace("__", "/"): payload for topic, payload in states.items()}

    def answers(self, topic: str, answer: Callable[[str], Mapping[str, str]]) -> None:
        """A command topic, and what is published after a command on it."""
        self._answers[topic] = answer

    async def _answer(self, client: aiomqtt.Client) -> None:
        async for message in client.messages:
            topic, payload = message.topic.value, message.payload.decode()
            if topic != f"{PREFIX}/status":
                self.commands.append((topic, payload))
            for answer_topic, answer in self._answers[topic](payload).items():
                await client.publish(answer_topic, answer, qos=1, retain=topic != f"{PREFIX}/status")


class Zigbee2Mqtt:
    """One JSON topic for each device. Its states are not retained by the broker, but sent again on request."""

    def __init__(self, devices: Devices) -> None:
        self._devices = devices
        self._states: dict[str, dict[str, Any]] = {}
        devices.answers(f"{PREFIX}/status", self._everything)

    def has(self, name: str, area: str, state: dict[str, Any], **parts: Mapping[str, Any]) -> None:
        """A device with parts (`light`, `binary_sensor_contact` and so on) and its state."""
        topic = f"zigbee2mqtt/{name}"
        self._states[topic] = state
        for part, config in parts.items():
            component = next(one for one in _COMPONENTS if part.startswith(one))
            self._devices.has(
                f"{component}/{name.replace(' ', '_').replace('/', '_')}/{part}",
                {
                    "availability": [{"topic": "zigbee2mqtt/bridge/state", "value_template": "{{ value_json.state }}"}],
                    "device": {"identifiers": [name], "name": name, "suggested_area": area},
                    "state_topic": topic,
                    **config,
                },
            )
        self._devices.answers(f"{topic}/set", lambda payload: self._set(topic, json.loads(payload)))

    def _set(self, topic: str, changes: dict[str, Any]) -> dict[str, str]:
        if "color_temp" in changes:
            changes = {**changes, "color_mode": "color_temp"}
        self._states[topic] |= changes
        return {topic: json.dumps(self._states[topic])}

    def _everything(self, _: str) -> dict[str, str]:
        states = {topic: json.dumps(state) for topic, state in self._states.items()}
        return {"zigbee2mqtt/bridge/state": json.dumps({"state": "online"}), **states}


_COMPONENTS = ("light", "switch", "binary_sensor", "sensor", "climate", "cover", "lock", "fan")


def whole_house(devices: Devices) -> None:
    """A home of all sorts."""
    _zigbee(Zigbee2Mqtt(devices))
    _tasmota(devices)
    _esphome(devices)
    _others(devices)


def _zigbee(bridge: Zigbee2Mqtt) -> None:
    bridge.has(
        "kitchen_lamp",
        "Kitchen",
        {"state": "OFF", "brightness": 127, "color": {"x": 0.31, "y": 0.33}, "color_mode": "xy"},
        light={
            "name": None,
            "schema": "json",
            "command_topic": "zigbee2mqtt/kitchen_lamp/set",
            "brightness": True,
            "brightness_scale": 254,
            "supported_color_modes": ["xy", "color_temp"],
        },
        sensor_linkquality={"value_template": "{{ value_json.linkquality }}", "entity_category": "diagnostic"},
    )
    bridge.has(
        "Front Door",
        "Hallway",
        {"contact": True, "temperature": 18.46, "battery": 97},
        binary_sensor_contact={
            "value_template": "{{ value_json.contact }}",
            "payload_on": False,
            "payload_off": True,
            "device_class": "door",
        },
        sensor_temperature={
            "value_template": "{{ value_json['temperature'] | float | round(1) }}",
            "unit_of_measurement": "°C",
            "device_class": "temperature",
        },
    )
    bridge.has(
        "Radiator",
        "Kitchen",
        {"occupied_heating_setpoint": 20, "local_temperature": 19.5, "system_mode": "heat"},
        climate={
            "name": None,
            "mode_state_topic": "zigbee2mqtt/Radiator",
            "mode_state_template": "{{ value_json.system_mode }}",
            "mode_command_topic": "zigbee2mqtt/Radiator/set",
            "mode_command_template": '{"system_mode": "{{ value }}"}',
            "modes": ["off", "auto", "heat"],
            "temperature_state_topic": "zigbee2mqtt/Radiator",
            "temperature_state_template": "{{ value_json.occupied_heating_setpoint }}",
            "temperature_command_topic": "zigbee2mqtt/Radiator/set",
            "temperature_command_template": '{"occupied_heating_setpoint": {{ value }} }',
            "current_temperature_topic": "zigbee2mqtt/Radiator",
            "current_temperature_template": "{{ value_json.local_temperature }}",
            "min_temp": 5,
            "max_temp": 30,
            "temp_step": 0.5,
        },
    )
    bridge.has(
        "living room/blinds",
        "Living Room",
        {"position": 100, "state": "OPEN"},
        cover={
            "name": None,
            "device_class": "blind",
            "command_topic": "zigbee2mqtt/living room/blinds/set",
            "value_template": "{{ value_json.state }}",
            "state_open": "OPEN",
            "state_closed": "CLOSE",
            "position_topic": "zigbee2mqtt/living room/blinds",
            "position_template": "{{ value_json.position }}",
            "set_position_topic": "zigbee2mqtt/living room/blinds/set",
            "set_position_template": '{ "position": {{ position }} }',
            "payload_open": '{"state": "OPEN", "position": 100}',
            "payload_close": '{"state": "CLOSE", "position": 0}',
        },
    )
    bridge.has(
        "Entrance Lock",
        "Hallway",
        {"state": "UNLOCK"},
        lock={
            "name": None,
            "command_topic": "zigbee2mqtt/Entrance Lock/set",
            "payload_lock": '{"state": "LOCK"}',
            "payload_unlock": '{"state": "UNLOCK"}',
            "state_locked": "LOCK",
            "state_unlocked": "UNLOCK",
            "value_template": "{{ value_json.state }}",
        },
    )


def _tasmota(devices: Devices) -> None:
    """Abbreviated, with a common start of its topics; its states are kept."""
    devices.has(
        "switch/A1B2C3_RL_1",
        {
            "name": None,
            "~": "tasmota_A1B2C3",
            "stat_t": "~/stat/POWER",
            "cmd_t": "~/cmnd/POWER",
            "avty_t": "~/tele/LWT",
            "pl_avail": "Online",
            "pl_not_avail": "Offline",
            "dev": {"ids": ["A1B2C3"], "name": "Coffee Machine", "sa": "Kitchen"},
        },
        tasmota_A1B2C3__stat__POWER="OFF",
        tasmota_A1B2C3__tele__LWT="Online",
    )
    devices.answers("tasmota_A1B2C3/cmnd/POWER", _told_on("tasmota_A1B2C3/stat/POWER"))
    devices.has(
        "light/A1B2C3_LI_2",
        {
            "name": "Counter",
            "~": "strip",
            "cmd_t": "~/cmnd/POWER",
            "stat_t": "~/stat/POWER",
            "bri_cmd_t": "~/cmnd/Dimmer",
            "bri_stat_t": "~/stat/Dimmer",
            "bri_scl": 100,
            "rgb_cmd_t": "~/cmnd/Color",
            "rgb_stat_t": "~/stat/Color",
            "dev": {"ids": ["A1B2C3"], "name": "Strip", "sa": "Kitchen"},
        },
        strip__stat__POWER="OFF",
        strip__stat__Dimmer="50",
    )
    for name in ("POWER", "Dimmer", "Color"):
        devices.answers(f"strip/cmnd/{name}", _told_on(f"strip/stat/{name}"))


def _told_on(topic: str) -> Callable[[str], Mapping[str, str]]:
    return lambda payload: {topic: payload}


def _esphome(devices: Devices) -> None:
    """A topic for each value; a cover says that it moves, and takes its time to arrive."""
    devices.has(
        "cover/bedroom/curtains",
        {
            "name": "Curtains",
            "dev_cla": "curtain",
            "pos_t": "bedroom/cover/position/state",
            "set_pos_t": "bedroom/cover/position/command",
            "stat_t": "bedroom/cover/state",
            "cmd_t": "bedroom/cover/command",
            "avty_t": "bedroom/status",
            "dev": {"ids": "bedroom", "name": "Bedroom", "sa": "Bedroom"},
        },
        bedroom__cover__state="closed",
        bedroom__cover__position__state="0",
        bedroom__status="online",
    )
    devices.answers(
        "bedroom/cover/command", lambda payload: {"bedroom/cover/state": "opening" if payload == "OPEN" else "closing"}
    )
    devices.answers(
        "bedroom/cover/position/command",
        lambda payload: {"bedroom/cover/state": "open", "bedroom/cover/position/state": payload},
    )
    devices.has(
        "fan/bedroom/fan",
        {
            "name": "Ceiling Fan",
            "cmd_t": "bedroom/fan/command",
            "stat_t": "bedroom/fan/state",
            "pct_cmd_t": "bedroom/fan/speed/command",
            "pct_stat_t": "bedroom/fan/speed/state",
            "spd_rng_max": 4,
            "dev": {"ids": "bedroom", "name": "Bedroom", "sa": "Bedroom"},
        },
        bedroom__fan__state="OFF",
        bedroom__fan__speed__state="0",
    )
    devices.answers("bedroom/fan/command", _told_on("bedroom/fan/state"))
    devices.answers("bedroom/fan/speed/command", _told_on("bedroom/fan/speed/state"))


def _others(devices: Devices) -> None:
    """One announcement for a whole device, and things of the rarer kinds."""
    devices.has(
        "device/garden",
        {
            "dev": {"ids": "garden", "name": "Garden", "sa": "Garden"},
            "o": {"name": "garden2mqtt"},
            "~": "garden",
            "cmps": {
                "tap": {"p": "valve", "name": "Sprinkler", "cmd_t": "~/tap/set", "stat_t": "~/tap"},
                "horn": {"p": "siren", "name": "Horn", "cmd_t": "~/horn/set", "stat_t": "~/horn"},
                "mower": {
                    "p": "lawn_mower",
                    "name": "Mower",
                    "activity_state_topic": "~/mower",
                    "start_mowing_command_topic": "~/mower/set",
                    "dock_command_topic": "~/mower/set",
                    "pause_command_topic": "~/mower/set",
                },
                "old": {"p": "switch"},
            },
        },
        garden__tap="closed",
        garden__horn="OFF",
        garden__mower="docked",
    )
    devices.answers("garden/tap/set", lambda payload: {"garden/tap": "open" if payload == "OPEN" else "closed"})
    devices.answers("garden/horn/set", _told_on("garden/horn"))
    devices.answers(
        "garden/mower/set",
        lambda payload: {"garden/mower": {"dock": "returning", "pause": "paused"}.get(payload, "mowing")},
    )
    devices.has(
        "vacuum/robot",
        {"name": "Robot", "command_topic": "robot/set", "state_topic": "robot/state"},
        robot__state='{"state": "docked", "battery_level": 80}',
    )
    devices.answers(
        "robot/set",
        lambda payload: {
            "robot/state": json.dumps({"state": {"start": "cleaning", "pause": "paused"}.get(payload, "returning")})
        },
    )
    devices.has("scene/movie_night", {"name": "Movie Night", "command_topic": "scenes/movie"})
    devices.answers("scenes/movie", lambda _: {})
    devices.has(
        "alarm_control_panel/house",
        {"name": "Alarm", "command_topic": "alarm/set", "state_topic": "alarm/state"},
        alarm__state="disarmed",
    )
    devices.answers("alarm/set", lambda payload: {"alarm/state": "arming" if payload == "ARM_AWAY" else "disarmed"})
    options = {"name": "House Mode", "cmd_t": "mode/set", "stat_t": "mode/state", "ops": ["Home", "Away"]}
    devices.has("select/house_mode", options, mode__state="Home")
    devices.answers("mode/set", lambda payload: {"mode/state": payload})
    devices.has(
        "humidifier/h",
        {
            "name": "Humidifier",
            "command_topic": "humid/set",
            "state_topic": "humid/state",
            "target_humidity_command_topic": "humid/target",
        },
        humid__state="OFF",
    )
    devices.answers("humid/set", _told_on("humid/state"))
    # No state topic: it can only be believed.
    devices.has("switch/fountain", {"name": "Fountain", "command_topic": "fountain/set"})
    devices.answers("fountain/set", lambda _: {})
    # Never answers.
    devices.has(
        "switch/heater",
        {"name": "Towel Rail", "command_topic": "rail/set", "state_topic": "rail/state"},
        rail__state="OFF",
    )
    devices.answers("rail/set", lambda _: {})
    devices.has("text/t", {"name": "Text", "command_topic": "text/set"})

"""Published MQTT discovery messages, listed and used: `python -m benchmarks.mqtt_payloads FOLDER`.

Reads from FOLDER what others have published, none of which is kept here. `script/discovery-payloads` gets the first and
the last kind into build/discovery-payloads; the others are files of the named repositories:

- `*.jsonl`: a line for each message, {"topic": "homeassistant/light/x/config", "payload": {…}}, such as a bridge sends
- `*.test.ts`: Zigbee2MQTT's own tests (the objects after `payload =`)
- `*.java`: openHAB's tests, with messages of Zigbee2MQTT, ESPHome and others in text blocks
- `*.ino`: Tasmota's older discovery (xdrv_12_home_assistant.ino), whose parts are put together as its code does
- `esphome/mqtt_*.cpp` and `esphome/mqtt_const.h`: ESPHome's, likewise (esphome_discovery.py)

Each message is read alone. What is listed is sent every command that its kind of thing has, and gets states: none may
fail. What is not listed is counted by the reason.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from benchmarks.esphome_discovery import read_components
from benchmarks.hardware import describe
from edgevox.home import Action, HomeError, Verb
from edgevox.home.backends.mqtt.components import COMPONENTS
from edgevox.home.backends.mqtt.discovery import InvalidDiscovery, expand_abbreviations, parse_discovery
from edgevox.home.backends.mqtt.entities import MqttEntities, MqttEntity

PREFIX = "homeassistant"
# What the rules and the model ask of things; one that a thing cannot do is refused with a sentence.
ACTIONS: tuple[tuple[Verb, dict[str, object]], ...] = (
    ("turn_on", {}), ("turn_off", {}), ("set_light", {"brightness": 40}), ("set_light", {"color": "red"}),
    ("set_light", {"color": "warm white"}), ("set_position", {"position": 40}), ("stop", {}),
    ("set_temperature", {"temperature": 21.0}), ("set_mode", {"mode": "heat"}), ("set_mode", {"mode": "off"}),
    ("set_speed", {"percentage": 40}), ("set_humidity", {"humidity": 50}), ("set_number", {"value": 5.0}),
    ("select_option", {"option": "eco"}), ("start", {}), ("pause", {}), ("dock", {}), ("arm", {"mode": "away"}),
    ("arm", {"mode": "disarmed"}),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Message:
    source: str
    component: str
    payload: Mapping[str, Any]


@dataclass
class Figures:
    """What became of the messages."""

    messages: Counter[str] = field(default_factory=Counter)
    listed: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    commands: int = 0
    states: int = 0
    failed: list[str] = field(default_factory=list)


# --- readers


def read_messages(folder: Path, every: int = 1) -> Iterator[Message]:
    for path in sorted(folder.iterdir()):
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        if path.name.endswith(".jsonl"):
            yield from _of_lines(path.stem, text.splitlines()[::every])
        elif path.name.endswith(".test.ts"):
            yield from _of_typescript(path.name.removesuffix(".test.ts"), text)
        elif path.suffix == ".java":
            yield from _of_java(path, text)
        elif path.suffix == ".ino":
            yield from _of_tasmota(path.stem, text)
        elif path.is_dir() and (path / "mqtt_const.h").exists():
            yield from (Message("esphome", component, payload) for component, payload in read_components(path))


def _of_lines(source: str, lines: list[str]) -> Iterator[Message]:
    for line in filter(None, lines):
        row = json.loads(line)
        yield Message(source, row["topic"].split("/")[1], row["payload"])


_PAYLOAD = re.compile(r"\bpayload = (\{.*?\n        \});", re.DOTALL)
_TOPIC = re.compile(r"\"homeassistant/(\w+)/")
_TEMPLATE_STRING = re.compile(r"`([^`]*)`")


def _of_typescript(source: str, text: str) -> Iterator[Message]:
    """An object of the language is YAML, but for its strings with `backticks`; the topic follows it."""
    for found in _PAYLOAD.finditer(text):
        topic = _TOPIC.search(text, found.end())
        written = _TEMPLATE_STRING.sub(lambda string: json.dumps(string[1]), found[1])
        written = re.sub(r"(?m)//.*$", "", written)
        try:
            payload = yaml.safe_load(re.sub(r"(\w+):(?=\S)", r"\1: ", written) if ": " not in written else written)
        except yaml.YAMLError:
            continue
        if isinstance(payload, dict) and topic:
            yield Message(source, topic[1], payload)


_BLOCK = re.compile(r'"""(.*?)"""', re.DOTALL)
_CONFIG_TOPIC = re.compile(r"CONFIG_TOPIC\w* = \"(\w+)/")


def _of_java(path: Path, text: str) -> Iterator[Message]:
    name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", path.stem.removesuffix("Tests")).lower()
    topic = _CONFIG_TOPIC.search(text)
    component = topic[1] if topic else "light" if "light" in name else name
    for block in _BLOCK.findall(text):
        try:
            # A text block may escape what the language needs, and JSON with trailing commas is YAML.
            payload = yaml.safe_load(block.replace("\\\\", "\\").replace("\t", " "))
        except yaml.YAMLError:
            continue
        if isinstance(payload, dict):
            yield Message("openhab", component, payload)


_CONSTANT = re.compile(
    r"const char HASS_DISCOVER_(\w+)\[\] PROGMEM =(.*?);[ \t]*(?://[^\n]*)?$", re.DOTALL | re.MULTILINE
)
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"|\b(D_\w+|MQTT_\w+)\b')
_NAMES = {"D_CMND_HSBCOLOR": "HSBColor", "D_CMND_COLORTEMPERATURE": "CT", "D_CMND_SCHEME": "Scheme",
          "MQTT_LWT_ONLINE": "Online", "MQTT_LWT_OFFLINE": "Offline", "D_JSON_RSSI": "RSSI"}  # fmt: skip
# What its code appends to each other.
_TASMOTA = (
    ("switch", "BASE RELAY RELAY_TEMPLATE"),
    ("light", "BASE RELAY LIGHT_TEMPLATE"),
    ("light", "BASE RELAY LIGHT_TEMPLATE BASE_LIGHT"),
    ("light", "BASE RELAY LIGHT_TEMPLATE BASE_LIGHT LIGHT_HS_COLOR LIGHT_WHITE LIGHT_SCHEME"),
    ("light", "BASE RELAY LIGHT_TEMPLATE BASE_LIGHT LIGHT_HS_COLOR LIGHT_CT LIGHT_SCHEME"),
    ("binary_sensor", "BASE BIN_SWITCH"),
    ("binary_sensor", "BASE BIN_PIR"),
    ("cover", "BASE SHUTTER_BASE SHUTTER_POS"),
    ("cover", "BASE SHUTTER_BASE SHUTTER_POS SHUTTER_TILT"),
)


def _of_tasmota(source: str, text: str) -> Iterator[Message]:
    constants = {}
    for name, written in _CONSTANT.findall(text):
        without_comments = re.sub(r"//[^\n]*", "", written)
        strings = (string or _NAMES.get(macro, "") for string, macro in _STRING.findall(without_comments))
        constants[name] = "".join(part.replace('\\"', '"') for part in strings)
    for component, names in _TASMOTA:
        parts = names.split()
        if all(part in constants for part in parts):
            # What is put in may be a topic, a payload or a key: a plain word with a number is all of them.
            pieces = re.split(r"%s", "".join(constants[part] for part in parts))
            written = "".join(f"{piece}v{number}" for number, piece in enumerate(pieces[:-1])) + pieces[-1]
            yield Message(source, component, json.loads(written.replace("%d", "1").replace("%%", "%") + "}"))


# --- use


def use(message: Message, figures: Figures) -> None:
    """Read one message as it comes from a broker, and use what it announces."""
    figures.messages[message.source] += 1
    topic = f"{PREFIX}/{message.component}/thing/config"
    payload = json.dumps(message.payload).encode()
    entities = MqttEntities(PREFIX)
    entities.take(topic, payload)
    found = (entities.find(entity.id) for entity in entities.house().entities)
    made = [entity for entity in found if entity is not None]
    if not made:
        figures.left_out[_reason(message, payload)] += 1
        return
    for entity in made:
        figures.listed[message.source] += 1
        _send_states(message, entity, entities, figures)
        _send_commands(message, entity, figures)


def _reason(message: Message, payload: bytes) -> str:
    if message.component not in COMPONENTS and message.component != "device":
        return f"not a thing of the home: {message.component}"
    try:
        for announced in parse_discovery(f"{message.component}/thing/config", payload):
            MqttEntity(announced, lambda: 0.0)
    except InvalidDiscovery as error:
        return str(error)[:80]
    return "nothing in it"


_KEY = re.compile(r"value_json(?:\.(\w+)|\[\\?['\"](.+?)\\?['\"]\])")


def _send_states(message: Message, entity: MqttEntity, entities: MqttEntities, figures: Figures) -> None:
    whole = expand_abbreviations(dict(message.payload))
    written = json.dumps(whole, ensure_ascii=False)
    keys = {dotted or quoted for dotted, quoted in _KEY.findall(written)}
    read: set[str] = set()
    for value in ("ON", "OFF", "open", "21.5", "heat", "online", 50, True, None):
        for payload in (json.dumps(dict.fromkeys(sorted(keys), value)), str(value)):
            for channel in entity.component.channels:
                if channel.template is None or channel.template.read(payload) is not None:
                    read.add(channel.topic)
            for topic in entity.topics:
                try:
                    entities.take(topic, payload.encode())
                    figures.states += 1
                except Exception as error:  # noqa: BLE001 - whatever it is, it is a failure
                    figures.failed.append(f"{message.source}: state {payload[:60]}: {error!r}")

    unread = {channel.topic for channel in entity.component.channels} - read
    figures.failed += [f"{message.source}: {message.component} reads nothing from {topic}" for topic in unread]


def _send_commands(message: Message, entity: MqttEntity, figures: Figures) -> None:
    target = entity.entity()
    for verb, values in ACTIONS:
        if verb == "select_option" and target.attributes.get("options"):
            values = {"option": target.attributes["options"][0]}
        try:
            command = entity.component.command(target, Action(verb, (target,), values))
            figures.commands += len(command.messages)
        except HomeError as error:
            if "template" in error.message:
                figures.failed.append(f"{message.source}: {message.component} {verb}: {error.message}")
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a failure
            figures.failed.append(f"{message.source}: {message.component} {verb}: {error!r}")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, help="the published messages")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth line of a *.jsonl file")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures there")
    arguments = parser.parse_args()
    figures = Figures()
    for message in read_messages(arguments.folder, arguments.every):
        use(message, figures)
    kept = {
        "machine": describe(),
        "messages": dict(figures.messages),
        "listed": dict(figures.listed),
        "left_out": dict(figures.left_out.most_common()),
        "commands_built": figures.commands,
        "states_read": figures.states,
        "failed": len(figures.failed),
        "failures": figures.failed[:20],
    }
    text = json.dumps(kept, indent=1)
    print(text)
    if arguments.json:
        arguments.json.write_text(text + "\n", encoding="utf-8")
    return 1 if figures.failed else 0


if __name__ == "__main__":
    sys.exit(main())

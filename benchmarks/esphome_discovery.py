"""The MQTT discovery messages that ESPHome's source sends, put together as its code does.

`mqtt_*.cpp` of `esphome/components/mqtt` write a message with `root[KEY] = value`, some of it under conditions on what
the device can do. Each file gives a message with all of its conditions met, one with none, and one for each of them
alone, with the short keys of `mqtt_const.h` and with the long ones. Nothing of the source is kept here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_CONSTANT = re.compile(r'constexpr const char \*const (MQTT_\w+) = "([^"]*)";')
_BODY = re.compile(r"::send_discovery\(JsonObject root.*?\) \{\n(.*?)\n\}", re.DOTALL)
_TYPE = re.compile(r'component_type\(\) const \{ return "(\w+)"; \}')
_COMMENT = re.compile(r"//[^\n]*|^\s*#[^\n]*$", re.MULTILINE)
_SET = re.compile(r"root\[(?:(?P<name>MQTT_\w+)|\"(?P<key>\w+)\")\] = (?P<value>.+)", re.DOTALL)
_ARRAY = re.compile(r"JsonArray (?P<variable>\w+) = root(?:\.createNestedArray\(|\[)(?P<name>[^)\]]+)[)\]]")
_ADD = re.compile(r"(?P<variable>\w+)\.add\((?P<value>.+)\)")
_CONFIG = re.compile(r"config\.(?P<topic>state_topic|command_topic) = (?P<value>true|false)")
# What a device says of itself, by a word of the key.
_NUMBERS = {"min": 7, "max": 35, "step": 0.5, "precision": 1, "speed": 3, "expire": 60}


@dataclass(frozen=True, slots=True)
class _If:
    """Statements of a condition, and those of its else."""

    condition: str
    then: tuple[_If | str, ...]
    otherwise: tuple[_If | str, ...]


def read_components(folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each message with the component that it announces."""
    constants = _CONSTANT.findall((folder / "mqtt_const.h").read_text(encoding="utf-8"))
    half = len(constants) // 2  # the short keys first, then the long ones
    for keys in (dict(constants[:half]), dict(constants[half:])):
        for path in sorted(folder.glob("mqtt_*.cpp")):
            text = _COMMENT.sub("", path.read_text(encoding="utf-8"))
            body, component = _BODY.search(text), _TYPE.search(text)
            name = component[1] if component else path.stem.removeprefix("mqtt_")
            if body:
                yield from ((name, payload) for payload in _messages(name, _parsed(body[1]), keys))


# --- its language


def _parsed(text: str) -> tuple[_If | str, ...]:
    statements: list[_If | str] = []
    rest = text.strip()
    while rest:
        statement, rest = _statement(rest)
        statements += statement
    return tuple(statements)


def _statement(text: str) -> tuple[tuple[_If | str, ...], str]:
    """The first statement of a text, and the rest of it."""
    if text[0] == "{":
        end = _closing(text, "{", "}")
        return _parsed(text[1:end]), text[end + 1 :].strip()
    if found := re.match(r"(if|for|while|switch)\s*\(", text):
        end = found.end() - 1 + _closing(text[found.end() - 1 :], "(", ")")
        condition = text[found.end() : end]
        then, rest = _statement(text[end + 1 :].strip())
        otherwise: tuple[_If | str, ...] = ()
        if rest.startswith("else"):
            otherwise, rest = _statement(rest.removeprefix("else").strip())
        return ((_If(condition, then, otherwise),) if found[1] == "if" else then), rest
    head, _, rest = text.partition(";")
    return (" ".join(head.split()),), rest.strip()


def _closing(text: str, opens: str, closes: str) -> int:
    depth = 0
    for at, character in enumerate(text):
        depth += (character == opens) - (character == closes)
        if not depth:
            return at
    return len(text)


# --- its messages


def _messages(component: str, body: tuple[_If | str, ...], keys: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    conditions = sorted({one.condition for one in _conditions(body)})
    for met in ({*conditions}, set[str](), *({condition} for condition in conditions)):
        payload: dict[str, Any] = {}
        topics = {"state_topic": True, "command_topic": True}
        arrays: dict[str, list[Any]] = {}
        for statement in _run(body, met):
            if found := _CONFIG.match(statement):
                topics[found["topic"]] = found["value"] == "true"
            elif found := _ARRAY.match(statement):
                key = keys.get(found["name"], found["name"].strip('"'))
                payload[key] = arrays[found["variable"]] = []
            elif found := _ADD.match(statement):
                if found["variable"] in arrays:
                    arrays[found["variable"]].append(_value(component, "option", found["value"]))
            elif found := _SET.match(statement):
                name = (found["name"] or found["key"]).removeprefix("MQTT_").casefold()
                key = keys.get(found["name"] or "", found["key"] or "")
                payload[key] = _value(component, name, found["value"])
        for topic, is_there in topics.items():
            if is_there:
                payload[keys[f"MQTT_{topic.upper()}"]] = f"node/{component}/thing/{topic}"
        payload[keys["MQTT_NAME"]] = "Thing"
        payload[keys["MQTT_UNIQUE_ID"]] = f"ESP{component}thing"
        payload[keys["MQTT_AVAILABILITY_TOPIC"]] = "node/status"
        payload[keys["MQTT_DEVICE"]] = {keys["MQTT_DEVICE_IDENTIFIERS"]: "0123456789ab", "name": "Node"}
        yield payload


def _conditions(body: tuple[_If | str, ...]) -> Iterator[_If]:
    for one in body:
        if isinstance(one, _If):
            yield one
            yield from _conditions(one.then + one.otherwise)


def _run(body: tuple[_If | str, ...], met: set[str]) -> Iterator[str]:
    for one in body:
        if isinstance(one, _If):
            yield from _run(one.then if one.condition in met else one.otherwise, met)
        else:
            yield one


def _value(component: str, name: str, written: str) -> object:
    if written in ("true", "false"):
        return written == "true"
    if found := re.fullmatch(r'"([^"]*)"', written):
        return found[1]
    if name.endswith("topic"):
        return f"node/{component}/thing/{name}"
    if number := next((number for word, number in _NUMBERS.items() if word in name), None):
        return number
    return {"device_class": "", "unit_of_measurement": "W"}.get(name, "one")

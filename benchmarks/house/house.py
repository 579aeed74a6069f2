"""Reads house.toml: the devices of the simulated integration, and what Home Assistant is told of floors and areas."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).with_name("house.toml")
_PLAYER_FEATURES = 1 | 4 | 8 | 16 | 32 | 128 | 256 | 4096 | 16384
_COVER, _COVER_WITHOUT_POSITION = 1 | 2 | 4 | 8, 1 | 2
_WHITE, _COLOUR = ["brightness"], ["hs", "color_temp"]


def _cover(device_class: str | None, *, features: int = _COVER, position: int = 100) -> dict[str, Any]:
    facts: dict[str, Any] = {"is_closed": position == 0}
    if features & 4:
        facts["current_cover_position"] = position
    fixed = {"device_class": device_class} if device_class else {}
    return {"domain": "cover", "features": features, "fixed": fixed, "facts": facts}


def _light(modes: list[str]) -> dict[str, Any]:
    fixed: dict[str, Any] = {"supported_color_modes": modes, "color_mode": modes[0]}
    facts: dict[str, Any] = {"is_on": False}
    if modes != ["onoff"]:
        facts["brightness"] = 204
    if modes == _COLOUR:
        facts |= {"color_mode": "color_temp", "color_temp_kelvin": 3000, "hs_color": None}
        fixed |= {"min_color_temp_kelvin": 2000, "max_color_temp_kelvin": 6500}
    return {"domain": "light", "fixed": fixed, "facts": facts}


def _climate(modes: list[str]) -> dict[str, Any]:
    fixed = {
        "hvac_modes": modes,
        "temperature_unit": "°C",
        "min_temp": 5,
        "max_temp": 30,
        "target_temperature_step": 0.5,
        "preset_modes": ["none", "eco", "away"],
    }
    facts = {"hvac_mode": "heat", "target_temperature": 20.0, "current_temperature": 19.5, "preset_mode": "none"}
    return {"domain": "climate", "features": 1 | 16 | 128 | 256, "fixed": fixed, "facts": facts}


def _player(device_class: str, volume: float) -> dict[str, Any]:
    facts = {"state": "off", "volume_level": volume, "is_volume_muted": False, "media_title": "Blue in Green"}
    return {
        "domain": "media_player",
        "features": _PLAYER_FEATURES,
        "fixed": {"device_class": device_class},
        "facts": facts,
    }


def _switch(device_class: str) -> dict[str, Any]:
    return {"domain": "switch", "fixed": {"device_class": device_class}, "facts": {"is_on": False}}


def _humidity(device_class: str) -> dict[str, Any]:
    fixed = {"device_class": device_class, "min_humidity": 30, "max_humidity": 80}
    return {"domain": "humidifier", "features": 0, "fixed": fixed, "facts": {"is_on": False, "target_humidity": 45}}


def _binary(device_class: str) -> dict[str, Any]:
    return {"domain": "binary_sensor", "fixed": {"device_class": device_class}, "facts": {"is_on": False}}


def _sensor(device_class: str, unit: str) -> dict[str, Any]:
    return {"domain": "sensor", "fixed": {"device_class": device_class, "native_unit_of_measurement": unit}}


_KINDS: Mapping[str, dict[str, Any]] = {
    "alarm": {"domain": "alarm_control_panel", "features": 7, "fixed": {"code_arm_required": False},
              "facts": {"alarm_state": "disarmed"}},
    "awning": _cover("awning", position=0),
    "battery": _sensor("battery", "%"),
    "blind": _cover("blind"),
    "box": _binary("opening"),
    "button": {"domain": "button"},
    "calendar": {"domain": "calendar", "features": 1},
    "co2": _sensor("carbon_dioxide", "ppm"),
    "colour": _light(_COLOUR),
    "cover": _cover(None),
    "curtain": _cover("curtain"),
    "dehumidifier": _humidity("dehumidifier"),
    "door": _binary("door"),
    "energy": _sensor("energy", "kWh"),
    "fan": {"domain": "fan", "features": 1 | 16 | 32, "fixed": {"speed_count": 100}, "facts": {"percentage": 0}},
    "fireplace": _switch("switch"),
    "garage": _cover("garage", features=_COVER_WITHOUT_POSITION, position=0),
    "gate": _cover("gate", features=_COVER_WITHOUT_POSITION, position=0),
    "humidifier": _humidity("humidifier"),
    "humidity": _sensor("humidity", "%"),
    "leak": _binary("moisture"),
    "light": _light(_WHITE),
    "lock": {"domain": "lock", "facts": {"is_locked": True}},
    "moisture": _sensor("moisture", "%"),
    "motion": _binary("motion"),
    "mower": {"domain": "lawn_mower", "features": 7, "facts": {"activity": "docked"}},
    "number": {"domain": "number"},
    "onoff": _light(["onoff"]),
    "outlet": _switch("outlet"),
    "power": _sensor("power", "W"),
    "radiator": _climate(["off", "heat"]),
    "select": {"domain": "select"},
    "shade": _cover("shade"),
    "shutter": _cover("shutter"),
    "siren": {"domain": "siren", "features": 3, "facts": {"is_on": False}},
    "skylight": _cover("window", position=0),
    "smoke": _binary("smoke"),
    "speaker": _player("speaker", 0.3),
    "switch": _switch("switch"),
    "temperature": _sensor("temperature", "°C"),
    "thermostat": _climate(["off", "heat", "cool", "auto"]),
    "todo": {"domain": "todo", "features": 1 | 2 | 4 | 16 | 32},
    "tv": _player("tv", 0.2),
    "vacuum": {"domain": "vacuum", "features": 4 | 8 | 16 | 4096 | 8192, "facts": {"activity": "docked"}},
    "valve": {"domain": "valve", "features": 3, "fixed": {"reports_position": False, "device_class": "water"},
              "facts": {"is_closed": True}},
    "water_heater": {"domain": "water_heater", "features": 1 | 2 | 8,
                     "fixed": {"temperature_unit": "°C", "min_temp": 30, "max_temp": 70,
                               "operation_list": ["off", "eco", "performance"]},
                     "facts": {"current_operation": "eco", "target_temperature": 50.0, "current_temperature": 48.0}},
    "weather": {"domain": "weather", "features": 1, "fixed": {"native_temperature_unit": "°C"},
                "facts": {"condition": "cloudy", "native_temperature": 7.4}},
    "window": _binary("window"),
}  # fmt: skip
_VALUES = {"todo": "items", "calendar": "events"}


@dataclass(frozen=True, slots=True)
class Area:
    """An area with its floor, its other names, and the ids of what is in it."""

    name: str
    floor: str
    aliases: tuple[str, ...]
    entity_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class House:
    """All that Home Assistant is told."""

    devices: list[dict[str, Any]]
    areas: tuple[Area, ...]
    floors: Mapping[str, list[str]]
    aliases: Mapping[str, list[str]]
    """by entity id"""
    scenes: Mapping[str, Mapping[str, str]]
    scripts: Mapping[str, list[list[str]]]

    @property
    def entity_ids(self) -> tuple[str, ...]:
        """Everything that is exposed."""
        devices = (device["id"] for device in self.devices)
        scenes = (f"scene.{slug(name)}" for name in self.scenes)
        return (*devices, *scenes, *(f"script.{slug(name)}" for name in self.scripts))

    def yaml(self) -> str:
        """Scenes and scripts for configuration.yaml."""
        lines = ["scene:"]
        for name, states in self.scenes.items():
            lines += [f'  - name: "{name}"', f"    id: {slug(name)}", "    entities:"]
            lines += [f'      {entity_id}: "{state}"' for entity_id, state in states.items()]
        lines.append("script:")
        for name, calls in self.scripts.items():
            lines += [f"  {slug(name)}:", f'    alias: "{name}"', "    sequence:"]
            for service, entity_id in calls:
                lines += [f"      - service: {service}", "        target:", f"          entity_id: {entity_id}"]
        return "\n".join(lines) + "\n"


def slug(name: str) -> str:
    """The object id that Home Assistant makes of a name."""
    return re.sub(r"[^a-z0-9]+", "_", name.replace("'", "").lower()).strip("_")


@cache
def read_house() -> House:
    """The house of house.toml."""
    content = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    devices: list[dict[str, Any]] = []
    areas: list[Area] = []
    for area in content["areas"]:
        here = list(_devices(area))
        devices += here
        if area["name"]:
            ids = tuple(device["id"] for device in here)
            areas.append(Area(area["name"], area["floor"], tuple(area.get("aliases", ())), ids))
    id_of = {device["name"]: device["id"] for device in devices}
    id_of |= {name: f"scene.{slug(name)}" for name in content["scenes"]}
    aliases = {id_of[name]: others for name, others in content["aliases"].items()}
    return House(devices, tuple(areas), content["floors"], aliases, content["scenes"], content["scripts"])


def _devices(area: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for kind, things in area.items():
        if kind in ("name", "floor", "aliases"):
            continue
        made = _KINDS[kind]
        for name in things:
            value: Any = things[name] if isinstance(things, dict) else None
            fixed, facts = dict(made.get("fixed", {})), dict(made.get("facts", {}))
            match kind:
                case "select":
                    fixed["options"], facts["current_option"] = value, value[0]
                case "number":
                    fixed["native_min_value"], fixed["native_max_value"], facts["native_value"] = value
                case "todo" | "calendar":
                    facts[_VALUES[kind]] = value
                case _ if value is not None:
                    facts["native_value"] = value
            domain = made["domain"]
            yield {
                "id": f"{domain}.{slug(name)}",
                "name": name,
                "fixed": fixed,
                "facts": facts,
                "features": made.get("features", 0),
            }

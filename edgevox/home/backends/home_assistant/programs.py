"""Reads what the scenes, scripts, automations and groups of Home Assistant act on.

A step that only locks, closes or arms is left out. A step that cannot be judged (a template, a blueprint, an unknown
service) is an unknown target, for which the policy asks.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeAlias
from urllib.parse import quote

from edgevox.core.words import word_set
from edgevox.home.backends.home_assistant.connection import CommandFailed, Connection
from edgevox.home.entities import is_secure_state
from edgevox.tools.calls import PROGRAMS
from edgevox.tools.tool import Target

Attributes: TypeAlias = Mapping[str, Any]
Configs: TypeAlias = Mapping[str, Mapping[str, Any]]
"""The configuration of each program, by entity id."""
Describe: TypeAlias = Callable[[str], tuple[Target, Attributes]]
"""Returns the target and the attributes of any entity of Home Assistant, exposed or not."""

_MAX_DEPTH = 8
_PARALLEL = 4
# Scenes of these integrations set lights only, and have no configuration in Home Assistant.
_LIGHT_PLATFORMS = frozenset({"hue", "lifx", "nanoleaf", "wled"})

# Services of these domains open, unlock and disarm nothing.
_HARMLESS = word_set(
    "light media_player climate fan humidifier vacuum lawn_mower water_heater notify tts persistent_notification "
    "input_number input_text input_datetime number counter timer todo shopping_list calendar camera image weather "
    "assist_satellite logbook system_log logger recorder"
)
_JUDGED = frozenset(
    {"lock", "cover", "valve", "alarm_control_panel", "siren", "switch", "input_boolean", "button", "input_button"}
    | {"select", "input_select", "group", "homeassistant", *PROGRAMS}
)
# In the form of a service, and in that of a device's action.
_SAFE = word_set(
    "lock.lock cover.close_cover cover.close cover.stop_cover cover.stop cover.close_cover_tilt cover.close_tilt "
    "cover.open_cover_tilt cover.open_tilt cover.set_cover_tilt_position cover.set_tilt_position cover.stop_cover_tilt "
    "valve.close_valve valve.close valve.stop_valve siren.turn_off script.turn_off script.reload scene.create "
    "scene.delete scene.reload automation.reload group.reload homeassistant.update_entity"
)
_NESTED = ("sequence", "then", "else", "default", "parallel", "choose")
_NOT_ACTING = frozenset(
    {"delay", "wait_template", "wait_for_trigger", "condition", "variables", "stop", "set_conversation_response"}
    | {"if", "repeat", "and", "or", "not", *_NESTED}
)
_SELECTORS = ("device_id", "area_id", "floor_id", "label_id")


async def read_programs(
    connection: Connection, states: Mapping[str, Attributes], platforms: Mapping[str, str | None]
) -> dict[str, Mapping[str, Any]]:
    """The configurations that can be read. Raises what `Connection.command` raises, except CommandFailed."""
    places = asyncio.Semaphore(_PARALLEL)

    async def read(entity_id: str) -> object:
        async with places:
            return await _config_of(connection, entity_id, states[entity_id], platforms.get(entity_id))

    wanted = [entity_id for entity_id in states if entity_id.partition(".")[0] in PROGRAMS]
    found = zip(wanted, await asyncio.gather(*map(read, wanted)), strict=True)
    return {entity_id: config for entity_id, config in found if isinstance(config, dict)}


async def _config_of(connection: Connection, entity_id: str, attributes: Attributes, platform: str | None) -> object:
    if not entity_id.startswith("scene."):
        try:
            answer = await connection.command(f"{entity_id.partition('.')[0]}/config", entity_id=entity_id)
        except CommandFailed:
            return None
        return answer.get("config") if isinstance(answer, dict) else None
    if platform in _LIGHT_PLATFORMS:
        return {"entities": {}}
    if isinstance(scene_id := attributes.get("id"), str):
        try:  # only administrators may read it
            return await connection.get(f"api/config/scene/config/{quote(scene_id, safe='')}")
        except CommandFailed:
            pass
    members = attributes.get("entity_id")
    return {"entities": dict.fromkeys(members)} if isinstance(members, list) else None


def program_targets(entity_id: str, configs: Configs, describe: Describe) -> tuple[Target, ...]:
    """What a program or a group acts on, without duplicates."""
    return tuple(dict.fromkeys(_Reader(configs, describe).targets(entity_id)))


class _Reader:
    def __init__(self, configs: Configs, describe: Describe) -> None:
        self._configs = configs
        self._describe = describe
        self._open: list[str] = []

    def targets(self, entity_id: str) -> Iterator[Target]:
        """The targets of an entity: of a program or a group those of its content, otherwise itself."""
        own, attributes = self._describe(entity_id)
        if own.domain in _HARMLESS and "entity_id" not in attributes:
            return
        if entity_id in self._open:
            return  # a script that calls itself
        if len(self._open) == _MAX_DEPTH:
            yield _unknown(entity_id)
            return
        self._open.append(entity_id)
        members = attributes.get("entity_id")
        if own.domain in PROGRAMS:
            yield from self._program(entity_id)
        elif isinstance(members, list):
            yield from (it for member in members if isinstance(member, str) for it in self.targets(member))
        else:
            yield own
        self._open.pop()

    def _program(self, entity_id: str) -> Iterator[Target]:
        match self._configs.get(entity_id):
            case {"entities": dict() as entities}:
                yield from self._scene(entities)
            case {"sequence": steps} | {"actions": steps} | {"action": steps}:
                yield from self._steps(steps)
            case _:  # a blueprint, or not readable
                yield _unknown(entity_id)

    def _scene(self, entities: Mapping[object, object]) -> Iterator[Target]:
        for entity_id, wanted in entities.items():
            state = wanted.get("state") if isinstance(wanted, dict) else wanted
            if isinstance(state, bool):  # YAML reads on and off as booleans
                state = "on" if state else "off"
            if not is_secure_state(str(entity_id).partition(".")[0], str(state)):
                yield from self.targets(str(entity_id))

    def _steps(self, steps: object) -> Iterator[Target]:
        match steps:
            case list():
                yield from (target for step in steps for target in self._steps(step))
            case {"enabled": False}:
                return
            case dict():
                yield from self._step(steps)

    def _step(self, step: Mapping[str, Any]) -> Iterator[Target]:
        for key in _NESTED:
            yield from self._steps(step.get(key))
        if isinstance(repeat := step.get("repeat"), dict):
            yield from self._steps(repeat.get("sequence"))
        match step:
            case {"action": str(service)} | {"service": str(service)}:
                yield from self._service(service, step)
            case {"scene": str(scene_id)}:
                yield from self.targets(scene_id)
            case {"device_id": _, "domain": str(domain), "type": str(kind)}:
                yield from self._service(f"{domain}.{kind}", step)
            case _ if _NOT_ACTING.isdisjoint(step):
                yield _unknown("step")

    def _service(self, service: str, step: Mapping[str, Any]) -> Iterator[Target]:
        domain, _, name = service.partition(".")
        data = {**_object(step.get("data")), **_object(step.get("target"))}
        is_arming = domain == "alarm_control_panel" and name.removeprefix("alarm_").startswith("arm_")
        is_closing = domain in ("cover", "valve") and "position" in name and data.get("position") == 0
        if domain in _HARMLESS or service in _SAFE or is_arming or is_closing:
            return
        if domain == "script" and name not in ("turn_on", "toggle"):
            yield from self.targets(service)
            return
        if service == "scene.apply" and isinstance(entities := data.get("entities"), dict):
            yield from self._scene(entities)
            return
        is_switching = name in ("turn_on", "turn_off", "toggle")
        if domain not in _JUDGED or (domain == "homeassistant" and not is_switching):
            yield _unknown(service)
            return
        ids = list(_ids(data.get("entity_id"))) + list(_ids(step.get("entity_id")))
        if not ids or any(data.get(selector) for selector in _SELECTORS):
            yield Target(domain, name=name, is_unknown=True)
        for entity_id in ids:
            its_domain = entity_id.partition(".")[0]
            if "." not in entity_id or "{" in entity_id:  # all, a template, or an id of the registry
                yield Target(domain, name=name, is_unknown=True)
            elif not (name == "turn_off" and its_domain in ("cover", "valve", "scene", "script")):
                yield from self.targets(entity_id)


def _unknown(name: str) -> Target:
    domain, _, object_id = name.rpartition(".")
    return Target(domain or "script", name=object_id.replace("_", " "), is_unknown=True)


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _ids(value: object) -> Iterator[str]:
    """Entity ids: one, several separated by commas, or a list."""
    texts: Iterable[object] = value if isinstance(value, list) else [value] if value else []
    for text in texts:
        yield from (part.strip() for part in str(text).split(","))

"""Home Assistant's area, floor and entity registries, and which entities are exposed to voice assistants.

An entity that is not exposed is invisible to the model, the tools and confirmation questions.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from edgevox.home.backends.home_assistant.connection import CommandFailed, Connection
from edgevox.home.entities import Area, Floor

# Home Assistant's name for its own assistant, Assist; we use the same exposure.
_ASSIST = "conversation"
# Domains and device classes that it exposes by default.
_DOMAINS = frozenset(
    {
        "climate", "cover", "fan", "humidifier", "light", "lock", "media_player", "scene", "script", "switch",
        "todo", "vacuum", "water_heater",
    }
)  # fmt: skip
_CLASSES = {
    "binary_sensor": frozenset({"door", "garage_door", "lock", "motion", "opening", "presence", "window"}),
    "sensor": frozenset(
        {
            "aqi", "carbon_monoxide", "carbon_dioxide", "humidity", "pm10", "pm25", "temperature",
            "volatile_organic_compounds",
        }
    ),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Exposure:
    """The user's exposure choices; without any, the defaults apply."""

    exposed: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()

    def has(self, entity_id: str, device_class: str | None) -> bool:
        domain = entity_id.partition(".")[0]
        is_default = domain in _DOMAINS or device_class in _CLASSES.get(domain, ())
        return self.may_have(entity_id) and (bool(self.exposed) or (is_default and entity_id not in self.hidden))

    def may_have(self, entity_id: str) -> bool:
        """False for entities that are not exposed, whatever their device class."""
        domain = entity_id.partition(".")[0]
        return entity_id in self.exposed if self.exposed else domain in _DOMAINS or domain in _CLASSES


def read_exposure(answer: Mapping[str, Any] | None, entities: Iterable[Mapping[str, Any]] = ()) -> Exposure:
    """Read the answer of `homeassistant/expose_entity/list`; without one, the options of the entities.

    Only administrators get that answer, and the token may belong to another user.
    """
    if answer is not None:
        decided = {entity_id: assistants.get(_ASSIST) for entity_id, assistants in answer["exposed_entities"].items()}
    else:
        options = {entry["entity_id"]: entry.get("options") or {} for entry in entities}
        decided = {entity_id: its.get(_ASSIST, {}).get("should_expose") for entity_id, its in options.items()}
    return Exposure(
        exposed=frozenset(entity_id for entity_id, is_exposed in decided.items() if is_exposed),
        hidden=frozenset(entity_id for entity_id, is_exposed in decided.items() if is_exposed is False),
    )


_log = logging.getLogger(__name__)

_CHANGE_EVENTS = (
    "area_registry_updated",
    "device_registry_updated",
    "entity_registry_updated",
    "floor_registry_updated",
)


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """The registry data of one entity."""

    name: str | None = None
    aliases: tuple[str, ...] = ()
    area: str | None = None
    floor: str | None = None
    is_hidden: bool = False


@dataclass(frozen=True, slots=True)
class Registries:
    """A snapshot of the registries; an entity missing in `things` is not registered."""

    areas: tuple[Area, ...] = ()
    floors: tuple[Floor, ...] = ()
    things: Mapping[str, RegistryEntry] = field(default_factory=dict)
    exposure: Exposure = field(default_factory=Exposure)


async def follow_registries(connection: Connection, on_change: Callable[[], None]) -> None:
    """Call `on_change` whenever the registries must be read again. Raises like `Connection.command`."""

    async def follow(event: str) -> None:
        try:
            await connection.subscribe(lambda _: on_change(), "subscribe_events", event_type=event)
        except CommandFailed:
            # Which events non-administrators may receive depends on the version.
            _log.debug("Home Assistant does not send %s", event)

    await asyncio.gather(*map(follow, _CHANGE_EVENTS))


async def read_registries(connection: Connection) -> Registries:
    """Raises what `Connection.command` raises."""
    areas, floors, devices, entities, exposed = await asyncio.gather(
        connection.command("config/area_registry/list"),
        _where_known(connection, "config/floor_registry/list"),
        connection.command("config/device_registry/list"),
        connection.command("config/entity_registry/list"),
        _where_known(connection, "homeassistant/expose_entity/list"),
    )
    exposure = read_exposure(exposed, entities)
    wanted = [entry["entity_id"] for entry in entities if exposure.may_have(entry["entity_id"])]
    # Aliases are only included for entities that are requested by id.
    details = await _where_known(connection, "config/entity_registry/get_entries", entity_ids=wanted)
    return parse_registries(areas, floors or (), devices, entities, details or {}, exposure)


def parse_registries(
    areas: Iterable[Mapping[str, Any]],
    floors: Iterable[Mapping[str, Any]],
    devices: Iterable[Mapping[str, Any]],
    entities: Iterable[Mapping[str, Any]],
    details: Mapping[str, Mapping[str, Any] | None],
    exposure: Exposure,
) -> Registries:
    """Parse Home Assistant's lists."""
    area_of_device = {device["id"]: device.get("area_id") for device in devices}
    known_areas = {
        area["area_id"]: Area(area["area_id"], area["name"], _names(area), area.get("floor_id")) for area in areas
    }

    def registered(entry: Mapping[str, Any]) -> RegistryEntry:
        area = known_areas.get(entry.get("area_id") or area_of_device.get(entry.get("device_id")))
        return RegistryEntry(
            name=entry.get("name") or entry.get("original_name"),
            aliases=_names(details.get(entry["entity_id"]) or {}),
            area=area.id if area else None,
            floor=area.floor if area else None,
            is_hidden=bool(entry.get("hidden_by") or entry.get("entity_category")),
        )

    return Registries(
        areas=tuple(known_areas.values()),
        floors=tuple(Floor(floor["floor_id"], floor["name"], _names(floor)) for floor in floors),
        things={entry["entity_id"]: registered(entry) for entry in entities},
        exposure=exposure,
    )


async def _where_known(connection: Connection, command: str, /, **fields: Any) -> Any:  # noqa: ANN401 - its own result
    """The command's result; None if this version does not know it, or the token's user may not use it."""
    try:
        return await connection.command(command, **fields)
    except CommandFailed:
        return None


def _names(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The aliases in a fixed order, because Home Assistant stores a set."""
    return tuple(sorted(alias for alias in entry.get("aliases") or () if isinstance(alias, str) and alias.strip()))

"""Home Assistant's area, floor and entity registries, and which entities are exposed to voice assistants.

An entity that is not exposed is invisible to the model, the tools and confirmation questions.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError

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


_log = logging.getLogger(__name__)


def _names(value: object) -> tuple[str, ...]:
    """The aliases in a fixed order, because Home Assistant stores a set."""
    found = value if isinstance(value, list | tuple) else ()
    return tuple(sorted(alias for alias in found if isinstance(alias, str) and alias.strip()))


# A field of another type counts as missing.
_Text: TypeAlias = Annotated[str | None, BeforeValidator(lambda value: value if isinstance(value, str) else None)]
_Names: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(_names)]


class _FromOutside(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


class _Aliases(_FromOutside):
    aliases: _Names = ()


class _AreaEntry(_Aliases):
    area_id: str
    name: str
    floor_id: _Text = None


class _FloorEntry(_Aliases):
    floor_id: str
    name: str


class _DeviceEntry(_FromOutside):
    id: str
    area_id: _Text = None


class _EntityEntry(_FromOutside):
    entity_id: str
    name: _Text = None
    original_name: _Text = None
    area_id: _Text = None
    device_id: _Text = None
    hidden_by: object = None
    entity_category: object = None
    platform: _Text = None
    options: object = None

    @property
    def should_expose(self) -> object:
        match self.options:
            case {"conversation": {"should_expose": decided}}:
                return decided
        return None


class _ExposedEntities(_FromOutside):
    exposed_entities: dict[str, dict[str, object]]


_EXPOSED = TypeAdapter(_ExposedEntities)
EntryT = TypeVar("EntryT", bound=_FromOutside)


def _valid(kind: type[EntryT], entries: object) -> list[EntryT]:
    """The entries that have the right shape. Raises ValueError if there is no list, or none of them has it."""
    if not isinstance(entries, list | tuple):
        raise ValueError("a registry is not a list")  # noqa: TRY004 - as for every malformed answer
    found: list[EntryT] = []
    for entry in entries:
        try:
            found.append(kind.model_validate(entry))
        except ValidationError as error:
            _log.debug("an entry of a registry is left out: %s", error)
    if entries and not found:
        raise ValueError("no entry of a registry has the expected shape")
    return found


def read_exposure(answer: object, entities: object = ()) -> Exposure:
    """Read the answer of `homeassistant/expose_entity/list`; without one, the options of the entities.

    Only administrators get that answer, and the token may belong to another user. Raises ValueError.
    """
    if answer is not None:
        assistants = _EXPOSED.validate_python(answer).exposed_entities
        decided = {entity_id: its.get(_ASSIST) for entity_id, its in assistants.items()}
    else:
        entries = _valid(_EntityEntry, entities)
        decided = {entry.entity_id: entry.should_expose for entry in entries}
    return Exposure(
        exposed=frozenset(entity_id for entity_id, is_exposed in decided.items() if is_exposed is True),
        hidden=frozenset(entity_id for entity_id, is_exposed in decided.items() if is_exposed is False),
    )


_CHANGE_EVENTS = (
    "area_registry_updated",
    "device_registry_updated",
    "entity_registry_updated",
    "floor_registry_updated",
)
# Home Assistant logs an error for what an ordinary user asks in vain; before this version that was the floors' event.
_FLOORS_FOR_ALL = (2024, 10)


@dataclass(frozen=True, slots=True)
class RegistryEntry:
    """The registry data of one entity."""

    name: str | None = None
    aliases: tuple[str, ...] = ()
    area: str | None = None
    floor: str | None = None
    is_hidden: bool = False
    platform: str | None = None


@dataclass(frozen=True, slots=True)
class Registries:
    """A snapshot of the registries; an entity missing in `things` is not registered."""

    areas: tuple[Area, ...] = ()
    floors: tuple[Floor, ...] = ()
    things: Mapping[str, RegistryEntry] = field(default_factory=dict)
    area_of_device: Mapping[str, str | None] = field(default_factory=dict)
    exposure: Exposure = field(default_factory=Exposure)


async def read_is_admin(connection: Connection) -> bool:
    """Whether the token's user is an administrator. Raises what `Connection.command` raises."""
    match await _where_known(connection, "auth/current_user"):
        case {"is_admin": bool(is_admin)}:
            return is_admin
    return True


async def follow_registries(connection: Connection, on_change: Callable[[], None], *, is_admin: bool) -> None:
    """Call `on_change` whenever the registries must be read again. Raises like `Connection.command`."""

    async def follow(event: str) -> None:
        try:
            await connection.subscribe(lambda _: on_change(), "subscribe_events", event_type=event)
        except CommandFailed:
            _log.debug("Home Assistant does not send %s", event)

    floors_for_all = is_admin or _release(connection.version) >= _FLOORS_FOR_ALL
    await asyncio.gather(*(follow(event) for event in _CHANGE_EVENTS if floors_for_all or "floor" not in event))


def _release(version: str) -> tuple[int, ...]:
    """The year and the month of "2025.4.4"."""
    return tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())


async def read_registries(connection: Connection, *, is_admin: bool) -> Registries:
    """Raises what `Connection.command` raises."""
    areas, floors, devices, entities = await asyncio.gather(
        connection.command("config/area_registry/list"),
        _where_known(connection, "config/floor_registry/list"),
        connection.command("config/device_registry/list"),
        connection.command("config/entity_registry/list"),
    )
    exposed = await _where_known(connection, "homeassistant/expose_entity/list") if is_admin else None
    exposure = read_exposure(exposed, entities)
    wanted = [entry.entity_id for entry in _valid(_EntityEntry, entities) if exposure.may_have(entry.entity_id)]
    # Aliases are only included for entities that are requested by id.
    details = await _where_known(connection, "config/entity_registry/get_entries", entity_ids=wanted)
    return parse_registries(areas, floors or (), devices, entities, details or {}, exposure)


def parse_registries(
    areas: object, floors: object, devices: object, entities: object, details: object, exposure: Exposure
) -> Registries:
    """Parse Home Assistant's lists; an entry of another shape is left out. Raises ValueError if one is no list."""
    area_of_device = {device.id: device.area_id for device in _valid(_DeviceEntry, devices)}
    known_areas = {
        area.area_id: Area(area.area_id, area.name, area.aliases, area.floor_id) for area in _valid(_AreaEntry, areas)
    }
    aliases = {
        entity_id: found.aliases
        for entity_id, detail in (details if isinstance(details, dict) else {}).items()
        if isinstance(detail, dict)
        for found in _valid(_Aliases, [detail])
    }

    def registered(entry: _EntityEntry) -> RegistryEntry:
        area = known_areas.get(entry.area_id or area_of_device.get(entry.device_id or "") or "")
        return RegistryEntry(
            name=entry.name or entry.original_name,
            aliases=aliases.get(entry.entity_id, ()),
            area=area.id if area else None,
            floor=area.floor if area else None,
            is_hidden=bool(entry.hidden_by or entry.entity_category),
            platform=entry.platform,
        )

    return Registries(
        areas=tuple(known_areas.values()),
        floors=tuple(Floor(floor.floor_id, floor.name, floor.aliases) for floor in _valid(_FloorEntry, floors)),
        things={entry.entity_id: registered(entry) for entry in _valid(_EntityEntry, entities)},
        area_of_device=area_of_device,
        exposure=exposure,
    )


async def _where_known(connection: Connection, command: str, /, **fields: Any) -> Any:  # noqa: ANN401 - its own result
    """The command's result; None if this version does not know it, or the token's user may not use it."""
    try:
        return await connection.command(command, **fields)
    except CommandFailed:
        return None

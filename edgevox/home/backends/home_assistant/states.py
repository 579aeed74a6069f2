"""The live states of Home Assistant's entities, translated into our entities."""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, TypeAlias, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from edgevox.home.backends.home_assistant.connection import Connection
from edgevox.home.backends.home_assistant.programs import program_targets, read_programs
from edgevox.home.backends.home_assistant.registries import Registries, RegistryEntry
from edgevox.home.entities import Entity, House
from edgevox.tools.calls import PROGRAMS
from edgevox.tools.tool import Target

# Attributes that are copied unchanged if they are of that type.
_NUMBERS = frozenset(
    {
        "temperature", "current_temperature", "target_temp_low", "target_temp_high", "target_temp_step",
        "min_temp", "max_temp", "percentage", "percentage_step", "supported_features",
        "color_temp_kelvin", "min_color_temp_kelvin", "max_color_temp_kelvin", "humidity", "wind_speed",
    }
)  # fmt: skip
_TEXTS = frozenset({"media_title", "media_artist", "code_format"})
_TEXT_LISTS = frozenset({"hvac_modes", "supported_color_modes", "options"})
_UNITS = ("unit_of_measurement", "temperature_unit")
_NOWHERE = RegistryEntry()

_log = logging.getLogger(__name__)


def to_entity(
    entity_id: str,
    state: str,
    attributes: Mapping[str, Any],
    registries: Registries,
    acts_on: tuple[Target, ...] | None = None,
    changed_s: float | None = None,
) -> Entity | None:
    """The entity, or None if it is not exposed to voice assistants."""
    registered = registries.things.get(entity_id, _NOWHERE)
    device_class = _text(attributes.get("device_class"))
    exposure = registries.exposure
    if not exposure.has(entity_id, device_class):
        return None
    if registered.is_hidden and entity_id not in exposure.exposed:
        return None
    domain, _, object_id = entity_id.partition(".")
    return Entity(
        id=entity_id,
        name=_name(_text(attributes.get("friendly_name")), registered.name, object_id),
        domain=domain,
        state=state,
        aliases=registered.aliases,
        area=registered.area,
        floor=registered.floor,
        device_class=device_class,
        attributes=_attributes(domain, state, attributes),
        acts_on=acts_on,
        changed_at=moment(changed_s),
    )


def moment(epoch_s: float | None) -> datetime | None:
    """A moment of Home Assistant; None for one that is no date."""
    try:
        return None if epoch_s is None else datetime.fromtimestamp(epoch_s, UTC)
    except (OverflowError, ValueError, OSError):
        return None


def _name(*candidates: str | None) -> str:
    """The first non-empty name, with underscores as spaces."""
    names = (" ".join((name or "").replace("_", " ").split()) for name in candidates)
    return next(filter(None, names), "")


def _attributes(domain: str, state: str, attributes: Mapping[str, Any]) -> dict[str, Any]:
    ours: dict[str, Any] = {
        **{key: attributes[key] for key in _NUMBERS & attributes.keys() if _number(attributes[key]) is not None},
        **{key: attributes[key] for key in _TEXTS & attributes.keys() if _text(attributes[key]) is not None},
        **{key: attributes[key] for key in _TEXT_LISTS & attributes.keys() if _is_text_list(attributes[key])},
    }
    if isinstance(muted := attributes.get("is_volume_muted"), bool):
        ours["is_volume_muted"] = muted
    unit = next((attributes[key] for key in _UNITS if _text(attributes.get(key))), None)
    if unit is not None:
        ours["unit"] = unit
    match domain:
        case "light":
            brightness = _number(attributes.get("brightness"))
            if state == "off":
                ours["brightness"] = 0
            elif brightness is not None:
                # A light that is on is never at 0 percent.
                ours["brightness"] = max(1, round(brightness / 255 * 100))
        case "climate":
            names = {"modes": _texts(attributes.get("hvac_modes")), "presets": _texts(attributes.get("preset_modes"))}
            ours |= {name: known for name, known in names.items() if known}
            if preset := _text(attributes.get("preset_mode")):
                ours["preset"] = preset
        case "media_player":
            if (volume := _number(attributes.get("volume_level"))) is not None:
                ours["volume_level"] = round(volume * 100)
        case "cover" | "valve":
            if (position := _number(attributes.get("current_position"))) is not None:
                ours["position"] = round(position)
        case "number" | "input_number":
            ours |= {key: attributes[key] for key in ("min", "max", "step") if _number(attributes.get(key)) is not None}
        case "fan":
            if (speed := _number(ours.pop("percentage", None))) is not None:
                ours["percentage"] = round(speed)
        case _:
            pass
    return ours


def _text(value: Any) -> str | None:  # noqa: ANN401 - an attribute may be anything
    return value if isinstance(value, str) else None


def _texts(value: Any) -> tuple[str, ...]:  # noqa: ANN401 - an attribute may be anything
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list | tuple) else ()


def _number(value: Any) -> float | None:  # noqa: ANN401 - an attribute may be anything
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:  # an integer of hundreds of digits
        return None


def _is_text_list(value: Any) -> bool:  # noqa: ANN401 - an attribute may be anything
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


class _FromOutside(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)


# Another type counts as missing.
_Seconds: TypeAlias = Annotated[float | None, BeforeValidator(lambda value: _number(value))]


class _Added(_FromOutside):
    """A state `s`, attributes `a`, and `lc`, when the state last changed; None for what did not change."""

    s: str | None = None
    a: dict[str, Any] = {}
    lc: _Seconds = None


class _Removed(_FromOutside):
    a: list[str] = []


class _Change(_FromOutside):
    more: _Added = Field(default=_Added(), alias="+")
    less: _Removed = Field(default=_Removed(), alias="-")


ShapeT = TypeVar("ShapeT", _Added, _Change)


def _valid(kind: type[ShapeT], entries: object) -> Iterator[tuple[str, ShapeT]]:
    """The states of the right shape by entity id; one of another shape is left out. Raises ValueError."""
    if not isinstance(entries, dict | None):
        raise ValueError("an event has no states")  # noqa: TRY004 - as for every malformed answer
    for entity_id, entry in (entries or {}).items():
        try:
            yield entity_id, kind.model_validate(entry)
        except ValidationError as error:
            _log.debug("the state of %s is left out: %s", entity_id, error)


class LiveStates:
    """Stores changes as they arrive (one dictionary entry), and converts them when read."""

    def __init__(self) -> None:
        self._registries = Registries()
        self._states: dict[str, tuple[str, dict[str, Any]]] = {}
        self._changed_s: dict[str, float | None] = {}
        self._entities: dict[str, Entity] = {}
        # A dictionary for its order, so that the prompt lists entities in the same order.
        self._changed: dict[str, None] = {}
        self._house: House | None = None
        # Set at the next change, and replaced by a new one.
        self._news = asyncio.Event()
        self._programs: dict[str, Mapping[str, Any]] = {}
        self.programs_changed = asyncio.Event()
        """Set when a scene, a script or an automation is new or was loaded again."""

    def begin(self, event: Mapping[str, Any]) -> None:
        """Take the first event of a subscription, which has every state; others are deleted."""
        self._programs = {}
        added = event.get("a")
        gone = self._states.keys() - (added.keys() if isinstance(added, dict) else ())
        self.take({**event, "r": gone})

    def register(self, registries: Registries) -> None:
        """Use these registries from now on."""
        self._registries = registries
        self._entities.clear()
        self._changed = dict.fromkeys(self._states)
        self._house = None

    def take(self, event: Mapping[str, Any]) -> None:
        """Take an event of `subscribe_entities`: a is added, c changed, r removed."""
        for entity_id, added in _valid(_Added, event.get("a")):
            if added.s is not None:
                self._states[entity_id] = (added.s, dict(added.a))
                self._changed_s[entity_id] = added.lc
                self._touch(entity_id)
                self._note_program(entity_id)
        for entity_id, change in _valid(_Change, event.get("c")):
            state, attributes = self._states.get(entity_id, ("unknown", {}))
            if state == "unavailable" or change.more.s == "unavailable":  # a changed one is loaded again
                self._note_program(entity_id)
            attributes.update(change.more.a)
            for key in change.less.a:
                attributes.pop(key, None)
            self._states[entity_id] = (state if change.more.s is None else change.more.s, attributes)
            if change.more.s is not None:
                self._changed_s[entity_id] = change.more.lc
            self._touch(entity_id)
        removed = event.get("r")
        for entity_id in removed if isinstance(removed, list | set) else ():
            if isinstance(entity_id, str):
                self._states.pop(entity_id, None)
                self._changed_s.pop(entity_id, None)
                self._touch(entity_id)
        if self.programs_changed.is_set():
            self._touch_programs()

    def _note_program(self, entity_id: str) -> None:
        if entity_id.partition(".")[0] in PROGRAMS:
            self._programs.pop(entity_id, None)
            self.programs_changed.set()

    async def read_programs(self, connection: Connection) -> None:
        """Read what the scenes, scripts and automations act on. Raises like `Connection.command`."""
        self.programs_changed.clear()
        states = {entity_id: attributes for entity_id, (_, attributes) in self._states.items()}
        platforms = {entity_id: entry.platform for entity_id, entry in self._registries.things.items()}
        configs = await read_programs(connection, states, platforms)
        if not self.programs_changed.is_set():
            self._programs = configs
            self._touch_programs()

    def _touch_programs(self) -> None:
        """One may act through another, so all are judged again."""
        for entity_id, (_, attributes) in self._states.items():
            if entity_id.partition(".")[0] in PROGRAMS or "entity_id" in attributes:
                self._changed[entity_id] = None

    def _acts_on(self, entity_id: str, attributes: Mapping[str, Any]) -> tuple[Target, ...] | None:
        is_program = entity_id.partition(".")[0] in PROGRAMS
        if (is_program and entity_id not in self._programs) or not (is_program or "entity_id" in attributes):
            return None
        return program_targets(entity_id, self._programs, self._target)

    def _target(self, entity_id: str) -> tuple[Target, Mapping[str, Any]]:
        """Any entity as the policy judges it, exposed or not, and its attributes."""
        _, attributes = self._states.get(entity_id, ("", {}))
        domain, _, object_id = entity_id.partition(".")
        registered = self._registries.things.get(entity_id, _NOWHERE)
        name = _name(_text(attributes.get("friendly_name")), registered.name, object_id)
        device_class = _text(attributes.get("device_class")) or ""
        return Target(domain, device_class, name, entity_id, registered.aliases), attributes

    def area_of(self, origin_id: str) -> str | None:
        """The id of the area of an entity, exposed or not, or of a device."""
        if entry := self._registries.things.get(origin_id):
            return entry.area
        return self._registries.area_of_device.get(origin_id)

    def processing_satellite(self) -> str:
        """The id of the Assist satellite that processes a sentence now; "" if it is none or several."""
        busy = [one for one in self.all_ids("assist_satellite") if self._states[one][0] == "processing"]
        return busy[0] if len(busy) == 1 else ""

    def house(self) -> House:
        self._catch_up()
        if self._house is None:
            self._house = House(tuple(self._entities.values()), self._registries.areas, self._registries.floors)
        return self._house

    def entity(self, entity_id: str) -> Entity | None:
        self._catch_up()
        return self._entities.get(entity_id)

    def all_ids(self, domain: str) -> tuple[str, ...]:
        """All available entities of a domain, exposed to voice assistants or not."""
        start = f"{domain}."
        return tuple(
            entity_id
            for entity_id, (state, _) in self._states.items()
            if entity_id.startswith(start) and state != "unavailable"
        )

    def features(self, entity_id: str) -> int:
        """Home Assistant's `supported_features` of any entity; 0 if missing."""
        _, attributes = self._states.get(entity_id, ("", {}))
        return int(_number(attributes.get("supported_features")) or 0)

    async def wait_until(self, entity_id: str, is_so: Callable[[Entity], bool]) -> None:
        """Wait, without a timeout, until the condition holds for the entity."""
        while (now := self.entity(entity_id)) is None or not is_so(now):
            await self._news.wait()

    def _touch(self, entity_id: str) -> None:
        self._changed[entity_id] = None
        self._news.set()
        self._news = asyncio.Event()

    def _catch_up(self) -> None:
        for entity_id in self._changed:
            state = self._states.get(entity_id)
            acts_on = self._acts_on(entity_id, state[1]) if state else None
            changed_s = self._changed_s.get(entity_id)
            now = to_entity(entity_id, *state, self._registries, acts_on, changed_s) if state else None
            before = self._entities.get(entity_id)
            if now == before and (now is None or before is None or now.changed_at == before.changed_at):
                continue
            self._house = None
            if now is None:
                del self._entities[entity_id]
            else:
                self._entities[entity_id] = now
        self._changed.clear()

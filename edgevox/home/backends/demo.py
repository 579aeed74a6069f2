"""The demo home: two floors, seven areas, and entities whose states are kept in one small file."""

from __future__ import annotations

import asyncio
import math
import tomllib
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, assert_never

from pydantic import BaseModel, ConfigDict, Field

from edgevox.core.languages import ENGLISH
from edgevox.core.state_file import StateFile
from edgevox.home.backends.local_lists import LIST_VERBS, ItemLists, Line
from edgevox.home.colours import find_colour
from edgevox.home.entities import (
    Action,
    Area,
    Calendar,
    Entity,
    Floor,
    Forecast,
    ForecastKind,
    HomeError,
    House,
    ListItem,
    StateChange,
    is_secure_state,
)
from edgevox.home.phrasing import number, sentence, the
from edgevox.tools.tool import Target


@cache
def demo_data() -> dict[str, Any]:
    """The home in `demo.toml`, read once."""
    return _read_table("demo.toml")


def _read_table(name: str) -> dict[str, Any]:
    return tomllib.loads((files(__package__) / name).read_text(encoding="utf-8"))


@cache
def first_day(languages: tuple[str, ...] = (ENGLISH,)) -> House:
    """The demo home before anything was changed, with names in the first language; the other names are aliases."""
    names = _read_table("demo_names.toml")
    tables = {
        table: {key: {**its, **_labels(key, its, languages, names)} for key, its in demo_data()[table].items()}
        for table in ("floors", "areas", "entities")
    }
    areas = {key: Area(key, **its) for key, its in tables["areas"].items()}
    entities = []
    for key, its in tables["entities"].items():
        floor = areas[its["area"]].floor if "area" in its else None
        entities.append(Entity(key, domain=key.partition(".")[0], floor=floor, **its))
    known = {entity.id: entity for entity in entities}
    return House(
        tuple(replace(entity, acts_on=_acts_on(entity.id, known)) for entity in entities),
        tuple(areas.values()),
        tuple(Floor(key, **its) for key, its in tables["floors"].items()),
    )


def _labels(
    key: str, its: Mapping[str, Any], languages: tuple[str, ...], names: Mapping[str, Mapping[str, str | list[str]]]
) -> dict[str, Any]:
    """Name and aliases: those of each language in turn, then the English ones."""
    labels: dict[str, str] = {}
    for language in (*languages, ENGLISH):
        said = [its["name"], *its.get("aliases", ())] if language == ENGLISH else names.get(language, {}).get(key, [])
        for label in [said] if isinstance(said, str) else said:
            labels.setdefault(label.casefold(), label)
    name, *aliases = labels.values()
    return {"name": name, "aliases": tuple(aliases)}


def _acts_on(scene_id: str, known: Mapping[str, Entity]) -> tuple[Target, ...] | None:
    scene = demo_data()["scenes"].get(scene_id)
    return scene and tuple(
        Target(one.domain, one.device_class or "", one.name, one.id)
        for one in (known[entity_id] for entity_id in scene)
        if not is_secure_state(one.domain, scene[one.id]["state"])
    )


_ON_STATES = {
    "cover": ("open", "closed"),
    "valve": ("open", "closed"),
    "lock": ("locked", "unlocked"),
    "alarm_control_panel": ("armed_away", "disarmed"),
    "climate": ("heat", "off"),
    "vacuum": ("cleaning", "docked"),
    "lawn_mower": ("mowing", "docked"),
    "scene": ("active", "never"),
}


def entity_after(entity: Entity, action: Action) -> Entity:
    """The entity after the action. Raises HomeError if it does not support it."""
    values = action.values
    match action.verb:
        case "turn_on" | "start":
            return _switched(entity, on=True)
        case "turn_off" | "dock":
            return _switched(entity, on=False)
        case "set_light":
            return _lit(entity, values)
        case "set_position":
            return _with(entity, "open" if values["position"] else "closed", **values)
        case "set_temperature":
            return _tempered(entity, values["temperature"])
        case "set_speed":
            return _with(entity, "on" if values["percentage"] else "off", **values)
        case "set_volume":
            return _with(entity, entity.state, **values)
        case "stop":
            return _stopped(entity)
        case "set_mode":
            return _in_mode(entity, str(values["mode"]))
        case "set_number":
            return replace(entity, state=number(values["value"]))
        case "set_humidity":
            return _with(entity, entity.state, **values)
        case "select_option":
            return replace(entity, state=str(values["option"]))
        case "arm":
            mode = str(values["mode"])
            return replace(entity, state=mode if mode == "disarmed" else f"armed_{mode}")
        case "pause" if entity.domain in ("vacuum", "lawn_mower"):
            if entity.state == "docked":
                raise HomeError(sentence(f"{the(entity)} is not running"))
            return replace(entity, state="paused")
        case "pause" | "unpause" | "next" | "previous" | "mute" | "unmute" | "play":
            return _played(entity, action)
        case "clean_area":
            return _with(entity, "cleaning", cleaning=values["area"])
        case "add_item" | "complete_item" | "reopen_item" | "remove_item" | "clear_items" | "create_list":
            raise AssertionError(action.verb)  # list items are not part of the entity
        case _:
            assert_never(action.verb)


def _switched(entity: Entity, *, on: bool) -> Entity:
    state = _ON_STATES.get(entity.domain, ("on", "off"))[0 if on else 1]
    match entity.domain:
        case "light":
            brightness = (entity.attributes.get("brightness") or 100) if on else 0
            return _with(entity, state, brightness=brightness)
        case "fan":
            return _with(entity, state, percentage=(entity.attributes.get("percentage") or 50) if on else 0)
        case "cover" | "valve":
            return _with(entity, state, position=100 if on else 0)
        case "media_player" if on and entity.state not in ("off", "idle"):
            return entity
        case _:
            return replace(entity, state=state)


def _stopped(entity: Entity) -> Entity:
    """A cover of the demo home moves at once, so it stands still already."""
    return replace(entity, state="open" if entity.attributes.get("position") else "closed")


def _in_mode(entity: Entity, mode: str) -> Entity:
    if mode in entity.attributes.get("presets", ()):
        return _with(entity, entity.state, preset=mode)
    return replace(entity, state=mode)


def _lit(entity: Entity, values: Mapping[str, Any]) -> Entity:
    changes = dict(values)
    if "color" in changes:
        if "color" not in entity.attributes:
            raise HomeError(sentence(f"{the(entity)} cannot change its colour"))
        changes["color"] = find_colour(str(changes["color"])).name
    changes.setdefault("brightness", entity.attributes.get("brightness") or 100)
    return _with(entity, "on" if changes["brightness"] else "off", **changes)


def _tempered(entity: Entity, temperature: float) -> Entity:
    low, high = entity.attributes["min_temp"], entity.attributes["max_temp"]
    if not low <= temperature <= high:
        raise HomeError(sentence(f"{the(entity)} goes from {number(low)} to {number(high)} degrees"))
    return _with(entity, "heat" if entity.state == "off" else entity.state, temperature=float(temperature))


def _played(entity: Entity, action: Action) -> Entity:
    match action.verb:
        case "mute" | "unmute":
            return _with(entity, entity.state, is_volume_muted=action.verb == "mute")
        case "play":
            return _with(entity, "playing", media_title=action.values["search_query"], track=1)
        case "unpause" if entity.state not in ("paused", "playing"):
            raise HomeError(sentence(f"nothing is paused on {the(entity)}"))
        case _ if entity.state not in (("playing",) if action.verb == "pause" else ("playing", "paused")):
            raise HomeError(sentence(f"nothing is playing on {the(entity)}"))
        case "pause" | "unpause":
            return _with(entity, "paused" if action.verb == "pause" else "playing")
        case "next" | "previous":
            step = 1 if action.verb == "next" else -1
            return _with(entity, "playing", track=max(1, entity.attributes.get("track", 1) + step))
        case _:
            raise AssertionError(action.verb)


def _with(entity: Entity, state: str, **changes: Any) -> Entity:  # noqa: ANN401 - attributes of any kind
    return replace(entity, state=state, attributes={**entity.attributes, **changes})


HOME_FILE = "demo-home.json"


class _StoredEntity(BaseModel):
    model_config = ConfigDict(extra="forbid")

    state: str
    attributes: dict[str, Any] = Field(default_factory=dict)


class _Content(ItemLists):
    """The changes since the initial state."""

    things: dict[str, _StoredEntity] = Field(default_factory=dict)
    lists: dict[str, list[Line]] = Field(
        default_factory=lambda: {
            name: [Line(text=text) for text in texts] for name, texts in demo_data()["lists"].items()
        }
    )


class DemoHome:
    """A simulated home, stored in a file or, without a path, in memory."""

    def __init__(
        self,
        path: Path | None = None,
        now: Callable[[], datetime] = lambda: datetime.now().astimezone(),
        languages: tuple[str, ...] = (ENGLISH,),
    ) -> None:
        self._first_day = first_day(languages)
        self.announcements: list[str] = []
        self._now = now
        self._started = now()
        self._changes: defaultdict[str, list[StateChange]] = defaultdict(list)
        self._file = StateFile(path, _Content)

    problem = ""
    location = None

    async def start(self) -> None:
        """Nothing to connect."""

    async def close(self) -> None:
        """Nothing to disconnect."""

    def house(self) -> House:
        """Raises StateError."""
        return self._house(self._file.read())

    async def apply(self, action: Action) -> tuple[Entity, ...]:
        """Raises HomeError and StateError."""
        return await asyncio.to_thread(self._apply, action)

    async def items(self, list_id: str) -> tuple[ListItem, ...]:
        """Raises StateError."""
        return self._file.read().items(list_id)

    def room_of(self, origin_id: str) -> str:
        """The demo home has no satellites."""
        return ""

    async def announce_problem(self) -> str:
        return ""

    async def announce(self, message: str) -> None:
        """Does nothing: the demo home has no loudspeakers."""
        self.announcements.append(message)

    async def forecast(self, weather_id: str, kind: ForecastKind) -> tuple[Forecast, ...]:
        """The same days in every week, beginning today."""
        midnight = self._now().replace(hour=0, minute=0, second=0, microsecond=0)
        days = [
            Forecast(midnight + timedelta(days=number), **day) for number, day in enumerate(demo_data()["forecast"])
        ]
        if kind == "daily":
            return tuple(days)
        return tuple(_hour(day, hour) for day in days[:2] for hour in range(24))

    async def changes(self, entity_id: str, since: datetime) -> tuple[StateChange, ...]:
        """Those since the program started: the demo home keeps no record in its file."""
        return tuple(change for change in self._changes[entity_id] if change.at >= since)

    def calendars(self) -> tuple[Calendar, ...]:
        return ()

    def set_facts(self, entity_id: str, facts: Mapping[str, Any]) -> None:
        """Set the `state`, attributes or list `items` of an entity, as an evaluation needs them. Raises StateError."""
        changes = {fact: value for fact, value in facts.items() if fact not in ("state", "items")}
        with self._file.changing() as content:
            if "items" in facts:
                content.lists[entity_id] = [Line(text=text) for text in facts["items"]]
                return
            entity = self._house(content).entity(entity_id)
            assert entity is not None
            content.things[entity_id] = _StoredEntity(
                state=str(facts.get("state", entity.state)), attributes={**entity.attributes, **changes}
            )

    def _note(self, before: Entity | None, now: Entity) -> None:
        if before is not None and before.state != now.state:
            record = self._changes[now.id]
            if not record:
                record.append(StateChange(self._started, before.state))
            record.append(StateChange(self._now(), now.state))

    def forget_words(self, is_forgotten: Callable[[str], bool]) -> int:
        """Delete list items and titles that are to be forgotten, and return their number. Raises StateError."""
        with self._file.changing() as content:
            forgotten = content.forget(is_forgotten)
            for thing in content.things.values():
                if is_forgotten(str(thing.attributes.get("media_title", ""))):
                    thing.attributes["media_title"] = ""
                    forgotten += 1
        return forgotten

    def _house(self, content: _Content) -> House:
        known = tuple(_now(entity, content) for entity in self._first_day.entities)
        return replace(self._first_day, entities=(*known, *content.created()))

    def _apply(self, action: Action) -> tuple[Entity, ...]:
        with self._file.changing() as content:
            if action.verb in LIST_VERBS:
                done = set(content.change(action))
            else:
                before = self._house(content)
                changed = _changed(before, action)
                done = set(changed)
                for entity in changed.values():
                    self._note(before.entity(entity.id), entity)
                    content.things[entity.id] = _StoredEntity(state=entity.state, attributes=dict(entity.attributes))
            house = self._house(content)
        order = [target.id for target in action.targets if target.id in done] or sorted(done)
        return tuple(filter(None, map(house.entity, order)))


def _hour(day: Forecast, hour: int) -> Forecast:
    """One hour of a day that is coldest at five and warmest at five in the afternoon."""
    high, low = day.temperature or 0.0, day.low or 0.0
    warmth = 0.5 - 0.5 * math.cos((hour - 5) / 24 * 2 * math.pi)
    return replace(day, at=day.at + timedelta(hours=hour), temperature=round(low + (high - low) * warmth, 1), low=None)


def _now(entity: Entity, content: _Content) -> Entity:
    if entity.domain == "todo":
        return replace(entity, state=content.state(entity.id))
    if (thing := content.things.get(entity.id)) is None:
        return entity
    return replace(entity, state=thing.state, attributes={**entity.attributes, **thing.attributes})


def _changed(house: House, action: Action) -> dict[str, Entity]:
    """The changed entities. Raises HomeError if none of the targets supports the action."""
    done: dict[str, Entity] = {}
    refusal: HomeError | None = None
    for target in action.targets:
        entity = house.entity(target.id)
        if entity is None:
            continue
        try:
            done[entity.id] = entity_after(entity, action)
        except HomeError as error:
            refusal = refusal or error
            continue
        if action.verb == "turn_on":
            done |= _scene(house, entity.id)
    if refusal is not None and not done:
        raise refusal
    return done


def _scene(house: House, scene_id: str) -> dict[str, Entity]:
    """The entities that a scene sets."""
    scene = demo_data()["scenes"].get(scene_id, {})
    return {
        entity.id: _with(entity, scene[entity.id]["state"], **scene[entity.id].get("attributes", {}))
        for entity in house.entities
        if entity.id in scene
    }

"""Floors, areas and entities of a home as immutable values, and the protocol that a backend implements.

A backend (demo, Home Assistant, MQTT) reports the entities and applies one action at a time. Matching names,
resolving targets and wording the answers is done by the tools.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol, TypeAlias

from edgevox.core.errors import ToolError
from edgevox.tools.tool import Target

Attributes: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Floor:
    """One storey."""

    id: str
    name: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Area:
    """A room or an outdoor area; `floor` is the id of its floor."""

    id: str
    name: str
    aliases: tuple[str, ...] = ()
    floor: str | None = None


Place: TypeAlias = Area | Floor


@dataclass(frozen=True, slots=True)
class Entity:
    """A device or service with a state, in Home Assistant's terms; `area` and `floor` are ids.

    Percentages (`brightness`, `position`, `percentage`, `volume_level`) are whole numbers from 0 to 100, whatever the
    backend uses. `acts_on` are the targets of a scene, a script, an automation or a group, without those that are only
    locked, closed or armed; None if they are not known.
    """

    id: str
    name: str
    domain: str
    state: str
    aliases: tuple[str, ...] = ()
    area: str | None = None
    floor: str | None = None
    device_class: str | None = None
    attributes: Attributes = field(default_factory=dict, hash=False)
    acts_on: tuple[Target, ...] | None = None
    changed_at: datetime | None = field(default=None, compare=False)
    """since when it has been in this state, where the backend knows it"""


@dataclass(frozen=True, slots=True)
class StateChange:
    """A state that an entity was in from this moment on."""

    at: datetime
    state: str


Entities: TypeAlias = tuple[Entity, ...]


def is_secure_state(domain: str, state: str) -> bool:
    """Whether what secures the house does so in this state: a scene that sets it needs no yes."""
    match domain:
        case "lock":
            return state == "locked"
        case "cover" | "valve":
            return state == "closed"
        case "alarm_control_panel":
            return state.startswith("armed")
        case _:
            return domain == "siren" and state == "off"


@dataclass(frozen=True, slots=True)
class ListItem:
    """One line of a shopping list or a to-do list."""

    text: str
    is_done: bool = False


ForecastKind: TypeAlias = Literal["daily", "hourly"]


@dataclass(frozen=True, slots=True)
class Forecast:
    """The expected weather of a day or an hour from `at` on; None where it is not known.

    `condition` is a state of a weather entity, `low` the lowest temperature of a day.
    """

    at: datetime
    condition: str
    temperature: float | None = None
    low: float | None = None
    rain_percent: float | None = None
    wind_speed: float | None = None


@dataclass(frozen=True, slots=True)
class CalendarEvent:
    """One event, or one occurrence of a repeating event, in local time; `end` is the first moment after it.

    An event of whole days begins and ends at midnight. `repeat` are the days of the week (0 is Monday) on which a new
    event repeats.
    """

    title: str
    start: datetime
    end: datetime
    is_all_day: bool = False
    repeat: tuple[int, ...] = ()


class Calendar(Protocol):
    """A calendar. Reading and changing it can raise HomeError, whose message can be spoken."""

    @property
    def name(self) -> str: ...

    @property
    def is_read_only(self) -> bool: ...

    async def events(self, start: datetime, end: datetime) -> tuple[CalendarEvent, ...]:
        """The events and occurrences that overlap the time from `start` to `end`, in any order."""

    async def add(self, event: CalendarEvent) -> None:
        """Write a new event."""


@dataclass(frozen=True, slots=True)
class Location:
    """The place of a home, in degrees north and east."""

    latitude: float
    longitude: float


@dataclass(frozen=True, slots=True)
class House:
    """A snapshot of a home; `left_out` says what the backend found and cannot use, and why."""

    entities: Entities
    areas: tuple[Area, ...] = ()
    floors: tuple[Floor, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def places(self) -> tuple[Place, ...]:
        return (*self.areas, *self.floors)

    def entity(self, entity_id: str) -> Entity | None:
        """The entity with that id, or None."""
        return next((entity for entity in self.entities if entity.id == entity_id), None)

    def area(self, area_id: str | None) -> Area | None:
        """The area with that id, or None."""
        return next((area for area in self.areas if area.id == area_id), None)


Verb: TypeAlias = Literal[
    "turn_on", "turn_off", "set_light", "set_position", "set_temperature", "set_speed", "set_volume", "pause",
    "unpause", "next", "previous", "mute", "unmute", "play", "start", "clean_area", "dock", "add_item",
    "complete_item", "reopen_item", "remove_item", "clear_items", "create_list", "stop", "set_mode", "select_option",
    "arm", "set_number", "set_humidity",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Action:
    """One action on entities that support it; `create_list` has none.

    `turn_on` opens covers and valves, locks locks and arms alarms; `turn_off` does the opposite. `stop` is for covers
    and valves, `pause` for players, vacuums and mowers. The values:

    turn_on/off      code, of a lock or an alarm panel that wants one
    set_light        brightness (0 to 100), color (a colour's name), or both
    set_position     position (0 closed, 100 open)
    set_temperature  temperature
    set_speed        percentage
    set_volume       volume_level (0 to 100)
    play             search_query, and media_class where it is known
    clean_area       area (an area's id)
    *_item           item
    create_list      name
    set_mode         mode, one of the entity's `modes`
    select_option    option, one of the entity's `options`
    set_number       value, of a number between the entity's `min` and `max`
    set_humidity     humidity (0 to 100)
    arm              mode (away, home, night, vacation or disarmed), and code where it is known
    """

    verb: Verb
    targets: Entities
    values: Attributes = field(default_factory=dict, hash=False)


class Home(Protocol):
    """A home. Reading it and acting on it can raise HomeError, whose message can be spoken."""

    def house(self) -> House:
        """The last known snapshot, without waiting for the home. Raises HomeError when there is none yet."""

    async def apply(self, action: Action) -> Entities:
        """Apply the action; returns the entities that acted, in their new state and in the same order."""

    async def items(self, list_id: str) -> tuple[ListItem, ...]:
        """The items of a list, in order."""

    async def announce(self, message: str) -> None:
        """Announce a message on the loudspeakers of the home."""

    async def forecast(self, weather_id: str, kind: ForecastKind) -> tuple[Forecast, ...]:
        """The forecast of a weather entity, earliest first; none where it has no such forecast."""

    async def changes(self, entity_id: str, since: datetime) -> tuple[StateChange, ...]:
        """The recorded changes of an entity's state, earliest first; none where the home keeps no record."""

    def calendars(self) -> tuple[Calendar, ...]:
        """The calendars of the home."""


class ConnectedHome(Home, Protocol):
    """A home behind a connection."""

    async def start(self) -> None:
        """Connect. Returns when the first snapshot is known or `problem` is set; raises nothing.

        A lost connection is re-established in the background, without a limit on retries.
        """

    async def close(self) -> None:
        """Disconnect; raises nothing."""

    @property
    def problem(self) -> str:
        """Why the home cannot be reached, with what to do about it; "" while it is connected."""

    @property
    def location(self) -> Location | None:
        """The place of the home, if the backend knows it; may be read in any thread."""

    def room_of(self, origin_id: str) -> str:
        """The name of the area of a device or an entity, exposed or not; "" if it is not known. Raises nothing.

        Without an id it is the area of the only voice satellite that processes a sentence now.
        """

    async def announce_problem(self) -> str:
        """Why `announce` would be heard nowhere, as a sentence; "" if it would be heard. Raises nothing."""


class HomeError(ToolError):
    """A request that the home did not fulfil; the message is a sentence for the user."""

    code = "home_error"

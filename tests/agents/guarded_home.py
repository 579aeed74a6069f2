"""A home with everything that can be opened, unlocked or disarmed, directly or through something else."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from edgevox.home import Action, Area, Entity, Floor, House, ListItem
from edgevox.home.backends.demo import entity_after
from edgevox.home.entities import Calendar, Entities, Forecast, ForecastKind, StateChange
from edgevox.tools.tool import Target

FLOORS = (Floor("ground", "Ground Floor", ("Downstairs",)), Floor("upper", "Upper Floor", ("Upstairs",)))
AREAS = tuple(
    Area(name.lower().replace(" ", "_"), name, (), floor)
    for name, floor in {
        "Hallway": "ground", "Garage": "ground", "Garden": "ground", "Living Room": "ground", "Cellar": "ground",
        "Workshop": "ground", "Bedroom": "upper",
    }.items()
)  # fmt: skip

_LOCK = Target("lock", "", "Front Door", "lock.front_door")
_GARAGE = Target("cover", "garage", "Garage Door", "cover.garage_door")
_ALARM = Target("alarm_control_panel", "", "House Alarm", "alarm_control_panel.house")
_LAMP = Target("light", "", "Desk Lamp", "light.desk")
_OPENER = Target("switch", "", "Gate Opener", "switch.gate_opener")
_UNKNOWN = Target("script", "", "blueprint", is_unknown=True)


def _entity(
    entity_id: str,
    name: str,
    state: str,
    area: str | None = None,
    device_class: str | None = None,
    *aliases: str,
    acts_on: tuple[Target, ...] | None = None,
    **attributes: object,
) -> Entity:
    floor = next((one.floor for one in AREAS if one.id == area), None)
    domain = entity_id.partition(".")[0]
    return Entity(entity_id, name, domain, state, aliases, area, floor, device_class, attributes, acts_on)


SECURING = (
    _entity("lock.front_door", "Front Door", "locked", "hallway"),
    _entity("lock.back_door", "Back Door", "locked", "garden", None, "Rear Entrance"),
    _entity("cover.garage_door", "Garage Door", "closed", "garage", "garage", position=0),
    _entity("cover.side_gate", "Side Gate", "closed", "garden", "gate"),
    _entity("cover.cellar", "Cellar Door", "closed", "cellar"),
    _entity("cover.roller", "Workshop Door", "closed", "workshop", "shutter", position=0),
    _entity("cover.outside", "Outside Covers", "closed", acts_on=(_GARAGE,)),
    _entity("alarm_control_panel.house", "House Alarm", "armed_away", "hallway", None, "Burglar Alarm"),
    _entity("valve.gas", "Gas Valve", "closed", "cellar", "gas"),
    _entity("valve.supply", "Gas Supply", "closed", "cellar"),
)
RELAYS = (
    _entity("switch.gate_opener", "Gate Opener", "off", "garden"),
    _entity("switch.relay_3", "Relay Three", "off", "workshop", None, "Workshop Lock"),
    _entity("switch.garage_door_2", "Relay One", "off", "garage"),
    _entity("switch.yard", "Yard Switches", "off", "garden", acts_on=(_OPENER,)),
    _entity("input_boolean.guard", "Night Alarm", "on"),
    _entity("select.porch", "Porch Lock", "locked", options=("locked", "unlocked")),
    _entity("siren.roof", "Roof Siren", "off"),
)
PROGRAMS = (
    _entity("button.garage", "Open Garage", "unknown"),
    _entity("input_button.buzz", "Door Buzzer", "unknown"),
    _entity("automation.arrival", "Arrival", "off", acts_on=(_LOCK,)),
    _entity("automation.unread", "Unread Automation", "off"),
    _entity("scene.welcome", "Welcome Home", "never", acts_on=(_LOCK,)),
    _entity("scene.party", "Party", "never", "living_room", acts_on=(_LAMP, _GARAGE)),
    _entity("scene.unread", "Mystery", "never"),
    _entity("script.leaving", "Leaving", "off", acts_on=(_ALARM,)),
    _entity("script.blueprint", "Blueprint Routine", "off", acts_on=(_UNKNOWN,)),
    _entity("script.unread", "Secret Routine", "off", None, None, "Chill Mode"),
    _entity("light.entrance", "Entrance Things", "off", acts_on=(_LAMP, _LOCK), brightness=0),
    _entity("group.unread", "Unread Group", "off"),
)
HARMLESS = (
    _entity("light.hall", "Hall Light", "on", "hallway", brightness=80),
    _entity("light.garage", "Garage Light", "off", "garage", brightness=0),
    _entity("light.desk", "Desk Lamp", "off", "bedroom", brightness=0),
    _entity("switch.coffee", "Coffee Machine", "off", "living_room"),
    _entity("switch.front_door", "Porch Light", "off"),
    _entity("cover.blinds", "Living Room Blinds", "open", "living_room", "blind", position=40),
    _entity("cover.patio", "Patio Door Curtains", "closed", "living_room"),
    _entity("media_player.tv", "TV", "playing", "living_room", volume_level=30),
    _entity("climate.heating", "Heating", "heat", "living_room", temperature=21.0, min_temp=7.0, max_temp=30.0),
    _entity("vacuum.robot", "Robot", "docked", "living_room"),
    _entity("scene.movie", "Movie Night", "never", acts_on=(_LAMP,)),
    _entity("scene.night", "Lock Up", "never", acts_on=()),
    _entity("script.garage_lights", "Garage Lights Off", "off", acts_on=()),
    _entity("automation.sunset", "Sunset Lamps", "off", acts_on=(_LAMP,)),
    _entity("light.lamps", "Lamp Circle", "off", acts_on=(), brightness=0),
    _entity("button.router", "Restart Router", "unknown"),
    _entity("select.mood", "Mood", "calm", options=("calm", "lively")),
    _entity("binary_sensor.window", "Bedroom Window", "off", "bedroom", "window"),
    _entity("todo.shopping_list", "Shopping List", "0"),
)
_SECURING_IDS = {entity.id for entity in SECURING}
_ANY_CHANGE = {entity.id for entity in (*RELAYS, *PROGRAMS)}
_OPEN_STATES = {"unlocked", "open", "disarmed"}


class GuardedHome:
    """Notes every act that opens, unlocks or disarms, or that may do so, in `breaches`."""

    def __init__(self, states: dict[str, str] | None = None, names: dict[str, str] | None = None) -> None:
        self.breaches: list[str] = []
        self.done: list[str] = []
        self.written = ["milk"]
        everything = (*SECURING, *RELAYS, *PROGRAMS, *HARMLESS)
        self._entities = {entity.id: entity for entity in everything}
        for entity_id, name in (names or {}).items():
            self._entities[entity_id] = replace(self._entities[entity_id], name=name)
        for entity_id, state in (states or {}).items():
            entity = self._entities[entity_id]
            position = {"position": 100 if state == "open" else 0} if "position" in entity.attributes else {}
            self._entities[entity_id] = replace(entity, state=state, attributes={**entity.attributes, **position})

    def house(self) -> House:
        return House(tuple(self._entities.values()), AREAS, FLOORS)

    async def apply(self, action: Action) -> Entities:
        if action.verb == "add_item":
            self.written.append(str(action.values["item"]))
            return action.targets
        return tuple(self._applied(target, action) for target in action.targets)

    def _applied(self, target: Entity, action: Action) -> Entity:
        before = self._entities[target.id]
        after = self._entities[target.id] = entity_after(before, action)
        self.done.append(target.id)
        is_opened = target.id in _SECURING_IDS and after.state in _OPEN_STATES
        is_further = (after.attributes.get("position") or 0) > (before.attributes.get("position") or 0)
        is_stopped = target.domain in ("scene", "script") and action.verb == "turn_off"
        if (is_opened and (after.state != before.state or is_further)) or (target.id in _ANY_CHANGE and not is_stopped):
            self.breaches.append(target.id)
        return after

    async def items(self, list_id: str) -> tuple[ListItem, ...]:
        return tuple(map(ListItem, self.written))

    async def announce(self, message: str) -> None:
        self.done.append(message)

    async def forecast(self, weather_id: str, kind: ForecastKind) -> tuple[Forecast, ...]:
        return ()

    async def changes(self, entity_id: str, since: datetime) -> tuple[StateChange, ...]:
        return ()

    def calendars(self) -> tuple[Calendar, ...]:
        return ()

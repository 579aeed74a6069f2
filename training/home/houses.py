"""Homes to talk about: random ones, the demo home, and the names that a listed home makes known."""

from __future__ import annotations

import random
from collections.abc import Iterable

from edgevox.home.backends.demo import first_day
from edgevox.home.entities import Area, Entity, Floor, House
from training.home.lexicon import vocabulary
from training.home.lexicon.custom_sensors import own_name
from training.home.lexicon.devices import CALLED_BY_KIND, MEASURED, NAMES, ODD_COVERS, READINGS, SENSED
from training.home.lexicon.other_sensor_classes import CLASSES, gauge_name, said_name
from training.home.lexicon.rare_binary_sensors import RARE_BINARY_SENSORS, WARM
from training.home.lexicon.vocabulary import (
    BARE_FLOORS,
    FLOORS,
    NOOKS,
    OUTDOOR,
    OWNED_ROOMS,
    PEOPLE,
    ROBOT_PEOPLE,
    ROOMS,
)

DEMO = first_day()

# Kinds of things in a home, and how often there is one.
_DOMAINS = (
    ("light", 30), ("switch", 9), ("fan", 5), ("cover", 12), ("lock", 5), ("media_player", 9), ("climate", 6),
    ("scene", 6), ("script", 3), ("automation", 2), ("vacuum", 3.5), ("lawn_mower", 2), ("valve", 2),
    ("humidifier", 1.5), ("siren", 1), ("input_boolean", 2), ("alarm_control_panel", 3), ("weather", 2.5),
    ("binary_sensor", 21), ("sensor", 21), ("person", 4), ("todo", 4),
)  # fmt: skip
_DOMAIN_NAMES = [name for name, _ in _DOMAINS]
_DOMAIN_WEIGHTS = [weight for _, weight in _DOMAINS]
RARE_SHARE = 0.15  # of the names that nobody expects
_NOWHERE = frozenset({"scene", "script", "automation", "person", "todo", "weather", "input_boolean"})

# What stands behind a room's name in a thing's name, by domain.
_IN_ROOM = {
    "light": ("light", "light", "light", "lights", "lamp", "ceiling light", "main light", "led strip", "spots"),
    "switch": ("plug", "switch", "outlet", "heater plug"),
    "fan": ("fan", "ceiling fan", "vent"),
    "cover": ("blinds", "blind", "curtain", "curtains", "shutter", "shutters", "shade", "window"),
    "lock": ("door", "door lock", "lock"),
    "media_player": ("speaker", "tv", "radio", "sonos", "echo", "display"),
    "climate": ("thermostat", "heating", "radiator", "ac", "heater", "stove", "fire", "boiler"),
    "vacuum": ("vacuum",),
    "valve": ("valve",),
    "humidifier": ("humidifier",),
    "siren": ("siren",),
    "sensor": ("temperature", "humidity", "illuminance", "co2", "power"),
}
_SENSOR_WORDS = {"co2": "carbon_dioxide"}
_SENSED_IN_ROOM = {
    "window": "window", "door": "door", "motion": "motion", "occupancy": "occupancy", "moisture": "leak",
    "smoke": "smoke detector", "carbon_monoxide": "co detector", "light": "light sensor", "sound": "sound",
}  # fmt: skip
_SENSED_CLASSES = (*SENSED, "window", "window", "door", "door", "motion", "motion", "window", "door")
_COVER_WORDS = (
    ("garage", "garage"), ("curtain", "curtain"), ("blind", "blind"), ("shutter", "shutter"), ("shade",
    "shade"),
    ("awning", "awning"), ("gate", "gate"), ("door", "door"), ("window", "window"), ("velux", "window"),
    ("skylight", "window"), ("sail", "awning"), ("screen", "shade"), ("flap", "damper"), ("louv", "damper"),
    ("pergola", "awning"),
)  # fmt: skip
_ALIASES = {
    "light": ("big light", "lamp by the door", "the bright one"),
    "media_player": ("music box", "the box", "boombox"),
    "vacuum": ("robot", "little helper"),
    "switch": ("zapper", "device one"),
    "alarm_control_panel": ("alarm", "house alarm", "alarm", "burglar alarm", "security"),
}
_LISTS = ("shopping list", "to-do list", "chores", "tasks", "packing list", "groceries", "work list", "family list")
_UPPER = {"tv": "TV", "ac": "AC", "led": "LED", "co": "CO", "co2": "CO2", "uv": "UV", "wifi": "WiFi", "nas": "NAS"}


_CALLED_LIKE_PEOPLE = frozenset({"person", "vacuum", "lawn_mower"})
_CALLED_BY_KIND_SHARE = 0.08
_ODD_SHARE = 0.12
_LIKE_A_PERSON_SHARE = 0.35
_WATCHED = {"gate": "opening", "garage": "garage_door", "door": "door", "window": "window", "awning": "opening"}
_ODD_NAMES = tuple(ODD_COVERS)
_NOOK_SHARE = 0.09  # of the lights
_OWN_SHARE = 0.3  # of the sensors
_WARM_SHARE = 0.06
_GAUGE_SHARE = 0.34  # of the other sensors
_SAID_SHARE = 0.14
_SELDOM_SHARE = 0.45  # of the binary sensors that something more seldom may have
_SCENE_PLACED_SHARE = 0.3
_OUTDOOR_VALVE_SHARE = 0.7
# Rooms that are called like a whole home.
_LIKE_HOMES = ("house", "flat", "apartment", "home", "cottage", "building", "bungalow")


def random_house(rng: random.Random) -> House:
    """A home of 0 to 45 things."""
    many = rng.randint(0, 45) if rng.random() < 0.6 else rng.randint(8, 26)
    floors = _floors(rng)
    areas = _areas(rng, floors, many)
    written = _titled if rng.random() < 0.85 else str
    things: list[Entity] = []
    taken: set[tuple[str, str]] = set()
    for number in range(many):
        thing = _thing(rng, number, areas, written)
        # Nobody calls a robot and a child the same.
        kind = "somebody" if thing.domain in _CALLED_LIKE_PEOPLE else thing.domain
        key = (kind, thing.name.casefold())
        if key not in taken:
            taken.add(key)
            things.append(thing)
    return House(tuple(things), areas, floors)


def _floors(rng: random.Random) -> tuple[Floor, ...]:
    count = rng.choice((0, 0, 0, 1, 2, 2, 2, 3))
    floors = []
    names = LIKE_FLOORS if rng.random() < 0.3 else (*FLOORS, *BARE_FLOORS * 2)
    for number, name in enumerate(dict.fromkeys(rng.sample(names, count))):
        aliases: tuple[str, ...] = ()
        if rng.random() < 0.3:
            up = name != "upstairs" and name.startswith(("first", "second", "third", "top", "upper", "1st", "2nd"))
            aliases = ("Upstairs",) if up else ("Downstairs",) if name.startswith(("ground", "main", "lower")) else ()
        floors.append(Floor(f"f{number}", _titled(name), aliases))
    return tuple(floors)


def _areas(rng: random.Random, floors: tuple[Floor, ...], things: int) -> tuple[Area, ...]:
    count = min(rng.randint(1, 11), things // 2 + 1)
    taken = {floor.name.lower() for floor in floors}
    names = [name for name in dict.fromkeys(_room(rng) for _ in range(count)) if name not in taken]
    return tuple(
        Area(
            f"a{number}",
            _titled(name),
            (_titled(rng.choice(ROOMS)),) if rng.random() < 0.08 else (),
            rng.choice(floors).id if floors and rng.random() < 0.9 else None,
        )
        for number, name in enumerate(names)
    )


# Areas in one home, floors in another: the list says which.
LIKE_FLOORS = (
    "basement", "attic", "loft", "cellar", "upstairs", "downstairs", "annexe", "first floor", "top floor",
    "mezzanine", "ground floor", "lower level",
)  # fmt: skip


def _room(rng: random.Random) -> str:
    way = rng.random()
    if way < 0.1:
        people = PEOPLE if rng.random() < 0.7 else vocabulary.RARE_PEOPLE
        return f"{rng.choice(people)}'s {rng.choice(OWNED_ROOMS)}"
    if rng.random() < RARE_SHARE:
        return vocabulary.rare_room(rng, is_listed=True)
    if way < 0.55:
        return rng.choice(ROOMS[:14])
    if way > 0.985:
        return rng.choice(NOOKS) if rng.random() < 0.7 else rng.choice(_LIKE_HOMES)
    if way < 0.63:
        return rng.choice(LIKE_FLOORS)
    return rng.choice(ROOMS)


def _thing(rng: random.Random, number: int, areas: tuple[Area, ...], written: type[str] | object) -> Entity:
    domain = rng.choices(_DOMAIN_NAMES, _DOMAIN_WEIGHTS)[0]
    area = rng.choice(areas) if areas and domain not in _NOWHERE and rng.random() < 0.92 else None
    if domain in ("scene", "script") and areas and rng.random() < _SCENE_PLACED_SHARE:
        area = rng.choice(areas)
    if domain == "valve" and (outdoors := [place for place in areas if OUTDOOR.search(place.name.lower())]):
        area = rng.choice(outdoors) if rng.random() < _OUTDOOR_VALVE_SHARE else area
    name, device_class = _name(rng, domain, area)
    if domain == "light" and rng.random() < _NOOK_SHARE:
        nook = _nook(rng)
        # Where an area is called so, the area is meant.
        name = name if nook in {place.name.lower() for place in areas} else nook
    title = written(name)  # type: ignore[operator]  # str or _titled
    aliases: tuple[str, ...] = ()
    if domain in _ALIASES and rng.random() < (0.3 if domain == "alarm_control_panel" else 0.06):
        aliases = (written(rng.choice(_ALIASES[domain])),)  # type: ignore[operator]
    return Entity(
        f"{domain}.t{number}", title, domain, "", aliases, area.id if area else None, device_class=device_class
    )


def _nook(rng: random.Random) -> str:
    if rng.random() < 0.75:
        return rng.choice(NOOKS)
    return f"{vocabulary.rare_word(rng)} {rng.choice(NOOKS).rpartition(' ')[2]}"


def is_nook(name: str) -> bool:
    """True for a name that sounds like a place."""
    return name.rpartition(" ")[2] in _NOOK_ENDS and " " in name


_NOOK_ENDS = frozenset(nook.rpartition(" ")[2] for nook in NOOKS)


def _name(rng: random.Random, domain: str, area: Area | None) -> tuple[str, str | None]:
    in_room = area is not None and rng.random() < 0.45
    room = area.name.lower() if area and "'" not in area.name else area.name if area else ""
    if domain == "binary_sensor":
        if rng.random() < 0.06:
            name = rng.choice(_ODD_NAMES)
            return name, _WATCHED[ODD_COVERS[name]] if rng.random() < 0.7 else "opening"
        device_class = rng.choice(_SENSED_CLASSES)
        if in_room and device_class in _SENSED_IN_ROOM:
            return f"{room} {_SENSED_IN_ROOM[device_class]}", device_class
        names = SENSED[device_class]
        if device_class in RARE_BINARY_SENSORS and rng.random() < _SELDOM_SHARE:
            names = RARE_BINARY_SENSORS[device_class].things
        return rng.choice(names).removeprefix("the "), device_class
    if domain == "sensor":
        way = rng.random()
        if way < _OWN_SHARE:
            return own_name(rng)
        if way < _OWN_SHARE + _WARM_SHARE:
            return rng.choice(WARM), "temperature"
        way = rng.random()
        if way < _GAUGE_SHARE:
            device_class = rng.choice(CLASSES)
            # Some sensors have no class at all.
            return gauge_name(rng, device_class), device_class if rng.random() < 0.9 else None
        if way < _GAUGE_SHARE + _SAID_SHARE:
            return said_name(rng)
        if in_room:
            word = rng.choice(_IN_ROOM["sensor"])
            return f"{room} {word}", _SENSOR_WORDS.get(word, word)
        if rng.random() < 0.4:
            return _reading(rng.choice(READINGS))
        device_class = rng.choice(tuple(MEASURED))
        name = rng.choice(MEASURED[device_class])
        # "Washer Power": the name says what is measured.
        says_so = "_" not in device_class and device_class not in ("pm25", "temperature") and rng.random() < 0.35
        return f"{name} {device_class}" if says_so else name, device_class
    if domain in ("vacuum", "lawn_mower") and rng.random() < _LIKE_A_PERSON_SHARE:
        return rng.choice(ROBOT_PEOPLE), None
    if domain == "cover" and rng.random() < _ODD_SHARE:
        name = rng.choice(_ODD_NAMES)
        return name, ODD_COVERS[name] if rng.random() < 0.7 else None
    if domain in CALLED_BY_KIND and rng.random() < _CALLED_BY_KIND_SHARE:
        name = rng.choice(CALLED_BY_KIND[domain])
        return name, class_of(domain, name)
    is_rare = rng.random() < RARE_SHARE
    if domain == "person":
        return vocabulary.rare_person(rng) if is_rare else rng.choice(PEOPLE), None
    if domain == "todo":
        return f"{vocabulary.rare_word(rng)} list" if is_rare else rng.choice(_LISTS), None
    if is_rare:
        name = vocabulary.rare_device_name(rng, domain)
        return name, class_of(domain, name)
    name = f"{room} {rng.choice(_IN_ROOM[domain])}" if in_room and domain in _IN_ROOM else rng.choice(NAMES[domain])
    if domain == "light" and rng.random() < 0.03:
        name += f" {rng.randint(2, 4)}"
    return name, class_of(domain, name)


def _reading(name: str) -> tuple[str, str | None]:
    for word in ("temperature", "humidity", "power", "energy", "pressure", "moisture"):
        if word in name:
            return name, word
    return name, None


def class_of(domain: str, name: str) -> str | None:
    """The device class that a thing of this name would have."""
    if domain == "cover":
        return next((device_class for word, device_class in _COVER_WORDS if word in name), "shade")
    if domain == "media_player":
        if any(word in name for word in ("tv", "television", "telly", "roku", "projector")):
            return "tv"
        return "speaker" if any(word in name for word in ("speaker", "sonos", "echo", "homepod")) else None
    if domain == "switch":
        return "outlet" if any(word in name for word in ("plug", "socket", "outlet")) else None
    return None


def _titled(name: str) -> str:
    return " ".join(_UPPER.get(word) or word[:1].upper() + word[1:] for word in name.split())


_PROPER = frozenset(
    spelling for name in (*PEOPLE, *ROBOT_PEOPLE, *vocabulary.RARE_PEOPLE) for spelling in (name, f"{name}'s")
)


def spoken_name(name: str) -> str:
    """A thing's or a place's name as a person says it: the names of people keep their capital."""
    return " ".join(word if word in _PROPER else word.lower() for word in name.split())


class KnownHome:
    """What the model can see of a home; nothing where there is none."""

    def __init__(self, house: House | None) -> None:
        self.house = house
        self.by_domain: dict[str, list[Entity]] = {}
        self.names: set[str] = set()
        self.areas: list[str] = []
        self.floors: list[str] = []
        self.classes: set[tuple[str, str | None]] = set()
        if house is None:
            return
        for place_list, places in ((self.areas, house.areas), (self.floors, house.floors)):
            for place in places:
                place_list.extend(map(spoken_name, (place.name, *place.aliases)))
        for entity in house.entities:
            self.by_domain.setdefault(entity.domain, []).append(entity)
            self.names.update(_folded((entity.name, *entity.aliases)))
            self.classes.add((entity.domain, entity.device_class))
        self._area_names = {area.id: spoken_name(area.name) for area in house.areas}
        self._floor_of = {area.id: area.floor for area in house.areas}
        self._floor_names = {floor.id: spoken_name(floor.name) for floor in house.floors}

    def area_of(self, entity: Entity) -> str | None:
        return self._area_names.get(entity.area or "")

    def floor_of(self, entity: Entity) -> str | None:
        return self._floor_names.get(self._floor_of.get(entity.area or "") or "")


def _folded(names: Iterable[str]) -> Iterable[str]:
    return (name.casefold() for name in names)

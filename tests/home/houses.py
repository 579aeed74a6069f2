"""Homes to try names on: small ones for one question each, and a large one with names that are much alike."""

from __future__ import annotations

from edgevox.home import Area, Entity, Floor, House

FLOORS = (Floor("ground", "Ground Floor", ("Downstairs",)), Floor("upper", "First Floor", ("Upstairs",)))
AREAS = (
    Area("kitchen", "Kitchen", (), "ground"),
    Area("living_room", "Living Room", ("Lounge",), "ground"),
    Area("hall", "Hall", (), "ground"),
    Area("bedroom", "Bedroom", (), "upper"),
    Area("bathroom", "Bathroom", (), "upper"),
)
_FLOOR_OF = {area.id: area.floor for area in AREAS}


def thing(name: str, domain: str = "light", area: str | None = None, *aliases: str, **more: str) -> Entity:
    """An entity that is off; its id is made from its domain, area and name."""
    slug = "_".join(f"{area or ''} {name}".lower().replace("'", "").split())
    return Entity(
        f"{domain}.{slug}",
        name,
        domain,
        more.get("state", "off"),
        aliases,
        area,
        _FLOOR_OF[area] if area else None,
        more.get("device_class"),
    )


def house(*entities: Entity) -> House:
    return House(entities, AREAS, FLOORS)


_ROOMS = """Kitchen, Living Room, Hallway, Garage, Garden, Bedroom, Office, Bathroom, Attic, Cellar, Nursery,
Guest Room, Pantry, Laundry Room, Terrace, Balcony, Workshop, Library, Dining Room, Studio"""


def large_house() -> House:
    """Ten things in each of twenty rooms, named after it."""
    things = {
        "Ceiling Light": "light",
        "Floor Lamp": "light",
        "Wall Light": "light",
        "Fountain": "switch",
        "Blinds": "cover",
        "Fan": "fan",
        "Temperature": "sensor",
        "Speaker": "media_player",
        "Door": "lock",
        "Radiator": "climate",
    }
    areas = tuple(Area(name.lower(), name) for name in map(str.strip, _ROOMS.split(",")))
    entities = tuple(
        Entity(f"{domain}.{area.id}_{what}", f"{area.name} {what}", domain, "off", area=area.id)
        for area in areas
        for what, domain in things.items()
    )
    return House(entities, areas)

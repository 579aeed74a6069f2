"""English phrases for entities, places, numbers, durations and states."""

from __future__ import annotations

from edgevox.home.entities import Area, Entity, Floor, House
from edgevox.home.resolve.fuzzy import is_plural

_MAX_REPEATED_CHARS = 60


def the(thing: Entity | Area | Floor | str) -> str:
    """The spoken name: "the kitchen light", "the TV", "Anna's lamp"."""
    name = thing if isinstance(thing, str) else thing.name
    if isinstance(thing, Entity) and thing.domain == "person":
        return name
    if "'s " in name or "’s " in name or name.casefold().startswith(("the ", "my ", "our ")):
        return name
    # Device names are often in title case; capitals inside a word belong to the word.
    return "the " + " ".join(word.lower() if word.istitle() else word for word in name.split())


def place_of(entity: Entity, house: House) -> str:
    """ " in the kitchen", or "" for an entity without an area."""
    area = house.area(entity.area)
    return f" in {the(area)}" if area else ""


def brief(text: str) -> str:
    """A quoted text, shortened for speaking."""
    text = " ".join(text.split())
    return text if len(text) <= _MAX_REPEATED_CHARS else text[:_MAX_REPEATED_CHARS].rsplit(" ", 1)[0]


def is_are(name: str) -> str:
    return "are" if is_plural(name) else "is"


def sentence(text: str) -> str:
    """Capitalise, and end with a full stop."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def number(value: float) -> str:
    """A number for speaking: 21, 21.5."""
    return f"{value:.1f}".removesuffix(".0")


# Phrases for "on" and "off" of binary sensors by device class.
_BINARY = {
    **dict.fromkeys(("door", "garage_door", "opening", "window"), ("open", "closed")),
    "battery": ("low", "fine"),
    "battery_charging": ("charging", "not charging"),
    "carbon_monoxide": ("detecting carbon monoxide", "clear"),
    "cold": ("cold", "not cold"),
    "connectivity": ("connected", "disconnected"),
    "gas": ("detecting gas", "clear"),
    "heat": ("hot", "not hot"),
    "light": ("detecting light", "dark"),
    "lock": ("unlocked", "locked"),
    "moisture": ("wet", "dry"),
    "motion": ("detecting motion", "clear"),
    "moving": ("moving", "still"),
    "occupancy": ("occupied", "empty"),
    "plug": ("plugged in", "unplugged"),
    "presence": ("home", "away"),
    "problem": ("reporting a problem", "fine"),
    "running": ("running", "not running"),
    "safety": ("unsafe", "safe"),
    "smoke": ("detecting smoke", "clear"),
    "sound": ("detecting sound", "quiet"),
    "tamper": ("tampered with", "fine"),
    "update": ("out of date", "up to date"),
    "vibration": ("vibrating", "still"),
}
_WORDS = {
    "not_home": "away",
    "armed_away": "armed",
    "armed_home": "armed",
    "armed_night": "armed",
    "clear-night": "clear",
    "partlycloudy": "partly cloudy",
    "lightning-rainy": "stormy",
    "snowy-rainy": "sleety",
    "heat_cool": "on automatic",
    "heat": "heating",
    "cool": "cooling",
    "unavailable": "not answering",
    "unknown": "in no known state",
}
# Spoken words for states.
_SAID = {
    "opened": "open",
    "shut": "closed",
    "close": "closed",
    "lit": "on",
    "running": "on",
    "active": "on",
    "enabled": "on",
    "detected": "on",
    "triggered": "on",
    "disabled": "off",
    "inactive": "off",
    "clear": "off",
}


def state_phrase(entity: Entity) -> str:
    """The phrase after "is": "on", "closed", "21.5 °C", "playing the news"."""
    state = entity.state
    if entity.domain == "binary_sensor" and state in ("on", "off"):
        return _BINARY.get(entity.device_class or "", ("on", "off"))[0 if state == "on" else 1]
    if entity.domain == "media_player" and state in ("playing", "paused") and entity.attributes.get("media_title"):
        return f"{state} {brief(str(entity.attributes['media_title']))}"
    if entity.domain == "sensor":
        unit = entity.attributes.get("unit")
        return f"{_rounded(state)} {unit}" if unit else _rounded(state)
    return _WORDS.get(state, state.replace("_", " "))


def is_in_state(entity: Entity, said: str) -> bool:
    """Whether an entity is in the state that the person asks about, in their words."""
    return not _meant(said).isdisjoint(_names_of_state(entity))


def knows_state(entity: Entity, said: str) -> bool:
    """Whether an entity of this kind can be in that state at all: a lock is never "open"."""
    return not _meant(said).isdisjoint(_possible(entity))


def _meant(said: str) -> set[str]:
    word = said.casefold().strip().replace(" ", "_")
    return {word, _SAID.get(word, word)}


_POSSIBLE = {
    "lock": {"locked", "unlocked", "jammed"},
    "cover": {"open", "closed", "opening", "closing"},
    "valve": {"open", "closed", "opening", "closing"},
}


def _possible(entity: Entity) -> set[str]:
    if entity.domain == "binary_sensor":
        own_words = _BINARY.get(entity.device_class or "", ())
        return {"on", "off", *(word.replace(" ", "_") for word in own_words)}
    return _POSSIBLE.get(entity.domain, {"on", "off", entity.state, state_phrase(entity)})


def _names_of_state(entity: Entity) -> set[str]:
    names = {entity.state.casefold(), _WORDS.get(entity.state, entity.state).replace(" ", "_")}
    if entity.domain == "binary_sensor":
        names.add(state_phrase(entity).replace(" ", "_"))
    if entity.domain == "media_player" and entity.state in ("playing", "paused", "idle"):
        names.add("on")
    if entity.domain in ("climate", "humidifier") and entity.state not in ("off", "unavailable", "unknown"):
        names.add("on")
    return names


def _rounded(state: str) -> str:
    try:
        return number(float(state))
    except ValueError:
        return state.replace("_", " ")

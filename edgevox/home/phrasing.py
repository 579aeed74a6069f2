"""English phrases for entities, places, numbers, durations and states."""

from __future__ import annotations

from typing import Any

from edgevox.core.files import packaged_toml
from edgevox.home.entities import Area, Entity, Floor, House
from edgevox.home.resolve.fuzzy import is_plural

_MAX_REPEATED_CHARS = 60
_ROBOTS = frozenset({"vacuum", "lawn_mower"})
_ROBOT_WORDS = frozenset(
    {"bot", "cleaner", "hoover", "lawn", "lawnmower", "mop", "mower", "robot", "sweeper", "vac", "vacuum"}
)


def the(thing: Entity | Area | Floor | str) -> str:
    """The spoken name: "the kitchen light", "the TV", "Anna's lamp", "the shopping list", and a robot's "Dusty"."""
    name = thing if isinstance(thing, str) else thing.name
    if isinstance(thing, Entity):
        if thing.domain == "person" or (thing.domain in _ROBOTS and _is_given_name(name)):
            return name
        if thing.domain == "todo" and not name.casefold().endswith("list"):
            name += " list"
    if "'s " in name or "’s " in name or name.casefold().startswith(("the ", "my ", "our ")):
        return name
    # Device names are often in title case; capitals inside a word belong to the word.
    return "the " + " ".join(word.lower() if word.istitle() else word for word in name.split())


def _is_given_name(name: str) -> bool:
    """True for a name such as people give to robots: one word with a capital that is none for what it does."""
    return name.istitle() and " " not in name and name.casefold() not in _ROBOT_WORDS


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


def was_were(name: str) -> str:
    return "were" if is_plural(name) else "was"


def has_have(name: str) -> str:
    return "have" if is_plural(name) else "has"


def sentence(text: str) -> str:
    """Capitalise, and end with a full stop."""
    text = text.strip()
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else ".")


def number(value: float) -> str:
    """A number for speaking: 21, 21.5."""
    return f"{value:.1f}".removesuffix(".0")


def _states(table: str) -> dict[str, Any]:
    """One table of states.toml."""
    states: dict[str, Any] = packaged_toml("home/states.toml")[table]
    return states


def state_phrase(entity: Entity) -> str:
    """The phrase after "is": "on", "closed", "21.5 °C", "playing the news"."""
    state = entity.state
    if entity.domain == "binary_sensor" and state in ("on", "off"):
        on, off = _binary_phrases(entity)
        return on if state == "on" else off
    if entity.domain == "media_player" and state in ("playing", "paused") and entity.attributes.get("media_title"):
        return f"{state} {brief(str(entity.attributes['media_title']))}"
    if entity.domain == "sensor" and state == "unknown":
        return "not known"
    if entity.domain == "sensor" and state != "unavailable":
        unit = entity.attributes.get("unit")
        return f"{_rounded(state)} {unit}" if unit else _rounded(state)
    return str(_states("phrases").get(state, state.replace("_", " ")))


def is_in_state(entity: Entity, asked: str) -> bool:
    """Whether an entity is in the state that the person asks about, in their words."""
    return not _meant(asked).isdisjoint(_names_of_state(entity))


def knows_state(entity: Entity, asked: str) -> bool:
    """Whether an entity of this kind can be in that state at all: a lock is never "open"."""
    return not _meant(asked).isdisjoint(_possible(entity))


def _meant(asked: str) -> set[str]:
    word = asked.casefold().strip().replace(" ", "_")
    return {word, _states("synonyms").get(word, word)}


def _binary_phrases(entity: Entity) -> tuple[str, str]:
    on, off = _states("binary_sensors").get(entity.device_class or "", ("on", "off"))
    return on, off


def _possible(entity: Entity) -> set[str]:
    if entity.domain == "binary_sensor":
        return {"on", "off", *(phrase.replace(" ", "_") for phrase in _binary_phrases(entity))}
    return set(_states("possible").get(entity.domain, ("on", "off", entity.state, state_phrase(entity))))


def _names_of_state(entity: Entity) -> set[str]:
    names = {entity.state.casefold(), _states("phrases").get(entity.state, entity.state).replace(" ", "_")}
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

"""What things are called when they have no name: "the lights", "a blind", "the heating"."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from edgevox.tools.home.house import Entity
from edgevox.tools.home.names import words


@dataclass(frozen=True, slots=True)
class Kind:
    """Things of some domains, and of some device classes where there are any."""

    domains: frozenset[str]
    device_classes: frozenset[str] = frozenset()

    def has(self, entity: Entity) -> bool:
        if entity.domain not in self.domains:
            return False
        return not self.device_classes or entity.device_class in self.device_classes


def _kind(domains: str, device_classes: str = "") -> Kind:
    return Kind(frozenset(domains.split()), frozenset(device_classes.split()))


# A word of a line is another word for the line's first: people say either.
_KINDS: dict[str, Kind] = {
    "light lamp bulb lightbulb lighting": _kind("light"),
    "switch": _kind("switch input_boolean"),
    "outlet plug socket": _kind("switch", "outlet"),
    "fan ventilator": _kind("fan"),
    "blind": _kind("cover", "blind shade shutter"),
    "shade": _kind("cover", "shade blind"),
    "shutter": _kind("cover", "shutter"),
    "curtain drape": _kind("cover", "curtain"),
    "awning": _kind("cover", "awning"),
    "window": _kind("cover binary_sensor", "window"),
    "door": _kind("cover binary_sensor", "door"),
    "gate": _kind("cover", "gate"),
    "garage": _kind("cover", "garage"),
    "cover": _kind("cover"),
    "valve": _kind("valve"),
    "lock": _kind("lock"),
    "thermostat climate heating heater": _kind("climate"),
    "tv television telly": _kind("media_player", "tv"),
    "speaker": _kind("media_player", "speaker"),
    "player music media": _kind("media_player"),
    "vacuum hoover robot": _kind("vacuum"),
    "mower lawnmower": _kind("lawn_mower"),
    "sensor": _kind("sensor binary_sensor"),
    "thermometer": _kind("sensor", "temperature"),
    "alarm": _kind("alarm_control_panel"),
    "scene": _kind("scene"),
    "script": _kind("script"),
    "list": _kind("todo"),
    "weather forecast": _kind("weather"),
}
_BY_WORD = {word: (line.split()[0], kind) for line, kind in _KINDS.items() for word in line.split()}

# A lamp is a light, but "the lamps" are not all lights.
_NARROW = frozenset({"lamp", "bulb"})

ALL_WORDS = frozenset({"all", "every", "everything", "both", "any", "entire", "whole"})


def kind_called(word: str) -> Kind | None:
    """The kind of thing that a word (a singular) stands for, or None."""
    found = _BY_WORD.get(word)
    return found[1] if found else None


def plain(word: str) -> str:
    """The usual one of the words for a kind of thing: "light" for "lamp"; any other word as it is."""
    return _BY_WORD[word][0] if word in _BY_WORD else word


def of_kind(word: str, pool: tuple[Entity, ...]) -> tuple[Entity, ...]:
    """The things that a kind's word means: "lamp" means those called so, where there are any."""
    kind = kind_called(word)
    found = tuple(entity for entity in pool if kind and kind.has(entity))
    if word in _NARROW:
        called_so = tuple(entity for entity in found if word in words(entity.name))
        return called_so or found
    return found


@lru_cache(maxsize=512)
def kind_words(domain: str, device_class: str | None) -> frozenset[str]:
    """Every word that says what kind of thing it is, and so does not tell it from others of its kind."""
    probe = Entity("", "", domain, "", device_class=device_class)
    return frozenset(word for word, (_, kind) in _BY_WORD.items() if kind.has(probe))


def every_kind_word() -> frozenset[str]:
    return frozenset(_BY_WORD)

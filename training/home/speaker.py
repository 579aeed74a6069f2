"""Samples what a user refers to: places, devices, numbers, and slips of the tongue."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from edgevox.home.entities import Entity
from training.home.houses import KnownHome, class_of, spoken_name
from training.home.lexicon import vocabulary
from training.home.lexicon.devices import COVERS, NAMES, Kind
from training.home.lexicon.values import Numbers
from training.home.lexicon.vocabulary import (
    BARE_FLOORS,
    FAMILY,
    OWNED_ROOMS,
    PEOPLE,
    ROOMS,
    UNLISTED_FLOORS,
    in_area,
    on_floor,
    with_article,
)
from training.home.templates import Form, Grammar
from training.types import Call

__all__ = ["Phrase", "Request", "Slots", "Speaker", "class_of", "is_room_and_kind", "make_request"]


Item = TypeVar("Item")
Slots = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words for some things, with their article, and the slots that they mean."""

    text: str
    slots: Slots
    is_plural: bool = False
    entity: Entity | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A sentence in its plain spelling, and what it asks for."""

    form: Form
    text: str
    calls: tuple[Call, ...]


_LISTED_SHARE = 0.8
_SLIP_SHARE = 0.045
_RARE_SHARE = 0.12
_SLIPS = (
    ", no, ", ", no wait, ", ", no sorry, ", ", sorry, ", ", I mean ", ", no I mean ", ", uh no, ",
    ", or rather ",
    " er ", " uh ", ", er, ", ", hold on, ", " no hang on ", ", uh make that ", " um no ",
    ", sorry, make that ",
    ", let me think, no, ", " hmm ", ", nope, ", " wait ",
    ", wait, no, ", ", sorry I mean ", ", actually ", ", oh no, ", ", correction, ", " nah ", ", nah, ",
)  # fmt: skip
# "kitchen light": a room and a kind is no name of its own, unless the home has a thing so called.
_KIND_WORDS = frozenset(
    {
        "light", "lights", "fan", "fans", "thermostat", "heating", "heater", "ac", "air conditioning",
        "valve",
        "humidifier", "vacuum", "mower", "siren", "plug", "outlet", "socket", "switch", "sensor",
        *(word for kind in COVERS.values() for word in (*kind.singular, *kind.plural)),
    }
)  # fmt: skip
_PLURAL_KINDS = frozenset({"lights", "lamps", "fans", *(word for kind in COVERS.values() for word in kind.plural)})
_ROOM_SET = frozenset(ROOMS)
_PLURAL_NAMES = ("lights", "spots", "floods", "speakers", "headphones", "plants", "pipes", "blinds",
    "curtains",
                 "shutters", "sprinklers", "monitors", "tomatoes", "louvers", "doors", "windows",
                 "keys", "panels",
                 "shades", "spotlights", "stairs")  # fmt: skip

# {n} is the plural of a kind, {s} its singular, {o} "on the first floor", {f} the floor,
# {i} "in the kitchen", {a} and {b} the area.
_EVERYWHERE = (
    "the {n}", "the {n}", "the {n}", "{n}", "{n}", "all the {n}", "all the {n}", "all {n}",
    "all of the {n}", "every {s}",
    "all my {n}", "the {n} in here", "my {n}", "each {s}", "all our {n}", "all the {n} in the house",
    "every single {s}",
    "the {n} here", "the {n} in this room", "all {n} everywhere", "the {n} everywhere",
    "all the {n} in the whole house",
)  # fmt: skip
_ON_FLOOR = (
    "the {n} {o}", "the {n} {o}", "all the {n} {o}", "all {n} {o}", "{n} {o}", "every {s} {o}",
    "all of the {n} {o}",
    "the {f} {n}", "{f} {n}", "all the {f} {n}", "all {f} {n}",
)  # fmt: skip
_IN_AREA = (
    "the {a} {n}", "the {a} {n}", "the {a} {n}", "{b} {n}", "{b} {n}", "the {n} {i}", "the {n} {i}",
    "the {n} {i}", "{n} {i}",
    "all the {n} {i}", "all {n} {i}", "all of the {n} {i}", "every {s} {i}", "all the {b} {n}",
    "all {b} {n}", "my {b} {n}",
)  # fmt: skip


class Speaker:
    """One request's speaker. `known` is the home as the model sees it."""

    def __init__(self, rng: random.Random, known: KnownHome) -> None:
        self.rng = rng
        self.known = known
        self.numbers = Numbers(rng)
        self.slips = rng.random() < _SLIP_SHARE
        self.slipped = False

    # --- chance

    def pick(self, options: Sequence[Item]) -> Item:
        return options[int(self.rng.random() * len(options))]

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def somebody(self, people: Sequence[str] = (*PEOPLE, *FAMILY), *, rare_share: float = 0.4) -> str:
        """A person, at times of a name that nobody has heard."""
        return vocabulary.rare_person(self.rng) if self.chance(rare_share) else self.pick(people)

    def slip(self, wrong: str, right: str) -> str:
        """The right words, now and then behind wrong ones that are taken back."""
        if not self.slips or wrong == right:
            return right
        self.slips = False
        self.slipped = True
        return f"{wrong}{self.pick(_SLIPS)}{right}"

    # --- places

    def area(self) -> str:
        """A room that comes to mind: one of this home's, mostly."""
        if self.known.areas and self.chance(_LISTED_SHARE):
            return self.pick(self.known.areas)
        for _ in range(5):
            way = self.rng.random()
            room = (
                vocabulary.rare_room(self.rng)
                if self.chance(_RARE_SHARE)
                else self.pick(("basement", "attic", "cellar", "loft"))
                if way > 0.95
                else f"{self.pick(PEOPLE)}'s {self.pick(OWNED_ROOMS)}"
                if way < 0.1
                else self.pick(ROOMS[:14])
                if way < 0.5
                else self.pick(ROOMS)
            )
            if room not in self.known.floors:
                break
        return room

    def floor(self) -> str:
        if self.known.floors and self.chance(_LISTED_SHARE):
            return self.pick(self.known.floors)
        for _ in range(5):
            floor = self.pick(BARE_FLOORS) if self.chance(0.45) else self.pick(UNLISTED_FLOORS)
            if floor not in self.known.areas:
                return floor
        return "upstairs"

    def where(self, *, nowhere: float = 0.25, floors: float = 0.2) -> Phrase:
        """A place behind a thing: "in the kitchen", "upstairs", or nothing."""
        way = self.rng.random()
        if way < nowhere:
            return Phrase("", {})
        if way < nowhere + floors:
            return self.on_floor()
        return self.in_area()

    def in_area(self) -> Phrase:
        area = self.area()
        return Phrase(self.slip(self._in(self.area()), self._in(area)), {"area": area})

    def on_floor(self) -> Phrase:
        floor = self.floor()
        return Phrase(self.slip(self._on(self.floor()), self._on(floor)), {"floor": floor})

    def here(self) -> str:
        """Words for where one is: they fill no slot."""
        return self.pick(("", "", "", "in here", "here", "in this room"))

    def _in(self, area: str) -> str:
        """ "in the kitchen"; some leave the article out, or say whose it is."""
        text = in_area(area)
        way = self.rng.random()
        if way < 0.1:
            return text.replace(" the ", " ", 1)
        return text.replace(" the ", " my " if way < 0.12 else " our ", 1) if way < 0.135 else text

    def _on(self, floor: str) -> str:
        text = on_floor(floor)
        return text.replace(" the ", " ", 1) if self.rng.random() < 0.08 else text

    # --- things

    def named(self, domain: str, *, names: Sequence[str] = (), device_class: str | None = None,
              apart: float = 0.14) -> Phrase:  # fmt: skip
        """A thing by its name; now and then with the place that it stands in, said apart."""
        entity = self._listed(domain, device_class) if self.chance(_LISTED_SHARE) else None
        if entity is None:
            name = self._invented(domain, names)
        else:
            labels = (entity.name, *entity.aliases)
            name = spoken_name(labels[0] if len(labels) == 1 or self.chance(0.5) else self.pick(labels))
        name = name.removeprefix("the ")
        slots: Slots = {"name": name}
        plural = name.endswith(_PLURAL_NAMES)
        text = self.slip(self._determined(self._invented(domain, names)), self._determined(name))
        if (
            entity is not None
            and self.chance(0.05)
            and (area := self.known.area_of(entity))
            and self._stands_apart(name, area)
        ):
            # Said as one name, it is one: "the bedroom ceiling fan" for the Ceiling Fan in the bedroom.
            return Phrase(self._determined(f"{area} {name}"), {"name": f"{area} {name}"}, plural, entity)
        if self.chance(apart) and "'" not in name:
            place = self._place_of(entity)
            slots |= place.slots
            text = f"{text} {place.text}"
        return Phrase(text, slots, plural, entity)

    def _stands_apart(self, name: str, area: str) -> bool:
        return area not in name and "'" not in name + area and not is_room_and_kind(f"{area} {name}")

    def _determined(self, name: str) -> str:
        name = name.removeprefix("the ")
        full = with_article(name)
        way = self.rng.random()
        if full == name or way < 0.72:
            return full
        return name if way < 0.9 else f"my {name}" if way < 0.97 else f"our {name}"

    def _place_of(self, entity: Entity | None) -> Phrase:
        if entity is not None and self.chance(0.9):
            if self.chance(0.2) and (floor := self.known.floor_of(entity)):
                return Phrase(self._on(floor), {"floor": floor})
            if area := self.known.area_of(entity):
                return Phrase(self._in(area), {"area": area})
        return self.where(nowhere=0.0, floors=0.2)

    def _listed(self, domain: str, device_class: str | None) -> Entity | None:
        things = self.known.by_domain.get(domain)
        if not things:
            return None
        for _ in range(3):
            entity = self.pick(things)
            if device_class is not None and entity.device_class != device_class:
                continue
            if not self.is_kind_in_plural(spoken_name(entity.name)):
                return entity
        return None

    def is_kind_in_plural(self, name: str) -> bool:
        """True for "kitchen lights": plurals mean all of a kind, whatever a thing is called."""
        rest, _, last = name.rpartition(" ")
        return last in _PLURAL_KINDS and (not rest or rest in self.known.areas)

    def _invented(self, domain: str, names: Sequence[str] = ()) -> str:
        if not names and self.chance(_RARE_SHARE):
            return vocabulary.rare_device_name(self.rng, domain)
        names = names or NAMES[domain]
        for _ in range(8):
            name = self.pick(names)
            if not is_room_and_kind(name) and name.casefold() not in self.known.names:
                return name
        return name

    def is_listed(self, name: str) -> bool:
        return name.casefold() in self.known.names

    # --- kinds

    def kind(self, kind: Kind, *, nowhere: float = 0.25, floors: float = 0.18, single: float = 0.2) -> Phrase:
        """Things by their kind and place: "the kitchen lights", "every lamp upstairs", "all the blinds"."""
        rng = self.rng
        if rng.random() < single:
            return self._single(kind, nowhere=nowhere, floors=floors)
        noun = self.pick(kind.plural)
        way = rng.random()
        if way < nowhere:
            text = self.pick(_EVERYWHERE)
            return Phrase(_nouns(text, noun, kind), dict(kind.slots), "{n}" in text)
        if way < nowhere + floors:
            floor = self.floor()
            slots = {"floor": floor, **kind.slots}
            text = _nouns(self.pick(_ON_FLOOR), noun, kind)
            said = self.slip(self._on(self.floor()), self._on(floor))
            return Phrase(text.replace("{o}", said).replace("{f}", floor), slots, True)
        area = self.area()
        slots = {"area": area, **kind.slots}
        text = self.pick(_IN_AREA)
        return Phrase(self._fill_area(_nouns(text, noun, kind), area), slots, "{s}" not in text)

    def _single(self, kind: Kind, *, nowhere: float, floors: float) -> Phrase:
        noun = self.pick(kind.singular)
        way = self.rng.random()
        if way < nowhere:
            slots = {"name": noun} if self.is_listed(noun) else dict(kind.slots)
            text = f"the {noun}" if self.chance(0.85) else noun
            if "name" not in slots and self.chance(0.3):
                text += " " + self.pick(("in here", "here", "in this room"))
            return Phrase(text, slots)
        if way < nowhere + floors * 0.6:
            floor = self.floor()
            if self.chance(0.7) or floor not in BARE_FLOORS:
                return Phrase(f"the {noun} {on_floor(floor)}", {"floor": floor, **kind.slots})
            return Phrase(f"the {floor} {noun}", {"floor": floor, **kind.slots})
        area = self.area()
        # Without a list of things, nobody can tell whether "kitchen light" is a name.
        if self.known.house is None or "garage" in noun or self.chance(0.3):
            text = self._fill_area(f"the {noun} {{i}}", area)
            slots = {"name": noun, "area": area} if self.is_listed(noun) else {"area": area, **kind.slots}
            return Phrase(text, slots)
        name = f"{area} {noun}"
        text = self.pick((with_article(name), with_article(name), name))
        if self.is_listed(name):
            return Phrase(text, {"name": name})
        return Phrase(text, {"area": area, **kind.slots})

    def _fill_area(self, text: str, area: str) -> str:
        if "{i}" in text:
            return text.replace("{i}", self.slip(self._in(self.area()), self._in(area)))
        bare = self.slip(self.area(), area)
        owned = with_article(area) == area
        the = bare if owned else f"the {bare}"
        return text.replace("the {a}", the).replace("the {b}", the).replace("{a}", bare).replace("{b}", bare)


def _nouns(text: str, noun: str, kind: Kind) -> str:
    return text.replace("{n}", noun).replace("{s}", kind.singular[0])


def is_room_and_kind(name: str) -> bool:
    """True for "kitchen light" and "garage door": a place, and a word that is no name."""
    rest, _, last = name.rpartition(" ")
    return (last in _KIND_WORDS and (rest in _ROOM_SET or not rest)) or name in _KIND_WORDS


def make_request(speaker: Speaker, grammar: Grammar, calls: tuple[Call, ...], **fill: str) -> Request:
    """One of a grammar's sentences, filled."""
    pattern = grammar.draw(speaker.rng)
    return Request(pattern.form, pattern.say(speaker.rng, fill), calls)

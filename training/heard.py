"""A sentence as a speech recogniser writes it: with or without case and marks, and with small mishearings.

What is heard is what counts: arguments that repeat the person's words change with them.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from training.calls import Call

_MISHEARD_SHARE = 0.065
_OF_SHARE = 0.012

# Words that recognisers take for others, or write in another way.
_ALIKE = {
    "lamp": ("lamb", "lamps", "lump"), "light": ("lite", "like"), "lights": ("lites", "light"),
    "hall": ("haul", "hole"),
    "hallway": ("hall way", "holway"), "bedroom": ("bed room", "bedrooms", "bathroom"),
    "bathroom": ("bath room", "bathrooms"),
    "living": ("leaving", "livin"), "office": ("offis", "offices"), "kitchen": ("kitchens", "kitchin",
    "chicken"),
    "den": ("then", "dan"), "study": ("steady", "studdy"), "porch": ("porsche", "portch"),
    "patio": ("patty o", "patios"),
    "attic": ("addict", "atic"), "garage": ("garbage", "carriage", "garages"), "garden": ("gardens",
    "guarding"),
    "fan": ("van", "fen"), "desk": ("disk", "desks"), "floor": ("flor", "four"), "bedside": ("bed side",
    "besides"),
    "ceiling": ("sealing", "ceilings"), "curtain": ("certain", "curtains"), "blind": ("blinds", "blend"),
    "shade": ("shades", "shape"), "heater": ("heeter", "eater"), "radiator": ("radiators", "radiatur"),
    "speaker": ("speakers", "speeker"), "printer": ("prints her", "printers"), "kettle": ("cattle",
    "kettles"),
    "plug": ("plugs", "block"), "pump": ("bump", "pomp"), "gate": ("gates", "gait"), "door": ("doors",
    "dough"),
    "shed": ("shad", "shared"), "nursery": ("nurserie", "nurseries"), "lounge": ("launch", "lunge"),
    "roomba": ("rumba", "room ba"),
    "tree": ("three", "trees"), "strip": ("stripe", "trip"), "sofa": ("sofas", "sofer"),
    "vent": ("went", "vents"),
    "valve": ("valves", "valv"), "tower": ("towers", "tauer"), "corner": ("corners", "coner"),
    "reading": ("redding", "readin"),
    "counter": ("counters", "encounter"), "pendant": ("pendent", "pendants"), "balcony": ("balkony",
    "balconies"),
    "terrace": ("terrorist", "terraces"), "cellar": ("seller", "sellar"), "pantry": ("pantries", "panty"),
    "closet": ("closets", "closed"), "gym": ("jim", "gem"), "sauna": ("sona", "saunas"),
    "laundry": ("londry", "laundries"),
    "front": ("frond", "fronts"), "back": ("bag", "bak"), "basement": ("basements", "bassment"),
    "upstairs": ("up stairs",),
    "downstairs": ("down stairs",), "tv": ("t v", "tee vee"),
    "playroom": ("play room",), "driveway": ("drive way",),
    "sunroom": ("sun room",), "backyard": ("back yard",), "thermostat": ("thermostats", "thermos that"),
}  # fmt: skip
# The same for the words of commands: what is asked for stays clear.
_SLURRED = {
    "turn": ("turned", "torn", "torn", "tern", "churn", "term"),
    "switch": ("which", "switched", "sweet", "swish"), "set": ("sit", "said", "sets"),
    "dim": ("deem", "dimm", "dem", "them", "din"),
    "close": ("clothes", "closed", "clos"), "open": ("oven", "opens", "opened"), "lock": ("look",
    "locked"), "lights": ("light's", "lites", "nights"),
    "light": ("lite", "lie"), "play": ("played", "plate"), "pause": ("paws", "pauls", "pose"),
    "volume": ("volumes", "volum"),
    "timer": ("timers", "time her"), "minutes": ("minute", "minuets"), "temperature": ("temperatures",
    "temprature"), "what's": ("what", "whats"),
    "is": ("his", "it's"), "are": ("our", "or"), "mute": ("moot", "mutes"), "skip": ("skipped",
    "skips"), "list": ("lists", "lest"),
    "vacuum": ("vacume", "vacuums"), "brightness": ("brightnes", "bright nest"), "blinds": ("blends",
    "blind"), "doors": ("door's", "doers"),
    "the": ("a", "da", "de"), "please": ("police", "plea"),
    "windows": ("window's",), "shopping": ("shoping",), "degrees": ("degree",),
    "percent": ("per cent", "present"), "resume": ("resumes",), "add": ("at", "ad"),
    "remove": ("removed",), "cancel": ("council", "cancels"),
    "in": ("on", "at"),
    "weather": ("whether", "whether", "wether"), "shut": ("shot", "chart", "shirt"),
    "draw": ("drawer", "drew"),
    "lower": ("lawyer", "lore"), "raise": ("race", "rays"), "start": ("star", "started", "stark"),
    "stop": ("stopped", "top"), "pull": ("pool", "pulled"), "mow": ("more", "mo"),
    "unlock": ("on lock", "un lock"),
    "off": ("of", "of", "oft"), "brighten": ("brightened", "brighton"), "put": ("but", "pud"),
    "make": ("may", "mike"), "activate": ("activated", "active eight"), "run": ("ran", "rum"),
    "kill": ("kell",),
    "dock": ("duck", "doc"), "curtains": ("certains", "curtain"), "how": ("our", "hows"),
    "send": ("sent", "sand"),
    "tell": ("tale", "telling"), "did": ("dead", "dit"), "will": ("well", "wheel"), "wake": ("wait", "weak"),
}  # fmt: skip
_SLURRED_SHARE = 0.05
_SLURRED_LITTLE = frozenset({"the", "in", "is", "are", "please"})
_CAPITALS = {
    "tv": "TV", "ac": "AC", "led": "LED", "co": "CO", "co2": "CO2", "christmas": "Christmas",
    "halloween": "Halloween",
    "monday": "Monday", "tuesday": "Tuesday", "wednesday": "Wednesday", "thursday": "Thursday",
    "friday": "Friday",
    "saturday": "Saturday", "sunday": "Sunday", "pc": "PC", "roomba": "Roomba", "wifi": "Wi-Fi",
    "xbox": "Xbox", "sonos": "Sonos",
    "mr.": "Mr.", "spanish": "Spanish", "rosie": "Rosie", "alfred": "Alfred", "dobby": "Dobby",
    "celsius": "Celsius",
    "fahrenheit": "Fahrenheit", "pm2.5": "PM2.5", "uv": "UV", "usb": "USB", "ok": "OK", "mom": "Mom",
}  # fmt: skip
_WORD = re.compile(r"[\w'.-]*\w\.?|\S")
_MARKS = re.compile(r"[,?!;]|[.:](?=\s|$)| -(?= )")
_HALF_OF_DAY = re.compile(r"\b([ap])\.m\.", re.IGNORECASE)
_SPACES = re.compile(r" {2,}")
_VOWELS = "aeiou"


@dataclass(frozen=True, slots=True)
class Heard:
    """What the recogniser wrote, and the calls in the same spelling."""

    text: str
    calls: tuple[Call, ...]


def heard(
    rng: random.Random,
    text: str,
    calls: Iterable[Call] = (),
    *,
    is_question: bool = False,
    fixed: Collection[str] = (),
    may_mishear: bool = True,
) -> Heard:
    """The sentence in one of the recognisers' spellings. Slots in `fixed` hold no words of the person."""
    calls = tuple(calls)
    is_bare = rng.random() < 0.5
    style = _bare(rng) if is_bare else _written(rng)
    misheard = _misheard(rng, calls) if may_mishear else {}

    def spelling(words: str) -> str:
        return style(_replaced(words, misheard) if misheard else words)

    spelt = spelling(_slurred(rng, text, calls) if may_mishear and rng.random() < _SLURRED_SHARE else text)
    if rng.random() < _OF_SHARE:
        spelt = re.sub(r"\b([Tt]urn|[Ss]witch) off\b", r"\1 of", spelt, count=1)
    same: dict[str, str] = {}
    respelt = tuple(
        Call(
            call.tool,
            {
                slot: _respelt(slot, value, text, spelling, fixed, same)
                for slot, value in call.arguments.items()
            },
        )
        for call in calls
    )
    return Heard(spelt if is_bare else _ended(rng, spelt, is_question=is_question), respelt)


def _respelt(
    slot: str,
    value: Any,  # noqa: ANN401 - an argument
    text: str,
    spelling: Callable[[str], str],
    fixed: Collection[str],
    same: dict[str, str],
) -> Any:  # noqa: ANN401 - the same argument
    if isinstance(value, list):
        return [_respelt(slot, part, text, spelling, fixed, same) for part in value]
    if not isinstance(value, str) or slot in fixed or value not in text:
        return value
    if value not in same:
        same[value] = spelling(value)
    return same[value]


# --- spellings


def _bare(rng: random.Random) -> Callable[[str], str]:
    """Lower case, no marks."""
    no_apostrophes = rng.random() < 0.15
    no_hyphens = rng.random() < 0.6
    percent = " percent" if rng.random() < 0.6 else "%"
    british = rng.random() < 0.1

    def spell(text: str) -> str:
        text = _MARKS.sub("", _HALF_OF_DAY.sub(r"\1m", text.lower()))
        if no_apostrophes:
            text = text.replace("'", "")
        if no_hyphens:
            text = text.replace("-", " ")
        text = (
            text.replace("%", percent).replace("°c", " degrees celsius").replace("°f", " degrees fahrenheit")
        )
        text = text.replace("°", " degrees")
        if british:
            text = text.replace(" percent", " per cent")
        return _SPACES.sub(" ", text).strip()

    return spell


def _written(rng: random.Random) -> Callable[[str], str]:
    """With marks and capitals, as Whisper writes."""
    capitals = _CAPITALS if rng.random() < 0.75 else {}
    no_commas = rng.random() < 0.3

    def spell(text: str) -> str:
        if capitals:
            text = " ".join(capitals.get(word) or _capital(word, capitals) for word in text.split(" "))
        return text.replace(",", "") if no_commas else text

    return spell


def _capital(word: str, capitals: dict[str, str]) -> str:
    stem = word.rstrip(",'s")
    return capitals[stem] + word[len(stem) :] if stem != word and stem in capitals else word


def _ended(rng: random.Random, text: str, *, is_question: bool) -> str:
    way = rng.random()
    mark = "?" if is_question and way < 0.9 else "." if way < 0.88 else "!" if way < 0.91 else ""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else mark)


# --- mishearing


def _misheard(rng: random.Random, calls: tuple[Call, ...]) -> dict[str, str]:
    """One word of a name or a place, and what was understood instead."""
    if rng.random() >= _MISHEARD_SHARE:
        return {}
    said = [
        word
        for call in calls
        for slot in ("name", "area", "floor")
        if isinstance(name := call.arguments.get(slot), str)
        for word in name.split()
        if len(word) > 2 and word.isalpha()
    ]
    if not said:
        return {}
    word = rng.choice(said)
    return {word.lower(): misheard_word(rng, word)}


def _slurred(rng: random.Random, text: str, calls: tuple[Call, ...]) -> str:
    """One word of the command as another; words that are arguments stay."""
    arguments = {
        word.lower()
        for call in calls
        for value in call.arguments.values()
        if isinstance(value, str)
        for word in value.split()
    }
    words = text.split(" ")
    places = [
        at for at, word in enumerate(words) if word.lower() in _SLURRED and word.lower() not in arguments
    ]
    telling = [at for at in places if words[at].lower() not in _SLURRED_LITTLE]
    if places:
        at = rng.choice(telling if telling and rng.random() < 0.8 else places)
        words[at] = rng.choice(_SLURRED[words[at].lower()])
    return " ".join(words)


def misheard_word(rng: random.Random, word: str) -> str:
    """Another word or spelling that sounds much the same."""
    if (alike := _ALIKE.get(word.lower())) and rng.random() < 0.75:
        return rng.choice(alike)
    at = rng.randrange(1, len(word))
    letter = word[at].lower()
    way = rng.randrange(4)
    if letter in _VOWELS and way < 2:
        return word[:at] + rng.choice(_VOWELS) + word[at + 1 :]
    if way == 2 and len(word) > 3:
        return word[:at] + word[at + 1 :]
    if way == 3:
        return word[:at] + letter + word[at:]
    return word.removesuffix("s") if word.endswith("s") else word + "s"


def _replaced(text: str, misheard: dict[str, str]) -> str:
    def instead(found: re.Match[str]) -> str:
        word = found[0]
        stem = word.removesuffix(".").removesuffix("'s")
        other = misheard.get(stem.lower())
        return word if other is None else other + word[len(stem) :]

    return _WORD.sub(instead, text)

"""Simulates speech recognition: casing, punctuation, lost words, homophones and misrecognised names.

Arguments that repeat the user's words change with the transcript.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any

from training.home.lexicon.vocabulary import BARE_FLOORS, FLOORS, ROOM_NOUNS, ROOMS
from training.types import Call

_MISHEARD_SHARE = 0.075
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
    "fairy": ("ferry", "very", "fairly"), "christmas": ("christmas's", "chris mass"),
    "string": ("strong", "strings"), "salt": ("sold", "sort"), "lava": ("larva", "lover"),
    "moon": ("mood", "moan"), "star": ("stair", "stars"), "piano": ("piana", "pianos"),
    "globe": ("glow", "gloves"), "hedge": ("head", "edge"), "path": ("bath", "pass"),
    "pond": ("bond", "pound"),
    "fountain": ("mountain", "fountains"), "toaster": ("toast her", "toasters"), "iron": ("ion", "irons"),
    "wall": ("war", "walls"), "table": ("stable", "tables"),
    "stair": ("stare", "stairs"), "stairs": ("stares", "stars"), "mirror": ("mirrors", "merrow"),
    "hood": ("wood", "hoods"), "spot": ("spots", "spout"), "spots": ("spot", "sports"),
    "bulb": ("bulbs", "bolt"),
    "left": ("lift", "lefty"), "right": ("write", "rite"), "main": ("mane", "maine"),
    "dining": ("dinning", "diner"),
    "guest": ("guess", "guests"), "kids": ("kid's", "kits"), "rail": ("rails", "real"),
    "stove": ("stowe", "stoves"),
    "wine": ("vine", "whine"), "bar": ("bah", "bars"), "sink": ("think", "zinc"),
    "pool": ("pull", "pole"), "shutter": ("shudder", "shutters"), "awning": ("awnings", "morning"),
    "soundbar": ("sound bar", "soundboard"), "stereo": ("stereos", "cheerio"), "radio": ("radios", "ratio"),
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
    "which": ("witch", "witch", "wich"), "where": ("wear", "were"), "where's": ("wears", "where"),
    "our": ("are", "hour"), "by": ("buy", "bye"), "here": ("hear",), "there": ("their",), "to": ("too",),
    "all": ("oll", "or"), "any": ("annie", "eny"), "on": ("own", "an"), "has": ("as",),
    "alarm": ("a lamb", "alarms", "a larm"), "remind": ("rewind", "reminds", "mind"),
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
_SLURRED_LITTLE = frozenset(
    {"the", "in", "is", "are", "please", "our", "by", "here", "there", "to", "for", "all", "any", "on", "has"}
)
_LOST = frozenset({"turn", "switch", "set", "put", "add", "can", "could", "please"})
_VOWELS = "aeiou"


def mishear_names(rng: random.Random, calls: tuple[Call, ...]) -> dict[str, str]:
    """One word of a name or a place, and what was understood instead."""
    if rng.random() >= _MISHEARD_SHARE:
        return {}
    said = [
        (word, name)
        for call in calls
        for slot in ("name", "area", "floor")
        if isinstance(name := call.arguments.get(slot), str)
        for word in name.split()
        if len(word) > 2 and word.isalpha()
    ]
    if not said:
        return {}
    word, name = rng.choice(said)
    other = mishear_word(rng, word)
    # "Kitchen lights" would be all of them, and no longer the thing so called.
    if other == f"{word}s" and name.endswith(word) and _is_place(name.removesuffix(word).strip()):
        other = f"{word[:-1]}{word[-1]}{word[-1]}"
    return {word.lower(): other}


def _is_place(words: str) -> bool:
    return not words or words in _PLACES or words.endswith(ROOM_NOUNS) or "'" in words


_PLACES = frozenset((*ROOMS, *FLOORS, *BARE_FLOORS))


def slur_names(rng: random.Random, text: str, calls: tuple[Call, ...]) -> str:
    """One word of the command as another; words that are arguments stay."""
    arguments = _argument_words(calls)
    words = text.split(" ")
    places = [at for at, word in enumerate(words) if word.lower() in _SLURRED and word.lower() not in arguments]
    telling = [at for at in places if words[at].lower() not in _SLURRED_LITTLE]
    if places:
        at = rng.choice(telling if telling and rng.random() < 0.8 else places)
        words[at] = rng.choice(_SLURRED[words[at].lower()])
    return " ".join(words)


def replace_homophones(rng: random.Random, text: str, calls: tuple[Call, ...]) -> str:
    """A number or a small word as the word that sounds the same: "ate minutes", "four the courier"."""
    arguments = _argument_words(calls)
    words = text.split(" ")
    numbers, little = [], []
    for at, (word, following) in enumerate(itertools.pairwise(words)):
        if word in arguments:
            continue
        if word in _NUMBERS and following.rstrip(",.?!") in _UNITS:
            numbers.append((at, _NUMBERS[word]))
        elif word in _LITTLE and following in _ARTICLES:
            little.append((at, _LITTLE[word]))
    # Sentences with little words are many.
    found = numbers + little if numbers or rng.random() < _LITTLE_SHARE else ()
    if not found:
        return text
    at, alike = rng.choice(found)
    words[at] = rng.choice(alike)
    return " ".join(words)


_LITTLE_SHARE = 0.35
# What is counted behind a number, or an article behind a small word, keeps the meaning clear.
_NUMBERS = {
    "eight": ("ate",), "two": ("to", "too"), "four": ("for", "fore"), "one": ("won",), "ten": ("tenn", "tin"),
    "six": ("sicks",), "five": ("fife", "hive"), "nine": ("nein", "mine"), "forty": ("fourty", "for tea"),
    "seven": ("sevin",), "three": ("tree", "free"), "twenty": ("twenny",),
    "sixty": ("sixtie", "sick tea"), "thirty": ("thirsty", "thirtie"), "fifty": ("fifth tea",),
    "eighty": ("ate tea",), "ninety": ("nine tea",), "eleven": ("elevan",), "twelve": ("twelf",),
    "fourteen": ("for teen",), "fifteen": ("fife teen",), "sixteen": ("sicks teen",),
    "eighteen": ("ate teen",), "nineteen": ("nein teen",),
}  # fmt: skip
_LITTLE = {"for": ("four", "four", "fore"), "to": ("two", "too"), "by": ("buy", "bye")}
_ARTICLES = frozenset({"the", "my", "our", "a", "an"})
_UNITS = frozenset({"minutes", "minute", "hours", "hour", "seconds", "second", "percent", "degrees", "degree", "per"})


def drop_first_word(text: str, calls: tuple[Call, ...]) -> str:
    """The first word was not heard: "on the lamp"; what is asked for stays clear."""
    first, _, rest = text.partition(" ")
    if first not in _LOST or rest.count(" ") < 2 or _begins_with_argument(text, calls):
        return text
    return rest


def _begins_with_argument(text: str, calls: tuple[Call, ...]) -> bool:
    values = (value for call in calls for value in call.arguments.values())
    return any(isinstance(value, str) and value and text.startswith(value) for value in values)


def mishear_word(rng: random.Random, word: str) -> str:
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


def _argument_words(calls: tuple[Call, ...]) -> set[str]:
    return {
        word.lower()
        for call in calls
        for value in call.arguments.values()
        if isinstance(value, str)
        for word in value.split()
    }


_OF_SHARE = 0.012
_OFF = re.compile(r"\b(?:turn|switch) off\b", re.IGNORECASE)
_SLURRED_SHARE = 0.05
# Of the sentences with marks and capitals: those with capitals in names, and of these, in every word.
_CASED_SHARE = 0.32
_EVERY_WORD_SHARE = 0.3
_CUT_SHARE = 0.05
_LOST_SHARE = 0.015
_HOMOPHONE_SHARE = 0.12

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
_BEHIND_FULL_STOP = re.compile(r"(?<=[a-z]{3}\. )[a-z]")
_SPACES = re.compile(r" {2,}")


@dataclass(frozen=True, slots=True)
class NoisyTranscript:
    """What the recogniser wrote, and the calls in the same spelling."""

    text: str
    calls: tuple[Call, ...]


def simulate_asr(
    rng: random.Random,
    text: str,
    calls: Iterable[Call] = (),
    *,
    is_question: bool = False,
    fixed: Collection[str] = (),
    may_mishear: bool = True,
) -> NoisyTranscript:
    """The sentence in one of the recognisers' spellings. Slots in `fixed` hold no words of the person."""
    calls = tuple(calls)
    is_bare = rng.random() < 0.5
    style = _bare(rng) if is_bare else _titled(rng, text, calls) if rng.random() < _CASED_SHARE else _written(rng)
    misheard = mishear_names(rng, calls) if may_mishear else {}

    def spelling(words: str) -> str:
        return style(_replaced(words, misheard) if misheard else words)

    said = text
    if may_mishear:
        way = rng.random()
        if way < _SLURRED_SHARE:
            said = slur_names(rng, text, calls)
        elif way < _SLURRED_SHARE + _LOST_SHARE:
            said = drop_first_word(text, calls)
        elif way < _SLURRED_SHARE + _LOST_SHARE + _HOMOPHONE_SHARE:
            said = replace_homophones(rng, text, calls)
    spelt = spelling(said)
    if rng.random() < _OF_SHARE and not any(_OFF.search(word) for call in calls for word in _words(call)):
        spelt = re.sub(r"\b([Tt]urn|[Ss]witch) off\b", r"\1 of", spelt, count=1)
    same: dict[str, str] = {}
    respelt = tuple(
        Call(
            call.tool,
            {slot: _respelt(slot, value, text, spelling, fixed, same) for slot, value in call.arguments.items()},
        )
        for call in calls
    )
    if is_bare:
        return NoisyTranscript(spelt, respelt)
    if may_mishear and rng.random() < _CUT_SHARE:
        spelt = _cut_in_two(spelt, respelt)
    if "dollars" in spelt:
        spelt = _with_sign(rng, spelt, respelt)
    return NoisyTranscript(_ended(rng, spelt, is_question=is_question), respelt)


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
        text = text.replace("%", percent).replace("°c", " degrees celsius").replace("°f", " degrees fahrenheit")
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


def _titled(rng: random.Random, text: str, calls: tuple[Call, ...]) -> Callable[[str], str]:
    """Capitals where a recogniser that was told the names of a home puts them: in names, or in every word."""
    if rng.random() < _EVERY_WORD_SHARE:
        small = frozenset() if rng.random() < 0.5 else _SMALL
        return lambda text: " ".join(_with_capital(word, small) for word in text.split(" "))
    named = {
        word
        for call in calls
        for slot in ("name", "area", "floor")
        if isinstance(name := call.arguments.get(slot), str)
        for word in name.split()
        if word not in _SMALL
    }
    if text.split(" ", 1)[0] in named:  # its capital would be the sentence's
        return _written(rng)
    every = rng.random() < 0.06

    def spell(text: str) -> str:
        words = (_bare_word(word) in named for word in text.split(" "))
        return " ".join(
            (word.upper() if every else _with_capital(word)) if is_named else word
            for word, is_named in zip(text.split(" "), words, strict=True)
        )

    return spell


_SMALL = frozenset({"the", "a", "an", "in", "on", "at", "to", "of", "and", "for", "by", "is", "are"})


def _with_capital(word: str, small: Collection[str] = ()) -> str:
    if word in small:
        return word
    core = word.rstrip(",.?!:;")
    return (_CAPITALS.get(core) or core[:1].upper() + core[1:]) + word[len(core) :]


def _bare_word(word: str) -> str:
    return word.rstrip(",.?!:;").removesuffix("'s")


def _capital(word: str, capitals: dict[str, str]) -> str:
    stem = word.rstrip(",'s")
    return capitals[stem] + word[len(stem) :] if stem != word and stem in capitals else word


def _ended(rng: random.Random, text: str, *, is_question: bool) -> str:
    if ". " in text:
        text = _BEHIND_FULL_STOP.sub(lambda found: found[0].upper(), text)
    way = rng.random()
    mark = "?" if is_question and way < 0.9 else "." if way < 0.88 else "!" if way < 0.91 else ""
    return text[:1].upper() + text[1:] + ("" if text.endswith((".", "?", "!")) else mark)


# --- what a pause, and a sign, do to a sentence


_PLACE_BEGINS = re.compile(r" (?=(?:in|on|at|by) (?:the|my|our) |and (?:turn|switch|then|close|open|set)\b|please$)")


def _cut_in_two(text: str, calls: tuple[Call, ...]) -> str:
    """ "Turn on the lamp. In the kitchen": a pause that was taken for an end."""
    found = _PLACE_BEGINS.search(text, 8)
    if found is None or _splits_argument(text, found.start(), calls):
        return text
    rest = text[found.end() :]
    return f"{text[: found.start()].rstrip(',.')}. {rest[:1].upper()}{rest[1:]}"


def _splits_argument(text: str, at: int, calls: tuple[Call, ...]) -> bool:
    for call in calls:
        for value in call.arguments.values():
            if isinstance(value, str) and " " in value:
                start = text.find(value)
                if 0 <= start <= at < start + len(value):
                    return True
    return False


def _words(call: Call) -> tuple[str, ...]:
    return tuple(value for value in call.arguments.values() if isinstance(value, str) and value)


_DOLLARS = re.compile(r"\b(\d+) dollars\b")


def _with_sign(rng: random.Random, text: str, calls: tuple[Call, ...]) -> str:
    """ "$5" for 5 dollars, where that is nobody's own words."""
    if rng.random() < 0.5 or any("dollars" in value for call in calls for value in _words(call)):
        return text
    return _DOLLARS.sub(r"$\1", text)


def _replaced(text: str, misheard: dict[str, str]) -> str:
    def instead(found: re.Match[str]) -> str:
        word = found[0]
        stem = word.removesuffix(".").removesuffix("'s")
        other = misheard.get(stem.lower())
        return word if other is None else other + word[len(stem) :]

    return _WORD.sub(instead, text)

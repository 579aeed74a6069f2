"""Words that a recogniser takes for others: names as they were heard, commands that stay clear."""

from __future__ import annotations

import itertools
import random

from training.calls import Call
from training.home.places import BARE_FLOORS, FLOORS, ROOMS
from training.home.rare import ROOM_NOUNS

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


def misheard_names(rng: random.Random, calls: tuple[Call, ...]) -> dict[str, str]:
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
    other = misheard_word(rng, word)
    # "Kitchen lights" would be all of them, and no longer the thing so called.
    if other == f"{word}s" and name.endswith(word) and _is_place(name.removesuffix(word).strip()):
        other = f"{word[:-1]}{word[-1]}{word[-1]}"
    return {word.lower(): other}


def _is_place(words: str) -> bool:
    return not words or words in _PLACES or words.endswith(ROOM_NOUNS) or "'" in words


_PLACES = frozenset((*ROOMS, *FLOORS, *BARE_FLOORS))


def slurred(rng: random.Random, text: str, calls: tuple[Call, ...]) -> str:
    """One word of the command as another; words that are arguments stay."""
    arguments = _argument_words(calls)
    words = text.split(" ")
    places = [
        at for at, word in enumerate(words) if word.lower() in _SLURRED and word.lower() not in arguments
    ]
    telling = [at for at in places if words[at].lower() not in _SLURRED_LITTLE]
    if places:
        at = rng.choice(telling if telling and rng.random() < 0.8 else places)
        words[at] = rng.choice(_SLURRED[words[at].lower()])
    return " ".join(words)


def homophoned(rng: random.Random, text: str, calls: tuple[Call, ...]) -> str:
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
_UNITS = frozenset(
    {"minutes", "minute", "hours", "hour", "seconds", "second", "percent", "degrees", "degree", "per"}
)


def begun_late(text: str, calls: tuple[Call, ...]) -> str:
    """The first word was not heard: "on the lamp"; what is asked for stays clear."""
    first, _, rest = text.partition(" ")
    if first not in _LOST or rest.count(" ") < 2 or _begins_with_argument(text, calls):
        return text
    return rest


def _begins_with_argument(text: str, calls: tuple[Call, ...]) -> bool:
    values = (value for call in calls for value in call.arguments.values())
    return any(isinstance(value, str) and value and text.startswith(value) for value in values)


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


def _argument_words(calls: tuple[Call, ...]) -> set[str]:
    return {
        word.lower()
        for call in calls
        for value in call.arguments.values()
        if isinstance(value, str)
        for word in value.split()
    }

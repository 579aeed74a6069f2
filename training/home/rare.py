"""Names that nobody expects: rare words, far-off people, and words that do not exist at all.

A model that has met only lamps and speakers writes the nearest name that it knows; these are to be copied
letter by letter.
"""

from __future__ import annotations

import random

WORDS = (
    "hassock", "trowel", "lighthouse", "walrus", "pelican", "thimble", "gazebo", "gondola",
    "accordion", "ukulele", "banjo", "harmonica", "oboe", "bassoon", "cello", "marimba",
    "telescope", "microscope", "abacus", "anvil", "bellows", "loom", "spindle", "trellis", "arbor",
    "pagoda", "igloo", "yurt", "teepee", "tipi", "bivouac", "kayak", "canoe", "dinghy", "schooner",
    "galleon", "trawler", "zeppelin", "glider", "biplane", "rickshaw", "unicycle", "tandem",
    "sidecar", "caboose", "trolley", "turnstile", "obelisk", "gargoyle", "totem", "sphinx",
    "pharaoh", "samurai", "viking", "wizard", "goblin", "gnome", "pixie", "phoenix", "kraken",
    "griffin", "dragon", "yeti", "badger", "otter", "hedgehog", "ferret", "weasel", "lynx",
    "ocelot", "tapir", "okapi", "gibbon", "lemur", "sloth", "armadillo", "pangolin", "iguana",
    "gecko", "axolotl", "newt", "terrapin", "mantis", "cicada", "beetle", "ladybird", "moth",
    "heron", "egret", "puffin", "kestrel", "osprey", "magpie", "jackdaw", "wren", "finch", "toucan",
    "macaw", "quail", "pheasant", "marigold", "begonia", "dahlia", "peony", "zinnia", "fuchsia",
    "magnolia", "wisteria", "juniper", "hemlock", "sycamore", "rowan", "hawthorn", "acacia",
    "baobab", "bamboo", "cactus", "agave", "thistle", "nettle", "clover", "saffron", "cardamom",
    "turmeric", "fennel", "sorrel", "quince", "papaya", "lychee", "guava", "kumquat", "pomelo",
    "persimmon", "rhubarb", "artichoke", "parsnip", "turnip", "celeriac", "kohlrabi", "pretzel",
    "strudel", "bagpipe", "waffle", "crumpet", "scone", "brioche", "falafel", "pierogi", "gnocchi",
    "ravioli", "wasabi", "kimchi", "nougat", "truffle", "praline", "marzipan", "comet", "nebula",
    "quasar", "pulsar", "meteor", "eclipse", "aurora", "zenith", "saturn", "neptune", "pluto",
    "orion", "vega", "rigel", "granite", "basalt", "marble", "slate", "quartz", "opal", "topaz",
    "jasper", "onyx", "cobalt", "copper", "pewter", "velvet", "corduroy", "tweed", "tartan",
    "gingham", "paisley", "origami", "mosaic", "fresco", "collage", "doodle", "pottery", "kiln",
    "lathe", "forge", "smithy", "apiary", "aviary", "orangery", "belfry", "turret", "rampart",
    "drawbridge", "moat", "dungeon", "crypt", "cloister", "rotunda", "alcove", "veranda", "lagoon",
    "fjord", "tundra", "prairie", "savanna", "volcano", "glacier", "canyon", "archipelago",
    "boomerang", "didgeridoo", "tambourine", "kazoo", "zither", "dulcimer", "metronome", "sextant",
    "compass", "barometer", "hourglass", "sundial", "pendulum", "gyroscope", "periscope", "tripod",
    "monocle", "bowler", "fedora", "beret", "sombrero", "poncho", "kimono", "sari", "moccasin",
    "galosh", "mitten",
)  # fmt: skip
PEOPLE = (
    "Tadeusz", "Agnieszka", "Siobhan", "Niamh", "Eoin", "Saoirse", "Nguyen", "Thuy", "Xiomara", "Joaquin",
    "Zbigniew", "Bronwyn", "Llewellyn", "Gwendolyn", "Anneliese", "Hildegard", "Wolfgang", "Ottilie",
    "Bjorn", "Astrid", "Ingeborg", "Sven", "Aoife", "Padraig", "Kwame", "Adaeze", "Chidi", "Ngozi", "Thabo",
    "Zanele", "Aiko", "Haruto", "Sakura", "Takeshi", "Minjun", "Soojin", "Xiaoming", "Meiling", "Arjun",
    "Lakshmi", "Deepika", "Vikram", "Farid", "Leila", "Yasmin", "Tariq", "Nasrin", "Dmitri", "Svetlana",
    "Oksana", "Bogdan", "Ilinca", "Mirela", "Zoltan", "Eszter", "Matyas", "Vaclav", "Ludmila", "Giovanni",
    "Chiara", "Fiammetta", "Beatriz", "Thiago", "Guilherme", "Iker", "Nerea", "Jorge", "Ximena", "Quentin",
    "Solene", "Mathilde", "Thibault", "Euan", "Morag", "Hamish", "Cosmo", "Ptolemy", "Ursula", "Dashiell",
    "Ferdinand", "Clementine", "Peregrine", "Rhiannon", "Emrys",
)  # fmt: skip
_ONSETS = ("b", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "t", "v", "z", "br", "dr", "fl", "gl", "kr",
           "pl", "qu", "sk", "sn", "st", "tr", "tw", "w", "y", "sh", "ch", "th", "bl", "j", "h")  # fmt: skip
_VOWELS = ("a", "e", "i", "o", "u", "a", "e", "o", "oo", "ee", "ai", "ou", "y")
_CODAS = (
    "",
    "",
    "",
    "",
    "n",
    "r",
    "l",
    "m",
    "s",
    "t",
    "k",
    "x",
    "nd",
    "rp",
    "sk",
    "mp",
    "zz",
    "ck",
    "b",
    "g",
)
# What a thing of a domain may be called, behind a rare word; nothing where the word alone will do.
_NOUNS: dict[str, tuple[str, ...]] = {
    "light": ("lamp", "lamp", "light", "light", "spot", "strip", "bulb", "lantern", ""),
    "switch": ("plug", "machine", "pump", "heater", "switch", "charger", "cooker", "", ""),
    "fan": ("fan", "fan", "vent", "blower"),
    "cover": ("blind", "curtain", "shutter", "shade", "awning", "gate", "garage door", "window", "door"),
    "lock": ("door", "door", "lock", "gate", "cabinet", "safe"),
    "media_player": ("speaker", "speaker", "tv", "radio", "stereo", "player", "soundbar", ""),
    "climate": ("heater", "radiator", "thermostat", "stove", "fire", "ac", "boiler", "heating", "furnace"),
    "scene": ("", "", "time", "night", "evening", "party", "mood"),
    "script": ("", "routine", "run", "check"),
    "automation": ("alert", "reminder", "schedule", "watch"),
    "valve": ("valve", "tap", "sprinkler valve"),
    "humidifier": ("humidifier", "mister"),
    "siren": ("siren", "horn"),
    "alarm_control_panel": ("alarm", "alarm", "security"),
    "input_boolean": ("mode", "mode", "toggle"),
    "weather": ("weather", "weather station", "weather", "forecast"),
}
ROOM_NOUNS = ("room", "room", "corner", "nook", "wing", "hut", "house", "lodge", "suite", "cabin", "den")


def invented(rng: random.Random) -> str:
    """A word of two or three syllables that nobody knows."""
    parts = [rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(2 if rng.random() < 0.75 else 3)]
    return "".join(parts) + rng.choice(_CODAS)


def word(rng: random.Random) -> str:
    return rng.choice(WORDS) if rng.random() < 0.7 else invented(rng)


def thing(rng: random.Random, domain: str) -> str:
    """ "hassock lamp", "zorbel speaker"; two rare words now and then."""
    nouns = _NOUNS.get(domain, ("",))
    first = word(rng)
    if rng.random() < 0.12:
        first = f"{first} {word(rng)}"
    return f"{first} {rng.choice(nouns)}".strip()


def room(rng: random.Random, *, is_listed: bool = False) -> str:
    """ "hassock nook"; the bare word only where a list says that it is a room."""
    if is_listed and rng.random() < 0.2:
        return word(rng)
    return f"{word(rng)} {rng.choice(ROOM_NOUNS)}"


_TITLE_LINKS = ("", "", "of the", "and the", "in", "for a", "on", "without")
_FAMILIES = (
    "Okonkwo",
    "Szymborska",
    "Wyrzykowski",
    "Ibarra",
    "Nakamura",
    "Papadakis",
    "Vandersteen",
    "Oyelaran",
    "Lindqvist",
    "Kaczmarek",
    "Bhattacharya",
    "Delacroix",
    "Mbeki",
    "Quispe",
    "Thorvald",
    "Eszterhazy",
    "Yildiz",
    "Castellanos",
    "Achterberg",
    "Ferreira",
    "Halloran",
    "Zielinski",
    "Tanaka",
    "Adeyemi",
    "Kowalczyk",
    "Brannigan",
)


def artist(rng: random.Random) -> str:
    """A musician or a band that nobody has heard of."""
    way = rng.random()
    if way < 0.5:
        return f"{person(rng)} {rng.choice(_FAMILIES) if rng.random() < 0.7 else invented(rng).capitalize()}"
    name = word(rng).capitalize()
    if way < 0.8:
        return f"{name} {word(rng).capitalize()}"
    return f"the {name}s" if way < 0.9 else name


def title(rng: random.Random) -> str:
    """A song, a film or a book that does not exist."""
    link = rng.choice(_TITLE_LINKS)
    return " ".join(part for part in (word(rng).capitalize(), link, word(rng).capitalize()) if part)


def person(rng: random.Random) -> str:
    return rng.choice(PEOPLE) if rng.random() < 0.75 else invented(rng).capitalize()

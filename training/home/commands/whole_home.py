"""Commands and questions for the whole home: no area in the call, only the kind."""

from __future__ import annotations

from training.home.device_questions import CLOSED, MEASURED_IN, OF_MANY, OPEN, on_or_off
from training.home.lexicon.devices import (
    CLIMATE,
    COVER,
    COVERS,
    FAN,
    HUMIDIFIER,
    LIGHT,
    LOCK,
    OUTLET,
    PLAYER,
    SWITCH,
    VALVE,
    Kind,
)
from training.home.lexicon.sensor_classes import MEASURES, SENSES
from training.home.lexicon.values import COLOURS, LEVELS, say_temperature, temperature
from training.home.speaker import Request, Slots, Speaker, make_request
from training.home.templates import Grammar, home_call, wordings

# None of them is a room of places.ROOMS: "the cabin" may be one.
HOMES = (
    "house", "house", "house", "house", "home", "home", "home", "flat", "flat", "flat", "apartment",
    "apartment", "apartment", "place", "place", "building", "building", "cottage", "cottage", "bungalow",
    "condo", "property", "villa", "farmhouse", "household", "residence", "maisonette", "townhouse",
    "duplex", "chalet", "mansion", "bedsit", "houseboat", "residence",
)  # fmt: skip
_HOME_SET = frozenset(HOMES)
_ONCE_EACH = tuple(dict.fromkeys(HOMES))
_IN_HOME = wordings(
    "(in the {h}|in the {h}|in the {h}|in the whole {h}|in the entire {h}|throughout the {h}|"
    "all over the {h}|"
    "across the {h}|around the {h}|in our {h}|in my {h}|in this {h}|throughout the whole {h}|"
    "everywhere in the {h}|"
    "in all of the {h}|all around the {h}|all through the {h}|inside the {h}|across the entire {h}|"
    "in every room of the {h}|in each room of the {h}|in any part of the {h})"
)
_EVERYWHERE = (
    "everywhere", "everywhere", "everywhere", "at home", "at home", "in every room", "in all rooms",
    "in all the rooms", "in each room", "on every floor", "on all floors", "on all levels", "at our place",
    "at my place", "at ours", "all over", "wherever they are", "in every single room", "from top to bottom",
)  # fmt: skip
_ANYWHERE = (
    "anywhere", "anywhere", "at home", "at home", "anywhere at home", "in any room", "in any of the rooms",
    "on any floor", "at our place", "at my place", "anywhere at all", "back home", "at ours",
)  # fmt: skip

# {n} and {s} are a kind's plural and singular, {p} the whole home, {h} a word for it, {w} on or off.
_SWITCHED = Grammar("""
4! (turn|switch|turn|switch|put|flip) {w} (all the|the|all|all of the|every one of the) {n} {p}
3! (turn|switch|put) (all the|the|all|all of the) {n} {p} {w}
3! (turn|switch|put) (all the|the|all) {n} {w} {p}
2! (turn|switch) {w} (every|every single|each) {s} {p}
2. (all the|all|the|) {n} {p} {w} [please|now|]
3. (all|all the|) {n} {w} {p}
2. {p}, (all the|all|the) {n} {w}
: {p} (turn|switch) {w} (all the|the) {n}
2! (turn|switch) {w} (all|all of|) the {h} {n}
. (all|all the|) {h} {n} {w}
! (turn|switch) (the {h}'s|our {h}'s) {n} {w}
. I (want|need|would like) (all the|every one of the|all|the) {n} {p} {w}
. I'd like (all|all the) {n} {w} {p}
! make sure (all the|all|the) {n} {p} are {w}
! get (all the|the|all) {n} {w} {p}
2? (can|could) (I|we) have (all the|all|the) {n} {w} {p}
. we're (leaving|home|off to bed|going out), (all the|all) {n} {w} {p}
""")
_MOVED = Grammar("""
4! {v} (all the|the|all|all of the|every one of the) {n} {p}
2! {v} (every|each|every single) {s} {p}
2! {v} [all] the {h} {n}
2. (all|all the|) {n} {w} {p}
. (all the|the) {n} {p} {w}
. I (want|need|would like) (all the|all|the) {n} {w} {p}
! make sure (all the|all|the) {n} {p} are {w}
. {p}, {v} (all the|the) {n}
? (can|could) (we|I) have (all the|all) {n} {w} {p}
""")
_LEVEL = Grammar("""
4! (set|dim|put|turn|bring|change) (all the|the|all|all of the) {n} {p} to {v}
2! (dim|set|brighten|put) (every|every single|each) {s} {p} to {v}
2! (dim|set|turn) (all|all the|) {n} to {v} {p}
2. (all|all the|) {n} {p} (to|at) {v}
. (all|) {h} {n} (to|at) {v}
! (dim|set|put) the {h} {n} to {v}
. I (want|would like) (all the|the) {n} {p} at {v}
2. {p}, (all the|the) {n} (to|at) {v}
""")
_COLOURED = Grammar("""
4! (make|turn|set|change) (all the|the|all|every one of the) {n} {p} [to|] {c}
2! (make|turn) (every|every single|each) {s} {p} {c}
2! (set|change) the (colour|color) of (all the|the) {n} {p} to {c}
. (all|all the|) {n} {p} {c}
. I want (all the|all|the) {n} {p} {c}
""")
_POSITION = Grammar("""
4! (set|move|put|open|bring) (all the|the|all) {n} {p} to {v}
2! (set|open) (every|each) {s} {p} to {v}
2. (all|all the|) {n} {p} (to|at) {v}
! (set|put) the {h} {n} to {v}
""")
_HEATED = Grammar("""
4! (heat|warm|cool|bring|get|set|take) (the|the whole|the entire|our|my) {h} (up to|down to|to) {v}
2! (set|put|turn|change) the (heating|temperature|thermostat|heat) {p} to {v}
2! (keep|hold) (the|the whole) {h} at {v}
2. {v} {p} [please|]
. I (want|would like) it {v} {p}
. I want (the|the whole) {h} at {v}
! make it {v} {p}
""")
_WARM = Grammar("""
4? how (warm|cold|hot|chilly) is it {p}
3? (what's|what is) the temperature {p}
2? is it (warm|cold|hot|chilly|too warm|cold enough) {p}
3? how (warm|cold|hot) is (the|our|my) {h}
2? is (the|our) {h} (warm|cold|too hot|nice and warm|cosy)
! tell me (the temperature|how warm it is) {p}
2? (what's|what is) the {h} temperature
""")
_ALL = Grammar("""
3! (turn|switch|shut) everything off {p}
3! (turn|switch|shut) off everything {p}
2. everything {p} off
2. everything off {p}
! (shut|power) down everything {p}
""")
_ANY_SENSED = ("motion", "smoke", "moisture", "gas", "carbon_monoxide", "window", "door", "battery")
_ORDERED: tuple[Kind, ...] = (
    *(LIGHT,) * 9, FAN, FAN, SWITCH, OUTLET, OUTLET, CLIMATE, PLAYER, PLAYER, HUMIDIFIER,
)  # fmt: skip
_COVERED = (*(COVERS[name] for name in ("blind", "curtain", "shutter", "shade", "window", "awning")), COVER)
_WINDOWS = ("window", "window", "door")


def _place(speaker: Speaker, *, asked: bool = False) -> tuple[str, str, Slots]:
    """Words for the whole home, a noun for it, and no slots; the slot of a room where one is called so."""
    rooms = [area for area in speaker.known.areas if area in _HOME_SET and area not in speaker.known.floors]
    if rooms and speaker.chance(0.6):
        room = speaker.pick(rooms)
        return f"in the {room}", room, {"area": room}
    taken = {*speaker.known.areas, *speaker.known.floors}
    nouns = [noun for noun in (HOMES if speaker.chance(0.6) else _ONCE_EACH) if noun not in taken]
    noun = speaker.pick(nouns)
    if speaker.chance(0.3):
        return speaker.pick(_ANYWHERE if asked else _EVERYWHERE), noun, {}
    if asked and speaker.chance(0.2):
        return f"anywhere in the {noun}", noun, {}
    return _IN_HOME.say(speaker.rng, {"h": noun}), noun, {}


def ordered(speaker: Speaker) -> Request:
    """ "All the lights in the flat off", "close every blind throughout the house"."""
    speaker.slips = False
    place, noun, slots = _place(speaker)
    # Nobody says "the place lights".
    fill = {"p": place, "h": "house" if noun == "place" and "house" not in speaker.known.areas else noun}
    way = speaker.rng.random()
    if way < 0.5:
        kind = speaker.pick(_ORDERED)
        word = speaker.pick(("on", "off", "off"))
        calls = (home_call(f"turn_{word}", **slots, **kind.slots),)
        names = {"n": speaker.pick(kind.plural), "s": kind.singular[0], "w": word}
        return make_request(speaker, _SWITCHED, calls, **names, **fill)
    if way < 0.68:
        return _covers(speaker, slots, fill)
    if way < 0.76:
        text, value = speaker.numbers.share(LEVELS)
        calls = (home_call("light_set", **slots, brightness=value),)
        return make_request(speaker, _LEVEL, calls, n=speaker.pick(LIGHT.plural), s="light", v=text, **fill)
    if way < 0.81:
        colour = speaker.pick(COLOURS)
        calls = (home_call("light_set", **slots, color=colour),)
        return make_request(speaker, _COLOURED, calls, n=speaker.pick(LIGHT.plural), s="light", c=colour, **fill)
    if way < 0.86:
        kind = speaker.pick(_COVERED[:4])
        level = speaker.numbers.percent()
        calls = (home_call("set_position", **slots, **kind.slots, position=level),)
        names = {"n": speaker.pick(kind.plural), "s": kind.singular[0]}
        return make_request(speaker, _POSITION, calls, v=speaker.numbers.say_percent(level), **names, **fill)
    if way < 0.94:
        degrees = temperature(speaker.rng)
        calls = (home_call("climate_set_temperature", **slots, temperature=degrees),)
        text = say_temperature(degrees, speaker.numbers, speaker.rng)
        unit = "" if any(mark in text for mark in ("degree", "°", "elsius", "ahrenheit")) else " degrees"
        return make_request(speaker, _HEATED, calls, v=text + unit, **fill)
    return make_request(speaker, _ALL, (home_call("turn_off", **(slots or {"name": "everything"})),), p=place)


def _covers(speaker: Speaker, slots: Slots, fill: dict[str, str]) -> Request:
    kind = speaker.pick((LOCK, VALVE, *_COVERED))
    if kind is LOCK:
        verb, word, tool = speaker.pick((("lock", "locked", "turn_on"), ("unlock", "unlocked", "turn_off")))
    else:
        verb, word, tool = speaker.pick(
            (
                ("open", "open", "turn_on"),
                ("open up", "open", "turn_on"),
                ("close", "closed", "turn_off"),
                ("shut", "shut", "turn_off"),
            )
        )
    names = {"n": speaker.pick(kind.plural), "s": kind.singular[0]}
    return make_request(speaker, _MOVED, (home_call(tool, **slots, **kind.slots),), v=verb, w=word, **names, **fill)


def asked(speaker: Speaker) -> Request:
    """ "Are any lights on in the apartment", "is there smoke anywhere in the house"."""
    speaker.slips = False
    place, noun, slots = _place(speaker, asked=True)
    way = speaker.rng.random()
    if way < 0.12:
        return make_request(speaker, _WARM, (home_call("climate_get_temperature", **slots),), p=place, h=noun)
    if way < 0.24:
        device_class = speaker.pick(("humidity", "humidity", "carbon_dioxide", "power", "energy", "illuminance"))
        word = MEASURES[device_class].words.say(speaker.rng, {})
        calls = (home_call("get_state", **slots, domain="sensor", device_class=device_class),)
        if not speaker.is_listed(word):
            return make_request(speaker, MEASURED_IN, calls, m=word, p=place)
    if way < 0.42:
        device_class = speaker.pick(_ANY_SENSED)
        grammar = SENSES[device_class].placed_on
        assert grammar is not None
        pattern = grammar.draw(speaker.rng)
        found = {**slots} if "p" in pattern.places else {}
        found |= {"domain": "binary_sensor", "device_class": device_class, "state": "on"}
        return Request(pattern.form, pattern.say(speaker.rng, {"p": place}), (home_call("get_state", **found),))
    names, found = _asked_kind(speaker)
    return make_request(speaker, OF_MANY, (home_call("get_state", **slots, **found),), p=place, b="", **names)


def _asked_kind(speaker: Speaker) -> tuple[dict[str, str], Slots]:
    way = speaker.rng.random()
    if way < 0.5:
        kind = speaker.pick((LIGHT, LIGHT, LIGHT, LIGHT, FAN, SWITCH, OUTLET, PLAYER))
        words, state = on_or_off(speaker, speaker.chance(0.7))
        return _names(speaker, kind, words), {"domain": kind.domain, "state": state}
    is_on = speaker.chance(0.6)
    if way < 0.65:
        kind = COVERS[speaker.pick(("blind", "curtain", "shutter", "shade"))]
        words = (OPEN if is_on else CLOSED).say(speaker.rng, {})
        return _names(speaker, kind, words), {**kind.slots, "state": "open" if is_on else "closed"}
    if way < 0.78:
        state = "locked" if is_on else "unlocked"
        many = speaker.pick(LOCK.plural)
        return {"n": many, "s": many.removesuffix("s"), "w": state}, {**LOCK.slots, "state": state}
    device_class = speaker.pick(_WINDOWS)
    words = "open" if is_on else speaker.pick(("closed", "shut"))
    names = {"n": f"{device_class}s", "s": device_class, "w": words}
    classes = speaker.known.classes
    # As everywhere: what no sensor watches and the list calls a cover is asked of the cover.
    if ("cover", device_class) in classes and ("binary_sensor", device_class) not in classes:
        kind = COVERS[device_class]
        return names, {**kind.slots, "state": "open" if is_on else "closed"}
    return names, {"domain": "binary_sensor", "device_class": device_class, "state": "on" if is_on else "off"}


def _names(speaker: Speaker, kind: Kind, words: str) -> dict[str, str]:
    return {"n": speaker.pick(kind.plural), "s": kind.singular[0], "w": words}

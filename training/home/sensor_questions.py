"""Questions to sensors: what is open, low or wet, what is measured, and custom sensors.

A call has the name alone where only the name is asked for ("what's the nas free space"), the domain too
where a word asks for the value (when, how many) or for the measure, and the class where the tool knows it.
"""

from __future__ import annotations

import re

from edgevox.home.entities import Entity
from training.home.device_questions import (
    MEASURED_IN,
    MEASURED_OF,
    OF_ANYTHING,
    OF_EVERYTHING,
    OF_ONE,
    READING,
    covers_many,
    is_or_are,
    owner,
    said_of,
    said_of_many,
)
from training.home.houses import spoken_name
from training.home.lexicon import vocabulary
from training.home.lexicon.custom_sensors import Family, family_of, is_own, own_name
from training.home.lexicon.devices import MEASURED, READINGS, SENSED  # fmt: skip
from training.home.lexicon.other_sensor_classes import CLASSES, GAUGES, SAID_ENDS, gauge_name, says_measure
from training.home.lexicon.sensor_classes import MEASURES, PRESENCE_SENSOR, SENSES, TELLING
from training.home.lexicon.vocabulary import ROOMS, with_article
from training.home.speaker import Phrase, Request, Slots, Speaker, is_room_and_kind, make_request
from training.home.templates import Grammar, home_call
from training.types import Call

_GAUGE_OF = Grammar("""
4? (what's|what is) the [current|latest|] {m} (of|on|at|for|from) {t}
2? what {m} (does {t} have|is {t} showing|does {t} show|does {t} report|is {t} at)
2! (tell|give|show|read) me the [current|latest|] {m} (of|on|from|for) {t}
! (check|get|read|look up) the {m} (of|on|for) {t}
? how (high|low) is the {m} (of|on|at) {t}
. {m} (of|on|for) {t} [please|]
2. {t} {m} [please|now|]
? (can|could) you (tell me|check|look up) the {m} (of|on|for) {t}
? do you (know|have) the {m} (of|for) {t}
. (I'd like|I want|I need) (to know|) the {m} (of|on|for) {t}
2? what does {t} (say|show|read|report) for the {m}
. for {t}, what's the {m}
? what {m} do we have (on|at) {t} [right now|today|]
? any idea what the {m} (of|on) {t} is
""")
_OWN_READING = Grammar("""
4? (what's|what is) {t's} [current|latest|] {m}
2? (what's|what is) {t's} {m} [right now|now|today|at the moment|like]
2! (tell|give|show|read) me {t's} [current|latest|] {m}
! (check|get|read|look up|report) {t's} {m}
? how (high|low|good|bad) is {t's} {m}
2. {t's} {m} [please|now|]
? (can|could|would) you (tell me|check|read me|give me) {t's} {m}
? do you (know|have) {t's} {m}
. (I'd like|I want|I need) to know {t's} {m}
? how's {t's} {m} [doing|looking|]
? what would {t's} {m} be
""")
_AREA_READING = Grammar("""
3? (what's|what is) {t's} [current] {m}
! (tell|give) me {t's} {m}
. {t's} {m} [please|]
? how (high|low) is {t's} {m}
! (check|read) {t's} {m}
""")
# Without a list, what is left of a dryer may be a timer's business, and a date a reminder's.
_LISTED_ONLY = frozenset({"duration", "date", "timestamp"})
_FREE = tuple(name for name in CLASSES if name not in _LISTED_ONLY)


def _listed_gauges(speaker: Speaker) -> list[Entity]:
    return [
        thing
        for thing in speaker.known.by_domain.get("sensor", ())
        if thing.device_class in GAUGES and not is_own(thing.name, thing.device_class)
    ]


def _gauge(speaker: Speaker) -> tuple[str, str, bool]:
    """A sensor's name, its class, and whether the home lists it."""
    listed = _listed_gauges(speaker)
    if listed and speaker.chance(0.85):
        thing = speaker.pick(listed)
        assert thing.device_class is not None
        return spoken_name(thing.name), thing.device_class, True
    for _ in range(8):
        device_class = speaker.pick(_FREE)
        name = gauge_name(speaker.rng, device_class)
        if not speaker.is_listed(name) and not says_measure(name, device_class):
            break
    return name, device_class, speaker.is_listed(name)


def _phrase(speaker: Speaker, name: str) -> str:
    full = with_article(name)
    return speaker.pick((full, full, full, full, name, f"my {name}" if full != name else name))


def gauged(speaker: Speaker) -> Request:
    """ "What's the download speed of the torrent box": the sensor, and no class."""
    name, device_class, is_listed = _gauge(speaker)
    if is_listed and says_measure(name, device_class) and speaker.chance(0.5):
        return make_request(speaker, READING, (home_call("get_state", name=name),), n=name)
    gauge = GAUGES[device_class]
    text = _phrase(speaker, name)
    calls = (home_call("get_state", name=name, domain="sensor"),)
    fill = {"t": text, "t's": owner(text)}
    if gauge.asked is not None and (says_measure(name, device_class) or speaker.chance(0.45)):
        return make_request(speaker, gauge.asked, calls, **fill)
    word = gauge.words.say(speaker.rng, {})
    if says_measure(name, device_class) or speaker.is_listed(f"{name} {word}"):
        if not is_listed:
            return gauged(speaker)
        return make_request(speaker, READING, (home_call("get_state", name=name),), n=name)
    grammar = MEASURED_OF if speaker.chance(0.35) else _GAUGE_OF
    return make_request(speaker, grammar, calls, m=word, **fill)


def said_reading(speaker: Speaker) -> Request:
    """ "What's the solar output": the name says what is measured, though not as the class is called."""
    listed = [
        thing
        for thing in speaker.known.by_domain.get("sensor", ())
        if thing.device_class in MEASURES and spoken_name(thing.name).endswith(SAID_ENDS)
    ]
    if not listed:
        return gauged(speaker)
    name = spoken_name(speaker.pick(listed).name)
    return make_request(speaker, READING, (home_call("get_state", name=name),), n=name)


def _owner(speaker: Speaker, text: str) -> str:
    return f"{text}'s" if speaker.chance(0.6) else owner(text)


def possessive(speaker: Speaker) -> Request:
    """ "The NAS's temperature": the name without its ending."""
    way = speaker.rng.random()
    if way < 0.2 and speaker.known.areas:
        return _of_area(speaker)
    if way < 0.5:
        name, other_class, _ = _gauge(speaker)
        word = GAUGES[other_class].words.say(speaker.rng, {})
        slots = {"name": name, "domain": "sensor"}
        is_clear = not says_measure(name, other_class)
    else:
        device_class = speaker.pick(tuple(MEASURES))
        target = _measuring(speaker, device_class)
        name = str(target.slots["name"])
        word = MEASURES[device_class].words.say(speaker.rng, {})
        slots = {"name": name, "domain": "sensor", "device_class": device_class}
        is_clear = not name.endswith(SAID_ENDS) and not name.endswith(f" {device_class}")
    if not is_clear or speaker.is_listed(f"{name} {word}") or set(word.split()) & set(name.split()):
        return possessive(speaker)
    fill = {"t's": _owner(speaker, _phrase(speaker, name)), "m": word}
    return make_request(speaker, _OWN_READING, (home_call("get_state", **slots),), **fill)


def _measuring(speaker: Speaker, device_class: str) -> Phrase:
    if speaker.chance(0.25):
        name = f"{vocabulary.rare_word(speaker.rng)} {speaker.pick(MEASURED[device_class]).rpartition(' ')[2]}"
        return Phrase(name, {"name": name})
    return speaker.named("sensor", names=MEASURED[device_class], device_class=device_class, apart=0.0)


def _of_area(speaker: Speaker) -> Request:
    """ "The kitchen's humidity": a room is no name."""
    area = speaker.pick(speaker.known.areas)
    word_of = {"humidity": "humidity", "illuminance": "light level", "carbon_dioxide": "co2 level",
               "temperature": "temperature", "pm25": "fine dust level"}  # fmt: skip
    device_class = speaker.pick(tuple(word_of))
    word = word_of[device_class]
    is_own = "'" in area or speaker.is_listed(area) or speaker.is_listed(f"{area} {word}")
    if is_own or area in speaker.known.floors or area in ("upstairs", "downstairs", "outside"):
        return gauged(speaker)
    call = (
        home_call("climate_get_temperature", area=area)
        if device_class == "temperature"
        else home_call("get_state", area=area, domain="sensor", device_class=device_class)
    )
    return make_request(speaker, _AREA_READING, (call,), m=word, **{"t's": _owner(speaker, with_article(area))})


_BARE = Grammar("""
6? (what's|what is) {t}
2? (what's|what is) {t} (right now|at the moment|now|currently)
3! (tell|give|show|read) me {t}
2! (check|get|report|look up|read out) {t}
2. {t} [please]
2? what does {t} (say|show|read)
? (can|could) you (tell me|give me|look up|check) {t}
? do you (know|have) {t}
. (I want|I need|I'd like) to know {t}
? (what's|what is) the (value|state|reading) of {t}
""")
_BARE_COUNT = Grammar("""
3? what are the {n}
3! (tell|give|show) me the {n}
2. {n} [please]
2! (check|report|look up) the {n}
? (can|could) you (tell me|check) the {n}
""")
# "The petrol price today at the moment": a name that says when needs no other time.
_TIMED = re.compile(r"\b(today|tomorrow|yesterday|now|hour|week|month|year|midnight|so far)\b")
_TWICE = re.compile(
    r"\b(today|tomorrow|yesterday|now|hour|week|month|year|midnight|so far) "
    r"(right now|now|today|tonight|currently|at the moment|by now|this week|this morning|so far|for today)\b"
)
_BARE_SHARE = 0.22
_LISTED_SHARE = 0.9


def own_sensor(speaker: Speaker) -> Request:
    """One of the home's own sensors, or what any home may have."""
    listed = [
        spoken_name(thing.name)
        for thing in speaker.known.by_domain.get("sensor", ())
        if is_own(thing.name, thing.device_class)
    ]
    if listed and speaker.chance(_LISTED_SHARE):
        name = speaker.pick(listed)
    else:
        name, _ = own_name(speaker.rng, is_listed=False)
        while speaker.is_listed(name):
            name, _ = own_name(speaker.rng, is_listed=False)
    family = family_of(name)
    assert family is not None
    return _asked(speaker, name, family)


def _asked(speaker: Speaker, name: str, family: Family) -> Request:
    text = _determined(speaker, name)
    if speaker.chance(_BARE_SHARE):
        grammar = _BARE_COUNT if family.is_count else _BARE
        calls = (home_call("get_state", name=name),)
    else:
        grammar = family.asked
        calls = (home_call("get_state", name=name, domain="sensor"),)
    made = make_request(speaker, grammar, calls, t=text, n=name)
    # What the name says twice by itself, "so far this week", stays.
    while _TIMED.search(name) and _TWICE.search(made.text.replace(name, _TIMED.findall(name)[-1])):
        made = make_request(speaker, grammar, calls, t=text, n=name)
    return made


def _determined(speaker: Speaker, name: str) -> str:
    full = with_article(name)
    if full == name:
        return name
    way = speaker.rng.random()
    return full if way < 0.72 else name if way < 0.86 else f"{speaker.pick(('my', 'our'))} {name}"


def sensed_named(speaker: Speaker) -> Request:
    """A thing that a binary sensor watches."""
    things = speaker.known.by_domain.get("binary_sensor")
    device_class = speaker.pick(things).device_class if things and speaker.chance(0.5) else speaker.pick(tuple(SENSES))
    assert device_class is not None
    target = speaker.named("binary_sensor", names=SENSED[device_class], device_class=device_class, apart=0.1)
    if target.entity is None and (
        device_class == "lock"
        or (device_class == "opening" and str(target.slots["name"]).endswith(("door", "window")))
        or speaker.is_listed(str(target.slots["name"]))
        or str(target.slots["name"]) in _ROOM_SET
        or (speaker.known.house is None and is_room_and_kind(str(target.slots["name"])))
    ):
        return sensed_named(speaker)
    if device_class == "lock" and any(
        thing.name.casefold() == str(target.slots["name"]).casefold()
        for thing in speaker.known.by_domain.get("lock", ())
    ):
        return sensed_named(speaker)  # the lock of that name is meant
    on = speaker.chance(0.6)
    slots: Slots = {
        **target.slots, "domain": "binary_sensor",
        "device_class": device_class, "state": "on" if on else "off",
    }  # fmt: skip
    calls = (home_call("get_state", **slots),)
    return said_of_sense(speaker, device_class, on, target, calls)


_ROOM_SET = frozenset((*ROOMS, "attic"))


def said_of_sense(speaker: Speaker, device_class: str, on: bool, target: Phrase, calls: tuple[Call, ...]) -> Request:
    sense = SENSES[device_class]
    own = sense.named_on if on else sense.named_off
    if device_class == "presence" and str(target.slots["name"]).endswith(("sensor", "detector", "radar")):
        own = PRESENCE_SENSOR[0 if on else 1]
    adjective = sense.on if on else sense.off
    fits_named = device_class in (
        "door",
        "window",
        "garage_door",
        "lock",
        "plug",
        "connectivity",
        "occupancy",
        "running",
        "update",
    )
    if own is None or (fits_named and adjective is not None and speaker.chance(0.6)):
        assert adjective is not None
        words = adjective.say(speaker.rng, {})
        return make_request(speaker, OF_ONE, calls, t=target.text, w=words, **{"is": is_or_are(target)})
    made = said_of(speaker, own, calls, target)
    if target.is_plural:
        text = f" {made.text}".replace(" is ", " are ").replace(" does ", " do ").replace(" has ", " have ")
        return Request(made.form, text.replace(" was ", " were ").strip(), calls)
    return made


def sensed_placed(speaker: Speaker) -> Request:
    """Whether something is sensed at a place: motion, smoke, a leak."""
    device_class = speaker.pick(_PLACED)
    sense = SENSES[device_class]
    on = sense.placed_off is None or speaker.chance(0.75)
    grammar = sense.placed_on if on else sense.placed_off
    assert grammar is not None
    nowhere = 0.0 if device_class in _NEEDS_PLACE else 0.15
    place = speaker.where(nowhere=nowhere)
    slots = {"domain": "binary_sensor", "device_class": device_class, "state": "on" if on else "off"}
    if device_class == "occupancy" and "area" in place.slots and speaker.chance(0.4):
        words = sense.on if on else sense.off
        assert words is not None
        text = f"is {with_article(str(place.slots['area']))} {words.say(speaker.rng, {})}"
        return Request("?", text, (home_call("get_state", **place.slots, **slots),))
    pattern = grammar.draw(speaker.rng)
    if "p" in pattern.places:  # not every wording has room for a place
        slots |= place.slots
    text = pattern.say(speaker.rng, {"p": place.text})
    return Request(pattern.form, text, (home_call("get_state", **slots),))


# "Is it safe" alone is about nothing.
_NEEDS_PLACE = frozenset({"safety", "occupancy", "sound", "moisture"})


_PLACED = (
    *(name for name, sense in SENSES.items() if sense.placed_on),
    "motion", "motion", "smoke", "occupancy", "moisture", "window", "door",
)  # fmt: skip


_COUNTED = (
    *(name for name, sense in SENSES.items() if sense.nouns and name not in ("lock", "light")),
    *("window", "door") * 6, *("battery",) * 3, "garage_door", "motion", "smoke",
)  # fmt: skip


def sensed_many(speaker: Speaker) -> Request:
    """Any, all, which, how many: windows, doors, batteries, detectors."""
    device_class = speaker.pick(_COUNTED)
    cover_class = "garage" if device_class == "garage_door" else device_class
    if ("cover", cover_class) in speaker.known.classes and ("binary_sensor", device_class) not in speaker.known.classes:
        return covers_many(speaker)
    sense = SENSES[device_class]
    on = speaker.chance(0.6)
    words = sense.on if on else sense.off
    assert words is not None
    one, many = speaker.pick(sense.nouns)
    slots = {"domain": "binary_sensor", "device_class": device_class, "state": "on" if on else "off"}
    nowhere = 1.0 if device_class == "garage_door" else 0.35
    can_lead = device_class in ("window", "door")
    return said_of_many(speaker, one, many, words.say(speaker.rng, {}), slots, can_lead=can_lead, nowhere=nowhere)


def sensed_whatever(speaker: Speaker) -> Request:
    """Sensors and devices of whatever kind: what is asked about them tells the class."""
    device_class = speaker.pick(tuple(TELLING))
    on = speaker.chance(0.65)
    words = TELLING[device_class][0 if on else 1].say(speaker.rng, {})
    slots: Slots = {"domain": "binary_sensor", "device_class": device_class, "state": "on" if on else "off"}
    if speaker.chance(0.35):
        place = speaker.where(nowhere=0.35)
        grammar = OF_EVERYTHING if device_class in _OF_ALL or (not on and speaker.chance(0.5)) else OF_ANYTHING
        return make_request(speaker, grammar, (home_call("get_state", **place.slots, **slots),), w=words, p=place.text)
    nouns = (
        ("sensor", "detector")
        if "detecting" in words or "sensing" in words
        else ("device", "sensor", "thing", "device")
    )
    one = speaker.pick(nouns)
    return said_of_many(speaker, one, f"{one}s", words, slots, can_lead=one != "thing")


_OF_ALL = frozenset({"connectivity", "power"})


def reading(speaker: Speaker) -> Request:
    """A sensor whose name says what it measures."""
    target = speaker.named("sensor", names=READINGS, apart=0.0)
    if target.entity is not None and is_own(target.entity.name, target.entity.device_class):
        return own_sensor(speaker)
    if (
        target.entity is not None
        and target.entity.name.casefold() not in _READING_NAMES
        and target.entity.device_class in _WORDS_OF
    ):
        name = str(target.slots["name"])
        if not any(word in name for word in _WORDS_OF[target.entity.device_class]):
            return measured(speaker)  # "the fridge" alone is no reading
        if name.endswith("temperature"):
            return measured(speaker)  # a room's temperature may be meant
    name = str(target.slots["name"])
    device_class = target.entity.device_class if target.entity is not None else None
    if device_class in GAUGES and not says_measure(name, str(device_class)):
        return gauged(speaker)
    return make_request(speaker, READING, (home_call("get_state", name=name),), n=_as_sensor(speaker, name))


def _as_sensor(speaker: Speaker, name: str) -> str:
    """A name with what it is behind it, unless it says so itself: "outdoor temperature sensor"."""
    if not speaker.chance(0.15) or name.endswith(("sensor", "meter", "monitor", "station", "counter")):
        return name
    return f"{name} {speaker.pick(('sensor', 'sensor', 'sensor', 'reading'))}"


_READING_NAMES = frozenset(READINGS)


_WORDS_OF = {name: (name, {"carbon_dioxide": "co2", "moisture": "moisture"}.get(name, name)) for name in MEASURED}


def measured(speaker: Speaker) -> Request:
    """What a named thing measures."""
    device_class = speaker.pick(_MEASURED_CLASSES)
    things = speaker.known.by_domain.get("sensor")
    if things and speaker.chance(0.4):
        device_class = speaker.pick(things).device_class or device_class
    if device_class not in MEASURES:
        device_class = speaker.pick(_MEASURED_CLASSES)
    measure = MEASURES[device_class]
    target = speaker.named("sensor", names=MEASURED[device_class], device_class=device_class, apart=0.06)
    name = str(target.slots["name"])
    if any(word in name for word in _WORDS_OF[device_class]):
        # "washer power": what it measures is a part of the name
        if name.endswith("temperature"):
            return measured(speaker)
        return make_request(speaker, READING, (home_call("get_state", name=name),), n=_as_sensor(speaker, name))
    calls = (home_call("get_state", **target.slots, domain="sensor", device_class=device_class),)
    if measure.named is not None and speaker.chance(0.45):
        return said_of(speaker, measure.named, calls, target)
    word = measure.words.say(speaker.rng, {})
    made = said_of(speaker, MEASURED_OF, calls, target, m=word)
    # "the washer power" where a thing is called so means that thing.
    return made if not speaker.is_listed(f"{name} {word}") else measured(speaker)


_MEASURED_CLASSES = tuple(MEASURES) + ("battery",) * 5 + ("power", "power", "energy", "humidity")


def measured_in(speaker: Speaker) -> Request:
    """What is measured at a place."""
    device_class = speaker.pick(("humidity", "humidity", "humidity", "illuminance", "illuminance",
    "carbon_dioxide", "pm25",
                                 "pressure", "power", "carbon_monoxide", "energy"))  # fmt: skip
    measure = MEASURES[device_class]
    place = speaker.where(nowhere=0.12, floors=0.18)
    calls = (home_call("get_state", **place.slots, domain="sensor", device_class=device_class),)
    if measure.placed is not None and speaker.chance(0.4):
        return make_request(speaker, measure.placed, calls, p=place.text)
    word = measure.words.say(speaker.rng, {})
    if speaker.is_listed(word):
        return measured_in(speaker)
    return make_request(speaker, MEASURED_IN, calls, m=word, p=place.text)

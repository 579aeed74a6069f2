"""Questions to sensors: what is open, low or wet, and what is measured."""

from __future__ import annotations

from training.calls import Call
from training.home.asking_gauges import gauged
from training.home.asking_kinds import covers_many
from training.home.asking_own import own_sensor
from training.home.gauges import GAUGES, says_measure
from training.home.ordering import home_call
from training.home.own_sensors import is_own
from training.home.places import ROOMS, with_article
from training.home.questions import (
    MEASURED_IN,
    MEASURED_OF,
    OF_ANYTHING,
    OF_EVERYTHING,
    OF_ONE,
    READING,
    is_or_are,
    said_of,
    said_of_many,
)
from training.home.sensing import MEASURES, PRESENCE_SENSOR, SENSES, TELLING
from training.home.speaker import Phrase, Said, Slots, Speaker, is_room_and_kind, said
from training.home.things import (
    MEASURED,
    READINGS,
    SENSED,
)  # fmt: skip


def sensed_named(speaker: Speaker) -> Said:
    """A thing that a binary sensor watches."""
    things = speaker.known.by_domain.get("binary_sensor")
    device_class = (
        speaker.pick(things).device_class if things and speaker.chance(0.5) else speaker.pick(tuple(SENSES))
    )
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


def said_of_sense(
    speaker: Speaker, device_class: str, on: bool, target: Phrase, calls: tuple[Call, ...]
) -> Said:
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
        return said(speaker, OF_ONE, calls, t=target.text, w=words, **{"is": is_or_are(target)})
    made = said_of(speaker, own, calls, target)
    if target.is_plural:
        text = f" {made.text}".replace(" is ", " are ").replace(" does ", " do ").replace(" has ", " have ")
        return Said(made.form, text.replace(" was ", " were ").strip(), calls)
    return made


def sensed_placed(speaker: Speaker) -> Said:
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
        return Said("?", text, (home_call("get_state", **place.slots, **slots),))
    pattern = grammar.draw(speaker.rng)
    if "p" in pattern.places:  # not every wording has room for a place
        slots |= place.slots
    text = pattern.say(speaker.rng, {"p": place.text})
    return Said(pattern.form, text, (home_call("get_state", **slots),))


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


def sensed_many(speaker: Speaker) -> Said:
    """Any, all, which, how many: windows, doors, batteries, detectors."""
    device_class = speaker.pick(_COUNTED)
    cover_class = "garage" if device_class == "garage_door" else device_class
    if ("cover", cover_class) in speaker.known.classes and (
        "binary_sensor",
        device_class,
    ) not in speaker.known.classes:
        return covers_many(speaker)
    sense = SENSES[device_class]
    on = speaker.chance(0.6)
    words = sense.on if on else sense.off
    assert words is not None
    one, many = speaker.pick(sense.nouns)
    slots = {"domain": "binary_sensor", "device_class": device_class, "state": "on" if on else "off"}
    nowhere = 1.0 if device_class == "garage_door" else 0.35
    can_lead = device_class in ("window", "door")
    return said_of_many(
        speaker, one, many, words.say(speaker.rng, {}), slots, can_lead=can_lead, nowhere=nowhere
    )


def sensed_whatever(speaker: Speaker) -> Said:
    """Sensors and devices of whatever kind: what is asked about them tells the class."""
    device_class = speaker.pick(tuple(TELLING))
    on = speaker.chance(0.65)
    words = TELLING[device_class][0 if on else 1].say(speaker.rng, {})
    slots: Slots = {"domain": "binary_sensor", "device_class": device_class, "state": "on" if on else "off"}
    if speaker.chance(0.35):
        place = speaker.where(nowhere=0.35)
        grammar = (
            OF_EVERYTHING if device_class in _OF_ALL or (not on and speaker.chance(0.5)) else OF_ANYTHING
        )
        return said(
            speaker, grammar, (home_call("get_state", **place.slots, **slots),), w=words, p=place.text
        )
    nouns = (
        ("sensor", "detector")
        if "detecting" in words or "sensing" in words
        else ("device", "sensor", "thing", "device")
    )
    one = speaker.pick(nouns)
    return said_of_many(speaker, one, f"{one}s", words, slots, can_lead=one != "thing")


_OF_ALL = frozenset({"connectivity", "power"})


def reading(speaker: Speaker) -> Said:
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
    return said(speaker, READING, (home_call("get_state", name=name),), n=_as_sensor(speaker, name))


def _as_sensor(speaker: Speaker, name: str) -> str:
    """A name with what it is behind it, unless it says so itself: "outdoor temperature sensor"."""
    if not speaker.chance(0.15) or name.endswith(("sensor", "meter", "monitor", "station", "counter")):
        return name
    return f"{name} {speaker.pick(('sensor', 'sensor', 'sensor', 'reading'))}"


_READING_NAMES = frozenset(READINGS)


_WORDS_OF = {
    name: (name, {"carbon_dioxide": "co2", "moisture": "moisture"}.get(name, name)) for name in MEASURED
}


def measured(speaker: Speaker) -> Said:
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
        return said(speaker, READING, (home_call("get_state", name=name),), n=_as_sensor(speaker, name))
    calls = (home_call("get_state", **target.slots, domain="sensor", device_class=device_class),)
    if measure.named is not None and speaker.chance(0.45):
        return said_of(speaker, measure.named, calls, target)
    word = measure.words.say(speaker.rng, {})
    made = said_of(speaker, MEASURED_OF, calls, target, m=word)
    # "the washer power" where a thing is called so means that thing.
    return made if not speaker.is_listed(f"{name} {word}") else measured(speaker)


_MEASURED_CLASSES = tuple(MEASURES) + ("battery",) * 5 + ("power", "power", "energy", "humidity")


def measured_in(speaker: Speaker) -> Said:
    """What is measured at a place."""
    device_class = speaker.pick(("humidity", "humidity", "humidity", "illuminance", "illuminance",
    "carbon_dioxide", "pm25",
                                 "pressure", "power", "carbon_monoxide", "energy"))  # fmt: skip
    measure = MEASURES[device_class]
    place = speaker.where(nowhere=0.12, floors=0.18)
    calls = (home_call("get_state", **place.slots, domain="sensor", device_class=device_class),)
    if measure.placed is not None and speaker.chance(0.4):
        return said(speaker, measure.placed, calls, p=place.text)
    word = measure.words.say(speaker.rng, {})
    if speaker.is_listed(word):
        return measured_in(speaker)
    return said(speaker, MEASURED_IN, calls, m=word, p=place.text)

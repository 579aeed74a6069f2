"""Questions to the binary sensors that are seldom asked, and for the temperature of a thing."""

from __future__ import annotations

from training.home import rare
from training.home.asking_sensors import said_of_sense
from training.home.ordering import home_call
from training.home.patterns import Grammar
from training.home.places import ROOMS, with_article
from training.home.questions import (
    MEASURED_OF,
    OF_ANYTHING,
    OF_EVERYTHING,
    OF_ONE,
    is_or_are,
    owner,
    said_of,
    said_of_many,
)
from training.home.speaker import Said, Slots, Speaker, is_room_and_kind, said
from training.home.watched import WARM, WATCHED

_ONE_MORE = Grammar("""
4? {is} {t} {w}
2? {is} {t} {w} (today|again|yet|by any chance|this morning|tonight|out there|just now)
2? does {t} (seem|look) {w} [to you|]
! (confirm|have a look|find out|look up) (whether|if) {t} {is} {w}
. (I wonder|I'm wondering|not sure) (if|whether) {t} {is} {w}
? any (idea|chance|news) (whether|if) {t} {is} {w}
? (so|and|hey,) {is} {t} {w}
? (would|could) you (say|find out|have a look) (if|whether) {t} {is} {w}
""")
_ANYTHING = Grammar("""
4? is there (anything|something) {w} {p}
3? anything {w} {p}
3? (which|what) things are {w} {p}
2? what (else|all|exactly|) is {w} {p} [right now|]
2? (do we have|have we got) anything {w} {p}
2! (check|see|find out|tell me) (if|whether) (there's|there is) anything {w} {p}
2! (list|tell me|show me) (everything|anything|whatever) that is {w} {p}
? is anything at all {w} {p}
? are there (any|some) things [that are] {w} {p}
? how many things are {w} {p}
? (can|could) you (check|tell me) (if|whether) anything is {w} {p}
. I (want|need) to know what is {w} {p}
""")
_ALL = Grammar("""
4? is everything {w} {p}
2? are all [the] things {w} {p}
2? is (every single thing|absolutely everything|it all) {w} {p}
! (make sure|confirm) that everything is {w} {p}
! (check|tell me) (if|whether) everything is {w} {p}
? (can|could) you (confirm|check) that everything is {w} {p}
""")
_AREA_IS = Grammar("""
6? is {a} [still|currently|] {w}
2? is {a} {w} (right now|at the moment|tonight|today)
! (check|tell me|find out|see) (if|whether) {a} is {w}
2? (can|could) you (tell me|check|see) (if|whether) {a} is {w}
? do you know (if|whether) {a} is {w}
""")
_WARM_OF = Grammar("""
6? how (hot|warm|cold|cool) is {t} [right now|now|at the moment|by now|today]
3? what temperature is {t} [at|on|running at|sitting at] [now|]
2? what temperature (does {t} have|has {t} reached|has {t} got to|did {t} reach)
4? (what's|what is) the [current] (temperature|temp) (of|in|inside|at|on) {t}
3? (what's|what is) {t's} [current] (temperature|temp)
2? (what's|what is) {t} (temperature|temp)
2? how many degrees (is {t}|does {t} have|has {t} got|is {t} at)
2! (tell me|check|see|find out) how (hot|warm|cold) {t} is [now|]
2! (tell|give|read) me the (temperature|temp) (of|in|inside) {t}
! (check|get|read|look up) {t's} (temperature|temp)
2? (can|could) you (tell me|check) (how (hot|warm|cold) {t} is|the temperature (of|in) {t})
? do you know (how (hot|warm|cold) {t} is|the temperature (of|in) {t})
2? what does the thermometer (in|on|inside|at) {t} (say|show|read)
2. {t} temperature [please|now|]
? how (hot|warm|cold) (did {t} get|has {t} got|is {t} getting)
. (I want|I need|I'd like) to know how (hot|warm|cold) {t} is
? (what's|what is) the temperature like (in|inside|at) {t}
? how (high|low) is the temperature (of|in|inside) {t}
? where is {t} at, temperature wise
""")
_CLASSES = tuple(WATCHED)
# What is taken for the weather, the thermostat or talk is asked more often.
_ODDS = (*_CLASSES, *("heat", "cold", "safety", "sound", "problem", "tamper") * 2)
_IN_AREA = tuple(name for name, watched in WATCHED.items() if watched.area_on)
_ANYTHING_FITS = tuple(name for name in _ODDS if WATCHED[name].fits_anything)
_ROOM_SET = frozenset((*ROOMS, "attic"))
_SENSOR_ENDS = (
    "sensor",
    "detector",
    "alarm",
    "leak",
    "sound",
    "occupancy",
    "monitor",
    "radar",
    "mic",
)
_ON_WORDS = ("on", "on", "triggered", "active", "tripped")
_OFF_WORDS = ("off", "off", "clear", "not triggered", "inactive")


def _slots(device_class: str, on: bool) -> Slots:
    return {"domain": "binary_sensor", "device_class": device_class, "state": "on" if on else "off"}


def watched_named(speaker: Speaker) -> Said:
    """ "Is the playground slide hot": a thing by its name, and what it may be."""
    things = [
        thing for thing in speaker.known.by_domain.get("binary_sensor", ()) if thing.device_class in WATCHED
    ]
    device_class = speaker.pick(things).device_class if things and speaker.chance(0.6) else None
    device_class = device_class or speaker.pick(_ODDS)
    watched = WATCHED[device_class]
    target = speaker.named("binary_sensor", names=watched.things, device_class=device_class, apart=0.08)
    name = str(target.slots["name"])
    if target.entity is None and (
        speaker.is_listed(name)
        or name in _ROOM_SET
        or name in speaker.known.areas
        or (speaker.known.house is None and is_room_and_kind(name))
    ):
        return watched_named(speaker)
    on = speaker.chance(0.55)
    words = (watched.on if on else watched.off).say(speaker.rng, {})
    calls = (home_call("get_state", **target.slots, **_slots(device_class, on)),)
    if name.endswith(_SENSOR_ENDS):  # a smoke detector does not smoke
        return said_of_sense(speaker, device_class, on, target, calls)
    grammar = OF_ONE if speaker.chance(0.6) else _ONE_MORE
    pattern = grammar.draw(speaker.rng)
    fill = {"t": target.text, "w": words, "is": is_or_are(target)}
    text = pattern.say(speaker.rng, fill)
    return Said(pattern.form, text.replace("does ", "do ", 1) if target.is_plural else text, calls)


def watched_many(speaker: Speaker) -> Said:
    """Which, any, all, how many: things of a kind, or the sensors as they are called."""
    device_class = speaker.pick(_ODDS)
    watched = WATCHED[device_class]
    on = speaker.chance(0.58)
    if watched.sensors and speaker.chance(0.3):
        one, many = speaker.pick(watched.sensors)
        words = speaker.pick(_ON_WORDS if on else _OFF_WORDS)
    else:
        one, many = speaker.pick(watched.kinds)
        words = (watched.on if on else watched.off).say(speaker.rng, {})
    return said_of_many(speaker, one, many, words, _slots(device_class, on), can_lead=False, nowhere=0.5)


def watched_anything(speaker: Speaker) -> Said:
    """ "Is anything overheating in the shed", "is everything safe"."""
    device_class = speaker.pick(_ANYTHING_FITS)
    watched = WATCHED[device_class]
    on = speaker.chance(0.62)
    words = (watched.on if on else watched.off).say(speaker.rng, {})
    place = speaker.where(nowhere=0.45)
    calls = (home_call("get_state", **place.slots, **_slots(device_class, on)),)
    of_all = speaker.chance(0.15 if on else 0.6)
    grammars = (OF_EVERYTHING, _ALL) if of_all else (OF_ANYTHING, _ANYTHING, _ANYTHING)
    return said(speaker, speaker.pick(grammars), calls, w=words, p=place.text)


def watched_area(speaker: Speaker) -> Said:
    """ "Is the cellar noisy": a room that is something else than warm."""
    device_class = speaker.pick(_IN_AREA)
    watched = WATCHED[device_class]
    area = speaker.area()
    if speaker.is_listed(area):
        return watched_many(speaker)
    on = speaker.chance(0.55)
    words = watched.area_on if on else watched.area_off
    assert words is not None
    calls = (home_call("get_state", area=area, **_slots(device_class, on)),)
    return said(speaker, _AREA_IS, calls, a=with_article(area), w=words.say(speaker.rng, {}))


def warm_thing(speaker: Speaker) -> Said:
    """ "How hot is the kiln": a thing's temperature; a room's and a thermostat's are another tool's."""
    target = speaker.named("sensor", names=WARM, device_class="temperature", apart=0.04)
    name = str(target.slots["name"])
    if target.entity is None and speaker.chance(0.1):
        return _rare_warm(speaker)
    is_taken = target.entity is None and (speaker.is_listed(name) or name in speaker.known.areas)
    if is_taken or "temperature" in name or name in _ROOM_SET or speaker.is_listed(f"{name} temperature"):
        return _rare_warm(speaker)
    calls = (home_call("get_state", **target.slots, domain="sensor", device_class="temperature"),)
    if speaker.chance(0.2):
        return said_of(speaker, MEASURED_OF, calls, target, m="temperature")
    return said_of(speaker, _WARM_OF, calls, target)


def _rare_warm(speaker: Speaker) -> Said:
    name = f"{rare.word(speaker.rng)} {speaker.pick(WARM).rpartition(' ')[2]}"
    text = with_article(name)
    calls = (home_call("get_state", name=name, domain="sensor", device_class="temperature"),)
    return said(speaker, _WARM_OF, calls, t=text, **{"t's": owner(text)})

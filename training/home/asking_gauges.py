"""Questions to sensors whose class the tool does not know, and to whatever is measured in the possessive.

The rule is that of all sensors: the name alone where nothing but the name is asked for ("what's the nas free
space"), and the domain too where the measure is asked for apart from it; the class where the tool has it.
"""

from __future__ import annotations

from edgevox.tools.home.house import Entity
from training.home import rare
from training.home.gauges import CLASSES, GAUGES, SAID_ENDS, gauge_name, says_measure
from training.home.houses import spoken
from training.home.ordering import home_call
from training.home.own_sensors import is_own
from training.home.patterns import Grammar
from training.home.places import with_article
from training.home.questions import MEASURED_OF, READING, owner
from training.home.sensing import MEASURES
from training.home.speaker import Phrase, Said, Speaker, said
from training.home.things import MEASURED

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
        return spoken(thing.name), thing.device_class, True
    for _ in range(8):
        device_class = speaker.pick(_FREE)
        name = gauge_name(speaker.rng, device_class)
        if not speaker.is_listed(name) and not says_measure(name, device_class):
            break
    return name, device_class, speaker.is_listed(name)


def _phrase(speaker: Speaker, name: str) -> str:
    full = with_article(name)
    return speaker.pick((full, full, full, full, name, f"my {name}" if full != name else name))


def gauged(speaker: Speaker) -> Said:
    """ "What's the download speed of the torrent box": the sensor, and no class."""
    name, device_class, is_listed = _gauge(speaker)
    if is_listed and says_measure(name, device_class) and speaker.chance(0.5):
        return said(speaker, READING, (home_call("get_state", name=name),), n=name)
    gauge = GAUGES[device_class]
    text = _phrase(speaker, name)
    calls = (home_call("get_state", name=name, domain="sensor"),)
    fill = {"t": text, "t's": owner(text)}
    if gauge.asked is not None and (says_measure(name, device_class) or speaker.chance(0.45)):
        return said(speaker, gauge.asked, calls, **fill)
    word = gauge.words.say(speaker.rng, {})
    if says_measure(name, device_class) or speaker.is_listed(f"{name} {word}"):
        if not is_listed:
            return gauged(speaker)
        return said(speaker, READING, (home_call("get_state", name=name),), n=name)
    grammar = MEASURED_OF if speaker.chance(0.35) else _GAUGE_OF
    return said(speaker, grammar, calls, m=word, **fill)


def said_reading(speaker: Speaker) -> Said:
    """ "What's the solar output": the name says what is measured, though not as the class is called."""
    listed = [
        thing
        for thing in speaker.known.by_domain.get("sensor", ())
        if thing.device_class in MEASURES and spoken(thing.name).endswith(SAID_ENDS)
    ]
    if not listed:
        return gauged(speaker)
    name = spoken(speaker.pick(listed).name)
    return said(speaker, READING, (home_call("get_state", name=name),), n=name)


def _owner(speaker: Speaker, text: str) -> str:
    return f"{text}'s" if speaker.chance(0.6) else owner(text)


def possessive(speaker: Speaker) -> Said:
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
    return said(speaker, _OWN_READING, (home_call("get_state", **slots),), **fill)


def _measuring(speaker: Speaker, device_class: str) -> Phrase:
    if speaker.chance(0.25):
        name = f"{rare.word(speaker.rng)} {speaker.pick(MEASURED[device_class]).rpartition(' ')[2]}"
        return Phrase(name, {"name": name})
    return speaker.named("sensor", names=MEASURED[device_class], device_class=device_class, apart=0.0)


def _of_area(speaker: Speaker) -> Said:
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
    return said(speaker, _AREA_READING, (call,), m=word, **{"t's": _owner(speaker, with_article(area))})

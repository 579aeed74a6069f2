"""Things whose names mislead: called by their own kind's word, or by a word that no kind has.

A humidifier called "Humidifier" is named where the list has it, and means the kind where it has not. A hatch
or a barrier is a cover in one home and watched by a sensor in another.
"""

from __future__ import annotations

from collections.abc import Callable

from edgevox.tools.home.house import Entity
from training.home.houses import is_nook, spoken
from training.home.ordering import home_call
from training.home.patterns import Grammar, wordings
from training.home.places import with_article
from training.home.questions import DONE_TO, OF_ONE, is_or_are, on_or_off
from training.home.speaker import Phrase, Said, Slots, Speaker, said
from training.home.things import (
    ALARM,
    CALLED_BY_KIND,
    CLIMATE,
    FAN,
    HUMIDIFIER,
    ODD_COVERS,
    SIREN,
    VALVE,
)
from training.home.values import COLOURS, LEVELS, say_temperature, temperature

_ON = Grammar("""
4! (turn|switch|put) on {t}
3! (turn|switch) {t} on
2. {t} on
! (start|activate|run) {t}
. I want {t} on
""")
_OFF = Grammar("""
4! (turn|switch|shut) off {t}
3! (turn|switch) {t} off
2. {t} off
! (stop|deactivate) {t}
. I want {t} off
""")
_ARM = Grammar("""
3! (arm|set|activate|turn on|switch on) {t}
. {t} on
""")
_DISARM = Grammar("""
3! (disarm|deactivate|turn off|switch off) {t}
. {t} off
""")
_OPEN = Grammar("""
5! open {t}
2! (raise|lift|open up) {t}
2. {t} open
! (put|get|bring) {t} up
. (I need|I want|let's have) {t} open
""")
_CLOSE = Grammar("""
5! close {t}
3! shut {t}
2! lower {t}
2. {t} (closed|shut)
! (put|bring) {t} down
. (I need|I want|let's have) {t} (closed|shut)
""")
_ARMED = (("(armed|armed|on|set)", "armed"), ("(disarmed|off|disarmed)", "disarmed"))
_OPENED = (("(open|open|open|up)", "open"), ("(closed|closed|shut|down)", "closed"))
_ARMED_WORDS = tuple((wordings(words), state) for words, state in _ARMED)
_OPEN_WORDS = tuple((wordings(words), state) for words, state in _OPENED)
_READ = Grammar("""
4? (what's|what is) {t} [now|right now|at the moment|]
2! (tell|give) me {t}
2? how (is|high is) {t}
2! (check|read|read out) {t}
. {t} [please|]
? what does {t} say
""")
_WARM = Grammar("""
4! (set|put|turn|change|adjust) {t} to {v}
2! (turn|crank|bring) {t} (up|down) to {v}
2. {t} (to|at|on) {v}
. I want {t} at {v}
""")
_KINDS = {kind.domain: kind for kind in (HUMIDIFIER, CLIMATE, ALARM, SIREN, FAN, VALVE)}
_BY_KIND = {domain: frozenset(names) for domain, names in CALLED_BY_KIND.items()}


def _phrase(speaker: Speaker, name: str, slots: Slots, entity: Entity | None = None) -> Phrase:
    full = with_article(name)
    text = speaker.pick((full, full, full, name, f"my {name}"))
    plural = name.endswith(
        ("shutters", "blinds", "curtains", "shades", "gates", "doors", "windows", "bollards")
    )
    return Phrase(text, slots, plural or name.endswith(("lights", "lamps")), entity)


def _called_by_kind(speaker: Speaker) -> tuple[Phrase, str]:
    """A thing that is called what it is, and its domain; where none is listed, the kind itself."""
    listed = [
        thing
        for domain, names in _BY_KIND.items()
        for thing in speaker.known.by_domain.get(domain, ())
        if spoken(thing.name) in names and not speaker.is_kind_in_plural(spoken(thing.name))
    ]
    if listed and speaker.chance(0.85):
        thing = speaker.pick(listed)
        name = spoken(thing.name)
        return _phrase(speaker, name, {"name": name}, thing), thing.domain
    kind = _KINDS[speaker.pick(tuple(_KINDS))]
    noun = speaker.pick(kind.singular)
    slots = {"name": noun} if speaker.is_listed(noun) else dict(kind.slots)
    return Phrase(f"the {noun}", slots), kind.domain


def by_kind(speaker: Speaker) -> Said:
    """ "Turn on the humidifier", "close the west shutters", "arm the house alarm"."""
    target, domain = _called_by_kind(speaker)
    if domain in ("vacuum", "lawn_mower"):
        return by_kind_asked(speaker)
    on = speaker.chance(0.5)
    if domain == "climate" and speaker.chance(0.5):
        value = temperature(speaker.rng)
        slots = {slot: word for slot, word in target.slots.items() if slot != "domain"}
        calls = (home_call("climate_set_temperature", **slots, temperature=value),)
        degrees = say_temperature(value, speaker.numbers, speaker.rng)
        return said(speaker, _WARM, calls, t=target.text, v=degrees)
    calls = (home_call("turn_on" if on else "turn_off", **target.slots),)
    if domain == "alarm_control_panel":
        # "Turn off the alarm" may be meant for one that rings, unless a panel is called so.
        if "name" not in target.slots:
            return Said("!", f"{'arm' if on else 'disarm'} {target.text}", calls)
        return said(speaker, _ARM if on else _DISARM, calls, t=target.text)
    if domain in ("cover", "valve"):
        return said(speaker, _OPEN if on else _CLOSE, calls, t=target.text)
    return said(speaker, _ON if on else _OFF, calls, t=target.text)


def by_kind_asked(speaker: Speaker) -> Said:
    """ "Is the humidifier on", "are the west shutters closed", "is the house alarm set"."""
    target, domain = _called_by_kind(speaker)
    match domain:
        case "alarm_control_panel":
            words, state = speaker.pick(_ARMED_WORDS)
            text = words.say(speaker.rng, {})
        case "cover" | "valve":
            words, state = speaker.pick(_OPEN_WORDS)
            text = words.say(speaker.rng, {})
        case "vacuum":
            text, state = speaker.pick((("cleaning", "cleaning"), ("docked", "docked")))
        case "lawn_mower":
            text, state = speaker.pick((("mowing", "mowing"), ("docked", "docked")))
        case _:
            text, state = on_or_off(speaker, speaker.chance(0.6))
    calls = (home_call("get_state", **target.slots, state=state),)
    return said(speaker, OF_ONE, calls, t=target.text, w=text, **{"is": is_or_are(target)})


def odd_cover(speaker: Speaker) -> Said:
    """ "Raise the barrier", "close the trapdoor"."""
    target = _odd(speaker, "cover")
    on = speaker.chance(0.5)
    calls = (home_call("turn_on" if on else "turn_off", **target.slots),)
    if speaker.chance(0.15):
        value = speaker.numbers.percent()
        calls = (home_call("set_position", **target.slots, position=value),)
        return Said("!", f"{speaker.pick(('set', 'open', 'move'))} {target.text} to "
                         f"{speaker.numbers.say_percent(value)}", calls)  # fmt: skip
    return said(speaker, _OPEN if on else _CLOSE, calls, t=target.text)


def _odd(speaker: Speaker, domain: str) -> Phrase:
    listed = [thing for thing in speaker.known.by_domain.get(domain, ()) if spoken(thing.name) in ODD_COVERS]
    if listed:
        thing = speaker.pick(listed)
        name = spoken(thing.name)
        return _phrase(speaker, name, {"name": name}, thing)
    name = speaker.pick(_ODD_NAMES)
    return _phrase(speaker, name, {"name": name})


_ODD_NAMES = tuple(ODD_COVERS)
_OPENINGS = frozenset({"opening", "door", "window", "garage_door"})


def opened(speaker: Speaker) -> Said:
    """ "Is the hatch open": as a cover, or with the class of the sensor that the list shows."""
    covers = [thing for thing in speaker.known.by_domain.get("cover", ())
              if not speaker.is_kind_in_plural(spoken(thing.name))]  # fmt: skip
    sensors = [thing for thing in speaker.known.by_domain.get("binary_sensor", ())
               if thing.device_class in _OPENINGS]  # fmt: skip
    things = covers if covers and (not sensors or speaker.chance(0.5)) else sensors
    if not things:
        return odd_cover(speaker)
    thing = speaker.pick([one for one in things if spoken(one.name) in ODD_COVERS] or things)
    name = spoken(thing.name)
    if sum(spoken(other.name) == name for other in (*covers, *sensors)) > 1:
        return odd_cover(speaker)
    target = _phrase(speaker, name, {"name": name}, thing)
    words, state = speaker.pick(_OPEN_WORDS)
    slots: Slots = {**target.slots, "state": state}
    if thing.domain == "binary_sensor":
        slots = {**target.slots, "domain": "binary_sensor", "device_class": thing.device_class,
                 "state": "on" if state == "open" else "off"}  # fmt: skip
    calls = (home_call("get_state", **slots),)
    if speaker.chance(0.35):
        return said(speaker, DONE_TO[state], calls, t=target.text)
    return said(
        speaker, OF_ONE, calls, t=target.text, w=words.say(speaker.rng, {}), **{"is": is_or_are(target)}
    )


def read(speaker: Speaker) -> Said:
    """ "What's the pool temperature": a sensor of that name, though there is a pool."""
    listed = [thing for thing in speaker.known.by_domain.get("sensor", ())
              if " " in thing.name and spoken(thing.name).endswith(_MEASURES)]  # fmt: skip
    if not listed:
        return by_kind(speaker)
    name = spoken(speaker.pick(listed).name)
    return said(speaker, _READ, (home_call("get_state", name=name),), t=with_article(name))


_MEASURES = (" temperature", " humidity", " power", " pressure", " moisture", " level", " energy")

# {n} is the name, {b} with its article.
_NOOK = Grammar("""
4! (turn|switch|put) {w} {b}
3! (turn|switch|put) {b} {w}
2. {n} {w} [please|now|]
4! (turn|switch) {w} the (lights|light|lamps) (in|at) {b}
2! (turn|switch) the (lights|light) (in|at) {b} {w}
3. the (lights|light) (in|at) {b} {w}
3. {n} (lights|light) {w}
2! (turn|switch) {w} [the] {n} (lights|light)
2! (turn|switch) the {n} (lights|light) {w}
. (lights|light) {w} (in|at) {b}
. I (want|need|would like) {b} {w}
? (can|could) (we|I) have {b} {w}
. {w} with {b}
""")
_NOOK_SET = Grammar("""
3! (set|dim|turn|put|bring) {b} to {v}
2! (set|dim|turn) the (lights|light) (in|at) {b} to {v}
2! (set|dim) the {n} (lights|light) to {v}
2. {n} [lights|light|] (to|at) {v}
. I want {b} at {v}
""")
_NOOK_COLOUR = Grammar("""
3! (make|turn|set|change) {b} [to|] {c}
2! (make|turn) the (lights|light) (in|at) {b} {c}
2! (make|turn) the {n} (lights|light) {c}
. {n} [lights|light|] {c}
""")
_NOOK_ASKED = Grammar("""
4? is {b} [still|] {w}
2? are the lights (in|at) {b} {w}
2? is the light (in|at) {b} {w}
2? are the {n} lights {w}
! (tell me|check) (if|whether) {b} is {w}
""")


def nook(speaker: Speaker) -> Said:
    """ "The lights in the reading nook": one light of that name, where no area is called so."""
    places = {*speaker.known.areas, *speaker.known.floors}
    lights = [spoken(thing.name) for thing in speaker.known.by_domain.get("light", ())]
    listed = [name for name in lights if is_nook(name) and name not in places]
    word = speaker.pick(("on", "off"))
    if not listed:
        target = speaker.named("light")
        calls = (home_call(f"turn_{word}", **target.slots),)
        return said(speaker, _ON if word == "on" else _OFF, calls, t=target.text)
    name = speaker.pick(listed)
    fill = {"n": name, "b": with_article(name)}
    way = speaker.rng.random()
    if way < 0.62:
        return said(speaker, _NOOK, (home_call(f"turn_{word}", name=name),), w=word, **fill)
    if way < 0.77:
        text, value = speaker.numbers.share(LEVELS)
        calls = (home_call("light_set", name=name, brightness=value),)
        return said(speaker, _NOOK_SET, calls, v=text, **fill)
    if way < 0.86:
        colour = speaker.pick(COLOURS)
        calls = (home_call("light_set", name=name, color=colour),)
        return said(speaker, _NOOK_COLOUR, calls, c=colour, **fill)
    return said(speaker, _NOOK_ASKED, (home_call("get_state", name=name, state=word),), w=word, **fill)


BUILDERS: tuple[tuple[float, Callable[[Speaker], Said]], ...] = (
    (2.4, by_kind),
    (1.2, by_kind_asked),
    (1.4, odd_cover),
    (2, opened),
    (0.6, read),
)

"""Questions: get_state in all its shapes, and climate_get_temperature."""

from __future__ import annotations

from collections.abc import Callable

from training.calls import Call
from training.home.contents import ZONES
from training.home.ordering import home_call
from training.home.patterns import Grammar, wordings
from training.home.places import FAMILY, PEOPLE, ROOMS, with_article
from training.home.sensing import MEASURES, SENSES, TELLING
from training.home.speaker import Phrase, Said, Slots, Speaker, is_room_and_kind, said
from training.home.things import (
    ALARM,
    CLIMATE,
    COVERS,
    FAN,
    HUMIDIFIER,
    LIGHT,
    LOCK,
    MEASURED,
    MOWER,
    NAMES,
    OUTLET,
    PLAYER,
    READINGS,
    SENSED,
    SWITCH,
    TELEVISION,
    VACUUM,
    VALVE,
    Kind,
)  # fmt: skip

# {w} is a state behind "is": on, closed, low. {is} fits {t}.
_NAMED = Grammar(
    """
6? {is} {t} {w}
2? {is} {t} (still|currently|already|right now) {w}
? {is} {t} {w} (right now|at the moment|now|currently)
2? (can|could) you (tell me|check|see) (if|whether) {t} {is} {w}
! (tell me|check|find out|look up|see|verify) (if|whether) {t} {is} {w}
? do you know (if|whether) {t} {is} {w}
. (I want|I need|I would like|I'd like) to know (if|whether) {t} {is} {w}
? {is} {t} {w} or not
. {t} {is} {w}, right
? would you (check|look) (if|whether) {t} {is} {w}
"""
)
_LEFT_ON = Grammar("""
2? did (I|we|someone|anyone|somebody) leave {t} on
? have (I|we) left {t} on
? was {t} left on
? did (I|we) forget to (turn|switch) off {t}
? did (I|we) (turn|switch) on {t}
""")
_LEFT_OFF = Grammar("""
2? did (I|we|someone|anyone) (turn|switch) off {t}
? did (I|we) (turn|switch) {t} off
? have (I|we) (turned|switched) {t} off
? has {t} been (turned|switched) off
""")
_DONE_TO = {
    "open": Grammar("""
        3? did (I|we|someone|anyone|somebody) leave {t} open
        2? have (I|we) left {t} open
        ? was {t} left open
        ? did (I|we) open {t}
        ? did (I|we) forget to close {t}
        """),
    "closed": Grammar("""
        3? did (I|we|someone|anyone) (close|shut) {t}
        2? have (I|we) (closed|shut) {t}
        ? has {t} been closed
        """),
    "locked": Grammar("""
        4? did (I|we|someone|anyone) lock {t}
        2? have (I|we) locked {t}
        ? has {t} been locked
        ? did (I|we) remember to lock {t}
        """),
    "unlocked": Grammar("""
        3? did (I|we|someone|anyone) leave {t} unlocked
        2? did (I|we|someone) unlock {t}
        ? have (I|we) left {t} unlocked
        ? was {t} left unlocked
        ? did (I|we) forget to lock {t}
        """),
}  # fmt: skip
# {n} and {s} are a kind's plural and singular, {p} a place behind them, {b} before them.
_MANY = Grammar(
    """
3? are (any|any|any of the|some) {b} {n} {w} {p}
2? any {b} {n} [still] {w} {p}
2? are (any|any of the) {n} {p} {w}
2? are there [any] {n} {w} {p}
2? is (any|a|any of the) {s} {w} {p}
? is there (a|any) {s} {w} {p}
4? are (all|all|all the|all of the) {b} {n} {w} {p}
2? are (all|all the|all of the) {n} {p} {w}
2? is (every|each) {s} {w} {p}
3? are the {b} {n} {w} {p}
2? are the {n} {p} {w}
4? (which|which|what) {b} {n} are [still|currently] {w} {p}
2? which {n} {p} are {w}
2? which of the {b} {n} are {w} {p}
? which {s} is {w} {p}
4? how many {b} {n} are [still|currently] {w} {p}
2? how many of the {n} are {w} {p}
2? how many {n} {p} are {w}
? how many {n} do (I|we) have {w} {p}
? do (I|we) have any {n} {w} {p}
! tell me (which|how many) {n} are {w} {p}
! tell me (if|whether) (any|all|all the) {n} are {w} {p}
! (check|see) (if|whether) (any|all|all the) {n} are {w} {p}
! list [all] [the] {n} that are {w} {p}
! (give|tell) me the number of {n} that are {w} {p}
? (can|could) you (tell me|check) (if|whether) (any|all) {n} are {w} {p}
? (can|could) you tell me (which|how many) {n} are {w} {p}
? do you know (which|how many) {n} are {w} {p}
. I want to know (if|whether) (all|any) {n} are {w} {p}
. {n} {w} {p}, how many
? what's the number of {n} [that are] {w} {p}
"""
)
_ANYTHING = Grammar("""
4? is (anything|something|any of it) {w} {p}
2? is anything {w} {p} right now
3? (what is|what's) {w} {p}
! tell me what is {w} {p}
! (tell me|check) (if|whether) anything is {w} {p}
? what (things|devices) are {w} {p}
""")
_EVERYTHING = Grammar("""
4? is everything {w} {p}
! (check|tell me) (if|whether) everything is {w} {p}
? is it all {w} {p}
""")
_ON_IN_PLACE = Grammar("""
3? is the {s} [still|currently] {w} {p}
2? is the {s} {p} {w}
? is there a {s} {w} {p}
2? did (I|we|someone) leave (the|a|any) {s} on {p}
2? did (I|we|someone) leave (the|any) {n} on {p}
? have (I|we) left (the|any) {n} on {p}
""")
_STATE = Grammar(
    """
4? (what is|what's) the (state|status) of {t}
3? (what's|what is) {t's} (state|status)
3? (what's|what is) the [current] (state|status) of {t}
2? (what's|what is) {t} (state|status)
2! (tell|give) me the [current] (state|status) of {t}
2! (check|get|report) the [current] (state|status) of {t}
? how's {t} doing
2. (state|status) of {t}
? in what state is {t}
. I'd like to know the (state|status) of {t}
? (can|could) you tell me the (state|status) of {t}
"""
)
_READING = Grammar("""
5? (what's|what is) the [current] {n}
3! (tell|give|show) me the [current] {n}
2! (read|check|get|report) the {n}
2? how (high|much) is the {n}
2. [current] {n} please
3? what does the {n} (say|show|read)
? (can|could) you tell me the {n}
? do you know the {n}
. I (want|need) to know the {n}
? (what's|what is) the {n} (right now|at the moment|now|today)
? (what's|what is) the (value|state|reading) of the {n}
""")
_MEASURED = Grammar(
    """
4? (what's|what is) the [current] {m} of {t}
3? (what's|what is) {t's} [current] {m}
2? (what's|what is) {t} {m}
2! (tell|give|show) me the [current] {m} of {t}
! (check|get|read) the {m} of {t}
? how high is the {m} of {t}
. {m} of {t} [please]
. {t} {m}
? (can|could) you tell me the {m} of {t}
? do you know the {m} of {t}
. I want to know the {m} of {t}
"""
)
_MEASURED_IN = Grammar("""
5? (what's|what is) the [current] {m} {p}
2! (tell|give|show) me the [current] {m} {p}
! (check|get|read) the {m} {p}
2? how high is the {m} {p}
. {m} {p} [please]
? (can|could) you tell me the {m} {p}
? do you know the {m} {p}
? (what's|what is) the {m} {p} (right now|at the moment|now)
""")
_PERSON = Grammar("""
5? (where's|where is) {t} [right now|now|at the moment]
2? do you know where {t} is
2? (can|could) you tell me where {t} is
! (tell me|find out|check) where {t} is
! (find|locate) {t}
2? (what's|what is) {t's} location
? where (could|might) {t} be
? which zone is {t} in
! (give|tell) me {t's} location
. I want to know where {t} is
? where did {t} go
""")
_PERSON_HOME = wordings("(home|at home|in the house|home|here)")
_PERSON_AWAY = wordings("(away|not home|not at home|out|gone|out of the house)")
_PERSON_IN = Grammar("""
5? is {t} [already|still|currently] {w}
2? (can|could) you (tell me|check) if {t} is {w}
! (tell me|check) (if|whether) {t} is {w}
? do you know if {t} is {w}
""")
_ANYONE_HOME = Grammar("""
3? is (anyone|anybody|someone|somebody) [at] home
2? (who's|who is) [at] home
2? is (everyone|everybody) [at] home
? how many people are [at] home
? which people are home
! tell me (who is|if anyone is) home
? is there (anyone|anybody) home
""")
_ANYONE_AWAY = Grammar("""
2? (who's|who is) (away|not home|out|not at home)
2? is (everyone|everybody) (away|out|gone)
? how many people are (away|not home)
? is (anyone|anybody) (away|not home)
""")
_ANYONE_AT = Grammar("""
3? (who's|who is) at {z}
? is (anyone|anybody|someone) at {z}
? how many people are at {z}
? is everyone at {z}
""")
_WARM = Grammar(
    """
6? (what's|what is) the [current] (temperature|temp) {p}
4? how (warm|hot|cold|warm|cool) is it {p}
2? what temperature is it {p}
2! (tell|give) me the [current] temperature {p}
! (check|get|read) the temperature {p}
2? how many degrees (is it|are there|do we have) {p}
? is it (warm|cold|hot|chilly|cool|warm enough|too cold|too warm|cosy) {p}
. [the] temperature {p} please
. temperature {p}
? (can|could) you tell me (the temperature|how warm it is) {p}
? do you know (the temperature|how warm it is) {p}
. I (want|would like) to know (the temperature|how warm it is) {p}
? what does the thermometer (say|show) {p}
? how high is the temperature {p}
? (what's|what is) the temperature (like|right now) {p}
"""
)
_WARM_AREA = Grammar("""
3? how (warm|hot|cold|cool) is {a}
2? (what's|what is) {a} temperature
2? (what's|what is) the temperature of {a}
? is {a} (warm|cold|hot|warm enough|too cold)
. {a} temperature
! (tell|give) me {a} temperature
""")
_WARM_NAMED = Grammar(
    """
3? (what's|what is) the [current] temperature (of|on|at) {t}
2? (what|which) temperature (is {t} at|is {t} on|does {t} show|does {t} measure)
2? how (warm|hot|cold) is {t}
! (tell|give) me the temperature of {t}
. {t} temperature
? (what's|what is) {t} temperature
"""
)
_CLEANING = wordings("(cleaning|vacuuming|cleaning|working)")
_DOCKED = wordings("(docked|charging|in its dock|at its base|home)")
_ON = wordings("(on|on|on|turned on|switched on)")
_OFF = wordings("(off|off|off|turned off|switched off)")
_OPEN = wordings("(open|open|open|opened|up)")
_CLOSED = wordings("(closed|closed|closed|shut|down)")
_PLAYING_WHAT = Grammar(
    """
3? (what's|what is) playing {p}
2? what (song|music) is (playing|on) {p}
? what song is this {p}
"""
)
_WHAT_PLAYS = Grammar("""
3? (what's|what is) {t} playing
2? (what's|what is) playing on {t}
? what (song|show|music) is on {t}
""")
_ON_LIST = Grammar("""
4? (what's|what is) on {l}
2! (read|show|tell) me {l}
2! read [out] {l}
? what do (I|we) have on {l}
? what (items|things) are on {l}
""")


def _is(phrase: Phrase) -> str:
    return "are" if phrase.is_plural else "is"


def _owner(text: str) -> str:
    return f"{text}'" if text.endswith("s") else f"{text}'s"


def _said_of(
    speaker: Speaker, grammar: Grammar, calls: tuple[Call, ...], target: Phrase, **fill: str
) -> Said:
    """A sentence about a thing; nobody says "the lamp in the kitchen's battery"."""
    pattern = grammar.draw(speaker.rng)
    while "t's" in pattern.places and not target.slots.keys().isdisjoint(("area", "floor")):
        pattern = grammar.draw(speaker.rng)
    fill |= {"t": target.text, "t's": _owner(target.text)}
    return Said(pattern.form, pattern.say(speaker.rng, fill), calls)


def _state_words(speaker: Speaker, on: bool) -> tuple[str, str]:
    pattern, state = (_ON, "on") if on else (_OFF, "off")
    return pattern.say(speaker.rng, {}), state


# --- named things


def switched_named(speaker: Speaker) -> Said:
    domain = speaker.pick(
        (
            "light",
            "light",
            "switch",
            "fan",
            "media_player",
            "climate",
            "humidifier",
            "input_boolean",
            "light",
            "switch",
        )
    )
    target = speaker.named(domain)
    on = speaker.chance(0.65)
    words, state = _state_words(speaker, on)
    calls = (home_call("get_state", **target.slots, state=state),)
    if speaker.chance(0.2):
        return said(speaker, _LEFT_ON if on else _LEFT_OFF, calls, t=target.text)
    if on and domain == "fan" and target.entity is not None and speaker.chance(0.2):
        words = "running"
    return said(speaker, _NAMED, calls, t=target.text, w=words, **{"is": _is(target)})


_OWN_STATES: dict[str, tuple[tuple[str, str], ...]] = {
    "lock": (("locked", "locked"), ("locked", "locked"), ("unlocked", "unlocked")),
    "cover": (("(open|open|open|opened|up)", "open"), ("(closed|closed|closed|shut|down)", "closed")),
    "valve": (("(open|open)", "open"), ("(closed|closed|shut)", "closed")),
    "media_player": (("playing", "playing"), ("paused", "paused")),
    "vacuum": (("(cleaning|vacuuming|cleaning)", "cleaning"), ("(docked|in its dock|at its base)", "docked")),
    "lawn_mower": (("(mowing|mowing|cutting the grass)", "mowing"), ("(docked|in its dock)", "docked")),
}
_OWN_WORDS = {
    domain: tuple((wordings(words), state) for words, state in states)
    for domain, states in _OWN_STATES.items()
}


def own_state_named(speaker: Speaker) -> Said:
    """Locks, covers, valves, players, vacuums: their states tell the domain."""
    domain = speaker.pick(
        ("lock", "lock", "lock", "cover", "cover", "cover", "valve", "media_player", "vacuum", "lawn_mower")
    )
    target = speaker.named(domain)
    if domain == "lock" and target.entity is None:
        twin = str(target.slots["name"]).casefold()
        if twin in speaker.known.names:
            return own_state_named(speaker)
    words, state = speaker.pick(_OWN_WORDS[domain])
    calls = (home_call("get_state", **target.slots, domain=domain, state=state),)
    if state in _DONE_TO and domain != "valve" and speaker.chance(0.25):
        return said(speaker, _DONE_TO[state], calls, t=target.text)
    return said(speaker, _NAMED, calls, t=target.text, w=words.say(speaker.rng, {}), **{"is": _is(target)})


def state_of(speaker: Speaker) -> Said:
    """Without a state: what is the state of it."""
    domain = speaker.pick(("light", "switch", "fan", "cover", "lock", "media_player", "climate",
    "vacuum", "lawn_mower", "valve",
                           "humidifier", "alarm_control_panel", "sensor", "binary_sensor"))  # fmt: skip
    names = READINGS if domain == "sensor" else SENSED["door"] if domain == "binary_sensor" else NAMES[domain]
    target = speaker.named(domain, names=names)
    calls = (home_call("get_state", **target.slots),)
    return _said_of(speaker, _STATE, calls, target)


def state_of_kind(speaker: Speaker) -> Said:
    """What is the state of the kitchen lights."""
    kind = speaker.pick(
        (LIGHT, LIGHT, FAN, LOCK, CLIMATE, COVERS["blind"], COVERS["curtain"], COVERS["shutter"], VALVE)
    )
    target = speaker.kind(kind, single=0.0)
    calls = (home_call("get_state", **target.slots),)
    return _said_of(speaker, _STATE, calls, target)


# --- binary sensors


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
        or speaker.is_listed(str(target.slots["name"]))
        or str(target.slots["name"]) in _ROOM_SET
        or (speaker.known.house is None and is_room_and_kind(str(target.slots["name"])))
    ):
        return sensed_named(speaker)
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
        return said(speaker, _NAMED, calls, t=target.text, w=words, **{"is": _is(target)})
    made = _said_of(speaker, own, calls, target)
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
    return _many(speaker, one, many, words.say(speaker.rng, {}), slots, can_lead=can_lead, nowhere=nowhere)


def sensed_whatever(speaker: Speaker) -> Said:
    """Sensors and devices of whatever kind: what is asked about them tells the class."""
    device_class = speaker.pick(tuple(TELLING))
    on = speaker.chance(0.65)
    words = TELLING[device_class][0 if on else 1].say(speaker.rng, {})
    slots: Slots = {"domain": "binary_sensor", "device_class": device_class, "state": "on" if on else "off"}
    if speaker.chance(0.35):
        place = speaker.where(nowhere=0.35)
        grammar = _EVERYTHING if device_class in _OF_ALL or (not on and speaker.chance(0.5)) else _ANYTHING
        return said(
            speaker, grammar, (home_call("get_state", **place.slots, **slots),), w=words, p=place.text
        )
    nouns = (
        ("sensor", "detector")
        if "detecting" in words or "sensing" in words
        else ("device", "sensor", "thing", "device")
    )
    one = speaker.pick(nouns)
    return _many(speaker, one, f"{one}s", words, slots, can_lead=one != "thing")


_OF_ALL = frozenset({"connectivity", "power"})


def single_of_kind(speaker: Speaker) -> Said:
    """The kitchen light: a name where the home has a thing so called, else a kind and a place."""
    kind = speaker.pick(_SINGLES)
    target = speaker.kind(kind, nowhere=0.0, floors=0.1, single=1.0)
    slots = dict(target.slots)
    domain, device_class = kind.domain, kind.device_class
    if "name" in slots:
        entity = next(entity for group in speaker.known.by_domain.values() for entity in group
                      if entity.name.casefold() == str(slots["name"]).casefold()
                      or str(slots["name"]).casefold() in map(str.casefold, entity.aliases))  # fmt: skip
        domain, device_class = entity.domain, entity.device_class
        if domain in ("cover", "binary_sensor"):
            slots["domain"] = domain
        if domain == "binary_sensor":
            slots["device_class"] = device_class
    first = speaker.chance(0.6)
    if kind is not LOCK and (domain == "cover" or device_class in ("window", "door")):
        words = (
            (_OPEN if first else _CLOSED)
            if domain == "cover" and kind.domain == "cover"
            else (_WIDE if first else _SHUT)
        )
        state = ("open" if first else "closed") if domain == "cover" else ("on" if first else "off")
    elif kind is LOCK and domain == "lock":
        slots["domain"] = "lock"
        state = "locked" if first else "unlocked"
        words = wordings(state)
    elif kind is not LOCK and domain in ("light", "fan", "switch", "climate"):
        words, state = (_ON, "on") if first else (_OFF, "off")
    else:
        return single_of_kind(speaker)
    calls = (home_call("get_state", **slots, state=state),)
    return said(speaker, _NAMED, calls, t=target.text, w=words.say(speaker.rng, {}), **{"is": "is"})


_WINDOW = Kind("binary_sensor", ("window",), ("windows",), "window")
_DOOR = Kind("binary_sensor", ("door",), ("doors",), "door")
_SINGLES = (
    LIGHT, LIGHT, LIGHT, FAN, _WINDOW, _WINDOW, _DOOR, CLIMATE, LOCK,
    *(COVERS[name] for name in ("blind", "curtain", "shutter", "shade")),
)  # fmt: skip
_WIDE = wordings("(open|open|opened)")
_SHUT = wordings("(closed|closed|shut)")


def _many(
    speaker: Speaker, one: str, many: str, words: str, slots: Slots, *, can_lead: bool, nowhere: float = 0.35
) -> Said:
    place = speaker.where(nowhere=nowhere, floors=0.2)
    lead = ""
    pattern = _MANY.draw(speaker.rng)
    behind = place.text
    if can_lead and "b" in pattern.places and place.slots and speaker.chance(0.4):
        lead = str(next(iter(place.slots.values())))
        behind = ""
        if "'" in lead or not place.text.endswith(lead):
            lead, behind = "", place.text
    text = pattern.say(speaker.rng, {"n": many, "s": one, "w": words, "p": behind, "b": lead})
    return Said(pattern.form, text, (home_call("get_state", **place.slots, **slots),))


# --- kinds


def lights_many(speaker: Speaker) -> Said:
    kind = speaker.pick(
        (LIGHT, LIGHT, LIGHT, LIGHT, LIGHT, FAN, SWITCH, OUTLET, TELEVISION, PLAYER, CLIMATE, HUMIDIFIER, FAN)
    )
    words, state = _state_words(speaker, speaker.chance(0.65))
    slots: Slots = {"domain": kind.domain, "state": state}
    if state == "on" and kind in (LIGHT, FAN) and speaker.chance(0.25):
        place = speaker.where(nowhere=0.3)
        fill = {"s": kind.singular[0], "n": kind.plural[0], "w": words, "p": place.text or speaker.here()}
        if not place.slots and speaker.is_listed(fill["s"]):
            return lights_many(speaker)
        return said(speaker, _ON_IN_PLACE, (home_call("get_state", **place.slots, **slots),), **fill)
    return _many(
        speaker, kind.singular[0], speaker.pick(kind.plural), words, slots, can_lead=kind is not CLIMATE
    )


def covers_many(speaker: Speaker) -> Said:
    names: tuple[str, ...] = (
        "blind",
        "curtain",
        "shutter",
        "shade",
        "awning",
        "gate",
        "blind",
        "curtain",
        "shutter",
    )
    for name, device_class in (("garage", "garage_door"), ("window", "window"), ("door", "door")):
        if ("cover", name) in speaker.known.classes and (
            "binary_sensor",
            device_class,
        ) not in speaker.known.classes:
            names += (name, name)
    kind = COVERS[speaker.pick(names)]
    is_open = speaker.chance(0.5)
    words = (_OPEN if is_open else _CLOSED).say(speaker.rng, {})
    slots: Slots = {**kind.slots, "state": "open" if is_open else "closed"}
    return _many(speaker, kind.singular[0], speaker.pick(kind.plural), words, slots, can_lead=True)


def locks_many(speaker: Speaker) -> Said:
    kind: Kind = speaker.pick((LOCK, LOCK, LOCK, VALVE))
    if kind is VALVE:
        words, state = speaker.pick((("open", "open"), ("closed", "closed"), ("shut", "closed")))
    else:
        words, state = speaker.pick((("locked", "locked"), ("locked", "locked"), ("unlocked", "unlocked")))
    many = speaker.pick(kind.plural)
    if kind is LOCK and speaker.chance(0.15):
        place = speaker.where(nowhere=0.6)
        things = f"{speaker.pick(('all the', 'the', 'all'))} doors {place.text}".strip()
        calls = (home_call("get_state", **place.slots, **kind.slots, state=state),)
        return said(speaker, _DONE_TO[state], calls, t=things)
    return _many(speaker, many.removesuffix("s"), many, words, {**kind.slots, "state": state}, can_lead=False)


def robots(speaker: Speaker) -> Said:
    """The vacuum, the mower, players and the alarm without a name."""
    kind, words, state = speaker.pick(
        (
            (VACUUM, "(cleaning|vacuuming|cleaning|at work)", "cleaning"),
            (VACUUM, "(docked|in its dock|at its base)", "docked"),
            (MOWER, "(mowing|mowing|cutting the grass)", "mowing"),
            (MOWER, "(docked|in its dock)", "docked"),
            (ALARM, "(armed|armed|set)", "armed"),
            (ALARM, "disarmed", "disarmed"),
            (CLIMATE, "(on|on|running)", "on"),
            (CLIMATE, "off", "off"),
        )
    )
    place = 0.5 if kind is CLIMATE else 1.0
    target = speaker.kind(kind, nowhere=place, floors=0.1, single=1.0)
    slots = dict(target.slots)
    if "name" in slots:
        slots["domain"] = kind.domain
        if kind is CLIMATE:
            slots.pop("domain")
    calls = (home_call("get_state", **slots, state=state),)
    return said(speaker, _NAMED, calls, t=target.text, w=wordings(words).say(speaker.rng, {}), **{"is": "is"})


# --- sensors


def reading(speaker: Speaker) -> Said:
    """A sensor whose name says what it measures."""
    target = speaker.named("sensor", names=READINGS, apart=0.0)
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
    return said(speaker, _READING, (home_call("get_state", name=name),), n=name)


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
        device_class = "battery"
    measure = MEASURES[device_class]
    target = speaker.named("sensor", names=MEASURED[device_class], device_class=device_class, apart=0.06)
    name = str(target.slots["name"])
    if any(word in name for word in _WORDS_OF[device_class]):
        # "washer power": what it measures is a part of the name
        if name.endswith("temperature"):
            return measured(speaker)
        return said(speaker, _READING, (home_call("get_state", name=name),), n=name)
    calls = (home_call("get_state", **target.slots, domain="sensor", device_class=device_class),)
    if measure.named is not None and speaker.chance(0.45):
        return _said_of(speaker, measure.named, calls, target)
    word = measure.words.say(speaker.rng, {})
    made = _said_of(speaker, _MEASURED, calls, target, m=word)
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
    return said(speaker, _MEASURED_IN, calls, m=word, p=place.text)


# --- people


def person(speaker: Speaker) -> Said:
    way = speaker.rng.random()
    if way < 0.14:
        return said(speaker, _ANYONE_HOME, (home_call("get_state", domain="person", state="home"),))
    if way < 0.2:
        return said(speaker, _ANYONE_AWAY, (home_call("get_state", domain="person", state="not_home"),))
    zone = speaker.pick(ZONES)
    if way < 0.27:
        state = zone.removeprefix("the ")
        return said(speaker, _ANYONE_AT, (home_call("get_state", domain="person", state=state),), z=zone)
    target = speaker.named("person", names=(*PEOPLE, *FAMILY), apart=0.0)
    name = str(target.slots["name"]).removeprefix("my ").removeprefix("the ")
    shown = (
        name
        if name in PEOPLE or name not in ("nanny", "babysitter", "wife", "husband")
        else f"{'my' if name in ('wife', 'husband') else 'the'} {name}"
    )
    slots: Slots = {"name": name, "domain": "person"}
    if way < 0.6:
        return said(speaker, _PERSON, (home_call("get_state", **slots),), t=shown, **{"t's": _owner(shown)})
    if way < 0.8:
        words, state = _PERSON_HOME.say(speaker.rng, {}), "home"
    elif way < 0.9:
        words, state = _PERSON_AWAY.say(speaker.rng, {}), "not_home"
    else:
        words, state = f"at {zone}", zone.removeprefix("the ")
    return said(speaker, _PERSON_IN, (home_call("get_state", **slots, state=state),), t=shown, w=words)


# --- warmth, players, lists


def warmth(speaker: Speaker) -> Said:
    way = speaker.rng.random()
    if way < 0.14:
        target = (
            speaker.named("climate")
            if speaker.chance(0.8)
            else speaker.kind(CLIMATE, nowhere=0.0, floors=0.0, single=1.0)
        )
        slots = {
            slot: value for slot, value in target.slots.items() if slot not in ("domain", "device_class")
        }
        return said(speaker, _WARM_NAMED, (home_call("climate_get_temperature", **slots),), t=target.text)
    if way < 0.3:
        area = speaker.area()
        if not speaker.is_listed(f"{area} temperature"):
            shown = area if "'" in area and not area.startswith(("kids", "children")) else f"the {area}"
            return said(speaker, _WARM_AREA, (home_call("climate_get_temperature", area=area),), a=shown)
    place = speaker.where(nowhere=0.25, floors=0.2)
    if place.slots.get("area") in (
        "garden",
        "yard",
        "outside",
        "backyard",
        "patio",
        "terrace",
        "balcony",
        "driveway",
        "deck",
        "porch",
    ):
        place = speaker.on_floor()
    text = place.text or speaker.pick(
        ("", "", "in here", "in the house", "inside", "indoors", "in this room")
    )
    return said(speaker, _WARM, (home_call("climate_get_temperature", **place.slots),), p=text)


def playing(speaker: Speaker) -> Said:
    if speaker.chance(0.5):
        target = speaker.named("media_player", apart=0.05)
        return said(speaker, _WHAT_PLAYS, (home_call("get_state", **target.slots),), t=target.text)
    place = speaker.where(nowhere=0.3, floors=0.1)
    calls = (home_call("get_state", **place.slots, domain="media_player"),)
    return said(speaker, _PLAYING_WHAT, calls, p=place.text)


def on_list(speaker: Speaker) -> Said:
    name = speaker.pick(("shopping list", "shopping list", "grocery list", "to do list", "to-do list",
    "todo list", "chores list", "packing list",
                         "task list", "christmas list", "work list"))  # fmt: skip
    text = f"{speaker.pick(('my', 'the', 'our'))} {name}"
    return said(speaker, _ON_LIST, (home_call("get_state", name=name, domain="todo"),), l=text)


STATE_BUILDERS: tuple[tuple[float, Callable[[Speaker], Said]], ...] = (
    (3, switched_named),
    (3, own_state_named),
    (1.6, state_of),
    (0.5, state_of_kind),
    (5.5, sensed_named),
    (2.6, sensed_placed),
    (5, sensed_many),
    (2.4, sensed_whatever),
    (2, single_of_kind),
    (3, lights_many),
    (2.2, covers_many),
    (1.5, locks_many),
    (0.9, robots),
    (1.6, reading),
    (2.8, measured),
    (1.6, measured_in),
    (2.6, person),
    (0.4, playing),
    (0.4, on_list),
)
WARMTH_BUILDERS: tuple[tuple[float, Callable[[Speaker], Said]], ...] = ((1, warmth),)

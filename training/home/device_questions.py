"""Question templates, and questions about kinds of devices: the kitchen lights, all blinds."""

from __future__ import annotations

from training.home.lexicon.devices import (
    CLIMATE,
    COVERS,
    FAN,
    HUMIDIFIER,
    LIGHT,
    LOCK,
    MOWER,
    OUTLET,
    PLAYER,
    SWITCH,
    TELEVISION,
    VACUUM,
    VALVE,
    Kind,
)
from training.home.speaker import Phrase, Request, Slots, Speaker, make_request
from training.home.templates import Grammar, home_call, wordings
from training.types import Call

# {w} is a state behind "is": on, closed, low. {is} fits {t}.
OF_ONE = Grammar(
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


LEFT_ON = Grammar("""
2? did (I|we|someone|anyone|somebody) leave {t} on
2! (tell me|please tell me) (I haven't|I didn't|we haven't|nobody has) (left|leave) {t} on
? has (someone|anyone) left {t} (on|running)
. I (think|hope|fear) (I left|I didn't leave|someone left) {t} on
? have (I|we) left {t} on
? was {t} left on
? did (I|we) forget to (turn|switch) off {t}
? did (I|we) (turn|switch) on {t}
""")


LEFT_OFF = Grammar("""
2? did (I|we|someone|anyone) (turn|switch) off {t}
? did (I|we) (turn|switch) {t} off
? have (I|we) (turned|switched) {t} off
? has {t} been (turned|switched) off
""")


DONE_TO = {
    "open": Grammar("""
        3? did (I|we|someone|anyone|somebody) leave {t} open
        2! (tell me|please tell me|promise me) (I haven't|we haven't|nobody has|I didn't|we didn't) \
    (left|leave) {t} open
        2. (I hope|I think|I'm afraid) (I|we|someone|the kids) (left|didn't leave|haven't left) {t} open
        2? was {t} left (open|up|ajar|wide open)
        ? (did|has) (anyone|anybody|someone|the kids|the postman) (open|opened|left open) {t}
        ? has (someone|anyone|anybody) left {t} open
        ? (haven't|didn't) (I|we) (left|leave) {t} open
        ? is {t} standing open
        . don't tell me {t} is [still] open
        2? have (I|we) left {t} open
        ? was {t} left open
        ? did (I|we) open {t}
        ? did (I|we|anyone) forget to (close|shut) {t}
        2? was {t} open [last night|this morning|all day|all night|]
        2? did (anyone|anybody|somebody) open {t} [last night|this morning|while I was out|]
        ? are you sure {t} isn't open
        """),
    "closed": Grammar("""
        3? did (I|we|someone|anyone) (close|shut) {t}
        2! (tell me|please tell me|reassure me) (that|) {t} is (closed|shut|down)
        2. (I hope|tell me) (I|we|someone|anybody) (closed|shut) {t}
        2? did (I|we|anyone|the kids|he|she) (remember to|bother to) (close|shut) {t}
        ? has (anyone|anybody|someone) (closed|shut) {t}
        2? have (I|we) (closed|shut) {t}
        ? has {t} been (closed|shut)
        2? was {t} (closed|shut) [last night|this morning|when we left|]
        2? did (anyone|anybody|someone|somebody) (close|shut) {t} [last night|this morning|]
        ? are you sure {t} is (closed|shut)
        """),
    "locked": Grammar("""
        4? did (I|we|someone|anyone) lock {t}
        2! (tell me|please tell me|reassure me) (I|we|someone) (locked|did lock|remembered to lock) {t}
        2? has (anyone|anybody|someone) locked {t}
        . I hope {t} is locked
        2? have (I|we) locked {t}
        ? has {t} been locked [up|yet|]
        2? was {t} locked [last night|this morning|when I left|overnight|]
        2? did (anyone|anybody|somebody|he|she|the kids) lock {t} [last night|this morning|]
        ? are you sure {t} is locked
        ? did (I|we) remember to lock {t}
        """),
    "unlocked": Grammar("""
        3? did (I|we|someone|anyone) leave {t} unlocked
        3? (did|has) (anyone|anybody|someone|somebody|the kids) (unlock|unlocked|left unlocked) {t}
        2! (tell me|please tell me) (I haven't|we haven't|I didn't|nobody has) (left|leave) {t} unlocked
        ? was {t} (left unlocked|not locked|unlocked by someone)
        ? has {t} been unlocked
        2? was {t} unlocked [last night|this morning|all day|]
        2? did (anyone|anybody|somebody) (unlock {t}|leave {t} unlocked)
        2? did (I|we|someone) unlock {t}
        ? have (I|we) left {t} unlocked
        ? was {t} left unlocked
        ? did (I|we) forget to lock {t}
        """),
}  # fmt: skip


# {n} and {s} are a kind's plural and singular, {p} a place behind them, {b} before them.
OF_MANY = Grammar(
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


OF_ANYTHING = Grammar("""
4? is (anything|something|any of it) {w} {p}
2? is anything {w} {p} right now
3? (what is|what's) {w} {p}
! tell me what is {w} {p}
! (tell me|check) (if|whether) anything is {w} {p}
? what (things|devices) are {w} {p}
""")


OF_EVERYTHING = Grammar("""
4? is everything {w} {p}
! (check|tell me) (if|whether) everything is {w} {p}
? is it all {w} {p}
""")


ON_IN_PLACE = Grammar("""
3? is the {s} [still|currently] {w} {p}
2? is the {s} {p} {w}
? is there a {s} {w} {p}
2? did (I|we|someone) leave (the|a|any) {s} on {p}
2? did (I|we|someone) leave (the|any) {n} on {p}
? have (I|we) left (the|any) {n} on {p}
""")


STATE_OF = Grammar(
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


READING = Grammar("""
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


MEASURED_OF = Grammar(
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


MEASURED_IN = Grammar("""
5? (what's|what is) the [current] {m} {p}
2! (tell|give|show) me the [current] {m} {p}
! (check|get|read) the {m} {p}
2? how high is the {m} {p}
. {m} {p} [please]
? (can|could) you tell me the {m} {p}
? do you know the {m} {p}
? (what's|what is) the {m} {p} (right now|at the moment|now)
""")


ON = wordings("(on|on|on|turned on|switched on)")


OFF = wordings("(off|off|off|turned off|switched off)")


OPEN = wordings("(open|open|open|opened|up)")


CLOSED = wordings("(closed|closed|closed|shut|down)")


def is_or_are(phrase: Phrase) -> str:
    return "are" if phrase.is_plural else "is"


def owner(text: str) -> str:
    return f"{text}'" if text.endswith("s") else f"{text}'s"


def said_of(speaker: Speaker, grammar: Grammar, calls: tuple[Call, ...], target: Phrase, **fill: str) -> Request:
    """A sentence about a thing; nobody says "the lamp in the kitchen's battery"."""
    pattern = grammar.draw(speaker.rng)
    while "t's" in pattern.places and not target.slots.keys().isdisjoint(("area", "floor")):
        pattern = grammar.draw(speaker.rng)
    fill |= {"t": target.text, "t's": owner(target.text)}
    return Request(pattern.form, pattern.say(speaker.rng, fill), calls)


def on_or_off(speaker: Speaker, on: bool) -> tuple[str, str]:
    pattern, state = (ON, "on") if on else (OFF, "off")
    return pattern.say(speaker.rng, {}), state


def said_of_many(
    speaker: Speaker, one: str, many: str, words: str, slots: Slots, *, can_lead: bool, nowhere: float = 0.35
) -> Request:
    place = speaker.where(nowhere=nowhere, floors=0.2)
    lead = ""
    pattern = OF_MANY.draw(speaker.rng)
    behind = place.text
    if can_lead and "b" in pattern.places and place.slots and speaker.chance(0.4):
        lead = str(next(iter(place.slots.values())))
        behind = ""
        if "'" in lead or not place.text.endswith(lead):
            lead, behind = "", place.text
    text = pattern.say(speaker.rng, {"n": many, "s": one, "w": words, "p": behind, "b": lead})
    return Request(pattern.form, text, (home_call("get_state", **place.slots, **slots),))


def state_of_kind(speaker: Speaker) -> Request:
    """What is the state of the kitchen lights."""
    kind = speaker.pick(
        (LIGHT, LIGHT, FAN, LOCK, CLIMATE, COVERS["blind"], COVERS["curtain"], COVERS["shutter"], VALVE)
    )
    target = speaker.kind(kind, single=0.0)
    calls = (home_call("get_state", **target.slots),)
    return said_of(speaker, STATE_OF, calls, target)


def single_of_kind(speaker: Speaker) -> Request:
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
        if domain == "binary_sensor":
            slots |= {"domain": domain, "device_class": device_class}
    first = speaker.chance(0.6)
    if kind is not LOCK and (domain == "cover" or device_class in ("window", "door")):
        words = (
            (OPEN if first else CLOSED) if domain == "cover" and kind.domain == "cover" else (_WIDE if first else _SHUT)
        )
        state = ("open" if first else "closed") if domain == "cover" else ("on" if first else "off")
    elif kind is LOCK and domain == "lock":
        state = "locked" if first else "unlocked"
        words = wordings(state)
    elif kind is not LOCK and domain in ("light", "fan", "switch", "climate"):
        words, state = (ON, "on") if first else (OFF, "off")
    else:
        return single_of_kind(speaker)
    calls = (home_call("get_state", **slots, state=state),)
    return make_request(speaker, OF_ONE, calls, t=target.text, w=words.say(speaker.rng, {}), **{"is": "is"})


_WINDOW = Kind("binary_sensor", ("window",), ("windows",), "window")


_DOOR = Kind("binary_sensor", ("door",), ("doors",), "door")


_SINGLES = (
    LIGHT, LIGHT, LIGHT, FAN, _WINDOW, _WINDOW, _DOOR, CLIMATE, LOCK,
    *(COVERS[name] for name in ("blind", "curtain", "shutter", "shade")),
)  # fmt: skip


_WIDE = wordings("(open|open|opened)")


_SHUT = wordings("(closed|closed|shut)")


def lights_many(speaker: Speaker) -> Request:
    kind = speaker.pick(
        (LIGHT, LIGHT, LIGHT, LIGHT, LIGHT, FAN, SWITCH, OUTLET, TELEVISION, PLAYER, CLIMATE, HUMIDIFIER, FAN)
    )
    words, state = on_or_off(speaker, speaker.chance(0.65))
    slots: Slots = {"domain": kind.domain, "state": state}
    if state == "on" and kind in (LIGHT, FAN) and speaker.chance(0.25):
        place = speaker.where(nowhere=0.3)
        fill = {"s": kind.singular[0], "n": kind.plural[0], "w": words, "p": place.text or speaker.here()}
        if not place.slots and speaker.is_listed(fill["s"]):
            return lights_many(speaker)
        return make_request(speaker, ON_IN_PLACE, (home_call("get_state", **place.slots, **slots),), **fill)
    return said_of_many(
        speaker, kind.singular[0], speaker.pick(kind.plural), words, slots, can_lead=kind is not CLIMATE
    )


# {p} is a place: that something plays is a state of its own, and not "on".
_ANY_PLAYING = Grammar("""
5? is (anything|something|any music|music|some music|the music|a song) [still|currently|] playing {p}
3? is there (anything|something|any music|music|a song) playing {p}
2? is (music|something|anything) being played {p}
2? (do we have|have we got) (music|anything|something) playing {p}
2? is (anybody|anyone|somebody|someone) playing (music|anything|something|a song) {p}
2? did (I|we|someone|anybody) leave (music|the music|something|anything) playing {p}
! (tell me|check|see|find out) (if|whether) (anything|music|any music|something) is playing {p}
? (can|could) you (check|tell me|see) (if|whether) (anything|music|something) is [still|] playing {p}
. (anything|any music|something) playing {p}
? (which|what) (player|speaker) is playing {p}
""")
_ANY_PAUSED = Grammar("""
4? is (anything|something|the music|any music|the film|the movie|music) [still|currently|] \
    (paused|on pause) {p}
2? is there (anything|something) (paused|on pause) {p}
! (tell me|check) (if|whether) (anything|something|the music) is paused {p}
? did (I|we|someone) leave (something|anything|the music) (paused|on pause) {p}
? (which|what) (player|speaker) is (paused|on pause) {p}
""")
_PLAYERS = (
    ("speaker", "speakers"), ("speaker", "speakers"), ("player", "players"),
    ("media player", "media players"),
    ("player", "players"), ("radio", "radios"), ("sound system", "sound systems"),
    ("music player", "music players"), ("stereo", "stereos"), ("media device", "media devices"),
    ("soundbar", "soundbars"), ("audio player", "audio players"),
)  # fmt: skip
_PLAYS = wordings("(playing|playing|playing|playing|playing music|playing something|playing anything)")
_PAUSED = wordings("(paused|paused|paused|on pause)")
_NOT_SAID = (
    "", "", "", "", "right now", "at the moment", "in here", "here", "anywhere", "in the house", "at home",
)  # fmt: skip


def players(speaker: Speaker) -> Request:
    """ "Is music playing in the kitchen", "which speakers are paused"."""
    plays = speaker.chance(0.72)
    slots: Slots = {"domain": "media_player", "state": "playing" if plays else "paused"}
    if speaker.chance(0.55):
        place = speaker.where(nowhere=0.35)
        text = place.text or speaker.pick(_NOT_SAID)
        calls = (home_call("get_state", **place.slots, **slots),)
        return make_request(speaker, _ANY_PLAYING if plays else _ANY_PAUSED, calls, p=text)
    one, many = speaker.pick(_PLAYERS)
    if speaker.is_listed(one) or speaker.is_listed(many):
        one, many = "media player", "media players"
    words = (_PLAYS if plays else _PAUSED).say(speaker.rng, {})
    return said_of_many(speaker, one, many, words, slots, can_lead=True)


def covers_many(speaker: Speaker) -> Request:
    names: tuple[str, ...] = ("blind", "curtain", "shutter", "shade", "awning", "gate", "blind", "curtain", "shutter")
    for name, device_class in (("garage", "garage_door"), ("window", "window"), ("door", "door")):
        if ("cover", name) in speaker.known.classes and ("binary_sensor", device_class) not in speaker.known.classes:
            names += (name, name)
    kind = COVERS[speaker.pick(names)]
    is_open = speaker.chance(0.5)
    words = (OPEN if is_open else CLOSED).say(speaker.rng, {})
    slots: Slots = {**kind.slots, "state": "open" if is_open else "closed"}
    return said_of_many(speaker, kind.singular[0], speaker.pick(kind.plural), words, slots, can_lead=True)


def locks_many(speaker: Speaker) -> Request:
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
        return make_request(speaker, DONE_TO[state], calls, t=things)
    return said_of_many(speaker, many.removesuffix("s"), many, words, {**kind.slots, "state": state}, can_lead=False)


def robots(speaker: Speaker) -> Request:
    """The vacuum, the mower and the heating without a name."""
    kind, words, state = speaker.pick(
        (
            (VACUUM, "(cleaning|vacuuming|cleaning|at work)", "cleaning"),
            (VACUUM, "(docked|in its dock|at its base)", "docked"),
            (MOWER, "(mowing|mowing|cutting the grass)", "mowing"),
            (MOWER, "(docked|in its dock)", "docked"),
            (CLIMATE, "(on|on|running)", "on"),
            (CLIMATE, "off", "off"),
        )
    )
    place = 0.5 if kind is CLIMATE else 1.0
    target = speaker.kind(kind, nowhere=place, floors=0.1, single=1.0)
    calls = (home_call("get_state", **target.slots, state=state),)
    return make_request(speaker, OF_ONE, calls, t=target.text, w=wordings(words).say(speaker.rng, {}), **{"is": "is"})

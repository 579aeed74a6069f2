"""Questions about named devices, people, players, lists, temperature and rarely asked binary sensors."""

from __future__ import annotations

from collections.abc import Callable

from training.home.commands import alarms, whole_home
from training.home.device_questions import (
    DONE_TO,
    LEFT_OFF,
    LEFT_ON,
    MEASURED_OF,
    OF_ANYTHING,
    OF_EVERYTHING,
    OF_ONE,
    STATE_OF,
    covers_many,
    is_or_are,
    lights_many,
    locks_many,
    on_or_off,
    owner,
    players,
    robots,
    said_of,
    said_of_many,
    single_of_kind,
    state_of_kind,
)
from training.home.houses import class_of, spoken_name
from training.home.lexicon import vocabulary
from training.home.lexicon.devices import CLIMATE, NAMES, READINGS, SENSED  # fmt: skip
from training.home.lexicon.rare_binary_sensors import RARE_BINARY_SENSORS, WARM
from training.home.lexicon.vocabulary import FAMILY, PEOPLE, ROOMS, ROTAS, ZONES, with_article
from training.home.sensor_questions import (
    gauged,
    measured,
    measured_in,
    own_sensor,
    possessive,
    reading,
    said_of_sense,
    said_reading,
    sensed_many,
    sensed_named,
    sensed_placed,
    sensed_whatever,
)
from training.home.speaker import Request, Slots, Speaker, is_room_and_kind, make_request
from training.home.templates import Grammar, home_call, wordings

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
_CLASSES = tuple(RARE_BINARY_SENSORS)
# What is taken for the weather, the thermostat or talk is asked more often.
_ODDS = (*_CLASSES, *("heat", "cold", "safety", "sound", "problem", "tamper") * 2)
_IN_AREA = tuple(name for name, watched in RARE_BINARY_SENSORS.items() if watched.area_on)
_ANYTHING_FITS = tuple(name for name in _ODDS if RARE_BINARY_SENSORS[name].fits_anything)
_ROOM_SET = frozenset((*ROOMS, "attic"))
_SENSOR_ENDS = ("sensor", "detector", "alarm", "leak", "sound", "occupancy", "monitor", "radar", "mic")
_ON_WORDS = ("on", "on", "triggered", "active", "tripped")
_OFF_WORDS = ("off", "off", "clear", "not triggered", "inactive")


def _slots(device_class: str, on: bool) -> Slots:
    return {"domain": "binary_sensor", "device_class": device_class, "state": "on" if on else "off"}


def watched_named(speaker: Speaker) -> Request:
    """ "Is the playground slide hot": a thing by its name, and what it may be."""
    things = [
        thing for thing in speaker.known.by_domain.get("binary_sensor", ()) if thing.device_class in RARE_BINARY_SENSORS
    ]
    device_class = speaker.pick(things).device_class if things and speaker.chance(0.6) else None
    device_class = device_class or speaker.pick(_ODDS)
    watched = RARE_BINARY_SENSORS[device_class]
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
    return Request(pattern.form, text.replace("does ", "do ", 1) if target.is_plural else text, calls)


def watched_many(speaker: Speaker) -> Request:
    """Which, any, all, how many: things of a kind, or the sensors as they are called."""
    device_class = speaker.pick(_ODDS)
    watched = RARE_BINARY_SENSORS[device_class]
    on = speaker.chance(0.58)
    if watched.sensors and speaker.chance(0.3):
        one, many = speaker.pick(watched.sensors)
        words = speaker.pick(_ON_WORDS if on else _OFF_WORDS)
    else:
        one, many = speaker.pick(watched.kinds)
        words = (watched.on if on else watched.off).say(speaker.rng, {})
    return said_of_many(speaker, one, many, words, _slots(device_class, on), can_lead=False, nowhere=0.5)


def watched_anything(speaker: Speaker) -> Request:
    """ "Is anything overheating in the shed", "is everything safe"."""
    device_class = speaker.pick(_ANYTHING_FITS)
    watched = RARE_BINARY_SENSORS[device_class]
    on = speaker.chance(0.62)
    words = (watched.on if on else watched.off).say(speaker.rng, {})
    place = speaker.where(nowhere=0.45)
    calls = (home_call("get_state", **place.slots, **_slots(device_class, on)),)
    of_all = speaker.chance(0.15 if on else 0.6)
    grammars = (OF_EVERYTHING, _ALL) if of_all else (OF_ANYTHING, _ANYTHING, _ANYTHING)
    return make_request(speaker, speaker.pick(grammars), calls, w=words, p=place.text)


def watched_area(speaker: Speaker) -> Request:
    """ "Is the cellar noisy": a room that is something else than warm."""
    device_class = speaker.pick(_IN_AREA)
    watched = RARE_BINARY_SENSORS[device_class]
    area = speaker.area()
    if speaker.is_listed(area):
        return watched_many(speaker)
    on = speaker.chance(0.55)
    words = watched.area_on if on else watched.area_off
    assert words is not None
    calls = (home_call("get_state", area=area, **_slots(device_class, on)),)
    return make_request(speaker, _AREA_IS, calls, a=with_article(area), w=words.say(speaker.rng, {}))


def warm_thing(speaker: Speaker) -> Request:
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


def _rare_warm(speaker: Speaker) -> Request:
    name = f"{vocabulary.rare_word(speaker.rng)} {speaker.pick(WARM).rpartition(' ')[2]}"
    text = with_article(name)
    calls = (home_call("get_state", name=name, domain="sensor", device_class="temperature"),)
    return make_request(speaker, _WARM_OF, calls, t=text, **{"t's": owner(text)})


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
2? (what's|what is) {t's} [current|] temperature
! (tell|give) me {t's} temperature
"""
)


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


def switched_named(speaker: Speaker) -> Request:
    domain = speaker.pick(
        ("light", "light", "switch", "fan", "media_player", "climate", "humidifier", "input_boolean", "light", "switch")
    )
    target = speaker.named(domain)
    on = speaker.chance(0.65)
    words, state = on_or_off(speaker, on)
    calls = (home_call("get_state", **target.slots, state=state),)
    if speaker.chance(0.2):
        return make_request(speaker, LEFT_ON if on else LEFT_OFF, calls, t=target.text)
    if on and domain == "fan" and target.entity is not None and speaker.chance(0.2):
        words = "running"
    return make_request(speaker, OF_ONE, calls, t=target.text, w=words, **{"is": is_or_are(target)})


_OWN_STATES: dict[str, tuple[tuple[str, str], ...]] = {
    "lock": (("locked", "locked"), ("locked", "locked"), ("(unlocked|unlocked|not locked)", "unlocked")),
    "cover": (("(open|open|open|opened|up)", "open"), ("(closed|closed|shut|shut|down)", "closed")),
    "valve": (("(open|open)", "open"), ("(closed|closed|shut)", "closed")),
    "media_player": (("(playing|playing|playing something)", "playing"), ("(paused|paused|on pause)", "paused")),
    "vacuum": (("(cleaning|vacuuming|cleaning)", "cleaning"), ("(docked|in its dock|at its base)", "docked")),
    "lawn_mower": (("(mowing|mowing|cutting the grass)", "mowing"), ("(docked|in its dock)", "docked")),
}


_OWN_WORDS = {
    domain: tuple((wordings(words), state) for words, state in states) for domain, states in _OWN_STATES.items()
}


# What no list calls a cover is watched by a sensor.
_SENSED = frozenset({"door", "window", "garage"})


def cover_state(speaker: Speaker) -> Request:
    """A door, a gate, a garage door or a window that the home lists as a cover."""
    things = [
        thing
        for thing in speaker.known.by_domain.get("cover", ())
        if thing.device_class in ("door", "window", "garage", "gate")
    ]
    if not things:
        return own_state_named(speaker)
    name = spoken_name(speaker.pick(things).name)
    words, state = speaker.pick(_OWN_WORDS["cover"])
    calls = (home_call("get_state", name=name, state=state),)
    text = speaker.pick((with_article(name), with_article(name), f"my {name}", name))
    if speaker.chance(0.5):
        return make_request(speaker, DONE_TO[state], calls, t=text)
    is_plural = name.endswith(("doors", "windows", "gates"))
    return make_request(
        speaker, OF_ONE, calls, t=text, w=words.say(speaker.rng, {}), **{"is": "are" if is_plural else "is"}
    )


def own_state_named(speaker: Speaker) -> Request:
    """Locks, covers, valves, players, vacuums: their states tell the domain."""
    domain = speaker.pick(
        ("lock", "lock", "lock", "cover", "cover", "cover", "valve", "media_player", "vacuum", "lawn_mower")
    )
    target = speaker.named(domain)
    if domain == "lock" and target.entity is None:
        twin = str(target.slots["name"]).casefold()
        if twin in speaker.known.names:
            return own_state_named(speaker)
    if domain == "cover" and target.entity is None and class_of(domain, str(target.slots["name"])) in _SENSED:
        return own_state_named(speaker)
    words, state = speaker.pick(_OWN_WORDS[domain])
    calls = (home_call("get_state", **target.slots, state=state),)
    if state in DONE_TO and domain != "valve" and speaker.chance(0.4):
        return make_request(speaker, DONE_TO[state], calls, t=target.text)
    return make_request(
        speaker, OF_ONE, calls, t=target.text, w=words.say(speaker.rng, {}), **{"is": is_or_are(target)}
    )


def state_of(speaker: Speaker) -> Request:
    """Without a state: what is the state of it."""
    domain = speaker.pick(("light", "switch", "fan", "cover", "lock", "media_player", "climate",
    "vacuum", "lawn_mower", "valve",
                           "humidifier", "alarm_control_panel", "sensor", "binary_sensor"))  # fmt: skip
    names = READINGS if domain == "sensor" else SENSED["door"] if domain == "binary_sensor" else NAMES[domain]
    target = speaker.named(domain, names=names)
    calls = (home_call("get_state", **target.slots),)
    return said_of(speaker, STATE_OF, calls, target)


def person(speaker: Speaker) -> Request:
    way = speaker.rng.random()
    if way < 0.14:
        return make_request(speaker, _ANYONE_HOME, (home_call("get_state", domain="person", state="home"),))
    if way < 0.2:
        return make_request(speaker, _ANYONE_AWAY, (home_call("get_state", domain="person", state="not_home"),))
    zone = speaker.pick(ZONES)
    if way < 0.27:
        state = zone.removeprefix("the ")
        return make_request(speaker, _ANYONE_AT, (home_call("get_state", domain="person", state=state),), z=zone)
    target = speaker.named("person", names=(*PEOPLE, *FAMILY), apart=0.0)
    name = str(target.slots["name"]).removeprefix("my ").removeprefix("the ")
    shown = (
        name
        if name in PEOPLE or name not in ("nanny", "babysitter", "wife", "husband")
        else f"{'my' if name in ('wife', 'husband') else 'the'} {name}"
    )
    slots: Slots = {"name": name, "domain": "person"}
    if way < 0.6:
        return make_request(speaker, _PERSON, (home_call("get_state", **slots),), t=shown, **{"t's": owner(shown)})
    if way < 0.8:
        words, state = _PERSON_HOME.say(speaker.rng, {}), "home"
    elif way < 0.9:
        words, state = _PERSON_AWAY.say(speaker.rng, {}), "not_home"
    else:
        words, state = f"at {zone}", zone.removeprefix("the ")
    return make_request(speaker, _PERSON_IN, (home_call("get_state", **slots, state=state),), t=shown, w=words)


def warmth(speaker: Speaker) -> Request:
    way = speaker.rng.random()
    if way < 0.14:
        target = (
            speaker.named("climate")
            if speaker.chance(0.8)
            else speaker.kind(CLIMATE, nowhere=0.0, floors=0.0, single=1.0)
        )
        slots = {slot: value for slot, value in target.slots.items() if slot not in ("domain", "device_class")}
        calls = (home_call("climate_get_temperature", **slots),)
        return said_of(speaker, _WARM_NAMED, calls, target)
    if way < 0.3:
        area = speaker.area()
        if not speaker.is_listed(f"{area} temperature"):
            shown = area if "'" in area and not area.startswith(("kids", "children")) else f"the {area}"
            return make_request(speaker, _WARM_AREA, (home_call("climate_get_temperature", area=area),), a=shown)
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
    text = place.text or speaker.pick(("", "", "in here", "in the house", "inside", "indoors", "in this room"))
    return make_request(speaker, _WARM, (home_call("climate_get_temperature", **place.slots),), p=text)


def playing(speaker: Speaker) -> Request:
    if speaker.chance(0.5):
        target = speaker.named("media_player", apart=0.05)
        return make_request(speaker, _WHAT_PLAYS, (home_call("get_state", **target.slots),), t=target.text)
    place = speaker.where(nowhere=0.3, floors=0.1)
    calls = (home_call("get_state", **place.slots, domain="media_player"),)
    return make_request(speaker, _PLAYING_WHAT, calls, p=place.text)


def on_list(speaker: Speaker) -> Request:
    name = speaker.pick(("shopping list", "shopping list", "grocery list", "to do list", "to-do list",
    "todo list", "chores list", "packing list",
                         "task list", "christmas list", "work list"))  # fmt: skip
    if speaker.chance(0.4):
        name = speaker.pick(ROTAS) if speaker.chance(0.5) else f"{vocabulary.rare_word(speaker.rng)} list"
    text = f"{speaker.pick(('my', 'the', 'our'))} {name}"
    return make_request(speaker, _ON_LIST, (home_call("get_state", name=name, domain="todo"),), l=text)


STATE_BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = (
    (3, switched_named),
    (3, own_state_named),
    (1.5, cover_state),
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
    (0.5, alarms.armed),
    (1.6, reading),
    (2.8, measured),
    (1.6, measured_in),
    (4.6, gauged),
    (0.8, said_reading),
    (2, possessive),
    (4.4, own_sensor),
    (1.8, watched_named),
    (1.5, watched_many),
    (1.1, watched_anything),
    (0.6, watched_area),
    (1.8, warm_thing),
    (2.2, players),
    (2.8, whole_home.asked),
    (2.6, person),
    (0.4, playing),
    (0.5, on_list),
)


WARMTH_BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = ((1, warmth),)

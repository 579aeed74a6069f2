"""Questions: get_state about things by name, people, players and lists, and climate_get_temperature."""

from __future__ import annotations

from collections.abc import Callable

from training.home import panel, rare, whole
from training.home.asking_gauges import gauged, possessive, said_reading
from training.home.asking_kinds import (
    covers_many,
    lights_many,
    locks_many,
    players,
    robots,
    single_of_kind,
    state_of_kind,
)
from training.home.asking_own import own_sensor
from training.home.asking_sensors import (
    measured,
    measured_in,
    reading,
    sensed_many,
    sensed_named,
    sensed_placed,
    sensed_whatever,
)
from training.home.asking_watched import (
    warm_thing,
    watched_anything,
    watched_area,
    watched_many,
    watched_named,
)
from training.home.contents import ROTAS, ZONES
from training.home.houses import class_of, spoken
from training.home.ordering import home_call
from training.home.patterns import Grammar, wordings
from training.home.places import FAMILY, PEOPLE, with_article
from training.home.questions import (
    DONE_TO,
    LEFT_OFF,
    LEFT_ON,
    OF_ONE,
    STATE_OF,
    is_or_are,
    on_or_off,
    owner,
    said_of,
)
from training.home.speaker import Said, Slots, Speaker, said
from training.home.things import (
    CLIMATE,
    NAMES,
    READINGS,
    SENSED,
)  # fmt: skip

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
    words, state = on_or_off(speaker, on)
    calls = (home_call("get_state", **target.slots, state=state),)
    if speaker.chance(0.2):
        return said(speaker, LEFT_ON if on else LEFT_OFF, calls, t=target.text)
    if on and domain == "fan" and target.entity is not None and speaker.chance(0.2):
        words = "running"
    return said(speaker, OF_ONE, calls, t=target.text, w=words, **{"is": is_or_are(target)})


_OWN_STATES: dict[str, tuple[tuple[str, str], ...]] = {
    "lock": (("locked", "locked"), ("locked", "locked"), ("(unlocked|unlocked|not locked)", "unlocked")),
    "cover": (("(open|open|open|opened|up)", "open"), ("(closed|closed|shut|shut|down)", "closed")),
    "valve": (("(open|open)", "open"), ("(closed|closed|shut)", "closed")),
    "media_player": (
        ("(playing|playing|playing something)", "playing"),
        ("(paused|paused|on pause)", "paused"),
    ),
    "vacuum": (("(cleaning|vacuuming|cleaning)", "cleaning"), ("(docked|in its dock|at its base)", "docked")),
    "lawn_mower": (("(mowing|mowing|cutting the grass)", "mowing"), ("(docked|in its dock)", "docked")),
}


_OWN_WORDS = {
    domain: tuple((wordings(words), state) for words, state in states)
    for domain, states in _OWN_STATES.items()
}


# What no list calls a cover is watched by a sensor.
_SENSED = frozenset({"door", "window", "garage"})


def cover_state(speaker: Speaker) -> Said:
    """A door, a gate, a garage door or a window that the home lists as a cover."""
    things = [
        thing
        for thing in speaker.known.by_domain.get("cover", ())
        if thing.device_class in ("door", "window", "garage", "gate")
    ]
    if not things:
        return own_state_named(speaker)
    name = spoken(speaker.pick(things).name)
    words, state = speaker.pick(_OWN_WORDS["cover"])
    calls = (home_call("get_state", name=name, state=state),)
    text = speaker.pick((with_article(name), with_article(name), f"my {name}", name))
    if speaker.chance(0.5):
        return said(speaker, DONE_TO[state], calls, t=text)
    is_plural = name.endswith(("doors", "windows", "gates"))
    return said(
        speaker, OF_ONE, calls, t=text, w=words.say(speaker.rng, {}), **{"is": "are" if is_plural else "is"}
    )


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
    if domain == "cover" and target.entity is None and class_of(domain, str(target.slots["name"])) in _SENSED:
        return own_state_named(speaker)
    words, state = speaker.pick(_OWN_WORDS[domain])
    calls = (home_call("get_state", **target.slots, state=state),)
    if state in DONE_TO and domain != "valve" and speaker.chance(0.4):
        return said(speaker, DONE_TO[state], calls, t=target.text)
    return said(
        speaker, OF_ONE, calls, t=target.text, w=words.say(speaker.rng, {}), **{"is": is_or_are(target)}
    )


def state_of(speaker: Speaker) -> Said:
    """Without a state: what is the state of it."""
    domain = speaker.pick(("light", "switch", "fan", "cover", "lock", "media_player", "climate",
    "vacuum", "lawn_mower", "valve",
                           "humidifier", "alarm_control_panel", "sensor", "binary_sensor"))  # fmt: skip
    names = READINGS if domain == "sensor" else SENSED["door"] if domain == "binary_sensor" else NAMES[domain]
    target = speaker.named(domain, names=names)
    calls = (home_call("get_state", **target.slots),)
    return said_of(speaker, STATE_OF, calls, target)


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
        return said(speaker, _PERSON, (home_call("get_state", **slots),), t=shown, **{"t's": owner(shown)})
    if way < 0.8:
        words, state = _PERSON_HOME.say(speaker.rng, {}), "home"
    elif way < 0.9:
        words, state = _PERSON_AWAY.say(speaker.rng, {}), "not_home"
    else:
        words, state = f"at {zone}", zone.removeprefix("the ")
    return said(speaker, _PERSON_IN, (home_call("get_state", **slots, state=state),), t=shown, w=words)


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
        calls = (home_call("climate_get_temperature", **slots),)
        return said_of(speaker, _WARM_NAMED, calls, target)
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
    if speaker.chance(0.4):
        name = speaker.pick(ROTAS) if speaker.chance(0.5) else f"{rare.word(speaker.rng)} list"
    text = f"{speaker.pick(('my', 'the', 'our'))} {name}"
    return said(speaker, _ON_LIST, (home_call("get_state", name=name, domain="todo"),), l=text)


STATE_BUILDERS: tuple[tuple[float, Callable[[Speaker], Said]], ...] = (
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
    (0.5, panel.armed),
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
    (2.8, whole.asked),
    (2.6, person),
    (0.4, playing),
    (0.5, on_list),
)


WARMTH_BUILDERS: tuple[tuple[float, Callable[[Speaker], Said]], ...] = ((1, warmth),)

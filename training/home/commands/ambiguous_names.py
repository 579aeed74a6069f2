"""Names whose meaning depends on the devices that the home lists.

A humidifier called "Humidifier" is a name where it is listed, and the kind where it is not. A hatch is a
cover in one home and a sensor in another; Henry vacuums or mows; a basement is a floor or a room.
"""

from __future__ import annotations

from collections.abc import Callable

from edgevox.home.entities import Entity
from training.home.commands.chores import PROPER_ROBOTS, STOP
from training.home.device_questions import DONE_TO, OF_ONE, is_or_are, on_or_off
from training.home.houses import LIKE_FLOORS, is_nook, spoken_name
from training.home.lexicon.devices import (
    ALARM,
    CALLED_BY_KIND,
    CLIMATE,
    COVERS,
    FAN,
    HUMIDIFIER,
    LIGHT,
    ODD_COVERS,
    SIREN,
    VALVE,
)
from training.home.lexicon.values import COLOURS, LEVELS, say_temperature, temperature
from training.home.lexicon.vocabulary import ROBOT_PEOPLE, in_area, on_floor, with_article
from training.home.speaker import Phrase, Request, Slots, Speaker, make_request
from training.home.templates import Grammar, home_call, wordings

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
    plural = name.endswith(("shutters", "blinds", "curtains", "shades", "gates", "doors", "windows", "bollards"))
    return Phrase(text, slots, plural or name.endswith(("lights", "lamps")), entity)


def _called_by_kind(speaker: Speaker) -> tuple[Phrase, str]:
    """A thing that is called what it is, and its domain; where none is listed, the kind itself."""
    listed = [
        thing
        for domain, names in _BY_KIND.items()
        for thing in speaker.known.by_domain.get(domain, ())
        if spoken_name(thing.name) in names and not speaker.is_kind_in_plural(spoken_name(thing.name))
    ]
    if listed and speaker.chance(0.85):
        thing = speaker.pick(listed)
        name = spoken_name(thing.name)
        return _phrase(speaker, name, {"name": name}, thing), thing.domain
    kind = _KINDS[speaker.pick(tuple(_KINDS))]
    noun = speaker.pick(kind.singular)
    slots = {"name": noun} if speaker.is_listed(noun) else dict(kind.slots)
    return Phrase(f"the {noun}", slots), kind.domain


def by_kind(speaker: Speaker) -> Request:
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
        return make_request(speaker, _WARM, calls, t=target.text, v=degrees)
    calls = (home_call("turn_on" if on else "turn_off", **target.slots),)
    if domain == "alarm_control_panel":
        # "Turn off the alarm" may be meant for one that rings, unless a panel is called so.
        if "name" not in target.slots:
            return Request("!", f"{'arm' if on else 'disarm'} {target.text}", calls)
        return make_request(speaker, _ARM if on else _DISARM, calls, t=target.text)
    if domain in ("cover", "valve"):
        return make_request(speaker, _OPEN if on else _CLOSE, calls, t=target.text)
    return make_request(speaker, _ON if on else _OFF, calls, t=target.text)


def by_kind_asked(speaker: Speaker) -> Request:
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
    return make_request(speaker, OF_ONE, calls, t=target.text, w=text, **{"is": is_or_are(target)})


def odd_cover(speaker: Speaker) -> Request:
    """ "Raise the barrier", "close the trapdoor"."""
    target = _odd(speaker, "cover")
    on = speaker.chance(0.5)
    calls = (home_call("turn_on" if on else "turn_off", **target.slots),)
    if speaker.chance(0.15):
        value = speaker.numbers.percent()
        calls = (home_call("set_position", **target.slots, position=value),)
        return Request("!", f"{speaker.pick(('set', 'open', 'move'))} {target.text} to "
                         f"{speaker.numbers.say_percent(value)}", calls)  # fmt: skip
    return make_request(speaker, _OPEN if on else _CLOSE, calls, t=target.text)


def _odd(speaker: Speaker, domain: str) -> Phrase:
    listed = [thing for thing in speaker.known.by_domain.get(domain, ()) if spoken_name(thing.name) in ODD_COVERS]
    if listed:
        thing = speaker.pick(listed)
        name = spoken_name(thing.name)
        return _phrase(speaker, name, {"name": name}, thing)
    name = speaker.pick(_ODD_NAMES)
    return _phrase(speaker, name, {"name": name})


_ODD_NAMES = tuple(ODD_COVERS)
_OPENINGS = frozenset({"opening", "door", "window", "garage_door"})


def opened(speaker: Speaker) -> Request:
    """ "Is the hatch open": as a cover, or with the class of the sensor that the list shows."""
    covers = [thing for thing in speaker.known.by_domain.get("cover", ())
              if not speaker.is_kind_in_plural(spoken_name(thing.name))]  # fmt: skip
    sensors = [thing for thing in speaker.known.by_domain.get("binary_sensor", ())
               if thing.device_class in _OPENINGS]  # fmt: skip
    things = covers if covers and (not sensors or speaker.chance(0.5)) else sensors
    if not things:
        return odd_cover(speaker)
    thing = speaker.pick([one for one in things if spoken_name(one.name) in ODD_COVERS] or things)
    name = spoken_name(thing.name)
    if sum(spoken_name(other.name) == name for other in (*covers, *sensors)) > 1:
        return odd_cover(speaker)
    target = _phrase(speaker, name, {"name": name}, thing)
    words, state = speaker.pick(_OPEN_WORDS)
    slots: Slots = {**target.slots, "state": state}
    if thing.domain == "binary_sensor":
        slots = {**target.slots, "domain": "binary_sensor", "device_class": thing.device_class,
                 "state": "on" if state == "open" else "off"}  # fmt: skip
    calls = (home_call("get_state", **slots),)
    if speaker.chance(0.35):
        return make_request(speaker, DONE_TO[state], calls, t=target.text)
    return make_request(
        speaker, OF_ONE, calls, t=target.text, w=words.say(speaker.rng, {}), **{"is": is_or_are(target)}
    )


def sensor_reading(speaker: Speaker) -> Request:
    """ "What's the pool temperature": a sensor of that name, though there is a pool."""
    listed = [thing for thing in speaker.known.by_domain.get("sensor", ())
              if " " in thing.name and spoken_name(thing.name).endswith(_MEASURES)]  # fmt: skip
    if not listed:
        return by_kind(speaker)
    name = spoken_name(speaker.pick(listed).name)
    return make_request(speaker, _READ, (home_call("get_state", name=name),), t=with_article(name))


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


def named_nook(speaker: Speaker) -> Request:
    """ "The lights in the reading nook": one light of that name, where no area is called so."""
    places = {*speaker.known.areas, *speaker.known.floors}
    lights = [spoken_name(thing.name) for thing in speaker.known.by_domain.get("light", ())]
    listed = [name for name in lights if is_nook(name) and name not in places]
    word = speaker.pick(("on", "off"))
    if not listed:
        target = speaker.named("light")
        calls = (home_call(f"turn_{word}", **target.slots),)
        return make_request(speaker, _ON if word == "on" else _OFF, calls, t=target.text)
    name = speaker.pick(listed)
    fill = {"n": name, "b": with_article(name)}
    way = speaker.rng.random()
    if way < 0.62:
        return make_request(speaker, _NOOK, (home_call(f"turn_{word}", name=name),), w=word, **fill)
    if way < 0.77:
        text, value = speaker.numbers.share(LEVELS)
        calls = (home_call("light_set", name=name, brightness=value),)
        return make_request(speaker, _NOOK_SET, calls, v=text, **fill)
    if way < 0.86:
        colour = speaker.pick(COLOURS)
        calls = (home_call("light_set", name=name, color=colour),)
        return make_request(speaker, _NOOK_COLOUR, calls, c=colour, **fill)
    return make_request(speaker, _NOOK_ASKED, (home_call("get_state", name=name, state=word),), w=word, **fill)


BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = (
    (2.4, by_kind),
    (1.2, by_kind_asked),
    (1.4, odd_cover),
    (2, opened),
    (0.6, sensor_reading),
)


_DOMAINS = ("vacuum", "lawn_mower")
# What both kinds of robots are told: only the list tells which tool it is.
_START = Grammar("""
4! (start|run|launch|send out|wake|wake up|set off) {t}
3! (get|set) {t} (going|started|working|to work|moving|off)
3! (tell|ask|get) {t} to (start|go|get going|get to work|get on with it|do a round|begin)
2! let {t} (start|go|out|loose|run|do a round)
2. {t} (start|go|off you go|get to work|can start|should start|time to work|to work)
. (time for|I need) {t} to (start|get going|work)
. off you go {t}
""")
_DOCK = Grammar("""
4! (send|bring|call|get|order) {t} (home|back|in|back to (his|her|its|the) (dock|base|charger)|to bed)
3! (tell|ask|get) {t} to (go home|come back|return|dock|go to bed|go back to (his|her|its) (dock|base))
2! (dock|park|recall) {t}
2! put {t} (to bed|back on (his|her|its) (dock|charger)|away)
2. {t} (go home|back home|home|to bed|back to base|can go home|should come back|come home)
. that's enough {t}
. {t} is done, send (him|her|it) (home|back)
. (stop {t} and send (him|her|it) home|{t} has done enough for today)
""")
_VACUUM = Grammar("""
3! (get|tell|ask) {t} to (vacuum|hoover|clean|sweep|do the floors|start cleaning|clean up)
3! (have|let|make) {t} (vacuum|hoover|clean|sweep|do the floors)
. {t} should (vacuum|hoover|clean)
""")
_MOW = Grammar("""
3! (get|tell|ask) {t} to (mow|cut the grass|mow the lawn|do the lawn|trim the grass|start mowing)
3! (have|let|make) {t} (mow|mow the lawn|cut the grass|do the lawn|do the grass)
. {t} should (mow|cut the grass|do the lawn)
. the grass is too long, (send|get|start) {t}
""")
_ROOM = Grammar("""
5! (get|tell|ask|send) {t} to (do|clean|vacuum|hoover|sweep) {a}
4! (have|let|make) {t} (do|clean|vacuum|hoover|sweep) {a}
2! send {t} (to|into|round) {a}
2. {t} (do|clean|vacuum|hoover|can do|should do|should clean) {a}
2! (vacuum|hoover|clean) {a} with {t}
. {a} needs doing, (send|get) {t}
? (can|could) {t} (do|clean|vacuum|hoover) {a}
. {t}, {a} please
. I want {t} (in|to do) {a}
""")
_CLEAN_ROOM = Grammar("""
3! (get|tell|ask|send) {t} to (clean|vacuum|hoover|sweep) {a}
3! (have|let|make) {t} (clean|vacuum|hoover|sweep) {a}
2! (vacuum|hoover|clean) {a} with {t}
""")
_BACK = Grammar("""
4? is {t} (back on|on|in|at|back in|back at) (his|her|its|the) (dock|base|charger|station)
3? is {t} (docked|home|back|back home|parked|charging|in bed|back yet)
2? has {t} (come back|gone home|gone back to (his|her|its) dock|made it back|finished and docked)
? did {t} (come back|go home|go back to (his|her|its) dock|make it back)
! (check|tell me) (if|whether) {t} is (docked|back on (his|her|its) dock|home|back)
""")
_BUSY = {
    "vacuum": Grammar("""
4? is {t} (cleaning|vacuuming|hoovering|still cleaning|out cleaning|busy cleaning|sweeping)
! (check|tell me) (if|whether) {t} is (cleaning|vacuuming)
"""),
    "lawn_mower": Grammar("""
4? is {t} (mowing|still mowing|cutting the grass|out mowing|busy mowing|on the lawn)
! (check|tell me) (if|whether) {t} is (mowing|cutting the grass)
"""),
}
_STOP_WORK = Grammar("""
3! (stop|keep) {t} from {g}
2! stop {t} {g}
4! (tell|ask|get) {t} to (stop|quit|leave off) {g}
3! (make|have) {t} (stop|quit|leave off) {g}
2. {t} (should|must|has to|needs to|can) stop {g} [now|for today]
. {t} (stop|quit|enough) {g}
. don't let {t} (keep|go on|carry on) {g}
. I (want|need) {t} to (stop|leave off|quit) {g}
? (can|could) {t} (stop|leave off) {g} [now|for a bit]
""")
_WORKS = {
    "vacuum": ("vacuuming", "hoovering", "cleaning the floors", "cleaning", "sweeping"),
    "lawn_mower": ("mowing", "mowing the lawn", "cutting the grass", "trimming the lawn"),
}
_STARTS = {"vacuum": "vacuum_start", "lawn_mower": "lawn_mower_start_mowing"}
_DOCKS = {"vacuum": "vacuum_return_to_base", "lawn_mower": "lawn_mower_dock"}
_STATES = {"vacuum": "cleaning", "lawn_mower": "mowing"}


def _robot(speaker: Speaker) -> tuple[Phrase, str]:
    """A robot and its domain; mostly one with a person's name."""
    robots = [thing for domain in _DOMAINS for thing in speaker.known.by_domain.get(domain, ())]
    if not robots:
        # Nobody sees what Henry is: what he is asked to do has to say it.
        name = speaker.pick(ROBOT_PEOPLE)
        return Phrase(name, {"name": name}), speaker.pick(_DOMAINS)
    robot = speaker.pick([one for one in robots if spoken_name(one.name) in _LIKE_PEOPLE] or robots)
    name = spoken_name(robot.name)
    text = name if name.lower() in PROPER_ROBOTS else with_article(name)
    return Phrase(text, {"name": name}, entity=robot), robot.domain


_LIKE_PEOPLE = frozenset(ROBOT_PEOPLE)


def sent(speaker: Speaker) -> Request:
    """ "Get Henry going", "Henry to bed"."""
    robot, domain = _robot(speaker)
    if robot.entity is not None and speaker.chance(0.5):
        return make_request(speaker, _DOCK, (home_call(_DOCKS[domain], **robot.slots),), t=robot.text)
    own = _VACUUM if domain == "vacuum" else _MOW
    grammar = _START if robot.entity is not None and speaker.chance(0.6) else own
    return make_request(speaker, grammar, (home_call(_STARTS[domain], **robot.slots),), t=robot.text)


def stopped(speaker: Speaker) -> Request:
    """ "Henry, that's enough", "tell Henry to stop mowing"."""
    robot, domain = _robot(speaker)
    calls = (home_call(_DOCKS[domain], **robot.slots),)
    if robot.entity is not None and speaker.chance(0.6):
        return make_request(speaker, STOP, calls, t=robot.text)
    return make_request(speaker, _STOP_WORK, calls, t=robot.text, g=speaker.pick(_WORKS[domain]))


def in_room(speaker: Speaker) -> Request:
    """ "Get Henry to do the kitchen"."""
    robot, domain = _robot(speaker)
    is_listed = robot.entity is not None
    if is_listed and domain != "vacuum":
        return sent(speaker)
    area = speaker.area()
    calls = (home_call("vacuum_clean_area", area=area, **robot.slots),)
    return make_request(speaker, _ROOM if is_listed else _CLEAN_ROOM, calls, t=robot.text, a=with_article(area))


def asked(speaker: Speaker) -> Request:
    """ "Is Henry back on his dock"."""
    robot, domain = _robot(speaker)
    if robot.entity is not None and speaker.chance(0.6):
        return make_request(speaker, _BACK, (home_call("get_state", **robot.slots, state="docked"),), t=robot.text)
    calls = (home_call("get_state", **robot.slots, state=_STATES[domain]),)
    return make_request(speaker, _BUSY[domain], calls, t=robot.text)


ROBOT_BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = (
    (2, sent),
    (0.3, stopped),
    (1.6, in_room),
    (1.6, asked),
)


# {f} is the place with its article, {b} without, {o} "in the basement", {n} things of a kind.
_KIND = Grammar("""
3! (turn|switch) {w} (all the|the|all|every single one of the) {n} {o}
3! (turn|switch) {w} the {b} {n}
2! (turn|switch) the {b} {n} {w}
2. {b} {n} {w}
2. {n} {w} {o}
2! (turn|switch) {w} (all the|the) {n} (in|on) the (whole|entire) {b}
. {o} (all|all the) {n} {w}
""")
_WHOLE = Grammar("""
4! (turn|switch|shut) {w} the (whole|entire) {b}
2! (turn|switch|shut) the (whole|entire) {b} {w}
2. the (whole|entire) {b} {w}
2! (turn|switch|shut) {w} everything {o}
2. everything {o} {w}
""")
_COVERS = Grammar("""
3! {v} (all the|the|all) {n} {o}
2! {v} the {b} {n}
! {v} (all the|the) {n} (in|on) the (whole|entire) {b}
""")
_BRIGHT = Grammar("""
3! (set|dim|put|turn) the {b} [lights] to {v}
2! (dim|set) the lights {o} to {v}
2! (set|dim|brighten) the (whole|entire) {b} to {v}
. {b} lights [to|at] {v}
""")
_FLOOR_WARM = Grammar("""
3! (set|heat|warm|cool) {f} to {v}
2! (set|put|turn) the (heating|temperature|thermostat) {o} to {v}
2! (heat|warm|set) the (whole|entire) {b} to {v}
! make it {v} {o}
""")
_ASK = Grammar("""
4? are (any|any of the|all the|all|the) {n} {o} {w}
2? are (any|the|all the) {b} {n} {w}
2? (which|how many) {n} are {w} {o}
? is (any|a) light {w} {o}
""")
_ASK_WARM = Grammar("""
3? (how warm|how cold|how hot) is it {o}
2? (what's|what is) the temperature {o}
""")


def _place(speaker: Speaker) -> tuple[str, dict[str, str]]:
    floors = [floor for floor in speaker.known.floors if floor not in speaker.known.areas]
    rooms = [area for area in speaker.known.areas if area in _LIKE and area not in speaker.known.floors]
    if floors and (not rooms or speaker.chance(0.65)):
        place = speaker.pick(floors)
        return place, {"floor": place}
    if rooms:
        place = speaker.pick(rooms)
        return place, {"area": place}
    place = speaker.floor() if speaker.chance(0.5) else speaker.area()
    is_floor = place in speaker.known.floors or place.endswith((" floor", " level", "stairs"))
    return place, {"floor" if is_floor and place not in speaker.known.areas else "area": place}


_LIKE = frozenset(LIKE_FLOORS)


def storey(speaker: Speaker) -> Request:
    """ "All the lights in the basement", "the whole first floor off"."""
    speaker.slips = False
    place, slots = _place(speaker)
    where = on_floor(place) if "floor" in slots else in_area(place)
    if "'" in place:
        place = speaker.pick(("attic", "loft"))
        slots, where = (({"floor": place} if place in speaker.known.floors else {"area": place}), f"in the {place}")
    fill = {"b": place, "o": where, "f": with_article(place)}
    word = speaker.pick(("on", "off", "off"))
    way = speaker.rng.random()
    if way < 0.3:
        kind = speaker.pick((LIGHT, LIGHT, LIGHT, FAN))
        calls = (home_call(f"turn_{word}", **slots, **kind.slots),)
        return make_request(speaker, _KIND, calls, w=word, n=kind.plural[0], **fill)
    if way < 0.45:
        if place.endswith("stairs"):
            return make_request(speaker, _EVERYTHING, (home_call(f"turn_{word}", **slots),), w=word, **fill)
        return make_request(speaker, _WHOLE, (home_call(f"turn_{word}", **slots),), w=word, **fill)
    if way < 0.58:
        cover = COVERS[speaker.pick(("blind", "curtain", "shutter", "window", "shade"))]
        verb, tool = speaker.pick((("open", "turn_on"), ("close", "turn_off"), ("shut", "turn_off")))
        calls = (home_call(tool, **slots, **cover.slots),)
        return make_request(speaker, _COVERS, calls, v=verb, n=cover.plural[0], **fill)
    if way < 0.72:
        value = speaker.numbers.percent()
        calls = (home_call("light_set", **slots, brightness=value),)
        return make_request(speaker, _BRIGHT, calls, v=f"{speaker.numbers.say(value)} percent", **fill)
    if way < 0.82:
        degrees = temperature(speaker.rng)
        calls = (home_call("climate_set_temperature", **slots, temperature=degrees),)
        text = say_temperature(degrees, speaker.numbers, speaker.rng)
        unit = "" if any(mark in text for mark in ("degree", "°", "elsius", "ahrenheit")) else " degrees"
        return make_request(speaker, _FLOOR_WARM, calls, v=text + unit, **fill)
    if way < 0.93:
        calls = (home_call("get_state", **slots, **LIGHT.slots, state=word),)
        return make_request(speaker, _ASK, calls, n="lights", w=word, **fill)
    return make_request(speaker, _ASK_WARM, (home_call("climate_get_temperature", **slots),), **fill)


_EVERYTHING = Grammar("""
3! (turn|switch|shut) {w} everything {o}
2. everything {o} {w}
! (turn|switch) everything {w} {o}
""")


FLOOR_BUILDERS: tuple[tuple[float, Callable[[Speaker], Request]], ...] = ((1, storey),)

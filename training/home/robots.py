"""Robots that are called like people: whether Henry vacuums or mows, the list of things says."""

from __future__ import annotations

from collections.abc import Callable

from training.home.chores import PROPER_ROBOTS, STOP
from training.home.houses import spoken
from training.home.ordering import home_call
from training.home.patterns import Grammar
from training.home.places import ROBOT_PEOPLE, with_article
from training.home.speaker import Phrase, Said, Speaker, said

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
    robot = speaker.pick([one for one in robots if spoken(one.name) in _LIKE_PEOPLE] or robots)
    name = spoken(robot.name)
    text = name if name.lower() in PROPER_ROBOTS else with_article(name)
    return Phrase(text, {"name": name}, entity=robot), robot.domain


_LIKE_PEOPLE = frozenset(ROBOT_PEOPLE)


def sent(speaker: Speaker) -> Said:
    """ "Get Henry going", "Henry to bed"."""
    robot, domain = _robot(speaker)
    if robot.entity is not None and speaker.chance(0.5):
        return said(speaker, _DOCK, (home_call(_DOCKS[domain], **robot.slots),), t=robot.text)
    own = _VACUUM if domain == "vacuum" else _MOW
    grammar = _START if robot.entity is not None and speaker.chance(0.6) else own
    return said(speaker, grammar, (home_call(_STARTS[domain], **robot.slots),), t=robot.text)


def stopped(speaker: Speaker) -> Said:
    """ "Henry, that's enough", "tell Henry to stop mowing"."""
    robot, domain = _robot(speaker)
    calls = (home_call(_DOCKS[domain], **robot.slots),)
    if robot.entity is not None and speaker.chance(0.6):
        return said(speaker, STOP, calls, t=robot.text)
    return said(speaker, _STOP_WORK, calls, t=robot.text, g=speaker.pick(_WORKS[domain]))


def in_room(speaker: Speaker) -> Said:
    """ "Get Henry to do the kitchen"."""
    robot, domain = _robot(speaker)
    is_listed = robot.entity is not None
    if is_listed and domain != "vacuum":
        return sent(speaker)
    area = speaker.area()
    calls = (home_call("vacuum_clean_area", area=area, **robot.slots),)
    return said(speaker, _ROOM if is_listed else _CLEAN_ROOM, calls, t=robot.text, a=with_article(area))


def asked(speaker: Speaker) -> Said:
    """ "Is Henry back on his dock"."""
    robot, domain = _robot(speaker)
    if robot.entity is not None and speaker.chance(0.6):
        return said(speaker, _BACK, (home_call("get_state", **robot.slots, state="docked"),), t=robot.text)
    calls = (home_call("get_state", **robot.slots, state=_STATES[domain]),)
    return said(speaker, _BUSY[domain], calls, t=robot.text)


BUILDERS: tuple[tuple[float, Callable[[Speaker], Said]], ...] = (
    (2, sent),
    (0.3, stopped),
    (1.6, in_room),
    (1.6, asked),
)

"""Reads requests about single devices: stopping, pausing, part-way positions, drinks, and questions about a level."""

from __future__ import annotations

import json
from dataclasses import replace

from edgevox.core.types import ToolCall
from edgevox.core.words import normalized_words
from edgevox.home.entities import Entity, HomeError, House
from edgevox.home.grammar import Calls, found, pattern, tool_call, without_article
from edgevox.home.phrasing import is_are, number, sentence, the
from edgevox.home.resolve.labels import is_whole_house
from edgevox.home.resolve.target_resolver import find_area


def parse(text: str, house: House) -> Calls:
    """The calls of a request, or none."""
    return _movement(text, house) or _drink(text, house) or _level(text, house)


# --- stop covers and valves, pause and resume robots

_WHERE = (
    r"(?: (?:there|right there|right here|here|where (?:it is|they are)|half ?way|moving|going|right away|at once))*"
)
_STOP = pattern(
    rf"^(?:stop|halt|freeze)(?P<moving> (?:moving|opening|closing|raising|lowering|rolling))? (?P<target>.+?){_WHERE}$"
)
_PAUSE = pattern(rf"^(?:pause|stop|halt|hold|interrupt|suspend) (?P<target>.+?){_WHERE}$")
_RESUME = pattern(r"^(?:resume|unpause|continue|restart) (?:with )?(?P<target>.+?)$")
_DOING = {
    "vacuum": pattern(r"(?:the )?(?:vacuuming|vacuum|hoovering|cleaning)"),
    "lawn_mower": pattern(r"(?:the )?mowing(?: the (?:lawn|grass))?"),
}
_CLEAN = pattern(r"^(?:clean|vacuum|hoover|sweep)(?: up)? (?P<where>.+)$")
_PAUSES = {"vacuum": "vacuum_pause", "lawn_mower": "lawn_mower_pause"}
_STARTS = {"vacuum": "vacuum_start", "lawn_mower": "lawn_mower_start_mowing"}


def _movement(text: str, house: House) -> Calls:
    if (said := _PAUSE.match(text)) and (calls := _robot(said["target"], house, _PAUSES)):
        return calls
    if (said := _RESUME.match(text)) and (calls := _robot(said["target"], house, _STARTS)):
        return calls
    if (
        (said := _CLEAN.match(text))
        and is_whole_house(normalized_words(said["where"]))
        and found("vacuum_start", house)
    ):
        return (tool_call("vacuum_start"),)
    if said := _STOP.match(text):
        target = without_article(said["target"])
        stopped = found("stop_moving", house, name=target)
        # What flows through a valve stops when it is closed: "stop the fountain".
        if stopped and not said["moving"] and all(entity.domain == "valve" for entity in stopped):
            return (tool_call("turn_off", name=target),)
        if stopped:
            return (tool_call("stop_moving", name=target),)
    return ()


def with_area_to_clean(call: ToolCall, house: House) -> ToolCall | None:
    """The call that cleans a room, for "run the robot in the kitchen": the robot is seldom kept there."""
    slots = json.loads(call.arguments or "{}")
    area, name = slots.get("area"), slots.get("name")
    if not (area and name) or found("vacuum_start", house, name=name, area=area):
        return None
    try:
        find_area(house, area)
    except HomeError:
        return None
    return replace(call, name="vacuum_clean_area").with_arguments({"area": area, "name": name})


def _robot(said: str, house: House, tools: dict[str, str]) -> Calls:
    for domain, tool in tools.items():
        if not any(entity.domain == domain for entity in house.entities):
            continue
        if _DOING[domain].fullmatch(said) and found(tool, house):
            return (tool_call(tool),)
        if len(said.split()) <= 5 and found(tool, house, name=without_article(said)):
            return (tool_call(tool, name=without_article(said)),)
    return ()


# --- "make me a coffee" starts the coffee machine

_DRINK = pattern(
    r"^(?:make|brew|prepare|get|fix|pour)(?: (?:me|us))?(?: (?:a|an|some|the|my|another|one|fresh|hot|nice))* "
    r"(?:(?:cup|pot|mug)s? of )?(?:hot |fresh )?(?P<drink>coffee|espresso|tea|water)(?: for (?:me|us))?$"
)
_MACHINES = {
    "coffee": ("coffee machine", "coffee maker", "espresso machine"),
    "espresso": ("espresso machine", "coffee machine"),
    "tea": ("kettle", "tea maker", "tea machine"),
    "water": ("kettle",),
}


def _drink(text: str, house: House) -> Calls:
    if said := _DRINK.match(text):
        for name in _MACHINES[said["drink"].casefold()]:
            if len(found("turn_on", house, name=name)) == 1:
                return (tool_call("turn_on", name=name),)
    return ()


# --- open or close a part of the way: "a third", "just a crack", "not all the way"

# The share of the way in percent. A half is left to the model: it is the same from both ends.
_SHARES = (
    (pattern(r"a (?:tiny |small |little )?(?:crack|gap|slit)|an inch(?: or (?:two|so))?"), 10),
    (pattern(r"(?:a|one) quarter(?: of the way)?"), 25),
    (pattern(r"(?:a|one) third(?: of the way)?"), 33),
    (pattern(r"two[ -]thirds(?: of the way)?"), 67),
    (pattern(r"three[ -]quarters(?: of the way)?"), 75),
    (pattern(r"(?:not (?:all the way|completely|fully|entirely|quite)|most of the way)"), 80),
    (pattern(r"leave a (?:tiny |small |little )?(?:crack|gap|slit)"), 90),
)
_SHARE = "|".join(share.pattern for share, _percent in _SHARES)
_REQUEST = pattern(
    r"^(?:(?P<verb>open|close|shut|lower|raise|pull|roll|bring|put|draw|let) )?(?P<target>.+?)"
    r"(?: (?P<direction>up|down|open|closed|shut|to))?,?(?: but| and)?(?: (?:only|just|by only))? "
    rf"(?P<share>{_SHARE})(?: (?P<last>up|down|open|closed|shut))?(?: though| please)?$"
)
_OPENS = frozenset({"open", "raise", "up"})
_CLOSES = frozenset({"close", "closed", "shut", "lower", "down", "to"})


def parse_partway(text: str, house: House) -> Calls:
    """The call that opens or closes a cover a part of the way, or none."""
    said = _REQUEST.match(text)
    if said is None:
        return ()
    target = without_article(said["target"])
    direction = (said["last"] or said["direction"] or said["verb"] or "").casefold()
    if direction not in _OPENS | _CLOSES or not found("set_position", house, name=target):
        return ()
    percent = next(percent for share, percent in _SHARES if share.fullmatch(said["share"]))
    return (tool_call("set_position", name=target, position=percent if direction in _OPENS else 100 - percent),)


# --- "how bright is the lamp?", and a bare "light on", for which the resolver asks which one

_TARGET = r"(?P<target>(?:the |my |our )?[\w' -]+?)(?: right| at the moment| currently| set(?: to| at)?)?"
_QUESTIONS = (
    ("light", "brightness", pattern(rf"^how (?:bright|dim) (?:is|are) {_TARGET}$")),
    ("light", "brightness", pattern(rf"^what(?:'s| is) the brightness of {_TARGET}$")),
    (
        "fan",
        "percentage",
        pattern(rf"^(?:how fast is|what(?:'s| is) the speed of) {_TARGET}(?: (?:running|going|on))?$"),
    ),
    (
        "cover",
        "position",
        pattern(rf"^how far (?:(?:are|is) )?(?:open |closed )?(?:are |is )?{_TARGET}(?: open| closed)?$"),
    ),
    (
        "climate",
        "temperature",
        pattern(rf"^what(?: temperature)?(?:'s| is) {_TARGET} (?:set|turned) (?:to|at)(?: right now| now)?$"),
    ),
    ("media_player", "volume_level", pattern(rf"^how loud is {_TARGET}$")),
    ("media_player", "volume_level", pattern(rf"^what(?:'s| is) the volume (?:of|on) {_TARGET}$")),
)
_BARE = pattern(r"^(?:(?:turn|switch|put) (?:the )?)?(?P<kind>light|lamp|fan) (?P<state>on|off)$")


def _level(text: str, house: House) -> Calls:
    if said := _BARE.match(text):
        several = found("turn_on", house, name=f"{said['kind']}s")
        if len(several) > 1:  # the resolver asks which one
            return (tool_call(f"turn_{said['state'].casefold()}", name=said["kind"].casefold()),)
    for domain, _, question in _QUESTIONS:
        if said := question.match(text):
            name = without_article(said["target"])
            entities = found("get_state", house, name=name, domain=domain)
            if len(entities) == 1 and entities[0].domain == domain:
                return (tool_call("get_state", name=name, domain=domain),)
    return ()


def level_answer(text: str, entity: Entity) -> str:
    """The level of an entity that a question asks for, or ""."""
    for domain, slot, question in _QUESTIONS:
        level = entity.attributes.get(slot)
        if entity.domain == domain and question.match(text) and isinstance(level, int | float):
            if entity.state in ("off", "standby"):
                return ""
            if domain == "climate":
                return sentence(f"{the(entity)} {is_are(entity.name)} set to {number(level)} degrees")
            opened = " open" if domain == "cover" else ""
            return sentence(f"{the(entity)} {is_are(entity.name)} at {number(level)} percent{opened}")
    return ""

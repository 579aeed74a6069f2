"""Reads conditions: "when the front door opens", "if it gets below 18 degrees", "once the washing machine is done".

A condition is resolved when it is said: to entities, and to a state or a limit. What cannot be resolved is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from edgevox.core.languages import listed
from edgevox.core.words import number_value
from edgevox.home.alarms.watches import DONE, Condition, measured
from edgevox.home.entities import Entities, Entity, HomeError, House
from edgevox.home.grammar import ACTIONS, NUMBER, POLITE, pattern
from edgevox.home.phrasing import is_are, knows_state, number, the
from edgevox.home.resolve.labels import entities_at, find_place
from edgevox.home.resolve.target_resolver import Slots, find_entities, resolve_targets, single_entity

_ONCE = r"when|once|as soon as|the moment|next time|if"
_EVERY = r"whenever|every time|each time|always when"
_TELL = (
    r"(?:tell|notify|alert|warn|inform|ping|message) (?:me|us)|let (?:me|us) know|give (?:me|us) a (?:shout|heads up)|"
    r"say so|say something|announce it"
)
_REMIND = r"remind (?:me|us)"

_TELL_FIRST = pattern(rf"^{POLITE}(?:{_TELL}) (?P<every>{_EVERY})?(?P<once>{_ONCE})? (?P<condition>.+)$")
_REMIND_FIRST = pattern(
    rf"^{POLITE}{_REMIND} (?:to |about |of )?(?P<task>.+?),? (?P<every>{_EVERY})?(?P<once>{_ONCE})? (?P<condition>.+)$"
)
_CONDITION_FIRST = pattern(rf"^{POLITE}(?P<every>{_EVERY})?(?P<once>{_ONCE})? (?P<rest>.+)$")
_REQUEST = pattern(
    rf"^(?:then |please )*(?:(?P<tell>{_TELL})|{_REMIND} (?:to |about |of )?(?P<task>.+)|(?P<command>{ACTIONS}\b.+))$"
)
_COMMAND_FIRST = pattern(
    rf"^(?P<command>{POLITE}{ACTIONS}\b.+?),? (?P<every>{_EVERY})?(?P<once>{_ONCE})? (?P<condition>.+)$"
)

# --- what becomes true

# The state that a verb leads to, in the words of states.toml; what is said of the event and of the state.
_VERBS: tuple[tuple[str, str, str, str], ...] = (
    (r"opens?|gets opened|(?:is|are) open(?:ed)?|goes up|has opened", "open", "opens", "open"),
    (r"closes?|gets closed|(?:is|are) (?:closed|shut)|shuts|goes down|has closed", "closed", "closes", "closed"),
    (r"unlocks|gets unlocked|is unlocked", "unlocked", "is unlocked", "unlocked"),
    (r"locks|gets locked|is locked", "locked", "is locked", "locked"),
    (
        r"(?:is|are|has|have|gets) (?:all )?(?:done|finished|ready|complete|completed|over|"
        r"through)(?: \w+ing)?|finish(?:es|ed)?(?: \w+ing)?|ends|(?:has|have) stopped|"
        r"stops(?: running)?|(?:is|are) (?:no longer|not) running",
        DONE, "is done", "done",
    ),
    (
        r"turns? on|comes? on|goes? on|switch(?:es)? on|(?:is|are|gets) (?:turned |switched )?on|starts?(?: running)?|"
        r"(?:is|are) running|(?:is |are )?triggered",
        "on", "turns on", "on",
    ),
    (
        r"turns? off|switch(?:es)? off|(?:is|are|gets) (?:turned |switched )?off|go(?:es)? (?:out|off)",
        "off", "turns off", "off",
    ),
    (r"starts playing|is playing|plays", "playing", "plays", "playing"),
    (r"is (?:paused|pausing)|pauses", "paused", "is paused", "paused"),
    (r"(?:gets|comes|arrives|is|comes back|gets back|returns)(?: at)? home|arrives", "home", "comes home", "home"),
    (r"leaves(?: home| the house)?|goes (?:out|away)|is away", "not_home", "leaves", "away"),
    (
        r"(?:detects|senses|sees) (?:motion|movement|someone|somebody|anyone)",
        "on", "detects motion", "detecting motion",
    ),
    (r"gets wet|is wet|detects (?:water|a leak)|leaks", "wet", "gets wet", "wet"),
    (r"detects smoke", "on", "detects smoke", "detecting smoke"),
)  # fmt: skip
_NO_SUBJECT = r"(?!(?:i|we|you|he|she|it|they|this|that|there|someone|somebody|everyone|everything|nobody) )"
_EVENTS = tuple(
    (pattern(rf"^{_NO_SUBJECT}(?P<subject>.+?) (?:{verb})$"), state, event, fact) for verb, state, event, fact in _VERBS
)
# A change, where a verb such as "is" would ask for the state now: "tell me if the door is open".
_IS_CHANGE = pattern(
    r"\b(?:opens|closes|shuts|unlocks|locks|turns|comes|goes|gets|switches|starts|stops|finishes|ends|drops|"
    r"falls|rises|"
    r"climbs|reaches|arrives?|leaves?|detects|exceeds|rains|begins)\b"
)
_BY_SOMEONE = pattern(
    r"^(?:i|we|you|someone|somebody|anyone|anybody|he|she|they) "
    r"(?P<verb>open|opens|close|closes|shut|shuts|lock|locks|unlock|unlocks|turn on|turns on|turn off|turns off) "
    r"(?P<subject>.+)$"
)
_OWN_STATES = {
    "open": "open", "close": "closed", "shut": "closed", "lock": "locked", "unlock": "unlocked", "turn on": "on",
    "turn off": "off",
}  # fmt: skip
_MOTION = pattern(
    r"^(?:there is |there's |you (?:see|detect|notice) |i see )?(?:any |some |a )?(?:motion|movement)"
    r"(?: is (?:detected|sensed|seen))?(?: (?:in|at|on) (?P<place>.+?))?(?: is (?:detected|sensed|seen))?$"
)
_I_COME = pattern(r"^(?:i|we)(?:'m|'re| am| are)? (?:get|come|arrive|got|return|back)(?: back)?(?: at)?(?: home)?$")
_I_AM_HOME = pattern(r"^(?:i|we)(?:'m|'re| am| are)(?: back)?(?: at)? home$")
_I_LEAVE = pattern(r"^(?:i|we) (?:leave|go out|am away|are away)(?: home| the house| the flat)?$")
_RAIN = pattern(r"^it (?:rains|is raining|starts raining|starts to rain|begins to rain)$")

# --- limits

_BELOW = r"(?:down )?(?:to )?(?:below|under|beneath|less than|lower than|colder than|cooler than)"
_ABOVE = r"(?:up )?(?:to )?(?:above|over|more than|higher than|warmer than|hotter than)"
_LIMIT = pattern(
    rf"^(?P<subject>.+?) (?:gets?|is|are|drops?|falls?|goes|sinks?|rises?|climbs?|becomes?|exceeds|reaches|it's) ?"
    rf"(?:(?P<below>{_BELOW})|(?P<above>{_ABOVE})|(?P<at>to|at))? ?(?P<minus>minus )?(?P<number>{NUMBER})"
    r"(?: ?(?:degrees?|°|percent|%)(?: ?(?:celsius|fahrenheit|c|f))?)?"
    r"(?P<place> (?:in|at|on|outside|inside|outdoors).*)?$"
)
_FALLS = pattern(r"\b(?:drops?|falls?|sinks?)\b")
_RISES = pattern(r"\b(?:rises?|climbs?|exceeds|reaches)\b")
_WEATHER_WORDS = pattern(
    r"^(?:it|(?:the )?(?:room |indoor |inside |outdoor |outside )?temperature|(?:the )?(?P<humid>humidity))"
    r"(?: (?:in|of|at|on) (?P<place>.+)| (?P<outside>outside|outdoors|inside|indoors))?$"
)


# --- what is so now

_SHORT_IS = pattern(
    r"(?<=\w)'s (?=(?:still |all )?(?:done|finished|ready|over|through|open|closed|shut|on|off|locked|unlocked|running|"
    r"playing|out|home)\b)"
)
_OUT = r"out|outside|mowing|cleaning|hoovering|vacuuming"
_NOW = rf"(?P<state>on|off|open|closed|shut|locked|unlocked|running|playing|{_OUT})"
_HAPPENS = rf"(?:{ACTIONS}|send|bring|call)\b"
_STATE_FIRST = pattern(
    r"^(?:if|in case|should) (?P<thing>(?:the|my|our|any(?: of the)?) [\w' ]+?) (?:is|are|be|happens to be)?"
    rf"(?: ?still| ?be| ?currently)* ?{_NOW}(?P<place> (?:in|on|at) (?:the|my|our) [\w']+(?: room)?)?"
    rf"(?: right now| now)?,? (?:then |please )*(?P<command>{_HAPPENS}.+)$"
)
_STATE_LAST = pattern(
    rf"^{POLITE}(?P<command>{_HAPPENS}.+?),? (?:but )?(?:only )?(?:if|in case) "
    rf"(?P<thing>it|they|(?:the|my|our) [\w' ]+?)(?:'s| is|'re| are)"
    rf"(?: still| currently)? {_NOW}(?: right now| now)?$"
)
_ANY = pattern(r"^any(?: of the)? ")
_OBJECT = pattern(r"\b(?:it|them)\b")
_OF_COMMAND = pattern(r"\b(?P<thing>(?:the|my|our) (?:(?!(?:on|off|up|down|in|to|back)\b)[\w']+ ?)+)")


@dataclass(frozen=True, slots=True)
class StateCondition:
    """A command for a thing that is in a state now; `is_out` of a robot that is not docked."""

    thing: str
    state: str
    command: str

    @property
    def is_out(self) -> bool:
        return self.state in _OUT.split("|")


def split_state_condition(text: str) -> StateCondition | None:
    """ "If the tv is on, switch it off" and "close the garage if it's open"; None for any other text."""
    words = _SHORT_IS.sub(" is ", " ".join(text.replace("’", "'").split()).strip(" .!?"))
    if said := _STATE_FIRST.match(words):
        thing = _ANY.sub("the ", said["thing"])
        plural = "s" if thing != said["thing"] and not thing.endswith("s") else ""
        thing = f"{thing}{plural}{said['place'] or ''}"
        return StateCondition(thing, said["state"].casefold(), _OBJECT.sub(thing, said["command"]))
    if said := _STATE_LAST.match(words):
        named = said["thing"] if said["thing"].casefold() not in ("it", "they") else ""
        thing = named or next((found["thing"] for found in _OF_COMMAND.finditer(said["command"])), "")
        return StateCondition(thing.strip(), said["state"].casefold(), said["command"]) if thing else None
    return None


@dataclass(frozen=True, slots=True)
class ConditionalRequest:
    """What to do when a condition becomes true: run `command`, remind of `task`, or tell, if both are ""."""

    condition: str
    command: str = ""
    task: str = ""
    is_repeating: bool = False


def split_condition(text: str) -> ConditionalRequest | None:
    """Separate a request from its condition; None for a sentence that has none of a form that is known."""
    return next(filter(None, map(_request, _splits(_SHORT_IS.sub(" is ", text)))), None)


def _splits(text: str) -> Iterator[dict[str, str | None]]:
    """The parts of every way to read a text as a condition and a request."""
    for form in (_TELL_FIRST, _REMIND_FIRST, _COMMAND_FIRST):
        if found := form.match(text):
            yield found.groupdict()
    if found := _CONDITION_FIRST.match(text):
        words = found["rest"].split()
        for end in range(2, len(words)):  # "when the garage light turns on turn off …"
            if request := _REQUEST.match(" ".join(words[end:])):
                yield {**found.groupdict(), **request.groupdict(), "condition": " ".join(words[:end])}


def _request(parts: dict[str, str | None]) -> ConditionalRequest | None:
    condition = (parts["condition"] or "").strip(" ,").removesuffix(" then").rstrip(" ,")
    is_if = (parts["once"] or "").casefold() == "if"
    is_change = any(change.search(condition) for change in (_IS_CHANGE, _LIMIT, _BY_SOMEONE))
    if not (parts["every"] or parts["once"]) or not is_known_form(condition) or (is_if and not is_change):
        return None  # "tell me if the door is open" asks about now
    command, task = ((parts.get(name) or "").strip(" ,") for name in ("command", "task"))
    return ConditionalRequest(condition, command, task, bool(parts["every"]))


def is_known_form(condition: str) -> bool:
    """Whether a text has the form of a condition that `resolve_condition` may resolve."""
    if limit := _LIMIT.match(condition):
        is_change = _FALLS.search(condition) or _RISES.search(condition)
        return bool(limit["below"] or limit["above"] or is_change)  # "when it is ten" is a time
    whole = (_BY_SOMEONE, _MOTION, _I_COME, _I_AM_HOME, _I_LEAVE, _RAIN, *(event for event, *_ in _EVENTS))
    return any(form.match(condition) for form in whole)


def resolve_condition(text: str, house: House) -> Condition:
    """The condition on the entities of this house. Raises HomeError with what is not known."""
    if _I_COME.match(text) or _I_AM_HOME.match(text) or _I_LEAVE.match(text):
        person = _person(house)
        state, verb, fact = ("not_home", "leave", "away") if _I_LEAVE.match(text) else ("home", "come home", "home")
        return Condition(entity_ids=(person.id,), state=state, phrase=f"you {verb}", fact=f"you are {fact}")
    if _RAIN.match(text):
        weather = find_entities(house, Slots(), ("weather",))[:1]
        return _of_state(weather, "rainy", "it rains", "it rains")
    if found := _MOTION.match(text):
        sensors = _motion_sensors(house, found["place"])
        where = f" in {the(found['place'].removeprefix('the '))}" if found["place"] else ""
        return _of_state(sensors, "on", f"there is motion{where}", f"there is motion{where}")
    if found := _LIMIT.match(text):
        return _limit(found, text, house)
    if found := _BY_SOMEONE.match(text):
        verb = found["verb"].casefold()
        state = next(state for own, state in _OWN_STATES.items() if verb in (own, f"{own}s", own.replace(" ", "s ")))
        event = next(event for _, known, event, _ in _EVENTS if known == state)
        return _event(found["subject"], state, event, state, house)
    for form, state, event, fact in _EVENTS:
        if found := form.match(text):
            return _event(found["subject"], state, event, fact, house)
    raise HomeError("I cannot watch for that.")


def _event(subject: str, state: str, event: str, fact: str, house: House) -> Condition:
    is_any = re.match(r"(?:any(?: of the)?|an?|one of the|some) ", subject, re.IGNORECASE)
    name = subject[is_any.end() :] if is_any else subject
    name = re.sub(r"^(?:the|my|our) ", "", name, flags=re.IGNORECASE)
    named = find_entities(house, Slots(name=f"all {name}" if is_any else name), ())
    fitting = tuple(entity for entity in named if _can_be(entity, state))
    if not fitting:
        raise HomeError(f"I cannot see when {the(named[0])} {event}.")
    if len(fitting) > 1 and not is_any:
        fitting = _best(fitting, state) or (single_entity(fitting, house),)
    who = f"one of {listed([the(entity) for entity in fitting], 'and')}" if len(fitting) > 1 else the(fitting[0])
    if len(fitting) == 1 and is_are(fitting[0].name) == "are":
        event = {"is done": "are done", "is unlocked": "are unlocked", "is locked": "are locked"}.get(
            event, re.sub(r"^(\w+?)s\b", r"\1", event)
        )
        return _of_state(fitting, state, f"{who} {event}", f"{who} are {fact}")
    return _of_state(fitting, state, f"{who} {event}", f"{who} is {fact}")


def _of_state(entities: Entities, state: str, phrase: str, fact: str) -> Condition:
    return Condition(entity_ids=tuple(entity.id for entity in entities), state=state, phrase=phrase, fact=fact)


def _can_be(entity: Entity, state: str) -> bool:
    if entity.domain in ("scene", "script", "todo", "weather", "sun"):
        return False
    if state == DONE:
        return entity.domain not in ("lock", "cover", "valve", "climate", "person")
    if state in ("home", "not_home"):
        return entity.domain in ("person", "device_tracker") or entity.device_class == "presence"
    if state in ("playing", "paused"):
        return entity.domain == "media_player"
    if state in ("on", "off") and entity.domain in ("lock", "cover", "valve", "sensor"):
        return False
    return knows_state(entity, state)


def _best(entities: Entities, state: str) -> Entities:
    """Of the parts of one device the one that shows the state best: a sensor, then what can be switched."""
    for domain in ("binary_sensor", "sensor", "lock", "cover", "switch"):
        of_domain = tuple(entity for entity in entities if entity.domain == domain)
        if len(of_domain) == 1 and len({entity.name.casefold() for entity in entities}) == 1:
            return of_domain
    return ()


def _person(house: House) -> Entity:
    people = [entity for entity in house.entities if entity.domain == "person"]
    if len(people) != 1:
        known = "there is no person in your home that I could follow" if not people else "I know several people"
        raise HomeError(f"I cannot see when you come or go: {known}.")
    return people[0]


def _motion_sensors(house: House, said: str | None) -> Entities:
    wanted = ("motion", "occupancy", "moving")
    sensors: Iterable[Entity] = (entity for entity in house.entities if entity.device_class in wanted)
    if said and (place := find_place(house, said)):
        sensors = entities_at(place, tuple(sensors))
    elif said:
        raise HomeError(f"I know no room called {said}.")
    if not (found := tuple(sensors)):
        raise HomeError("I know of no motion sensor there.")
    return found


def _limit(found: re.Match[str], text: str, house: House) -> Condition:
    entity = _measuring(f"{found['subject']}{found['place'] or ''}", house)
    value = (number_value(found["number"]) or 0.0) * (-1 if found["minus"] else 1)
    is_below = bool(found["below"]) or (not found["above"] and _FALLS.search(text) is not None)
    kind = entity.device_class or ""
    unit = " degrees" if kind == "temperature" or entity.domain in ("climate", "weather") else ""
    unit = " percent" if kind in ("humidity", "battery", "moisture") else unit
    side = "below" if is_below else "above"
    subject = the(entity) if entity.domain == "sensor" else f"the temperature at {the(entity)}"
    words = f"{subject} is {side} {number(value)}{unit}"
    if not (found["below"] or found["above"]):  # "reaches 22"
        value += 0.05 if is_below else -0.05
    return Condition(
        entity_ids=(entity.id,),
        phrase=words,
        fact=words,
        below=value if is_below else None,
        above=None if is_below else value,
    )


def _measuring(said: str, house: House) -> Entity:
    found = _WEATHER_WORDS.match(said.strip())
    if found is None and find_place(house, said.strip()):  # "the bedroom gets warmer than 24 degrees"
        found = _WEATHER_WORDS.match(f"it in {said.strip()}")
    if found is None:
        entities = find_entities(house, Slots(name=re.sub(r"^(?:the|my|our) ", "", said.strip())), ())
        measuring = tuple(entity for entity in entities if measured(entity) is not None)
        if not measuring:
            raise HomeError(f"{the(entities[0])} measures nothing that I could watch.".capitalize())
        return single_entity(measuring, house)
    place = found["place"] or (found["outside"] or "").casefold().replace("doors", "side")
    place = "" if place in ("inside", "inside the house") else place
    if found["humid"]:
        slots = Slots(area=place or None, device_class="humidity")
        return single_entity(find_entities(house, slots, ("sensor",)), house)
    return single_entity(resolve_targets("climate_get_temperature", {"area": place} if place else {}, house), house)

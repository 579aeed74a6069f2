"""Puts a command of any form into the imperative, which the default model understands.

"The porch light on", "have the mower run", "I want the door locked" and "would you mind closing the blinds" become
"turn on the porch light", "start the mower", "lock the door" and "close the blinds".
"""

from __future__ import annotations

from edgevox.core.types import ToolCall
from edgevox.core.words import word_set
from edgevox.home.entities import House
from edgevox.home.grammar import ACTIONS, LEADS_WITH_ACTION, NUMBER, POLITE, found, pattern, tool_call, without_article

_STARTS = pattern(rf"^{POLITE}(?:to (?={ACTIONS}\b))?")
_ENDS = pattern(
    r"(?:[, ]+(?:please|thanks|thank you|cheers|would you|will you|could you|can you|okay|ok|if you (?:can|could|would|"
    r"don'?t mind)|for me|mate|love))+$"
)
_VERBS = tuple(verb for verb in ACTIONS[3:-1].split("|") if verb not in ("leave", "keep", "make", "light"))
_AN_ACTION = pattern(rf"(?:{'|'.join(_VERBS)}|leave|keep|make)\b")
_GERUNDS = {
    form: verb
    for verb in (*_VERBS, "tell", "remind", "notify", "wake")
    for form in (f"{verb}ing", f"{verb[:-1]}ing" if verb.endswith("e") else f"{verb}{verb[-1]}ing")
}
GERUND = rf"(?P<gerund>{'|'.join(sorted(_GERUNDS, key=len, reverse=True))})\b"
_GERUND = pattern(rf"^{GERUND}")
_ASKS_GERUND = pattern(
    r"^(?:(?:please|hey|so|and|okay|ok|oh)[, ]+)*(?:(?:would|do) you mind|mind|(?:how|what) about|"
    r"i(?:'d| would) (?:appreciate|like)(?: you| it if you)?|any chance of(?: you)?|could (?:i|we) (?:trouble you for|"
    r"get you)|(?:be so kind as|would you be so kind as) to) (?=\w+ing\b)"
)

# --- a thing and its state

_THING = r"(?P<thing>(?:all (?:of )?|the |my |our |both |every )*[\w'-]+(?: [\w'-]+){0,3}?)"
_NOT_IN_THING = word_set(
    "i we you he she it they this that what who there to not is are was were be been am has have had will would can "
    "could should must go goes went come comes came get gets got move moves moved carry hold hang add play say ask for "
    "a an find pick buy book call order check i'm at when if until after before and then but turn switch about me here "
    "so just"
)
_SHOULD = r"(?:should|must|shall|has to|have to|needs to|need to|ought to|is to|are to|can|may)"
_BECOMES = (
    r"(?:(?:to|is|are|was|were|be|gets?|goes?|comes?|go|come|turns?|switch(?:es)?|turned|switched|shut|put|itself|"
    r"pulled|rolled|back) )*"
)
_STATES = {
    "on": "turn on", "off": "turn off", "out": "turn off", "open": "open", "opened": "open", "close": "close",
    "closed": "close", "shut": "close", "lock": "lock", "locked": "lock", "unlock": "unlock", "unlocked": "unlock",
    "running": "start", "run": "start", "going": "start", "start": "start", "started": "start", "work": "start",
    "mow": "start", "mowing": "start", "clean": "start", "cleaning": "start", "vacuum": "start", "hoover": "start",
    "stop": "stop", "stopped": "stop", "pause": "pause", "paused": "pause", "mute": "mute", "muted": "mute",
    "do its round": "start", "do its rounds": "start", "do its thing": "start", "get going": "start",
    "get to work": "start", "go to work": "start", "up": "open", "raised": "open", "down": "close", "lowered": "close",
}  # fmt: skip
_STATE = rf"(?P<state>{'|'.join(sorted(_STATES, key=len, reverse=True))})"
_PLACE = r"(?P<place> (?:in|on|at) (?:the |my |our )?[\w' ]+?| upstairs| downstairs| everywhere| outside)?"
# Only these are said to be up or down, or out.
_MOVES = pattern(r"\b(?:blinds?|curtains?|shades?|shutters?|awnings?|covers?|(?:garage )?doors?|gates?|drapes)\b")
_SHINES = pattern(r"\b(?:lights?|lamps?|lighting|candles)\b")
_SETTABLE = pattern(
    r"\b(?:lights?|lighting|lamps?|bulbs?|brightness|heat(?:ing|er)|thermostat|radiator|temperature|fans?|blinds?|"
    r"curtains?|shades?|shutters?|volume)\b"
)
_RUNS_FOR = pattern(
    r"^(?:[\w'-]+ ){0,4}(?:lights?|lighting|lamps?|fans?|heaters?|heating|sprinklers?|radio|tv|telly|television)$"
)
_CAUSES = (
    r"(?:have|get|let|see that|see to it that|make sure(?: that)?|ensure(?: that)?|"
    r"i(?:'d| would)? (?:want|need|like)|we (?:want|need)|we(?:'d| would) like|(?:i|we) wish(?: that)?|make that)"
)
_FORMS = (
    pattern(rf"^{_CAUSES} {_THING} {_BECOMES}{_STATE}{_PLACE}$"),
    pattern(rf"^(?:can|could|may|would) {_THING} {_BECOMES}{_STATE}{_PLACE}$"),
    pattern(rf"^{_THING} {_SHOULD} {_BECOMES}{_STATE}{_PLACE}$"),
    pattern(rf"^{_THING} (?:to (?:be |go |come )?)?(?:back )?{_STATE}{_PLACE}$"),
)
_VALUE = pattern(
    rf"^(?:{_CAUSES} )?{_THING} (?:{_SHOULD} be |to be )?(?:set )?(?:to|at) "
    rf"(?P<value>{NUMBER}(?: ?(?:%|percent|degrees?))?)$"
)
_KEEPS = pattern(rf"^{POLITE}(?:keep|leave) {_THING} (?P<state>on|off|open|closed|shut)$")
_GIVES = pattern(r"^(?:give (?:me|us)|i(?:'d| would)? (?:want|need|like)|let (?:me|us) have) ")
_UP_OR_DOWN = pattern(r" (?:up|down)$")
_CAUSE_STARTS = pattern(r"^(?:(?:please|hey|okay|ok|so|and|then|just|now|oh|(?:can|could|would|will) you)[, ]+)*")


def as_imperative(text: str) -> str:
    """The command in the imperative; "" for a text of another form."""
    words = _ENDS.sub("", " ".join(text.split()).strip(" ,.!?:;-"))
    if asked := _ASKS_GERUND.match(words):
        return from_gerund(words[asked.end() :])
    plain = _CAUSE_STARTS.sub("", words)
    for form in _FORMS:
        if (said := form.match(plain)) and (verb := _verb(said["thing"], said["state"].casefold())):
            return f"{verb} {said['thing']}{said['place'] or ''}"
    if (said := _VALUE.match(plain)) and _is_thing(said["thing"]) and _SETTABLE.search(said["thing"]):
        return f"set {_UP_OR_DOWN.sub('', said['thing'])} to {said['value']}"
    command = _STARTS.sub("", words)
    return command if LEADS_WITH_ACTION.match(command) and " " in command else ""


def from_gerund(text: str) -> str:
    """ "Turning the tv off" as "turn the tv off"; "" for a text that begins with no such verb."""
    said = _GERUND.match(text)
    return f"{_GERUNDS[said['gerund'].casefold()]}{text[said.end() :]}" if said else ""


def runs_for(thing: str) -> str:
    """The command of words beside a duration: "the garden lights", "keep the fan on" for ten minutes."""
    words = _CAUSE_STARTS.sub("", _ENDS.sub("", thing.strip(" ,")))
    if (kept := _KEEPS.match(words)) and _is_thing(kept["thing"]):
        return f"{_STATES[kept['state'].casefold()]} {kept['thing']}"
    words = _GIVES.sub("", words)
    return f"turn on {words}" if _RUNS_FOR.match(words) and _is_thing(words) else ""


def _is_thing(said: str) -> bool:
    words = said.casefold().split()
    return _NOT_IN_THING.isdisjoint(words) and not _AN_ACTION.match(said)


def _verb(thing: str, state: str) -> str:
    if not _is_thing(thing):
        return ""
    needed = _MOVES if state in ("up", "down") else _SHINES if state == "out" else None
    return _STATES[state] if needed is None or needed.search(thing) else ""


# --- the call of a plain command, for what needs no model

_SWITCHES = pattern(
    r"^(?:turn|switch|put|power|shut|cut) (?:(?P<first>on|off) (?P<one>.+)|(?P<two>.+?) (?P<last>on|off))$"
)
_OPENS = pattern(r"^(?P<verb>open|close|shut|raise|lower|lock|unlock) (?:up )?(?P<target>.+)$")
_STARTS_ROBOT = pattern(r"^(?:start|run|stop|pause) (?P<target>.+)$")
_IN_AREA = pattern(r"^(?P<name>.+?) (?:in|on) (?:the |my |our )?(?P<area>[\w' ]+)$")
# The tools take "on" for open and locked.
_TURNS_ON = frozenset({"on", "open", "raise", "lock"})
_DOMAINS: dict[str, tuple[str, ...]] = {"lock": ("lock",), "unlock": ("lock",)}
_COVERS = ("cover", "valve")
_ROBOTS = {"vacuum": "vacuum_start", "lawn_mower": "lawn_mower_start_mowing"}


def plain_call(command: str, house: House) -> ToolCall | None:
    """The call of "turn off the tv" or "open the blinds in the kitchen"; None if a word of it is not of this home."""
    domains: tuple[str, ...] = ()
    if said := _SWITCHES.match(command):
        state, target = (said["first"] or said["last"]).casefold(), said["one"] or said["two"]
    elif said := _OPENS.match(command):
        state, target = said["verb"].casefold(), said["target"]
        domains = _DOMAINS.get(state, _COVERS)
    elif said := _STARTS_ROBOT.match(command):
        name = without_article(said["target"])
        tool = next((tool for tool in _ROBOTS.values() if found(tool, house, name=name)), "")
        return tool_call(tool, name=name) if tool else None
    else:
        return None
    tool = "turn_on" if state in _TURNS_ON else "turn_off"
    slots = {"name": without_article(target)}
    if (place := _IN_AREA.match(slots["name"])) and not found(tool, house, **slots):
        slots = {"name": place["name"], "area": place["area"]}
    entities = found(tool, house, **slots)
    is_fitting = all(not domains or entity.domain in domains for entity in entities)
    return tool_call(tool, **slots) if entities and is_fitting else None

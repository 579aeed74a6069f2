"""Refuses a call of the model when words that limit the command were not handled.

The rules read many forms of exceptions, times, durations, conditions and negations, but people find others. So once no
rule has taken a sentence, its remaining words are searched for any word that limits a command. If one is neither in an
argument of the model's call nor handled by the call's tool, the call is not made, and the answer asks. The direction of
a call is compared with the words too: nothing is turned on where only "off" was said.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from importlib.resources import files
from typing import ClassVar

from edgevox.core.errors import StateError
from edgevox.core.hooks import Answer, Deny, Hook, Run, ToolOutcome
from edgevox.core.languages import ENGLISH
from edgevox.core.types import ToolCall
from edgevox.core.words import WEEKDAYS, normalized_words, number_value, word_set
from edgevox.home.clauses.direction import call_arguments, wrong_direction
from edgevox.home.clauses.hook import CommandClauses
from edgevox.home.clauses.imperative import as_imperative
from edgevox.home.clauses.parser import Clauses
from edgevox.home.entities import Entities, HomeError, House
from edgevox.home.grammar import ACTIONS, LEADS_WITH_ACTION, NUMBER, POLITE, pattern
from edgevox.home.intents.catalogue import known_tools
from edgevox.home.intents.quantities import QUANTITIES
from edgevox.home.intents.resolution import ResolvedIntent
from edgevox.home.phrasing import sentence, the
from edgevox.home.resolve import labels
from edgevox.home.resolve.labels import every_kind_word
from edgevox.home.resolve.target_resolver import TargetNotFound, excepted_entities, has_targets, resolve_targets
from edgevox.home.rules.languages.detection import candidates
from edgevox.tools.executor import ToolExecutor

_UNIT = r"(?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?|mins?|secs?)"
_CAPITALS = {"NUMBER": NUMBER, "UNIT": _UNIT, "DAY": rf"(?:{'|'.join(WEEKDAYS)})s?"}


def _words() -> dict[str, str]:
    """The alternatives of each part of limits.toml, in one expression."""
    table = tomllib.loads((files(__package__) / "limits.toml").read_text(encoding="utf-8"))
    return {
        part: re.sub("NUMBER|UNIT|DAY", lambda name: _CAPITALS[name[0]], "|".join(lines.split("\n")[:-1]))
        for part, lines in table.items()
    }


_WORDS = _words()
_HARMLESS = pattern(_WORDS["harmless"])
_AT = pattern(rf"\b(?:at|by|around) (?P<last>{NUMBER})$|^at (?P<first>{NUMBER})\b(?! ?(?:%|percent|degrees?))")
_TO_VALUE = pattern(rf"\bto {NUMBER}\b")
_SETS = pattern(r"\b(?:thermostat|temperature|heating|heater|degrees?|percent|volume|brightness|speed|set|dim)\b|%")
_END = r"(?:\b|(?<= ))"
_KINDS = {
    "question": pattern(rf"^(?:(?:so|and|hey|okay|ok|oh|please|well)[, ]+)*(?:{_WORDS['question']}){_END}"),
    "exception": pattern(rf"\b(?:{_WORDS['exception']}){_END}"),
    "share": pattern(rf"\b(?:half|some|a few|most|part|a couple|several|{NUMBER}) of (?:the|my|our|these|those|all)\b"),
    "condition": pattern(rf"(?<!\w)(?:{_WORDS['condition']})\b"),
    "negation": pattern(rf"\b(?:{_WORDS['negation']}){_END}"),
    "time": pattern(rf"\b(?:{_WORDS['time']}){_END}"),
}
_NEGATES_END = pattern(rf"\b(?:{_WORDS['negation_of_ending']})\b")

# At the end of what is to be played these are no part of a title.
_PLAY_LIMIT = pattern(
    rf"\b(?:for|in|until|till|at|after) (?:(?:about|the|next|another|half|an?) )*(?:{NUMBER} ?{_UNIT}|hour|{_UNIT}|"
    rf"{NUMBER}(?::\d\d)? ?(?:am|pm|o'?clock|{NUMBER})|midnight|noon|bedtime)$"
)
_FORBIDS = pattern(
    rf"^{POLITE}(?:(?:no|hey|oh|wait|stop)[, ]+)*(?:don'?t|do not|never|avoid|refrain|no need|not|"
    r"under no circumstances)\b(?! (?:need|want|have|like|care)\b)"
    r"|\b(?:don'?t|do not|never|not|avoid) (?:[\w']+ ){0,2}?(?:cancel|stop|delet|remov|clear|tick|cross|eras|drop|"
    r"play|add|pause|skip|mut|set|remind|wak)\w*"
)
_STRICT_CONDITION = pattern(r"\b(?:if|unless|as long as|provided|in case|assuming|depending)\b")
_STAYS = pattern(r"(?:only|stay|remain)")
# What follows "except", "not" or "instead of", up to the next article.
_NAMED = pattern(
    r"^(?:for |of |in |on |the ones? |those )*(?P<name>(?:the |my |our )?(?:(?!(?:the|my|our|please|"
    r"too|on|off)\b)[\w']+ ?){1,4})"
)
_JOINT_ENDS = pattern(r"(?:[,;.]|[,;]? (?:but|and|just|only))$")
_FORBIDS_ACT = pattern(r"(?:don'?t|do not|never)$")
_VERB = pattern(rf"^(?:{ACTIONS}|touch|change|move|adjust|wake|bother with|mess with) (?:on |off |up |down )?")
_VALUE = pattern(rf"^(?:(?:to |at )?(?P<number>{NUMBER})(?: ?(?:%|percent|degrees?))?|\w+er|muted|silent|mute)$")
# The tool that would do what is forbidden.
_ACTS = {
    "turn_off": pattern(r"\b(?:off|out|close|shut|unlock|kill|stop)\b"),
    "turn_on": pattern(r"\b(?:on|open|start|lock|arm|activate)\b"),
    "media_player_mute": pattern(r"\b(?:mute|silence)\b"),
    "media_pause": pattern(r"\b(?:pause|stop)\b"),
}
_STATE_WORDS = pattern(r"\b(?:on|off|out|up|down|open\w*|close[ds]?|shut|lock\w*|unlock\w*)\b")
_QUOTED_WORDS = 6
_WORDS_OF_NAME = 4

# Tools that end or remove something: what is not wanted any more asks for them.
_ENDING = frozenset(
    {
        *("cancel_timer", "cancel_all_timers", "cancel_alarm", "list_remove_item", "list_complete_item"),
        *("shopping_list_complete_item", "media_next", "media_previous", "media_pause", "media_player_mute"),
    }
)
_FREE_TEXT = ("task", "message", "item", "search_query")


# --- remarks: "I can't see a thing" and "it isn't warm enough" say why, and limit nothing

_STATES_FACT = "".join(
    rf"(?<!\b{word} )"
    for word in ("if", "when", "once", "until", "till", "while", "before", "after", "unless", "as", "that", "assuming")
)
_SUBJECT = r"(?:i|we|he|she|it|they|there|that|this|who)"
# A noun begins a remark only where a clause may begin: "turn off the light never" has none.
_NOUN = r"(?:^|(?<=[,.;] )|(?<=so )|(?<=and )|(?<=because )|(?<=since ))(?:the|my|our) [\w']+(?: [\w']+){0,2}?"
_NEW_CLAUSE = rf"{ACTIONS}|{_WORDS['condition']}|except\w*|apart|don'?t|do not|never|not|please|(?:can|could) you"
_GOES_ON = rf"(?:(?!\b(?:{_NEW_CLAUSE})\b)[^,.;])*"
_REMARKS = (
    pattern(
        rf"{_STATES_FACT}\b(?:{_SUBJECT}|{_NOUN})(?: (?:really|just|still|simply|even))?"
        r"(?:'(?:m|s|re) not| (?:am|is|are|was|were|do|does|did|can|could|has|have|had|will|would) not|"
        r" (?:isn|aren|wasn|weren|don|doesn|didn|can|couldn|hasn|haven|hadn|won|wouldn|ain)'?t| cannot| never|"
        r" (?:have|has|had|got|see|hear) (?:no|nothing))\b"
        r"(?! (?:\w+ )?(?:(?:want|need|wish)(?! to (?:be|have|sound|bother|wake|disturb|miss|go|get|see|hear|freeze))|"
        r"supposed|allowed|meant|permitted|to be|time|necessary|needed|ready|safe|ok(?:ay)?|right|a good|"
        rf"open|close|lock|turn|start|run|go)\b){_GOES_ON}"
    ),
    pattern(rf"\b(?:nobody|no ?one)(?:'s| is| was| \w+s| \w+ed)\b(?! to\b){_GOES_ON}"),
    # "we're leaving for a month", "my programme starts at eight"
    pattern(
        rf"{_STATES_FACT}\b(?:(?:i|we|he|she|they|it|there)(?:'m|'re|'s|'ve| am| are| is| have| has| had| was| were)|"
        rf"(?:my|our) [\w']+(?: [\w']+)? (?:is|has|are|starts?|comes?|begins?|arrives?))\b(?! (?:too \w+|wrong) to\b)"
        rf"{_GOES_ON}"
    ),
)
# What is said before the command, where it has no condition: "so this time, before I sit down, please lock the door".
_PREAMBLE = pattern(
    rf"^(?!{POLITE}(?:{ACTIONS})\b)"
    r"(?:(?!\b(?:unless|if|when|whenever|once|until|till|while|as (?:long|soon) as|except|don'?t want(?! to be)|"
    r"don'?t need)\b).)*"
    r"(?:[,.;]|\b(?:so|and|but|please|just|then|(?:can|could|would|will) you(?: please| just)?)) "
    rf"(?=(?:(?:please|just|(?:can|could|would|will) you|i want(?: you to)?|i think) )*"
    rf"(?:{ACTIONS}|bring|give|get|send|crank|skip)\b)"
)


def unread_limit(text: str, house: House, call: ToolCall, entities: Entities = ()) -> str:
    """The words of a text that limit what a call does, and that the call does not take into account; "" for none.

    `entities` are those that the call acts on.
    """
    tool = known_tools().get(call.name)
    if tool is None or not tool.has_side_effects:
        return ""
    arguments = call_arguments(call)
    left = _without_names(" ".join(text.replace("’", "'").split()).strip(" .!?,"), house)
    if call.name == "media_search_and_play" and (limit := _PLAY_LIMIT.search(left)):
        return limit[0]
    is_free = not {*_FREE_TEXT}.isdisjoint(tool.parameters["properties"])
    if is_free or call.name in _ENDING or tool.target_domains is None:
        forbids = _FORBIDS.search(_HARMLESS.sub(" ", left))
        if forbids and not _is_in_arguments(forbids[0], arguments):
            return _quoted(left, forbids)
    if is_free:
        return ""  # what is written, played or announced may contain any words
    left = _HARMLESS.sub(" ", _without_preamble(left))
    for remark in _REMARKS:
        left = remark.sub(" ", left)
    for argument in arguments.values():
        if isinstance(argument, str) and any(words.search(argument) for words in _KINDS.values()):
            left = re.sub(rf"\b{re.escape(argument)}\b", " ", left, flags=re.IGNORECASE)
    for kind, words in _limits_of(call.name, acts=tool.target_domains is not None):
        for limit in words.finditer(left):
            if kind in ("exception", "negation") and _is_spared(left, limit, call, entities, house):
                continue
            return _quoted(left, limit)
    return _unread_clock(left, call.name, arguments) if tool.target_domains is not None else ""


def _without_preamble(text: str) -> str:
    """The text from its command on, unless it begins with a limit."""
    return text if any(words.match(text) for words in _KINDS.values()) else _PREAMBLE.sub("", text)


def _unread_clock(text: str, tool: str, arguments: dict[str, object]) -> str:
    """ "At ten" that is neither a value of the call nor the value of another thing."""
    may_be_value = any(quantity.tool == tool for quantity in QUANTITIES) or _SETS.search(text)
    if not (clock := _AT.search(text)) or (may_be_value and not _TO_VALUE.search(text)):
        return ""
    values = {float(value) for value in arguments.values() if isinstance(value, int | float)}
    return "" if number_value(clock["last"] or clock["first"]) in values else clock[0]


def _limits_of(tool: str, *, acts: bool) -> Iterator[tuple[str, re.Pattern[str]]]:
    """The kinds of words to look for. Timers and alarms have slots for times and names for events."""
    if not acts:
        yield "condition", _STRICT_CONDITION
        return
    for kind, words in _KINDS.items():
        yield kind, _NEGATES_END if kind == "negation" and tool in _ENDING else words


def _is_spared(text: str, limit: re.Match[str], call: ToolCall, entities: Entities, house: House) -> bool:
    """Whether a call does not act on what is excluded anyway: "open the blinds, not the curtains"."""
    if not entities:
        return False
    acted_on, arguments = {entity.id for entity in entities}, call_arguments(call)
    before, after = text[: limit.start()].rstrip(), text[limit.end() :].strip()
    if _STAYS.match(limit[0]):
        last = normalized_words(before)[-_WORDS_OF_NAME:]
        own = {*normalized_words(entities[0].name)}
        return len(entities) == 1 and (own - every_kind_word() or own).isdisjoint(last)
    if _FORBIDS_ACT.match(limit[0]):  # "pause the tv, don't turn it off"
        if not (joint := _JOINT_ENDS.search(before)) or not as_imperative(before[: joint.start()]):
            return False
        forbidden = {tool for tool, words in _ACTS.items() if words.search(after)}
        if forbidden and call.name not in forbidden:
            return True
    if limit[0].casefold() == "not" and (value := _VALUE.match(after)):  # "at 20, not 22", "quieter, not louder"
        return value["number"] is None or number_value(value["number"]) not in arguments.values()
    if (named := _NAMED.match(_VERB.sub("", after))) is None:
        return False
    try:
        kept = excepted_entities(house, named["name"])
    except HomeError:
        return False
    if limit[0].strip().casefold() == "no" and before:  # "the left, no, the right lamp"
        return acted_on.issubset(entity.id for entity in kept)
    return bool(kept) and acted_on.isdisjoint(entity.id for entity in kept)


# Words of which a request for these tools has at least one, or the name of such a thing: "Rosie" for a vacuum.
_ASKED_BY = {
    tool: pattern(rf"\b(?:{words})\b")
    for tool, words in {
        "media_search_and_play": r"play\w*|hear|listen\w*|music|songs?|tunes?|albums?|artists?|playlists?|radio|"
        r"stations?|podcasts?|audiobooks?|put|throw|stick|start|queue|cue|blast|pump|spin|sing|shuffle|watch|show|tv|telly|"
        r"television|speakers?|sound|stereo|soundtrack|some|something|want|like|stream|resume|turn|switch|give|get|have",
        "vacuum_start": r"vacuum\w*|clean\w*|robot\w*|roomba|hoover\w*|dirty|crumbs|floors?|carpets?|rugs?|sweep\w*|"
        r"dust\w*|mop\w*|mess\w*|suck\w*",
        "lawn_mower_start_mowing": r"mow\w*|lawn|grass|cut|trim",
        "broadcast": r"announce\w*|tell|say|broadcast\w*|everyone|everybody|let|shout|call|message|inform|intercom|"
        r"page|speakers?|notify|yell",
        "media_pause": r"pause\w*|paws|stop\w*|hold|quiet\w*|silence|shush|halt|freeze|off|hush|enough|shut",
        "media_next": r"next|skip\w*|another|change|different|forward|following|other|pass|boring|hate|don't like|"
        r"something else",
        "media_previous": r"previous|back|last|before|again|restart|rewind|replay|go",
    }.items()
}


def is_unasked(text: str, call: ToolCall, house: House) -> bool:
    """Whether a text has no word of what a call does: nothing is played for "a bit chilly"."""
    words, tool = _ASKED_BY.get(call.name), known_tools().get(call.name)
    if words is None or tool is None or words.search(text):
        return False
    domains = tool.target_domains or ()
    own = [name for thing in house.entities if thing.domain in domains for name in (thing.name, *thing.aliases)]
    return {*normalized_words(" ".join(own))}.isdisjoint(normalized_words(text))


_PROGRAM_DOMAINS = frozenset({"scene", "script", "automation", "button", "input_button"})
# "The fan on my laptop is loud" is about no fan of this home.
_ELSEWHERE = pattern(
    r"^(?:(?:and|so|but|well|oh|the|my|his|her|their|our|that|this) )*[\w' ]+? (?:on|in|of|at|inside|under) "
    r"(?:my|his|her|their|your|our) (?P<thing>(?:[\w'-]+ ){1,3}?)"
    r"(?:is|are|was|were|has|have|had|looks?|seems?|sounds?)\b"
)
_BESIDE_NAMES = word_set("the my our a an this that please in of at and um uh er oh so hey ok okay")


def is_only_named(text: str, call: ToolCall, entities: Entities, house: House) -> bool:
    """Whether a text only names what a call would act on, and does not say how: "the kitchen light"."""
    tool = known_tools().get(call.name)
    if tool is None or not tool.has_side_effects or tool.target_domains is None or not entities:
        return False
    if LEADS_WITH_ACTION.match(text) or any(entity.domain in _PROGRAM_DOMAINS for entity in entities):
        return False
    known = labels.vocabulary(house, labels.labels_of(house).values()) | _BESIDE_NAMES
    words = normalized_words(text)
    return len(text.split()) > 1 and known.issuperset(words) and not _STATE_WORDS.search(text)


def is_elsewhere(text: str, call: ToolCall, house: House) -> bool:
    """Whether a text describes a thing that is at or in something that this home does not have."""
    tool, said = known_tools().get(call.name), _ELSEWHERE.match(text)
    if said is None or tool is None or tool.target_domains is None or LEADS_WITH_ACTION.match(text):
        return False
    known = labels.vocabulary(house, labels.labels_of(house).values())
    return known.isdisjoint(normalized_words(said["thing"]))


def _is_in_arguments(words: str, arguments: dict[str, object]) -> bool:
    said = " ".join(str(arguments.get(slot) or "") for slot in _FREE_TEXT).casefold()
    return words.casefold().strip() in said


def _without_names(text: str, house: House) -> str:
    """The text without the names of this home that contain such words: "Movie Night", "Do Not Disturb"."""
    for thing in (*house.entities, *house.places):
        for name in (thing.name, *thing.aliases):
            if any(words.search(name) for words in _KINDS.values()):
                text = re.sub(rf"\b{re.escape(name)}\b", " ", text, flags=re.IGNORECASE)
    return " ".join(text.split())


def _quoted(text: str, limit: re.Match[str]) -> str:
    rest = re.split(r"[,.;]", text[limit.start() :])[0].split()
    return " ".join(rest[:_QUOTED_WORDS])


class UnreadLimits(Hook):
    """Refuses calls of the model that ignore a word of the sentence. Runs after the rules, which read most of them."""

    name: ClassVar[str] = "unread_limits"
    priority: ClassVar[int] = -50
    is_safety: ClassVar[bool] = True

    def __init__(self, executor: ToolExecutor, house: Callable[[], House]) -> None:
        self._executor = executor
        self._house = house

    async def on_run_start(self, run: Run) -> None:
        """Keep the words that the rules left: it is not called where a rule has taken the sentence."""
        noted = run.notes.get(CommandClauses.name)
        is_read = isinstance(noted, Clauses) and not noted.is_plain
        run.notes[self.name] = noted.command if isinstance(noted, Clauses) and is_read else run.text

    async def before_tool(self, run: Run, call: ToolCall) -> Deny | None:
        left = run.notes.get(self.name)
        if not isinstance(left, str):
            return None
        problem = self._problem(left, call) or self._not_found(call) or self._unasked(run, call)
        if problem:
            run.notes[f"{self.name}.problem"] = problem
        return Deny(problem) if problem else None

    async def after_tool(self, run: Run, call: ToolCall, outcome: ToolOutcome) -> Answer | None:
        problem = run.notes.get(f"{self.name}.problem")
        return Answer(problem) if isinstance(problem, str) and outcome.code == "tool_denied" else None

    def _problem(self, text: str, call: ToolCall) -> str:
        try:
            house = self._house()
        except (HomeError, StateError):
            return ""  # the call says why
        resolution = self._executor.resolve(call).resolution
        entities = resolution.entities if isinstance(resolution, ResolvedIntent) else ()
        if is_only_named(text, call, entities, house):
            return f"What should I do with {the(entities[0])}?" if len(entities) == 1 else "What should I do with them?"
        if is_elsewhere(text, call, house):
            return "I left everything as it is; please tell me if I should change something."
        if limit := unread_limit(text, house, call, entities):
            return (
                f'I am not sure what to do about "{limit}", so I left everything as it is. Please say it another way.'
            )
        if wrong_direction(text, call, entities):
            return "I am not sure in which direction you mean that, so I left everything as it is."
        return ""

    def _unasked(self, run: Run, call: ToolCall) -> str:
        if run.language not in ("", ENGLISH) or candidates(run.text):
            return ""  # with the words of another language
        try:
            is_refused = is_unasked(run.text, call, self._house())
        except (HomeError, StateError):
            return ""  # the call says why
        return (
            "I am not sure what to do, so I left everything as it is. Please say it another way." if is_refused else ""
        )

    def _not_found(self, call: ToolCall) -> str:
        """What the resolver says about a call for what this home does not have: "lock the car", "put the kettle on"."""
        try:
            if has_targets(call.name):
                resolve_targets(call.name, call_arguments(call), self._house())
        except TargetNotFound as error:
            return sentence(error.message)
        except (HomeError, StateError):
            pass  # the call asks, or says why
        return ""

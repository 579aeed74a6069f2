"""The safety net under the rules: a call is refused if words that limit the command were taken into account by nobody.

The rules read many forms of exceptions, times, durations, conditions and negations, but people find others. So once no
rule has taken a sentence, its remaining words are searched for any word that limits a command. If one is neither in an
argument of the model's call nor handled by the call's tool, the call is not made, and the answer asks. The direction of
a call is compared with the words too: nothing is turned on where only "off" was said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import ClassVar

from edgevox.core.errors import StateError
from edgevox.core.hooks import Answer, Deny, Hook, Run, ToolOutcome
from edgevox.core.types import ToolCall
from edgevox.core.words import WEEKDAYS, normalized_words, number_value
from edgevox.home.clauses.hook import CommandClauses
from edgevox.home.clauses.imperative import as_imperative
from edgevox.home.clauses.parser import Clauses
from edgevox.home.entities import Entities, HomeError, House
from edgevox.home.grammar import ACTIONS, NUMBER, POLITE, pattern
from edgevox.home.intents.catalogue import known_tools
from edgevox.home.intents.quantities import QUANTITIES, STEP
from edgevox.home.intents.resolution import ResolvedIntent
from edgevox.home.resolve.labels import every_kind_word
from edgevox.home.resolve.target_resolver import excepted_entities
from edgevox.tools.executor import ToolExecutor

# --- uses of such words that limit nothing

_HARMLESS = pattern(
    r"\bif (?:you(?! (?:see|hear|detect|notice|sense|find|get)\b)(?:'d)?(?: (?:would|will|could|can|please|like|want|"
    r"don'?t mind|wouldn'?t mind|have (?:a )?(?:time|moment|second|minute)|be so kind))*|possible|i may|"
    r"(?:that|it)(?:'s| is|'s not| is not| isn'?t) (?:ok(?:ay)?|possible|all ?right|fine|cool|"
    r"(?:no |not |too much |a )*(?:trouble|bother|to ask)))"
    r"|\bwhen(?:ever)? you(?:'re| are)?(?: can| get| have| ready| are done)\b(?: (?:a|the) (?:chance|moment|second|"
    r"minute|time))?"
    r"|\bwhile you(?:'re| are) (?:at it|there|up)|\bbefore(?: (?:i|we) (?:[\w']+ ){1,3}(?=please )|$)"
    r"|\bbefore i forget\b"
    r"|\bonce (?:more|again)\b"
    r"|\b(?:at|for|all at) once\b|\bafter (?:all|that)\b|\bfrom now on\b"
    r"|\bwhy (?:don'?t|not|do not|won'?t)\b(?: (?:you|we))?"
    r"|\b(?:don'?t|do not|never|not) (?:forget|let (?:me|us))\b|\b(?:won'?t|can'?t|couldn'?t|wouldn'?t) you\b"
    r"|\bno (?:problem|worries|rush|hurry|doubt|wonder|pressure|thanks?|matter)\b|\bnot bad\b|\bor not\b"
    r"|\b(?:right|just|for|by|as of) now\b|\bfor (?:a|one|just a) (?:second|sec|moment|bit|while|change|start)\b"
    r"|\bfor (?:tonight|today|the (?:night|day|evening|time being))\b|\bmore or less\b|\bno (?:more|(?!sooner|"
    r"earlier|later|longer)\w+er) than\b"
    r"|^(?:oh |well |um )?no(?:pe)?\b[, ]+(?!more|need|music|lights?)"
    r"|\bno,? (?:wait|sorry|actually|no)\b|\bnever ?mind\b|\bno (?:further|more|less)$|\bdon'?t you(?: think| agree)?\b"
)
# --- words that limit a command

_UNIT = r"(?:seconds?|minutes?|hours?|days?|nights?|weeks?|months?|mins?|secs?)"
_DAY = rf"(?:{'|'.join(WEEKDAYS)})s?"
_EXCEPTS = (
    r"except\w*|exclud\w+|exempt\w*|apart from|aside from|other than|save for|save (?=the|my|our)|barring|"
    r"besides|sparing|omit\w*|skipping|ignor\w+|disregard\w*|"
    rf"minus (?!{NUMBER}\b)|sans|without|with the exception|bar (?=the\b|my\b|our\b)|leav\w+ out|"
    r"(?:all|every\w*|any\w*|nothing|none)(?: [\w']+){0,4}? but|(?:the|all) (?:rest|others?)\b|"
    r"(?:everything|anything|everyone|all) else|only(?= (?:[\w']+ ){1,4}(?:stays?|remains?))|"
    r"(?:stays?|remains?|staying)(?! (?:at home|home|here|in bed|up|awake|with)\b)|spare (?=the|my|our)"
)
_CONDITIONS = (
    r"if|unless|until|till|'til|when|whenever|once|while|whilst|before|after|(?:as|so) long as|as soon as|provided|"
    r"providing|in case|otherwise|during|(?:every|each|next|the next|the first) time|the (?:moment|minute|second|"
    r"instant)(?= (?:i|we|you|he|she|they|it|the|my|our|that|some\w+|any\w+)\b)|by the time|assuming|given that|"
    r"in the event|depending|or else|as and when|throughout|in between|between|upon|"
    r"should (?:it|the|there|my|our|any\w+|some\w+)|(?:on|at) my (?:signal|mark|command|return)|as the sun"
)
_NEGATIONS = (
    r"don'?t|do not|doesn'?t|never|neither|nor|nothing|none|nobody|no ?one|no longer|not|avoid\w*|refrain\w*|"
    r"prevent\w*|hold off|hold back|forbid\w*|forget (?:about|the|my|it)|opposite|reverse|contrary|instead of|"
    r"rather than|"
    r"in place of|hands off|quit|cease|stay away|keep (?:[\w']+ ){0,4}?(?:from|off of|away)|"
    r"stop (?:[\w']+ ){0,4}?from|anything but|far from|"
    r"stop (?:turning|switching|opening|closing|shutting|locking|unlocking|dimming|starting|setting|putting|raising|"
    r"lowering|changing|arming|disarming)|"
    r"(?:leave|leaving|let(?! there\b)) (?:[\w']+ ){0,5}?(?:alone|be|as (?:it is|is|they are|it was))\b|"
    r"(?:mustn|shouldn|needn|shan|mayn|oughtn)'?t|no (?!more\b|not\b)(?=[a-z])|no$|hardly|barely|isn'?t to|aren'?t to|"
    r"won'?t need|can'?t have|stop trying|forget (?:what|that|i)|"
    r"(?:wrong|too early|too late|too soon|bad idea|silly|unwise|pointless|not time) to"
)
_TIMES = (
    r"tomorrow|tonight|later|eventually|soon|o'?clock|noon|midnight|midday|sun ?(?:set|rise|down|up)|dusk|dawn|"
    rf"nightfall|daybreak|{_DAY}|week(?:end|day)s?|daily|nightly|weekly|monthly|hourly|"
    rf"(?:every|each) (?:(?:other|few|second|third|single|couple of|{NUMBER}) )?(?:{_UNIT}|morning|afternoon|evening|"
    rf"{_DAY})|"
    rf"(?:in|for|after|within|over|next|another|last|past) (?:(?:about|around|the|next|a|an|another|few|couple|of|half|"
    rf"good|full|whole|more|exactly|at least|at most|{NUMBER}) )*{_UNIT}|"
    rf"(?:a|an|{NUMBER}|few) (?:and a half )?{_UNIT}|half an hour|"
    r"(?:this|in the|at|every|each|by) (?:early |late )?(?:morning|afternoon|evening|night|bedtime|lunchtime|"
    r"dinnertime)|"
    rf"\d{{1,2}}:\d\d|(?:{NUMBER}) ?(?:am|pm|a\.m\.?|p\.m\.?)|(?:half|quarter) (?:past|to) \w+|yet|from now|"
    r"(?:until|till) (?:further|then)|in advance|at some point|(?:another|some other|any other) (?:time|day)|"
    r"some ?time|next (?:week|month)|"
    rf"in due course|today week|toward\w* (?:the )?(?:morning|noon|evening|night)|no (?:sooner|earlier|later)|"
    rf"(?:past|about|around) {NUMBER}$|from {NUMBER} (?:to|till|until) {NUMBER}"
)
_AT = pattern(rf"\b(?:at|by|around) (?P<last>{NUMBER})$|^at (?P<first>{NUMBER})\b(?! ?(?:%|percent|degrees?))")
_TO_VALUE = pattern(rf"\bto {NUMBER}\b")
_SETS = pattern(r"\b(?:thermostat|temperature|heating|heater|degrees?|percent|volume|brightness|speed|set|dim)\b|%")
_END = r"(?:\b|(?<= ))"
# "Did you turn off the light" and "how do I lock the door" ask, and "can I have the lights on" is a wish.
_QUESTION = (
    r"did|(?:do|does|have|has|had) (?:you|i|we|he|she|they|it)(?! mind\b)|how (?:do|does|can|could|would|should|to|"
    r"come)|why|what (?:happens|if|would)|should (?:i|we)|where|who (?:told|asked|said)|"
    r"(?:can|may|could|am) i (?!(?:please )?(?:have|get|hear|see|ask|trouble|bother)\b)|"
    r"tell (?:me|us) (?:how|why|if|whether|what|who)|ask (?:me|us)|remind (?:me|us)"
)
_KINDS = {
    "question": pattern(rf"^(?:(?:so|and|hey|okay|ok|oh|please|well)[, ]+)*(?:{_QUESTION}){_END}"),
    "exception": pattern(rf"\b(?:{_EXCEPTS}){_END}"),
    "share": pattern(rf"\b(?:half|some|a few|most|part|a couple|several|{NUMBER}) of (?:the|my|our|these|those|all)\b"),
    "condition": pattern(rf"(?<!\w)(?:{_CONDITIONS})\b"),
    "negation": pattern(rf"\b(?:{_NEGATIONS}){_END}"),
    "time": pattern(rf"\b(?:{_TIMES}){_END}"),
}
# For what ends or removes something a plain "not" may be the reason.
_NEGATES_END = pattern(
    r"\b(?:opposite|instead of|rather (?:than|not)|not (?:now|yet|today|before|until|if|when)|(?:don'?t|do not|never)$|"
    r"(?:nobody|no ?one) (?:can|should|may|must)|nor|stop trying|forget (?:what|that|i)|no circumstances|"
    r"(?:wrong|too early|too late|too soon|bad idea) to)\b"
)

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
_GOES_ON = (
    rf"(?:(?!\b(?:{ACTIONS}|{_CONDITIONS}|except\w*|apart|don'?t|do not|never|not|please|(?:can|could) you)\b)[^,.;])*"
)
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
    arguments = _arguments(call)
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
    acted_on, arguments = {entity.id for entity in entities}, _arguments(call)
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


def _arguments(call: ToolCall) -> dict[str, object]:
    try:
        arguments = json.loads(call.arguments or "{}")
    except ValueError:
        return {}
    return arguments if isinstance(arguments, dict) else {}


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


# --- directions

_ON, _OFF = "on", "off"
_STATES = {
    "lock": (pattern(r"\b(?:lock\w*|secure\w*|bolt\w*)\b"), pattern(r"\b(?:unlock\w*|open\w*|unbolt\w*)\b")),
    "cover": (
        pattern(r"\b(?:open\w*|raise\w*|rais\w+|up|lift\w*|draw\w*|roll\w*|pull\w*|let)\b"),
        pattern(r"\b(?:clos\w+|shut\w*|lower\w*|down|draw\w*|roll\w*|pull\w*|drop\w*)\b"),
    ),
    "": (
        pattern(r"\b(?:on|start\w*|activat\w+|enabl\w+|open\w*|run\w*|up|begin|arm)\b"),
        pattern(r"\b(?:off|out|stop\w*|deactivat\w+|disabl\w+|clos\w+|shut\w*|kill\w*|cut\w*|end|disarm|down)\b"),
    ),
}
_STATES["valve"] = _STATES["cover"]
_SWITCHES = {"turn_on": 0, "turn_off": 1}
_BY = pattern(
    rf"\bby (?:about |another |around |a further )?(?P<one>{NUMBER})\b|\b(?P<two>{NUMBER}) ?(?:%|percent|"
    rf"degrees?)?(?: points)? "
    r"(?:more|less|higher|lower|warmer|cooler|colder|hotter|brighter|dimmer|darker|louder|quieter|faster|slower)\b"
)
_LESS = pattern(
    r"\b(?:down|lower\w*|less|decrease\w*|reduc\w+|quieter|softer|cooler|colder|darker|dimmer|slower|drop\w*)\b"
)
_MORE = pattern(
    r"\b(?:up|higher|more|increas\w+|rais\w+|louder|warmer|hotter|brighter|faster|boost\w*|crank\w*|brighten\w*)\b"
)
_COOLING = pattern(r"\b(?:ac|a/c|air|cooling|conditioner|conditioning)\b")


def wrong_direction(text: str, call: ToolCall, entities: Entities) -> bool:
    """Whether a call does the opposite of what the words say."""
    if call.name in _SWITCHES:
        own = _SWITCHES[call.name]
        domains = {entity.domain for entity in entities}
        states = _STATES.get(next(iter(domains), ""), _STATES[""]) if len(domains) == 1 else None
        return bool(states and states[1 - own].search(text) and not states[own].search(text))
    quantity = next((quantity for quantity in QUANTITIES if quantity.tool == call.name), None)
    arguments = _arguments(call)
    value = arguments.get(quantity.slot) if quantity else None
    if quantity is None or not isinstance(value, int | float) or STEP in arguments:
        return False
    if call.name == "set_position":
        return False  # "raise the blinds half way" may lower them
    if any(number_value(said["one"] or said["two"]) == value for said in _BY.finditer(text)):
        return True  # "by ten percent", set to ten percent
    is_less, is_more = _LESS.search(text) is not None, _MORE.search(text) is not None
    if is_less == is_more or _COOLING.search(text) or len(entities) != 1:
        return False
    now = entities[0].attributes.get(quantity.slot)
    if not isinstance(now, int | float) or entities[0].state == "off":
        return False
    return value > now if is_less else value < now


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
        problem = self._problem(left, call)
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
        if limit := unread_limit(text, house, call, entities):
            return (
                f'I am not sure what to do about "{limit}", so I left everything as it is. Please say it another way.'
            )
        if wrong_direction(text, call, entities):
            return "I am not sure in which direction you mean that, so I left everything as it is."
        return ""

"""Puts an utterance into plain words before the other hooks and the model read it.

Takes off the name of an assistant and a remark before the request, applies corrections, replaces unusual words by
those that the default model knows, and splits several commands. Conversation and log keep what was said.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from edgevox.core.errors import StateError
from edgevox.core.hooks import Calls, Hook, Parts, Run
from edgevox.core.types import ChatRequest
from edgevox.core.words import normalized_words, word_set
from edgevox.home.alarms.alarms import Alarms
from edgevox.home.alarms.time_parser import parse_time
from edgevox.home.clauses.parser import Clauses, parse_clauses
from edgevox.home.clauses.parts import corrected, is_taken_back, split_commands
from edgevox.home.clauses.rephrasing import as_commands, in_common_words, rearranged, with_own_time
from edgevox.home.entities import HomeError, House
from edgevox.home.grammar import ACTIONS, NUMBER, POLITE, found, pattern, tool_call
from edgevox.home.resolve import labels
from edgevox.home.resolve.labels import find_place
from edgevox.home.resolve.name_correction import correct_entity_names
from edgevox.home.resolve.target_resolver import resolved_targets

_MAX_CHARS = 240

# --- letters

_NOT_A_TITLE = pattern(rf"^(?!{POLITE}play\b)")
_CONTRACTIONS = (
    (pattern(r"\b(do|does|did|ca|wo|is|are|was|were|should|could|would|has|have|must|need)nt\b"), r"\1n't"),
    (pattern(r"\b(i)(m|ve)\b"), r"\1'\2"),
    (pattern(r"\b(that|what|how|where|there|here)s\b"), r"\1's"),
    (pattern(r"\b(we|you|they)(ve|re)\b(?<!were)"), r"\1'\2"),
    (
        pattern(
            r"\bits (?=(?:too|so|very|really|getting|a bit|a little|way|pretty|quite|absolutely|not|dark|bright|hot|"
            r"cold|warm|chilly|boiling|freezing|loud|noisy|raining|late|time)\b)"
        ),
        "it's ",
    ),
    (pattern(r"\blets (?=(?:have|get|put|play|see|go|turn|open|close|start|make|watch|listen)\b)"), "let's "),
    (pattern(r"\b(?:pls|plz|pleas)\b"), "please"),
    (pattern(r"\bu (?=(?:please|turn|switch|set|put|open|close|dim|play|tell|start|stop|make|lock)\b)"), "you "),
    (pattern(r"\bwanna\b"), "want to"),
    (pattern(r"\b(can|could|would|will) (?:ya|u)\b"), r"\1 you"),
    (pattern(r"^((?:please )?)(?:tern|trun|tunr) (?=on|off|of|the|my|it|up|down|all)"), r"\1turn "),
    (pattern(r"^((?:please )?)(?:swich|swtich) "), r"\1switch "),
    (pattern(r"\blite(?=s?\b)"), "light"),
    (pattern(rf"^((?:please )?(?:set|turn|put|dim)\b.*) too (?={NUMBER}\b)"), r"\1 to "),
    (pattern(r"^((?:please )?(?:turn|switch|shut) (?:(?!\b(?:on|off|up|down|to|in|at)\b)[\w' ])+?) of$"), r"\1 off"),
    (
        pattern(
            r"(?:\b(?:maybe|sorta|kinda|sort of|kind of|possibly|perhaps|kindly|like) )+"
            rf"(?={ACTIONS} (?:the|my|our|all|on|off|up|down|it)\b)"
        ),
        "",
    ),
    (pattern(r"\bgimme\b"), "give me"),
    (pattern(r"\b(don|doesn|didn|can|won|isn|aren|wasn|weren|shouldn|couldn|wouldn|hasn|haven) t\b"), r"\1't"),
    (pattern(r"\b(what|it|that|let|how|who|where|there|when) s\b"), r"\1's"),
    (pattern(r"\b(i) (m|ll|ve|d)\b"), r"\1'\2"),
    (pattern(r"\b(we|you|they) (re|ll|ve)\b"), r"\1'\2"),
    (pattern(r"(?<=\d) ([ap]) m\b"), r" \1m"),
    # What a recogniser writes for words that sound the same, where no other reading makes sense.
    (pattern(r"^((?:please )?(?:turn|switch|shut)) of (?=the|my|all|our)"), r"\1 off "),
    (pattern(r"^((?:please )?)(?:clothes|clothe) (?=the|my|all|our)"), r"\1close "),
    (pattern(r"^((?:please )?)(?:at|ad) (?=.+ to (?:the|my|our) (?:\w+ )?list$)"), r"\1add "),
    (pattern(r"\btemp\b(?! in (?!the\b|my\b))"), "temperature"),
    (pattern(r"\b(?:turn|switch) (?P<what>(?:the|my|our|all) [\w ]+?) of (?=in|please|now|$)"), r"turn \g<what> off "),
    (pattern(r"\btimer four (?=\w+ (?:minutes?|seconds?|hours?)\b)"), "timer for "),
)

# --- the assistant's name

_ASSISTANTS = word_set("google siri alexa cortana bixby jarvis olly echo computer")
_NO_NAMES = word_set(
    "there can could would will please turn i i'm it it's we you what what's when how is are the a my our so just do "
    "did let let's if and everyone everybody guys that this now well no yes all good really thanks"
)
_ADDRESS = pattern(
    r"^(?:(?P<hey>hey|hi|hello|ok|okay|yo),? )?(?P<name>[a-z]{3,}),? "
    rf"(?=(?:please|can|could|would|will|{ACTIONS}|play|add|remind|wake|what|what's|how|how's|is|are|tell|give|cancel|"
    r"skip|show|read|when|do|did)\b)"
)

# What is said to the assistant after a request, or before it.
_VOCATIVE = r"(?:my )?(?:dear|love|darling|friend|mate|buddy|pal|bro|bruh|dude|sweetie)"
_CHAT_ENDS = pattern(
    rf"(?:[, ]+(?:{_VOCATIVE}|tho|though|(?:will|would) ya|innit|eh|lol|asap|ta|thx|cheers|many thanks|"
    r"thank you (?:so much|very much|kindly|dear)))+$"
)
_CHAT_LEADS = pattern(
    rf"^(?:(?:hi|hello|hey|ok|okay|oh|yo)[, ]+)?{_VOCATIVE}[, ]+(?=(?:please|can|could|would|will|{ACTIONS})\b)"
)

_ASKS = pattern(r"(?:is|are|do|did|when|will|would|has)\b")

# --- a remark before the request

_REMARK = pattern(
    r"^(?:(?:so|well|hey|okay|ok|um|uh|sorry|listen|look|right|oh|mate|hi|yeah)[, ]+)*"
    r"(?P<remark>(?:i|i'm|i've|i'll|we|we're|we've|my|the|it's|there's|there are|this|someone|somebody|you know|"
    r"it|he|she|"
    r"they)\b.{12,}?)[,.]? (?:(?:so|and) )?(?<!how )(?<!why )(?<!what )(?<!where )"
    r"(?P<request>(?:can|could|would|will) you (?!like|mind|be|say|believe|think|know|stop)(?:please |just |"
    r"maybe )*\w+ .+)$"
)
_REMARK_ASKS = pattern(
    rf"\b(?:{ACTIONS}|play|add|remind|wake|when|if|unless|until|need|want|out of|on|off|dark|bright|cold|hot|warm|loud|"
    r"quiet)\b"
)
_COMMAND = pattern(rf"^{POLITE}{ACTIONS}\b|.* (?:on|off|open|closed|shut)$|.* (?:to|at) {NUMBER}\b")
_DICTATION = pattern(
    r"\b(?:remind|reminders?|add|lists?|play|say|tell|announce|broadcast|call|named?|titled?|timers?|alarms?|"
    r"wake|what|who)\b"
)
_REFERS = pattern(r"\b(?:it|that|them|this|those|these|one|ones|there)\b")
_OVERSLEEP = pattern(r"(?<=\d|\w),? (?:and )?(?:don'?t|do not) let me (?:sleep in|oversleep|snooze)(?: again)?$")

# --- politeness that has the form of a condition or a command

_IDIOM = (
    r"(?:before i forget(?: again| it)?|while i think of it|by the way|one more thing|you know what|"
    r"do me a favou?r and|"
    r"be (?:a dear|an angel|so (?:kind|good)) (?:and|as to)|(?:would you be|if you(?:'d| would) be) so (?:kind|"
    r"good)(?: as to| and)?|"
    r"if (?:it's|it is|that's|that is) (?:not too much (?:trouble|to ask)|okay|ok|all right|alright|"
    r"possible)(?: with you)?|"
    r"if you (?:don't|do not|wouldn't) mind|if you (?:can|could|please)|when(?:ever)? you (?:get|"
    r"have) a (?:chance|moment|second|minute)|"
    r"(?:i'm )?sorry to (?:bother|disturb) you(?: again)?(?: but)?|i hate to ask(?: you)?(?: but)?|"
    r"i was (?:just )?wondering if(?= you)|while you(?:'re| are) at it)"
)
_IDIOM_LEADS = pattern(rf"^(?:(?:oh|and|so|um|uh|hey|okay|ok|well|right|hi)[, ]+)*{_IDIOM}[, ]+(?=\w+ )")
_IDIOM_ENDS = pattern(rf"(?<=\w),? {_IDIOM}$")

# --- wishes that are not said

_TOO_DARK = pattern(
    r"^(?:it's|it is|this (?:room|place) is|that's) (?:getting |a bit |a little |way |much |far )*(?:too|so|"
    r"really|very|quite|pretty)"
    r" dark(?: (?:in here|here|(?:in|on|at) (?:the|my|our) (?P<place>[\w' -]+?)))?$"
)
_COFFEE = pattern(
    r"^i(?:'d| would)? (?:want|like|love) (?:to have )?(?:a|one|some)(?: (?:nice|hot|fresh|strong))*(?: (?:cup|"
    r"mug) of)? coffee"
    r"(?: please| now)*$"
)

_DARK = pattern(
    r"^(?:[\w']+ ){0,3}?(?:(?:it's|it is|is|so|too|really|very) )*(?:pitch[- ]?(?:black|dark)|"
    r"i (?:can'?t|cannot|can (?:barely|hardly)) see\b.*?)(?: out| here| over)?(?: in| on| at) (?:the|this|my|our) "
    r"(?P<place>[\w' -]+?)(?:[,.]? (?:some )?lights?(?: please)?)?$"
)
_DIRTY = pattern(
    r"^(?:the|this|my|our) (?:(?P<place>[\w' -]+?) )?(?:floors?|carpets?|rugs?)(?:'s| is| are| looks?| has| have)? "
    r"(?:[\w']+ ){0,2}?(?:dirty|filthy|dusty|gross|disgusting|messy|a mess|a disaster|grubby|covered (?:in|with) .+|"
    r"full of .+)(?: again)?$"
)
_CRUMBS = pattern(
    r"^there(?:'s| is| are) (?:[\w']+ ){0,2}?(?:crumbs|dust|hair|fur|dirt|sand|mud|glitter|rice|flour|cereal)\b"
    r"(?: all over| on| in| everywhere in| under)* (?:the|my|our) (?P<place>[\w' -]+?)(?: floor| carpet| rug)?$"
)
_VACUUM = pattern(
    r"^(?P<polite>.*?\b)?(?:send (?P<one>(?:the |my |our )?[\w ]+?) (?:out|off)|(?:get|set) (?P<two>(?:the |my |"
    r"our )?[\w ]+?) "
    r"(?:going|off|loose|to work)|(?:let|turn) (?P<three>(?:the |my |our )?[\w ]+?) loose|deploy (?P<four>.+?))$"
)


def plain_wording(text: str, house: House) -> str:
    """The same request in plain words."""
    plain = " ".join(text.replace("’", "'").split())
    if len(plain) > _MAX_CHARS:
        return text
    ending = plain[len(plain.rstrip(" .!?")) :]
    plain = plain.rstrip(" .!?")
    before = plain
    if _NOT_A_TITLE.match(plain):
        for words, replacement in _CONTRACTIONS:
            plain = words.sub(replacement, plain)
    if not _DICTATION.search(plain):
        plain = _CHAT_LEADS.sub("", _CHAT_ENDS.sub("", plain))
    plain = _without_address(plain, house)
    plain = corrected(plain, house)
    plain = _IDIOM_ENDS.sub("", _IDIOM_LEADS.sub("", plain))
    plain = _OVERSLEEP.sub("", _without_remark(plain, house))
    if _COMMAND.match(plain) and not _DICTATION.search(plain):
        plain = _with_names(plain, house)
    plain = in_common_words(plain)
    plain = rearranged(plain, house)
    plain = _wish(plain, house) or plain
    return text if plain == before else f"{plain}{ending if '?' not in ending else ''}"


def _with_names(text: str, house: House) -> str:
    """The text with misheard names corrected, where the resolver does not know what was heard."""
    named = correct_entity_names(text, _names(house))
    start = next((at for at, pair in enumerate(zip(text.split(), named.split(), strict=False)) if len({*pair}) > 1), 0)
    tail = 0
    while tail < len(text.split()) - start and text.split()[-1 - tail :] == named.split()[-1 - tail :]:
        tail += 1
    heard = " ".join(text.split()[start : len(text.split()) - tail])
    return text if named == text or resolved_targets("get_state", {"name": heard}, house) else named


def _names(house: House) -> tuple[str, ...]:
    named = [(thing.name, thing.aliases) for thing in (*house.entities, *house.places)]
    return tuple(dict.fromkeys(name for first, others in named for name in (first, *others)))


def _without_address(text: str, house: House) -> str:
    said = _ADDRESS.match(text)
    if said is None or not {said["name"].casefold()}.isdisjoint(_vocabulary(house)):
        return text
    name = said["name"].casefold()
    rest = text[said.end() :]
    is_name = name in _ASSISTANTS or (
        said["hey"] and name not in _NO_NAMES and not re.match(ACTIONS, name) and not _ASKS.match(rest)
    )
    return rest if is_name else text


def _without_remark(text: str, house: House) -> str:
    """A request without the remark before it, which may name a time or a thing that the request is not about."""
    said = _REMARK.match(text)
    if said is None or _REMARK_ASKS.search(said["remark"]) or _REFERS.search(said["request"]):
        return text
    return said["request"] if not _vocabulary(house).isdisjoint(normalized_words(said["request"])) else text


def _wish(text: str, house: House) -> str:
    """The command for a state that is complained about, or ""."""
    if (said := _DARK.match(text)) and find_place(house, said["place"]):
        return f"turn on the lights in the {said['place']}"
    if said := _TOO_DARK.match(text):
        return _light_up(said["place"], house)
    if _COFFEE.match(text):
        machines = [
            entity for entity in house.entities if entity.domain == "switch" and "coffee" in entity.name.casefold()
        ]
        return f"turn on the {machines[0].name}" if len(machines) == 1 else ""
    robots = any(entity.domain == "vacuum" for entity in house.entities)
    if robots and (said := _DIRTY.match(text) or _CRUMBS.match(text)):
        if not said["place"]:
            return "start the vacuum"
        return f"vacuum the {said['place']}" if find_place(house, said["place"]) else ""
    if robots and (said := _VACUUM.match(text)):
        name = next(filter(None, (said[group] for group in ("one", "two", "three", "four"))))
        if found("vacuum_start", house, name=re.sub(r"^(?:the|my|our) ", "", name)):
            return f"{said['polite'] or ''}start {name}"
    return ""


def _light_up(place: str | None, house: House) -> str:
    """The command for more light where no light is on; "" where one is on, which is made brighter."""
    area = find_place(house, place) if place else None
    if place and area is None:
        return ""
    lights = found("turn_on", house, area=place, domain="light") if place else house.entities
    if any(entity.domain == "light" and entity.state == "on" for entity in lights):
        return ""
    return f"turn on the lights in the {place}" if place else "turn on the lights"


def _vocabulary(house: House) -> frozenset[str]:
    return labels.vocabulary(house, labels.labels_of(house).values())


@dataclass(slots=True)
class _Note:
    """What was heard, and the text that replaces it."""

    heard: str = ""
    plain: str = ""


class PlainWording(Hook):
    """Replaces an utterance by plain words, and splits several commands. It runs before the other hooks."""

    name: ClassVar[str] = "plain_wording"
    priority: ClassVar[int] = 200

    def __init__(self, house: Callable[[], House], alarms: Alarms) -> None:
        self._house = house
        self._alarms = alarms

    async def on_run_start(self, run: Run) -> Calls | Parts | None:
        own_parts = run.turn_notes.setdefault(self.name, set[str]())
        note = run.notes[self.name] = _Note()
        try:
            house = self._house()
        except (HomeError, StateError):
            return None
        if is_taken_back(run.text):
            return Calls((tool_call("nevermind"),))
        plain = plain_wording(run.text, house)
        plain = with_own_time(plain, self._alarms.now(), self._alarms.sun_times)
        assert isinstance(own_parts, set)
        parts = () if run.text in own_parts else self._parts(plain, house)
        if len(parts) > 1:
            own_parts.update(parts)
            return Parts(tuple(parts))
        if plain != run.text:
            note.heard, note.plain = run.text, plain
            run.text = plain
        return None

    def _parts(self, text: str, house: House) -> Sequence[str]:
        if commands := as_commands(text, house):
            return commands
        parts = split_commands(text, house)
        # A time, a condition or an exception may concern all commands of a sentence.
        if len(parts) < 2 or self._clauses(text).excepted or any(map(self._is_time, parts)):
            return ()
        is_plain = self._clauses(text).is_plain or all(self._clauses(part).is_plain for part in parts)
        return parts if is_plain else ()

    def _is_time(self, text: str) -> bool:
        try:
            parse_time(text, self._alarms.now())
        except HomeError:
            return False
        return True

    def _clauses(self, text: str) -> Clauses:
        return parse_clauses(text, self._alarms.now(), self._alarms.sun_times)

    async def before_llm(self, run: Run, request: ChatRequest) -> ChatRequest | None:
        note = run.notes.get(self.name)
        if not isinstance(note, _Note) or not note.heard:
            return None
        messages = tuple(
            replace(message, content=note.plain)
            if message.role == "user" and message.content == note.heard
            else message
            for message in request.messages
        )
        return replace(request, messages=messages)

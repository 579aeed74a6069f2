"""Separates a command from the clauses that the tools have no slot for: exceptions, times, durations, conditions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from edgevox.home.alarms.sun import SunTimes
from edgevox.home.alarms.watches import Condition
from edgevox.home.clauses.conditions import ConditionalRequest, split_condition
from edgevox.home.clauses.imperative import as_imperative
from edgevox.home.clauses.relative import RelativeChange
from edgevox.home.clauses.times import split_length, split_time
from edgevox.home.grammar import ACTIONS, LEADS_WITH_ACTION, NUMBER, POLITE, pattern

_POLITE_START = pattern(rf"^{POLITE}")
_ENDS_IN_STATE = pattern(r" (?:on|off)$")
# "everything off in the kitchen", "lights out everywhere"
_NAMES_STATE = pattern(
    r"^(?!(?:i|we|you|they|let|may)\b)[\w' -]+? (?:on|off|out|open|closed|shut|up|down)"
    r"(?:,? (?:please|(?:in|on|at) (?:the |my |our )?[\w' -]+|upstairs|downstairs|everywhere|outside|inside))*$"
)
_ONLY_IF = pattern(rf"^{POLITE}only (?={ACTIONS}\b)")
_QUESTION = pattern(
    rf"^{POLITE}(?:is|are|was|were|did|does|do|has|have|what|which|who|where|when|why|how|tell me|remind|wake|"
    r"add|play|say|announce|broadcast)\b"
)
_ASKS_FOR = pattern(r"^(?:have|how about|what about) ")
# These have a time of their own, which the model writes into the call.
# An alarm that is armed, and that of a house, is no alarm that rings at a time.
_PANEL = "".join(f"(?<!{word} )" for word in ("arm the", "arm my", "arm our", "arm", "house", "burglar", "security"))
_TIMED_THINGS = pattern(rf"\b(?:timers?|{_PANEL}alarms?|remind|reminders?|wake (?:me|us)|lists?)\b")

# --- exceptions

# What follows "but not" may say how or when: "but not too bright", "but not before ten".
_NO_EXCEPTION = (
    r"(?!(?:too|so|very|that (?:much|far|bright|loud)|as|all the way|completely|fully|entirely|quite|yet|now|"
    r"today|tonight|before|until|till|after|if|when|for|off|on|to|"
    r"muted?|silent|dark|bright|loud|high|low|warm|hot|cold|open|closed|shut|locked)\b)"
)
_EXCEPT_WORDS = (
    r"(?:except(?: for)?,?|excepting|apart from|aside from|other than|excluding|besides|barring|"
    r"save(?: for|(?= (?:the|my|our)\b))|"
    rf"with the exception of|(?:but|just|only)(?: please)? not(?= ){_NO_EXCEPTION.replace('(?!', '(?! ')})"
)
_KEPT = r"(?:on|off|open|closed|shut|locked|running|playing|alone|be|as (?:it is|they are|is))"
_STAYS = (
    r"(?:(?:can|may|shall|will|should|must|has to|have to|needs to|is to|are to) )?"
    r"(?:stays?|remains?|is staying|are staying)"
    rf"(?: {_KEPT}| (?:up|down|lit|burning))?"
)
_REST = (
    r"(?:(?:all )?the (?:rest|others|other ones?|other(?! \w+s\b))|everything else|"
    r"(?:all )?(?:the )?other (?P<kind>\w+)|all others)"
)
_ALL_OF = r"(?=.*\b(?:all|every\w*|lights|blinds|whole)\b)"
_EXCEPTIONS = (
    pattern(rf"^(?:leave|keep) (?P<kept>.+?) {_KEPT}(?: and|,| but)+ {_REST} (?P<state>on|off)$"),
    pattern(rf"^{_EXCEPT_WORDS} (?P<kept>[^,]+), (?P<command>.+)$"),
    pattern(
        rf"^{_ALL_OF}(?P<command>.+?),? (?P<kept>(?:the |my )?[\w']+(?: [\w']+)?) (?:excepted|excluded|exempt|aside)$"
    ),
    pattern(
        rf"^{_ALL_OF}(?P<command>.+?)(?:,|,? (?:and|but))? (?:just |only )(?:leave|keep) (?P<kept>(?:the|my) [^,]+)$"
    ),
    pattern(
        rf"^{_ALL_OF}(?P<command>.+?)(?:,|,? (?:but|and)) (?:leave|keep|spare) "
        rf"(?P<kept>(?:the|my|our) (?!.* {_KEPT}$)[^,]+)$"
    ),
    pattern(rf"^{_ALL_OF}(?P<command>[^,.]+?[,.]) not {_NO_EXCEPTION}(?P<kept>(?:in )?[^,]+)$"),
    pattern(rf"^{_ALL_OF}(?P<command>.+?),? (?:minus|without|bar|sans) (?P<kept>[^,]+)$"),
    pattern(rf"^(?:leave|keep) (?P<kept>.+?) {_KEPT}(?: and|,| but)+ (?P<verb>.+?) {_REST}(?P<after> .+)?$"),
    pattern(rf"^(?P<verb>.+?) {_REST}(?P<after> off| on)?,? (?:and|but) (?:leave|keep) (?P<kept>.+?) {_KEPT}$"),
    pattern(rf"^(?P<command>.+?)(?:,|,? (?:and|but)) (?:leave|keep) (?P<kept>(?!(?:it|them) ).+?) {_KEPT}$"),
    pattern(rf"^{_EXCEPT_WORDS} (?P<kept>.+?)(?:,| )(?={POLITE}{ACTIONS}\b)(?P<command>.+)$"),
    pattern(rf"^(?P<command>.+?),? {_EXCEPT_WORDS} (?P<kept>.+)$"),
    pattern(rf"^(?P<command>.+?)(?:,|,? (?:and|but|only|just))+ (?P<kept>(?:the|my|our) [^,]+?) {_STAYS}$"),
    pattern(rf"^(?P<command>.*\b(?:all|every\w*)\b.*?),? (?:but|bar) {_NO_EXCEPTION}(?P<kept>.+)$"),
    pattern(rf"^{_ALL_OF}(?P<command>[^,.]+?) not {_NO_EXCEPTION}(?P<kept>(?:in )?(?:the|my|our) [^,]+)$"),
)
_OTHERS = pattern(rf"\b{_REST.replace('(?P<kind>', '(?:').replace('w+', 'w+s')}(?=$| )")
# Replaced by the kind of what is excepted: "turn off the rest" after a light means the lights.
REST_OF = "\N{HORIZONTAL ELLIPSIS}"
SECOND_ACTION = pattern(rf"\b(?:and|then) {ACTIONS}\b")
_FILLER_OF_KEPT = pattern(r"\b(?:the ones?|those|ones|please|that|in|at|of)\b")
_THE_ONE = pattern(r"^((?:the|my|our) .+) one$")  # "the kitchen one", but not the device "blinds one"

# --- conditions

_CONDITION_WORDS = r"(?:when(?:ever)?|once|as soon as|unless|until|if|before|after)"
_NO_CONDITION = (
    r"(?:you|that|more|possible|necessary|needed|please|it\W?i?s(?: not|n't| no| okay| ok| all ?right| too))"
)
_CONDITION = pattern(rf"\b(?<!at ){_CONDITION_WORDS}\b(?! {_NO_CONDITION}\b)")
_CONDITION_LEADS = pattern(
    rf"^(?:only )?{_CONDITION_WORDS} (?!{_NO_CONDITION}\b|(?:is|are|was|were|did|do|does|will|has|have|can|should)\b)"
    rf".+?[, ](?:then |please )*{ACTIONS}\b"
)
# Conditions and spans of time that are not read, after a command of any form.
_UNREAD = pattern(
    rf"{_CONDITION.pattern}|\b(?:(?:for )?as long as|not before|no earlier than|while|during|by the time)\b|"
    rf"\bbetween {NUMBER} and {NUMBER}\b|\bfrom {NUMBER} (?:till|until)\b"
)
_TWO_TIMES = pattern(rf"\b(?:in|at) (?:an? |half )?(?:{NUMBER}|hour)\b.* and\b|\band (?:then )?(?:back )?(?:on|off)$")
_NO_CONDITIONS = "I cannot act on a condition, so I left everything as it is."
_WHICH_STAY = "Which ones should stay as they are? Say it with except, please."
_ONE_AT_A_TIME = "Please tell me that in two sentences, so that I get it right."

_FILLER = pattern(r"(?:(?<=[,.;] )|^)(?:oh|uh|um|er|erm|ah|hm+|well|actually|wait)\b[,.]? ")
_ENDS = pattern(r"(?:[, ]+(?:please|thanks|thank you|cheers|would you|will you|mate|though))+$")
# What a duration says already: "off for ten minutes and then back on".
_AND_BACK = pattern(
    r"(?P<length>\bfor .+?\b(?:seconds?|minutes?|hours?|mins?|secs?)),?(?: and)?(?: then| after that| afterwards)?"
    r"(?: (?:turn|switch|put|bring) (?:it|them))?(?: back| again)* (?:on|off|open|closed)(?: again)?$"
)
# "…, I'm on the phone" gives a reason.
_REMARK_ENDS = pattern(r"(?:,|,? because|,? since|,? cause) (?:i|we|he|she|they|it|there|my|our|that)(?:'\w+)? [^,]+$")
_ASKS_MORE = pattern(rf"\b(?:{ACTIONS}|stays?|remains?|only|not|don'?t|except|if|when|unless)\b|\b(?:on|off)$")
_LONGER = (
    (pattern(r"\bfor (?:just |only |about )*(?:another|the next|the coming) (?=hour|minute|second|day)"), "for a "),
    (
        pattern(r"\bfor (?:(?:another|just|only|about|around|roughly|maybe|say|a good|the next|up to|at most) )+"),
        "for ",
    ),
)
_ONLY_FOR = pattern(r",?(?: but)?(?: only| just) (?=for \w)")

MAX_COMMAND_CHARS = 200


@dataclass(frozen=True, slots=True)
class Clauses:
    """A command without its clauses: to run in `in_s` or at the times of `schedule`, and to undo after `for_s`.

    `when` and `length` are these times in words. `request` is what a condition was said for, and `condition` what it
    was resolved to. `problem` says why the command must not be run, and `answer` what was said about it.
    """

    command: str
    excepted: str = ""
    in_s: int | None = None
    schedule: str = ""
    when: str = ""
    for_s: int | None = None
    length: str = ""
    back: str = ""
    problem: str = ""
    relative: RelativeChange | None = None
    request: ConditionalRequest | None = None
    condition: Condition | None = None
    is_scheduled: bool = False
    asks_then: bool = False
    answer: str = ""

    @property
    def is_plain(self) -> bool:
        is_later = self.in_s or self.schedule or self.for_s or self.request
        return not (self.excepted or self.problem or self.relative or is_later)

    @property
    def later(self) -> str:
        """The command to run later, with its other clauses."""
        command = _POLITE_START.sub("", self.command)
        command = command[:1].lower() + command[1:]
        return " ".join(filter(None, (command, self.length, self.excepted and f"except {self.excepted}")))


def parse_clauses(text: str, now: datetime, sun_times: SunTimes | None = None) -> Clauses:
    """Separate a command from its clauses; a text that is no command is returned as it is."""
    words = " ".join(text.split()).strip(" .!?")
    if len(words) > MAX_COMMAND_CHARS:
        return Clauses(text)
    words = _ENDS.sub("", _FILLER.sub("", words))
    if (remark := _REMARK_ENDS.search(words)) and not _ASKS_MORE.search(remark[0]):
        words = words[: remark.start()]
    request = split_condition(words)
    if request and not _TIMED_THINGS.search(f"{request.condition} {request.command}"):
        return _conditional(text, request, now, sun_times)
    if request and request.command:  # "when my alarm goes off, open the curtains"
        return Clauses(text, problem=_NO_CONDITIONS)
    if _TIMED_THINGS.search(words):
        return Clauses(text)
    for form, plain in _LONGER:
        words = form.sub(plain, words)
    words = _ONLY_FOR.sub(" ", _AND_BACK.sub(r"\g<length>", words))
    time = split_time(words, now, sun_times or SunTimes())
    is_time = time.in_s is not None or bool(time.schedule)  # "after ten minutes turn off …"
    if _CONDITION_LEADS.match(words) and not is_time:
        return Clauses(text, problem=_NO_CONDITIONS)
    is_asked = _ASKS_FOR.match(words) and time.command != words and as_imperative(time.command)
    if _QUESTION.match(words) and not is_asked:
        return Clauses(text)
    clauses, sun_times = Clauses(words), sun_times or SunTimes()
    for step in (_without_length, _without_time, _without_exception, _without_length, _without_time):
        if not clauses.problem:
            clauses = step(clauses, now, sun_times)
    if clauses.is_plain and (unread := _UNREAD.search(words)) and as_imperative(words[: unread.start()]):
        return Clauses(text, problem=_NO_CONDITIONS)  # "tv off once the news is over"
    if (clauses.in_s is not None or clauses.schedule) and _TWO_TIMES.search(clauses.command):
        return Clauses(text, problem=_ONE_AT_A_TIME)
    if not (
        LEADS_WITH_ACTION.match(clauses.command)
        or _ENDS_IN_STATE.search(clauses.command)
        or (clauses.excepted and _NAMES_STATE.match(clauses.command))
        or _ONLY_IF.match(clauses.command)
        or (clauses.problem and as_imperative(clauses.command))
    ):
        return Clauses(text)
    if not clauses.problem and _CONDITION.search(clauses.command):
        clauses = replace(clauses, problem=_NO_CONDITIONS)
    if not clauses.problem and not clauses.excepted and _OTHERS.search(clauses.command):
        clauses = replace(clauses, problem=_WHICH_STAY)
    return replace(clauses, command=text) if clauses.is_plain or clauses.problem else clauses


def _conditional(text: str, request: ConditionalRequest, now: datetime, sun_times: SunTimes | None) -> Clauses:
    """The clauses of a command that has a condition, or of a request for a notice or reminder."""
    if not request.command:
        return Clauses(text, request=request)
    clauses = parse_clauses(request.command, now, sun_times)
    if clauses.in_s is not None or clauses.schedule or clauses.request:
        return Clauses(text, problem=_ONE_AT_A_TIME)
    return replace(clauses, request=request)


def _without_exception(clauses: Clauses, _now: datetime, _sun_times: SunTimes) -> Clauses:
    for form in _EXCEPTIONS:
        if not (found := form.match(clauses.command)):
            continue
        parts = found.groupdict()
        if SECOND_ACTION.search(parts["kept"]):
            return replace(clauses, problem=_ONE_AT_A_TIME)
        kept = " ".join(_FILLER_OF_KEPT.sub(" ", parts["kept"]).strip(" ,").split())
        kept = _THE_ONE.sub(r"\1", kept)
        verb, after = (f"turn {parts['state']}", "") if "state" in parts else (parts.get("verb"), parts.get("after"))
        command = (parts.get("command") or "").strip(" ,.") or (
            f"{verb} all the {parts.get('kind') or REST_OF}{after or ''}"
        )
        if not LEADS_WITH_ACTION.match(command) and (state := _ENDS_IN_STATE.search(kept)):  # "all except the tv off"
            kept, command = kept[: state.start()], f"{command}{state[0]}"
        return replace(clauses, command=as_imperative(command) or command, excepted=kept)
    return clauses


def _without_time(clauses: Clauses, now: datetime, sun_times: SunTimes) -> Clauses:
    if clauses.in_s is not None or clauses.schedule:
        return clauses
    found = split_time(clauses.command, now, sun_times)
    return replace(
        clauses, command=found.command, in_s=found.in_s, schedule=found.schedule, when=found.when, problem=found.problem
    )


def _without_length(clauses: Clauses, now: datetime, sun_times: SunTimes) -> Clauses:
    found = split_length(clauses.command, now, sun_times) if clauses.for_s is None else None
    return replace(clauses, command=found[0], for_s=found[1], length=found[2]) if found else clauses

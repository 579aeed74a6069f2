"""Recognises sentences that refer to what was said or done before.

Only whole sentences of a known form are recognised; everything else is left to the model.
"""

from __future__ import annotations

import re
from typing import get_args

from edgevox.core.words import NUMBER_WORDS, number_value, past_tense
from edgevox.home.grammar import POLITE, pattern
from edgevox.home.references.calls import read_value
from edgevox.home.references.forms import (
    NO_TARGET,
    TAIL,
    Also,
    AskAction,
    AskPast,
    Correct,
    Form,
    Keep,
    More,
    Other,
    PastQuestion,
    Pronoun,
    Refrain,
    Repeat,
    SetValue,
    Substitute,
    Switch,
    Toggle,
    Undo,
    Verb,
    one_sentence,
)
from edgevox.home.references.free_wording import read_freely

_MAX_CHARS = 120
_THING = r"(?:(?:that|this|the same)(?: one| thing)?|it)"
_THINGS = r"(?:them(?: all| both)?|(?:those|these)(?: ones| two| things)?|both(?: of them)?|all of them|they)"
_IT = rf"(?:(?P<one>{_THING})|(?P<many>{_THINGS}))"
_BOTH = pattern(r"\b(?:both|all|two)\b")
_STEM = (
    r"(?:(?:actually|no|nope|oh|wait|oops|sorry|well|hmm|hold on|never ?mind|on second thoughts?|thanks|thank you|"
    r"great|good|too \w+)[, ]+)*"
)
_LEAD = rf"^{_STEM}{POLITE}"
_AGAIN = r"(?: again| back| too| as well)*"


def _whole(form: str) -> re.Pattern[str]:
    return pattern(f"{_LEAD}(?:{form}){TAIL}")


# --- undo

_ALL_OF_IT = rf"(?:{_THING}|{_THINGS}|everything|things|all of it|all that)"
_WAS = r"(?:it|they|that|this|things|everything) (?:was|were|had been|used to be)(?: before)?"
_AS_IT_WAS = (
    rf"(?:(?:the way|as|how|like|to (?:how|what|the way|where)) {_WAS}|to (?:normal|before|"
    r"(?:its|the|their) (?:old|previous|original|former) \w+))"
)
_UNDO = (
    _whole(rf"undo(?: {_ALL_OF_IT}| (?:the|that|your) last \w+| what you (?:just )?did| the last thing you did)?"),
    _whole(rf"(?:put|set|change|turn|switch|take|move) {_ALL_OF_IT} back(?: {_AS_IT_WAS})?(?: again)?"),
    _whole(rf"bring {_ALL_OF_IT} back {_AS_IT_WAS}"),
    _whole(rf"(?:put|leave|make|set|change|return|restore) {_ALL_OF_IT} (?:back )?{_AS_IT_WAS}(?: again)?"),
    _whole(rf"(?:revert|reverse)(?: {_ALL_OF_IT}| the last \w+)"),
    _whole(rf"(?:go|change) back {_AS_IT_WAS}"),
)

# --- questions about the past

_JUST = r"(?: just now| last| before| a (?:moment|second|minute) ago| just)?"
_PAST: tuple[tuple[re.Pattern[str], PastQuestion], ...] = (
    (
        _whole(
            r"what (?:did|have) i (?:just |last )?(?:ask(?:ed)?|tell|told|sa(?:y|id)|request(?:ed)?|want(?:ed)?)"
            rf"(?: you| of you)?(?: to do| for)?{_JUST}"
        ),
        "asked",
    ),
    (
        _whole(
            r"what was (?:my last|the last) (?:question|command|request|order|thing i "
            r"(?:said|asked|told|wanted)(?: you)?(?: to do| for)?)"
        ),
        "asked",
    ),
    (
        _whole(
            r"what (?:have|did) you (?:do|done|did|been doing|been up to) (?:so far )?"
            r"(?:today|this (?:morning|afternoon|evening)|so far|all day)(?: so far)?"
        ),
        "today",
    ),
    (_whole(rf"what (?:did|have) you (?:just |last )?(?:do|did|done){_JUST}"), "done"),
    (
        _whole(
            r"what (?:was|is) (?:the last thing|your last action|the last action)"
            rf"(?: (?:that )?you(?: have|'ve)?(?: just)? (?:did|done))?{_JUST}"
        ),
        "done",
    ),
    (_whole(r"(?:tell me )?the last thing (?:that )?you(?: have|'ve)? (?:did|done)"), "done"),
    (
        _whole(
            r"(?:say|repeat) (?:that|it|this)(?: again| once more| one more time)?|say again|come again|"
            rf"(?:i beg your )?pardon(?: me)?|what (?:did|have) you (?:just )?sa(?:y|id){_JUST}|"
            r"what was that(?: again)?|(?:i )?(?:didn't|did not) (?:catch|hear|get) (?:that|it|you)"
        ),
        "said",
    ),
    (_whole(r"did (?:that|it) work|did you (?:really )?do (?:it|that)"), "done"),
)

_ASK_ACTION = (
    _whole(
        r"(?:which|what)(?: (?:one|ones|light|lamp|thing|device|door|blind)s?)? (?:did|have) you (?:just |last )?"
        rf"(?P<verb>turn|switch|open|close|shut|lock|unlock|pause|mute|dim)(?:ed)?(?P<state> on| off)?{_JUST}"
    ),
    _whole(
        r"what (?:did|have) (?:i|you|we) (?:just |last )?(?P<verb>add|put|write|remove|take)(?:ed)?(?: down)?"
        rf"(?: (?:on|to|onto|from|off) (?:it|there|(?:the|my|our) (?:[\w-]+ )?list))?{_JUST}"
    ),
)
# The verb that the answer uses for another one.
_SAME_VERBS = {"switch": "turn", "shut": "close", "put": "add", "write": "add", "take": "remove", "dim": "set"}

# --- again

_REPEAT = _whole(
    r"(?:(?:(?:do|try) )?(?:that|it|this|the same(?: thing)?|same)(?: thing)? )?"
    r"(?:again|once more|one more time|once again)"
)
_TRY = _whole(r"try (?:that |it )?again")
_A_BIT = r"(?:(?:just )?(?:a (?:little |tiny )?bit|a little|a touch|a tad|slightly|even|some|still|much|a lot) )?"
_COUNT = rf"(?P<count>\d{{1,2}}|{'|'.join(NUMBER_WORDS[1:21])})"
_MORE = (
    _whole(rf"{_A_BIT}(?:more|further)|keep going|more of that"),
    _whole(rf"(?:just )?(?:another )?{_COUNT}(?: (?:degrees?|percent|notch(?:es)?))?(?: more| further)"),
    _whole(rf"another(?: {_COUNT})?(?: (?:one|degrees?|percent|notch))?"),
)
_LESS = _whole(
    rf"{_A_BIT}less|(?:(?:that's|that is|that was) )?(?:a bit |a little |way |far )?too (?:much|far)|back a bit"
)

# --- pronouns

_SWITCHES = (
    _whole(rf"(?:turn|switch|put|flip|power) {_IT} (?:right )?(?:back )?(?P<verb>on|off){_AGAIN}"),
    _whole(rf"(?:turn|switch|power) (?:back )?(?P<verb>on|off) {_IT}{_AGAIN}"),
    _whole(rf"(?P<verb>open|close|shut|lock|unlock|mute|unmute|pause|resume|unpause|toggle) {_IT}(?: up)?{_AGAIN}"),
    _whole(rf"(?P<verb>send) {_IT} (?:back )?(?:home|to (?:its|the) (?:base|dock|station))"),
    pattern(rf"^(?:{_STEM}(?:and|then|now|okay|ok|please|just)?[, ]*)*(?:back )?(?P<verb>on|off)(?: again)?{TAIL}"),
)
_VERBS: dict[str, Verb] = {
    "shut": "close", "closed": "close", "unpause": "resume", "send": "dock", "locked": "lock", "unlocked": "unlock",
    "muted": "mute", "paused": "pause", "playing": "resume", "running": "on",
}  # fmt: skip

_NUMBER = r"(?:\d{1,3}(?:\.\d)?|[a-z]+(?:[- ][a-z]+)?)"
_VALUE = rf"(?P<value>(?:{_NUMBER}) ?(?:%|percent|degrees?)|half(?:[ -]?way)?(?: open)?|[a-z]+(?: [a-z]+)?|\d{{1,3}})"
_VALUES = (
    _whole(rf"(?:set|put|turn|dim|make|change|bring|run|switch) {_IT} (?:up |down |back )?(?:to |at )?{_VALUE}"),
    _whole(rf"open {_IT} (?:to )?(?P<value>half(?:[ -]?way)?|{_NUMBER} ?(?:%|percent))"),
)
_KEPT = r"(?P<verb>on|off|open|closed|shut|locked|unlocked|muted|paused|playing|running)"
_KEEP = (
    _whole(rf"(?:keep|leave|let) {_IT} (?:turned |switched )?{_KEPT}(?: for now| a bit longer| a little longer)?"),
    _whole(rf"(?:keep|leave|let) {_IT}(?: (?:alone|be|like (?:that|this)|that way|as (?:it|they|is)(?: is| are)?))?"),
)
_REFRAIN = (
    _whole(
        rf"(?:don't|do not|dont|never|you (?:shouldn't|mustn't)) (?:ever )?(?:turn|switch|put|power) (?:{_IT} "
        rf"(?:back )?(?P<verb>on|off)|(?P<first>on|off) (?:it|that|them))(?: yet| (?P<again>again|any ?more|ever))*"
    ),
    _whole(
        r"(?:don't|do not|dont|never) (?:ever )?(?P<verb>open|close|shut|lock|unlock|mute|unmute|pause|resume|toggle) "
        rf"{_IT}(?: yet| (?P<again>again|any ?more|ever))*"
    ),
    _whole(rf"(?:don't|do not|dont|never) (?:do|touch|change) {_IT}(?: yet| (?P<again>again|any ?more|ever))*"),
    pattern(rf"^(?:(?:no|wait|stop|oh)[, ]+)+(?:please[, ]+)?(?:don't|do not){TAIL}"),
)
_TAILS = (
    r"(?: (?:on|off|up|down|home))?(?: again| back)?(?: (?:by |a (?:little |tiny )?(?:bit|little)|much|to |at |in |"
    r"for |after |until |tomorrow|tonight).*)?"
)
_COMPARED = r"(?: (?:a (?:little |tiny )?(?:bit|little|touch|tad)|much|slightly|a lot|\w+ (?:percent|degrees?)))? ?"
_SUBSTITUTES = (
    pattern(
        rf"^{_STEM}(?P<before>{POLITE}(?:turn|switch|dim|brighten|lower|raise|open|close|shut|lock|start|stop|pause|"
        rf"set|make|run|bring)) {_IT}(?P<after>{_COMPARED}(?:brighter|dimmer|darker|faster|slower|louder|quieter|"
        rf"warmer|cooler|hotter|colder)(?: again)?|(?! *$){_TAILS})[ .!]*$"
    ),
    pattern(rf"^{_STEM}(?P<before>{POLITE}(?:dim|brighten|lower|raise)) {_IT}(?P<after>)[ .!]*$"),
    pattern(
        rf"^(?P<before>(?:is|are|was|were)) {_IT}(?P<after> (?:still |already |really |now )?(?:on|off|open|closed|"
        r"locked|unlocked|shut|playing|paused|running|muted|armed|cleaning)(?: now| already| again)?)[ ?.]*$"
    ),
)

_BARE = pattern(
    rf"^{_STEM}{POLITE}(?P<after>{_COMPARED.replace('(?: (?:', '(?:(?:', 1)}(?:brighter|dimmer|darker|faster|slower|"
    rf"louder|quieter|warmer|cooler|hotter|colder)(?: still)?){TAIL}"
)

_IN_COMMAND = pattern(
    rf"^{POLITE}(?:turn|switch|put|set|dim|brighten|open|close|shut|lock|unlock|mute|unmute|pause|resume|start|stop|make|"
    rf"send|toggle)(?: on| off)? (?P<it>{_THING}|{_THINGS})\b"
)

# --- other targets

_NEW = r"(?P<target>(?:(?:in|for|with|at|on|to) )?(?:all )?(?:the |my |our )?[\w' -]+?)"
_ALSO = (
    _whole(
        r"(?:and )?(?:do )?(?:that|it|this|the same(?: thing)?|same(?: thing)?)(?: too| also)? "
        r"(?P<target>(?:in|for|with|at|on|to) (?:all )?(?:the |my |our )?[\w' -]+?)(?: too| as well| also| please)*"
    ),
    pattern(rf"^(?:and |also |then |now )*{_NEW}(?:,? (?:too|as well|also))+{TAIL}"),
    pattern(rf"^(?:and )?also {_NEW}{TAIL}"),
    pattern(
        rf"^and (?:now |then |also )?(?P<target>(?:(?:in|for|with|at|on) )?(?:all )?(?:the |my |our )[\w' -]+?){TAIL}"
    ),
)
_OTHER = (
    pattern(rf"^(?:and |now |then |also )*(?:the )?other (?:one|light|lamp)(?:,? (?:too|as well|also))*{TAIL}"),
    _whole(rf"(?:turn|switch) the other (?:one|light|lamp) (?:back )?(?P<verb>on|off){_AGAIN}"),
    _whole(rf"(?:turn|switch) (?:back )?(?P<verb>on|off) the other (?:one|light|lamp){_AGAIN}"),
    _whole(rf"(?P<verb>open|close|lock|unlock) the other one{_AGAIN}"),
)

# --- corrections

_MEANT = r"i (?:meant|mean|said|wanted|was talking about)"
_WRONG = (
    r"(?:(?:that's |that is |that was )?(?:the )?wrong"
    r"(?: (?:one|lights?|lamps?|room|fan|door|blinds?|curtains?|switch|speaker|list|device|thing))?)"
)
_A_TARGET = r"(?P<right>(?:(?:in|to) )?(?:all )?(?:the |my |our )?[\w%'. -]+?)"
_CORRECT = (
    pattern(
        r"^(?:no[, ]+)?(?:not (?:that|this|those|these)(?: ones?)?|"
        rf"{_WRONG}){TAIL}"
    ),
    pattern(
        rf"^(?:(?:no|nope|oops|sorry|wait|{_WRONG}|not (?:that|this|it)(?: one)?)[, ]+)+"
        rf"{_MEANT} {_A_TARGET}{TAIL}"
    ),
    pattern(rf"^{_MEANT} {_A_TARGET}(?:,? not .+)?{TAIL}"),
    pattern(rf"^(?:no[, ]+)?not (?:the |my |our )?[\w' -]+?, (?:but )?{_A_TARGET}(?: instead)?{TAIL}"),
    pattern(rf"^(?:no[, ]+)?(?P<right>the [\w' -]+?), not (?:the |my |our )?[\w' -]+?{TAIL}"),
    # "No lights" is another command.
    pattern(
        rf"^(?:no|nope|oops|{_WRONG}|not (?:that|this|those|these)(?: ones?)?)(?:,[, ]*| (?=the |my |our |in ))"
        rf"{_A_TARGET}(?: instead)?{TAIL}"
    ),
    pattern(rf"^(?P<right>the [\w' -]+?) instead{TAIL}"),
)
_TOGGLE = _whole(r"toggle (?P<target>(?:all )?(?:the |my |our )?[\w' -]+?)")


def parse_form(text: str) -> Form | None:
    """The form of a sentence that refers to an earlier one, or None."""
    words = one_sentence(text)
    if not words or len(words) > _MAX_CHARS:
        return None
    if any(form.match(words) for form in _UNDO):
        return Undo()
    for form, about in _PAST:
        if form.match(words):
            return AskPast(about)
    for form in _ASK_ACTION:
        if found := form.match(words):
            return AskAction(_past_verb(found))
    if _REPEAT.match(words) or _TRY.match(words):
        return Repeat()
    if any(form.match(clause.strip()) for form in _UNDO for clause in words.split(",")[1:]):
        return Undo()  # "I did not mean that, reverse it"
    return _more(words) or _other(words) or _kept(words) or _pronoun(words) or _target(words) or read_freely(words)


def _past_verb(found: re.Match[str]) -> str:
    verb, state = found["verb"].casefold(), found.groupdict().get("state") or ""
    return f"{past_tense(_SAME_VERBS.get(verb, verb))}{state.casefold()}"


def _more(words: str) -> More | None:
    if _LESS.match(words):
        return More(is_less=True)
    for form in _MORE:
        if found := form.match(words):
            return More(number_value(found.groupdict().get("count") or "") or None)
    return None


def _kept(words: str) -> Keep | Refrain | None:
    for form in _KEEP:
        if found := form.match(words):
            return Keep(_verb(found.groupdict().get("verb")), _pronoun_of(found))
    for form in _REFRAIN:
        if found := form.match(words):
            said = found.groupdict()
            return Refrain(_verb(said.get("verb") or said.get("first")), _pronoun_of(found), bool(said.get("again")))
    return None


def _other(words: str) -> Other | None:
    for form in _OTHER:
        if found := form.match(words):
            return Other(_verb(found.groupdict().get("verb")))
    return None


def _pronoun(words: str) -> Switch | SetValue | Substitute | None:
    for form in _SWITCHES:
        if (found := form.match(words)) and (verb := _verb(found["verb"])):
            return Switch(verb, _pronoun_of(found))
    for form in _VALUES:
        if (found := form.match(words)) and read_value(found["value"]) is not None:
            return SetValue(found["value"], _pronoun_of(found))
    for form in _SUBSTITUTES:
        if found := form.match(words):
            return Substitute(found["before"], found["after"], _pronoun_of(found))
    if found := _BARE.match(words):
        return Substitute("make", f" {found['after'].strip()}", "it", is_bare=True)
    return None


def _target(words: str) -> Also | Correct | Toggle | None:
    if found := _TOGGLE.match(words):
        return Toggle(found["target"])
    for form in _CORRECT:
        if found := form.match(words):
            right = found.groupdict().get("right") or ""
            return None if NO_TARGET.search(right) else Correct(right)
    for form in _ALSO:
        if (found := form.match(words)) and not NO_TARGET.search(found["target"]):
            return Also(found["target"])
    return None


_RELATIVE = pattern(
    r"\b(?:brighter|dimmer|darker|faster|slower|louder|quieter|warmer|cooler|hotter|colder|higher|lower|up|down|raise|"
    r"increase|decrease|reduce|brighten|dim|a bit|a little|slightly|by|more|less|again|further)\b"
)
_ABSOLUTE = pattern(r"\b(?:to|at)\b")


def is_relative(text: str) -> bool:
    """Whether a command changes a value by a step, so that "again" is another step."""
    return _RELATIVE.search(text) is not None and not _ABSOLUTE.search(text)


def with_name(command: str, name: str) -> str:
    """A command of a later turn with a name in place of its pronoun: "turn it off" is "turn the lamp off"."""
    found = _IN_COMMAND.match(command)
    return f"{command[: found.start('it')]}{name}{command[found.end('it') :]}" if found else command


def _verb(said: str | None) -> Verb | None:
    if said is None:
        return None
    plain = said.casefold()
    return _VERBS.get(plain) or next((verb for verb in get_args(Verb) if verb == plain), None)


def _pronoun_of(found: re.Match[str]) -> Pronoun:
    many = found.groupdict().get("many")
    if not many:
        return "it"
    return "both" if _BOTH.search(many) else "them"

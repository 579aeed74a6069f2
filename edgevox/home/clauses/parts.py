"""Reads several commands in one breath, and corrections in the middle of a sentence.

"Set a timer for eight minutes, oh and lock the door" has two parts; "the kitchen, no wait, the bathroom light" has one.
Both take a sentence only if each side is certain; the model reads all others as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from edgevox.core.words import WEEKDAYS, normalized_words, word_set
from edgevox.home.colours import find_colour
from edgevox.home.entities import HomeError, House
from edgevox.home.grammar import ACTIONS, LEADS_WITH_ACTION, NUMBER, POLITE, pattern
from edgevox.home.resolve import labels

_MAX_PARTS = 4

# --- several commands

_VERB = (
    rf"(?:{ACTIONS}|play|add|remind (?:me|us) (?:to|at|in|that|about|tomorrow)|wake (?:me|us)|cancel|skip|"
    rf"increase|decrease|crank|send|get|give|stick|"
    r"throw|read|show|tell me|turn)\b"
)
_LEADS = pattern(rf"^{POLITE}{_VERB}")
_QUESTION = pattern(r"^(?:what|what's|how|is|are|when|when's|do i|did i|have i|will it|which)\b")
_NEED = pattern(
    r"^(?:we need|(?:we|i)(?:'re| are|'m| am|'ve| have) (?:all |almost |nearly |run |running |fresh )*(?:out of|low on|"
    r"short of|short on))\b"
)
# A command without a verb: "hall light off", "the heating to nineteen".
_STATE_WORD = (
    r"(?:on|off|open|closed|shut|up|down|out|locked|unlocked|"
    rf"(?:to|at) {NUMBER}(?: ?(?:%|percent|degrees?)(?!\w))?)"
)
_NO_NAME = (
    r"(?!(?:in|on|off|up|down|out|at|for|with|by|to|and|please|now|of|from|when|if|until|is|are|was|were|it|"
    r"that|i|we|you|"
    r"they|he|she|has|have|had|what|not|went|goes|comes|go|come|get|gets|been|be|just|again|thanks|oh|then)\b)"
)
_STATE = pattern(rf"^(?:(?:all|the|my|our) )*{_NO_NAME}[\w'-]+(?: {_NO_NAME}[\w'-]+){{0,3}} {_STATE_WORD}(?=$|[ ,.;])")
_AFTER_STATE = pattern(rf"\b(?!on (?:the|my|our)\b){_STATE_WORD} (?={_NO_NAME}[a-z])")
_THING = pattern(
    r"\b(?:timers?|alarms?|remind|reminders?|wake|lists?|volume|music|songs?|tracks?|weather|forecast|time|date|"
    r"vacuum\w*|everything|temperature|heating|skip|next)\b"
)
_JOINT = (
    r"(?:,|;|\.)?(?: (?:and|then|also|plus|but(?! (?:leave|keep|spare|only|just|not|don'?t)\b)|oh|uh|um|yeah|"
    r"while you're at it))+,? |[.;!] |, "
)
_KEEPS = pattern(rf"^{POLITE}(?:leave|keep|spare)\b")
_JOINTS = pattern(_JOINT)
_STRONG = pattern(r"\b(?:oh|also|plus)\b|[.;!]")
# What follows these verbs may contain any words, and what follows a timer may be its command.
_DICTATES = pattern(
    rf"^{POLITE}(?:remind|tell (?!me)|say|announce|broadcast|note|write|call|text|message|play|search)\b"
)
_TIMER = pattern(r"\btimer\b|^in \w+|\b(?:when|if|once|unless|until|after|before)\b")
_PRONOUN = pattern(r"\b(?:it|them|they|those|these|that|one|ones|there|same)\b")
_VOLUME = pattern(r"^(?:then )?(?:turn|crank|bring) it (?:up|down)\b|^(?:a bit |a little )?(?:louder|quieter)\b")
_PLAYS = pattern(r"\b(?:skip|next|play|song|track|music|tv|television|radio|stereo|speakers?)\b")
_SHORT = pattern(
    r"^(?:and |then )?(?:a bit |a little )?(?:louder|quieter|softer|brighter|dimmer|warmer|cooler)(?: please)?$"
)
# A verb that begins a command without a conjunction before it: "pause the film the bell rang put the hall light on".
_IMPERATIVE = pattern(
    r"(?<= )(?:turn|switch|put|set|lock|unlock|close|shut|open|start|add|remind me|wake me|pause|mute|dim|play)"
    r" (?=(?:on|off|the|my|our|all|an?|some|me|up)\b|to\b|at\b)"
)
_NOT_BEFORE = word_set(
    "to and or not don't never please can could you will would i we they the a an my our your of for that which who it "
    "when if then just also with in at by from until go help let me he she should must may might than as like only"
)
_GERUND = pattern(rf"^{POLITE}(?:start|stop|keep) \w+ing\b")
_LIST = pattern(r"\blists?\b|\bgroceries\b")
_CLEANS = pattern(r"\b(?:vacuum\w*|robot|roomba|hoover\w*|clean\w*|mow\w*)\b")
_PARTICLE = pattern(r"\b(?:on|off|up|down|out|back|away|to|at|for|timer|alarm|reminder|blue|red|green|white)\b")
_POLITE_START = pattern(rf"^{POLITE}")
_NEEDS_PARTICLE = pattern(r"^(?:turn|switch|put|set|make|bring)\b")


def split_commands(text: str, house: House) -> tuple[str, ...]:
    """The commands of a text in their order; one for a text that the model should read as a whole."""
    words = " ".join(text.split()).strip(" .!?,")
    vocabulary = labels.vocabulary(house, labels.labels_of(house).values())
    parts: list[str] = []
    rest = words
    while len(parts) < _MAX_PARTS - 1 and (split := _first_split(rest, vocabulary)):
        first, rest = split
        parts.append(first)
    return (*parts, rest) if parts else (text,)


def _first_split(text: str, vocabulary: frozenset[str]) -> tuple[str, str] | None:
    for left, joint, right in _candidates(text):
        is_strong = _STRONG.search(joint) is not None
        if _CLEANS.search(left) and _CLEANS.search(right):
            continue  # "start the robot and clean the kitchen" is one wish
        if _NEED.match(left) and _LIST.search(right):
            continue  # "we're out of oil, put it on the list" too
        if _MARK.search(f"{left} ") or _GERUND.match(left):
            continue  # "lock, no, unlock the door"; "start charging the car turn the charger on"
        if not is_strong and (_DICTATES.match(left) or _TIMER.search(left)):
            continue
        if _is_command(left, vocabulary) and _follows(left, right, joint, vocabulary):
            return left, right
    return None


def _candidates(text: str) -> Iterator[tuple[str, str, str]]:
    """Every place where a text may be split: what is before, the words between, and what is after."""
    places = [*_joints(text), *((said.end() - 1, said.end()) for said in _AFTER_STATE.finditer(text))]
    for start, end in sorted({*places}):
        left, right = text[:start].strip(" ,.;!"), text[end:].strip(" ,")
        if left and right:
            yield left, text[start:end].strip(), right


def _joints(text: str) -> list[tuple[int, int]]:
    """The places of conjunctions, marks, and verbs that begin a command."""
    places = [(joint.start(), joint.end()) for joint in _JOINTS.finditer(text)]
    for verb in _IMPERATIVE.finditer(text):
        before = text[: verb.start()].split()
        if before and before[-1].casefold() not in _NOT_BEFORE:
            places.append((verb.start(), verb.start()))
    return places


def _follows(left: str, right: str, joint: str, vocabulary: frozenset[str]) -> bool:
    """Whether the right side begins a command of its own."""
    if _KEEPS.match(right):
        return False  # an exception
    if joint and (_VOLUME.match(right) or _SHORT.match(right)):
        return _PLAYS.search(left) is not None
    if not joint and not (_state(right) or _IMPERATIVE.match(f" {right}", 1)):
        return False
    if state := _state(right):
        # Without a conjunction both sides are without a verb: "hall light off fan on".
        return _names(state, vocabulary) and (bool(joint) or _state(left) == left)
    first = right[: min((start for start, _ in _joints(right)), default=len(right))]
    if _PRONOUN.search(first):
        return False
    if _QUESTION.match(right):
        return bool(_STRONG.search(joint)) and _names(first, vocabulary)
    return _LEADS.match(right) is not None and _names(first, vocabulary) and _is_whole(first)


def _state(text: str) -> str:
    """The command without a verb with which a text begins, or ""."""
    said = None if _LEADS.match(text) or _PRONOUN.search(text) else _STATE.match(text)
    return said[0] if said else ""


def _is_command(text: str, vocabulary: frozenset[str]) -> bool:
    if _NEED.match(text):
        return True
    is_whole = _is_whole(text) if _LEADS.match(text) else _state(text) == text
    return is_whole and _names(text, vocabulary)


def _names(text: str, vocabulary: frozenset[str]) -> bool:
    """Whether a text names something of the home, a timer, a list, music or the like."""
    if _THING.search(text) or re.match(rf"^{POLITE}play\b", text, re.IGNORECASE):
        return True
    return any(word in vocabulary for word in normalized_words(_POLITE_START.sub("", text)))


def _is_whole(text: str) -> bool:
    """Whether a command has its decisive word: "turn the hall light" has not."""
    plain = _POLITE_START.sub("", text)
    return _NEEDS_PARTICLE.match(plain) is None or _PARTICLE.search(plain) is not None


# --- corrections

_MEANT = r"i (?:mean|meant)(?: to say)?"
_MARK = pattern(
    r",? (?:(?:uh|um|er|erm|hm+|oh|ah|well|hang on|hold on),? )*"
    rf"(?:no,? no|no,? wait|wait,? no|no,? sorry|sorry,? no|no,? actually|actually,? no|no,? {_MEANT}|{_MEANT}|"
    r"(?:no,? )?make (?:that|it)|(?:no,? )?(?:scratch|strike|scrap) that|correction|or rather|sorry|wait|actually|"
    r"on second thoughts?|(?:no,? )?that'?s (?:too \w+|wrong|not right|not what i meant)|oops(?:,? i (?:mean|meant))?|"
    r"no,? (?:hang|hold) on|no|er|uh|erm)"
    rf"(?:,? (?:{_MEANT}|make (?:that|it)|wait|rather|sorry))*,? "
)
_TAKEN_BACK = pattern(
    r"^(?:please |(?:it is|it's|we|i)\b[^,]+, )?(?:(?:do not|don'?t)(?: do (?:that|it)| bother| you dare)?|"
    r"never ?mind(?: that)?|"
    r"forget (?:it|that|about (?:it|that))|(?:(?:do not|don'?t),? )?leave (?:it|that|them)"
    r"(?: (?:alone|be|as it is|on|off|open|closed|locked|unlocked))?|cancel (?:that|it)|not (?:now|yet|"
    r"today))(?: please| thanks)?$"
)
_SIGH = pattern(r",? (?:oh|ah|well|ach|hm+|but),? (?=never ?mind|forget|don'?t bother)")
_REMIND = pattern(rf"^{POLITE}(?:remind (?:me|us)|set (?:me )?a reminder)\b")
_ADD = pattern(rf"^(?P<verb>{POLITE}(?:add|put|stick|throw)) (?P<item>[^,]+)$")
_TO_LIST = pattern(r" (?:to|on|onto) (?:the |my |our )?[\w -]*list\b")
_OTHER_COMMAND = pattern(rf"^{POLITE}{_VERB}")
_UNIT = r"(?:%|percent|degrees?|minutes?|hours?|seconds?|am|pm|a\.?m\.?|p\.?m\.?|o'?clock)"
_CLOCK = rf"(?:(?:half|quarter|{NUMBER}) (?:past|to) )?{NUMBER}(?:[: ]{NUMBER})?(?: {_UNIT})*"
_VALUE_ENDS = pattern(rf"\b(?:an? )?(?:{_CLOCK}|noon|midnight)$")
_VALUE_LEADS = pattern(rf"^(?:an? )?(?:{_CLOCK}|noon|midnight|(?:half|quarter) past)\b")
_BARE_PAST = pattern(r"^(?:half|quarter) (?:past|to)$")
_HOUR_ENDS = pattern(rf"({NUMBER})(?: {_UNIT})*$")
_DAYS = frozenset((*(day.casefold() for day in WEEKDAYS), "today", "tomorrow", "tonight"))
_STATES = (frozenset({"on", "off"}), frozenset({"up", "down"}), frozenset({"open", "closed", "shut"}))
_SWITCHES = pattern(rf"^({POLITE}(?:turn|switch|put|power) )(on|off|up|down)\b")
# The last one of a sentence, and what follows it: "the lamp" and "to fifty".
_NOUN_PHRASE = pattern(
    r"^(?P<head>.*?\b)(?P<noun>(?:(?:in|on|at) )?(?:the|my|our) (?!.*\b(?:the|my|our)\b)[\w'-]+"
    r"(?: (?!(?:to|at|on|off|up|down|in|for|please)\b)[\w'-]+)*)(?P<tail>(?: (?:to|at|on|off|up|down|please)\b.*)?)$"
)
_NOUN_LEADS = pattern(r"^(?P<place>(?:in|on|at) )?(?:the|my|our) (?P<named>[\w'-]+(?: [\w'-]+){0,4})")
_ONE_ENDS = pattern(r"(?<= )ones?$")
_STATE_ENDS = pattern(rf"{_STATE_WORD}$")
_SAYS_NO = pattern(r"\b(?:say|says|said|is|are|or|yes|have|has|there|of|with|but|the|a|an)$")
_SORRY = pattern(r",? sorry\b,?|,? i (?:mean|meant)$")
_ONLY = pattern(r"^(?:just|only|it's|rather|instead) |^do (?=(?:just |only )?(?:the|my|our|in|at|on|an?)\b|\w+$)")


def is_taken_back(text: str) -> bool:
    """Whether a command ends with the wish not to do it: "start the vacuum, no wait, don't"."""
    for mark in (*_MARK.finditer(text), *_SIGH.finditer(text)):
        before, after = text[: mark.start()], text[mark.end() :].strip(" .!,")
        if _TAKEN_BACK.match(after) and _OTHER_COMMAND.match(before.strip()):
            return True
    return False


def corrected(text: str, house: House) -> str:
    """The sentence as it was meant, or the same one where no correction is certain."""
    for mark in _MARK.finditer(text):
        before, after = text[: mark.start()].strip(" ,"), _ONLY.sub("", _SORRY.sub("", text[mark.end() :]).strip(" ,"))
        if LEADS_WITH_ACTION.match(before) and _OTHER_COMMAND.match(after) and not _PRONOUN.search(after):
            return after
        if len(before.split()) < 2 or not after or _SAYS_NO.search(before):
            continue
        if meant := _meant(before, after, house):
            return meant
    return text


def _meant(before: str, after: str, house: House) -> str:
    """What is left of a sentence once its second half replaces a part of the first, or ""."""
    first, last = after.split()[0].casefold(), before.split()[-1].casefold()
    names_colour = _is_colour(last) and _is_named(before, house)
    if not (_OTHER_COMMAND.match(before) or LEADS_WITH_ACTION.match(before) or _state(before) or names_colour):
        return ""
    head = before.rsplit(" ", 1)[0]
    if _REMIND.match(before) and first == "to" and " to " in before:
        return f"{before.split(' to ', 1)[0]} {after}"
    if _VALUE_LEADS.match(after) and (value := _VALUE_ENDS.search(before)):
        hour = _HOUR_ENDS.search(value[0]) if _BARE_PAST.match(after) else None
        return f"{before[: value.start()]}{after}{f' {hour[1]}' if hour else ''}"
    if any(first in states and last in states for states in _STATES) or (first in _DAYS and last in _DAYS):
        return f"{head} {after}"
    if (switch := _SWITCHES.match(before)) and any(first in states and switch[2] in states for states in _STATES):
        return f"{switch[1]}{first}{before[switch.end() :]} {after.partition(' ')[2]}".strip()
    if _is_colour(first) and _is_colour(last):
        return f"{head} {after}"
    if _OTHER_COMMAND.match(after):
        return "" if _PRONOUN.search(after) else after
    if (noun := _NOUN_LEADS.match(after)) and _is_named(noun["named"], house) and not _REMIND.match(before):
        if not (replaced := _NOUN_PHRASE.match(before)):
            return ""
        if (one := _ONE_ENDS.search(after)) and (kind := replaced["noun"].split()[-1]) not in ("one", "ones"):
            after = f"{after[: one.start()]}{kind}"  # "the living room light, no, the hallway one"
        return f"{replaced['head']}{_place(noun, replaced['noun'])}{after}{replaced['tail']}"
    if _state(before) == before and (state := _STATE_ENDS.search(before)) and _is_all_named(after, house):
        return f"{after} {state[0]}"
    if (added := _ADD.match(before)) and _TO_LIST.search(after) and not _TO_LIST.search(before):
        return f"{added['verb']} {after}"
    if _REMIND.match(before) and first not in ("at", "in", "on", "by", "the", "i", "you", "it", "not"):
        return f"{head} {after}"
    return ""


def _place(noun: re.Match[str], replaced: str) -> str:
    """The preposition of what is replaced, where the correction has none."""
    first = replaced.split()[0]
    return "" if noun["place"] or first.casefold() not in ("in", "on", "at") else f"{first} "


def _is_colour(word: str) -> bool:
    try:
        find_colour(word)
    except HomeError:
        return False
    return True


def _is_all_named(said: str, house: House) -> bool:
    vocabulary = labels.vocabulary(house, labels.labels_of(house).values())
    words = normalized_words(said)
    return bool(words) and vocabulary.issuperset(words)


def _is_named(said: str, house: House) -> bool:
    vocabulary = labels.vocabulary(house, labels.labels_of(house).values())
    return any(word in vocabulary for word in normalized_words(said))

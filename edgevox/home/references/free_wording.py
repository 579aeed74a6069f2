"""Recognises references in any wording: a pronoun beside words for a state, a value or a direction, in any order.

Precise because every word must be known: a sentence with any other word is about something else.
"""

from __future__ import annotations

import re

from edgevox.core.words import word_set
from edgevox.home.grammar import LEADS_WITH_ACTION, pattern
from edgevox.home.references.calls import read_value
from edgevox.home.references.forms import (
    NO_TARGET,
    Also,
    AskPast,
    Form,
    Other,
    Pronoun,
    Scale,
    SetValue,
    Substitute,
    Switch,
    Undo,
    Verb,
)

_MAX_CLAUSES = 4
_IT = word_set("it that this")
_THEM = word_set("them those these they both")
_FILLERS = word_set(
    "please can could would will you we i i'd want need like to the a an just now then okay ok right so and well oh "
    "hmm um uh er ah actually thanks thank go ahead for me again back straight all bit little with maybe let's "
    "away may might should be love mate kindly there alright cheers too also as of one ones quickly instead rather "
    "even still some tiny touch tad notch more much way lot slightly"
)
_VERBS = word_set(
    "turn turned switch switched put set take bring knock get have make drop push crank dial nudge lower raise dim pop "
    "stick leave flip flick run change move send tell pull ease go goes going come power bump tone kick brighten hit do"
)
_STATES: dict[str, Verb] = {
    "off": "off", "kill": "off", "on": "on", "open": "open", "close": "close", "closed": "close", "shut": "close",
    "lock": "lock", "locked": "lock", "unlock": "unlock", "unlocked": "unlock", "pause": "pause", "resume": "resume",
    "unpause": "resume", "mute": "mute", "unmute": "unmute", "home": "dock", "dock": "dock", "base": "dock",
    "toggle": "toggle",
}  # fmt: skip
_FACTORS = {"halve": 0.5, "half": 0.5, "double": 2.0, "triple": 3.0}
_UP = word_set("up higher raise brighten increase")
_DOWN = word_set("down lower dim decrease reduce")
_SMALL = word_set("bit little touch tad notch slightly more some")
_VALUE = pattern(r"\b(?:to|at|on) (?:about |around |like )?(?P<value>(?!the\b|me\b|go\b|you\b)[\w% .-]+)$")
_COLOUR = pattern(r"\b(?:it|them|that|those|these|both) (?:all )?(?P<value>[a-z]+(?: (?:white|blue|green|red|pink))?)$")
_END = pattern(r"(?: (?:please|instead|now|then|thanks|for me|will you|would you|mate|love|rather|though))+$")
_IDIOM = pattern(r"\b(?:knock (?:it|that) off|bring it on|call it off)\b")
_NEGATED = pattern(
    r"\b(?:not|don't|dont|never|no longer|if|when|unless|until|till|after|before|timer|alarm|remind|every|minutes?|"
    r"hours?|seconds?|o'?clock|tomorrow|tonight|later|why|who|what|what's|did|was|list)\b"
)
_WAS = pattern(
    r"\b(?:as|how|what|like|way|where|whatever) (?:it|they|that|things|everything|those|we) (?:was|were|had been|had|"
    r"used to be)\b|\b(?:as|like) before\b|\bback to (?:normal|before)\b|\bthe (?:previous|original|old|last) "
    r"(?:setting|level|state|colou?r|one|brightness|temperature|value|way)\b"
)
_UNDO_WORDS = (
    _FILLERS
    | _VERBS
    | _IT
    | _THEM
    | word_set(
        "how what way where was were had been used before normal previous original old last setting level state colour "
        "color brightness temperature value things everything return restore revert undo as like whatever"
    )
)
_WHAT_DONE = word_set(
    "so okay and but what was is that it you just did do done exactly the thing last now again there change changed "
    "were doing this then"
)
_OTHER = pattern(r"\bother\b(?: (?:one|light|lamp|blind|door|speaker|fan|curtain))?(?! \w+s\b)(?: in (?:there|here))?")
_ALSO_LEAD = pattern(
    r"^(?:(?:and|also|then|now|ok|okay|oh|right|so|what about|how about|do|(?:the )?same(?: thing| again)*|ditto|"
    r"likewise|that goes|repeat (?:that|it)|that)(?: (?:for|with|in|on|to))? |(?:for|with|in) )+"
)
_ALSO_TAIL = pattern(
    r"(?:,? (?:too|as well|also|likewise|ditto|next|please|while you're at it|(?:the )?same(?: (?:thing|way|again|"
    r"colou?r|level|brightness|there))?|similarly))+$"
)
_SAME = pattern(r"\b(?:same|ditto|likewise|too|also|as well|what about|how about|similarly|next)\b")


def read_freely(words: str) -> Form | None:
    """The form of a sentence by its words alone; None if one of them is unknown here, or nothing is referred to."""
    if _WHAT_DONE >= frozenset(re.findall(r"[\w']+", words.casefold())) >= {"what", "you"}:
        return AskPast("done")
    clauses = [clause.strip() for clause in words.casefold().split(",") if clause.strip()]
    if not clauses or len(clauses) > _MAX_CLAUSES:
        return None
    if not _NEGATED.search(words.casefold().replace("what about", "")) or _WAS.search(words.casefold()):
        found = [(clause, form) for clause in clauses if (form := _clause(clause)) is not None]
        if len(found) == 1 and not any(LEADS_WITH_ACTION.match(clause) for clause in clauses if clause != found[0][0]):
            return found[0][1]
    return _also(words.casefold())


def _clause(clause: str) -> Form | None:
    clause = _END.sub("", clause)
    tokens = re.findall(r"[\w'%]+", clause)
    said = frozenset(tokens)
    if _WAS.search(clause) and said <= _UNDO_WORDS:
        return Undo()
    if _NEGATED.search(clause):
        return None
    if _OTHER.search(clause):
        rest = frozenset(re.findall(r"[\w'%]+", _OTHER.sub(" ", clause))) - _FILLERS - _VERBS
        return Other(_state(rest)) if rest <= _STATES.keys() and len(rest) <= 1 else None
    states = said & _STATES.keys()
    if "again" in said and len(states) == 1 and said - states <= _FILLERS:  # "pause again"
        return Switch(_STATES[next(iter(states))], "it")
    pronouns = said & (_IT | _THEM)
    if len(pronouns - {"both"}) > 1:
        return None
    if not pronouns or (
        tokens[0] in _IT | {"they", "it's", "that's"} and not said & {"could", "can", "should", "needs"}
    ):
        return None
    meant: Pronoun = "both" if "both" in said or ("all" in said and said & _THEM) else "them" if said & _THEM else "it"
    rest = said - pronouns
    if not tokens or _IDIOM.search(clause):
        return None
    value = _VALUE.search(clause) or _COLOUR.search(clause)
    if value and read_value(value["value"]) is not None:
        before = frozenset(re.findall(r"[\w'%]+", clause[: value.start()])) - pronouns
        is_known = before <= _FILLERS | _VERBS | _UP | _DOWN | {"open", "all", "way"}
        return SetValue(value["value"], meant) if is_known else None
    rest -= _FILLERS
    if rest and rest <= _FACTORS.keys() | {"in", "by"}:
        return Scale(next(factor for word, factor in _FACTORS.items() if word in rest), meant)
    if rest & {"on", "off"}:
        rest -= {"shut", "kill"} if "off" in rest else frozenset()
    states = rest & _STATES.keys()
    if len(states) == 1 and rest - states <= _VERBS | {"up"}:
        return Switch(_STATES[next(iter(states))], meant)
    return _step(rest, said, meant)


def _step(rest: frozenset[str], said: frozenset[str], meant: Pronoun) -> Substitute | None:
    """ "they can go a little higher": a step in a direction."""
    if not rest <= _VERBS | _UP | _DOWN or bool(rest & _UP) == bool(rest & _DOWN) or not said & _SMALL:
        return None
    return Substitute("turn", f" {'up' if rest & _UP else 'down'} a bit", meant)


def _state(words: frozenset[str]) -> Verb | None:
    return next((_STATES[word] for word in words), None)


def _also(words: str) -> Also | None:
    if not _SAME.search(words):
        return None
    target = _ALSO_TAIL.sub("", _ALSO_LEAD.sub("", words)).strip(" ,")
    has_changed = target and target != words
    return Also(target) if has_changed and not (NO_TARGET.search(target) or "," in target) else None

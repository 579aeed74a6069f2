"""How a request is put: politeness, hesitation, calling the assistant, and nothing at all."""

from __future__ import annotations

import itertools
import random
import re

from training.home.reasons import before_reason, behind_reason
from training.home.speaker import Said

# Around an order. {x} is the order, {g} the order with its verb in -ing.
_AROUND = (
    "please {x}", "please {x}", "please {x}", "please {x}", "can you {x}", "can you {x}", "can you {x}",
    "could you {x}", "could you {x}", "would you {x}", "will you {x}", "can you please {x}",
    "could you please {x}",
    "would you please {x}", "can you {x} please", "could you {x} please", "{x} please", "{x} please",
    "{x} please",
    "I want you to {x}", "I'd like you to {x}", "I would like you to {x}", "I need you to {x}",
    "I want to {x}",
    "I'd like to {x}", "I would like to {x}", "I need to {x}", "would you mind {g}", "do you mind {g}",
    "let's {x}",
    "go ahead and {x}", "go and {x}", "just {x}", "now {x}", "quickly {x}", "you can {x} now",
    "we should {x}",
    "you should {x}", "we need to {x}", "please could you {x}", "can we {x}", "could we {x}",
    "it's time to {x}",
    "I was wondering if you could {x}", "it would be great if you could {x}", "would it be possible to {x}",
    "is it possible to {x}", "be so kind and {x}", "be a dear and {x}", "do me a favor and {x}",
    "do me a favour and {x}",
    "if you could {x} that would be great", "kindly {x}", "may I ask you to {x}", "help me {x}",
    "I'm asking you to {x}",
    "you have to {x}", "could you maybe {x}", "can you quickly {x}", "don't forget to {x}",
    "make sure to {x}",
    "time to {x}", "why don't you {x}", "how about {g}", "hurry up and {x}",
    "I'd appreciate it if you could {x}",
    "would you be so kind as to {x}", "okay now {x}", "{x}, will you", "{x}, would you", "{x}, can you",
    "{x} thanks",
    "{x}, thank you", "{x} for me", "{x} for me please", "{x} now", "{x} right now", "{x} again",
    "{x} immediately",
    "please {x} for me", "please {x} now", "can you {x} for me", "could you {x} for me", "{x} now please",
    "I think you should {x}", "I think we should {x}", "maybe {x}", "then {x}", "also {x}", "first {x}",
)  # fmt: skip
# Behind somebody's own words nothing may follow that could belong to them.
_OPEN_ENDED = tuple(
    around
    for around in _AROUND
    if around.endswith(("{x}", "{g}", "{x} please")) or around == "if you could {x} that would be great"
)[:-3]
_CALLED = (
    "hey", "hey", "ok", "okay", "hello", "um", "uh", "so", "well", "right", "alright", "oh", "hi",
    "hmm", "er", "yo",
    "excuse me", "hey there", "hey computer", "computer", "house", "hey house", "assistant",
    "hey assistant", "listen",
    "okay so", "um hey", "yes", "yeah", "ah", "oh and", "and", "sorry", "good morning", "good evening",
)  # fmt: skip
_QUESTION_BEFORE = (
    "tell me", "hey tell me", "quick question", "say", "just wondering", "I wonder", "one question",
    "please tell me",
)  # fmt: skip
_QUESTION_BEHIND = (
    "please", "please", "right now", "at the moment", "by any chance", "now", "currently",
)  # fmt: skip
_ENDS_TIMED = (
    "now", "moment", "today", "currently", "time", "again", "please", "right", "not", "yet", "many",
    "outside", "tomorrow",
)  # fmt: skip
# Orders to tell somebody something cannot be one's own wish: "I want to tell me the time".
_OWN_WISH = (
    "I want to",
    "I'd like to",
    "I would like to",
    "I need to",
    "let's",
    "we ",
    "can we",
    "could we",
    "help me",
)
_ASKING = frozenset(
    [
        "can",
        "could",
        "would",
        "will",
        "may",
        "do",
        "does",
        "did",
        "is",
        "are",
        "was",
        "were",
        "has",
        "have",
        "what",
        "what's",
        "which",
        "who",
        "who's",
        "where",
        "where's",
        "when",
        "how",
        "how's",
        "why",
        "should",
        "shall",
        "am",
        "in",
    ]
) - {"in"}

# "Upstairs, turn the lights off": the place goes first where nothing but a place stands last.
_PLACE_LAST = re.compile(
    r"((?:turn|switch|close|open|set|pause|mute|dim) [^,0-9]+?) (in the [a-z' ]{3,18}|upstairs|downstairs)"
)
_PLACE_FIRST_SHARE = 0.08
_PLAIN_SHARE = 0.5
_CALLED_SHARE = 0.12
_REASON_SHARES = {"!": 0.22, ":": 0.18, ".": 0.2, "?": 0.09}

_FILLERS = frozenset(word for called in _CALLED for word in called.split()) | {
    "please",
    "tell",
    "me",
    "quick",
    "question",
    "say",
}
_DOUBLED = frozenset(
    [
        "set",
        "put",
        "shut",
        "dim",
        "stop",
        "skip",
        "get",
        "cut",
        "run",
        "let",
        "flip",
        "drop",
        "trim",
        "begin",
        "hit",
        "pop",
        "snap",
        "unplug",
        "hop",
        "prop",
        "tug",
    ]
)
_VERBS = frozenset(
    [
        "turn",
        "switch",
        "put",
        "flip",
        "click",
        "activate",
        "enable",
        "start",
        "power",
        "fire",
        "light",
        "have",
        "get",
        "make",
        "deactivate",
        "disable",
        "shut",
        "kill",
        "cut",
        "stop",
        "open",
        "raise",
        "lift",
        "roll",
        "pull",
        "draw",
        "slide",
        "close",
        "lower",
        "push",
        "drop",
        "lock",
        "secure",
        "bolt",
        "unlock",
        "set",
        "change",
        "adjust",
        "bring",
        "dim",
        "brighten",
        "fade",
        "reduce",
        "increase",
        "give",
        "color",
        "let",
        "move",
        "leave",
        "keep",
        "heat",
        "warm",
        "cool",
        "crank",
        "hold",
        "run",
        "slow",
        "speed",
        "pause",
        "unpause",
        "resume",
        "continue",
        "skip",
        "go",
        "jump",
        "play",
        "mute",
        "silence",
        "unmute",
        "take",
        "add",
        "extend",
        "cancel",
        "delete",
        "remove",
        "end",
        "clear",
        "freeze",
        "vacuum",
        "hoover",
        "clean",
        "send",
        "return",
        "dock",
        "mow",
        "trim",
        "check",
        "tick",
        "cross",
        "mark",
        "complete",
        "finish",
        "erase",
        "announce",
        "broadcast",
        "tell",
        "write",
        "note",
        "place",
        "include",
        "find",
        "arm",
        "disarm",
        "launch",
        "trigger",
        "execute",
        "count",
        "time",
        "begin",
        "restart",
        "carry",
        "subtract",
        "shorten",
        "use",
        "show",
        "read",
        "hit",
        "flick",
        "pop",
        "stick",
        "whack",
        "throw",
        "boot",
        "wake",
        "knock",
        "snap",
        "unplug",
        "uncover",
        "unroll",
        "wind",
        "swing",
        "slam",
        "hoist",
        "part",
        "retract",
        "reel",
        "fold",
        "sweep",
        "max",
        "heat",
        "nudge",
        "remind",
        "create",
        "schedule",
        "ring",
        "book",
        "hop",
        "rewind",
        "repeat",
        "replay",
        "ditch",
        "press",
        "strike",
        "scratch",
        "furl",
        "unfurl",
        "tuck",
        "spread",
        "stretch",
        "haul",
        "heave",
        "prop",
        "tug",
        "whisk",
        "fling",
        "cover",
        "stow",
        "peel",
    ]
)


def is_plain_order(order: Said) -> bool:
    """True for an order in the imperative that can be put into another sentence."""
    return order.form == "!" and order.text.split(" ", 1)[0] in _VERBS and "," not in order.text


def put(rng: random.Random, plain: Said) -> str:
    """The sentence with what people put around it."""
    text = plain.text
    if plain.form == "!" and rng.random() < _PLACE_FIRST_SHARE and (found := _PLACE_LAST.fullmatch(text)):
        return f"{found[2]}{rng.choice((', ', ' '))}{found[1]}"
    if plain.form in "!:" and rng.random() > _PLAIN_SHARE:
        text = _around(rng, plain)
    elif plain.form == "?":
        text = _question(rng, text)
    elif plain.form == "." and rng.random() < 0.12 and not text.endswith("please"):
        text = f"{text} please" if rng.random() < 0.8 else f"{text} thanks"
    if rng.random() < _REASON_SHARES[plain.form]:
        # Behind somebody's own words a clause could belong to them.
        goes_behind = plain.form in "!.?" and rng.random() < (0.3 if plain.form == "?" else 0.5)
        is_bare_order = plain.form in "!:" and text.split(" ", 1)[0] in _VERBS
        text = (
            before_reason(text, rng) if goes_behind else behind_reason(text, rng, is_bare_order=is_bare_order)
        )
    if rng.random() < _CALLED_SHARE:
        comma = ", " if rng.random() < 0.6 else " "
        text = f"{rng.choice(_CALLED)}{comma}{text}"
    return text


def sounds_like_a_question(text: str) -> bool:
    """True where a recogniser would write a question mark: "can you turn on the light"."""
    words = text.lower().replace(",", "").split()
    words = [*itertools.dropwhile(_FILLERS.__contains__, words), "", ""]
    if words[0] in ("do", "have"):
        return words[1] in ("i", "we", "you")
    return words[0] in _ASKING


def _around(rng: random.Random, plain: Said) -> str:
    around = rng.choice(_AROUND if plain.form == "!" else _OPEN_ENDED)
    verb, _, rest = plain.text.partition(" ")
    if "{g}" in around:
        if verb not in _VERBS:
            return plain.text
        return around.replace("{g}", f"{_in_ing(verb)} {rest}")
    if verb not in _VERBS and around not in ("{x} please", "please {x}"):
        return plain.text
    if " me " in plain.text and around.startswith(_OWN_WISH):
        return plain.text
    if plain.text.endswith(_ENDS_TIMED) and not around.endswith("{x}"):
        return plain.text
    return around.replace("{x}", plain.text)


def _question(rng: random.Random, text: str) -> str:
    way = rng.random()
    if way < 0.06:
        return f"{rng.choice(_QUESTION_BEFORE)}, {text}"
    if way < 0.14 and not text.endswith(_ENDS_TIMED):
        return f"{text} {rng.choice(_QUESTION_BEHIND)}"
    return text


def _in_ing(verb: str) -> str:
    if verb in _DOUBLED:
        return f"{verb}{verb[-1]}ing"
    return f"{verb.removesuffix('e')}ing" if verb.endswith("e") and not verb.endswith("ee") else f"{verb}ing"

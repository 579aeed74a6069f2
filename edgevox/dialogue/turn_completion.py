"""Turn completion: whether the words so far are a whole sentence, and the endpointing silence.

English only; text that is not known to be complete is unclear. STT ends every sentence with a full stop, so
the words decide.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias, assert_never

from edgevox.core.types import Transcript
from edgevox.dialogue.builtin_commands import parse_builtin_command, plain_words

TurnCompletion: TypeAlias = Literal["certain", "whole", "unclear", "unfinished"]

LANGUAGE = "en"


def classify_completion(text: str) -> TurnCompletion:
    """Classify an utterance: `unfinished` needs more words, `whole` may continue, `certain` rarely does.

    "turn on the lights | in the kitchen" is whole before the bar.
    """
    if text.rstrip().endswith(_MARKS_THAT_GO_ON):
        return "unfinished"
    words = _words(_last_sentence(text))
    if not words:
        return "unclear"
    if words[-1] in _FILLERS:
        return "unfinished"
    spoken = _without_preamble(words)
    if not spoken:
        return "unclear" if words[-1] in _POLITE else "unfinished"
    sentence = " ".join(spoken)
    word = parse_builtin_command(sentence)
    # Not all commands: "how" is misrecognised as "help", and more may follow "cancel".
    if sentence in _LAST_WORDS or word in ("stop", "louder", "quieter"):
        return "certain"
    if sentence in _PHRASES or word:
        return "whole"
    if _wants_more(spoken):
        return "unfinished"
    return "whole" if _is_whole(spoken) else "unclear"


# --- unfinished


def _wants_more(words: list[str]) -> bool:
    last = words[-1]
    if last == "have" and any(word in _DO for word in words):
        return False
    if last in _OPEN_WORDS or _ends_with(words, _OPEN_ENDINGS) or " ".join(words) in _BEGINNINGS:
        return True
    if _is_number(last):
        # "for ten" has no unit yet; "to thirty" may be all of it.
        return len(words) > 1 and words[-2] in _BEFORE_A_LENGTH
    if last in _PARTICLES:
        # "turn on" wants to know what; "turn the light on" does not.
        return len(words) == 1 or words[-2] in _COMMANDS or words[-2] in _JOINTS
    if words[0] in _SETTERS and last not in _TIMED and not _has_value(words):
        return True
    if words[0] in _TURNERS and not any(word in _PARTICLES or word in _BEFORE_A_VALUE for word in words):
        return True
    return last in _COMMANDS and len(words) > 1 and not _is_question(words)


# --- whole


def _is_whole(words: list[str]) -> bool:
    if words[0] in _SUBORDINATE:
        return False
    if len(words) > 1 and words[-1] in _ENDINGS:
        return True
    if _is_question(words):
        return _is_whole_question(words)
    if words[0] in _COMMANDS:
        return _is_whole_command(words)
    # "lights on", "kitchen light off": a device and a state.
    return len(words) > 1 and words[-1] in ("on", "off") and words[-2] in _THINGS


def _is_whole_command(words: list[str]) -> bool:
    first, last = words[0], words[-1]
    if last in _PARTICLES:
        # Not "turn off the lamp on", which is on something.
        return first in _TURNERS and not any(word in _PARTICLES for word in words[:-1])
    if last in _ROOMS:
        return _is_in_a_place(words)
    if last in _UNITS:
        return True
    return first in _ACTS_ON_A_THING and len(words) > 1 and (last in _THINGS or last in _OBJECTS)


def _is_whole_question(words: list[str]) -> bool:
    first, last = words[0], words[-1]
    if last in _NEEDS_A_COMPLEMENT or _is_number(last):
        return False
    verb = next((place for place, word in enumerate(words) if word in _FINITE), len(words))
    said_of_it = len(words) - verb - 1
    if last in _PARTICLES:
        # "is the lamp on" is whole, and "how much is left on" is not.
        return first in _BE and said_of_it >= 2
    if first in _YES_NO or last in _STATES:
        return said_of_it >= 2 and (last in _STATES or _is_in_a_place(words))
    # "how many ounces" has no verb yet, "what is" nothing behind it, and "why is the sky" too little.
    return said_of_it >= 3


def _is_in_a_place(words: list[str]) -> bool:
    # "turn on the kitchen" may be the kitchen's light: only "in the kitchen" is where something is.
    return words[-1] in _ROOMS and any(word in _PLACES for word in words[-4:-1])


def _is_question(words: list[str]) -> bool:
    return words[0] in _ASKING or words[0] in _YES_NO


# --- words


def _last_sentence(text: str) -> str:
    plain = text.replace("%", " percent").replace("°C", " degrees").replace("°", " degrees")
    plain = _TIME_OF_DAY.sub(r"\1 oclock", plain)
    sentences = [part for part in re.split(r"[.!?]+(?:\s+|$)", plain) if plain_words(part)]
    return sentences[-1] if sentences else ""


def _words(sentence: str) -> list[str]:
    return [part for word in plain_words(sentence) for part in _CONTRACTED.get(word, (word,))]


def _without_preamble(words: list[str]) -> list[str]:
    """The words after "okay, could you please"."""
    rest = words
    while rest:
        length = next((n for n in (4, 3, 2, 1) if " ".join(rest[:n]) in _PREAMBLES and len(rest) >= n), 0)
        if not length:
            break
        rest = rest[length:]
    return rest


def _ends_with(words: list[str], endings: frozenset[str]) -> bool:
    return any(" ".join(words[-n:]) in endings for n in (2, 3))


def _is_number(word: str) -> bool:
    return word.isdecimal() or word in _NUMBERS


def _has_value(words: list[str]) -> bool:
    return any(word in _BEFORE_A_VALUE for word in words[1:]) or any(map(_is_number, words))


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _phrases(phrases: str) -> frozenset[str]:
    return frozenset(phrases.split(", "))


_TIME_OF_DAY = re.compile(r"(\d)\s*[ap]\.?m\b\.?", re.IGNORECASE)
_MARKS_THAT_GO_ON = (",", ";", ":", "-", "–", "—", "…", "...")

_FILLERS = _set("um uh er erm ehm hmm hm mm ah eh")
_POLITE = _set("please thanks")

# No utterance ends with these.
_OPEN_WORDS = _set(
    "the a an my your his our their its some any every each another which whose both either "
    "and or but because if whether unless although while until till than as then so "
    "to of from with for at by in into onto about between under behind beside near without during "
    "after before "
    "is are was were be been am do does did has have had can could will would shall should may might must "
    "i we they he she who what where when why how "
    "very too quite really just also only even still not half quarter called named number that"
)
_OPEN_ENDINGS = _phrases(
    "half past, quarter to, quarter past, next to, a little, a bit, a few, a couple, i want, i need, "
    "i would like, "
    "the living, the front, the back, the dining, the washing, my shopping, the shopping"
)
# Whole utterances that are only a beginning.
_BEGINNINGS = _phrases(
    "remind me, tell me, show me, give me, wake me, read me, let me, let me know, ask, say, call, add, "
    "remove, put, "
    "set, set the timer, make it, turn it, turn them, switch it, switch them, how much, how many, "
    "how long, how far, "
    "how old, what kind, what time, what colour, what color, i want you, hey, start"
)
_COMMANDS = _set(
    "turn switch set dim brighten open close shut lock unlock start run activate raise lower make put add "
    "remove delete remind wake tell show give send find read play change increase decrease move convert "
    "water mute unmute cancel stop pause resume skip call check schedule create clear"
)
_ACTS_ON_A_THING = _set(
    "turn switch dim brighten open close shut lock unlock start run activate raise lower mute unmute "
    "cancel stop "
    "pause resume play tell read clear skip make"
)
# "turn the lamp" wants to know which way, and "set the lamp" to what.
_TURNERS = _set("turn switch")
_SETTERS = _set("set change make move convert")
_COLOURS = _set("red green blue white yellow orange purple pink")
_MORE_OR_LESS = _set("warmer cooler colder brighter darker louder quieter")
_BEFORE_A_VALUE = _set("to at by for into high low") | _COLOURS | _MORE_OR_LESS
_BEFORE_A_LENGTH = _set("for in another after every")
_TIMED = _set("timer alarm reminder")
_PARTICLES = _set("on off up down out over back around")
_JOINTS = _set("and or then to")
_PLACES = _set("in at of for")

_THINGS = _set(
    "light lights lamp lamps bulb bulbs fan fans tv television radio music heating heater thermostat "
    "door doors "
    "window windows blind blinds curtain curtains shutter shutters gate garage oven stove kettle "
    "dishwasher dryer "
    "machine vacuum cleaner sprinkler sprinklers plug plugs socket outlet switch alarm alarms timer "
    "timers reminder "
    "reminders list news joke song track playlist podcast audiobook volume camera downstairs upstairs scene"
)
_OBJECTS = _set("it this them everything all again")
_ROOMS = _set(
    "kitchen bedroom bathroom hall hallway office study nursery garden basement attic garage porch "
    "patio room rooms "
    "house bedrooms corridor cellar balcony terrace"
)
_UNITS = (
    _set("percent degrees degree celsius fahrenheit minutes minute hours hour seconds second oclock halfway")
    | _COLOURS
    | _MORE_OR_LESS
)
_ENDINGS = _set(
    "please thanks today tomorrow tonight yesterday now outside here "
    "monday tuesday wednesday thursday friday saturday sunday"
)
_STATES = _set(
    "open closed locked unlocked finished done running ready home charged empty full left there warm cold hot"
)
# "before I go to bed, please" is a condition of what is to come.
_SUBORDINATE = _set("before after if while once unless")
_ASKING = _set("what who whose where when why how which")
_YES_NO = _set("is are was were am do does did will has have had should can could would")
_BE = _set("is are was were")
_DO = _set("do does did")
_FINITE = _YES_NO | _set("wrote made won invented discovered makes lives stands comes goes")
# "what is the capital" is a question, and mostly not the one that was meant.
_NEEDS_A_COMPLEMENT = _set(
    "capital name weather temperature humidity opposite meaning population size height distance price number "
    "history way difference square root point colour color best largest tallest biggest smallest longest "
    "highest fastest oldest first last next most good short state status"
)
_NUMBERS = _set(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand"
)
_LAST_WORDS = _phrases("thank you, thank you very much, never mind, no thank you")
_PHRASES = _phrases(
    "yes, yeah, yep, no, nope, okay, ok, sure, hello, hi, good morning, good evening, good night, "
    "good bye, goodbye, what time is it, what day is it, pause, next, resume, continue, snooze, mute, "
    "i am home, go on"
)
_PREAMBLES = _FILLERS | _phrases(
    "please, thanks, well, okay, ok, so, hey, hi, now, and, then, can you, could you, would you, will you, "
    "i want you to"
)
_CONTRACTED = {
    "whats": ("what", "is"),
    "wheres": ("where", "is"),
    "whos": ("who", "is"),
    "hows": ("how", "is"),
    "whens": ("when", "is"),
    "its": ("it", "is"),
    "im": ("i", "am"),
    "id": ("i", "would"),
    "ill": ("i", "will"),
}


# In units of `audio.hangover_ms`, 500 ms by default. Speakers who pause to think mostly resume within 700 ms,
# and one in fifteen of these pauses follows a whole sentence (docs/adr/0025-endpointing.md): only after a
# `certain` end is a shorter silence enough.
AFTER_CERTAIN = 0.6
AFTER_WHOLE = 1.3
AFTER_UNCLEAR = 1.5
AFTER_UNFINISHED = 2.4


def completion_of(heard: Transcript | None) -> TurnCompletion | None:
    """The completion of a transcript; None if there is none yet or its language is not English.

    An empty transcript is unfinished: speech has begun and will continue.
    """
    if heard is not None and not heard.text:
        return "unfinished"
    if heard is None or heard.language != LANGUAGE:
        return None
    return classify_completion(heard.text)


def hangovers(finished: TurnCompletion | None, *, is_transcribing: bool, is_ready: bool) -> float:
    """The silence that ends the utterance, in hangovers; `is_ready` if the reply could start at once.

    If it could not, a longer silence costs nothing.
    """
    if is_transcribing:
        return AFTER_UNFINISHED
    match finished:
        case "certain":
            return AFTER_CERTAIN
        case "whole" | None:
            return AFTER_WHOLE if is_ready else AFTER_UNCLEAR
        case "unclear":
            return AFTER_UNCLEAR
        case "unfinished":
            return AFTER_UNFINISHED
        case _:
            assert_never(finished)

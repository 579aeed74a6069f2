"""Turn completion: whether the words so far are a whole sentence, and the endpointing silence.

English only; text that is not known to be complete is unclear. STT ends every sentence with a full stop, so
the words decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from typing import Literal, TypeAlias, assert_never

from edgevox.core.files import packaged_toml
from edgevox.core.languages import ENGLISH
from edgevox.core.types import Transcript
from edgevox.dialogue.builtin_commands import parse_builtin_command, plain_words

TurnCompletion: TypeAlias = Literal["certain", "whole", "unclear", "unfinished"]

_DATA = "dialogue/turn_completion.toml"
_TIME_OF_DAY = re.compile(r"(\d)\s*[ap]\.?m\b\.?", re.IGNORECASE)
_MARKS_THAT_GO_ON = (",", ";", ":", "-", "–", "—", "…", "...")
_VALUES = ("before_value", "colour", "comparative")


def classify_completion(text: str) -> TurnCompletion:
    """Classify an utterance: `unfinished` needs more words, `whole` may continue, `certain` rarely does.

    "turn on the lights | in the kitchen" is whole before the bar.
    """
    if text.rstrip().endswith(_MARKS_THAT_GO_ON):
        return "unfinished"
    words = _words(_last_sentence(text))
    if not words:
        return "unclear"
    if _is(words[-1], "filler"):
        return "unfinished"
    spoken = _without_preamble(words)
    if not spoken:
        return "unclear" if _is(words[-1], "polite") else "unfinished"
    sentence = " ".join(spoken)
    word = parse_builtin_command(sentence)
    # Not all commands: "how" is misrecognised as "help", and more may follow "cancel".
    if _is(sentence, "final_phrase") or word in ("stop", "louder", "quieter"):
        return "certain"
    if _is(sentence, "whole_phrase") or word:
        return "whole"
    if _wants_more(spoken):
        return "unfinished"
    return "whole" if _is_whole(spoken) else "unclear"


# --- addressed to the assistant

# A longer utterance is talk, even if a question is in it.
_MOST_WORDS_OF_REQUEST = 30
# So short an answer or correction needs no verb if it names something of a home: "no, the kitchen".
_MOST_WORDS_OF_FRAGMENT = 6
_MOST_WORDS_OF_FOLLOW_UP = 3


def is_request(transcript: Transcript, names: tuple[str, ...] = (), *, is_follow_up: bool = True) -> bool:
    """Whether the words can be meant for the assistant: a command, a question or a phrase such as "thank you".

    `names` are those of the home's entities and areas. Only a follow-up may be a fragment that names nothing of a
    home, such as "three more". Other languages than English always can.
    """
    if transcript.language != ENGLISH:
        return True
    if len(plain_words(transcript.text)) > _MOST_WORDS_OF_REQUEST:
        return False
    return any(
        _is_request(part, names, is_follow_up=is_follow_up) for part in re.split(r"[.!?;]+(?:\s+|$)", transcript.text)
    )


def _is_request(sentence: str, names: tuple[str, ...], *, is_follow_up: bool) -> bool:
    said = _words(sentence)
    words = _without_preamble(said)
    if not words:
        return False
    text = " ".join(words)
    if parse_builtin_command(text) or _is(text, "final_phrase", "whole_phrase") or _has(said, "polite", "sum"):
        return True
    if any(_is(" ".join(said[start : start + 2]), "asked") for start in range(len(said))):
        return True
    if _is(words[0], "question"):
        # Not "what I did was": "what is", "how many are", "which windows".
        return len(words) > 1 and not _is(words[1], "pronoun")
    if _is(words[0], "verb", "request_verb", "auxiliary") or (is_follow_up and _is_number(words[0])):
        return True
    if any(_is(" ".join(words[:length]), "request_start") for length in (2, 3, 4)):
        return True
    is_about_home = _has(words, "thing", "room", "unit", "comparative", "home_word") or _is_named(words, names)
    is_about_home = is_about_home or (is_follow_up and _has(words, "colour"))
    if is_about_home and (_has(words, "verb", "particle", "correction") or any(map(_is_number, words))):
        return True
    if is_follow_up and len(said) <= _MOST_WORDS_OF_FOLLOW_UP and _is(said[0], "follow_up_start"):
        return True
    is_fragment = len(words) <= _MOST_WORDS_OF_FRAGMENT and not _has(words, "auxiliary")
    return is_fragment and (is_about_home or (is_follow_up and _has(words, "correction")))


def _is_named(words: list[str], names: tuple[str, ...]) -> bool:
    text = f" {' '.join(words)} "
    return any(name in text for name in _padded(names))


@lru_cache(maxsize=4)
def _padded(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(f" {name} " for given in names if (name := " ".join(_words(given))))


# --- unfinished


def _wants_more(words: list[str]) -> bool:
    last = words[-1]
    if last == "have" and _has(words, "do"):
        return False
    endings = (last, " ".join(words[-2:]), " ".join(words[-3:]))
    if _has(endings, "open", "open_ending") or _is(" ".join(words), "beginning"):
        return True
    if _is_number(last):
        # "for ten" has no unit yet; "to thirty" may be all of it.
        return len(words) > 1 and _is(words[-2], "before_duration")
    if _is(last, "particle"):
        # "turn on" wants to know what; "turn the light on" does not.
        return len(words) == 1 or _is(words[-2], "verb", "joint")
    if _is(words[0], "set_verb") and not _is(last, "timed"):
        if not _has(words[1:], *_VALUES) and not any(map(_is_number, words)):
            return True
    elif _is(words[0], "turn_verb") and not _has(words, "particle", *_VALUES):
        return True
    return _is(last, "verb") and len(words) > 1 and not _is_question(words)


# --- whole


def _is_whole(words: list[str]) -> bool:
    if _is(words[0], "subordinate"):
        return False
    if len(words) > 1 and _is(words[-1], "ending"):
        return True
    if _is_question(words):
        return _is_whole_question(words)
    if _is(words[0], "verb"):
        return _is_whole_command(words)
    # "lights on", "kitchen light off": a device and a state.
    return len(words) > 1 and words[-1] in ("on", "off") and _is(words[-2], "thing")


def _is_whole_command(words: list[str]) -> bool:
    first, last = words[0], words[-1]
    if _is(last, "particle"):
        # Not "turn off the lamp on", which is on something.
        return _is(first, "turn_verb") and not _has(words[:-1], "particle")
    if _is(last, "room"):
        return _is_in_a_place(words)
    if _is(last, "unit", "colour", "comparative"):
        return True
    return _is(first, "thing_verb") and len(words) > 1 and _is(last, "thing", "object")


def _is_whole_question(words: list[str]) -> bool:
    first, last = words[0], words[-1]
    if _is(last, "needs_complement") or _is_number(last):
        return False
    verb = next((place for place, word in enumerate(words) if _is(word, "finite", "auxiliary")), len(words))
    said_of_it = len(words) - verb - 1
    if _is(last, "particle"):
        # "is the lamp on" is whole, and "how much is left on" is not.
        return _is(first, "be") and said_of_it >= 2
    if _is(first, "auxiliary") or _is(last, "state"):
        return said_of_it >= 2 and (_is(last, "state") or _is_in_a_place(words))
    # "how many ounces" has no verb yet, "what is" nothing behind it, and "why is the sky" too little.
    return said_of_it >= 3


def _is_in_a_place(words: list[str]) -> bool:
    # "turn on the kitchen" may be the kitchen's light: only "in the kitchen" is where something is.
    return _is(words[-1], "room") and _has(words[-4:-1], "place_preposition")


def _is_question(words: list[str]) -> bool:
    return _is(words[0], "question", "auxiliary")


# --- words


def _last_sentence(text: str) -> str:
    plain = text.replace("%", " percent").replace("°C", " degrees").replace("°", " degrees")
    plain = _TIME_OF_DAY.sub(r"\1 oclock", plain)
    sentences = [part for part in re.split(r"[.!?]+(?:\s+|$)", plain) if plain_words(part)]
    return sentences[-1] if sentences else ""


def _words(sentence: str) -> list[str]:
    contractions = packaged_toml(_DATA)["contractions"]
    return " ".join(contractions.get(word, word) for word in plain_words(sentence)).split()


def _without_preamble(words: list[str]) -> list[str]:
    """The words after "okay, could you please"."""
    for length in (4, 3, 2, 1):
        if _is(" ".join(words[:length]), "preamble", "filler"):
            return _without_preamble(words[length:])
    return words


def _is_number(word: str) -> bool:
    return word.isdecimal() or _is(word, "number")


def _is(text: str, *classes: str) -> bool:
    """Whether a word or a phrase is in one of the classes of turn_completion.toml."""
    return any(text in _vocabulary()[name] for name in classes)


def _has(words: Iterable[str], *classes: str) -> bool:
    return any(_is(word, *classes) for word in words)


@cache
def _vocabulary() -> Mapping[str, frozenset[str]]:
    data = packaged_toml(_DATA)
    words = {name: frozenset(words.split()) for name, words in data["words"].items()}
    return words | {name: frozenset(phrases) for name, phrases in data["phrases"].items()}


# In units of `audio.hangover_ms`, 500 ms by default. Speakers who pause to think mostly resume within 700 ms,
# and one in fifteen of these pauses follows a whole sentence (docs/adr/0025-endpointing.md): only after a
# `certain` end is a shorter silence enough.
AFTER_CERTAIN = 0.6
AFTER_WHOLE = 1.3
AFTER_UNCLEAR = 1.5
AFTER_UNFINISHED = 2.4


def completion_of(transcript: Transcript | None) -> TurnCompletion | None:
    """The completion of a transcript; None if there is none yet or its language is not English.

    An empty transcript is unfinished: speech has begun and will continue.
    """
    if transcript is not None and not transcript.text:
        return "unfinished"
    if transcript is None or transcript.language != ENGLISH:
        return None
    return classify_completion(transcript.text)


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

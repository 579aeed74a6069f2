"""Makes a sentence as messy as people speak: fillers, repeated words, false starts, lost articles, misheard words.

The words of an argument stay together and unchanged, and nothing is put into a number.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Sequence

from training.asr_noise import slur_names
from training.types import Call

_FILLERS = (
    "um", "um", "uh", "uh", "er", "erm", "like", "you know", "hmm", "well", "let me see", "what's it called", "ah",
    "how do you say", "what do you call it", "just", "so", "oh", "please", "sort of", "mm",
)  # fmt: skip
_STARTS = (
    "um ", "uh ", "so um ", "okay um ", "hey um ", "can you can you ", "could you um ", "wait so ", "okay wait ",
    "right so um ", "er ", "oh yeah ", "hang on, ", "what I want is ", "I was gonna say ", "so like ", "yeah so ",
    "hello? ", "are you there? ", "hey, hey, ", "sorry, ", "oh, um, ", "you, um, ", "okay okay ", "listen, uh, ",
    "let me think, ", "how was it, ah yes, ", "excuse me, um, ", "I want, I mean, ", "can we, uh, ",
)  # fmt: skip
_ENDS = (
    " yeah", " right", " I think", " okay", " or whatever", " if that works", " you know", " um", " uh", " you hear me",
    " if you would", " yes", " alright", " and yeah", " that's it", " please please", " for me yeah", " got it",
)  # fmt: skip
_ARTICLES = frozenset({"the", "a", "an", "my"})
_NUMBER = re.compile(
    r"\d|^(?:half|quarter|quarters|three|couple|dozen|one|two|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|"
    r"twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|point|and|past|to|o'clock|am|pm|percent|degrees?|oh)\b",
    re.IGNORECASE,
)
_ENDS_SENTENCE = re.compile(r"[.?!]$")


def disfluent(rng: random.Random, text: str, calls: Sequence[Call], *, ends_free: bool, fixed: Collection[str]) -> str:
    """The sentence with one to three slips of a speaker or a recogniser; with `ends_free`, nothing follows its end."""
    values = _values(text, calls, fixed)
    for _ in range(rng.choice((1, 1, 2, 2, 3))):
        changed = _once(rng, text, calls, values, ends_free=ends_free)
        if all(changed.count(value) >= text.count(value) for value in values):
            text = changed
    return text


def _values(text: str, calls: Sequence[Call], fixed: Collection[str]) -> tuple[str, ...]:
    return tuple(
        dict.fromkeys(
            value
            for call in calls
            for slot, value in call.arguments.items()
            if isinstance(value, str) and value and slot not in fixed and value in text
        )
    )


def _once(rng: random.Random, text: str, calls: Sequence[Call], values: Sequence[str], *, ends_free: bool) -> str:
    way = rng.random()
    if way < 0.34:
        return _between(rng, text, values, ends_free=ends_free)
    if way < 0.52:
        return _repeated(rng, text, values)
    if way < 0.64:
        return rng.choice(_STARTS) + text
    if way < 0.72:
        return text if ends_free or _ENDS_SENTENCE.search(text) else text + rng.choice(_ENDS)
    if way < 0.84:
        return _without_articles(text, values)
    return slur_names(rng, text, tuple(calls))


def _open_places(text: str, values: Sequence[str]) -> list[int]:
    """The indices of words before which something may stand: inside no argument and beside no number."""
    words = text.split(" ")
    spans = [(start, start + len(value)) for value in values for start in _found(text, value)]
    places, at = [], 0
    for index, word in enumerate(words):
        if (
            index
            and not any(start < at < end for start, end in spans)
            and not (_NUMBER.search(word) or _NUMBER.search(words[index - 1]))
        ):
            places.append(index)
        at += len(word) + 1
    return places


def _found(text: str, value: str) -> list[int]:
    return [match.start() for match in re.finditer(re.escape(value), text)]


def _between(rng: random.Random, text: str, values: Sequence[str], *, ends_free: bool) -> str:
    places = _open_places(text, values)
    if ends_free and values:  # behind free words everything would be theirs
        last = min(text.find(value) for value in values)
        places = [place for place in places if len(" ".join(text.split(" ")[:place])) < last]
    if not places:
        return text
    words = text.split(" ")
    words.insert(rng.choice(places), rng.choice(_FILLERS))
    return " ".join(words)


def _repeated(rng: random.Random, text: str, values: Sequence[str]) -> str:
    """ "The the kitchen light", "turn on turn on the lamp"."""
    words = text.split(" ")
    places = [place for place in (0, *_open_places(text, values)) if place < len(words) - 1]
    places = [place for place in places if words[place].isalpha() and not _NUMBER.search(words[place])]
    if not places:
        return text
    place = rng.choice(places)
    count = 2 if rng.random() < 0.3 and place == 0 else 1
    return " ".join((*words[: place + count], *words[place:]))


def _without_articles(text: str, values: Sequence[str]) -> str:
    """ "Turn off light in kitchen", as one speaks who learns the language."""
    places = {0, *_open_places(text, values)}
    words = text.split(" ")
    return " ".join(word for at, word in enumerate(words) if not (at in places and word in _ARTICLES))

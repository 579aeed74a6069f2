"""Names as people say them and as a recogniser writes them: words compared, small mishearings put right.

Two texts mean the same name when their words are the same, after case, accents, articles, plurals,
possessives and the spelling of numbers are taken away. A word that the home does not know may be a mishearing
of one that it knows; a word that houses use (`deck`, `loft`) never is, however much it looks like `desk`.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TypeAlias

Words: TypeAlias = tuple[str, ...]


def word_set(text: str) -> frozenset[str]:
    """A set, written down as text."""
    return frozenset(text.split())


_NOT_WORDS = word_set("the a an my our your his her their this that these those of in at on please")
_DIGITS = {
    word: str(number)
    for number, names in enumerate(
        (
            "zero", "one first 1st", "two second 2nd", "three third 3rd", "four fourth 4th", "five fifth 5th",
            "six sixth 6th", "seven seventh 7th", "eight eighth 8th", "nine ninth 9th", "ten tenth 10th",
            "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen",
            "nineteen", "twenty",
        )
    )
    for word in names.split()
}  # fmt: skip

HOUSE_WORDS = word_set(
    """
    attic back balcony barn basement bath bathroom bed bedroom blind cabinet ceiling cellar closet
    couch counter curtain deck den desk dining door down downstairs driveway entry fan fireplace
    floor fountain front fridge garage garden gate guest hall hallway heater heating house inside
    kitchen lamp landing laundry lawn left library light living lobby lock loft lounge master mirror
    mower nursery office oven outlet outside pantry patio play plug pool porch printer pump radiator
    radio right roof room router sauna screen shade shed shelf shower shutter side sink sofa spare
    speaker stage stair steam stereo strip study switch table terrace toilet top tree tv under up
    upstairs vacuum wall wardrobe washer window workshop yard
    """
)
"""Words that name rooms, places and things in many houses. Heard, they are what was said."""

_MAX_READINGS = 8
# No name is longer; a model that cannot stop writes one that is.
_MAX_CHARS = 200


@lru_cache(maxsize=8192)
def words(text: str) -> Words:
    """The words that count, in their order: "The Kitchen's lights" and "kitchen light" are the same."""
    return tuple(_singular(word) for word in spoken_words(text))


@lru_cache(maxsize=8192)
def spoken_words(text: str) -> Words:
    """The words that count, plurals kept."""
    plain = "".join(
        letter
        for letter in unicodedata.normalize("NFKD", text[:_MAX_CHARS].casefold())
        if not unicodedata.combining(letter)
    )
    plain = re.sub(r"['’`]s\b|['’`]", "", plain)
    found = [_DIGITS.get(word, word) for word in re.findall(r"[^\W_]+", plain)]
    return tuple(word for word in found if word not in _NOT_WORDS) or tuple(found)


def is_plural(text: str) -> bool:
    """True when the last word is a plural: "lights", but not "glass"."""
    spoken = spoken_words(text)
    return bool(spoken) and _singular(spoken[-1]) != spoken[-1]


def are_same(first: Words, second: Words) -> bool:
    """True for the same words, however they are split: "bed room" is "bedroom"."""
    return first == second or "".join(first) == "".join(second)


def readings(heard: Words, known: frozenset[str]) -> tuple[Words, ...]:
    """What was perhaps said: unknown words replaced by known ones that look and sound like them.

    Several words that are equally near give several readings. Nothing comes back when every word is known.
    """
    choices = [_candidates(word, known) for word in heard]
    if all(choice == (word,) for choice, word in zip(choices, heard, strict=True)):
        return ()
    every = itertools.islice(itertools.product(*choices), _MAX_READINGS)
    return tuple(tuple(" ".join(reading).split()) for reading in every)


def nearest(said: str, names: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """The names that look most like what was said, best first; none that has little in common with it."""
    pairs = _pairs(said)
    scored = [(_likeness(pairs, _pairs(name)), name) for name in dict.fromkeys(names)]
    close = sorted((score for score in scored if score[0] >= 0.4), key=lambda score: (-score[0], score[1]))
    return tuple(name for _, name in close[:count])


@lru_cache(maxsize=16384)
def sounds_like(heard: str, known: str) -> bool:
    """True when one word may be a mishearing of the other. Short words and numbers never are."""
    if min(len(heard), len(known)) < 4 or abs(len(heard) - len(known)) > 2:
        return False
    if not (heard.isalpha() and known.isalpha()):
        return False
    sound_a, sound_b = _sound(heard), _sound(known)
    starts_alike = heard[0] == known[0] or sound_a[:1] == sound_b[:1]
    if not starts_alike:
        return False
    if len(set(heard) ^ set(known)) > 4:  # one letter changed is two letters that only one of them has
        return False
    distance = _distance(heard, known)
    shorter = min(len(heard), len(known))
    return (
        (distance <= 2 and sound_a == sound_b)
        or (distance == 1 and shorter >= 5)
        or (distance == 2 and shorter >= 7)
    )


def _candidates(word: str, known: frozenset[str]) -> Words:
    if word in known or word in HOUSE_WORDS:
        return (word,)
    for cut in range(2, len(word) - 1):  # "livingroom"
        if word[:cut] in known and word[cut:] in known:
            return (f"{word[:cut]} {word[cut:]}",)
    alike = [(_distance(word, other), other) for other in _alike(word, known) if sounds_like(word, other)]
    best = min((distance for distance, _ in alike), default=0)
    return tuple(sorted(other for distance, other in alike if distance == best)) or (word,)


def _alike(word: str, known: frozenset[str]) -> Iterator[str]:
    """Those known words that begin like the word and are about as long: no other may be meant by it."""
    beginnings = {word[:1], _sound(word)[:1]}
    index = _by_beginning(known)
    for other in dict.fromkeys(itertools.chain.from_iterable(index.get(each, ()) for each in beginnings)):
        if abs(len(word) - len(other)) <= 2:
            yield other


@lru_cache(maxsize=8)
def _by_beginning(known: frozenset[str]) -> dict[str, tuple[str, ...]]:
    """Words by their first letter and by their first sound."""
    index = defaultdict[str, list[str]](list)
    for word in sorted(known):
        for beginning in {word[:1], _sound(word)[:1]}:
            index[beginning].append(word)
    return {beginning: tuple(found) for beginning, found in index.items()}


@lru_cache(maxsize=8192)
def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("ses", "xes", "zes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


_SOUNDS = (
    ("ph", "f"), ("ck", "k"), ("sch", "S"), ("tch", "C"), ("ch", "C"), ("sh", "S"), ("th", "0"), ("gh", ""),
    ("kn", "n"), ("wr", "r"), ("wh", "w"), ("qu", "k"), ("x", "ks"), ("dg", "j"), ("ce", "se"), ("ci", "si"),
    ("cy", "sy"), ("ge", "je"), ("gi", "ji"), ("c", "k"), ("q", "k"), ("z", "s"), ("b", "p"), ("d", "t"),
    ("g", "k"), ("v", "f"),
)  # fmt: skip


@lru_cache(maxsize=8192)
def _sound(word: str) -> str:
    """The consonants that are heard, voiced and unvoiced alike; a first vowel counts as one sound."""
    sound = word
    for letters, heard in _SOUNDS:
        sound = sound.replace(letters, heard)
    first = "a" if sound[:1] in "aeiouy" else sound[:1]
    rest = re.sub(r"[aeiouyhw]", "", sound[1:])
    return re.sub(r"(.)\1+", r"\1", first + rest)


def _distance(first: str, second: str) -> int:
    """Letters added, dropped, changed or swapped with their neighbour."""
    before: list[int] = []
    row = list(range(len(second) + 1))
    for i, letter in enumerate(first, 1):
        previous, before, row = before, row, [i]
        for j, other in enumerate(second, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != other))
            if i > 1 and j > 1 and letter == second[j - 2] and first[i - 2] == other:
                cost = min(cost, previous[j - 2] + 1)
            row.append(cost)
    return row[-1]


@lru_cache(maxsize=8192)
def _pairs(text: str) -> frozenset[str]:
    """Every two letters that stand side by side in the words that count."""
    padded = f" {' '.join(words(text))} "
    return frozenset(padded[i : i + 2] for i in range(len(padded) - 1))


def _likeness(first: frozenset[str], second: frozenset[str]) -> float:
    return 2 * len(first & second) / (len(first) + len(second))

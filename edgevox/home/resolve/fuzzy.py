"""Fuzzy comparison of names: edit distance, phonetic codes and phonetic distance of English words.

A word that is unknown to the home may be a mishearing of a known one; a word that is common in homes (`deck`,
`loft`) never is, however much it resembles another (`desk`). A phonetic code is a string: capitals are
consonants (X as in ship, C as in chip, 0 as in thin), small letters are vowels.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import TypeVar

from edgevox.core.files import packaged_toml
from edgevox.core.words import Words, normalized_words, singular, words_with_plurals

ThingT = TypeVar("ThingT")

_MAX_READINGS = 8


@cache
def known_words(*groups: str) -> frozenset[str]:
    """The words of these groups of vocabulary.toml."""
    vocabulary = packaged_toml("home/resolve/vocabulary.toml")
    return frozenset(word for group in groups for word in vocabulary[group].split())


def is_plural(text: str) -> bool:
    """Whether the last word is a plural: "lights", but not "glass"."""
    spoken = words_with_plurals(text)
    return bool(spoken) and singular(spoken[-1]) != spoken[-1]


def are_same(first: Words, second: Words) -> bool:
    """Whether the words are the same, however they are split: "bed room" is "bedroom"."""
    return first == second or "".join(first) == "".join(second)


def fuzzy_readings(heard: Words, known: frozenset[str]) -> tuple[Words, ...]:
    """Readings of the words with unknown ones replaced by similar known ones.

    Several equally similar words give several readings. Empty if every word is known.
    """
    choices = [_candidates(word, known) for word in heard]
    if all(choice == (word,) for choice, word in zip(choices, heard, strict=True)):
        return ()
    every = itertools.islice(itertools.product(*choices), _MAX_READINGS)
    return tuple(tuple(" ".join(reading).split()) for reading in every)


def find_by_words(wanted: Words, things: Sequence[ThingT], words_of: Callable[[ThingT], Words]) -> tuple[ThingT, ...]:
    """The things whose words equal these, else contain them, else sound like them."""
    named = [(thing, words_of(thing)) for thing in things]
    known = frozenset(word for _, own in named for word in own)
    for reading in (wanted, *fuzzy_readings(wanted, known)):
        same = tuple(thing for thing, own in named if are_same(reading, own))
        found = same or tuple(thing for thing, own in named if set(reading) <= set(own))
        if found:
            return found
    return ()


def closest_names(said: str, names: Iterable[str], count: int = 3) -> tuple[str, ...]:
    """The names most similar to the spoken one, best first; dissimilar ones are left out."""
    pairs = _bigrams(said)
    scored = ((_dice_similarity(pairs, _bigrams(name)), name) for name in set(names))
    close = sorted((-score, name) for score, name in scored if score >= 0.4)
    return tuple(name for _, name in close[:count])


@lru_cache(maxsize=16384)
def may_be_mishearing(heard: str, known: str) -> bool:
    """Whether one word may be a mishearing of the other. Short words and numbers never are."""
    shorter, longer = sorted((len(heard), len(known)))
    if shorter < 4 or longer - shorter > 2 or not (heard.isalpha() and known.isalpha()):
        return False
    sound_a, sound_b = _consonant_code(heard), _consonant_code(known)
    starts_alike = heard[0] == known[0] or sound_a[:1] == sound_b[:1]
    # Each changed letter counts twice.
    if not starts_alike or len(set(heard) ^ set(known)) > 4:
        return False
    distance = edit_distance(heard, known)
    return (
        (distance <= 2 and sound_a == sound_b) or (distance == 1 and shorter >= 5) or (distance == 2 and shorter >= 7)
    )


def _candidates(word: str, known: frozenset[str]) -> Words:
    if word in known or word in known_words("house"):
        return (word,)
    for cut in range(2, len(word) - 1):  # "livingroom"
        if word[:cut] in known and word[cut:] in known:
            return (f"{word[:cut]} {word[cut:]}",)
    alike = [(edit_distance(word, other), other) for other in _alike(word, known) if may_be_mishearing(word, other)]
    best = min((distance for distance, _ in alike), default=0)
    return tuple(sorted(other for distance, other in alike if distance == best)) or (word,)


def _alike(word: str, known: frozenset[str]) -> Iterator[str]:
    """Known words with the same beginning and similar length; no others can match."""
    index, beginnings = _by_beginning(known), {word[:1], _consonant_code(word)[:1]}
    others = {other for beginning in beginnings for other in index.get(beginning, ())}
    return (other for other in others if abs(len(word) - len(other)) <= 2)


@lru_cache(maxsize=8)
def _by_beginning(known: frozenset[str]) -> Mapping[str, Sequence[str]]:
    """Words by first letter and by first sound."""
    index = defaultdict[str, list[str]](list)
    for word in sorted(known):
        for beginning in {word[:1], _consonant_code(word)[:1]}:
            index[beginning].append(word)
    return index


_CONSONANT_CODES = (
    ("ph", "f"), ("ck", "k"), ("sch", "S"), ("tch", "C"), ("ch", "C"), ("sh", "S"), ("th", "0"), ("gh", ""),
    ("kn", "n"), ("wr", "r"), ("wh", "w"), ("qu", "k"), ("x", "ks"), ("dg", "j"), ("ce", "se"), ("ci", "si"),
    ("cy", "sy"), ("ge", "je"), ("gi", "ji"), ("c", "k"), ("q", "k"), ("z", "s"), ("b", "p"), ("d", "t"),
    ("g", "k"), ("v", "f"),
)  # fmt: skip


@lru_cache(maxsize=8192)
def _consonant_code(word: str) -> str:
    """The consonant sounds, voiced and unvoiced alike; an initial vowel counts as one sound."""
    sound = word
    for letters, heard in _CONSONANT_CODES:
        sound = sound.replace(letters, heard)
    first = "a" if sound[:1] in "aeiouy" else sound[:1]
    rest = re.sub(r"[aeiouyhw]", "", sound[1:])
    return re.sub(r"(.)\1+", r"\1", first + rest)


def edit_distance(first: str, second: str) -> int:
    """Damerau-Levenshtein distance: insertions, deletions, substitutions and transpositions."""
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
def _bigrams(text: str) -> frozenset[str]:
    """The letter bigrams of the normalised words."""
    padded = f" {' '.join(normalized_words(text))} "
    return frozenset(padded[i : i + 2] for i in range(len(padded) - 1))


def _dice_similarity(first: frozenset[str], second: frozenset[str]) -> float:
    return 2 * len(first & second) / (len(first) + len(second))


# Applied in this order; capitals are results and are not matched again.
_SPELLINGS = tuple(
    (re.compile(pattern), sound)
    for pattern, sound in (
        (r"^(?:kn|gn|pn)", "N"), (r"^wr", "R"), (r"^ps", "S"), (r"^tele", "TeLi"), (r"^who", "Ho"),
        (r"^wh", "W"), (r"^y(?=[aeiou])", "Y"), (r"mb$|mn$", "M"), (r"tch", "C"), (r"sch", "SK"),
        (r"(?:t|ss?|c)i[oa]n", "XN"), (r"ture(?=s?$)", "CR"), (r"ph", "F"), (r"eigh|aigh", "e"),
        (r"igh", "i"), (r"(?<=tr)ough|(?<=^[crt])ough", "oF"), (r"[oa]ugh", "o"), (r"gh", ""),
        (r"sh", "X"), (r"ch", "C"), (r"th", "0"), (r"ck", "K"), (r"dg(?=[eiy])", "J"), (r"ng(?=e)", "NJ"),
        (r"ng", "N"), (r"g(?=[eiy])", "J"), (r"c(?=[eiy])", "S"), (r"qu", "KW"), (r"[cq]", "K"),
        (r"x", "KS"), (r"(?<=[^aeiouy])le(?=s?$)", "L"), (r"a(?=[^aeiouy]e[sS]?$)", "e"),
        (r"([aeiouy].*[^aeiouy])e(?=[sS]?$)", r"\1"), (r"([aeiou].*[^aeioutdTD])ed$", r"\1D"),
        (r"(?<=.)(?:er|or|ar|our|re)$", "R"), (r"ai|ay|ey(?=.)", "e"), (r"ee|ea|ei|ie|ey", "i"),
        (r"oo|ew|ue|ui", "u"), (r"ou|ow|oa|oe|au|aw", "o"), (r"y", "i"), (r"i(?=[aou])", "iY"),
        (r"([aeiou])[aeiou]+", r"\1"),
    )
)  # fmt: skip

_ALIKE = {
    0.25: ("PB", "TD", "KG", "FV", "SZ"),
    0.4: ("SZXCJ", "MN", "LRW", "T0", "D0", "F0", "BV", "GJ", "KC", "MB"),
    0.5: ("PF", "VW", "BDG", "PTK"),
}
_APART = {
    frozenset(pair): cost
    for cost, groups in sorted(_ALIKE.items(), reverse=True)
    for group in groups
    for pair in itertools.combinations(group, 2)
}
_VOWELS = frozenset("aeiou")
_OTHER_VOWEL = 0.3
_FAINT = _VOWELS | frozenset("HWYR")
_FAINT_LOST = 0.4
_LOST = 0.8

# Consonants by the families of the table above, to find candidates: losses and changes within one are cheap.
_FAMILIES = str.maketrans("BPVFMNTD0KGSZXCJLRW", "PPPPPPTTTKKKKKKKLLL", "aeiouHY")


@lru_cache(maxsize=16384)
def phonetic_code(word: str) -> str:
    """The phonetic code of a word in lower case without accents, never empty; digits stay."""
    heard = word
    for spelling, instead in _SPELLINGS:
        heard = spelling.sub(instead, heard)
    heard = "".join(letter if letter in _VOWELS else letter.upper() for letter in heard)
    return re.sub(r"(.)\1+", r"\1", heard) or word


def consonant_skeleton(sounds: str) -> str:
    """The consonants by family. Similar codes have skeletons that differ in at most one place."""
    return sounds.translate(_FAMILIES)


def same_onset(first: str, second: str) -> bool:
    """Whether the first sounds can be confused."""
    lost_h = {first[0], second[0]} - _VOWELS == {"H"}
    return lost_h or _changed(first[0], second[0]) < 1.0


@lru_cache(maxsize=32768)
def phonetic_distance(first: str, second: str) -> float:
    """The phonetic distance of two codes: 0.0 for equal ones to about 1.0, independent of their length."""
    if first == second:
        return 0.0
    row = [0.0, *itertools.accumulate(map(_lost, second))]
    for letter in first:
        before, row = row, [row[0] + _lost(letter)]
        for j, other in enumerate(second, 1):
            changed = before[j - 1] + _changed(letter, other)
            row.append(min(changed, before[j] + _lost(letter), row[j - 1] + _lost(other)))
    return row[-1] / max(len(first), len(second))


def _lost(letter: str) -> float:
    return _FAINT_LOST if letter in _FAINT else _LOST


def _changed(letter: str, other: str) -> float:
    if letter == other:
        return 0.0
    if letter in _VOWELS and other in _VOWELS:
        return _OTHER_VOWEL
    return _APART.get(frozenset((letter, other)), 1.0)

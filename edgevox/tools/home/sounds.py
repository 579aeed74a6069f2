"""How English words sound, roughly, and how far two of them are apart by ear.

A sound is a string: a capital is a consonant (X as in ship, C as in chip, 0 as in thin), a small letter is a
vowel. It need not be right, only the same for what is spelt differently and sounds alike.
"""

from __future__ import annotations

import itertools
import re
from functools import lru_cache

# In this order; what has become a capital is not looked at again.
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

# The families of the table above, for finding what may be near: lost or changed within one, it is.
_FAMILIES = str.maketrans("BPVFMNTD0KGSZXCJLRW", "PPPPPPTTTKKKKKKKLLL", "aeiouHY")


@lru_cache(maxsize=16384)
def sound(word: str) -> str:
    """What a word of small letters without accents sounds like, which is never nothing; digits stay."""
    heard = word
    for spelling, instead in _SPELLINGS:
        heard = spelling.sub(instead, heard)
    heard = "".join(letter if letter in _VOWELS else letter.upper() for letter in heard)
    return re.sub(r"(.)\1+", r"\1", heard) or word


def skeleton(sounds: str) -> str:
    """Its consonants by family. Sounds that are near have skeletons that differ in one place or in none."""
    return sounds.translate(_FAMILIES)


def begin_alike(first: str, second: str) -> bool:
    """True when their first sounds may be mistaken for each other."""
    lost_h = {first[0], second[0]} - _VOWELS == {"H"}
    return lost_h or _changed(first[0], second[0]) < 1.0


@lru_cache(maxsize=32768)
def distance(first: str, second: str) -> float:
    """How far two sounds are apart, from 0.0 for the same to about 1.0, whatever their length."""
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

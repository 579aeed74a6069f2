"""The things that a sentence names, before any model has read it.

Words are compared as in `names.py`. A thing is named when the words that tell it from others are all in the
sentence; where nothing is, a part of a name will do, and then a misheard one. What fits fewer of the
sentence's words than another thing does is not what was meant.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from edgevox.tools.home.house import Entity, House
from edgevox.tools.home.kinds import every_kind_word
from edgevox.tools.home.labels import Label, Labels, labels_of, vocabulary
from edgevox.tools.home.names import Words, readings, spoken_words, word_set, words
from edgevox.tools.home.places import place_words

MOST_NAMED = 8
"""A sentence names no more things than this: what fits more of them is a word for many."""

# Words of commands and questions. In a name they tell nothing: who plays jazz does not name the Play Room.
_COMMAND_WORDS = word_set(
    """
    activate add again alarm all also and announce any are be brighter bring can change check clean close
    colder cool could cover current dark degree did dim do does down everything for from get give go good half
    have hello hey higher hour how hundred i is it item kind last left level list lock low lower make many me
    media minute more music mute need next no not now off okay open out pause percent play please put quiet
    quieter read remind remove resume right run say second set show skip some start state status still stop
    switch tell than thank them there think time timer to today tomorrow too turn unlock unmute up us volume
    want warm warmer was we weather week were what when where which who will with would yes you
    """
)
_MANY = _COMMAND_WORDS | every_kind_word()


def named_things(house: House, sentence: str, told: Collection[str]) -> tuple[Entity, ...]:
    """What the sentence names and is not among those `told`, which are ids; at most MOST_NAMED things."""
    known = labels_of(house)
    heard = words(sentence)
    fits = _fits(house, known, _Said(heard, spoken_words(sentence)))
    if not fits:
        others = readings(heard, vocabulary(house, known.values()) | _COMMAND_WORDS)
        tried = (_fits(house, known, _Said(reading, reading)) for reading in others)
        fits = next(filter(None, tried), [])
    found = list[Entity]()
    for alike in _best(fits):
        if len(alike) <= MOST_NAMED:
            found += (entity for entity in alike if entity.id not in told)
    return tuple(found[:MOST_NAMED])


class _Said:
    """The words of a sentence: singular, with neighbours joined ("bed room"), and as they were spoken."""

    def __init__(self, heard: Words, spoken: Words) -> None:
        self.words = frozenset((*heard, *("".join(pair) for pair in itertools.pairwise(heard))))
        self.spoken = frozenset(spoken)
        self._in_order = f" {' '.join(heard)} "

    def has_in_a_row(self, name: str) -> bool:
        return f" {' '.join(words(name))} " in self._in_order


@dataclass(frozen=True, slots=True)
class _Fit:
    """A thing that is perhaps meant: the words of the sentence that it explains, and how they stand there."""

    entity: Entity
    said: frozenset[str]
    is_in_a_row: bool


def _best(fits: Sequence[_Fit]) -> Iterator[list[Entity]]:
    """Things that explain most, in groups that explain the same.

    "The attic fan and the cellar light" are not the attic light: other names have its words, and in a row.
    """
    in_rows = frozenset[str]().union(*(fit.said for fit in fits if fit.is_in_a_row))
    groups = defaultdict[frozenset[str], list[Entity]](list)
    for fit in fits:
        is_elsewhere = not fit.is_in_a_row and fit.said <= in_rows
        if not is_elsewhere and not any(fit.said < other.said for other in fits):
            groups[fit.said].append(fit.entity)
    return (groups[said] for said in sorted(groups, key=len, reverse=True))


def _fits(house: House, known: Mapping[str, Labels], said: _Said) -> list[_Fit]:
    """What is named in whole; where nothing is, what is named in part."""
    places = place_words(house.places)
    whole, part = list[_Fit](), list[_Fit]()
    for entity in house.entities:
        its = known[entity.id]
        if its.words.isdisjoint(said.words):
            continue
        explained = (its.words | its.extra) & said.words
        names = (entity.name, *entity.aliases)
        labels = zip(names, its.labels, strict=True)
        if any(_is_whole(name, label, said) for name, label in labels):
            whole.append(_Fit(entity, explained, any(map(said.has_in_a_row, names))))
        elif any(_is_part(label, said, places) for label in its.labels):
            part.append(_Fit(entity, explained, is_in_a_row=False))
    return whole or part


def _is_whole(name: str, label: Label, said: _Said) -> bool:
    """True when all that tells a thing from others is said, or, where nothing does, all of its name."""
    if _telling(label):
        return label.told_by <= said.words
    return said.spoken.issuperset(spoken_words(name))  # the kitchen lights are not the Kitchen Light


def _is_part(label: Label, said: _Said, places: frozenset[str]) -> bool:
    common = label.told_by & said.words
    return 2 * len(common) >= len(label.told_by) and bool((common & _telling(label)) - places)


def _telling(label: Label) -> frozenset[str]:
    """The words of a name that no command and no other kind of thing is likely to have."""
    return frozenset(word for word in label.told_by - _MANY if not word.isdigit())

"""The things that a sentence names, before any model has read it.

Words are compared as in `names.py`. A thing is named when the words that tell it from others are all in the
sentence; where nothing is, a part of a name will do, and then a misheard one. What fits fewer of the
sentence's words than another thing does is not what was meant.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from edgevox.tools.home.house import Entity, House
from edgevox.tools.home.kinds import every_kind_word
from edgevox.tools.home.labels import Label, Labels, labels_of, vocabulary
from edgevox.tools.home.names import Words, readings, spoken_words, word_set, words
from edgevox.tools.home.places import place_words

MOST_NAMED = 8
"""A sentence names no more things than this: what fits more of them is a word for many."""

_Fits: TypeAlias = list[tuple[Entity, frozenset[str]]]
"""Things, each with the words of the sentence that it explains."""

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
    fits = _fits(house, known, _Said.of(heard, spoken_words(sentence)))
    if not fits:
        others = readings(heard, vocabulary(house, known.values()) | _COMMAND_WORDS)
        tried = (_fits(house, known, _Said.of(reading, reading)) for reading in others)
        fits = next(filter(None, tried), [])
    best = [(entity, said) for entity, said in fits if not any(said < other for _, other in fits)]
    found = list[Entity]()
    for said in sorted(dict.fromkeys(said for _, said in best), key=len, reverse=True):
        alike = [entity for entity, its in best if its == said]
        if len(alike) <= MOST_NAMED:
            found += (entity for entity in alike if entity.id not in told)
    return tuple(found[:MOST_NAMED])


@dataclass(frozen=True, slots=True)
class _Said:
    """The words of a sentence: singular, with neighbours joined ("bed room"), and as they were spoken."""

    words: frozenset[str]
    spoken: frozenset[str]

    @classmethod
    def of(cls, heard: Words, spoken: Words) -> _Said:
        joined = ("".join(pair) for pair in itertools.pairwise(heard))
        return cls(frozenset((*heard, *joined)), frozenset(spoken))


def _fits(house: House, known: Mapping[str, Labels], said: _Said) -> _Fits:
    """What is named in whole; where nothing is, what is named in part."""
    places = place_words(house.places)
    here = {area.id for area in house.areas if place_words((area,)) <= said.words}
    whole, part = _Fits(), _Fits()
    for entity in house.entities:
        its = known[entity.id]
        if its.words.isdisjoint(said.words):
            continue
        explained = (its.words | its.extra) & said.words
        names = zip((entity.name, *entity.aliases), its.labels, strict=True)
        if any(_is_whole(name, label, said, is_here=entity.area in here) for name, label in names):
            whole.append((entity, explained))
        elif any(_is_part(label, said, places) for label in its.labels):
            part.append((entity, explained))
    return whole or part


def _is_whole(name: str, label: Label, said: _Said, *, is_here: bool) -> bool:
    """True when all that tells a thing from others is said, or, where nothing does, all of its name."""
    if _telling(label):
        return label.told_by <= said.words
    # A TV is any TV, but for its room; and the kitchen lights are not the Kitchen Light.
    return (is_here or len(label.sorted) > 1) and said.spoken.issuperset(spoken_words(name))


def _is_part(label: Label, said: _Said, places: frozenset[str]) -> bool:
    common = label.told_by & said.words
    return 2 * len(common) >= len(label.told_by) and bool((common & _telling(label)) - places)


def _telling(label: Label) -> frozenset[str]:
    """The words of a name that no command and no other kind of thing is likely to have."""
    return frozenset(word for word in label.told_by - _MANY if not word.isdigit())

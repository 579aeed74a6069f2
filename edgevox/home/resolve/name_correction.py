"""Corrects misheard entity names in a transcript ("piano ram" to "piano lamp") by phonetic distance.

A name is inserted where most of it was recognised, the rest is phonetically close, and no other name is
as close. Common words and words of entity names are never replaced. In doubt the text is left unchanged.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from typing import TypeAlias

from edgevox.core.words import normalized_words, word_set
from edgevox.home.resolve.fuzzy import consonant_skeleton, known_words, phonetic_code, phonetic_distance, same_onset
from edgevox.home.resolve.labels import ALL_WORDS, every_kind_word

_FORMS = word_set("ed en er ing ly s y")
# These may be the misheard end of the word before: "extract her", "sail a".
_ENDINGS = word_set("a an are er her in it or our")
# A name of one word is searched only where an entity is likely to be named.
_DETERMINERS = word_set("the a an my our your his her their this that")
_BEFORE_NAMES = _DETERMINERS - {"her", "that"} | word_set("in on at of from with")

# Maximum phonetic distance of a word: beside a word that only this home has ("piano"); for a kind word; beside
# "light" or "kitchen", and for colours.
_FAR, _KIND, _NEAR = 0.305, 0.275, 0.135
# For two words heard as one, and one heard as two.
_JOINED = 0.105
# The maximum difference in the number of sounds.
_MOST_LOST = 2
# For names without a recognised word beside them, by the number of their sounds; shorter ones are not corrected.
_ALONE = {4: 0.08, 5: 0.07, 6: 0.08}
_ALONE_LONG = 0.13
# At the start of a sentence a shorter word is more likely a verb.
_FEWEST_AT_BEGINNING = 6
# Another name within this distance makes the correction ambiguous.
_MARGIN = 0.08

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_BETWEEN = frozenset({" ", "-"})


def correct_entity_names(text: str, names: tuple[str, ...]) -> str:
    """The text with misheard names in the home's spelling. In doubt it is unchanged."""
    heard = _words_of(text)
    found = _clear(_Search(heard, _index(names)).findings())
    for finding in sorted(found, key=lambda finding: -finding.start):
        begin, end = heard[finding.start].begin, heard[finding.end - 1].end
        text = text[:begin] + finding.spelling + text[end:]
    return text


@cache
def _usual_words() -> frozenset[str]:
    """Words that are common in commands, and those for places and kinds; they say little about a name."""
    return known_words("spoken", "colours", "house") | ALL_WORDS | every_kind_word()


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a name or text: as written, as compared (`same`), and its phonetic code."""

    written: str
    same: str
    sound: str
    begin: int = field(compare=False)
    end: int = field(compare=False)
    is_joined: bool = field(compare=False)
    """only a space or a hyphen separates it from the word before"""


_Words: TypeAlias = tuple[_Word, ...]


@dataclass(frozen=True, slots=True)
class _Finding:
    """A candidate: the words from `start` to `end` may be a name, of which `kept` words were recognised."""

    start: int
    end: int
    kept: int
    spelling: str
    distance: float


@dataclass(frozen=True, slots=True)
class _Change:
    """The words from `start` to `end` that were misheard for words of a name."""

    start: int
    end: int
    named: _Words
    distance: float


@dataclass(frozen=True, slots=True)
class _Index:
    """The names of a home by their words, and by the consonant skeleton of the whole name."""

    known: frozenset[str]
    by_word: Mapping[str, Sequence[_Words]]
    by_skeleton: Mapping[str, Sequence[_Words]]


@lru_cache(maxsize=8)
def _index(names: tuple[str, ...]) -> _Index:
    by_word = defaultdict[str, list[_Words]](list)
    by_skeleton = defaultdict[str, list[_Words]](list)
    known = {*_usual_words(), *known_words("everyday")}
    for named in dict.fromkeys(filter(None, map(_words_of, names))):
        known.update(word.same for word in named)
        for word in {word.same for word in named} if len(named) > 1 else ():
            by_word[word].append(named)
        for near in _nearly(consonant_skeleton(_sound_of(named))):
            by_skeleton[near].append(named)
    return _Index(frozenset(known), by_word, by_skeleton)


def _words_of(text: str) -> _Words:
    found, last_end = list[_Word](), 0
    for match in _WORD.finditer(text):
        same = next(iter(normalized_words(match[0])), match[0])
        is_joined = bool(found) and text[last_end : match.start()] in _BETWEEN
        found.append(_Word(match[0], same, phonetic_code(same), *match.span(), is_joined))
        last_end = match.end()
    return tuple(found)


def _joined(said: _Words) -> str:
    return "".join([word.same for word in said])


def _sound_of(said: _Words) -> str:
    return "".join([word.sound for word in said])


def _nearly(bones: str) -> set[str]:
    """The skeleton, and all variants with one consonant missing."""
    return {bones, *(bones[:at] + bones[at + 1 :] for at in range(len(bones)))}


class _Search:
    """Searches one text for the names of one home."""

    def __init__(self, heard: _Words, index: _Index) -> None:
        self._heard = heard
        self._index = index
        self._doubtful = frozenset(
            at for at, word in enumerate(heard) if word.same not in index.known and _is_plain(word)
        )
        # The same words are compared again around each word of a name that was recognised.
        self._far = cache(self._measured)

    def findings(self) -> Iterator[_Finding]:
        """All candidates, often several for the same words."""
        split = {at for at in range(len(self._heard) - 1) if _joined(self._heard[at : at + 2]) in self._index.known}
        coloured = {at for at, word in enumerate(self._heard) if word.same in known_words("colours")}
        in_question = self._doubtful | split | coloured
        for at, word in enumerate(self._heard):
            reach = min((abs(at - other) for other in in_question), default=len(self._heard))
            for named in self._index.by_word.get(word.same, ()):
                if reach <= len(named):
                    yield from self._around(at, named)
        for at in self._doubtful | split:
            for start, end in ((at, at + 1), (at, at + 2)):
                if end <= len(self._heard):
                    yield from self._alone(start, end)

    # --- names with a recognised word

    def _around(self, at: int, named: _Words) -> Iterator[_Finding]:
        """Match a name around its word that was recognised at `at`."""
        for place, word in enumerate(named):
            if word.same != self._heard[at].same:
                continue
            for start in _bounds(at - place, place, 0, at):
                left = self._changes(start, at, named[:place])
                if left is None:
                    continue
                more = len(named) - place - 1
                for end in _bounds(at + 1 + more, more, at + 1, len(self._heard)):
                    right = self._changes(at + 1, end, named[place + 1 :])
                    if right is not None and (found := self._judged(start, end, named, left + right)):
                        yield found

    def _changes(self, start: int, end: int, named: _Words) -> tuple[_Change, ...] | None:
        """The misheard words if `start` to `end` is this name; None if it cannot be."""
        if not named or start >= end:
            return None if named or start != end else ()
        if self._heard[start].same == named[0].same:
            return self._changes(start + 1, end, named[1:])
        for taken, given in ((1, 1), (2, 1), (1, 2)):
            if start + taken > end or len(named) < given:
                continue
            far = self._far(start, start + taken, named[:given])
            if far is None:
                continue
            more = self._changes(start + taken, end, named[given:])
            if more is not None:
                return (_Change(start, start + taken, named[:given], far), *more)
        return None

    def _measured(self, start: int, end: int, named: _Words) -> float | None:
        """The phonetic distance; None if it is too large, or the words were surely meant as heard."""
        said = self._heard[start:end]
        if any(len(word.same) < 3 or not word.same.isalpha() for word in named):
            return None
        if len(said) > 1 and _joined(said) == _joined(named):
            return 0.0
        is_one_word = len(said) == len(named) == 1
        is_colour = is_one_word and said[0].same in known_words("colours") and self._has_determiner(start)
        if not is_colour and not self._may_be_misheard(start, end):
            return None
        heard_sound, name_sound = _sound_of(said), _sound_of(named)
        if not same_onset(heard_sound, name_sound):
            return None
        if is_one_word and _is_form(said[0].same, named[0].same):
            return None
        far = phonetic_distance(heard_sound, name_sound)
        most = _NEAR if is_colour else _FAR if is_one_word else _JOINED
        return far if far <= most and abs(len(heard_sound) - len(name_sound)) <= _MOST_LOST else None

    def _judged(self, start: int, end: int, named: _Words, changes: tuple[_Change, ...]) -> _Finding | None:
        """A finding if there is something to correct, with enough evidence."""
        if not changes or not self._are_in_a_row(start, end):
            return None
        changed = {at for change in changes for at in range(change.start, change.end)}
        kept = {self._heard[at].same for at in range(start, end) if at not in changed}
        total = sum(change.distance for change in changes)
        if all(word in _usual_words() or word.isdigit() for word in kept):
            kinds = every_kind_word()
            if len(changes) > 1 and total > _NEAR:
                return None
            for change in changes:
                says_kind = change.named[-1] is named[-1] and named[-1].same in kinds and not kept <= kinds
                if change.distance > (_KIND if says_kind else _NEAR):
                    return None
        return _Finding(start, end, len(kept), _spelling(self._heard[start:end], named), total)

    # --- names without a recognised word

    def _alone(self, start: int, end: int) -> Iterator[_Finding]:
        """Names that sound as a whole like the words from `start` to `end`."""
        if not self._are_in_a_row(start, end) or not self._is_where_names_are(start, end):
            return
        said = self._heard[start:end]
        near = _nearly(consonant_skeleton(_sound_of(said)))
        for named in {named for bones in near for named in self._index.by_skeleton.get(bones, ())}:
            far = self._far_alone(start, end, named)
            if far is not None:
                yield _Finding(start, end, 0, _spelling(said, named), far)

    def _far_alone(self, start: int, end: int, named: _Words) -> float | None:
        """The phonetic distance; None if it is too large for a name without a recognised word."""
        said = self._heard[start:end]
        if _joined(said) == _joined(named):
            return 0.0 if len(said) != len(named) else None
        heard_sound, name_sound = _sound_of(said), _sound_of(named)
        fewest = min(_ALONE) if self._heard[start].is_joined else _FEWEST_AT_BEGINNING
        if not self._may_be_misheard(start, end) or len(name_sound) < fewest:
            return None
        is_part = heard_sound.startswith(name_sound) or name_sound.startswith(heard_sound)
        if len(said) == 1 and is_part and heard_sound != name_sound:
            return None  # an officer is not an office
        if len(name_sound) <= max(_ALONE) and heard_sound[0] != name_sound[0]:
            return None
        most = _ALONE.get(len(name_sound), _ALONE_LONG) if len(named) == 1 else 0.0
        far = phonetic_distance(heard_sound, name_sound)
        return far if far <= most and same_onset(heard_sound, name_sound) else None

    # --- context

    def _may_be_misheard(self, start: int, end: int) -> bool:
        """True for an unknown word, or two: "lan tern", "extract her"."""
        return start in self._doubtful and all(
            at in self._doubtful or self._heard[at].written.casefold() in _ENDINGS for at in range(start + 1, end)
        )

    def _has_determiner(self, at: int) -> bool:
        return self._heard[at].is_joined and self._heard[at - 1].same in _DETERMINERS

    def _are_in_a_row(self, start: int, end: int) -> bool:
        return all(word.is_joined for word in self._heard[start + 1 : end])

    def _is_where_names_are(self, start: int, end: int) -> bool:
        """True after "the" or "in", and at the start: not for "tell Ana" and "print my ticket"."""
        if self._heard[start].is_joined:
            return self._heard[start - 1].same in _BEFORE_NAMES
        is_last = end == len(self._heard) or not self._heard[end].is_joined
        return is_last or self._heard[end].same not in _DETERMINERS


def _is_plain(word: _Word) -> bool:
    """False for numbers, very short words, and "won't"."""
    plain = word.written.removesuffix("'s").removesuffix("’s")
    return plain.isalpha() and len(word.same) > 2


def _bounds(middle: int, count: int, least: int, most: int) -> range:
    """Where `count` words may begin or end if two may be heard as one, and one as two."""
    spare = 1 if count else 0
    return range(max(least, middle - spare), min(most, middle + spare) + 1)


def _is_form(first: str, second: str) -> bool:
    """Whether one is an inflection of the other: "locked" does not mean the lock."""
    shorter, longer = sorted((first, second), key=len)
    return longer.startswith(shorter) and longer[len(shorter) :] in _FORMS


def _spelling(said: _Words, named: _Words) -> str:
    """The name in the home's spelling, in the number (singular or plural) that was heard."""
    written = [word.written for word in named]
    if said[-1].same == named[-1].same and said[-1].written.casefold() != written[-1].casefold():
        written[-1] = said[-1].written
    return " ".join(written)


def _clear(findings: Iterable[_Finding]) -> list[_Finding]:
    """The findings with most recognised words, and of these the closest; ambiguous ones are dropped."""
    ranked = sorted(set(findings), key=lambda found: (-found.kept, found.distance, found.start))
    chosen, taken = list[_Finding](), set[int]()
    for found in ranked:
        span = set(range(found.start, found.end))
        if taken & span:
            continue
        taken |= span
        if not any(_is_rival(other, found) for other in ranked):
            chosen.append(found)
    return chosen


def _is_rival(other: _Finding, found: _Finding) -> bool:
    return (
        (other.start, other.end) == (found.start, found.end)
        and other.spelling.casefold() != found.spelling.casefold()
        and other.distance <= found.distance + _MARGIN
    )

"""Which language a typed sentence may be in: English, or one of those in which the home is commanded.

Speech needs none of this: the recogniser tells the language. A few set lookups decide for a text, so that an English
sentence costs next to nothing.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from edgevox.core.files import packaged_toml
from edgevox.core.languages import ENGLISH
from edgevox.home.entities import House

_WORD = re.compile(r"[^\W\d_]+")
# Letters and marks that few of these languages have.
_LETTERS: Mapping[str, tuple[str, ...]] = {
    "ß": ("de",), "ä": ("de",), "ö": ("de",), "ü": ("de",), "ñ": ("es",), "¿": ("es",), "¡": ("es",), "ã": ("pt",),
    "õ": ("pt",), "ç": ("fr", "pt"), "ì": ("it",), "ò": ("it",), "ù": ("it", "fr"), "è": ("it", "fr"),
    "ê": ("fr", "pt"), "û": ("fr",), "î": ("fr",), "œ": ("fr",), "ï": ("nl", "fr"), "á": ("es", "pt"),
    "í": ("es", "pt"), "ó": ("es", "pt"), "ú": ("es", "pt"), "é": ("fr", "es", "pt", "nl"), "à": ("fr", "it", "pt"),
    "â": ("fr", "pt"), "ô": ("fr", "pt"),
}  # fmt: skip
_PRIOR = 0.5
_MOST = 3


@dataclass(frozen=True, slots=True)
class Candidate:
    """A language that a sentence may be in; `is_clear` if its words say so."""

    language: str
    is_clear: bool


def candidates(text: str, likely: Iterable[str] = (), names: Collection[str] = ()) -> tuple[Candidate, ...]:
    """The languages other than English that a text may be in, best first; none for an English one.

    `likely` are those of the settings, of the conversation and of the names of the home: they decide between equals,
    and are worth a try where few words tell anything. English words in `names` of the home tell nothing.
    """
    plain = text.casefold()
    words, tables = _WORD.findall(plain), _tables()
    scores = {language: float(sum(word in table for word in words)) for language, table in tables.items()}
    for letter in {*plain} & _LETTERS.keys():
        for language in _LETTERS[letter]:
            scores[language] += _PRIOR
    english = scores.pop(ENGLISH) - sum(word in tables[ENGLISH] for word in words if word in names)
    said = {language: score for language, score in scores.items() if score > english}
    for language in dict.fromkeys(likely):
        if language in scores and scores[language] >= english - 1:
            said[language] = scores[language] + _PRIOR
    best = max(said.values(), default=0.0)
    ordered = sorted((one for one in said if 2 * said[one] >= best), key=lambda language: -said[language])
    return tuple(Candidate(language, scores[language] > english) for language in ordered[:_MOST])


def words_of_names(house: House) -> frozenset[str]:
    """The words of all names in the home."""
    things = (*house.places, *house.entities)
    return frozenset(
        word for thing in things for label in (thing.name, *thing.aliases) for word in _WORD.findall(label.casefold())
    )


@cache
def _tables() -> Mapping[str, frozenset[str]]:
    content = packaged_toml("home/rules/languages/detection.toml")
    return {language: frozenset(words.split()) for language, words in content.items()}


def language_of_names(house: House) -> str:
    """The language of most names of the home; "" for English and where there is none."""
    names = " ".join(place.name for place in house.places) + " " + " ".join(one.name for one in house.entities)
    found = candidates(names)
    return found[0].language if found else ""

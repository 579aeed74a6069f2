"""How well a name that was said fits the names of things."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from edgevox.tools.home.house import Entity, House
from edgevox.tools.home.kinds import ALL_WORDS, every_kind_word, kind_words, plain
from edgevox.tools.home.names import Words, words
from edgevox.tools.home.places import place_words


class Fit(IntEnum):
    """How well a name fits, best first."""

    SAME_WORDS = 0
    """in any order, and split in any way"""
    SAME_PLAIN_WORDS = 1
    """with another word for its kind: "desk light" for the Desk Lamp"""
    WITH_MORE = 2
    """with its area, floor or kind added: "office desk lamp" """
    PART = 3
    """some of the words that tell it from others: "desk" """
    NONE = 4


@dataclass(frozen=True, slots=True)
class Label:
    """One way to call a thing, in the forms that are compared.

    `told_by` are the words that tell it from its neighbours: not its area, not its floor, not its kind.
    """

    joined: str
    sorted: Words
    plain_sorted: Words
    plain: frozenset[str]
    told_by: frozenset[str]


@dataclass(frozen=True, slots=True)
class Labels:
    """All the ways to call a thing. `extra` are words that may be added to them or left out.

    `keys` are all its words in every form: what shares none of them is not meant.
    """

    labels: tuple[Label, ...]
    extra: frozenset[str]
    words: frozenset[str]
    keys: frozenset[str]


def labels_of(house: House) -> dict[str, Labels]:
    """What everything is called, by entity id."""
    nowhere: frozenset[str] = frozenset()
    areas: dict[str | None, frozenset[str]] = {area.id: place_words((area,)) for area in house.areas}
    floors: dict[str | None, frozenset[str]] = {floor.id: place_words((floor,)) for floor in house.floors}
    return {
        entity.id: _labels(
            (entity.name, *entity.aliases),
            entity.domain,
            entity.device_class,
            areas.get(entity.area, nowhere),
            floors.get(entity.floor, nowhere),
        )
        for entity in house.entities
    }


def vocabulary(house: House, known: Iterable[Labels]) -> frozenset[str]:
    """Every word that somebody may mean."""
    return place_words(house.places).union(every_kind_word(), ALL_WORDS, *(its.words for its in known))


def best_fits(
    said: Words, pool: tuple[Entity, ...], known: Mapping[str, Labels]
) -> tuple[Fit, tuple[Entity, ...]]:
    """The things that a name fits best, and how well."""
    heard = _label(said, ALL_WORDS)
    keys = heard.told_by | heard.plain | {heard.joined}
    best, found = Fit.NONE, list[Entity]()
    for entity in pool:
        its = known[entity.id]
        if its.keys.isdisjoint(keys):
            continue
        told_by = heard.told_by - its.extra
        fit = min(_fit(heard, label, told_by) for label in its.labels)
        if fit < best:
            best, found = fit, []
        if fit == best and fit is not Fit.NONE:
            found.append(entity)
    return best, tuple(found)


def _fit(heard: Label, label: Label, told_by: frozenset[str]) -> Fit:
    if heard.joined == label.joined or heard.sorted == label.sorted:
        return Fit.SAME_WORDS
    if heard.plain_sorted == label.plain_sorted:
        return Fit.SAME_PLAIN_WORDS
    if told_by and told_by <= label.told_by:
        is_whole = told_by == label.told_by and label.plain <= heard.plain
        return Fit.WITH_MORE if is_whole else Fit.PART
    return Fit.NONE


# States change all the time, names hardly ever: this is kept.
@lru_cache(maxsize=4096)
def _labels(
    names: tuple[str, ...],
    domain: str,
    device_class: str | None,
    area: frozenset[str],
    floor: frozenset[str],
) -> Labels:
    extra = kind_words(domain, device_class) | area | floor | {"device"}
    labels = tuple(_label(words(name), extra) for name in names)
    its_words = frozenset(word for label in labels for word in label.sorted)
    keys = its_words.union((label.joined for label in labels), *(label.plain for label in labels))
    return Labels(labels, extra, its_words, keys)


def _label(said: Words, extra: frozenset[str]) -> Label:
    plain_words = tuple(sorted(map(plain, said)))
    return Label(
        "".join(said), tuple(sorted(said)), plain_words, frozenset(plain_words), frozenset(said) - extra
    )

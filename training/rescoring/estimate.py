"""Interpolated Kneser-Ney estimates of an n-gram model, pruned by count."""

from __future__ import annotations

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from edgevox.stt.ngrams import END, LOG_STEP, START, UNKNOWN, NgramModel, NgramTable, ngram_key

Ngram = tuple[str, ...]

_DISCOUNT = 0.75
_LARGEST_STEP = 255


def estimate(
    sentences: Iterable[tuple[Sequence[str], int]], vocabulary: AbstractSet[str], least_counts: Sequence[int]
) -> NgramModel:
    """Learn from sentences, each with its weight; one cut-off for each order, the single words' first.

    Words outside `vocabulary` are counted as the unknown one.
    """
    order = len(least_counts)
    counts = _counted(sentences, vocabulary, order)
    adjusted = [*map(_continuations, counts[1:]), counts[-1]]
    for lower, raw in zip(adjusted[:-1], counts[:-1], strict=True):
        # Nothing stands before the start of a sentence, so its n-grams keep their counts.
        lower.update({ngram: count for ngram, count in raw.items() if ngram[0] == START})
    adjusted[0].pop((START,), None)
    words = vocabulary | {END, UNKNOWN}
    probabilities = [_unigrams(adjusted[0], words)]
    for number in range(1, order):
        probabilities.append(_interpolated(adjusted[number], probabilities[-1], probabilities))
    kept: list[dict[Ngram, float]] = [probabilities[0]]
    for raw, estimated, least in zip(counts[1:], probabilities[1:], least_counts[1:], strict=True):
        # A context that was left out has no weight to back off with.
        shorter = kept[-1].keys() | {(START,)}
        kept.append({gram: p for gram, p in estimated.items() if raw[gram] >= least and gram[:-1] in shorter})
    return NgramModel(tuple(_table(kept, number) for number in range(order)))


def _counted(
    sentences: Iterable[tuple[Sequence[str], int]], vocabulary: AbstractSet[str], order: int
) -> list[Counter[Ngram]]:
    counts: list[Counter[Ngram]] = [Counter() for _ in range(order)]
    for words, weight in sentences:
        sentence = (START, *(word if word in vocabulary else UNKNOWN for word in words), END)
        for number, counted in enumerate(counts, start=1):
            for start in range(len(sentence) - number + 1):
                counted[sentence[start : start + number]] += weight
    return counts


def _continuations(longer: Mapping[Ngram, int]) -> Counter[Ngram]:
    """How many different words stand before each n-gram."""
    return Counter(ngram[1:] for ngram in longer)


def _unigrams(counts: Mapping[Ngram, int], words: AbstractSet[str]) -> dict[Ngram, float]:
    total = sum(counts.values()) + len(words)
    return {(word,): (counts.get((word,), 0) + 1) / total for word in words}


def _interpolated(
    counts: Mapping[Ngram, int], lower: Mapping[Ngram, float], all_lower: Sequence[Mapping[Ngram, float]]
) -> dict[Ngram, float]:
    totals: Counter[Ngram] = Counter()
    kinds: Counter[Ngram] = Counter()
    for ngram, count in counts.items():
        totals[ngram[:-1]] += count
        kinds[ngram[:-1]] += 1
    estimated: dict[Ngram, float] = {}
    for ngram, count in counts.items():
        if len(ngram) == 2 and ngram[-1] == START:
            continue
        context = ngram[:-1]
        below = lower.get(ngram[1:])
        if below is None:
            below = all_lower[0][ngram[-1:]]
        share = _DISCOUNT * kinds[context] / totals[context]
        estimated[ngram] = max(count - _DISCOUNT, 0) / totals[context] + share * below
    return estimated


def _table(kept: Sequence[Mapping[Ngram, float]], number: int) -> NgramTable:
    """The n-grams of one order, with the weight that is left for what does not follow them."""
    mass: defaultdict[Ngram, float] = defaultdict(float)
    below: defaultdict[Ngram, float] = defaultdict(float)
    if number + 1 < len(kept):
        for ngram, probability in kept[number + 1].items():
            mass[ngram[:-1]] += probability
            below[ngram[:-1]] += _probability(kept, ngram[1:])
    entries: dict[int, tuple[int, int]] = {}
    ngrams: dict[Ngram, float] = dict(kept[number])
    if number == 0:
        ngrams[(START,)] = math.exp(-_LARGEST_STEP * LOG_STEP)  # a context only
    for ngram, probability in ngrams.items():
        left = (1 - mass[ngram]) / (1 - below[ngram]) if ngram in mass and below[ngram] < 1 else 1.0
        entries[ngram_key(ngram)] = (_steps(probability), _steps(min(max(left, 1e-9), 1.0)))
    keys = sorted(entries)
    return NgramTable(
        array("I", keys), bytes(entries[key][0] for key in keys), bytes(entries[key][1] for key in keys)
    )


def _probability(kept: Sequence[Mapping[Ngram, float]], ngram: Ngram) -> float:
    """The n-gram's probability without backoff weights: close enough to say what a context leaves."""
    while len(ngram) > 1 and ngram not in kept[len(ngram) - 1]:
        ngram = ngram[1:]
    return kept[len(ngram) - 1][ngram]


def _steps(probability: float) -> int:
    return min(_LARGEST_STEP, round(-math.log(probability) / LOG_STEP))

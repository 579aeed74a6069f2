"""Builds the n-gram models for rescoring (docs/adr/0038-rescoring.md): corpora and Kneser-Ney estimates.

`python -m training.stt.ngrams --asked lm.txt … --books 45.txt … --out edgevox/stt/home_ngrams.npz`.
`--asked` takes files with one sentence a line: SLURP's `dataset/lm/lm.txt`, and the requests of CLINC150
(`data/data_full.json`), of NLU-Evaluation-Data, and of the English tests of Home Assistant's intents. The
books are Project Gutenberg's, by number: 45, 55, 74, 113, 514, 863, 1661, 1874, 3825 and 8164.

The home model is trained on generated commands, on requests of the public corpora and on the built-in
commands; the general model on the books and on small talk. Estimates are interpolated Kneser-Ney, pruned by
count.
"""

from __future__ import annotations

import argparse
import math
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import islice
from pathlib import Path

from edgevox.core.languages import ENGLISH, all_phrases
from edgevox.dialogue.builtin_commands import _CANCEL_WHILE_BUSY as CANCEL_WHILE_BUSY
from edgevox.stt.rescoring import (
    END,
    GENERAL,
    HOME,
    LOG_STEP,
    START,
    UNKNOWN,
    NgramModel,
    NgramTable,
    model_words,
    ngram_key,
    with_name_class,
    write_ngrams,
)
from training.held_out import is_held_out
from training.no_call import load_small_talk
from training.stt.home_sentences import sentences

Weighted = tuple[Sequence[str], int]

# People say it as people say it; the generator says everything. One of theirs counts as so many of ours.
_ASKED_WEIGHT = 3
_BUILT_IN_WEIGHT = 20
_ANSWERS = ("yes", "yes please", "no", "no thanks", "no thank you", "okay", "sure", "thank you", "thanks")
_BEGIN = re.compile(r"\*\*\* ?START OF TH.*?\*\*\*", re.DOTALL)
_FINISH = re.compile(r"\*\*\* ?END OF TH|End of (?:the )?Project Gutenberg")
_SENTENCE_END = re.compile(r"(?<=[.!?;:])[\"'”’)]*\s+|--|—|\n\s*\n")
_MOST_WORDS = 40


def generated(count: int, seed: int) -> Iterator[Weighted]:
    """Sentences of the generator, also with the names of their house as one class."""
    for sentence in islice(sentences(seed), count):
        words = model_words(sentence.written)
        yield words, 1
        classed = with_name_class(words, [model_words(name) for name in sentence.names])
        if classed != words:
            yield classed, 1


def built_in() -> Iterator[Weighted]:
    """What the product itself acts on without its model, and plain answers."""
    phrases = [phrase for phrases in all_phrases()[ENGLISH].commands.values() for phrase in phrases]
    for phrase in (*phrases, *CANCEL_WHILE_BUSY, *_ANSWERS):
        yield model_words(phrase), _BUILT_IN_WEIGHT


def asked(paths: Iterable[Path]) -> Iterator[Weighted]:
    """What people asked assistants, one sentence a line, without those that the product is judged by.

    A sentence that several corpora have counts once.
    """
    seen: set[str] = set()
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip() and line.lower() not in seen and not is_held_out(line):
                seen.add(line.lower())
                yield model_words(line), _ASKED_WEIGHT


def books(paths: Iterable[Path]) -> Iterator[Weighted]:
    """The sentences of Project Gutenberg's plain texts, without its own words before and after."""
    for path in paths:
        text = path.read_text(encoding="utf-8", errors="replace")
        if begin := _BEGIN.search(text):
            text = text[begin.end() :]
        if finish := _FINISH.search(text):
            text = text[: finish.start()]
        for sentence in _SENTENCE_END.split(text.replace("_", " ")):
            words = model_words(sentence)
            if 0 < len(words) <= _MOST_WORDS:
                yield words, 1


def small_talk() -> Iterator[Weighted]:
    """What the assistant is asked that is no command, and what it answers."""
    for pair in load_small_talk():
        for line in (*pair.questions, *pair.answers):
            if not is_held_out(line):
                yield model_words(line), 1


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
    return NgramTable(array("I", keys), bytes(entries[key][0] for key in keys), bytes(entries[key][1] for key in keys))


def _probability(kept: Sequence[Mapping[Ngram, float]], ngram: Ngram) -> float:
    """The n-gram's probability without backoff weights: close enough to say what a context leaves."""
    while len(ngram) > 1 and ngram not in kept[len(ngram) - 1]:
        ngram = ngram[1:]
    return kept[len(ngram) - 1][ngram]


def _steps(probability: float) -> int:
    return min(_LARGEST_STEP, round(-math.log(probability) / LOG_STEP))


_LEAST_WORD_COUNT = 2
_HOME_COUNTS = (1, 1, 2)
_GENERAL_COUNTS = (1, 2, 3)


def vocabulary(*corpora: list[Weighted]) -> frozenset[str]:
    """The words that were seen more than once."""
    counts: Counter[str] = Counter()
    for corpus in corpora:
        for words, _ in corpus:
            counts.update(words)
    return frozenset(word for word, count in counts.items() if count >= _LEAST_WORD_COUNT)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m training.stt.ngrams", description=__doc__)
    parser.add_argument("--asked", type=Path, nargs="+", required=True)
    parser.add_argument("--books", type=Path, nargs="+", required=True)
    parser.add_argument("--count", type=int, default=120_000, help="sentences of the generator")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    home = [*generated(options.count, options.seed), *asked(options.asked), *built_in()]
    general = [*books(options.books), *small_talk()]
    words = vocabulary(home, general)
    models = {HOME: estimate(home, words, _HOME_COUNTS), GENERAL: estimate(general, words, _GENERAL_COUNTS)}
    write_ngrams(options.out, models)
    for name, model in models.items():
        print(name, [len(table.keys) for table in model.tables])


if __name__ == "__main__":
    main()

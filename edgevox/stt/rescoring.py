"""Rescores the recogniser's hypotheses with n-gram models of home commands and of general English.

A hypothesis gains where it is likelier as a home command than as general English; other speech keeps the
recogniser's order (docs/adr/0038-rescoring.md). An n-gram is stored by the CRC-32 of its words: six bytes
each, and about 1 of 25,000 lookups finds one that is not there. `training/stt/ngrams.py` writes the file.
"""

from __future__ import annotations

import math
import re
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from edgevox.core.errors import ModelError
from edgevox.stt.decoding import Choice, Hypothesis, choose
from edgevox.stt.text_normalizer import SPOKEN_NUMBERS, word_data, words_of

START, END, UNKNOWN = "<s>", "</s>", "<unk>"

# Log probabilities are quantised in steps of this size, from 0 down to -20.4.
LOG_STEP = 0.08
_HINT = "the file belongs to the installation: install EdgeVox again"


@dataclass(frozen=True, slots=True)
class NgramTable:
    """The n-grams of one order: sorted keys, log probabilities, and log backoff weights as a context."""

    keys: array[int]
    probabilities: bytes
    backoffs: bytes

    def find(self, key: int) -> int | None:
        place = bisect_left(self.keys, key)
        return place if place < len(self.keys) and self.keys[place] == key else None


@dataclass(frozen=True, slots=True)
class NgramModel:
    """A backoff model; `tables` begins with the unigrams."""

    tables: tuple[NgramTable, ...]

    @property
    def order(self) -> int:
        return len(self.tables)

    def knows(self, word: str) -> bool:
        return self.tables[0].find(ngram_key((word,))) is not None

    def log_probability(self, words: Sequence[str], *, order: int | None = None) -> float:
        """The log probability of the sentence, end included, with n-grams up to `order` (default: all)."""
        order = self.order if order is None else order
        known = [word if self.knows(word) else UNKNOWN for word in words]
        sentence = [START, *known, END]
        return math.fsum(
            self.log_next(sentence[max(0, place + 1 - order) : place], sentence[place])
            for place in range(1, len(sentence))
        )

    def log_next(self, context: Sequence[str], word: str) -> float:
        """The log probability of a word after a context shorter than the order."""
        backoff = 0.0
        for start in range(len(context) + 1):
            shorter = (*context[start:], word)
            table = self.tables[len(shorter) - 1]
            if (place := table.find(ngram_key(shorter))) is not None:
                return backoff - LOG_STEP * table.probabilities[place]
            if start < len(context):
                table = self.tables[len(context) - start - 1]
                if (place := table.find(ngram_key(context[start:]))) is not None:
                    backoff -= LOG_STEP * table.backoffs[place]
        raise AssertionError("every model holds the unknown word")


def ngram_key(words: Sequence[str]) -> int:
    return zlib.crc32(" ".join(words).encode())


def read_ngrams(path: Path) -> dict[str, NgramModel]:
    """The models in a file, by name. Raises ModelError."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return _models({name: arrays[name] for name in arrays.files})
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"the language model {path.name} cannot be read: {error}", hint=_HINT) from error


def write_ngrams(path: Path, models: Mapping[str, NgramModel]) -> None:
    """Write models to a file for `read_ngrams`."""
    arrays: dict[str, NDArray[np.uint32] | NDArray[np.uint8]] = {}
    for name, model in models.items():
        for order, table in enumerate(model.tables, start=1):
            arrays[f"{name}.{order}.keys"] = np.array(table.keys, dtype=np.uint32)
            arrays[f"{name}.{order}.probabilities"] = np.frombuffer(table.probabilities, dtype=np.uint8)
            arrays[f"{name}.{order}.backoffs"] = np.frombuffer(table.backoffs, dtype=np.uint8)
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def _models(arrays: Mapping[str, NDArray[np.generic]]) -> dict[str, NgramModel]:
    names = dict.fromkeys(key.split(".")[0] for key in arrays)
    models: dict[str, NgramModel] = {}
    for name in names:
        tables: list[NgramTable] = []
        while (prefix := f"{name}.{len(tables) + 1}") + ".keys" in arrays:
            keys = array("I", arrays[f"{prefix}.keys"].astype(np.uint32).tobytes())
            probabilities = arrays[f"{prefix}.probabilities"].tobytes()
            backoffs = arrays[f"{prefix}.backoffs"].tobytes()
            if not len(keys) == len(probabilities) == len(backoffs):
                raise ValueError("its tables differ in length")
            tables.append(NgramTable(keys, probabilities, backoffs))
        models[name] = NgramModel(tuple(tables))
    return models


HOME, GENERAL = "home", "general"
NAME, NUMBER = "<name>", "<number>"
NGRAMS = Path(__file__).with_name("home_ngrams.npz")

# The larger model scores only utterances that are neither clear nor general speech: every second of 159 spoken
# commands, 12 of 200 read sentences (docs/adr/0038-rescoring.md).
_CLEAR_SHARE = 0.8
_NEAR_NATS = 5.0
_ANY_NUMBER = "10"


class TextScorer(Protocol):
    """A larger language model: edgevox.llm.engine.TextScorer."""

    def load(self) -> None: ...

    def log_probabilities(self, texts: Sequence[str]) -> Sequence[float] | None: ...


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of the language models.

    A hypothesis is compared with the general model by `general`, and with its unigrams by the rest: otherwise a
    text that is improbable everywhere would lose nothing. `home_share` is the prior probability of a home
    command; a smaller one changes less general speech. `text_scorer` is the weight of the larger model.
    """

    evidence: float = 0.25
    general: float = 0.75
    home_share: float = 0.01
    text_scorer: float = 0.2


@dataclass(frozen=True, slots=True)
class Rescorer:
    """Rescores by the likelihood ratio of two n-gram models.

    If several hypotheses may still be home commands, a larger model scores them too.
    """

    home: NgramModel
    general: NgramModel
    weights: Weights = Weights()
    text_scorer: TextScorer | None = None

    @classmethod
    def load(cls, path: Path = NGRAMS, text_scorer: TextScorer | None = None) -> Rescorer:
        """Raises ModelError."""
        models = read_ngrams(path)
        return cls(models[HOME], models[GENERAL], text_scorer=text_scorer)

    def choose(self, hypotheses: Sequence[Hypothesis], names: Sequence[str] = ()) -> Choice | None:
        """Choose the most probable hypothesis in a home with these names; None without any."""
        spoken_names = [model_words(name) for name in names]
        ratios = {each.text: self.log_ratio(each.text, spoken_names) for each in hypotheses}

        def bonus(text: str) -> float:
            return self.weights.evidence * self.evidence(ratios[text])

        choice = choose(hypotheses, bonus)
        if self.text_scorer is None or choice is None or choice.probability >= _CLEAR_SHARE:
            return choice
        return self._choose_by_text(self.text_scorer, hypotheses, ratios, bonus) or choice

    def _choose_by_text(
        self,
        text_scorer: TextScorer,
        hypotheses: Sequence[Hypothesis],
        ratios: dict[str, float],
        bonus: Callable[[str], float],
    ) -> Choice | None:
        """None if one text is left, all are more probable as general speech, or too long for the scorer."""
        best = max(each.log_probability + bonus(each.text) for each in hypotheses)
        near = [each for each in hypotheses if each.log_probability + bonus(each.text) > best - _NEAR_NATS]
        if max(ratios[each.text] for each in near) <= 0:
            return None
        neutral = {each.text: without_opposites(each.text) for each in near}
        texts = list(dict.fromkeys(neutral.values()))
        scores = text_scorer.log_probabilities(texts) if len(texts) > 1 else None
        if scores is None:
            return None
        scored = dict(zip(texts, scores, strict=True))
        return choose(near, lambda text: bonus(text) + self.weights.text_scorer * scored[neutral[text]])

    def log_ratio(self, text: str, names: Sequence[Sequence[str]] = ()) -> float:
        """The log likelihood ratio of a text as a home command."""
        words = model_words(text)
        general = self.weights.general
        expected = general * self.general.log_probability(words)
        expected += (1 - general) * self.general.log_probability(words, order=1)
        return self._log_home(words, names) - expected

    def evidence(self, log_ratio: float) -> float:
        """The log gain of a text with `home_share` as the prior of a home command."""
        share = self.weights.home_share
        # log(1 - share + share * exp(ratio)), which must not overflow.
        higher, lower = sorted((math.log(1 - share), math.log(share) + log_ratio), reverse=True)
        return higher + math.log1p(math.exp(lower - higher))

    def _log_home(self, words: Sequence[str], names: Sequence[Sequence[str]]) -> float:
        plain = self.home.log_probability(words)
        classed = with_name_class(words, names)
        named = classed.count(NAME)
        if not named:
            return plain
        return max(plain, self.home.log_probability(classed) - named * math.log(len(names)))


def model_words(text: str) -> list[str]:
    """The words as the language models know them: one class for numbers, one word for two opposites."""
    opposites = word_data()["opposites"]
    return [NUMBER if word in SPOKEN_NUMBERS else opposites.get(word, word) for word in words_of(text)]


def without_opposites(text: str) -> str:
    """The text with opposites and numbers unified: only the acoustics decide between those."""

    def neutral(match: re.Match[str]) -> str:
        word = match[0].lower()
        return _ANY_NUMBER if word in SPOKEN_NUMBERS else word_data()["opposites"].get(word, match[0])

    return re.sub(r"[\w']+", neutral, text)


def with_name_class(words: Sequence[str], names: Sequence[Sequence[str]]) -> list[str]:
    """The words with each name of the house, the longest first, as the class of names."""
    spelt = {tuple(name) for name in names if name}
    longest = max(map(len, spelt), default=0)
    classed: list[str] = []
    place = 0
    while place < len(words):
        for length in range(min(longest, len(words) - place), 0, -1):
            if tuple(words[place : place + length]) in spelt:
                classed.append(NAME)
                place += length
                break
        else:
            classed.append(words[place])
            place += 1
    return classed

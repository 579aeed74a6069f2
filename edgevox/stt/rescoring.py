"""Chooses among the recogniser's hypotheses with a language model of what is said to a home.

A recogniser's score already holds what it knows of English in general; what it lacks is that it listens in a
home. So a hypothesis gains where it is likelier as something said to a home assistant than as general
English, and loses nothing where it is not: ordinary talk keeps the order that the recogniser gave it
(docs/adr/0038-rescoring.md).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from edgevox.stt.hypotheses import Choice, Hypothesis, choose
from edgevox.stt.ngrams import NgramModel, read_ngrams
from edgevox.stt.spoken_words import is_number_word, words_of

HOME, GENERAL = "home", "general"
NAME, NUMBER = "<name>", "<number>"
NGRAMS = Path(__file__).with_name("home_ngrams.npz")

# Opposites are one word to the language models: which of them was said is for the recogniser to hear. A model
# that has seen "turn off" more often must not turn off what was to be turned on. Numbers are one class, too.
_OPPOSITES = {
    "off": "on",
    "down": "up",
    "lower": "raise",
    "decrease": "increase",
    "reduce": "increase",
    "close": "open",
    "closed": "open",
    "closes": "opens",
    "closing": "opening",
    "shut": "open",
    "unlock": "lock",
    "unlocked": "locked",
    "disarm": "arm",
    "disarmed": "armed",
    "quieter": "louder",
    "cooler": "warmer",
    "colder": "warmer",
    "darker": "brighter",
    "dimmer": "brighter",
    "stop": "start",
    "disable": "enable",
    "deactivate": "activate",
    "unmute": "mute",
    "no": "yes",
}

# The larger model scores what is neither clear nor ordinary talk: every second of 159 commands and orders by
# people, 12 of 200 read sentences (docs/adr/0038-rescoring.md).
_CLEAR_SHARE = 0.8
_NEAR_NATS = 5.0
_ANY_NUMBER = "10"


class TextScorer(Protocol):
    """A larger language model: edgevox.llm.text_scorer.TextScorer."""

    def load(self) -> None: ...

    def log_probabilities(self, texts: Sequence[str]) -> Sequence[float] | None: ...


@dataclass(frozen=True, slots=True)
class Weights:
    """How much the language models count.

    A reading is compared with general English by `general`, and with its mere words by the rest: else one
    that nobody says anywhere would lose nothing. `home_share` is how much of what is said is taken to be for
    the home before its words are known; the less, the less talk is changed. `text_scorer` is the weight of
    the larger model.
    """

    evidence: float = 0.25
    general: float = 0.75
    home_share: float = 0.01
    text_scorer: float = 0.2


@dataclass(frozen=True, slots=True)
class Rescorer:
    """Two n-gram models; their likelihood ratio says what is meant for the home.

    Where they leave a choice between readings that may be meant for it, a larger model is asked as well.
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
        """Pick the likeliest, said in a house with these names; None where there is no hypothesis."""
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
        """None if one text is left, all are likelier as ordinary talk, or too long for the scorer."""
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
        """How much likelier a text is in a home than elsewhere, in logarithms."""
        words = model_words(text)
        general = self.weights.general
        expected = general * self.general.log_probability(words)
        expected += (1 - general) * self.general.log_probability(words, order=1)
        return self._log_home(words, names) - expected

    def evidence(self, log_ratio: float) -> float:
        """How much likelier a text is where a share of what is said is said to a home, in logarithms."""
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
    return [NUMBER if is_number_word(word) else _OPPOSITES.get(word, word) for word in words_of(text)]


def without_opposites(text: str) -> str:
    """The text with opposites and numbers made equal: only the recogniser decides between those."""

    def neutral(match: re.Match[str]) -> str:
        word = match[0].lower()
        return _ANY_NUMBER if is_number_word(word) else _OPPOSITES.get(word, match[0])

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

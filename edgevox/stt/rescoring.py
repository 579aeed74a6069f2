"""Chooses among the recogniser's hypotheses with a language model of what is said to a home.

A recogniser's score already holds what it knows of English in general; what it lacks is that it listens in a
home. So a hypothesis gains where it is likelier as something said to a home assistant than as general
English, and loses nothing where it is not: ordinary talk keeps the order that the recogniser gave it
(docs/adr/0038-rescoring.md).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

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


@dataclass(frozen=True, slots=True)
class Weights:
    """How much the language models count.

    A reading is compared with general English by `general`, and with its mere words by the rest: else one
    that nobody says anywhere would lose nothing. `home_share` is how much of what is said is taken to be for
    the home before its words are known; the less, the less talk is changed.
    """

    evidence: float = 0.25
    general: float = 0.75
    home_share: float = 0.01


@dataclass(frozen=True, slots=True)
class Rescorer:
    """Two n-gram models; their likelihood ratio says what is meant for the home."""

    home: NgramModel
    general: NgramModel
    weights: Weights = Weights()

    @classmethod
    def load(cls, path: Path = NGRAMS) -> Rescorer:
        """Raises ModelError."""
        models = read_ngrams(path)
        return cls(models[HOME], models[GENERAL])

    def choose(self, hypotheses: Sequence[Hypothesis], names: Sequence[str] = ()) -> Choice | None:
        """Pick the likeliest, said in a house with these names; None where there is no hypothesis."""
        spoken_names = [model_words(name) for name in names]
        return choose(hypotheses, lambda text: self.weights.evidence * self.evidence(text, spoken_names))

    def evidence(self, text: str, names: Sequence[Sequence[str]] = ()) -> float:
        """How much likelier a text is where a share of what is said is said to a home, in logarithms."""
        words = model_words(text)
        general = self.weights.general
        expected = general * self.general.log_probability(words)
        expected += (1 - general) * self.general.log_probability(words, order=1)
        ratio = self._log_home(words, names) - expected
        share = self.weights.home_share
        # log(1 - share + share * exp(ratio)), which must not overflow.
        higher, lower = sorted((math.log(1 - share), math.log(share) + ratio), reverse=True)
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

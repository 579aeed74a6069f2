"""Several readings of one piece of speech, and which of them to believe."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from edgevox.stt.spoken_words import words_of


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """One reading, and the natural logarithm of its probability, its end included."""

    text: str
    log_probability: float
    tokens: int

    @property
    def mean_logprob(self) -> float:
        """For each token, the end included."""
        return self.log_probability / (self.tokens + 1)


@dataclass(frozen=True, slots=True)
class Choice:
    """The hypothesis that was chosen, and its share of the probability of all of them."""

    hypothesis: Hypothesis
    probability: float


Choose: TypeAlias = Callable[[Sequence[Hypothesis]], Choice | None]


def choose(
    hypotheses: Sequence[Hypothesis], bonus: Callable[[str], float] = lambda _text: 0.0
) -> Choice | None:
    """Pick the likeliest; None where there is none. `bonus` is added to the logarithm of its probability.

    Readings that differ in spelling only count once.
    """
    scores: dict[tuple[str, ...], float] = {}
    first: dict[tuple[str, ...], Hypothesis] = {}
    for hypothesis in sorted(hypotheses, key=lambda each: -each.log_probability):
        words = tuple(words_of(hypothesis.text))
        if words not in scores:
            scores[words] = hypothesis.log_probability + bonus(hypothesis.text)
            first[words] = hypothesis
    if not scores:
        return None
    best = max(scores, key=scores.__getitem__)
    total = math.fsum(math.exp(score - scores[best]) for score in scores.values())
    return Choice(first[best], 1 / total)

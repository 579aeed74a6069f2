"""Decode options, hypotheses, and the checks that detect loops and hallucinations in a decoding."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from edgevox.stt.text_normalizer import word_data, words_of

FULL_WINDOW_S = 30
# Why a transcript is empty.
NO_SPEECH, NO_WORDS, UNINTELLIGIBLE = "no speech", "no words", "unintelligible"

# A shorter window must save at least this much, or a failed attempt costs more than it saves.
_WORTHWHILE = 0.8


@dataclass(frozen=True, slots=True)
class Window:
    """Seconds that are encoded, and seconds that the decoder sees: the difference is precomputed silence."""

    encoded_s: float
    attended_s: float


@dataclass(frozen=True, slots=True)
class DecodeOptions:
    """Decode options of a model; an adapter's file holds those it was trained with.

    The speech and `margin_s` are encoded, `least_s` at least; the decoder sees `tail_s` of silence after it,
    and `least_seen_s` at least.
    """

    margin_s: float
    least_s: float
    tail_s: float
    least_seen_s: float
    timestamps: bool
    name_tokens: int

    @property
    def has_tail(self) -> bool:
        """Whether short windows end with precomputed silence."""
        return self.tail_s > 0 or self.least_seen_s > self.least_s

    def windows_for(self, speech_s: float) -> Iterator[Window]:
        """Yield the windows to try: the speech with a margin, then Whisper's full 30 s."""
        end_s = speech_s + self.margin_s
        short_s = max(self.least_s, end_s)
        if short_s < _WORTHWHILE * FULL_WINDOW_S:
            seen_s = max(self.least_seen_s, end_s + self.tail_s, short_s)
            yield Window(short_s, min(FULL_WINDOW_S, seen_s))
        yield Window(FULL_WINDOW_S, FULL_WINDOW_S)


# Shorter windows are faster, but less accurate and prone to loops, also without timestamps
# (docs/adr/0003-whisper-without-the-padding.md).
# 128 tokens are about 40 names: all of a flat, and the unusual ones of a large house.
DEFAULT_DECODE_OPTIONS = DecodeOptions(
    margin_s=1.0, least_s=8.0, tail_s=5.0, least_seen_s=10.0, timestamps=True, name_tokens=128
)


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A decoded text and its log probability, end token included."""

    text: str
    log_probability: float
    tokens: int

    @property
    def mean_logprob(self) -> float:
        """Per token, the end token included."""
        return self.log_probability / (self.tokens + 1)


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen hypothesis and its share of the total probability."""

    hypothesis: Hypothesis
    probability: float


Choose: TypeAlias = Callable[[Sequence[Hypothesis]], Choice | None]


def choose(hypotheses: Sequence[Hypothesis], bonus: Callable[[str], float] = lambda _text: 0.0) -> Choice | None:
    """Choose the most probable hypothesis, None without any; `bonus` is added to its log probability.

    Hypotheses that differ in spelling only are merged.
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


# 17 of 99 commands were less probable than this; the full window removed 18 of 106 word errors.
_DOUBTFUL_MEAN_LOGPROB = -0.8
# Of correctly transcribed commands, two of five have a word below this; of wrong ones that rescoring can
# correct, eight of nine (docs/adr/0038-rescoring.md).
_UNSURE_WORD_LOGPROB = -0.2
# A logistic fit to spoken commands and read sentences (table in docs/adr/0038-rescoring.md).
_CONFIDENCE_AT_BEST, _CONFIDENCE_SLOPE = 1.8, 3.4
_SILENT_MEAN_LOGPROB = -1.0
_SILENCE_PROBABILITY = 0.6
_HIGHEST_COMPRESSION = 2.4
# Shorter texts never compress well.
_COMPRESSIBLE_CHARS = 40
_LONGEST_REPEATED_WORDS = 8
_FEW_WORDS = 3
# "no no no" and "bye bye" are real speech; four repetitions hardly ever are.
_MOST_REPEATS = 3
# The fastest speakers reach seven syllables a second: more words than this are a hallucination.
_MOST_WORDS_PER_S = 7.0
_FREE_WORDS = 4
# Slow speakers say a word a second: with fewer, over some seconds, the decoder stopped in a pause.
_LEAST_WORDS_PER_S = 0.7
_SOME_S = 3.0
# A hypothesis with a smaller share of the first one's words has omitted something.
_LEAST_SHARE_OF_WORDS = 0.7
# A repetition at more words a second than this was not spoken.
_MOST_REPEATED_WORDS_PER_S = 4.5

_INVENTION_MEAN_LOGPROB = -0.9
_INVENTION_SILENCE_PROBABILITY = 0.4


@dataclass(frozen=True, slots=True)
class Decoding:
    """The decoding of a piece of speech of `speech_s` in a window of `window_s`."""

    text: str
    ended: bool
    mean_logprob: float
    no_speech_probability: float
    speech_s: float
    window_s: float
    least_word_logprob: float = 0.0
    """The log probability of the least certain word."""
    log_share: float | None = None
    """The log of its share of the probability of all hypotheses; None if it is the only one."""
    alternatives: tuple[str, ...] = ()
    """The other plausible hypotheses, the most probable first; texts that differ in spelling only are one."""

    @property
    def confidence(self) -> float:
        """The probability that every word is correct."""
        share = self.least_word_logprob if self.log_share is None else self.log_share
        return 1 / (1 + math.exp(-_CONFIDENCE_AT_BEST - _CONFIDENCE_SLOPE * share))

    def is_unsure(self) -> bool:
        """Whether to decode more hypotheses. Not for an empty text, which must not become a command."""
        return self.ended and self.least_word_logprob < _UNSURE_WORD_LOGPROB and not self.is_no_speech()

    def read_as(self, hypotheses: Sequence[Hypothesis], choose: Choose) -> Decoding:
        """This decoding with the best of several hypotheses."""
        plausible = [each for each in hypotheses if self._could_be(each.text)]
        choice = choose(plausible)
        if choice is None:
            return self
        chosen = choice.hypothesis.text
        first_spelling = {tuple(words_of(chosen)): chosen}
        for each in sorted(plausible, key=lambda each: -each.log_probability):
            first_spelling.setdefault(tuple(words_of(each.text)), each.text)
        return replace(
            self,
            text=chosen,
            mean_logprob=choice.hypothesis.mean_logprob,
            log_share=math.log(choice.probability),
            alternatives=tuple(first_spelling.values())[1:],
        )

    def _could_be(self, text: str) -> bool:
        """Whether the text fits the duration of the speech and is not repeated."""
        return (
            bool(_letters(text))
            and not is_repetition_loop(text)
            and not says_it_twice(text)
            and not has_too_many_words(text, self.speech_s)
            # Beam search favours texts that end early, in a pause.
            and len(text.split()) > _LEAST_SHARE_OF_WORDS * len(self.text.split()) - 1
        )

    def without_repetition(self) -> Decoding:
        """This decoding without repetitions for which the speech is too short.

        In a short window Whisper sometimes misses the end and repeats the text.
        """
        words = self.text.split()
        if len(words) <= _MOST_REPEATED_WORDS_PER_S * self.speech_s:
            return self
        *plain, last = (_letters(word) for word in words)
        for length in range(_FEW_WORDS, len(words) // 2 + 1):
            is_copied = all(word == plain[place % length] for place, word in enumerate(plain))
            # The last word may be truncated.
            if is_copied and plain[len(plain) % length].startswith(last):
                return replace(self, text=" ".join(words[:length]), ended=True)
        return self

    def fault(self) -> str | None:
        """The reason to try a longer window; None if the text is plausible."""
        if not self.ended:
            return "no end"
        if is_repetition_loop(self.text) or says_it_twice(self.text):
            return "repetition"
        if has_too_many_words(self.text, self.speech_s):
            return "too many words"
        if self.mean_logprob < _DOUBTFUL_MEAN_LOGPROB:
            return "low probability"
        if self.is_no_speech():
            return "no words"
        if self.speech_s > _SOME_S and len(self.text.split()) < _LEAST_WORDS_PER_S * self.speech_s:
            return "too few words"
        return None

    def is_no_speech(self) -> bool:
        """Whether this is a known hallucination on silence."""
        if not _letters(self.text):
            return True
        if self.no_speech_probability > _SILENCE_PROBABILITY and self.mean_logprob < _SILENT_MEAN_LOGPROB:
            return True
        doubtful = (
            self.no_speech_probability > _INVENTION_SILENCE_PROBABILITY or self.mean_logprob < _INVENTION_MEAN_LOGPROB
        )
        return doubtful and _letters(self.text) in word_data()["hallucinations"]


def is_repetition_loop(text: str) -> bool:
    """Whether the text is a loop: it compresses too well, or repeats the same words."""
    raw = text.encode()
    if len(raw) > _COMPRESSIBLE_CHARS and len(raw) / len(zlib.compress(raw)) > _HIGHEST_COMPRESSION:
        return True
    words = _letters(text).split()
    return any(_repeats_in_a_row(words, length) > _MOST_REPEATS for length in range(1, _LONGEST_REPEATED_WORDS + 1))


def has_too_many_words(text: str, speech_s: float) -> bool:
    return len(text.split()) > _FREE_WORDS + _MOST_WORDS_PER_S * speech_s


def says_it_twice(text: str) -> bool:
    """Whether a few words occur twice in a row. Real speech can do that: worth a retry, but not a loop."""
    words = _letters(text).split()
    return any(_repeats_in_a_row(words, length) > 1 for length in range(_FEW_WORDS, len(words) // 2 + 1))


def best_decoding(attempts: Sequence[Decoding]) -> Decoding | None:
    """Choose one without a fault, else the most probable; None if all are loops or empty."""
    sane = (each for each in attempts if each.ended and not is_repetition_loop(each.text) and not each.is_no_speech())
    return max(sane, key=lambda each: (each.fault() is None, each.mean_logprob), default=None)


def _repeats_in_a_row(words: Sequence[str], length: int) -> int:
    """The largest number of consecutive repetitions of the same `length` words."""
    longest = run = 0
    for index in range(length, len(words)):
        run = run + 1 if words[index] == words[index - length] else 0
        longest = max(longest, run)
    return longest // length + 1


def _letters(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower().replace("'", "").replace("’", "")))

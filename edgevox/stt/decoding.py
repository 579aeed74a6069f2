"""Decode options, hypotheses, and the checks that detect loops and hallucinations in a decoding."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from edgevox.stt.text_normalizer import words_of

FULL_WINDOW_S = 30

# A window that saves less than this is not worth its time when it fails.
_WORTHWHILE = 0.8


@dataclass(frozen=True, slots=True)
class Window:
    """Seconds that are really encoded, and seconds that the decoder sees: the difference is known silence."""

    encoded_s: float
    attended_s: float


@dataclass(frozen=True, slots=True)
class DecodeOptions:
    """What a recogniser was taught, or needs: an adapter says so in its file.

    The speech and `margin_s` are encoded, `least_s` at least; the decoder sees `tail_s` of silence behind it,
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
        """Whether short windows end with silence that was encoded before."""
        return self.tail_s > 0 or self.least_seen_s > self.least_s

    def windows_for(self, speech_s: float) -> Iterator[Window]:
        """Yield the windows to try: the speech and a margin, and then all of Whisper's 30 s."""
        end_s = speech_s + self.margin_s
        short_s = max(self.least_s, end_s)
        if short_s < _WORTHWHILE * FULL_WINDOW_S:
            seen_s = max(self.least_seen_s, end_s + self.tail_s, short_s)
            yield Window(short_s, min(FULL_WINDOW_S, seen_s))
        yield Window(FULL_WINDOW_S, FULL_WINDOW_S)


# Shorter windows are quicker, but Whisper hears less well in them and loops, without timestamps as well
# (docs/adr/0003). 128 tokens are about 40 names: all of a flat, and what is unusual in a large house.
DEFAULT_DECODE_OPTIONS = DecodeOptions(
    margin_s=1.0, least_s=8.0, tail_s=5.0, least_seen_s=10.0, timestamps=True, name_tokens=128
)


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


def choose(hypotheses: Sequence[Hypothesis], bonus: Callable[[str], float] = lambda _text: 0.0) -> Choice | None:
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


# Of 99 commands 17 were less probable than this: the full window took away 18 of 106 word errors.
_DOUBTFUL_MEAN_LOGPROB = -0.8
# Of people's commands that were heard right, two of five have a word below this; of those that were heard
# wrong and could be put right, eight of nine (docs/adr/0038-rescoring.md).
_UNSURE_WORD_LOGPROB = -0.2
# A logistic curve through people's commands and read sentences: docs/adr/0038-rescoring.md has the table.
_CONFIDENCE_AT_BEST, _CONFIDENCE_SLOPE = 1.8, 3.4
_SILENT_MEAN_LOGPROB = -1.0
_SILENCE_PROBABILITY = 0.6
_HIGHEST_COMPRESSION = 2.4
# Shorter texts compress badly whatever they say.
_COMPRESSIBLE_CHARS = 40
_LONGEST_REPEATED_WORDS = 8
_FEW_WORDS = 3
# "no no no" and "bye bye" are said; the same words four times over hardly ever are.
_MOST_REPEATS = 3
# The fastest talkers reach seven syllables a second: more words than this were not said.
_MOST_WORDS_PER_S = 7.0
_FREE_WORDS = 4
# Slow talkers say a word a second: fewer, over some seconds, and the decoder has stopped in a pause.
_LEAST_WORDS_PER_S = 0.7
_SOME_S = 3.0
# A reading with fewer of the words of the first one has left something out.
_LEAST_SHARE_OF_WORDS = 0.7
# Nobody says a sentence twice at more words a second than this: who repeats it takes their time.
_MOST_REPEATED_WORDS_PER_S = 4.5

# What Whisper writes when there is nothing to hear: the ends of the videos it was trained on.
_INVENTIONS = frozenset(
    {
        "you",
        "thank you",
        "thank you very much",
        "thank you so much",
        "thank you for watching",
        "thanks for watching",
        "thanks for listening",
        "thank you for listening",
        "please subscribe",
        "please subscribe to my channel",
        "dont forget to like and subscribe",
        "subscribe",
        "subtitles by the amara org community",
        "bye",
        "bye bye",
        "see you next time",
        "see you in the next video",
        "ill see you in the next video",
        "i am sorry",
        "im sorry",
        "so",
        "oh",
        "the end",
    }
)
_INVENTION_MEAN_LOGPROB = -0.9
_INVENTION_SILENCE_PROBABILITY = 0.4


@dataclass(frozen=True, slots=True)
class Decoding:
    """What the decoder made of one piece of speech, `speech_s` long, in a window of `window_s`."""

    text: str
    ended: bool
    mean_logprob: float
    no_speech_probability: float
    speech_s: float
    window_s: float
    least_word_logprob: float = 0.0
    """The log probability of the word that the decoder was least sure of."""
    log_share: float | None = None
    """The logarithm of its share of the probability of all readings; None where it is the only one."""

    @property
    def confidence(self) -> float:
        """How probable it is that every word is right."""
        share = self.least_word_logprob if self.log_share is None else self.log_share
        return 1 / (1 + math.exp(-_CONFIDENCE_AT_BEST - _CONFIDENCE_SLOPE * share))

    def is_unsure(self) -> bool:
        """Whether other readings of the speech are worth their time. Nothing must not become a command."""
        return self.ended and self.least_word_logprob < _UNSURE_WORD_LOGPROB and not self.is_no_speech()

    def read_as(self, hypotheses: Sequence[Hypothesis], choose: Choose) -> Decoding:
        """The same with the best of several readings."""
        choice = choose([each for each in hypotheses if self._could_be(each.text)])
        if choice is None:
            return self
        return replace(
            self,
            text=choice.hypothesis.text,
            mean_logprob=choice.hypothesis.mean_logprob,
            log_share=math.log(choice.probability),
        )

    def _could_be(self, text: str) -> bool:
        """Whether somebody could have said this in the time, and once."""
        return (
            bool(_letters(text))
            and not is_repetition_loop(text)
            and not says_it_twice(text)
            and not has_too_many_words(text, self.speech_s)
            # Beams favour what ends early, in a pause: the rest was said all the same.
            and len(text.split()) > _LEAST_SHARE_OF_WORDS * len(self.text.split()) - 1
        )

    def without_repetition(self) -> Decoding:
        """The same without its copies, where there was no time to say it more than once.

        In a short window Whisper now and then does not see the end, and writes what it has written again.
        """
        words = self.text.split()
        if len(words) <= _MOST_REPEATED_WORDS_PER_S * self.speech_s:
            return self
        *plain, last = (_letters(word) for word in words)
        for length in range(_FEW_WORDS, len(words) // 2 + 1):
            is_copied = all(word == plain[place % length] for place, word in enumerate(plain))
            # The last word may be cut off where the decoder was stopped.
            if is_copied and plain[len(plain) % length].startswith(last):
                return replace(self, text=" ".join(words[:length]), ended=True)
        return self

    def fault(self) -> str | None:
        """Say why a longer window should be tried, or None when the text can be believed."""
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
        """Whether this is what Whisper writes when nobody spoke."""
        if not _letters(self.text):
            return True
        if self.no_speech_probability > _SILENCE_PROBABILITY and self.mean_logprob < _SILENT_MEAN_LOGPROB:
            return True
        doubtful = (
            self.no_speech_probability > _INVENTION_SILENCE_PROBABILITY or self.mean_logprob < _INVENTION_MEAN_LOGPROB
        )
        return doubtful and _letters(self.text) in _INVENTIONS


def is_repetition_loop(text: str) -> bool:
    """Whether the text is a loop: it compresses too well, or says the same words again and again."""
    raw = text.encode()
    if len(raw) > _COMPRESSIBLE_CHARS and len(raw) / len(zlib.compress(raw)) > _HIGHEST_COMPRESSION:
        return True
    words = _letters(text).split()
    return any(_repeats_in_a_row(words, length) > _MOST_REPEATS for length in range(1, _LONGEST_REPEATED_WORDS + 1))


def has_too_many_words(text: str, speech_s: float) -> bool:
    """Whether nobody speaks that fast."""
    return len(text.split()) > _FREE_WORDS + _MOST_WORDS_PER_S * speech_s


def says_it_twice(text: str) -> bool:
    """Whether a few words come twice in a row. People do that as well: worth another try, but no loop."""
    words = _letters(text).split()
    return any(_repeats_in_a_row(words, length) > 1 for length in range(_FEW_WORDS, len(words) // 2 + 1))


def best_decoding(attempts: Sequence[Decoding]) -> Decoding | None:
    """Pick one without a fault, else the likeliest; None when each of them is a loop or nothing."""
    sane = (each for each in attempts if each.ended and not is_repetition_loop(each.text) and not each.is_no_speech())
    return max(sane, key=lambda each: (each.fault() is None, each.mean_logprob), default=None)


def _repeats_in_a_row(words: Sequence[str], length: int) -> int:
    """Count how often the same `length` words stand directly behind each other, at most."""
    longest = run = 0
    for index in range(length, len(words)):
        run = run + 1 if words[index] == words[index - length] else 0
        longest = max(longest, run)
    return longest // length + 1


def _letters(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower().replace("'", "").replace("’", "")))


NO_SPEECH = "no speech"


NO_WORDS = "no words"


UNINTELLIGIBLE = "unintelligible"

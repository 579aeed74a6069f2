"""One decoding of one piece of speech, and how to see that it went wrong."""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from edgevox.stt.hypotheses import Choose, Hypothesis

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
class Attempt:
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
        return self.ended and self.least_word_logprob < _UNSURE_WORD_LOGPROB and not self.is_nothing()

    def read_as(self, hypotheses: Sequence[Hypothesis], choose: Choose) -> Attempt:
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
            and not repeats_itself(text)
            and not says_it_twice(text)
            and not has_too_many_words(text, self.speech_s)
            # Beams favour what ends early, in a pause: the rest was said all the same.
            and len(text.split()) > _LEAST_SHARE_OF_WORDS * len(self.text.split()) - 1
        )

    def said_once(self) -> Attempt:
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
        if repeats_itself(self.text) or says_it_twice(self.text):
            return "repetition"
        if has_too_many_words(self.text, self.speech_s):
            return "too many words"
        if self.mean_logprob < _DOUBTFUL_MEAN_LOGPROB:
            return "low probability"
        if self.is_nothing():
            return "no words"
        if self.speech_s > _SOME_S and len(self.text.split()) < _LEAST_WORDS_PER_S * self.speech_s:
            return "too few words"
        return None

    def is_nothing(self) -> bool:
        """Whether this is what Whisper writes when nobody spoke."""
        if not _letters(self.text):
            return True
        if self.no_speech_probability > _SILENCE_PROBABILITY and self.mean_logprob < _SILENT_MEAN_LOGPROB:
            return True
        doubtful = (
            self.no_speech_probability > _INVENTION_SILENCE_PROBABILITY
            or self.mean_logprob < _INVENTION_MEAN_LOGPROB
        )
        return doubtful and _letters(self.text) in _INVENTIONS


def repeats_itself(text: str) -> bool:
    """Whether the text is a loop: it compresses too well, or says the same words again and again."""
    raw = text.encode()
    if len(raw) > _COMPRESSIBLE_CHARS and len(raw) / len(zlib.compress(raw)) > _HIGHEST_COMPRESSION:
        return True
    words = _letters(text).split()
    return any(
        _repeats_in_a_row(words, length) > _MOST_REPEATS for length in range(1, _LONGEST_REPEATED_WORDS + 1)
    )


def has_too_many_words(text: str, speech_s: float) -> bool:
    """Whether nobody speaks that fast."""
    return len(text.split()) > _FREE_WORDS + _MOST_WORDS_PER_S * speech_s


def says_it_twice(text: str) -> bool:
    """Whether a few words come twice in a row. People do that as well: worth another try, but no loop."""
    words = _letters(text).split()
    return any(_repeats_in_a_row(words, length) > 1 for length in range(_FEW_WORDS, len(words) // 2 + 1))


def most_believable(attempts: Sequence[Attempt]) -> Attempt | None:
    """Pick one without a fault, else the likeliest; None when each of them is a loop or nothing."""
    sane = (
        each for each in attempts if each.ended and not repeats_itself(each.text) and not each.is_nothing()
    )
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

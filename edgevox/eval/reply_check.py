"""Compares a reply with what it should say: words, numbers in digits or words, and honest refusals."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from edgevox.core.words import NUMBER_WORDS
from edgevox.eval.expectation import ExpectedReply

_UNITS = {word: float(number) for number, word in enumerate(NUMBER_WORDS[:20])}
_TENS = {word: float(number) for number, word in enumerate(NUMBER_WORDS) if number >= 20 and number % 10 == 0}
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9}
_PARTS = {"half": 0.5, "quarter": 0.25}
_FRACTIONS = {"½": 0.5, "¼": 0.25, "¾": 0.75}
_TOKEN = re.compile(r"(?<![\w.])[-−]?\d+(?:\.\d+)?|[½¼¾]|[^\W\d_]+|[,;.!?:]")
_MARKS = frozenset(",;.!?:")
_DECLINES = re.compile(
    r"\b(?:don't|do not|can't|cannot|can not|couldn't|could not|won't|wouldn't|unable|not able|not sure|no idea|no way"
    r"|sorry|afraid|no information|not something|isn't something|not allowed|nothing (?:about|to do)|beyond"
    r"|outside (?:of )?(?:what|my))\b"
)


def matches_reply(wanted: ExpectedReply, reply: str) -> bool:
    """Return whether the reply says what is wanted."""
    is_declined = _DECLINES.search(reply.casefold().replace("’", "'")) is not None
    if wanted.or_declines and is_declined:
        return True
    words = plain_words(reply)
    alternatives = ((one,) if isinstance(one, str) else one for one in wanted.contains)
    return (
        all(any(_has(words, text) for text in texts) for texts in alternatives)
        and not any(_has(words, text) for text in wanted.excludes)
        and (wanted.number is None or any(number in wanted.number for number in numbers(reply)))
        # "one" is mostly a pronoun: "I cannot tell you that one".
        and not (wanted.no_number and any(numbers(re.sub(r"\bone\b", "", reply.casefold()))))
        and (is_declined or not wanted.declines)
    )


def plain_words(text: str) -> list[str]:
    """Split into lower-case words without punctuation; numbers become digits."""
    return [f"{token:.10g}" if isinstance(token, float) else token for token in _tokens(text)]


def numbers(text: str) -> list[float]:
    """Return every number of a text, in digits or words."""
    return [token for token in _tokens(text) if isinstance(token, float)]


def has_words(text: str, wanted: str) -> bool:
    """Return whether the wanted words occur in the text, next to each other."""
    return _has(plain_words(text), wanted)


def _has(words: Sequence[str], wanted: str) -> bool:
    sought = plain_words(wanted)
    return any(list(words[start : start + len(sought)]) == sought for start in range(len(words) - len(sought) + 1))


def _tokens(text: str) -> Iterator[str | float]:
    """Yield the words, and a number for each run of digits or number words."""
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text.casefold().replace("’", "'").replace("'", ""))
    raw = _TOKEN.findall(re.sub(r"(?<=[^\W\d])-(?=[^\W\d])", " ", text))
    start = 0
    while start < len(raw):
        value, end = _number(raw, start)
        if value is not None:
            yield value
        elif raw[start] not in _MARKS:
            yield raw[start]
        start = end


def _number(words: Sequence[str], start: int) -> tuple[float | None, int]:
    """Read the longest number that begins here; None and the next position where there is none."""
    at, sign = start, 1.0
    if words[at] in ("minus", "negative") and at + 1 < len(words) and _value(words[at + 1]) is not None:
        at, sign = at + 1, -1.0
    first = 1.0 if words[at] == "a" and words[at + 1 : at + 2] and words[at + 1] in _SCALES else _value(words[at])
    if first is None:
        return None, start + 1
    total, group, last, at = 0.0, first, words[at], at + 1
    while at < len(words):
        word = words[at]
        follower = words[at + 1] if at + 1 < len(words) else ""
        if word in _SCALES:
            group *= _SCALES[word]
            if _SCALES[word] > 100:
                total, group = total + group, 0.0
        elif word == "and" and last in _SCALES and (follower in _UNITS or follower in _TENS):
            pass
        elif word == "and" and words[at + 1 : at + 2] == ["a"] and words[at + 2 : at + 3] and words[at + 2] in _PARTS:
            return sign * (total + group + _PARTS[words[at + 2]]), at + 3
        elif word in _FRACTIONS:
            return sign * (total + group + _FRACTIONS[word]), at + 1
        elif word == "point" and follower in _UNITS:
            digits, at = _digits(words, at + 1)
            return sign * (total + group + float(f"0.{digits}")), at
        elif (last in _TENS and 0 < _UNITS.get(word, 0) < 10) or (
            (last in _SCALES or last == "and") and (word in _UNITS or word in _TENS)
        ):
            group += _UNITS.get(word, 0.0) + _TENS.get(word, 0.0)
        else:
            break
        last, at = word, at + 1
    return sign * (total + group), at


def _value(word: str) -> float | None:
    if word in _FRACTIONS:
        return _FRACTIONS[word]
    if word[-1].isdigit():
        return float(word.replace("−", "-"))
    return _UNITS.get(word, _TENS.get(word))


def _digits(words: Sequence[str], start: int) -> tuple[str, int]:
    end = start
    while end < len(words) and _UNITS.get(words[end], 10) < 10:
        end += 1
    return "".join(f"{_UNITS[word]:.0f}" for word in words[start:end]) or "0", max(end, start + 1)

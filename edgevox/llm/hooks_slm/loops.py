"""Finding where a text begins to go round in circles.

A loop is the same words several times with nothing between them. How often is too often depends on how long
they are: "no no no" and a refrain that comes back between verses are none.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

# A reply is a few hundred words; the search is linear in the text for every length of the repeated part.
_MAX_WORDS = 2000
_MAX_UNIT_WORDS = 60
_MAX_UNIT_CHARS = 40
_MIN_TAIL_REPEATS = 8
_MIN_TAIL_CHARS = 24
# Long numbers end in many zeros.
_MIN_NUMBER_REPEATS = 25
_MIN_NUMBER_CHARS = 200

# The numbers of a list are no words: they differ where the entries are the same.
_WORD = re.compile(r"(?!(?<=\n)\d+[.)]\s)\b\w+(?:['’]\w+)*")
_SENTENCE_END = re.compile(r"[.!?…](?=\s|$)|[。！？\n]")
_DANGLING = re.compile(r"[\s,](?:and|but|or|so|then)$", re.IGNORECASE)
_CALM_END = re.compile(r"[.?\n。？]")


def without_loop(text: str, *, is_cut: bool) -> str | None:
    """The text with each loop said once; None when there is none. `is_cut`: it ran into its limit."""
    shorter = text.rstrip()
    while (once := _without_words(shorter) or _without_tail(shorter)) is not None:
        shorter = once
    if is_cut:
        shorter = _before_second_round(shorter)
    return shorter if shorter != text.rstrip() else None


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    start: int
    end: int


def _without_words(text: str) -> str | None:
    """The text without the first words that are repeated; always shorter than before."""
    words = [_Word(m.group().casefold(), m.start(), m.end()) for m in _WORD.finditer(text)][:_MAX_WORDS]
    for size in range(1, min(_MAX_UNIT_WORDS, len(words) // 2) + 1):
        run = 0
        for at in range(len(words) - size + 1):
            if at + size < len(words) and words[at].text == words[at + size].text:
                run += 1
                continue
            first = at - run
            if run and 1 + run // size >= _too_often(text, words[first : first + size + 1]):
                return _said_once(text, words, first, size, run)
            run = 0
    return None


def _too_often(text: str, words: list[_Word]) -> int:
    """How many times in a row are a loop: `words` are those repeated, and the first that comes again."""
    *unit, following = words
    if not any(char.isalpha() for word in unit for char in word.text):
        return _MIN_NUMBER_REPEATS
    is_sentence = _CALM_END.search(text, unit[-1].end, following.start) is not None
    if len(unit) >= 4 or (len(unit) == 3 and is_sentence):
        return 3
    return 5 if len(unit) > 1 else 8


def _said_once(text: str, words: list[_Word], first: int, size: int, run: int) -> str:
    unit_end = words[first + size - 1].end
    # The loop may have been found in the middle of a sentence: let it end.
    sentence_end = _SENTENCE_END.search(text, unit_end, words[first + 2 * size - 1].start)
    kept = text[: sentence_end.end() if sentence_end else unit_end].rstrip()
    rest = text[words[first + size + run - 1].end :].lstrip(" \t.,;:!?…-")
    if _SENTENCE_END.search(rest) is None:
        rest = ""  # a piece of the next round
    if not _SENTENCE_END.match(kept[-1]):
        kept = f"{_DANGLING.sub('', kept.rstrip(',;:–- '))}."
    return f"{kept} {rest}".rstrip()


def _without_tail(text: str) -> str | None:
    """The text without a tail of ever the same few characters."""
    for size in range(1, min(_MAX_UNIT_CHARS, len(text) // 2) + 1):
        run = 0
        while run + size < len(text) and text[-1 - run] == text[-1 - run - size]:
            run += 1
        length = run + size
        unit = text[len(text) - size :]
        has_letters = any(char.isalpha() for char in unit)
        if length >= max(size * _MIN_TAIL_REPEATS, _MIN_TAIL_CHARS if has_letters else _MIN_NUMBER_CHARS):
            return text[: len(text) - run].rstrip()
    return None


def _before_second_round(text: str) -> str:
    """Of a text that says a sentence three times or more, what stands before the second time."""
    sentences: list[tuple[str, int]] = []
    start = 0
    for end in _SENTENCE_END.finditer(text):
        words = _WORD.findall(text[start : end.end()].casefold())
        if len(words) >= 4:
            sentences.append((" ".join(words), start))
        start = end.end()
    counts = Counter(sentence for sentence, _ in sentences)
    seen: set[str] = set()
    for sentence, start in sentences:
        if sentence in seen and counts[sentence] >= 3:
            return text[:start].rstrip()
        seen.add(sentence)
    return text

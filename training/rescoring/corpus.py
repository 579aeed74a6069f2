"""The sentences that the language models learn from, as words.

Home: what the generator of commands says, what people asked assistants in public corpora, and the built-in
commands. General: novels and a play that are in the public domain, and the assistant's own small talk.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from edgevox.stt.rescoring import model_words, with_name_class
from edgevox.voice.instant_words import _CANCEL_WHILE_BUSY as CANCEL_WHILE_BUSY
from edgevox.voice.instant_words import _PHRASES as PHRASES
from training.hearing.sentences import sentences
from training.kept_aside import is_kept_aside
from training.talk_data import load_talk

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
    phrases = [phrase for phrases in PHRASES.values() for phrase in phrases]
    for phrase in (*phrases, *CANCEL_WHILE_BUSY, *_ANSWERS):
        yield model_words(phrase), _BUILT_IN_WEIGHT


def asked(paths: Iterable[Path]) -> Iterator[Weighted]:
    """What people asked assistants, one sentence a line, without those that the product is judged by.

    A sentence that several corpora have counts once.
    """
    seen: set[str] = set()
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip() and line.lower() not in seen and not is_kept_aside(line):
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
    for pair in load_talk():
        for line in (*pair.questions, *pair.answers):
            if not is_kept_aside(line):
                yield model_words(line), 1

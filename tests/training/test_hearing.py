"""What the recogniser is taught."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from edgevox.eval.word_errors import words_of
from training.hearing.sentences import SUITES, sentences
from training.hearing.spelling import as_written


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("turn on the tv", "Turn on the TV."),
        ("dim it to sixty five percent", "Dim it to 65%."),
        ("five percent more", "5% more."),
        ("wake me at six twenty five", "Wake me at 6:25."),
        ("add two eggs", "Add two eggs."),
        ("the lamp to a hundred percent", "The lamp to 100%."),
    ],
)
def test_sentences_are_written_as_whisper_writes_them(said: str, written: str) -> None:
    assert as_written(said, is_question=False) == written


def test_a_question_ends_with_its_mark() -> None:
    assert as_written("is it on", is_question=True) == "Is it on?"


def test_the_same_seed_says_the_same() -> None:
    first, second = (list(itertools.islice(sentences(7), 60)) for _ in range(2))
    assert first == second != list(itertools.islice(sentences(8), 60))


def test_nothing_of_the_suites_is_learnt() -> None:
    suites = {
        " ".join(words_of(row["utterance"]))
        for path in Path(SUITES).glob("*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
        if "utterance" in (row := json.loads(line))
    }
    assert len(suites) > 1000
    learnt = {" ".join(words_of(sentence.written)) for sentence in itertools.islice(sentences(1), 1500)}
    assert not learnt & suites

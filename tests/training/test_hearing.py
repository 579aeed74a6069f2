"""What the recogniser is taught."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from edgevox.stt.adapter import asking_of, read_adapter, write_adapter
from training.hearing import keep
from training.hearing.sentences import sentences
from training.hearing.spelling import as_written
from training.kept_aside import is_kept_aside


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


def test_nothing_that_is_kept_aside_is_learnt() -> None:
    learnt = [sentence.written for sentence in itertools.islice(sentences(1), 1500)]
    assert not [sentence for sentence in learnt if is_kept_aside(sentence)]


def test_a_share_of_what_was_learnt_is_kept_and_says_how_it_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnt, kept = tmp_path / "learnt.gguf", tmp_path / "kept.gguf"
    a, b = np.ones((2, 3), np.float32), np.ones((4, 2), np.float32)
    write_adapter(learnt, {"a/weight": (a, b)}, alpha=4.0)
    monkeypatch.setattr("sys.argv", ["keep", "--share", "0.5", str(learnt), str(kept)])
    keep.main()
    alpha, factors = read_adapter(kept)
    assert alpha == 2.0
    np.testing.assert_array_equal(factors["a/weight"][1], b)
    assert asking_of(kept) == keep.TAUGHT
    assert asking_of(learnt).timestamps

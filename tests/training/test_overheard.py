"""Speech that is not for the assistant never teaches a call, and half sentences are halves."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from training import overheard
from training.scenes import scenes


def test_what_is_not_for_the_assistant_is_answered_in_words() -> None:
    seen = [
        dialogue
        for scene in itertools.islice(scenes(5), 60)
        for dialogue in scene.dialogues
        if dialogue.category in ("half", "overheard")
    ]
    assert {dialogue.category for dialogue in seen} == {"half", "overheard"}
    assert [dialogue for dialogue in seen if not dialogue.lines[-1].text.startswith("[respond(")] == []


@pytest.mark.parametrize(
    ("words", "is_open"),
    [
        ("turn off the", True),
        ("could you turn on", True),
        ("set the kitchen light to", True),
        ("turn the kitchen light on", False),
        ("close the blinds", False),
        ("how many", True),
    ],
)
def test_a_half_sentence_ends_where_a_word_must_follow(words: str, is_open: bool) -> None:
    assert overheard._is_open(words.split()) is is_open


@pytest.mark.parametrize("line", ["turn the lamp off now", "what time is it there", "yes", "thanks a lot for that"])
def test_a_line_of_a_corpus_that_may_be_meant_for_a_home_is_left_out(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "public"
    folder.mkdir()
    (folder / "talk.txt").write_text(f"{line}\nI went to see her yesterday\n")
    monkeypatch.setattr(overheard, "TALK_FOLDER", tmp_path)
    overheard.public_talk.cache_clear()
    assert overheard.public_talk() == ("I went to see her yesterday",)
    overheard.public_talk.cache_clear()

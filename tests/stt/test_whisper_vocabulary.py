"""Whisper's words as tokens."""

from __future__ import annotations

from pathlib import Path

from edgevox.stt.whisper_adapter import read_tokens


def test_words_that_begin_with_t_are_one_token(whisper_base_dir: Path) -> None:
    tokens = read_tokens(whisper_base_dir / "tokenizer.json")
    for word in (" the", " turn", " that", " tea"):
        assert len(tokens.encode(word, add_special_tokens=False).ids) == 1
    assert tokens.decode(tokens.encode(" turn off the lamp", add_special_tokens=False).ids) == " turn off the lamp"


def test_a_vocabulary_that_is_whole_stays_as_it_is(whisper_tiny_dir: Path) -> None:
    tokens = read_tokens(whisper_tiny_dir / "tokenizer.json")
    assert len(tokens.encode(" the", add_special_tokens=False).ids) == 1

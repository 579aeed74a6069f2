"""What a model is judged by is not what it learnt."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from training import held_out
from training.held_out import SUITES, digest, is_held_out, main, suite_sentences
from training.no_call import load_small_talk
from training.scenes import scenes

_SCENES = 300


@pytest.mark.parametrize("suite", sorted(SUITES.glob("*.jsonl")), ids=lambda suite: suite.stem)
def test_every_sentence_of_the_suites_that_ship_is_held_out(suite: Path) -> None:
    assert not [sentence for sentence in suite_sentences(suite) if not is_held_out(sentence)]


def test_no_scene_says_a_sentence_that_is_held_out() -> None:
    said = [
        line.text
        for scene in itertools.islice(scenes(23), _SCENES)
        for dialogue in scene.dialogues
        for line in dialogue.lines
        if line.role == "user"
    ]
    assert len(said) > _SCENES
    assert not [text for text in said if is_held_out(text)]


def test_no_line_of_talk_is_held_out() -> None:
    assert not [text for pair in load_small_talk() for text in pair.questions if is_held_out(text)]


def test_spelling_and_politeness_make_no_other_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = tmp_path / "public.jsonl"
    suite.write_text(
        '{"suite": {}}\n{"utterance": "Dim the Larder’s lamp to 20%."}\n{"utterance": "What\'s up"}\n', encoding="utf-8"
    )
    monkeypatch.setattr(held_out, "DIGESTS", tmp_path / "digests.txt")
    monkeypatch.setattr(held_out, "SUITES", tmp_path / "none")
    (tmp_path / "digests.txt").write_text(digest("a sentence of before") + "\n", encoding="ascii")
    held_out._digests.cache_clear()
    main([str(suite)])
    held_out._digests.cache_clear()
    try:
        assert "3 sentences are held out, 2 of them" in capsys.readouterr().out
        assert is_held_out("a sentence of before")
        assert is_held_out("please dim the larder's lamp to twenty percent")
        assert is_held_out("what is up?")
        assert not is_held_out("dim the larder's lamp to thirty percent")
        assert "Larder" not in (tmp_path / "digests.txt").read_text(encoding="ascii")
    finally:
        held_out._digests.cache_clear()

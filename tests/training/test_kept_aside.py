"""What a model is judged by is not what it learnt."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from training import kept_aside
from training.kept_aside import SUITES, digest, is_kept_aside, main, suite_sentences
from training.scenes import scenes
from training.talk_data import load_talk

_SCENES = 300


@pytest.mark.parametrize("suite", sorted(SUITES.glob("*.jsonl")), ids=lambda suite: suite.stem)
def test_every_sentence_of_the_suites_that_ship_is_kept_aside(suite: Path) -> None:
    assert not [sentence for sentence in suite_sentences(suite) if not is_kept_aside(sentence)]


def test_no_scene_says_a_sentence_that_is_kept_aside() -> None:
    said = [
        line.text
        for scene in itertools.islice(scenes(23), _SCENES)
        for dialogue in scene.dialogues
        for line in dialogue.lines
        if line.role == "user"
    ]
    assert len(said) > _SCENES
    assert not [text for text in said if is_kept_aside(text)]


def test_no_line_of_talk_is_kept_aside() -> None:
    assert not [text for pair in load_talk() for text in pair.questions if is_kept_aside(text)]


def test_spelling_and_politeness_make_no_other_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = tmp_path / "public.jsonl"
    suite.write_text(
        '{"suite": {}}\n{"utterance": "Dim the Larder’s lamp to 20%."}\n{"utterance": "What\'s up"}\n',
        encoding="utf-8",
    )
    monkeypatch.setattr(kept_aside, "DIGESTS", tmp_path / "digests.txt")
    monkeypatch.setattr(kept_aside, "SUITES", tmp_path / "none")
    (tmp_path / "digests.txt").write_text(digest("a sentence of before") + "\n", encoding="ascii")
    kept_aside._digests.cache_clear()
    main([str(suite)])
    kept_aside._digests.cache_clear()
    try:
        assert "3 sentences are kept aside, 2 of them" in capsys.readouterr().out
        assert is_kept_aside("a sentence of before")
        assert is_kept_aside("please dim the larder's lamp to twenty percent")
        assert is_kept_aside("what is up?")
        assert not is_kept_aside("dim the larder's lamp to thirty percent")
        assert "Larder" not in (tmp_path / "digests.txt").read_text(encoding="ascii")
    finally:
        kept_aside._digests.cache_clear()

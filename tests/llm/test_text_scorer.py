from __future__ import annotations

import math
from pathlib import Path

import pytest

from edgevox.core.errors import ModelError
from edgevox.llm.engine import TextScorer


@pytest.fixture(scope="module")
def scorer(smollm2_copy_path: Path) -> TextScorer:
    scorer = TextScorer(smollm2_copy_path, threads=1)
    scorer.load()
    return scorer


def test_english_is_likelier_than_words_that_sound_like_it(scorer: TextScorer) -> None:
    pairs = [
        ("What song is this?", "What sign is this?"),
        ("A dark roast coffee with skim milk, please.", "A dark rose coffee with skin milk, please."),
        ("Play the top songs this week.", "Play the top signs these speak."),
    ]
    for said, like_it in pairs:
        scores = scorer.log_probabilities([said, like_it])
        assert scores is not None
        assert scores[0] > scores[1]


def test_texts_in_one_batch_score_as_each_alone(scorer: TextScorer) -> None:
    texts = ["Turn on the light.", "Turn on the lights in the hall.", "Turn it on.", "Good night."]
    together = scorer.log_probabilities(texts)
    assert together is not None
    for text, score in zip(texts, together, strict=True):
        (alone,) = scorer.log_probabilities([text]) or [math.nan]
        assert math.isclose(score, alone, abs_tol=0.3)


def test_what_is_too_long_or_too_much_has_no_score(scorer: TextScorer) -> None:
    assert scorer.log_probabilities(["very long " * 400]) is None
    assert scorer.log_probabilities(["no"] * 17) is None
    assert scorer.log_probabilities(["no"]) is not None


def test_a_file_that_is_no_model_is_an_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "model.gguf").write_bytes(b"GGUF and nothing else")
    with pytest.raises(ModelError, match=r"cannot load model\.gguf"):
        TextScorer(tmp_path / "model.gguf").load()

from __future__ import annotations

import math
from pathlib import Path

import pytest

from edgevox.core.errors import ModelError
from edgevox.stt.rescoring import END, UNKNOWN, NgramModel, read_ngrams, write_ngrams
from training.stt.ngrams import estimate

SENTENCES = [
    (["turn", "on", "the", "light"], 3),
    (["turn", "off", "the", "light"], 2),
    (["turn", "on", "the", "heating"], 1),
    (["is", "the", "door", "open"], 1),
]
WORDS = frozenset(word for words, _ in SENTENCES for word in words)


@pytest.fixture
def model() -> NgramModel:
    return estimate(SENTENCES, WORDS, (1, 1, 1))


def test_a_sentence_that_was_seen_is_likelier_than_its_words_in_another_order(model: NgramModel) -> None:
    seen, shuffled = (model.log_probability(words.split()) for words in ("turn on the light", "the on turn light"))
    assert seen > shuffled + 2


def test_a_sentence_seen_more_often_is_likelier(model: NgramModel) -> None:
    assert model.log_probability(["turn", "on", "the", "light"]) > model.log_probability(
        ["turn", "off", "the", "light"]
    )


@pytest.mark.parametrize("context", ["<s>", "turn", "turn on", "on the", "the light", "door light"])
def test_what_may_follow_adds_up_to_one(model: NgramModel, context: str) -> None:
    words = (*WORDS, UNKNOWN, END)
    total = math.fsum(math.exp(model.log_next(context.split(), word)) for word in words)
    assert total == pytest.approx(1, abs=0.06)


def test_pruning_keeps_every_sentence_scorable() -> None:
    pruned = estimate(SENTENCES, WORDS, (1, 2, 3))
    assert sum(len(table.keys) for table in pruned.tables) < 30
    assert math.isfinite(pruned.log_probability(["is", "the", "heating", "open"]))


def test_an_unknown_word_costs_more_than_a_known_one(model: NgramModel) -> None:
    assert model.log_probability(["turn", "on", "the", "zebra"]) < model.log_probability(["turn", "on", "the", "door"])


def test_a_file_gives_back_the_same_models(model: NgramModel, tmp_path: Path) -> None:
    write_ngrams(tmp_path / "models.npz", {"home": model, "general": model})
    assert read_ngrams(tmp_path / "models.npz") == {"home": model, "general": model}


def test_a_damaged_file_is_a_model_error(tmp_path: Path) -> None:
    (tmp_path / "models.npz").write_bytes(b"nothing")
    with pytest.raises(ModelError, match=r"models\.npz"):
        read_ngrams(tmp_path / "models.npz")

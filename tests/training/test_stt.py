"""What the recogniser is taught."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import numpy as np
import pytest
import torch

from edgevox.stt.whisper_adapter import decode_options_of, read_adapter, write_adapter
from training.held_out import is_held_out
from training.stt import blend_adapters
from training.stt.cut_recordings import RATE_HZ, utterances
from training.stt.home_sentences import as_written, sentences
from training.stt.public_corpora import fit, orders
from training.stt.train import divergence, initial_adapter


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


def test_no_held_out_sentence_is_learnt() -> None:
    learnt = [sentence.written for sentence in itertools.islice(sentences(1), 1500)]
    assert not [sentence for sentence in learnt if is_held_out(sentence)]


def test_a_share_of_what_was_learnt_is_kept_and_says_how_it_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnt, kept = tmp_path / "learnt.gguf", tmp_path / "kept.gguf"
    a, b = np.ones((2, 3), np.float32), np.ones((4, 2), np.float32)
    write_adapter(learnt, {"a/weight": (a, b)}, alpha=4.0)
    monkeypatch.setattr("sys.argv", ["blend_adapters", "--out", str(kept), f"{learnt}:0.5"])
    blend_adapters.main()
    alpha, factors = read_adapter(kept)
    kept_a, kept_b = factors["a/weight"]
    np.testing.assert_allclose(alpha / len(kept_a) * kept_b @ kept_a, 0.5 * 4.0 / 2 * b @ a)
    assert decode_options_of(kept) == blend_adapters.TRAINED_OPTIONS
    assert decode_options_of(learnt).timestamps


def test_a_recording_is_cut_in_its_pauses() -> None:
    tone = np.sin(np.arange(2 * RATE_HZ) / 5).astype(np.float32)
    pause = np.zeros(RATE_HZ, np.float32)
    recording = np.concatenate([pause, tone, pause, tone, pause, tone, pause])
    lengths_s = {round(len(piece) / RATE_HZ, 1) for piece in utterances(recording, random.Random(1))}
    kept_around_s = 0.2
    assert lengths_s
    assert lengths_s <= {round(whole_s + kept_around_s, 1) for whole_s in (2, 5, 8)}


def test_a_student_that_doubts_as_its_teacher_does_has_nothing_to_learn() -> None:
    logits = torch.tensor([[2.0, 1.0, -30.0, 0.0]])
    likeliest = torch.tensor([[0, 1, 3]])
    shares = logits.softmax(-1).gather(1, likeliest)
    assert divergence(logits, likeliest, shares).item() == pytest.approx(0.0, abs=1e-5)
    assert divergence(logits.roll(1, 1), likeliest, shares).item() > 1.0


def test_shares_of_two_trainings_are_added_and_cut_to_a_rank() -> None:
    chance = np.random.default_rng(3)
    same, other = ({"a/weight": (chance.standard_normal((2, 5)), chance.standard_normal((4, 2)))} for _ in range(2))
    kept_a, kept_b = blend_adapters.blend([(0.25, same), (0.5, same)], rank=2)["a/weight"]
    a, b = same["a/weight"]
    np.testing.assert_allclose(kept_b @ kept_a, 0.75 * b @ a, atol=1e-6)
    assert len(blend_adapters.blend([(1.0, same), (1.0, other)], rank=3)["a/weight"][0]) == 3


def test_an_adapter_that_is_learnt_on_from_changes_as_much_as_before(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(4, 6)), rng.normal(size=(5, 4))
    path = tmp_path / "adapter.gguf"
    write_adapter(path, {"map/weight": (a, b)}, alpha=12.0)
    learnt = initial_adapter(path, torch.device("cpu"))
    again = 2.0 * learnt["map.b"] @ learnt["map.a"]
    assert np.allclose(again.numpy(), 3.0 * b @ a, atol=0.1)


def test_sentences_of_others_can_be_said_in_a_breath() -> None:
    kept = fit(["play  some jazz", "play some jazz", "set it to 5", "hm", "and so on " * 9, "what's new?"])
    assert kept == ["play some jazz", "what's new?"]


def test_no_order_is_two_words_run_together() -> None:
    made = list(itertools.islice(orders(random.Random(1)), 50))
    assert all(not order.startswith(" ") and "  " not in order for order in made)
    assert not any(" a iced" in f" {order}" for order in made)

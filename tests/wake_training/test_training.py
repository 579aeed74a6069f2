"""Training of a wake word: the phrase is where the clips say, the classifier learns, and phrases are checked."""

from __future__ import annotations

import numpy as np
import pytest

from edgevox.audio.wake_features import DIMENSIONS
from edgevox.audio.wake_head import WINDOW, WINDOW_S
from edgevox.core.errors import ConfigError
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.tts.speaker_bank import edited_phonemes
from edgevox.wake_training import negatives
from edgevox.wake_training.augmentation import AFTER_S, Augmenter, speech_of
from edgevox.wake_training.recipe import checked_phrase
from edgevox.wake_training.training import Windows, clip_windows, train_head
from tests.audio.sounds import noise
from tests.audio.test_wake_features import network


def test_a_clip_holds_windows_that_end_with_the_phrase_and_windows_that_end_before_it() -> None:
    augmenter = Augmenter([noise(2, 0.1)], np.random.default_rng(4))
    clip = augmenter.phrase(noise(0.8, 0.1))
    assert WINDOW_S < clip.end_s < len(clip.samples) / SAMPLE_RATE_HZ - AFTER_S + 0.01
    assert 0.6 < clip.end_s - clip.begin_s < 1.0
    windows = clip_windows(network(), clip)
    assert windows.phrase.shape[1:] == windows.other.shape[1:] == (WINDOW, DIMENSIONS)
    assert len(windows.phrase) >= 3


def test_speech_is_cut_to_what_is_audible() -> None:
    quiet = np.zeros(SAMPLE_RATE_HZ, np.float32)
    speech = speech_of(Audio(np.concatenate([quiet, noise(0.5, 0.1), quiet]), SAMPLE_RATE_HZ))
    assert len(speech) / SAMPLE_RATE_HZ == pytest.approx(0.5, abs=0.02)


def test_the_classifier_learns_what_sets_the_phrase_apart() -> None:
    random = np.random.default_rng(5)
    other = random.standard_normal((900, WINDOW, DIMENSIONS)).astype(np.float16)
    phrase = random.standard_normal((300, WINDOW, DIMENSIONS)).astype(np.float16)
    phrase[:, 8:12, :20] += 1.5
    head = train_head(Windows(phrase[:200], other[:600]), steps=60)
    assert (head.probabilities(phrase[200:].astype(np.float32)) > 0.5).mean() > 0.95
    assert (head.probabilities(other[600:].astype(np.float32)) > 0.5).mean() < 0.05


def test_what_sounds_alike_is_not_the_phrase() -> None:
    random, known = np.random.default_rng(6), np.array([*"bdgmn"])
    made = {edited_phonemes("hˈA hˈWs", 2, random, known) for _ in range(20)}
    assert "hˈA hˈWs" not in made
    assert len(made) > 10


def test_the_shipped_speech_of_people_is_enough_for_a_window_each() -> None:
    recordings = negatives.load()
    assert min(map(len, recordings)) >= WINDOW
    assert sum(map(len, recordings)) * 0.08 > 20 * 60


@pytest.mark.parametrize("text", ["", "  ", "42", "hey, house", "größe"])
def test_a_phrase_must_be_english_words(text: str) -> None:
    with pytest.raises(ConfigError, match="is not a phrase of English words"):
        checked_phrase(text)


def test_a_phrase_is_kept_in_small_letters() -> None:
    assert checked_phrase("  Hey   House ") == "hey house"

"""A trained wake word on disk: it is loaded as it was saved, listed by its name, and refused when damaged."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from edgevox.audio.wake_features import DIMENSIONS
from edgevox.audio.wake_head import SMOOTHED, WINDOW, TrainedWord, WakeHead, is_trained_word, load_word, save_word
from edgevox.config.sections import TRAINED_WORDS_FOLDER, WakeSettings, wake_words
from edgevox.core.errors import ConfigError


def head() -> WakeHead:
    random, hidden = np.random.default_rng(1), 4
    return WakeHead(
        mean=np.zeros(DIMENSIONS, np.float32),
        scale=np.ones(DIMENSIONS, np.float32),
        hidden=random.standard_normal((WINDOW * DIMENSIONS, hidden)).astype(np.float32),
        hidden_bias=np.zeros(hidden, np.float32),
        output=random.standard_normal(hidden).astype(np.float32),
        output_bias=np.zeros(1, np.float32),
    )


WORD = TrainedWord(
    phrase="hey house",
    cutoffs={"strict": 0.9, "normal": 0.8, "eager": 0.7},
    noticed_after_s=0.2,
    measured={"missed": 1, "phrases": 30},
)


def test_a_saved_word_is_loaded_as_it_was(tmp_path: Path) -> None:
    path, saved = tmp_path / "hey_house.json", head()
    save_word(path, saved, WORD)
    word, loaded = load_word(path)
    assert (word.phrase, word.cutoffs, word.measured) == (WORD.phrase, WORD.cutoffs, WORD.measured)
    windows = np.random.default_rng(2).standard_normal((3, WINDOW, DIMENSIONS)).astype(np.float32)
    np.testing.assert_array_equal(loaded.probabilities(windows), saved.probabilities(windows))


def test_the_settings_offer_a_trained_word_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EDGEVOX_STATE_DIR", str(tmp_path))
    folder = tmp_path / TRAINED_WORDS_FOLDER
    save_word(folder / "hey_house.json", head(), WORD)
    (folder / "other.json").write_text('{"kind": "something else"}')
    assert [*wake_words()][-2:] == ["alexa", "hey_house"]
    assert WakeSettings(word="hey_house").word == "hey_house"
    assert wake_words()["hey_house"].cutoff("strict") == 0.9


@pytest.mark.parametrize("damage", ["weights", "no weights", "no description"])
def test_a_damaged_word_is_refused(damage: str, tmp_path: Path) -> None:
    path = tmp_path / "hey_house.json"
    save_word(path, head(), WORD)
    match damage:
        case "weights":
            weights = path.with_suffix(".npz")
            weights.write_bytes(weights.read_bytes()[:-40] + bytes(40))
        case "no weights":
            path.with_suffix(".npz").unlink()
        case _:
            path.write_text('{"kind": "edgevox-wake-word-1"}')
    assert is_trained_word(path)
    with pytest.raises(ConfigError, match="cannot be used as a wake word") as error:
        load_word(path)
    assert "edgevox wake train" in error.value.hint


def test_there_is_no_confidence_before_a_whole_window() -> None:
    embeddings = np.zeros((WINDOW + SMOOTHED, DIMENSIONS), np.float32)
    assert len(head().confidences(embeddings[: WINDOW - 1])) == 0
    assert len(head().confidences(embeddings)) == SMOOTHED + 1

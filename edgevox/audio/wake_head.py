"""The classifier of a trained wake word: two layers on the speech embeddings of the last two seconds, and its files.

A word is NAME.json, its description, and NAME.npz beside it, the weights; `edgevox wake train` writes both.
"""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from pydantic import BaseModel, ConfigDict

from edgevox.audio.wake_features import DIMENSIONS, STEP_SAMPLES, WINDOW_SAMPLES, Floats
from edgevox.config.sections import TRAINED_WORD, ThresholdName, WakeWord
from edgevox.core.errors import ConfigError
from edgevox.core.files import write_atomic
from edgevox.core.types import SAMPLE_RATE_HZ

WINDOW = 16
"""Embeddings that one probability is computed from …"""
WINDOW_S = (WINDOW_SAMPLES + (WINDOW - 1) * STEP_SAMPLES) / SAMPLE_RATE_HZ
"""… which are of so many seconds."""
SMOOTHED: Final = 3
"""The confidence is the mean of so many probabilities."""
_WEIGHTS = ("mean", "scale", "hidden", "hidden_bias", "output", "output_bias")


def sigmoid(values: Floats) -> Floats:
    """Without overflow for any value."""
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * values), np.float32)


@dataclass(frozen=True, slots=True)
class WakeHead:
    """The weights: `hidden` is applied to a normalised and flattened window."""

    mean: Floats
    scale: Floats
    hidden: Floats
    hidden_bias: Floats
    output: Floats
    output_bias: Floats

    def probabilities(self, windows: Floats) -> Floats:
        """One for each window of 16 embeddings."""
        flat = ((windows - self.mean) / self.scale).reshape(len(windows), -1)
        hidden = np.maximum(0, flat @ self.hidden + self.hidden_bias)
        return sigmoid(hidden @ self.output + self.output_bias)

    def confidences(self, embeddings: Floats) -> Floats:
        """The smoothed probabilities of a recording, one for each embedding from the 16th on."""
        if len(embeddings) < WINDOW:
            return np.zeros(0, np.float32)
        windows = sliding_window_view(embeddings, WINDOW, axis=0).transpose(0, 2, 1)
        raw = np.concatenate([np.zeros(SMOOTHED - 1, np.float32), self.probabilities(windows)])
        return np.asarray(sliding_window_view(raw, SMOOTHED).mean(axis=1), np.float32)


class TrainedWord(BaseModel):
    """The description of a trained wake word. `training` and `measured` are for people."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["edgevox-wake-word-1"] = TRAINED_WORD
    phrase: str
    weights: str = ""
    sha256: str = ""
    cutoffs: dict[ThresholdName, float]
    noticed_after_s: float
    training: dict[str, Any] = {}
    measured: dict[str, Any] = {}

    def wake_word(self, path: Path) -> WakeWord:
        return WakeWord(phrase=self.phrase, model=path, cutoffs=self.cutoffs, noticed_after_s=self.noticed_after_s)


def is_trained_word(path: Path) -> bool:
    """Whether the .json file describes a word of `edgevox wake train`, not a microWakeWord model."""
    try:
        return bool(json.loads(path.read_text(encoding="utf-8")).get("kind") == TRAINED_WORD)
    except (OSError, ValueError, AttributeError):
        return False


def save_word(path: Path, head: WakeHead, word: TrainedWord) -> None:
    """Write the description to `path`, a .json file, and the weights beside it."""
    buffer = io.BytesIO()
    np.savez(buffer, **{name: getattr(head, name).astype(np.float32) for name in _WEIGHTS})
    weights = buffer.getvalue()
    described = word.model_copy(
        update={"weights": path.with_suffix(".npz").name, "sha256": hashlib.sha256(weights).hexdigest()}
    )
    write_atomic(path.with_suffix(".npz"), weights)
    write_atomic(path, described.model_dump_json(indent=2), "\n")


def load_word(path: Path) -> tuple[TrainedWord, WakeHead]:
    """Raises ConfigError for files that are missing, damaged or of another kind."""
    try:
        word = TrainedWord.model_validate_json(path.read_text(encoding="utf-8"))
        return word, _head((path.parent / word.weights).read_bytes(), word)
    except (OSError, ValueError, KeyError) as error:
        raise ConfigError(
            f"{path} cannot be used as a wake word: {error}", hint='edgevox wake train "PHRASE" makes it again'
        ) from error


def _head(weights: bytes, word: TrainedWord) -> WakeHead:
    """Raises ValueError and KeyError."""
    if hashlib.sha256(weights).hexdigest() != word.sha256:
        raise ValueError(f"{word.weights} is damaged")
    with np.load(io.BytesIO(weights), allow_pickle=False) as arrays:
        head = WakeHead(**{name: arrays[name] for name in _WEIGHTS})
    if head.hidden.shape[0] != WINDOW * DIMENSIONS:
        raise ValueError(f"{word.weights} is not for these features")
    return head

"""Trains the classifier of a wake word on windows of embeddings: two layers, Adam, in numpy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from edgevox.audio.wake_features import DIMENSIONS, STEP_SAMPLES, WINDOW_SAMPLES, EmbeddingNetwork, Floats, embed
from edgevox.audio.wake_head import WINDOW, WakeHead, sigmoid
from edgevox.core.types import SAMPLE_RATE_HZ
from edgevox.wake_training.augmentation import Clip

# A window is one of the phrase if it ends in this time after it …
_DETECTED_S = (0.04, 0.32)
# … and none of it if it ends before so much of the phrase.
_INCOMPLETE = 0.6

_HIDDEN = 48
_BATCH = 512
_DROPPED = 0.3
_LEARNING_RATE = 1e-3
_DECAY = 1e-2
_MOMENTS = (0.9, 0.999)


@dataclass(frozen=True, slots=True)
class Windows:
    """Windows of 16 embeddings with the phrase at their end, and others; in half precision for their number."""

    phrase: NDArray[np.float16]
    other: NDArray[np.float16]

    @classmethod
    def joined(cls, parts: Sequence[Windows]) -> Windows:
        return cls(np.concatenate([part.phrase for part in parts]), np.concatenate([part.other for part in parts]))


def clip_windows(network: EmbeddingNetwork, clip: Clip) -> Windows:
    """The windows of a clip: those that end with the phrase, and those that end within it."""
    embeddings = embed(network, clip.samples)
    windows = _windows(embeddings)
    first_s = (WINDOW_SAMPLES + (WINDOW - 1) * STEP_SAMPLES) / SAMPLE_RATE_HZ
    ends_s = first_s + np.arange(len(windows)) * STEP_SAMPLES / SAMPLE_RATE_HZ
    low_s, high_s = (clip.end_s + delay_s for delay_s in _DETECTED_S)
    incomplete_s = clip.begin_s + _INCOMPLETE * (clip.end_s - clip.begin_s)
    return Windows(windows[(ends_s >= low_s) & (ends_s <= high_s)], windows[ends_s < incomplete_s])


def talk_windows(network: EmbeddingNetwork, samples: Floats) -> Windows:
    """All windows of a recording without the phrase."""
    return recording_windows(embed(network, samples))


def recording_windows(embeddings: Floats) -> Windows:
    """All windows of embeddings without the phrase."""
    windows = _windows(embeddings)
    return Windows(windows[:0], windows)


def _windows(embeddings: Floats) -> NDArray[np.float16]:
    if len(embeddings) < WINDOW:
        return np.zeros((0, WINDOW, DIMENSIONS), np.float16)
    return sliding_window_view(embeddings, WINDOW, axis=0).transpose(0, 2, 1).astype(np.float16)


def train_head(
    windows: Windows, *, steps: int, seed: int = 0, progress: Callable[[float], None] = lambda _share: None
) -> WakeHead:
    """Fit the classifier. Half of each batch is the phrase; of the others the hardest are drawn more often."""
    random = np.random.default_rng(seed)
    phrase, other = windows.phrase, windows.other
    sample = other[random.choice(len(other), min(len(other), 4000), replace=False)].astype(np.float32)
    mean, scale = sample.mean(axis=(0, 1)), sample.std(axis=(0, 1)) + 1e-3
    weights = [
        (random.standard_normal((WINDOW * DIMENSIONS, _HIDDEN)) * np.sqrt(2 / (WINDOW * DIMENSIONS))),
        np.zeros(_HIDDEN),
        (random.standard_normal(_HIDDEN) * np.sqrt(1 / _HIDDEN)),
        np.zeros(1),
    ]
    optimiser = _Adam([np.asarray(weight, np.float32) for weight in weights])
    chances = np.full(len(other), 1 / len(other))
    for step in range(steps):
        if step and step % max(1, steps // 6) == 0:
            chances = _hardness(optimiser.head(mean, scale), other)
        count = _BATCH // 4
        chosen = [
            phrase[random.integers(len(phrase), size=count)],
            other[random.choice(len(other), 3 * count, p=chances)],
        ]
        inputs = ((np.concatenate(chosen).astype(np.float32) - mean) / scale).reshape(4 * count, -1)
        labels = np.repeat(np.array([1, 0], np.float32), [count, 3 * count])
        keep = (random.random(inputs.shape) > _DROPPED).astype(np.float32) / (1 - _DROPPED)
        optimiser.step(inputs * keep, labels, _LEARNING_RATE * min(1.0, 2 * (1 - step / steps)))
        progress((step + 1) / steps)
    return optimiser.head(mean, scale)


def _hardness(head: WakeHead, other: NDArray[np.float16]) -> NDArray[np.float64]:
    """The chances to be drawn: half of them equal, half by the classifier's error."""
    found = np.concatenate(
        [head.probabilities(other[start : start + 4096].astype(np.float32)) for start in range(0, len(other), 4096)]
    ).astype(np.float64)
    errors = found + 1e-4
    return np.asarray(0.5 / len(other) + 0.5 * errors / errors.sum())


class _Adam:
    """Adam with decoupled weight decay, for a network of two layers with a logistic output."""

    def __init__(self, weights: list[Floats]) -> None:
        self._weights = weights
        self._means = [np.zeros_like(weight) for weight in weights]
        self._squares = [np.zeros_like(weight) for weight in weights]
        self._steps = 0

    def head(self, mean: Floats, scale: Floats) -> WakeHead:
        hidden, hidden_bias, output, output_bias = (weight.copy() for weight in self._weights)
        return WakeHead(mean, scale, hidden, hidden_bias, output, output_bias)

    def step(self, inputs: Floats, labels: Floats, rate: float) -> None:
        hidden, hidden_bias, output, output_bias = self._weights
        before = inputs @ hidden + hidden_bias
        active = np.maximum(0, before)
        found = sigmoid(active @ output + output_bias)
        errors = (found - labels) / len(labels)
        back = np.outer(errors, output) * (before > 0)
        self._update([inputs.T @ back, back.sum(axis=0), active.T @ errors, errors.sum(keepdims=True)], rate)

    def _update(self, gradients: list[Floats], rate: float) -> None:
        self._steps += 1
        first, second = _MOMENTS
        for weight, mean, square, gradient in zip(self._weights, self._means, self._squares, gradients, strict=True):
            mean += (1 - first) * (gradient - mean)
            square += (1 - second) * (gradient**2 - square)
            step = mean / (1 - first**self._steps) / (np.sqrt(square / (1 - second**self._steps)) + 1e-8)
            weight -= np.float32(rate) * (step + (np.float32(_DECAY) * weight if weight.ndim == 2 else 0)).astype(
                np.float32
            )

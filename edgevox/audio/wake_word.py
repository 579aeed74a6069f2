"""Wake-word detection, and the measurement of error rates.

A built-in word is a microWakeWord model: a detection is the mean of the last five probabilities above a cut-off, about
1 % of a core (docs/adr/0030-wake-word.md). A word of `edgevox wake train` is a classifier on speech embeddings
(docs/adr/0059-trained-wake-words.md).
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pymicro_wakeword
from numpy.typing import NDArray
from pymicro_wakeword import MicroWakeWord, MicroWakeWordFeatures

from edgevox.audio.dsp import Resampler
from edgevox.audio.vad import BLOCK_MS, BLOCK_SAMPLES
from edgevox.audio.wake_features import DIMENSIONS, EmbeddingStream, embedding_network
from edgevox.audio.wake_features import MODEL_ID as EMBEDDING_MODEL_ID
from edgevox.audio.wake_head import SMOOTHED, WINDOW, WakeHead, is_trained_word, load_word
from edgevox.config.sections import Threshold, ThresholdName, WakeWord, wake_words
from edgevox.core.errors import ConfigError
from edgevox.core.files import user_folders
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.models import open_store

_BLOCK_S = BLOCK_MS / 1000
# The refractory time after a detection.
_ONCE_IN_S = 1.0
# The features are relative to the noise floor, which must settle first.
_SETTLES_IN_S = 1.0


_BUILT_IN_MODELS = Path(pymicro_wakeword.__file__).with_name("models")
_OWN_NOTICED_AFTER_S = 0.2
_TFLITE = b"TFL3"


class WakeWordDetector:
    """Detects the wake word in one stream of blocks. Raises ConfigError, and ModelMissing for a trained word."""

    def __init__(self, word: str | Path, threshold: Threshold = "normal") -> None:
        """`word` is a name in `wake_words`, or the .json file of a microWakeWord model or a trained word."""
        path = word if isinstance(word, Path) else _BUILT_IN_MODELS / wake_words()[word].model
        self._model: _MicroModel | _EmbeddingModel
        if is_trained_word(path):
            trained, head = load_word(path)
            self._model, own = _EmbeddingModel(head), trained.wake_word(path)
        else:
            model = _load(path)
            self._model, own = _MicroModel(model), _own(path, model)
        self.word = own if isinstance(word, Path) else wake_words()[word]
        self.confidence = 0.0
        """The mean of the model's last probabilities."""
        self._trigger = Trigger(self.word.cutoff(threshold))

    @property
    def noticed_after_s(self) -> float:
        return self.word.noticed_after_s

    def feed(self, block: Audio) -> bool:
        """Process the next 20 ms block at 16 kHz; returns whether the word has just ended."""
        self.judge(block)
        return self._trigger.feed(self.confidence)

    def judge(self, block: Audio) -> float:
        """Process a block; returns the confidence without a decision."""
        if block.rate_hz != SAMPLE_RATE_HZ:
            raise ValueError(f"{block.rate_hz} Hz is not 16 kHz")
        self.confidence = self._model.judge(block.samples)
        return self.confidence


class WakeWordStream:
    """Detects the wake word in a stream of any rate, in pieces of any length. Raises as WakeWordDetector does."""

    def __init__(self, word: str | Path, threshold: Threshold = "normal") -> None:
        self._detector = WakeWordDetector(word, threshold)
        self._resampler: Resampler | None = None
        self._rest = np.zeros(0, dtype=np.float32)

    @property
    def phrase(self) -> str:
        return self._detector.word.phrase

    def ends_in(self, sound: Audio) -> bool:
        """Whether the wake word ends in this piece of the stream."""
        if self._resampler is None or self._resampler.from_hz != sound.rate_hz:
            self._resampler = Resampler(sound.rate_hz, SAMPLE_RATE_HZ)
        samples = np.concatenate((self._rest, self._resampler.feed(sound.samples)))
        whole = len(samples) - len(samples) % BLOCK_SAMPLES
        self._rest = samples[whole:]
        has_ended = False
        for start in range(0, whole, BLOCK_SAMPLES):
            has_ended |= self._detector.feed(Audio(samples[start : start + BLOCK_SAMPLES], SAMPLE_RATE_HZ))
        return has_ended


class _MicroModel:
    """A microWakeWord model, which keeps its own state."""

    def __init__(self, model: MicroWakeWord) -> None:
        self._model = model
        self._features = MicroWakeWordFeatures()
        self._steps = 0
        self._confidence = 0.0

    def judge(self, samples: NDArray[np.float32]) -> float:
        pcm = (np.clip(samples, -1.0, 1.0) * 32_767).astype("<i2").tobytes()
        for features in self._features.process_streaming(pcm):
            probability = self._model.process_streaming_prob(features)
            self._steps += 1
            # The model yields 0 between its strides.
            if self._steps % self._model.stride == 0:
                self._confidence = probability or 0.0
        return self._confidence


class _EmbeddingModel:
    """A trained word: a probability for every embedding, that is per 80 ms."""

    def __init__(self, head: WakeHead) -> None:
        self._stream = EmbeddingStream(embedding_network(open_store(user_folders()).path(EMBEDDING_MODEL_ID)))
        self._head = head
        self._recent = np.zeros((0, DIMENSIONS), np.float32)
        self._confidence = 0.0

    def judge(self, samples: NDArray[np.float32]) -> float:
        new = self._stream.feed(samples)
        if len(new):
            self._recent = np.concatenate([self._recent, new])[-(WINDOW + SMOOTHED - 1) :]
            if len(self._recent) == WINDOW + SMOOTHED - 1:
                self._confidence = float(self._head.confidences(self._recent)[-1])
        return self._confidence


class Trigger:
    """Turns a stream of confidences into single detections."""

    def __init__(self, cutoff: float) -> None:
        self.cutoff = cutoff
        self._blocks = 0
        self._ready_at = round(_SETTLES_IN_S / _BLOCK_S)
        self._is_sure = False

    def feed(self, confidence: float) -> bool:
        self._blocks += 1
        was_sure, self._is_sure = self._is_sure, confidence > self.cutoff
        if not self._is_sure or was_sure or self._blocks < self._ready_at:
            return False
        self._ready_at = self._blocks + round(_ONCE_IN_S / _BLOCK_S)
        return True


def _load(path: Path) -> MicroWakeWord:
    try:
        _check_model(path)
        return MicroWakeWord.from_config(path)
    except (OSError, KeyError, TypeError, RuntimeError, ValueError) as error:
        raise ConfigError(
            f"{path} cannot be used as a wake word: {error}",
            hint="wake.model names the .json file of a microWakeWord model, beside its .tflite",
        ) from error


def _own(path: Path, model: MicroWakeWord) -> WakeWord:
    cutoff = model.probability_cutoff
    cutoffs: dict[ThresholdName, float] = {
        "strict": 1 - (1 - cutoff) / 2,
        "normal": cutoff,
        "eager": cutoff - (1 - cutoff),
    }
    phrase = model.wake_word.casefold()
    return WakeWord(phrase=phrase, model=path, cutoffs=cutoffs, noticed_after_s=_OWN_NOTICED_AFTER_S)


def _check_model(path: Path) -> None:
    # The library aborts the process on any other file.
    weights = path.parent / json.loads(path.read_text(encoding="utf-8"))["model"]
    with weights.open("rb") as file:
        if file.read(8)[4:] != _TFLITE:
            raise ValueError(f"{weights.name} is not a TensorFlow Lite model")


TARGET_FALSE_PER_HOUR = 0.5
"""openWakeWord's requirement for its models …"""
TARGET_MISSED = 0.05
"""… with this share of missed words at most."""

# Recordings begin with the first word: noise is generated before it.
_ROOM_BEFORE_S = 2.0
_ROOM_AFTER_S = 1.0
_ROOM_LEVEL = 0.0003
_CERTAINTY = 0.95


@dataclass(frozen=True, slots=True)
class WakeWordTrace:
    """The confidences of the model for one recording, by block."""

    name: str
    confidences: NDArray[np.float32]
    duration_s: float

    def accepts_s(self, cutoff: float) -> list[float]:
        """When, in the recording, the word would have been detected."""
        trigger = Trigger(cutoff)
        blocks = [number for number, sure in enumerate(self.confidences, 1) if trigger.feed(float(sure))]
        return [max(0.0, number * BLOCK_MS / 1000 - _ROOM_BEFORE_S) for number in blocks]


@dataclass(frozen=True, slots=True)
class WakeWordScore:
    """The error rates of a trial at one cut-off."""

    cutoff: float
    false_accepts: int
    hours: float
    missed: int
    words: int

    @property
    def false_per_hour(self) -> float | None:
        """None without recordings to test."""
        return self.false_accepts / self.hours if self.hours else None

    @property
    def false_per_hour_at_most(self) -> float | None:
        """The upper bound at 95 % confidence: none in two hours may still be 1.5 per hour."""
        return _most_expected(self.false_accepts) / self.hours if self.hours else None

    @property
    def missed_share(self) -> float | None:
        return self.missed / self.words if self.words else None


def trace_wake_word(word: str | Path, name: str, audio: Audio) -> WakeWordTrace:
    """Run the word's model on a 16 kHz recording with quiet noise before it. Raises ConfigError."""
    detector = WakeWordDetector(word)
    samples = np.concatenate([_room(_ROOM_BEFORE_S), audio.samples, _room(_ROOM_AFTER_S)])
    confidences = [
        detector.judge(Audio(samples[start : start + BLOCK_SAMPLES], audio.rate_hz))
        for start in range(0, len(samples) - BLOCK_SAMPLES + 1, BLOCK_SAMPLES)
    ]
    return WakeWordTrace(name, np.array(confidences, np.float32), audio.duration_s)


def score_wake_word(words: Sequence[WakeWordTrace], others: Sequence[WakeWordTrace], cutoff: float) -> WakeWordScore:
    """`words` are recordings with the wake word in them, `others` those without."""
    return WakeWordScore(
        cutoff=cutoff,
        false_accepts=sum(len(heard.accepts_s(cutoff)) for heard in others),
        hours=sum(heard.duration_s for heard in others) / 3600,
        missed=sum(not heard.accepts_s(cutoff) for heard in words),
        words=len(words),
    )


def _room(seconds: float) -> NDArray[np.float32]:
    hiss = np.random.default_rng(5).standard_normal(round(seconds * SAMPLE_RATE_HZ))
    return (_ROOM_LEVEL * hiss).astype(np.float32)


def _most_expected(count: int) -> float:
    """The upper confidence bound of the mean of a Poisson process with `count` events."""
    low, high = 0.0, 10.0 + 3.0 * count
    while high - low > 1e-6:
        middle = (low + high) / 2
        terms = (math.exp(k * math.log(middle) - middle - math.lgamma(k + 1)) for k in range(count + 1))
        low, high = (middle, high) if sum(terms) > 1 - _CERTAINTY else (low, middle)
    return high

"""Whether a wake word was just said: microWakeWord's models, on the blocks that the microphone gives.

Ten features in a hundred milliseconds, one judgement in thirty, and the mean of the last five counts. All
of that takes about one hundredth of a core (docs/adr/0030-wake-word.md).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pymicro_wakeword import MicroWakeWord, MicroWakeWordFeatures, Model

from edgevox.audio.vad import BLOCK_MS
from edgevox.errors import ConfigError
from edgevox.settings.wake_section import Threshold, ThresholdName, WakeWordName
from edgevox.types import WHISPER_RATE_HZ, Audio

_BLOCK_S = BLOCK_MS / 1000
# A word is one word, however long the model stays sure of it.
_ONCE_IN_S = 1.0
# The features are relative to the noise of the room, which has to be known first.
_SETTLES_IN_S = 1.0


@dataclass(frozen=True, slots=True)
class WakeWord:
    """A word with what is known about its model.

    `cutoffs` are what the mean probability must exceed. `noticed_after_s` is how long after its last sound
    the word is usually known: what was heard since then belongs to what follows.
    """

    spoken: str
    cutoffs: Mapping[ThresholdName, float]
    noticed_after_s: float

    def cutoff(self, threshold: Threshold) -> float:
        return self.cutoffs[threshold] if isinstance(threshold, str) else threshold


# False accepts per hour at a dinner party (DipCo), as published with the Home Assistant Voice's firmware:
# okay_nabu 0 at 0.85, 0.4 at 0.69; hey_jarvis 0.6 at 0.97, 0.9 at 0.92; hey_mycroft 0.6 at 0.99, 1.5 at 0.95.
# "normal" is what that firmware begins with.
WAKE_WORDS: Mapping[WakeWordName, WakeWord] = {
    "okay_nabu": WakeWord("okay nabu", {"strict": 0.95, "normal": 0.85, "eager": 0.69}, 0.14),
    "hey_jarvis": WakeWord("hey jarvis", {"strict": 0.985, "normal": 0.97, "eager": 0.92}, 0.2),
    "hey_mycroft": WakeWord("hey mycroft", {"strict": 0.993, "normal": 0.99, "eager": 0.95}, 0.14),
    "alexa": WakeWord("alexa", {"strict": 0.95, "normal": 0.9, "eager": 0.8}, 0.24),
}
_OWN_NOTICED_AFTER_S = 0.2
_TFLITE = b"TFL3"


class WakeWordDetector:
    """Given every block of a stream, says when the word was said. One stream each; raises ConfigError."""

    def __init__(self, word: WakeWordName | Path, threshold: Threshold = "normal") -> None:
        """`word` is one of WAKE_WORDS, or the .json file of a microWakeWord model."""
        if isinstance(word, Path):
            self._model, self.word = _own(word)
        else:
            self._model, self.word = MicroWakeWord.from_builtin(Model(word)), WAKE_WORDS[word]
        self.confidence = 0.0
        """How sure the model is of the word, as a mean of its last judgements."""
        self._features = MicroWakeWordFeatures()
        self._steps = 0
        self._trigger = Trigger(self.word.cutoff(threshold))

    @property
    def noticed_after_s(self) -> float:
        return self.word.noticed_after_s

    def feed(self, block: Audio) -> bool:
        """Take the next block, 20 ms at 16 kHz: whether the word was said, and its last sound is past."""
        self.judge(block)
        return self._trigger.feed(self.confidence)

    def judge(self, block: Audio) -> float:
        """The same without a decision: the confidence after this block."""
        if block.rate_hz != WHISPER_RATE_HZ:
            raise ValueError(f"{block.rate_hz} Hz is not 16 kHz")
        pcm = (np.clip(block.samples, -1.0, 1.0) * 32_767).astype("<i2").tobytes()
        for features in self._features.process_streaming(pcm):
            probability = self._model.process_streaming_prob(features)
            self._steps += 1
            # In between it says 0, for it has not been asked.
            if self._steps % self._model.stride == 0:
                self.confidence = probability or 0.0
        return self.confidence


class Trigger:
    """Turns how sure a model is, block after block, into single detections."""

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


def _own(path: Path) -> tuple[MicroWakeWord, WakeWord]:
    try:
        _check_model(path)
        model = MicroWakeWord.from_config(path)
    except (OSError, KeyError, TypeError, RuntimeError, ValueError) as error:
        raise ConfigError(
            f"{path} cannot be used as a wake word: {error}",
            hint="wake.model names the .json file of a microWakeWord model, beside its .tflite",
        ) from error
    cutoff = model.probability_cutoff
    levels: dict[ThresholdName, float] = {
        "strict": 1 - (1 - cutoff) / 2,
        "normal": cutoff,
        "eager": cutoff - (1 - cutoff),
    }
    return model, WakeWord(model.wake_word.casefold(), levels, _OWN_NOTICED_AFTER_S)


def _check_model(path: Path) -> None:
    # The library ends the process where it is given something else.
    weights = path.parent / json.loads(path.read_text(encoding="utf-8"))["model"]
    with weights.open("rb") as file:
        if file.read(8)[4:] != _TFLITE:
            raise ValueError(f"{weights.name} is no TensorFlow Lite model")

"""How much of Whisper's 30 seconds is really encoded, and what stands in for the rest.

The encoder is most of the time, and a command fills a tenth of its window. The speech and a margin of silence
are encoded alone; behind them comes the encoder's output for silence, computed once. A decoder that was not
taught otherwise needs that tail: without it, it does not see the speech end, and loops
(docs/adr/0003-whisper-without-the-padding.md).
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import numpy as np
from ctranslate2 import StorageView
from ctranslate2.models import Whisper
from faster_whisper.feature_extractor import FeatureExtractor
from numpy.typing import NDArray

from edgevox.stt.ladder import FULL_WINDOW_S, Window
from edgevox.stt.silence import FRAMES_PER_S, LOUDEST, POSITIONS_PER_S, SILENCE, encoded_silence


class WindowEncoder:
    """Turns speech at 16 kHz into what Whisper's decoder attends to."""

    def __init__(self, model: Whisper, folder: Path) -> None:
        self._model = model
        self._folder = folder
        self._features = FeatureExtractor(feature_size=model.n_mels)

    @cached_property
    def silence(self) -> NDArray[np.float32]:
        """A window of silence, encoded: seconds of work where it has never been needed before."""
        return encoded_silence(self._model, self._folder)

    def encode(self, samples: NDArray[np.float32], window: Window) -> StorageView:
        """Encode at most 30 s of speech in the given window."""
        features = self._features(samples)
        features = features + (LOUDEST - features.max())
        frames = min(round(window.encoded_s * FRAMES_PER_S), FULL_WINDOW_S * FRAMES_PER_S)
        frames += frames % 2  # the encoder halves the rate
        missing = max(0, frames - features.shape[1])
        features = np.pad(features[:, :frames], ((0, 0), (0, missing)), constant_values=SILENCE)
        batch = np.ascontiguousarray(features[None], dtype=np.float32)
        encoded = self._model.encode(StorageView.from_array(batch))
        positions = round(window.attended_s * POSITIONS_PER_S)
        if frames >= positions * 2:
            return encoded
        tail = self.silence[:, frames // 2 : positions]
        return StorageView.from_array(np.concatenate([np.array(encoded), tail], axis=1))

"""How much of Whisper's 30 seconds is really encoded, and what stands in for the rest.

The encoder is most of the time, and a command fills a tenth of its window. The speech and a margin of silence
are encoded alone; behind them comes the encoder's output for silence, computed once. The decoder needs that
tail: without it, it does not see the speech end, and loops (docs/adr/0003-whisper-without-the-padding.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import ctranslate2
import numpy as np
from faster_whisper import WhisperModel
from numpy.typing import NDArray

from edgevox.stt.ladder import FULL_WINDOW_S, Window

_FRAMES_PER_S = 100
_POSITIONS_PER_S = 50
# Features span 8 powers of ten below the loudest, mapped by (x + 4) / 4. Every utterance is shifted to the
# same loudest value: then silence has one value too, and its encoding can be computed once.
_LOUDEST = (1.5 + 4.0) / 4.0
_SILENCE = _LOUDEST - 8.0 / 4.0


@dataclass(frozen=True, slots=True)
class WindowEncoder:
    """Turns speech at 16 kHz into what Whisper's decoder attends to."""

    model: WhisperModel
    silence: NDArray[np.float32]

    @classmethod
    def of(cls, model: WhisperModel) -> WindowEncoder:
        """Encode a window of silence, which costs as much as one full utterance."""
        mels = model.feature_extractor.mel_filters.shape[0]
        frames = np.full((mels, FULL_WINDOW_S * _FRAMES_PER_S), _SILENCE, np.float32)
        return cls(model, np.array(_encode(model, frames)))

    def encode(self, samples: NDArray[np.float32], window: Window) -> ctranslate2.StorageView:
        """Encode at most 30 s of speech in the given window."""
        features = self.model.feature_extractor(samples)
        features = features + (_LOUDEST - features.max())
        frames = min(round(window.encoded_s * _FRAMES_PER_S), FULL_WINDOW_S * _FRAMES_PER_S)
        frames += frames % 2  # the encoder halves the rate
        missing = max(0, frames - features.shape[1])
        features = np.pad(features[:, :frames], ((0, 0), (0, missing)), constant_values=_SILENCE)
        encoded = _encode(self.model, features)
        positions = round(window.attended_s * _POSITIONS_PER_S)
        if frames >= positions * 2:
            return encoded
        tail = self.silence[:, frames // 2 : positions]
        return ctranslate2.StorageView.from_array(np.concatenate([np.array(encoded), tail], axis=1))


def _encode(model: WhisperModel, features: NDArray[np.float32]) -> ctranslate2.StorageView:
    batch = np.ascontiguousarray(features[None], dtype=np.float32)
    return model.model.encode(ctranslate2.StorageView.from_array(batch))

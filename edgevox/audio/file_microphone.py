"""A microphone that is a recording: the same blocks, as fast as they are wanted."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import numpy as np

from edgevox.types import Audio


class FileMicrophone:
    """Sound that has an end; the silence behind it lets the last utterance end too."""

    live = False
    delay_s = 0.0
    dropped_samples = 0

    def __init__(self, audio: Audio, *, block_ms: int = 20, silence_after_s: float = 2.0) -> None:
        self._rate_hz = audio.rate_hz
        self._block_samples = audio.rate_hz * block_ms // 1000
        silence = np.zeros(round(silence_after_s * audio.rate_hz) + self._block_samples, dtype=np.float32)
        self._samples = np.concatenate((audio.samples, silence))

    async def frames(self) -> AsyncGenerator[Audio, None]:
        for start in range(0, len(self._samples) - self._block_samples + 1, self._block_samples):
            yield Audio(self._samples[start : start + self._block_samples], self._rate_hz)

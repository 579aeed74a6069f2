"""A microphone that hears a recording."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Self

import numpy as np

from edgevox.audio.files import read_audio
from edgevox.audio.levels import SILENCE_DBFS, dbfs
from edgevox.audio.resample import Resampler
from edgevox.types import WHISPER_RATE_HZ, Audio


class WavMicrophone:
    """Hears a file or sound, then silence for `silence_s`, then nothing more: `frames` ends.

    As fast as it is asked, or with `realtime` one block every `block_ms`. Raises AudioError.
    """

    def __init__(
        self,
        source: Path | Audio,
        *,
        realtime: bool = False,
        silence_s: float = 2.0,
        rate_hz: int = WHISPER_RATE_HZ,
        block_ms: int = 20,
    ) -> None:
        sound = read_audio(source, rate_hz) if isinstance(source, Path) else source
        resampler = Resampler(sound.rate_hz, rate_hz)
        silence = np.zeros(round(silence_s * rate_hz), dtype=np.float32)
        self._samples = np.concatenate((resampler.feed(sound.samples), resampler.finish(), silence))
        self._block_s = block_ms / 1000
        self._block_samples = rate_hz * block_ms // 1000
        self.live = realtime
        """Whether time passes while nobody reads."""
        self._is_open = True
        self.rate_hz = rate_hz
        self.level_dbfs = SILENCE_DBFS
        self.dropped_samples = 0
        self.delay_s = 0.0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()

    async def close(self) -> None:
        self._is_open = False

    async def frames(self) -> AsyncGenerator[Audio, None]:
        """Block after block, each exactly as long; what is left at the end and fills no block is left out."""
        begun_s = asyncio.get_running_loop().time()
        for number in range(len(self._samples) // self._block_samples):
            if not self._is_open:
                return
            due_s = begun_s + (number + 1) * self._block_s if self.live else 0.0
            await asyncio.sleep(max(0.0, due_s - asyncio.get_running_loop().time()))
            block = self._samples[number * self._block_samples :][: self._block_samples]
            self.level_dbfs = dbfs(block)
            yield Audio(block, self.rate_hz)

"""An ear at the other end of a socket: sound as it arrives, in blocks as a microphone gives them."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncGenerator

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.resample import Resampler
from edgevox.audio.vad import BLOCK_MS, BLOCK_SAMPLES
from edgevox.server.voice.closing import not_understood
from edgevox.types import WHISPER_RATE_HZ, Audio

_SAMPLE_BYTES = 2
_LOUDEST = 32_768
# The loop takes blocks as they come; where it cannot for so long, what is oldest is let go.
_MOST_BLOCKS = 10_000 // BLOCK_MS


class SocketEar:
    """`feed` it what the client sends. After a silence of `longest_pause_s` everything has ended."""

    live = True

    def __init__(self, rate_hz: int, *, longest_pause_s: float) -> None:
        self.dropped_samples = 0
        self._rate_hz = rate_hz
        self._resampler = Resampler(rate_hz, WHISPER_RATE_HZ)
        self._pause = np.zeros(round(longest_pause_s * WHISPER_RATE_HZ), dtype=np.float32)
        self._rest = np.zeros(0, dtype=np.float32)
        self._blocks: deque[Audio] = deque()
        self._is_there = asyncio.Event()
        self._is_silent = True
        """Whether nothing was recorded since the microphone was off."""

    @property
    def delay_s(self) -> float:
        """How old the end of the last block is: what came after it waits here."""
        return len(self._blocks) * BLOCK_MS / 1000

    def feed(self, pcm: bytes) -> float:
        """Take a frame of sound; how many seconds it is. Raises CutOff."""
        if len(pcm) % _SAMPLE_BYTES:
            raise not_understood("sound of 16 bits has an even number of bytes")
        self._is_silent = self._is_silent and not pcm
        samples = np.frombuffer(pcm, "<i2").astype(np.float32) / np.float32(_LOUDEST)
        self._take(self._resampler.feed(samples))
        return len(samples) / self._rate_hz

    def end_speech(self) -> None:
        """The microphone is off: the silence that nobody records comes now."""
        if self._is_silent:
            return
        self._is_silent = True
        self._take(np.concatenate((self._resampler.finish(), self._pause)))
        self._resampler = Resampler(self._rate_hz, WHISPER_RATE_HZ)

    async def frames(self) -> AsyncGenerator[Audio, None]:
        while True:
            while self._blocks:
                yield self._blocks.popleft()
                await asyncio.sleep(0)  # what comes all at once must not hold up the room
            self._is_there.clear()
            await self._is_there.wait()

    def _take(self, samples: NDArray[np.float32]) -> None:
        samples = np.concatenate((self._rest, samples))
        whole = len(samples) - len(samples) % BLOCK_SAMPLES
        for start in range(0, whole, BLOCK_SAMPLES):
            self._blocks.append(Audio(samples[start : start + BLOCK_SAMPLES], WHISPER_RATE_HZ))
        self._rest = samples[whole:]
        while len(self._blocks) > _MOST_BLOCKS:
            self.dropped_samples += len(self._blocks.popleft().samples)
        self._is_there.set()

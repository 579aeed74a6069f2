"""Voices for tests: fixed embeddings, and a service that tells them by the level of the audio."""

from __future__ import annotations

from collections.abc import AsyncGenerator

import numpy as np
from numpy.typing import NDArray

from edgevox.core.errors import EngineFailed
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, VoiceEmbedding

DIMENSIONS = 256


def voice(number: int) -> NDArray[np.float32]:
    """An embedding that is like no other one."""
    vector = np.zeros(DIMENSIONS, np.float32)
    vector[number] = 1.0
    return vector


def sound_of(number: int) -> Audio:
    """Audio that `FakeVoices` embeds as this voice."""
    return Audio(np.full(SAMPLE_RATE_HZ, number / 100, np.float32), SAMPLE_RATE_HZ)


class FakeVoices:
    """Embeds by the level of the audio; level 0 holds too little speech, and 99 breaks the engine."""

    def __init__(self) -> None:
        self.requests = 0

    async def stream(self, request: Audio, cancel: CancelFlag) -> AsyncGenerator[VoiceEmbedding, None]:
        self.requests += 1
        number = round(float(request.samples[0]) * 100)
        if number == 99:
            raise EngineFailed("the voice encoder died")
        yield VoiceEmbedding(voice(number) if number else np.zeros(0, np.float32))

"""A microphone for tests of what happens during speech."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

import numpy as np

from edgevox.audio.vad import BLOCK_SAMPLES
from edgevox.core.events import EndpointReached, Event, TurnEnded, TurnEvent
from edgevox.core.metrics import TurnMetrics, TurnMetricsRecorder
from edgevox.core.types import SAMPLE_RATE_HZ, Audio


class Room:
    """A live microphone in front of which a sentence is said at once, and the next when it is answered."""

    live = True
    dropped_samples = 0
    delay_s = 0.0

    def __init__(self, *sentences: np.ndarray) -> None:
        self._sentences = sentences
        self._answered = asyncio.Event()
        self.endpoint = asyncio.Event()
        self.endpoint_s = 0.0
        """How much had been heard at the last endpoint, in seconds of sound."""
        self._heard_blocks = 0
        self.events: list[Event] = []
        self.records: list[TurnMetrics] = []
        self._recorder = TurnMetricsRecorder(self.records.append)

    def note(self, event: Event) -> None:
        """Publish to this: it keeps the events and the records, and knows when to go on."""
        self.events.append(event)
        self._recorder(event)
        if isinstance(event, EndpointReached):
            self.endpoint.set()
            self.endpoint_s = self.heard_s
        if isinstance(event, TurnEnded):
            self._answered.set()

    @property
    def heard_s(self) -> float:
        """How much has been heard, in seconds of sound."""
        return self._heard_blocks * BLOCK_SAMPLES / SAMPLE_RATE_HZ

    async def frames(self) -> AsyncGenerator[Audio, None]:
        for sound in self._sentences:
            for start in range(0, len(sound) - BLOCK_SAMPLES + 1, BLOCK_SAMPLES):
                for _ in range(5):
                    await asyncio.sleep(0)  # let the others work, as in the 20 ms of a real block
                self._heard_blocks += 1
                yield Audio(sound[start : start + BLOCK_SAMPLES], SAMPLE_RATE_HZ)
            await self._answered.wait()
            self._answered.clear()

    def of(self, kind: type[TurnEvent]) -> list[TurnEvent]:
        return [event for event in self.events if isinstance(event, kind)]

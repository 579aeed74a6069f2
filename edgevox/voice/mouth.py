"""The mouth: the voice, how loud it is and the loudspeaker; it knows when it can be heard."""

from __future__ import annotations

import math
import time
from collections.abc import AsyncIterator, Callable
from typing import Protocol

from edgevox.turn import CancelFlag
from edgevox.types import Audio
from edgevox.voice.voice import Voice
from edgevox.voice.volume import Volume

# Between two sentences the loudspeaker may be late by its buffer, by its lead-in and by a busy machine.
_MARGIN_S = 0.6


class Loudspeaker(Protocol):
    """Where the sound goes."""

    async def play(
        self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None]
    ) -> None:
        """Play every chunk as it comes; returns when the last sample is out or `cancel` is set."""


class Mouth:
    """One passage at a time. Without echo cancellation nobody may listen while it sounds."""

    def __init__(
        self,
        voice: Voice,
        loudspeaker: Loudspeaker,
        volume: Volume,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.voice = voice
        self._clock = clock
        self._loudspeaker = loudspeaker
        self._volume = volume
        self._silent_since_s = -math.inf
        self._sounds_until_s: float | None = None
        """When the sound that the loudspeaker was given will have been played; None outside a passage."""
        self._unheard_s = 0.0

    @property
    def silent_since_s(self) -> float:
        """Since when it has been silent, on the monotonic clock; for ever to come while it sounds."""
        if self._sounds_until_s is None:
            return self._silent_since_s
        over_s = self._sounds_until_s + _MARGIN_S
        return over_s if self._clock() >= over_s else math.inf

    async def play(
        self, sounds: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None]
    ) -> None:
        """Play a passage; returns when its last sample is out or on a cancel. Raises DeviceUnavailable."""

        async def given() -> AsyncIterator[Audio]:
            async for sound in sounds:
                self._give(sound)
                yield self._volume.applied(sound)

        def started() -> None:
            self._sounds_until_s = self._clock() + self._unheard_s
            on_start()

        self._unheard_s = 0.0
        try:
            await self._loudspeaker.play(given(), cancel, started)
        finally:
            if self._sounds_until_s is not None:
                self._silent_since_s = self._clock()
            self._sounds_until_s = None

    def _give(self, sound: Audio) -> None:
        if self._sounds_until_s is None:
            self._unheard_s += sound.duration_s
        else:
            self._sounds_until_s = max(self._sounds_until_s, self._clock()) + sound.duration_s

"""One reply on its way to the loudspeaker: sound goes in at one side, the device takes it at the other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from time import monotonic
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.resample import Resampler
from edgevox.audio.ring import Ring
from edgevox.types import Audio

Tap: TypeAlias = Callable[[NDArray[np.float32], float, bool], None]
"""Told, in PortAudio's thread, what the device is given, when the first of it is heard (monotonic), and
whether there was a hole before it: the device was just opened, or had run out of sound."""

# How much sound is ready ahead of the device: enough for a machine that is busy for a moment.
_RING_S = 2.0
# What drivers say about their delay is a little short, and closing a device drops what it still holds.
_MARGIN_S = 0.05


class Playback:
    """`feed` runs in the loop, `fill` in PortAudio's thread.

    `is_over` is set when everything was heard, or when it was cancelled. The `tap` is told everything that
    the device is given, silence included.
    """

    def __init__(
        self, rate_hz: int, lead_in_frames: int, on_start: Callable[[], None], tap: Tap | None = None
    ) -> None:
        self.is_over = asyncio.Event()
        self.underruns = 0
        self.taken_frames = 0
        self.device_delay_s = 0.0
        """How long the device holds a sample before it is heard: a guess until the first one is given."""
        self._rate_hz = rate_hz
        self._on_start = on_start
        self._tap = tap
        self._loop = asyncio.get_running_loop()
        self._ring = Ring(round(_RING_S * rate_hz))
        self._lead_in_left = lead_in_frames
        self._has_room = asyncio.Event()
        self._wants_room = False
        self._has_begun = False
        self._is_starving = False
        self._is_complete = False
        self._is_cancelled = False
        self._heard_by_s = 0.0

    async def feed(self, chunks: AsyncIterator[Audio]) -> None:
        """Take every chunk, at the speed at which it is played."""
        # One for the whole reply: a new one for each chunk would click where two chunks meet.
        resampler = Resampler(self._rate_hz, self._rate_hz)
        try:
            async for chunk in chunks:
                if chunk.rate_hz != resampler.from_hz:
                    await self._write(resampler.finish())
                    resampler = Resampler(chunk.rate_hz, self._rate_hz)
                await self._write(resampler.feed(chunk.samples))
            await self._write(resampler.finish())
        finally:
            self._is_complete = True

    def cancel(self) -> None:
        """Nothing but silence from now on. Safe from any thread."""
        self._is_cancelled = True
        self._loop.call_soon_threadsafe(self.is_over.set)

    def fill(self, outdata: NDArray[np.float32], frames: int, time: Any, status: Any) -> None:  # noqa: ANN401
        """Give the device what is next. In PortAudio's thread: copy and return."""
        self.taken_frames += frames
        # Asked before the ring is read: a last chunk that comes in between is then played, not forgotten.
        is_complete = self._is_complete
        is_silent = self._is_cancelled or not (self._has_begun or self._ring.available)
        silence = frames if is_silent else max(0, min(frames, self._lead_in_left))
        self._lead_in_left -= silence
        outdata[:silence] = 0.0
        mono = outdata[silence:, 0]
        count = self._ring.read_into(mono)
        outdata[silence:, 1:] = mono[:, np.newaxis]
        if self._tap is not None:
            # Not the longest delay so far, as below: an echo must not be expected later than it comes.
            delay_s = time.outputBufferDacTime - time.currentTime
            heard_at_s = monotonic() + (delay_s if delay_s > 0 else self.device_delay_s)
            after_hole = self.taken_frames == frames or bool(status.output_underflow)
            self._tap(outdata[:, 0], heard_at_s, after_hole)
        if count:
            self._sounded(time, frames)
        if is_complete and not self._ring.available:
            if time.currentTime >= self._heard_by_s:
                self._loop.call_soon_threadsafe(self.is_over.set)
        elif self._has_begun:
            self._count_underruns(is_starving=count < len(mono), device_starved=status.output_underflow)
        if self._wants_room and self._ring.room >= self._ring.capacity // 2:
            self._wants_room = False
            self._loop.call_soon_threadsafe(self._has_room.set)

    def _sounded(self, time: Any, frames: int) -> None:  # noqa: ANN401
        # Some drivers do not know when a sample will be heard, and say now.
        delay_s = max(self.device_delay_s, time.outputBufferDacTime - time.currentTime)
        self._heard_by_s = time.currentTime + delay_s + frames / self._rate_hz + _MARGIN_S
        if not self._has_begun:
            self._has_begun = True
            self.device_delay_s = delay_s
            self._loop.call_soon_threadsafe(self._started)

    def _count_underruns(self, *, is_starving: bool, device_starved: bool) -> None:
        self.underruns += device_starved or (is_starving and not self._is_starving)
        self._is_starving = is_starving

    def _started(self) -> None:
        # A cancelled reply must not be told to have started after it was told to be over.
        if not self.is_over.is_set():
            self._on_start()

    async def _write(self, samples: NDArray[np.float32]) -> None:
        while len(samples):
            written = self._ring.write(samples[: self._ring.room])
            samples = samples[written:]
            if len(samples):
                self._has_room.clear()
                self._wants_room = True
                await self._has_room.wait()

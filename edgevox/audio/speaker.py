"""The loudspeaker: plays sound piece by piece without a gap, and falls silent when told to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from edgevox.audio.devices import Device, find_device, gone
from edgevox.audio.playback import Playback, Tap
from edgevox.audio.stream import open_stream
from edgevox.turn import CancelFlag
from edgevox.types import Audio

# It delays the first word, so it is short; with 50 ms a machine whose cores are all busy left holes.
_DEVICE_BUFFER_S = 0.08
# A device takes sound all the time, silence included: one that takes none for so long is gone.
_GONE_AFTER_S = 3.0


class Speaker:
    """An output device by name, part of a name or index, or the default. Raises DeviceUnavailable.

    `lead_in_ms` is silence before the first word of a reply, for sinks that sleep and swallow the first
    syllable (Bluetooth, HDMI). It begins with `play`, so it passes while the first word is being made.
    """

    def __init__(self, device: str | None = None, *, lead_in_ms: int = 0) -> None:
        self.device: Device = find_device(device, "output")
        self.underruns = 0
        """How often a reply paused because its next sound was not there in time."""
        self.delay_s = _DEVICE_BUFFER_S
        """How long after `on_start` the first sample of the last reply was in the air."""
        self.heard_s = 0.0
        """How much of what the last reply was given was heard."""
        self.tap: Tap | None = None
        """Is told everything that is really played; for whoever cancels the echo."""
        self._lead_in_frames = self.device.rate_hz * lead_in_ms // 1000
        self._playback: Playback | None = None

    def duck(self, is_ducked: bool) -> None:
        """Play what is being played quietly from now on, or as loud as it is again. It ends with `play`."""
        if self._playback is not None:
            self._playback.duck(is_ducked)

    async def play(
        self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None] = lambda: None
    ) -> None:
        """Play every chunk as it comes; returns when the last sample is out or `cancel` is set.

        `on_start` is called when the first sample goes to the device. Raises DeviceUnavailable, and what
        `chunks` raises once everything before it was played.
        """
        playback = Playback(self.device.rate_hz, self._lead_in_frames, on_start, self.tap)
        stream = await open_stream(self.device, "output", playback.fill, latency_s=_DEVICE_BUFFER_S)
        feeding = asyncio.create_task(playback.feed(chunks))
        cancel.add_listener(playback.cancel)
        self._playback = playback
        try:
            playback.device_delay_s = stream.latency_s
            stream.start()
            await self._wait_for(playback)
            if not cancel.is_set():
                await feeding
        finally:
            cancel.remove_listener(playback.cancel)
            feeding.cancel()
            self._playback = None
            self.heard_s = playback.heard_s  # to close it drops the rest
            await asyncio.to_thread(stream.close)
            self.underruns += playback.underruns
            self.delay_s = playback.device_delay_s
            await asyncio.gather(feeding, return_exceptions=True)

    async def _wait_for(self, playback: Playback) -> None:
        while not playback.is_over.is_set():
            taken_frames = playback.taken_frames
            try:
                async with asyncio.timeout(_GONE_AFTER_S):
                    await playback.is_over.wait()
            except TimeoutError as error:
                if playback.taken_frames == taken_frames:
                    raise gone(self.device, "output") from error

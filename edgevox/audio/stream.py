"""A PortAudio stream on a chosen device: opened with the channels it can do, closed once, errors named."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeAlias

from edgevox.audio.devices import Device, Direction, unusable
from edgevox.audio.portaudio import portaudio, stream_lock
from edgevox.errors import DeviceUnavailable

# (samples as frames × channels, number of frames, PortAudio's times, its complaints)
Callback: TypeAlias = Callable[[Any, int, Any, Any], None]


async def open_stream(
    device: Device, direction: Direction, callback: Callback, *, block_frames: int = 0, latency_s: float
) -> Stream:
    """A stream, without making the loop wait for the device. Raises DeviceUnavailable."""
    opening = asyncio.create_task(
        asyncio.to_thread(Stream, device, direction, callback, block_frames=block_frames, latency_s=latency_s)
    )
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        # The thread goes on: a caller that no longer waits must not leave an open device behind.
        with suppress(DeviceUnavailable):
            (await opening).close()
        raise


class Stream:
    """Open but at rest until `start`. The callback runs in PortAudio's thread: it copies and returns."""

    def __init__(
        self,
        device: Device,
        direction: Direction,
        callback: Callback,
        *,
        block_frames: int,
        latency_s: float,
    ) -> None:
        self._device = device
        self._direction: Direction = direction
        self._sounddevice = portaudio()
        make = self._sounddevice.InputStream if direction == "input" else self._sounddevice.OutputStream
        # One channel is what speech is; some devices have all of theirs or none.
        for channels in (1, min(2, device.channels(direction)), device.channels(direction)):
            try:
                with stream_lock:
                    self._stream = make(
                        samplerate=device.rate_hz,
                        blocksize=block_frames,
                        channels=channels,
                        dtype="float32",
                        device=device.index,
                        latency=latency_s,
                        callback=callback,
                    )
            except self._sounddevice.PortAudioError as error:
                if channels == device.channels(direction):
                    raise unusable(device, direction, error) from error
            else:
                self.channels = channels
                return

    @property
    def latency_s(self) -> float:
        """How much sound the device holds between the callback and the air."""
        return float(self._stream.latency)

    def start(self) -> None:
        """Have the callback called from now on. Raises DeviceUnavailable, and is closed then."""
        try:
            self._stream.start()
        except self._sounddevice.PortAudioError as error:
            self.close()
            raise unusable(self._device, self._direction, error) from error

    def close(self) -> None:
        """Be silent now. The callback has returned for the last time when this does."""
        with stream_lock:
            self._stream.abort(ignore_errors=True)
            self._stream.close(ignore_errors=True)

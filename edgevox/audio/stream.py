"""A PortAudio stream on a chosen device: opened with the channels it can do, closed once, errors named."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, TypeAlias

from edgevox.audio.devices import Device, Direction, unusable
from edgevox.audio.portaudio import portaudio, stream_lock

# (samples as frames × channels, number of frames, PortAudio's times, its complaints)
Callback: TypeAlias = Callable[[Any, int, Any, Any], None]


class Stream:
    """Open but silent until `start`. `callback` runs in PortAudio's thread: it copies and returns."""

    def __init__(
        self,
        device: Device,
        direction: Direction,
        callback: Callback,
        *,
        block_frames: int = 0,
        latency_s: float,
    ) -> None:
        """Raises DeviceUnavailable."""
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

    @classmethod
    async def open(cls, *args: Any, **options: Any) -> Stream:  # noqa: ANN401
        """The same, without making the loop wait; a cancelled caller leaves no stream behind."""
        opening = asyncio.create_task(asyncio.to_thread(cls, *args, **options))
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            (await opening).close()
            raise

    @property
    def latency_s(self) -> float:
        """How long sound takes between the callback and the air, as far as PortAudio knows."""
        return float(self._stream.latency)

    def start(self) -> None:
        """Raises DeviceUnavailable."""
        try:
            self._stream.start()
        except self._sounddevice.PortAudioError as error:
            raise unusable(self._device, self._direction, error) from error

    def close(self) -> None:
        """Be silent now. The callback has returned for the last time when this does."""
        with stream_lock:
            self._stream.abort(ignore_errors=True)
            self._stream.close(ignore_errors=True)

"""PortAudio streams, and the lock-free ring buffer between callback thread and event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.io.devices import Device, Direction, device_unusable, portaudio, stream_lock
from edgevox.audio.io.recorder_child import open_with_channels
from edgevox.core.errors import DeviceUnavailable


class Ring:
    """A ring buffer of `capacity` float32 samples; samples that do not fit are dropped and counted.

    One thread calls `write`, another `read_into`; any thread may read the counters. Each position is written by
    one side only, so no lock is needed.
    """

    __slots__ = ("_read", "_samples", "_written", "dropped_samples")

    def __init__(self, capacity: int) -> None:
        self._samples = np.zeros(capacity, dtype=np.float32)
        # Total counts, not array indices: equal means empty, and they never wrap.
        self._written = 0
        self._read = 0
        self.dropped_samples = 0
        """Samples that did not fit."""

    @property
    def capacity(self) -> int:
        return len(self._samples)

    @property
    def available(self) -> int:
        return self._written - self._read

    @property
    def room(self) -> int:
        return self.capacity - (self._written - self._read)

    def write(self, samples: NDArray[np.float32]) -> int:
        """Add the first samples that fit; returns their number."""
        count = min(len(samples), self.room)
        start = self._written % self.capacity
        before_wrap = min(count, self.capacity - start)
        self._samples[start : start + before_wrap] = samples[:before_wrap]
        self._samples[: count - before_wrap] = samples[before_wrap:count]
        self._written += count
        self.dropped_samples += len(samples) - count
        return count

    def read_into(self, out: NDArray[np.float32]) -> int:
        """Fill `out` with the oldest samples, padded with silence; returns their number."""
        count = min(len(out), self._written - self._read)
        start = self._read % self.capacity
        before_wrap = min(count, self.capacity - start)
        out[:before_wrap] = self._samples[start : start + before_wrap]
        out[before_wrap:count] = self._samples[: count - before_wrap]
        out[count:] = 0.0
        self._read += count
        return count


# (samples as frames × channels, number of frames, PortAudio's times, its status flags)
Callback: TypeAlias = Callable[[Any, int, Any, Any], None]


async def open_stream(
    device: Device, direction: Direction, callback: Callback, *, block_frames: int = 0, latency_s: float
) -> Stream:
    """Open a stream without blocking the event loop. Raises DeviceUnavailable."""
    opening = asyncio.create_task(
        asyncio.to_thread(Stream, device, direction, callback, block_frames=block_frames, latency_s=latency_s)
    )
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        # The thread continues after a cancel: close the device that it opens.
        with suppress(DeviceUnavailable):
            (await opening).close()
        raise


class Stream:
    """An open stream, idle until `start`. The callback runs in PortAudio's thread: it copies and returns."""

    def __init__(
        self, device: Device, direction: Direction, callback: Callback, *, block_frames: int, latency_s: float
    ) -> None:
        self._device = device
        self._direction: Direction = direction
        self._sounddevice = portaudio()
        make = self._sounddevice.InputStream if direction == "input" else self._sounddevice.OutputStream
        try:
            with stream_lock:
                self._stream, self.channels = open_with_channels(
                    make,
                    self._sounddevice.PortAudioError,
                    device.channels(direction),
                    device=device.index,
                    samplerate=device.rate_hz,
                    blocksize=block_frames,
                    latency=latency_s,
                    callback=callback,
                )
        except self._sounddevice.PortAudioError as error:
            raise device_unusable(device, direction, error) from error

    @property
    def latency_s(self) -> float:
        return float(self._stream.latency)

    def start(self) -> None:
        """Start the callback. Raises DeviceUnavailable after closing the stream."""
        try:
            self._stream.start()
        except self._sounddevice.PortAudioError as error:
            self.close()
            raise device_unusable(self._device, self._direction, error) from error

    def close(self) -> None:
        """Stop; the callback is not called after this returns."""
        with stream_lock:
            self._stream.abort(ignore_errors=True)
            self._stream.close(ignore_errors=True)

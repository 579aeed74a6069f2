"""PortAudio streams, and the lock-free ring buffer between callback thread and event loop."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.io.devices import Device, Direction, device_lost, device_unusable, portaudio, stream_lock
from edgevox.audio.io.recorder_child import open_with_channels
from edgevox.core.errors import DeviceUnavailable, EdgevoxError, SoundStuck

T = TypeVar("T")


class RingBuffer:
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


# On a busy machine a sound server may need seconds. PortAudio can also hang for ever (ADR 29).
_OPENS_WITHIN_S = 15.0
_CLOSES_WITHIN_S = 5.0


async def open_stream(
    device: Device, direction: Direction, callback: Callback, *, block_frames: int = 0, latency_s: float
) -> Stream:
    """Open a stream without blocking the event loop. Raises DeviceUnavailable, also if it takes too long."""
    opening = _in_thread(partial(Stream, device, direction, callback, block_frames=block_frames, latency_s=latency_s))
    try:
        async with asyncio.timeout(_OPENS_WITHIN_S):
            return await asyncio.wrap_future(opening)
    except TimeoutError as error:
        opening.add_done_callback(_close_late)
        raise device_lost(device, direction) from error
    except asyncio.CancelledError:
        opening.add_done_callback(_close_late)
        raise


def _close_late(opening: Future[Stream]) -> None:
    """Close the device that a thread has opened after its caller had left."""
    if opening.exception() is None:
        opening.result().close()


async def start_stream(stream: Stream) -> None:
    """Start the callback without blocking the event loop. Raises DeviceUnavailable, also if it takes too long."""
    try:
        async with asyncio.timeout(_OPENS_WITHIN_S):
            await asyncio.wrap_future(_in_thread(stream.start))
    except TimeoutError as error:
        raise stream.lost() from error


async def close_stream(stream: Stream) -> None:
    """Close a stream without blocking the event loop. Raises SoundStuck if PortAudio hangs."""
    try:
        async with asyncio.timeout(_CLOSES_WITHIN_S):
            await asyncio.wrap_future(_in_thread(stream.close))
    except TimeoutError as error:
        # At exit sounddevice closes what is open, and would hang as well.
        atexit.unregister(portaudio()._exit_handler)
        raise SoundStuck(
            "PortAudio does not let go of a device whose sound server has died", hint="restart the assistant"
        ) from error


def _in_thread(call: Callable[[], T]) -> Future[T]:
    """Run a call that may hang in a thread of its own, which does not keep the process from ending.

    It may raise EdgevoxError.
    """
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()  # from here on it cannot be cancelled

    def run() -> None:
        try:
            result = call()
        except EdgevoxError as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    threading.Thread(target=run, name="portaudio", daemon=True).start()
    return future


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
            with stream_lock():
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

    def lost(self) -> DeviceUnavailable:
        """The error for a device that does not answer any more."""
        return device_lost(self._device, self._direction)

    def close(self) -> None:
        """Stop; the callback is not called after this returns. Raises DeviceUnavailable if PortAudio is busy."""
        with stream_lock():
            self._stream.abort(ignore_errors=True)
            self._stream.close(ignore_errors=True)

"""The microphone: any input device as equal blocks of mono audio at one rate."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from time import monotonic
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.aec.canceller import EchoCanceller
from edgevox.audio.dsp import SILENCE_DBFS, Resampler, dbfs
from edgevox.audio.io.devices import Device, Direction, device_lost, find_device
from edgevox.audio.io.streams import Callback, RingBuffer, open_stream
from edgevox.core.types import SAMPLE_RATE_HZ, Audio

# How long the reader may be busy before samples are lost.
_RING_S = 10.0
# How late this process may be before the device drops samples.
_DEVICE_BUFFER_S = 0.1
# A device that delivers nothing, not even silence, for this long is lost.
_GONE_AFTER_S = 3.0


class InputStream(Protocol):
    """Open, idle until `start`."""

    @property
    def channels(self) -> int: ...
    def start(self) -> None: ...
    def close(self) -> None: ...


class Opener(Protocol):
    """Opens an input stream. Raises DeviceUnavailable."""

    async def __call__(
        self, device: Device, direction: Direction, callback: Callback, *, block_frames: int = 0, latency_s: float
    ) -> InputStream: ...


class Microphone:
    """An input device by name, part of a name or index, or the default; `async with` listens to it.

    Raises DeviceUnavailable when there is none, when it cannot be opened, and in `frames` when it goes away.
    """

    live = True
    """Blocks that are not read in time are lost."""

    def __init__(
        self,
        device: str | None = None,
        *,
        rate_hz: int = SAMPLE_RATE_HZ,
        block_ms: int = 20,
        opened_by: Opener = open_stream,
    ) -> None:
        """`opened_by` selects the process in which PortAudio records."""
        self._opened_by = opened_by
        self.device: Device = find_device(device, "input")
        self.rate_hz = rate_hz
        self.level_dbfs = SILENCE_DBFS
        """The level of the last block."""
        self.canceller: EchoCanceller | None = None
        """Cancels the echo at 16 kHz; its `level` is that of the last block."""
        self._device_block = self.device.rate_hz * block_ms // 1000
        self._blocks = Blocks(Resampler(self.device.rate_hz, rate_hz), rate_hz * block_ms // 1000)
        self._stream: InputStream | None = None
        self._channels = 1
        self._ring = RingBuffer(round(_RING_S * self.device.rate_hz))
        self._overflows = 0
        self._device_delay_s = 0.0
        self._heard_until_s = 0.0
        """When the device recorded its last sample, on the monotonic clock."""
        self._lost_before = 0
        self._sound = asyncio.Event()
        self._wake_is_due = False

    @property
    def dropped_samples(self) -> int:
        """Device samples lost; counted as one block if PortAudio does not report the number."""
        return self._ring.dropped_samples // self._channels + self._overflows * self._device_block

    @property
    def delay_s(self) -> float:
        """The age of the end of the last block; newer samples are in the device or the ring."""
        held_back_s = self.canceller.delay_s if self.canceller else 0.0
        return self._device_delay_s + self._waiting_s + held_back_s

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        stream = await self._opened_by(
            self.device, "input", self._on_sound, block_frames=self._device_block, latency_s=_DEVICE_BUFFER_S
        )
        self._channels = stream.channels
        self._ring = RingBuffer(round(_RING_S * self.device.rate_hz) * stream.channels)
        stream.start()
        self._stream = stream
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop recording and end `frames`; idempotent."""
        stream, self._stream = self._stream, None
        if stream is not None:
            await asyncio.to_thread(stream.close)
            self._sound.set()

    async def frames(self) -> AsyncGenerator[Audio, None]:
        """Blocks of equal length until `close`. Raises DeviceUnavailable."""
        while self._stream is not None:
            await self._wait_for_sound()
            recorded = np.empty(self._ring.available, dtype=np.float32)
            self._ring.read_into(recorded)
            for samples in self._blocks.feed(self._mono(recorded)):
                cleaned = self._without_echo(samples)
                self.level_dbfs = dbfs(cleaned)
                yield Audio(cleaned, self.rate_hz)

    def _without_echo(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        if self.canceller is None:
            return samples
        if self._lost_before != (lost := self.dropped_samples):
            self._lost_before = lost
            self.canceller.forget()
        return self.canceller.cancel(samples, self._heard_until_s - self._waiting_s)

    @property
    def _waiting_s(self) -> float:
        """The duration of samples that are in no block yet."""
        in_ring_s = self._ring.available / self._channels / self.device.rate_hz
        return in_ring_s + self._blocks.held_samples / self.rate_hz

    async def _wait_for_sound(self) -> None:
        try:
            async with asyncio.timeout(_GONE_AFTER_S):
                await self._sound.wait()
        except TimeoutError as error:
            raise device_lost(self.device, "input") from error
        self._sound.clear()
        self._wake_is_due = False

    def _mono(self, samples: NDArray[np.float32]) -> NDArray[np.float32]:
        if self._channels == 1:
            return samples
        frames = samples.reshape(-1, self._channels)
        # More than two channels are a microphone array, often with a playback loopback among them.
        return frames.mean(axis=1) if self._channels == 2 else frames[:, 0].copy()

    def _on_sound(self, indata: NDArray[np.float32], frames: int, time: Any, status: Any) -> None:  # noqa: ANN401
        # In PortAudio's thread: copy and return.
        self._ring.write(indata.reshape(-1))
        self._overflows += bool(status.input_overflow)
        self._device_delay_s = time.currentTime - time.inputBufferAdcTime
        self._heard_until_s = monotonic() - self._device_delay_s + frames / self.device.rate_hz
        if not self._wake_is_due:
            self._wake_is_due = True
            self._loop.call_soon_threadsafe(self._sound.set)


class Blocks:
    """Cuts a stream of one rate into even blocks of another."""

    def __init__(self, resampler: Resampler, block_samples: int) -> None:
        self._resampler = resampler
        self._block_samples = block_samples
        self._rest = np.zeros(0, dtype=np.float32)

    @property
    def held_samples(self) -> float:
        """Samples in no block yet."""
        return self._resampler.held_samples + len(self._rest)

    def feed(self, samples: NDArray[np.float32]) -> Iterator[NDArray[np.float32]]:
        """The complete blocks; blocks not consumed come with the next call."""
        self._rest = np.concatenate((self._rest, self._resampler.feed(samples)))
        while len(self._rest) >= self._block_samples:
            block, self._rest = self._rest[: self._block_samples], self._rest[self._block_samples :]
            yield block


class AudioSource(Protocol):
    """A source of blocks of equal length; a microphone has no end."""

    @property
    def live(self) -> bool:
        """Whether it runs in real time (a microphone) or as fast as it is read (a file)."""

    @property
    def dropped_samples(self) -> int: ...

    @property
    def delay_s(self) -> float:
        """The age of the end of the last block."""

    def frames(self) -> AsyncGenerator[Audio, None]: ...

"""The loudspeaker: plays sound piece by piece, and stops when told to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from edgevox.audio.portaudio import portaudio
from edgevox.errors import DeviceUnavailable
from edgevox.turn import CancelFlag
from edgevox.types import Audio

# The longest that a stop waits for sound that is already being written.
_BLOCK_S = 0.05


class Speaker:
    """An output device by name, or the system's default. Raises DeviceUnavailable when there is none."""

    def __init__(self, device: str | None = None) -> None:
        self._device = device
        self._sounddevice = portaudio()
        try:
            self._sounddevice.query_devices(device, "output")
        except (ValueError, self._sounddevice.PortAudioError) as error:
            raise _unavailable(device, error) from error

    async def play(
        self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None] = lambda: None
    ) -> None:
        """Play every chunk as it comes; returns when the last sample is out or `cancel` is set."""
        stream: Any = None
        try:
            async for audio in chunks:
                if stream is None:
                    stream = await asyncio.to_thread(self._open, audio.rate_hz)
                    on_start()
                await asyncio.to_thread(self._write, stream, audio, cancel)
                if cancel.is_set():
                    break
        finally:
            if stream is not None:
                await asyncio.to_thread(stream.abort if cancel.is_set() else stream.stop)
                stream.close()

    def _open(self, rate_hz: int) -> Any:  # noqa: ANN401
        try:
            stream = self._sounddevice.OutputStream(
                samplerate=rate_hz, channels=1, dtype="float32", device=self._device
            )
            stream.start()
        except self._sounddevice.PortAudioError as error:
            raise _unavailable(self._device, error) from error
        return stream

    def _write(self, stream: Any, audio: Audio, cancel: CancelFlag) -> None:  # noqa: ANN401
        block = max(1, int(audio.rate_hz * _BLOCK_S))
        try:
            for start in range(0, len(audio.samples), block):
                if cancel.is_set():
                    return
                stream.write(audio.samples[start : start + block])
        except self._sounddevice.PortAudioError as error:
            raise _unavailable(self._device, error) from error


def _unavailable(device: str | None, error: Exception) -> DeviceUnavailable:
    name = f"the loudspeaker {device!r}" if device else "the default loudspeaker"
    return DeviceUnavailable(
        f"{name} cannot be used: {error}",
        hint="plug one in or choose another in audio.speaker; `edgevox say -o FILE.wav` needs none",
    )

"""A PortAudio whose devices the test makes up: how many channels they insist on, and what they hear."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

RATE_HZ = 48_000


class FakePortAudio:
    """Stands in for the sounddevice module, with one device that takes only some numbers of channels."""

    class PortAudioError(Exception):
        pass

    def __init__(self, channels: Sequence[int]) -> None:
        self.streams: list[FakeStream] = []
        self.tried: list[int] = []
        self.refuses_to_start = False
        self.lets_go = threading.Event()
        """Whether a stream can be stopped: it cannot if the sound server died at the wrong moment."""
        self.lets_go.set()
        self.has_closed = threading.Event()
        self.default = SimpleNamespace(device=(0, 0))
        self._channels = channels

    def query_hostapis(self) -> list[dict[str, Any]]:
        return [{"name": "made up"}]

    def query_devices(self) -> list[dict[str, Any]]:
        return [
            {
                "name": "array",
                "hostapi": 0,
                "max_input_channels": max(self._channels, default=4),
                "max_output_channels": max(self._channels, default=4),
                "default_samplerate": float(RATE_HZ),
            }
        ]

    def InputStream(self, **options: Any) -> FakeStream:  # noqa: N802
        self.tried.append(options["channels"])
        if options["channels"] not in self._channels:
            raise self.PortAudioError("Invalid number of channels")
        self.streams.append(FakeStream(self, **options))
        return self.streams[-1]

    OutputStream = InputStream

    def _exit_handler(self) -> None: ...


class FakeStream:
    latency = 0.05

    def __init__(self, portaudio: FakePortAudio, **options: Any) -> None:
        self.is_running = False
        self.is_closed = False
        self._portaudio = portaudio
        self._callback = options["callback"]

    def start(self) -> None:
        if self._portaudio.refuses_to_start:
            raise self._portaudio.PortAudioError("Device unavailable")
        self.is_running = True

    def abort(self, *, ignore_errors: bool) -> None:
        self._portaudio.lets_go.wait(30)
        self.is_running = False

    def close(self, *, ignore_errors: bool) -> None:
        self.is_closed = True
        self._portaudio.has_closed.set()

    def hear(self, frames: NDArray[np.float32], *, overflow: bool = False) -> None:
        """What the device's thread does when it has sound."""
        times = SimpleNamespace(currentTime=5.0, inputBufferAdcTime=4.99)
        self._callback(frames, len(frames), times, SimpleNamespace(input_overflow=overflow))

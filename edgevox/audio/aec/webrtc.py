"""WebRTC's AEC3 from the livekit package; nothing here opens a network connection."""

from __future__ import annotations

import importlib
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from edgevox.core.errors import AudioError
from edgevox.core.types import SAMPLE_RATE_HZ, to_pcm16

FRAME_MS = 10
FRAME_SAMPLES = SAMPLE_RATE_HZ * FRAME_MS // 1000
LATENCY_SAMPLES = 128
"""The algorithmic delay."""

_INT16_MAX = 32_767


class FrameCanceller(Protocol):
    """An adaptive echo canceller (WebRtcAec)."""

    def cancel(self, played: NDArray[np.float32], heard: NDArray[np.float32]) -> NDArray[np.float32]:
        """The next FRAME_SAMPLES that were heard, LATENCY_SAMPLES late, without what was played."""


def cancelled(frames: FrameCanceller, played: NDArray[np.float32], heard: NDArray[np.float32]) -> NDArray[np.float32]:
    """Cancel a block of any number of frames."""
    places = range(0, len(heard), FRAME_SAMPLES)
    return np.concatenate(
        [frames.cancel(played[at : at + FRAME_SAMPLES], heard[at : at + FRAME_SAMPLES]) for at in places]
    )


class WebRtcAec:
    """AEC3 at 16 kHz; adapts to delays up to half a second.

    Raises AudioError if livekit is not installed or has no library for this machine.
    """

    def __init__(self, expected_delay_s: float) -> None:
        try:
            # 0.15 s and 10 MB, and not every machine has a wheel: not at the top.
            self._rtc: Any = importlib.import_module("livekit.rtc")
            # No noise suppression and no gain control: both change Whisper's input, and would have to run for
            # every block also when nothing plays.
            self._module = self._rtc.AudioProcessingModule(echo_cancellation=True)
        except ImportError as error:
            raise AudioError(
                f"echo cancellation is not available on this machine: {error}",
                hint='pip install livekit, or set audio.echo_cancellation = "off"',
            ) from error
        self._module.set_stream_delay_ms(round(expected_delay_s * 1000))

    def cancel(self, played: NDArray[np.float32], heard: NDArray[np.float32]) -> NDArray[np.float32]:
        self._module.process_reverse_stream(self._frame(played))
        frame = self._frame(heard)
        self._module.process_stream(frame)
        return np.frombuffer(frame.data, dtype=np.int16).astype(np.float32) / np.float32(_INT16_MAX)

    def _frame(self, samples: NDArray[np.float32]) -> Any:  # noqa: ANN401  (loaded late, so without its types)
        return self._rtc.AudioFrame(bytearray(to_pcm16(samples)), SAMPLE_RATE_HZ, 1, FRAME_SAMPLES)

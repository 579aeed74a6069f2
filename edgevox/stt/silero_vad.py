"""Silero VAD: cuts an utterance to its speech. Audio without speech never reaches Whisper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import av
import numpy as np
from faster_whisper.vad import VadOptions, get_speech_timestamps
from numpy.typing import NDArray

from edgevox.core.types import SAMPLE_RATE_HZ, Audio

# A "no" is 200 ms long; a cough or click that is detected as speech is shorter.
_SHORTEST_SPEECH_MS = 120
_PAUSE_MS = 500
_KEPT_AROUND_SPEECH_MS = 300
# Silero misses half of the speech with a peak of -55 dBFS, so quieter audio is amplified to this peak. Whisper's
# features do not depend on the level: it gets the original. With a larger gain more noise passes for speech
# (docs/adr/0033-stt-adapter.md).
_JUDGED_PEAK = 10 ** (-15 / 20)
_MOST_GAIN = 10 ** (40 / 20)


@dataclass(frozen=True, slots=True)
class SileroVad:
    """Silero's voice detector, cutting utterances into pieces that fit Whisper's window."""

    longest_piece_s: float
    threshold: float = 0.5

    def pieces(self, audio: Audio) -> Iterator[NDArray[np.float32]]:
        """Yield the segments with speech at 16 kHz."""
        samples = at_whisper_rate(audio)
        spans = get_speech_timestamps(
            _amplified(samples),
            VadOptions(
                threshold=self.threshold,
                min_speech_duration_ms=_SHORTEST_SPEECH_MS,
                max_speech_duration_s=self.longest_piece_s,
                min_silence_duration_ms=_PAUSE_MS,
                speech_pad_ms=_KEPT_AROUND_SPEECH_MS,
            ),
        )
        if not spans:
            return
        longest = round(self.longest_piece_s * SAMPLE_RATE_HZ)
        start, end = spans[0]["start"], spans[0]["end"]
        for span in spans[1:]:
            if span["end"] - start > longest:
                yield samples[start:end]
                start = span["start"]
            end = span["end"]
        yield samples[start:end]


def _amplified(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """The samples amplified for Silero, never attenuated."""
    peak = float(np.abs(samples).max(initial=0.0))
    if not 0 < peak < _JUDGED_PEAK:
        return samples
    return samples * np.float32(min(_JUDGED_PEAK / peak, _MOST_GAIN))


def at_whisper_rate(audio: Audio) -> NDArray[np.float32]:
    if audio.rate_hz == SAMPLE_RATE_HZ or not len(audio.samples):
        return audio.samples
    frame = av.AudioFrame.from_ndarray(audio.samples[None], format="flt", layout="mono")
    frame.sample_rate = audio.rate_hz
    resampler = av.AudioResampler(format="flt", layout="mono", rate=SAMPLE_RATE_HZ)
    resampled = [*resampler.resample(frame), *resampler.resample(None)]
    return np.concatenate([piece.to_ndarray()[0] for piece in resampled])

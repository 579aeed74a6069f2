"""Splits long audio at pauses, runs STT and TTS in queue order, and encodes audio streams."""

from __future__ import annotations

import io
import struct
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Literal, TypeAlias

import av
import numpy as np

from edgevox.audio.dsp import Resampler
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, Transcript
from edgevox.dialogue.speech_output import Synthesizer
from edgevox.dialogue.transcriber import Transcriber
from edgevox.server.engine_queues import EngineQueue

MAX_PIECE_S = 28.0
"""Whisper processes up to 30 s at once and cannot be interrupted."""

_SEARCHED_S = 6.0
_BLOCK_S = 0.05


def split_at_pauses(audio: Audio, max_s: float = MAX_PIECE_S) -> Iterator[Audio]:
    """Split audio without loss into pieces of at most `max_s`."""
    rate, samples = audio.rate_hz, audio.samples
    longest, searched = int(max_s * rate), int(min(_SEARCHED_S, max_s / 2) * rate)
    start = 0
    while len(samples) - start > longest:
        cut = start + longest - searched + _quietest(samples[start + longest - searched : start + longest], rate)
        yield Audio(samples[start:cut], rate)
        start = cut
    yield Audio(samples[start:], rate)


def _quietest(samples: np.typing.NDArray[np.float32], rate_hz: int) -> int:
    """Return the middle of the quietest block."""
    block = max(1, int(_BLOCK_S * rate_hz))
    blocks = samples[: len(samples) // block * block].reshape(-1, block)
    return int(np.argmin(np.square(blocks).sum(axis=1))) * block + block // 2


async def transcribe_in_turns(audio: Audio, transcriber: Transcriber, queue: EngineQueue, who: str) -> list[Transcript]:
    """Transcribe audio piece by piece, releasing the queue in between. Raises EngineFailed."""
    cancel = CancelFlag()
    try:
        heard = []
        for piece in split_at_pauses(audio):
            async with queue.turn(who):
                heard.append(await transcriber.transcribe(piece, cancel))
        return heard
    finally:
        cancel.set()


async def synthesize_in_turns(
    sentence: str, voice: Synthesizer, language: str, queue: EngineQueue, who: str, cancel: CancelFlag
) -> AsyncGenerator[Audio, None]:
    """Synthesize one sentence. Raises EngineFailed and ModelError."""
    async with queue.turn(who), aclosing(voice.speak(sentence, cancel, language)) as sounds:
        async for sound in sounds:
            yield sound


AudioFormat: TypeAlias = Literal["mp3", "opus", "aac", "flac", "wav", "pcm"]

MEDIA_TYPES: dict[AudioFormat, str] = {
    "mp3": "audio/mpeg",
    "opus": "audio/ogg",
    "aac": "audio/aac",
    "flac": "audio/flac",
    "wav": "audio/wav",
    "pcm": "audio/pcm",
}
_PCM_HZ = 24_000
_OPUS_HZ = 48_000
_INT16_MAX = 32_767
_UNKNOWN_SIZE = 0xFFFF_FFFF
# FFmpeg's names of container and codec.
_ENCODERS = {
    "mp3": ("mp3", "libmp3lame"),
    "opus": ("ogg", "libopus"),
    "aac": ("adts", "aac"),
    "flac": ("flac", "flac"),
}


class AudioEncoder:
    """Encodes audio incrementally; the concatenated output is a file of the format."""

    def __init__(self, form: AudioFormat, rate_hz: int) -> None:
        to_hz = {"pcm": _PCM_HZ, "opus": _OPUS_HZ}.get(form, rate_hz)
        self._resampler = Resampler(rate_hz, to_hz)
        self._encoder = _Encoder(*_ENCODERS[form], to_hz) if form in _ENCODERS else None
        self._head = _wav_head(to_hz) if form == "wav" else b""

    def feed(self, audio: Audio) -> bytes:
        return self._written(self._resampler.feed(audio.samples))

    def finish(self) -> bytes:
        rest = self._written(self._resampler.finish())
        return rest + (self._encoder.finish() if self._encoder else b"")

    def _written(self, samples: np.typing.NDArray[np.float32]) -> bytes:
        plain = np.rint(np.clip(samples, -1.0, 1.0) * _INT16_MAX).astype("<i2")
        if self._encoder is not None:
            return self._encoder.feed(plain)
        head, self._head = self._head, b""
        return head + plain.tobytes()


class _Encoder:
    """FFmpeg writing into a buffer that is emptied after every piece."""

    def __init__(self, container: str, codec: str, rate_hz: int) -> None:
        self._file = _Growing()
        self._container = av.open(self._file, "w", format=container)
        stream = self._container.add_stream(codec, rate=rate_hz)
        assert isinstance(stream, av.AudioStream)
        stream.layout = "mono"
        self._stream = stream
        self._rate_hz = rate_hz
        self._resampler = av.AudioResampler(format=stream.codec_context.format, layout="mono", rate=rate_hz)
        self._at = 0

    def feed(self, samples: np.typing.NDArray[np.int16]) -> bytes:
        if len(samples):
            frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="s16", layout="mono")
            frame.sample_rate = self._rate_hz
            frame.pts = self._at
            self._at += len(samples)
            self._mux(frame)
        return self._file.take()

    def finish(self) -> bytes:
        self._mux(None)
        self._container.mux(self._stream.encode(None))
        self._container.close()
        return self._file.take()

    def _mux(self, frame: av.AudioFrame | None) -> None:
        for ready in self._resampler.resample(frame):
            self._container.mux(self._stream.encode(ready))


class _Growing(io.RawIOBase):
    """A write-only, append-only file."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        piece = bytes(memoryview(data))  # type: ignore[arg-type]  # FFmpeg gives a buffer
        self._pieces.append(piece)
        return len(piece)

    def take(self) -> bytes:
        taken, self._pieces = b"".join(self._pieces), []
        return taken


def _wav_head(rate_hz: int) -> bytes:
    # The length is unknown: use the size that players expect of a stream.
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, rate_hz, 2 * rate_hz, 2, 16)
    return struct.pack("<4sI4s", b"RIFF", _UNKNOWN_SIZE, b"WAVE") + form + struct.pack("<4sI", b"data", _UNKNOWN_SIZE)

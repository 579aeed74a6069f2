"""Reads and writes sound files, and uses WAV files in place of a microphone or a loudspeaker."""

from __future__ import annotations

import asyncio
import io
import itertools
import math
import os
import uuid
import wave
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Self

import av
import av.error
import numpy as np
from numpy.typing import NDArray

from edgevox.audio.dsp import SILENCE_DBFS, Resampler, dbfs
from edgevox.core.errors import AudioError
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, to_pcm16


def read_audio(path: Path, rate_hz: int = SAMPLE_RATE_HZ) -> Audio:
    """Read a sound file as mono. Raises AudioError.

    A truncated WAV file is read as far as it goes; a truncated compressed file is an error.
    """
    try:
        with path.open("rb") as file:
            return _decode(file, rate_hz, str(path))
    except FileNotFoundError as err:
        raise AudioError(f"there is no file {path}", hint="check the name and the folder") from err
    except IsADirectoryError as err:
        raise AudioError(f"{path} is a folder", hint="name a sound file in it") from err
    except (av.error.FFmpegError, ValueError) as err:
        raise AudioError(
            f"{path} is damaged, or is no sound file",
            hint=f"ffmpeg -i {path} speech.wav says what is wrong with it, and may repair it",
        ) from err
    except OSError as err:
        raise AudioError(f"{path} cannot be read: {err.strerror}", hint="check its permissions") from err


def decode_audio(content: bytes, rate_hz: int = SAMPLE_RATE_HZ, *, max_s: float) -> Audio:
    """Decode an uploaded sound file as mono. Raises AudioError, also if it is longer than `max_s`."""
    try:
        return _decode(io.BytesIO(content), rate_hz, "this file", max_s)
    except (av.error.FFmpegError, ValueError, OSError) as err:
        raise AudioError("this is damaged, or is no sound file", hint="send a WAV file") from err


def _decode(file: BinaryIO, rate_hz: int, name: str, max_s: float = math.inf) -> Audio:
    """Raises AudioError. A few kilobytes can hold hours of silence: decoding stops at the limit."""
    frames = [np.zeros(0, dtype=np.float32)]
    left = max_s * rate_hz
    for frame in _frames(file, rate_hz):
        frames.append(frame)
        left -= len(frame)
        if left < 0:
            raise AudioError(f"the sound is longer than {max_s:g} s", hint="send it in parts")
    samples = np.clip(np.nan_to_num(np.concatenate(frames)), -1.0, 1.0)
    if not len(samples):
        raise AudioError(f"there is no sound in {name}", hint="record it again")
    return Audio(samples, rate_hz)


def _frames(file: BinaryIO, rate_hz: int) -> Iterator[NDArray[np.float32]]:
    # A playlist can name other files, even on the network: only the protocol `file` may be opened.
    with av.open(file, "r", options={"protocol_whitelist": "none"}) as container:
        if not container.streams.audio:
            return
        # Mixed here: swresample adds the channels of float formats without keeping them below 1.
        # Interleaved: PyAV reads past its table of planes where a file claims more than eight channels, and crashes.
        resampler = av.AudioResampler(format="flt", rate=rate_hz)
        for frame in itertools.chain(container.decode(audio=0), (None,)):
            for resampled in resampler.resample(frame):
                interleaved = resampled.to_ndarray().reshape(-1, resampled.layout.nb_channels)
                yield interleaved.mean(axis=1, dtype=np.float32)


def write_wav(path: Path, chunks: Iterable[Audio]) -> None:
    """Write the chunks to one file, atomically. Raises AudioError."""
    upcoming = iter(chunks)
    first = next(upcoming, None)
    if first is None:
        raise AudioError("there is no sound to write", hint="give it words to speak")
    try:
        target = path.resolve()
        if target.exists() and not target.is_file():
            raise AudioError(f"{path} is not a file that can be replaced", hint="name a .wav file")
        partial = target.with_name(f".edgevox-{uuid.uuid4().hex}.partial")
        with partial.open("xb") as file:
            try:
                _write(file, itertools.chain((first,), upcoming), first.rate_hz)
                partial.replace(target)
            finally:
                partial.unlink(missing_ok=True)
    except OSError as err:
        raise AudioError(
            f"{path} cannot be written: {err.strerror}", hint="check that its folder is there and has room"
        ) from err


def _write(file: BinaryIO, chunks: Iterable[Audio], rate_hz: int) -> None:
    with wave.open(file, "wb") as wav:
        wav.setnchannels(1)
        wav.setsampwidth(2)
        wav.setframerate(rate_hz)
        for chunk in chunks:
            if chunk.rate_hz != rate_hz:
                raise AudioError(
                    f"sound of {chunk.rate_hz} Hz does not go behind sound of {rate_hz} Hz",
                    hint="resample one of them first",
                )
            wav.writeframes(to_pcm16(np.nan_to_num(chunk.samples)))
    file.flush()
    os.fsync(file.fileno())


_BLOCK_S = 0.02


class WavMicrophone:
    """An audio source of a file or sound, followed by `silence_s` of silence.

    Blocks of 20 ms at 16 kHz, as fast as they are read, or with `realtime` one every 20 ms. Raises AudioError.
    """

    def __init__(self, source: Path | Audio, *, realtime: bool = False, silence_s: float = 2.0) -> None:
        sound = read_audio(source) if isinstance(source, Path) else source
        resampler = Resampler(sound.rate_hz, SAMPLE_RATE_HZ)
        silence = np.zeros(round(silence_s * SAMPLE_RATE_HZ), dtype=np.float32)
        self._samples = np.concatenate((resampler.feed(sound.samples), resampler.finish(), silence))
        self.live = realtime
        """Whether it runs in real time."""
        self._is_open = True
        self.level_dbfs = SILENCE_DBFS
        self.dropped_samples = 0
        self.delay_s = 0.0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()

    async def close(self) -> None:
        self._is_open = False

    async def frames(self) -> AsyncGenerator[Audio, None]:
        """Blocks of equal length; an incomplete block at the end is dropped."""
        begun_s = asyncio.get_running_loop().time()
        block_samples = round(_BLOCK_S * SAMPLE_RATE_HZ)
        for number in range(len(self._samples) // block_samples):
            if not self._is_open:
                return
            due_s = begun_s + (number + 1) * _BLOCK_S if self.live else 0.0
            await asyncio.sleep(max(0.0, due_s - asyncio.get_running_loop().time()))
            block = self._samples[number * block_samples :][:block_samples]
            self.level_dbfs = dbfs(block)
            yield Audio(block, SAMPLE_RATE_HZ)


class MemorySpeaker:
    """A loudspeaker that keeps the audio in `played`, without waiting for playback."""

    def __init__(self) -> None:
        self.played: list[Audio] = []
        self.is_ducked = False
        self.heard_s = 0.0

    def duck(self, is_ducked: bool) -> None:
        self.is_ducked = is_ducked

    def hold(self, is_held: bool) -> None:
        """Without effect: everything is played at once."""

    async def play(
        self, chunks: AsyncIterator[Audio], cancel: CancelFlag, on_start: Callable[[], None] = lambda: None
    ) -> None:
        is_started = self.is_ducked = False
        self.heard_s = 0.0
        async for chunk in chunks:
            if not is_started:
                is_started = True
                on_start()
            self.played.append(chunk)
            self.heard_s += chunk.duration_s
            if cancel.is_set():
                return


class WavSpeaker(MemorySpeaker):
    """Collects all replies in one WAV file."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path

    def save(self) -> None:
        """Write the file. Raises AudioError, also if nothing was played."""
        write_wav(self._path, self.played)

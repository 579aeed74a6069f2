"""Sound files: any common format in, 16-bit WAV out."""

from __future__ import annotations

import io
import itertools
import os
import uuid
import wave
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import av
import av.error
import numpy as np
from numpy.typing import NDArray

from edgevox.errors import AudioError
from edgevox.types import WHISPER_RATE_HZ, Audio

_INT16_MAX = 32_767


def read_audio(path: Path, rate_hz: int = WHISPER_RATE_HZ) -> Audio:
    """The sound of a file, mixed to mono. Raises AudioError.

    A WAV file that was cut short gives the sound that is there; compressed formats are damaged by it.
    """
    try:
        with path.open("rb") as file:
            frames = [np.zeros(0, dtype=np.float32), *_decode(file, rate_hz)]
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
    samples = np.clip(np.nan_to_num(np.concatenate(frames)), -1.0, 1.0)
    if not len(samples):
        raise AudioError(f"there is no sound in {path}", hint="record it again")
    return Audio(samples, rate_hz)


def decode_audio(content: bytes, rate_hz: int = WHISPER_RATE_HZ, *, max_s: float) -> Audio:
    """The sound of a file that somebody sent, mixed to mono. Raises AudioError, also for what is longer.

    A few kilobytes can hold hours of silence: no more is decoded than may be.
    """
    frames = [np.zeros(0, dtype=np.float32)]
    left = int(max_s * rate_hz)
    try:
        for frame in _decode(io.BytesIO(content), rate_hz):
            frames.append(frame)
            left -= len(frame)
            if left < 0:
                raise AudioError(f"the sound is longer than {max_s:g} s", hint="send it in parts")
    except (av.error.FFmpegError, ValueError, OSError) as err:
        raise AudioError("this is damaged, or is no sound file", hint="send a WAV file") from err
    samples = np.clip(np.nan_to_num(np.concatenate(frames)), -1.0, 1.0)
    if not len(samples):
        raise AudioError("there is no sound in this file", hint="record it again")
    return Audio(samples, rate_hz)


def write_wav(path: Path, chunks: Iterable[Audio]) -> None:
    """Write the chunks one behind the other. The file has its name only once it is whole.

    Raises AudioError.
    """
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


def _decode(file: BinaryIO, rate_hz: int) -> Iterator[NDArray[np.float32]]:
    # A playlist is a "sound file" that names others, even on the network: nothing but `file` may be opened.
    with av.open(file, "r", options={"protocol_whitelist": "none"}) as container:
        if not container.streams.audio:
            return
        # Mixed here: swresample adds the channels of float formats without keeping them below 1.
        resampler = av.AudioResampler(format="fltp", rate=rate_hz)
        for frame in itertools.chain(container.decode(audio=0), (None,)):
            for resampled in resampler.resample(frame):
                yield resampled.to_ndarray().mean(axis=0, dtype=np.float32)


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
            wav.writeframes(_int16(chunk.samples).tobytes())
    file.flush()
    os.fsync(file.fileno())


def _int16(samples: NDArray[np.float32]) -> NDArray[np.int16]:
    return np.rint(np.clip(np.nan_to_num(samples), -1.0, 1.0) * _INT16_MAX).astype("<i2")

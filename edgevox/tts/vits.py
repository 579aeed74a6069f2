"""A Piper voice on onnxruntime: what Piper gives its session goes in, samples come out, chunk by chunk."""

from __future__ import annotations

import logging
import math
import mmap
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from edgevox.tts.chunks import Pace, chunk_ends
from edgevox.tts.onnx_file import Graph
from edgevox.tts.onnx_session import ONNX_ERRORS, Array, StoppableSession, StopSwitch
from edgevox.tts.voice_graph import VoiceParts, Window, cut_voice

Samples: TypeAlias = NDArray[np.float32]

_LOG = logging.getLogger(__name__)
# Samples are between -1 and 1; the same work in another order differs by some 1e-6.
_SAME_WITHIN = 1e-3


class Speech(Protocol):
    """A voice's model."""

    def whole(self, inputs: Mapping[str, Array]) -> Samples:
        """One piece of speech. Raises RunStopped or ONNX_ERRORS."""

    def chunks(self, inputs: Mapping[str, Array]) -> Iterator[Samples]:
        """The same, as it is made."""


class WholeSpeech:
    """A voice that can only make a piece of speech in one go."""

    def __init__(self, path: Path, *, threads: int, switch: StopSwitch) -> None:
        self._session = StoppableSession(path, threads=threads, switch=switch)

    def whole(self, inputs: Mapping[str, Array]) -> Samples:
        return self._session.run(inputs)[0].ravel()

    def chunks(self, inputs: Mapping[str, Array]) -> Iterator[Samples]:
        yield self.whole(inputs)


class ChunkedSpeech:
    """A voice in parts: the front is run once for a piece of speech, the others window by window."""

    def __init__(
        self, parts: VoiceParts, pace: Pace, *, rate_hz: int, threads: int, switch: StopSwitch
    ) -> None:
        self._front = StoppableSession(parts.front.model, threads=threads, switch=switch)
        self._front_outputs = parts.front.outputs
        self._windowed = [
            (part.window, StoppableSession(part.model, threads=threads, switch=switch))
            for part in parts.windowed
        ]
        self._samples_per_frame = math.prod(window.growth for window, _ in self._windowed)
        self._pace = pace
        self._rate_hz = rate_hz

    def whole(self, inputs: Mapping[str, Array]) -> Samples:
        return next(self._made(inputs, lambda frames: [frames]))

    def chunks(self, inputs: Mapping[str, Array]) -> Iterator[Samples]:
        work_s, sound_s = 0.0, 0.0
        resumed_s = time.monotonic()
        for samples in self._made(inputs, self._ends):
            work_s += time.monotonic() - resumed_s
            sound_s += len(samples) / self._rate_hz
            yield samples
            resumed_s = time.monotonic()
        self._pace.note(work_s, sound_s)

    def _ends(self, frames: int) -> Iterator[int]:
        return chunk_ends(frames, self._rate_hz / self._samples_per_frame, self._pace.growth)

    def _made(self, inputs: Mapping[str, Array], ends: Callable[[int], Iterable[int]]) -> Iterator[Samples]:
        beside = dict(zip(self._front_outputs, self._front.run(inputs), strict=True))
        frames = beside[self._front_outputs[0]]

        def from_front(end: int) -> Array:
            return frames

        source: Callable[[int], Array] = from_front
        for window, session in self._windowed:
            source = _Windowed(window, session, source, beside, frames.shape[-1]).upto
        start = 0
        for end in ends(frames.shape[-1]):
            yield source(end).ravel()[start * self._samples_per_frame :]
            start = end


def open_speech(
    path: Path, *, rate_hz: int, threads: int, switch: StopSwitch, probe: Mapping[str, Array]
) -> tuple[Speech, Samples]:
    """The voice, cut if its chunks of `probe` add up to the whole, and what `probe` sounds like.

    The probe must be without noise. Raises ONNX_ERRORS or OSError when the file is no voice.
    """
    unusable: tuple[type[Exception], ...] = (*ONNX_ERRORS, OSError, ValueError, LookupError)
    try:
        parts = cut_voice(Graph.parse(_mapped(path)))
        chunked = ChunkedSpeech(parts, Pace(), rate_hz=rate_hz, threads=threads, switch=switch)
        sound = chunked.whole(probe)
        if np.allclose(np.concatenate([*chunked.chunks(probe)]), sound, rtol=0, atol=_SAME_WITHIN):
            return chunked, sound
        reason = "its chunks do not add up to the whole"
    except unusable as err:
        reason = str(err)
    _LOG.info("%s makes whole sentences at once: %s", path, reason)
    speech = WholeSpeech(path, threads=threads, switch=switch)
    return speech, speech.whole(probe)


def _mapped(path: Path) -> memoryview:
    """A file's content, until nothing refers to it any more. Raises OSError, ValueError when it is empty."""
    with path.open("rb") as file:
        return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))


class _Windowed:
    """What a part makes of another stream, as far as it was asked for."""

    def __init__(
        self,
        window: Window,
        session: StoppableSession,
        source: Callable[[int], Array],
        beside: Mapping[str, Array],
        frames: int,
    ) -> None:
        self._window = window
        self._session = session
        self._source = source
        self._beside = {name: beside[name] for name in window.beside}
        self._frames = frames
        self._pieces: list[Array] = []
        self._end = 0

    def upto(self, end: int) -> Array:
        """What it makes of the first `end` frames, or of more."""
        reach, growth = self._window.reach_frames, self._window.growth
        if end > self._end:
            low, high = max(0, self._end - reach), min(self._frames, end + reach)
            frames = slice(low, high)
            inputs = {self._window.stream: self._source(high)[..., frames]}
            for name, value in self._beside.items():
                # A tensor of a single frame holds for all of them: it is the speaker's.
                inputs[name] = value[..., frames] if value.shape[-1] > 1 else value
            made = self._session.run(inputs)[0]
            self._pieces.append(made[..., (self._end - low) * growth : (end - low) * growth])
            self._end = end
        return np.concatenate(self._pieces, axis=-1)

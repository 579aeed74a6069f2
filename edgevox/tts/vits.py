"""Runs a VITS voice on onnxruntime, streaming a sentence in growing chunks.

The first chunk is short so that audio starts early; each must be ready before the one before it has been
played. Importing this module loads onnxruntime, so only the process that synthesizes does it.
"""

from __future__ import annotations

import logging
import math
import mmap
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from onnxruntime.capi import onnxruntime_pybind11_state as native

from edgevox.core.platform import file_of
from edgevox.core.turn import CancelFlag
from edgevox.tts.onnx_graph import Graph, VoiceParts, Window, cut_voice

Array: TypeAlias = NDArray[Any]

# They have no common base class but Exception.
ONNX_ERRORS: tuple[type[Exception], ...] = (
    native.EPFail,
    native.Fail,
    native.InvalidArgument,
    native.InvalidGraph,
    native.InvalidProtobuf,
    native.NoSuchFile,
    native.NotImplemented,
    native.RuntimeException,
)

_CANCEL_POLL_S = 0.01
_ERRORS_ONLY = 3


class RunStopped(Exception):
    """A run was cancelled by its flag."""


class StopSwitch:
    """Cancels the runs of the sessions that share it, while `thrown_by` is entered and its flag is set.

    The flag is a byte that another process sets, so it is polled. onnxruntime then stops between two nodes of
    the graph, within a millisecond.
    """

    def __init__(self) -> None:
        self.options = _run_options()

    @contextmanager
    def thrown_by(self, cancel: CancelFlag) -> Iterator[None]:
        options = self.options = _run_options()
        over = threading.Event()

        def watch() -> None:
            while not over.wait(_CANCEL_POLL_S):
                if cancel.is_set():
                    options.terminate = True
                    return

        watcher = threading.Thread(target=watch, name="onnx-cancel", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            over.set()
            watcher.join()


class StoppableSession:
    """An onnxruntime session on a model file or on parts of one."""

    def __init__(self, model: Path | Sequence[memoryview], *, threads: int, switch: StopSwitch) -> None:
        onnxruntime.set_default_logger_severity(_ERRORS_ONLY)
        # Given bytes instead of a file, onnxruntime would keep them in memory.
        with nullcontext(str(model)) if isinstance(model, Path) else file_of(model, "voice-part") as path:
            self._session = onnxruntime.InferenceSession(
                path, _session_options(threads), providers=["CPUExecutionProvider"]
            )
        self._switch = switch

    def run(self, inputs: Mapping[str, Array]) -> list[Array]:
        """All outputs. Raises RunStopped or ONNX_ERRORS."""
        options = self._switch.options
        try:
            outputs: list[Array] = self._session.run(None, inputs, options)
        except native.Fail as err:
            if options.terminate:
                raise RunStopped from err
            raise
        return outputs


def _session_options(threads: int) -> onnxruntime.SessionOptions:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = _ERRORS_ONLY
    # Spinning threads take a core from the other engines.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Planning the reuse of buffers is 2.4 s of a 3 s load, and no sentence is faster for it. The pattern plan
    # has to go with it: without reuse it holds 200 MB more.
    options.enable_mem_reuse = False
    options.enable_mem_pattern = False
    return options


def _run_options() -> onnxruntime.RunOptions:
    options = onnxruntime.RunOptions()
    options.log_severity_level = _ERRORS_ONLY
    # Otherwise the memory of the longest sentence is never freed.
    options.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    return options


FIRST_CHUNK_S = 0.35
# Each chunk more costs the overlap of its neighbours.
MOST_CHUNKS = 4
_FIRST_GROWTH = 2.0
_MOST_GROWTH = 4.0
# The share of a chunk's duration that synthesis of the next one may take, with a margin for CPU load.
_RESERVE = 0.6


class RealTimeFactor:
    """The synthesis speed, as measured on the last piece of speech."""

    def __init__(self) -> None:
        self.growth = _FIRST_GROWTH
        """The growth factor from chunk to chunk; less than 1 on a slow machine."""

    def note(self, work_s: float, sound_s: float) -> None:
        """Record that `sound_s` of audio took `work_s` to synthesize."""
        self.growth = min(_MOST_GROWTH, _RESERVE * sound_s / work_s)


def chunk_ends(frames: int, frames_per_s: float, growth: float) -> Iterator[int]:
    """Where each chunk of a sentence ends; the last one ends at `frames`."""
    shortest = FIRST_CHUNK_S * frames_per_s
    size = max(shortest, frames / sum(growth**number for number in range(MOST_CHUNKS)))
    end = 0.0
    # The remainder may be too short for a chunk.
    while frames - end > size + shortest / 2:
        end += size
        yield round(end)
        size = max(shortest, size * growth)
    if frames:
        yield frames


Samples: TypeAlias = NDArray[np.float32]

_LOG = logging.getLogger(__name__)
# Samples are between -1 and 1; another order of operations differs by some 1e-6.
_SAME_WITHIN = 1e-3


class SinglePassVits:
    """A voice without streaming. Both methods raise RunStopped and ONNX_ERRORS."""

    def __init__(self, path: Path, *, threads: int, switch: StopSwitch) -> None:
        self._session = StoppableSession(path, threads=threads, switch=switch)

    def whole(self, inputs: Mapping[str, Array]) -> Samples:
        return self._session.run(inputs)[0].ravel()

    def chunks(self, inputs: Mapping[str, Array]) -> Iterator[Samples]:
        yield self.whole(inputs)


class StreamingVits:
    """A voice in parts: the front runs once per piece of speech, the others window by window."""

    def __init__(
        self, parts: VoiceParts, pace: RealTimeFactor, *, rate_hz: int, threads: int, switch: StopSwitch
    ) -> None:
        self._front = StoppableSession(parts.front, threads=threads, switch=switch)
        self._front_outputs = parts.front_outputs
        self._windowed = [
            (window, StoppableSession(model, threads=threads, switch=switch)) for model, window in parts.windowed
        ]
        self._samples_per_frame = math.prod(window.growth for window, _ in self._windowed)
        self._pace = pace
        self._rate_hz = rate_hz

    def whole(self, inputs: Mapping[str, Array]) -> Samples:
        return next(self._synthesize(inputs, lambda frames: [frames]))

    def chunks(self, inputs: Mapping[str, Array]) -> Iterator[Samples]:
        work_s, sound_s = 0.0, 0.0
        resumed_s = time.monotonic()
        for samples in self._synthesize(inputs, self._ends):
            work_s += time.monotonic() - resumed_s
            sound_s += len(samples) / self._rate_hz
            yield samples
            resumed_s = time.monotonic()
        self._pace.note(work_s, sound_s)

    def _ends(self, frames: int) -> Iterator[int]:
        return chunk_ends(frames, self._rate_hz / self._samples_per_frame, self._pace.growth)

    def _synthesize(self, inputs: Mapping[str, Array], ends: Callable[[int], Iterable[int]]) -> Iterator[Samples]:
        beside = dict(zip(self._front_outputs, self._front.run(inputs), strict=True))
        frames = beside[self._front_outputs[0]]

        source: Callable[[int], Array] = lambda _end: frames  # noqa: E731
        for window, session in self._windowed:
            source = _Windowed(window, session, source, beside, frames.shape[-1]).upto
        start = 0
        for end in ends(frames.shape[-1]):
            yield source(end).ravel()[start * self._samples_per_frame :]
            start = end


def open_vits(
    path: Path, *, rate_hz: int, threads: int, switch: StopSwitch, probe: Mapping[str, Array]
) -> tuple[SinglePassVits | StreamingVits, Samples]:
    """Load a voice, with streaming if its chunks of `probe` equal the whole; also returns the audio of `probe`.

    The probe must be without noise. Raises ONNX_ERRORS or OSError if the file is not a voice.
    """
    unusable: tuple[type[Exception], ...] = (*ONNX_ERRORS, OSError, ValueError, LookupError)
    try:
        with path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        parts = cut_voice(Graph.parse(memoryview(mapped)))
        chunked = StreamingVits(parts, RealTimeFactor(), rate_hz=rate_hz, threads=threads, switch=switch)
        sound = chunked.whole(probe)
        if np.allclose(np.concatenate([*chunked.chunks(probe)]), sound, rtol=0, atol=_SAME_WITHIN):
            return chunked, sound
        reason = "its chunks do not add up to the whole"
    except unusable as err:
        reason = str(err)
    _LOG.info("%s makes whole sentences at once: %s", path, reason)
    speech = SinglePassVits(path, threads=threads, switch=switch)
    return speech, speech.whole(probe)


@dataclass(slots=True)
class _Windowed:
    """The output stream of a part, computed on demand."""

    window: Window
    session: StoppableSession
    source: Callable[[int], Array]
    beside: Mapping[str, Array]
    frames: int
    _pieces: list[Array] = field(default_factory=list)
    _end: int = 0

    def upto(self, end: int) -> Array:
        """The output for at least the first `end` frames."""
        reach, growth = self.window.reach_frames, self.window.growth
        if end > self._end:
            low, high = max(0, self._end - reach), min(self.frames, end + reach)
            frames = slice(low, high)
            inputs = {self.window.stream: self.source(high)[..., frames]}
            for name in self.window.beside:
                value = self.beside[name]
                # A tensor of a single frame (the speaker embedding) applies to all frames.
                inputs[name] = value[..., frames] if value.shape[-1] > 1 else value
            made = self.session.run(inputs)[0]
            self._pieces.append(made[..., (self._end - low) * growth : (end - low) * growth])
            self._end = end
        return np.concatenate(self._pieces, axis=-1)

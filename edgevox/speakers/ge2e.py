"""Embeds voices with Resemblyzer's GE2E encoder, in numpy: an LSTM of three layers on 1.6 s windows.

The weights are a PyTorch checkpoint; it is read without PyTorch, and nothing that is pickled in it is run.
"""

from __future__ import annotations

import pickle
from collections import OrderedDict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from edgevox.core.errors import ModelError
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, VoiceEmbedding

MODEL_ID = "resemblyzer-ge2e"
DIMENSIONS = 256
LEAST_SPEECH_S = 0.6
"""A shorter utterance is not recognised."""

_Array: TypeAlias = NDArray[np.float32]

_FRAME_SAMPLES = 400  # 25 ms
_HOP_SAMPLES = 160  # 10 ms
_MEL_BINS = 40
_LAYERS = 3
_HIDDEN = 256
_WINDOW_FRAMES = 160
_STEP_FRAMES = 80
_LEAST_COVERAGE = 0.75
# So many seconds are enough; more would only take longer.
_MOST_SPEECH_S = 4.8
_LEVEL_DBFS = -30.0
# Blocks under this share of the loudest one, before the first and after the last word, are silence.
_SILENCE = 0.03
_BLOCK_SAMPLES = 320
_MARGIN_BLOCKS = 5


class Ge2eEngine:
    """Embeds one utterance per request. `path` is Resemblyzer's checkpoint."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._weights: dict[str, _Array] = {}

    def load(self) -> None:
        """Raises ModelError."""
        try:
            with self._path.open("rb") as file:
                state = _read_checkpoint(file)["model_state"]
            self._weights = {
                name: np.ascontiguousarray(value.T) for name, value in state.items() if isinstance(value, np.ndarray)
            }
        except (OSError, ValueError, KeyError, EOFError, pickle.UnpicklingError) as error:
            raise ModelError(
                f"{self._path} cannot be read: {error}", hint=f"edgevox models pull {MODEL_ID} downloads it again"
            ) from error

    def run(self, request: Audio, cancel: CancelFlag) -> Iterator[VoiceEmbedding]:
        """Yield the embedding of an utterance; its vector is empty if it holds too little speech."""
        samples = _trimmed(request.samples)[: round(_MOST_SPEECH_S * SAMPLE_RATE_HZ)]
        if len(samples) < LEAST_SPEECH_S * SAMPLE_RATE_HZ:
            yield VoiceEmbedding(np.zeros(0, np.float32))
        elif not cancel.is_set():
            yield VoiceEmbedding(self._embed(_windows(samples)))

    def _embed(self, windows: _Array) -> _Array:
        """The mean of the windows' embeddings, at length 1."""
        states = windows
        for layer in range(_LAYERS):
            states = self._lstm(states, layer)
        made = np.maximum(0, states[-1] @ self._weights["linear.weight"] + self._weights["linear.bias"])
        made /= np.linalg.norm(made, axis=1, keepdims=True) + 1e-12
        mean = made.mean(axis=0)
        return np.asarray(mean / (np.linalg.norm(mean) + 1e-12), np.float32)

    def _lstm(self, inputs: _Array, layer: int) -> _Array:
        """The states of one layer; the axes are time, window and feature."""
        weights = self._weights
        bias = weights[f"lstm.bias_ih_l{layer}"] + weights[f"lstm.bias_hh_l{layer}"]
        driven = inputs @ weights[f"lstm.weight_ih_l{layer}"] + bias
        recurrent = weights[f"lstm.weight_hh_l{layer}"]
        hidden = np.zeros((inputs.shape[1], _HIDDEN), np.float32)
        cell = np.zeros_like(hidden)
        states = np.empty((*driven.shape[:2], _HIDDEN), np.float32)
        for time, step in enumerate(driven):
            gates = step + hidden @ recurrent
            # One tanh for all gates: sigmoid(x) is (1 + tanh(x / 2)) / 2.
            gates[:, : 2 * _HIDDEN] *= 0.5
            gates[:, 3 * _HIDDEN :] *= 0.5
            np.tanh(gates, out=gates)
            keep_new, keep_old, new, shown = np.split(gates, 4, axis=1)
            cell = (0.5 + 0.5 * keep_old) * cell + (0.5 + 0.5 * keep_new) * new
            hidden = (0.5 + 0.5 * shown) * np.tanh(cell)
            states[time] = hidden
        return states


def _trimmed(samples: _Array) -> _Array:
    """The samples without silence before and after the speech."""
    blocks = samples[: len(samples) // _BLOCK_SAMPLES * _BLOCK_SAMPLES].reshape(-1, _BLOCK_SAMPLES)
    levels = np.sqrt(np.mean(blocks**2, axis=1)) if len(blocks) else np.zeros(0)
    voiced = np.flatnonzero(levels > max(_SILENCE * levels.max(initial=0.0), 1e-4))
    if not len(voiced):
        return samples[:0]
    begin, end = max(0, voiced[0] - _MARGIN_BLOCKS), voiced[-1] + 1 + _MARGIN_BLOCKS
    return samples[begin * _BLOCK_SAMPLES : end * _BLOCK_SAMPLES]


def _windows(samples: _Array) -> _Array:
    """Overlapping windows of mel frames; the axes are time, window and mel bin."""
    gain = 10 ** (_LEVEL_DBFS / 20) / (float(np.sqrt(np.mean(samples**2))) + 1e-12)
    samples = samples * np.float32(max(1.0, gain))
    frames = len(samples) // _HOP_SAMPLES + 1
    starts = list(range(0, max(1, frames - _WINDOW_FRAMES + _STEP_FRAMES + 1), _STEP_FRAMES))
    if len(starts) > 1 and frames - starts[-1] < _LEAST_COVERAGE * _WINDOW_FRAMES:
        del starts[-1]
    missing = (starts[-1] + _WINDOW_FRAMES) * _HOP_SAMPLES - len(samples)
    mel = _mel_frames(np.pad(samples, (0, max(0, missing))))
    return np.stack([mel[start : start + _WINDOW_FRAMES] for start in starts], axis=1)


def _mel_frames(samples: _Array) -> _Array:
    padded = np.pad(samples, _FRAME_SAMPLES // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, _FRAME_SAMPLES)[::_HOP_SAMPLES]
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(_FRAME_SAMPLES) / _FRAME_SAMPLES)
    power = np.abs(np.fft.rfft(frames * window)) ** 2
    return np.asarray(power @ _mel_filters().T, np.float32)


@lru_cache(maxsize=1)
def _mel_filters() -> NDArray[np.float64]:
    """Triangular filters of equal area on Slaney's mel scale, one row per bin."""
    per_mel = np.log(6.4) / 27
    top = 15 + np.log(SAMPLE_RATE_HZ / 2 / 1000) / per_mel
    mels = np.linspace(0, top, _MEL_BINS + 2)
    edges = np.where(mels >= 15, 1000 * np.exp(per_mel * (mels - 15)), mels * 200 / 3)
    frequencies = np.linspace(0, SAMPLE_RATE_HZ / 2, _FRAME_SAMPLES // 2 + 1)
    low, middle, high = (edges[start : start + _MEL_BINS, None] for start in range(3))
    shape = np.minimum((frequencies - low) / (middle - low), (high - frequencies) / (high - middle))
    return np.asarray(np.maximum(0.0, shape) * 2 / (high - low))


# --- PyTorch's format from before version 1.6: four pickles, the keys of the storages, and their numbers

_DTYPES = {"FloatStorage": "<f4", "LongStorage": "<i8"}


class _Storage:
    """The numbers of some tensors; they follow the pickles."""

    def __init__(self, dtype: str, count: int) -> None:
        self.values = np.zeros(count, dtype)


class _Unpickler(pickle.Unpickler):
    """Loads tensors and plain containers, and nothing else."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file)
        self.storages: dict[str, _Storage] = {}

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401  (what a pickle may build)
        if module == "torch" and name in _DTYPES:
            return name
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _tensor
        if (module, name) == ("collections", "OrderedDict"):
            return OrderedDict
        raise pickle.UnpicklingError(f"it contains {module}.{name}")

    def persistent_load(self, pid: tuple[Any, ...]) -> _Storage:
        _storage, kind, key, _device, count, *_view = pid
        return self.storages.setdefault(str(key), _Storage(_DTYPES[kind], count))


def _tensor(storage: _Storage, offset: int, shape: tuple[int, ...], stride: tuple[int, ...], *_rest: object) -> _Array:
    values = storage.values[offset:]
    steps = [step * values.itemsize for step in stride]
    return np.lib.stride_tricks.as_strided(values, shape, steps, writeable=False)


def _read_checkpoint(file: IO[bytes]) -> dict[str, Any]:
    for _header in range(3):  # magic number, version, byte order
        _Unpickler(file).load()
    unpickler = _Unpickler(file)
    content: dict[str, Any] = unpickler.load()
    for key in _Unpickler(file).load():
        storage = unpickler.storages[str(key)]
        count = int.from_bytes(file.read(8), "little")
        if count != len(storage.values):
            raise ValueError("a tensor has another size than its header says")
        storage.values[:] = np.frombuffer(file.read(count * storage.values.itemsize), storage.values.dtype)
    return content

"""Speech embeddings for trained wake words: Google's speech_embedding network, streaming, in numpy.

The network is a stack of convolutions without padding in time, so it is evaluated for the new frames only: 8 frames of
10 ms give one embedding of 96 numbers, for a ninth of the work of whole windows (docs/adr/0059-trained-wake-words.md).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from edgevox.core.errors import ModelError
from edgevox.core.types import SAMPLE_RATE_HZ

MODEL_ID = "speech-embedding"
DIMENSIONS = 96
STEP_SAMPLES = 1280
"""One embedding per 80 ms …"""
WINDOW_SAMPLES = 12_512
"""… each of the last 782 ms."""

Floats: TypeAlias = NDArray[np.float32]

_HOP_SAMPLES = 160
_FFT_SAMPLES = 512
_FRAME_SAMPLES = 400
_MEL_BINS = 32
_LOWEST_HZ, _HIGHEST_HZ = 60.0, 3800.0
_STEP_FRAMES, _FIRST_FRAMES = 8, 76
# The network was trained with this scaling of decibels over 16-bit samples.
_FULL_SCALE = 32_767.0
_SLOPE, _LEAST = 0.2, -0.4
# Convolutions between the poolings, and the factors of these in time and frequency.
_POOLS = {2: (2, 2), 6: (1, 2), 10: (2, 2), 14: (1, 2), 18: (2, 2)}
_LAYERS = 20
# A recording is processed in pieces of so many frames: the activations of a whole one would not fit the caches.
_PIECE_FRAMES = 400


Layers: TypeAlias = tuple[tuple[Floats, Floats], ...]
"""Weights, with the axes time, frequency, input and output, and a bias, of each convolution."""


@dataclass(frozen=True, slots=True)
class EmbeddingNetwork:
    """The weights of speech_embedding."""

    layers: Layers

    @classmethod
    def read(cls, path: Path) -> EmbeddingNetwork:
        """Read openWakeWord's ONNX file. Raises ModelError."""
        try:
            tensors = dict(_tensors(path.read_bytes()))
            return cls(tuple(_layer(tensors, number) for number in range(_LAYERS)))
        except (OSError, ValueError, KeyError, IndexError) as error:
            raise ModelError(
                f"{path} cannot be read: {error}", hint=f"edgevox models pull {MODEL_ID} downloads it again"
            ) from error


@lru_cache(maxsize=1)
def embedding_network(path: Path) -> EmbeddingNetwork:
    """The network of that file, read once. Raises ModelError."""
    return EmbeddingNetwork.read(path)


class EmbeddingStream:
    """The embeddings of one stream of 16 kHz audio."""

    def __init__(self, network: EmbeddingNetwork) -> None:
        self._layers = network.layers
        self._waiting: list[Floats] = []
        self._count = 0
        self._before: list[Floats | None] = [None] * _LAYERS
        self._has_begun = False

    def feed(self, samples: Floats) -> Floats:
        """The embeddings that these samples complete, one per row."""
        self._waiting.append(samples)
        self._count += len(samples)
        least = _STEP_FRAMES if self._has_begun else _FIRST_FRAMES
        if self._count < _samples_of(least):
            return np.zeros((0, DIMENSIONS), np.float32)
        joined = np.concatenate(self._waiting)
        available = (len(joined) - _FFT_SAMPLES) // _HOP_SAMPLES + 1
        # After the first 76 frames every 8 give one embedding: both leave the poolings aligned.
        ready = available - (available - least) % _STEP_FRAMES
        frames = _mel_frames(joined[: _samples_of(ready)])
        self._waiting = [joined[ready * _HOP_SAMPLES :]]
        self._count = len(self._waiting[0])
        self._has_begun = True
        first = least + (_PIECE_FRAMES - least) // _STEP_FRAMES * _STEP_FRAMES
        starts = [0, *range(first, ready, _PIECE_FRAMES)]
        return np.concatenate(
            [self._forward(frames[start:end]) for start, end in zip(starts, [*starts[1:], ready], strict=True)]
        )

    def _forward(self, frames: Floats) -> Floats:
        """Run the network on the next frames; the axes of its activations are time, frequency and channel."""
        states = frames[:, :, None]
        for number, (weights, bias) in enumerate(self._layers):
            in_time, in_frequency = weights.shape[:2]
            if in_time > 1:
                before = self._before[number]
                states = states if before is None else np.concatenate([before, states])
                self._before[number] = states[-(in_time - 1) :]
            if in_frequency > 1:
                states = np.pad(states, ((0, 0), (1, 1), (0, 0)))
            states = _convolved(states, weights)
            if number + 1 == _LAYERS:
                break
            states += bias
            states = np.maximum(np.maximum(states, _SLOPE * states), _LEAST)
            if pool := _POOLS.get(number):
                states = _pooled(states, *pool)
        return states.reshape(-1, DIMENSIONS)


def embed(network: EmbeddingNetwork, samples: Floats) -> Floats:
    """The embeddings of a whole recording at 16 kHz, one per 80 ms from its first 782 ms on."""
    return EmbeddingStream(network).feed(samples)


def _samples_of(frames: int) -> int:
    return (frames - 1) * _HOP_SAMPLES + _FFT_SAMPLES


def _convolved(states: Floats, weights: Floats) -> Floats:
    """One product of matrices: the taps of the kernel lie side by side in the rows."""
    in_time, in_frequency, _, channels = weights.shape
    times, bins = states.shape[0] - in_time + 1, states.shape[1] - in_frequency + 1
    taps = [
        states[row : row + times, column : column + bins] for row in range(in_time) for column in range(in_frequency)
    ]
    rows = np.concatenate(taps, axis=2).reshape(times * bins, -1)
    return np.asarray((rows @ weights.reshape(-1, channels)).reshape(times, bins, channels))


def _pooled(states: Floats, in_time: int, in_frequency: int) -> Floats:
    times, bins, channels = states.shape
    pairs = states.reshape(times // in_time, in_time, bins // in_frequency, in_frequency, channels)
    return np.asarray(pairs.max(axis=(1, 3)))


def _mel_frames(samples: Floats) -> Floats:
    """Decibels in 32 mel bins, one row per 10 ms, scaled as the network expects."""
    frames = sliding_window_view(samples * np.float32(_FULL_SCALE), _FFT_SAMPLES)[::_HOP_SAMPLES]
    spectrum = np.fft.rfft(frames * _window())
    power = spectrum.real**2 + spectrum.imag**2
    # Digital silence would be far below any room.
    return np.asarray(np.log10(np.maximum(power @ _mel_filters(), 1.0)) + 2, np.float32)


@lru_cache(maxsize=1)
def _window() -> Floats:
    margin = (_FFT_SAMPLES - _FRAME_SAMPLES) // 2
    return np.pad(np.hanning(_FRAME_SAMPLES + 1)[:-1], margin).astype(np.float32)


@lru_cache(maxsize=1)
def _mel_filters() -> Floats:
    """Triangular filters of equal area on Slaney's mel scale, one column per bin."""
    linear, per_mel = 200 / 3, np.log(6.4) / 27
    top = 15 + np.log(_HIGHEST_HZ / 1000) / per_mel
    mels = np.linspace(_LOWEST_HZ / linear, top, _MEL_BINS + 2)
    edges_hz = np.where(mels < 15, mels * linear, 1000 * np.exp(per_mel * (mels - 15)))
    bins_hz = np.linspace(0, SAMPLE_RATE_HZ / 2, _FFT_SAMPLES // 2 + 1)[:, None]
    low, middle, high = edges_hz[:-2], edges_hz[1:-1], edges_hz[2:]
    triangles = np.minimum((bins_hz - low) / (middle - low), (high - bins_hz) / (high - middle))
    return np.asarray(np.maximum(0, triangles) * 2 / (high - low), np.float32)


# --- the ONNX file: a model (graph: field 7) with tensors (field 5) of dimensions (1), a name (8) and raw data (9)


def _layer(tensors: dict[str, Floats], number: int) -> tuple[Floats, Floats]:
    name = f"model/conv2d_{number}/Conv2D" if number else "model/conv2d/Conv2D"
    if number + 1 == _LAYERS:
        return np.ascontiguousarray(tensors[f"{name}/ReadVariableOp:0"].transpose(2, 3, 1, 0)), np.zeros(1, np.float32)
    weights = tensors[f"{name}_weights_fused_bn"].transpose(2, 3, 1, 0)
    return np.ascontiguousarray(weights), tensors[f"{name}_bias_fused_bn"]


def _tensors(model: bytes) -> Iterator[tuple[str, Floats]]:
    for field, graph in _fields(model):
        if field != 7 or not isinstance(graph, bytes):
            continue
        for inner, tensor in _fields(graph):
            if inner != 5 or not isinstance(tensor, bytes):
                continue
            parts = list(_fields(tensor))
            name = next(value for key, value in parts if key == 8 and isinstance(value, bytes)).decode()
            if name.startswith("model/"):
                shape = [value for key, value in parts if key == 1 and isinstance(value, int)]
                raw = next(value for key, value in parts if key == 9 and isinstance(value, bytes))
                yield name, np.frombuffer(raw, "<f4").reshape(shape)


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a protobuf message. Raises ValueError and IndexError."""
    position = 0
    while position < len(message):
        key, position = _varint(message, position)
        match key & 7:
            case 0:
                value, position = _varint(message, position)
                yield key >> 3, value
            case 2:
                size, position = _varint(message, position)
                if position + size > len(message):
                    raise ValueError("it is cut off")
                yield key >> 3, message[position : position + size]
                position += size
            case 5:
                position += 4
            case _:
                raise ValueError("it is no ONNX model")


def _varint(message: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return value, position

"""Voices of a few numbers, built like Piper's: written byte by byte, so that the tests need no voice file."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

CHANNELS = 4
FRAMES_PER_PHONEME = 3
SAMPLES_PER_FRAME = 4


@dataclass
class ModelWriter:
    """Builds an ONNX file, node by node."""

    _graph: bytes = b""
    _seed: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    def node(self, op: str, inputs: Sequence[str], output: str, **ints: Sequence[int] | int) -> str:
        """Adds a node, and gives the name of what it makes."""
        parts = [text(1, name) for name in inputs] + [text(2, output), text(4, op)]
        parts += [message(5, attribute(name, value)) for name, value in ints.items()]
        self._graph += message(1, b"".join(parts))
        return output

    def tensor(self, name: str, shape: Sequence[int], kind: int, content: bytes) -> str:
        dims = b"".join(number(1, size) for size in shape)
        self._graph += message(5, dims + number(2, kind) + text(8, name) + message(9, content))
        return name

    def weights(self, name: str, *shape: int) -> str:
        values = self._seed.normal(0, 1 / np.sqrt(np.prod(shape[1:])), shape).astype("<f4")
        return self.tensor(name, shape, 1, values.tobytes())

    def constant(self, name: str, *values: int) -> str:
        return self.tensor(name, (len(values),), 7, struct.pack(f"<{len(values)}q", *values))

    def conv(self, source: str, output: str, width: int, dilation: int = 1, **ints: int) -> str:
        weights = self.weights(f"{output}.weight", ints.get("out", CHANNELS), CHANNELS, width)
        pad = (width - 1) * dilation // 2
        return self.node(
            "Conv",
            [source, weights],
            output,
            kernel_shape=[width],
            dilations=[dilation],
            strides=[ints.get("stride", 1)],
            pads=[pad, pad],
        )

    def file(self, inputs: dict[str, int], output: str) -> bytes:
        """The model; `inputs` with the number of their type (1: float, 7: int64)."""
        ends = [message(11, value(name, kind)) for name, kind in inputs.items()]
        graph = self._graph + text(2, "voice") + b"".join(ends) + message(12, value(output, 1))
        return number(1, 8) + message(7, graph) + message(8, text(1, "") + number(2, 15))


def small_voice(
    *, speakers: bool = False, flow_op: str = "Tanh", decoder_stride: int = 1, turns_time_round: bool = False
) -> bytes:
    """A front with noise, a flow under a mask and a decoder. The input is [1, CHANNELS, phonemes]."""
    model = ModelWriter()
    model.node("Identity", ["input"], "phonemes")
    shown = model.node("Concat", ["phonemes"] * FRAMES_PER_PHONEME, "frames", axis=2)
    model.node("Abs", [shown], "size")
    model.node("ReduceMax", ["size"], "loudest", axes=[1], keepdims=1)
    nothing = model.tensor("nothing", (1,), 1, bytes(4))
    mask = model.node("Cast", [model.node("Greater", ["loudest", nothing], "audible")], "mask", to=1)
    noise = model.node("RandomNormalLike", [shown], "noise")
    scaled = model.node("Mul", [noise, "scales"], "scaled")
    entry = model.node("Add", [shown, scaled], "drawn")
    stream = entry
    for layer in range(2):
        made = model.node(flow_op, [model.conv(stream, f"flow{layer}", 5)], f"bent{layer}")
        stream = model.node("Mul", [model.node("Add", [made, stream], f"sum{layer}"), mask], f"kept{layer}")
    if turns_time_round:
        ends = ("from", -1), ("to", -(2**40)), ("along", 2), ("by", -1)
        stream = model.node("Slice", [stream, *(model.constant(*each) for each in ends)], "backwards")
    latent = model.node("Mul", [stream, mask], "latent")
    first = model.conv(latent, "conv_pre", 7)
    if speakers:
        first = model.node("Add", [first, model.conv("speaker", "cond", 1)], "conditioned")
    model.node("LeakyRelu", [first], "rectified")
    up = model.weights("up.weight", CHANNELS, CHANNELS, 2 * SAMPLES_PER_FRAME)
    pad = SAMPLES_PER_FRAME // 2
    model.node(
        "ConvTranspose",
        ["rectified", up],
        "up",
        kernel_shape=[2 * SAMPLES_PER_FRAME],
        strides=[SAMPLES_PER_FRAME],
        pads=[pad, pad],
    )
    block = model.node("Add", [model.conv("up", "block", 3, 5, stride=decoder_stride), "up"], "blocked")
    model.node("Tanh", [model.conv(block, "conv_post", 7, out=1)], "sound")
    model.node("Unsqueeze", ["sound", model.constant("axis", 1)], "output")
    inputs = {"input": 1, "scales": 1} | ({"speaker": 1} if speakers else {})
    return model.file(inputs, "output")


def attribute(name: str, content: Sequence[int] | int) -> bytes:
    if isinstance(content, int):
        return text(1, name) + number(3, content) + number(20, 2)
    return text(1, name) + b"".join(number(8, each) for each in content) + number(20, 7)


def value(name: str, kind: int) -> bytes:
    return text(1, name) + message(2, message(1, number(1, kind)))


def text(tag: int, content: str) -> bytes:
    return message(tag, content.encode())


def message(tag: int, content: bytes) -> bytes:
    return varint(tag << 3 | 2) + varint(len(content)) + content


def number(tag: int, content: int) -> bytes:
    return varint(tag << 3) + varint(content)


def varint(content: int) -> bytes:
    encoded = b""
    while content > 0x7F:
        encoded += bytes([content & 0x7F | 0x80])
        content >>= 7
    return encoded + bytes([content])

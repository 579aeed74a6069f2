"""Reads an ONNX file and cuts a VITS graph where it can be run window by window; writes small graphs.

Parsed by hand: the `onnx` package would be a large dependency that copies every weight. Field numbers are
those of onnx.proto. A voice has a front (text encoder and noise), a flow and a HiFi-GAN decoder; flow and
decoder are convolutions with a known receptive field (docs/adr/0015-streaming-synthesis.md).
"""

from __future__ import annotations

import math
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

_MODEL_GRAPH = 7
_GRAPH_NODE, _GRAPH_NAME, _GRAPH_WEIGHT, _GRAPH_INPUT, _GRAPH_OUTPUT = 1, 2, 5, 11, 12
_NODE_INPUT, _NODE_OUTPUT, _NODE_OP, _NODE_ATTRIBUTE = 1, 2, 4, 5
_MODEL_VERSION, _MODEL_OPSET, _OPSET_VERSION, _IR_VERSION, _OPSET = 1, 8, 2, 8, 13
_ATTRIBUTE_NAME, _ATTRIBUTE_FLOAT, _ATTRIBUTE_INTS, _ATTRIBUTE_KIND = 1, 2, 8, 20
_KIND_FLOAT, _KIND_INTS = 1, 7
_WEIGHT_SIZE, _WEIGHT_KIND, _WEIGHT_NAME, _WEIGHT_BYTES, _FLOAT = 1, 2, 8, 9, 1
_VALUE_NAME, _VALUE_TYPE = 1, 2
_FLOAT_TENSOR = b"\x0a\x02\x08\x01"  # TypeProto{tensor_type{elem_type: FLOAT}}, of any shape

_VARINT, _BYTES, _FIXED_32 = 0, 2, 5
_FIXED_BYTES = {1: 8, 5: 4}


Model: TypeAlias = list[memoryview]
"""The pieces of a model file."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node; `field` is its encoded form."""

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    field: memoryview
    _attributes: tuple[memoryview, ...] = ()

    def ints(self, name: str) -> tuple[int, ...]:
        """An integer-list attribute; empty if missing."""
        for attribute in self._attributes:
            if _name(attribute, _ATTRIBUTE_NAME) == name:
                values = (value for number, value, _ in _fields(attribute) if number == _ATTRIBUTE_INTS)
                return tuple(_ints(values))
        return ()


@dataclass(frozen=True, slots=True)
class Graph:
    """A model's nodes in topological order, and its weights, inputs and outputs by name."""

    nodes: tuple[Node, ...]
    weights: dict[str, memoryview]
    inputs: dict[str, memoryview]
    outputs: dict[str, memoryview]
    _head: tuple[memoryview, ...]

    @classmethod
    def parse(cls, model: memoryview) -> Graph:
        """Parse a file's bytes. Raises ValueError if they are not an ONNX model."""
        head: list[memoryview] = []
        graph = memoryview(b"")
        for number, value, field in _fields(model):
            if number == _MODEL_GRAPH and isinstance(value, memoryview):
                graph = value
            else:
                head.append(field)
        nodes: list[Node] = []
        named: dict[int, dict[str, memoryview]] = {_GRAPH_WEIGHT: {}, _GRAPH_INPUT: {}, _GRAPH_OUTPUT: {}}
        for number, value, field in _fields(graph):
            if not isinstance(value, memoryview):
                continue
            if number == _GRAPH_NODE:
                nodes.append(_node(value, field))
            elif number in named:
                named[number][_name(value, _WEIGHT_NAME if number == _GRAPH_WEIGHT else _VALUE_NAME)] = field
        return cls(tuple(nodes), named[_GRAPH_WEIGHT], named[_GRAPH_INPUT], named[_GRAPH_OUTPUT], tuple(head))

    def part(self, nodes: Sequence[Node], inputs: Iterable[str], outputs: Iterable[str]) -> Model:
        """A model of some of the nodes.

        Inputs and outputs that the whole model does not have are float tensors of any shape.
        """
        needed = {name for node in nodes for name in node.inputs}
        pieces = [node.field for node in nodes]
        pieces += [field for name, field in self.weights.items() if name in needed]
        pieces += [self.inputs.get(name) or tensor_value(_GRAPH_INPUT, name) for name in inputs]
        pieces += [self.outputs.get(name) or tensor_value(_GRAPH_OUTPUT, name) for name in outputs]
        pieces.append(encoded_field(_GRAPH_NAME, b"part"))
        size = sum(len(piece) for piece in pieces)
        return [*self._head, memoryview(_tag(_MODEL_GRAPH, size)), *pieces]


def _node(encoded: memoryview, field: memoryview) -> Node:
    parts: dict[int, list[memoryview]] = defaultdict(list)
    for number, value, _ in _fields(encoded):
        if isinstance(value, memoryview):
            parts[number].append(value)
    inputs, outputs, ops = (
        [str(name, "utf-8") for name in parts[key]] for key in (_NODE_INPUT, _NODE_OUTPUT, _NODE_OP)
    )
    return Node("".join(ops), tuple(inputs), tuple(outputs), field, tuple(parts[_NODE_ATTRIBUTE]))


def _name(encoded: memoryview, name_field: int) -> str:
    for number, value, _ in _fields(encoded):
        if number == name_field and isinstance(value, memoryview):
            return str(value, "utf-8")
    return ""


def _ints(values: Iterable[int | memoryview]) -> Iterator[int]:
    """A repeated integer field, packed or not."""
    for value in values:
        if isinstance(value, int):
            yield value
            continue
        position = 0
        while position < len(value):
            number, position = _varint(value, position)
            yield number


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview, memoryview]]:
    """A message's fields: number, value, encoded bytes. Raises ValueError."""
    position, size = 0, len(message)
    while position < size:
        start = position
        tag, position = _varint(message, position)
        kind = tag & 7
        value: int | memoryview
        if kind == _VARINT:
            value, position = _varint(message, position)
        else:
            if kind == _BYTES:
                length, position = _varint(message, position)
            elif kind in _FIXED_BYTES:
                length = _FIXED_BYTES[kind]
            else:
                raise ValueError(f"there is no protocol buffer field of kind {kind}")
            value = message[position : position + length]
            position += length
        if position > size:
            raise ValueError("the file ends inside a field")
        yield tag >> 3, value, message[start:position]


def _varint(message: memoryview, position: int) -> tuple[int, int]:
    # Fast path: nearly all are this short, and a voice has tens of thousands.
    if position < len(message) and message[position] < 0x80:
        return message[position], position + 1
    value = 0
    for length, byte in enumerate(message[position : position + 10]):
        value |= (byte & 0x7F) << 7 * length
        if byte < 0x80:
            return value, position + length + 1
    raise ValueError("the file ends inside a number")


def _tag(number: int, size: int) -> bytes:
    return encoded_varint(number << 3 | 2) + encoded_varint(size)


def encoded_varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def encoded_field(number: int, content: bytes) -> memoryview:
    return memoryview(_tag(number, len(content)) + content)


def tensor_value(number: int, name: str) -> memoryview:
    content = bytes(encoded_field(_VALUE_NAME, name.encode())) + bytes(encoded_field(_VALUE_TYPE, _FLOAT_TENSOR))
    return encoded_field(number, content)


class WrittenGraph:
    """A new model of float tensors, written node by node."""

    def __init__(self) -> None:
        self._fields: list[memoryview] = []
        self._names = 0

    def weight(self, values: NDArray[np.float32]) -> str:
        """Add a weight and return its name."""
        name, values = self._new_name(), np.ascontiguousarray(values, "<f4")
        content = [encoded_varint(_WEIGHT_SIZE << 3) + encoded_varint(size) for size in values.shape]
        content += [encoded_varint(_WEIGHT_KIND << 3) + encoded_varint(_FLOAT)]
        content += [bytes(encoded_field(_WEIGHT_NAME, name.encode()))]
        content += [bytes(encoded_field(_WEIGHT_BYTES, values.tobytes()))]
        self._fields.append(encoded_field(_GRAPH_WEIGHT, b"".join(content)))
        return name

    def node(self, op: str, inputs: Sequence[str], *, output: str = "", **attributes: float | tuple[int, ...]) -> str:
        """Add a node and return the name of its output."""
        output = output or self._new_name()
        content = [encoded_field(_NODE_INPUT, name.encode()) for name in inputs]
        content += [encoded_field(_NODE_OUTPUT, output.encode()), encoded_field(_NODE_OP, op.encode())]
        content += [
            encoded_field(_NODE_ATTRIBUTE, _encoded_attribute(name, value)) for name, value in attributes.items()
        ]
        self._fields.append(encoded_field(_GRAPH_NODE, b"".join(content)))
        return output

    def model(self, *, inputs: Sequence[str], outputs: Sequence[str]) -> Model:
        """The whole model."""
        pieces = [*self._fields, encoded_field(_GRAPH_NAME, b"written")]
        pieces += [tensor_value(_GRAPH_INPUT, name) for name in inputs]
        pieces += [tensor_value(_GRAPH_OUTPUT, name) for name in outputs]
        head = encoded_varint(_MODEL_VERSION << 3) + encoded_varint(_IR_VERSION)
        head += bytes(encoded_field(_MODEL_OPSET, encoded_varint(_OPSET_VERSION << 3) + encoded_varint(_OPSET)))
        return [memoryview(head + _tag(_MODEL_GRAPH, sum(len(piece) for piece in pieces))), *pieces]

    def _new_name(self) -> str:
        self._names += 1
        return f"t{self._names}"


def _encoded_attribute(name: str, value: float | tuple[int, ...]) -> bytes:
    content = bytes(encoded_field(_ATTRIBUTE_NAME, name.encode()))
    if isinstance(value, tuple):
        content += b"".join(encoded_varint(_ATTRIBUTE_INTS << 3) + encoded_varint(each) for each in value)
        kind = _KIND_INTS
    else:
        content += encoded_varint(_ATTRIBUTE_FLOAT << 3 | _FIXED_32) + struct.pack("<f", value)
        kind = _KIND_FLOAT
    return content + encoded_varint(_ATTRIBUTE_KIND << 3) + encoded_varint(kind)


_NOISE_OPS = ("RandomNormalLike", "RandomNormal")
_SCALING_OPS = ("Mul", "Add")
# Operations on single frames. Those with an axis are assumed to act on channels; edgevox/tts/vits.py verifies
# the result.
_FRAMEWISE_OPS = {
    *("Add", "Sub", "Mul", "Div", "Neg", "Exp", "Tanh", "Sigmoid", "Relu", "LeakyRelu", "Cast", "Identity"),
    *("Slice", "Split", "Concat", "Unsqueeze", "Squeeze", "Shape", "ConstantOfShape", "Expand"),
}


class GraphNotUnderstood(ValueError):
    """The graph does not have the structure of a voice that can be cut."""


@dataclass(frozen=True, slots=True)
class Window:
    """How a part runs window by window: on frames of `stream`, with the tensors `beside` it.

    The output of a frame depends on `reach_frames` frames to either side, and has `growth` values.
    """

    stream: str
    beside: tuple[str, ...]
    reach_frames: int
    growth: int


@dataclass(frozen=True, slots=True)
class VoiceParts:
    """A voice cut into models, each of which reads the output of the previous one.

    The front runs once per sentence; its outputs are the inputs of the others, the frames first.
    """

    front: Model
    front_outputs: tuple[str, ...]
    windowed: tuple[tuple[Model, Window], ...]


def cut_voice(graph: Graph) -> VoiceParts:
    """Cut a voice into parts. Raises GraphNotUnderstood."""
    if not graph.outputs:
        raise GraphNotUnderstood("the graph has no output")
    sound = next(iter(graph.outputs))
    latent = _decoder_entry(graph, sound)
    entry = _flow_entry(graph, latent)
    cuts = [(entry, latent), (latent, sound)] if entry else [(latent, sound)]
    spans = [_windowed(graph, *cut) for cut in cuts]
    inside = {name for nodes, _, _ in spans for node in nodes for name in node.outputs}
    outputs = dict.fromkeys([cuts[0][0], *(name for _, _, window in spans for name in window.beside)])
    if not inside.isdisjoint(outputs):
        raise GraphNotUnderstood("a part needs more than one result of the part before it")
    front = graph.part(_before(graph.nodes, outputs), graph.inputs, outputs)
    return VoiceParts(front, tuple(outputs), tuple((model, window) for _, model, window in spans))


def _windowed(graph: Graph, start: str, end: str) -> tuple[list[Node], Model, Window]:
    """The nodes from one tensor to another, and their model."""
    nodes = _before(_behind(graph.nodes, start), [end])
    needed = {name for node in nodes for name in node.inputs if name}
    foreign = needed - {name for node in nodes for name in node.outputs} - graph.weights.keys() - {start}
    constants = [node for node in graph.nodes if node.op == "Constant" and not foreign.isdisjoint(node.outputs)]
    beside = tuple(sorted(foreign - {name for node in constants for name in node.outputs}))
    reach, growth = _reach(nodes, start, end)
    model = graph.part((*constants, *nodes), (start, *beside), [end])
    return nodes, model, Window(start, beside, math.ceil(reach), growth)


def _decoder_entry(graph: Graph, sound: str) -> str:
    """The decoder's input: that of the convolution before the first upsampling one."""
    nodes = _before(graph.nodes, [sound])
    made_by = {name: node for node in nodes for name in node.outputs}
    first = next((node for node in nodes if node.op == "ConvTranspose"), None)
    if first is None:
        raise GraphNotUnderstood("there is no decoder that makes frames longer")
    found: list[Node] = []
    ahead = [first.inputs[0]]
    while ahead:
        node = made_by.get(ahead.pop())
        if node is None:
            continue
        if node.op != "Conv":
            if node.op not in _FRAMEWISE_OPS:
                raise GraphNotUnderstood(f"there is a {node.op} before the decoder's first step")
            ahead += node.inputs
        # The other convolution is the speaker's, one frame wide.
        elif math.prod(node.ints("kernel_shape")) > 1:
            found.append(node)
    if len(found) != 1:
        raise GraphNotUnderstood(f"{len(found)} convolutions may be the decoder's first one")
    return found[0].inputs[0]


def _flow_entry(graph: Graph, latent: str) -> str | None:
    """The flow's input: the last scaled and added noise. None without noise."""
    nodes = _before(graph.nodes, [latent])
    noise = [node for node in nodes if node.op in _NOISE_OPS]
    if not noise:
        return None
    name = noise[-1].outputs[0]
    while True:
        readers = [node for node in nodes if name in node.inputs]
        if len(readers) != 1 or readers[0].op not in _SCALING_OPS:
            return name
        name = readers[0].outputs[0]
        if name == latent:
            return None


def _reach(nodes: Sequence[Node], start: str, end: str) -> tuple[Fraction, int]:
    """The receptive field of `end` in frames to either side, and its number of values per frame."""
    reach, growth = {start: Fraction(0)}, {start: 1}
    for node in nodes:
        known = [name for name in node.inputs if name in reach]
        seen, rate = max(reach[name] for name in known), max(growth[name] for name in known)
        if node.op in ("Conv", "ConvTranspose"):
            width, stride = _extent(node)
            rate *= stride
            seen += Fraction(width, rate)
        elif node.op not in _FRAMEWISE_OPS:
            raise GraphNotUnderstood(f"there is a {node.op} among the convolutions")
        for name in node.outputs:
            reach[name], growth[name] = seen, rate
    return reach[end], growth[end]


def _extent(node: Node) -> tuple[int, int]:
    """The reach of a convolution to either side, and its stride."""
    kernel, pads = node.ints("kernel_shape"), node.ints("pads")
    if len(kernel) != 1 or len(pads) != 2:
        raise GraphNotUnderstood("a convolution is not along time alone")
    (stride,), (dilation,) = node.ints("strides") or (1,), node.ints("dilations") or (1,)
    width = (kernel[0] - 1) * dilation
    if node.op == "Conv":
        keeps_length = stride == 1 and sum(pads) == width
    else:
        keeps_length = width + 1 + sum(node.ints("output_padding")) - sum(pads) == stride
    if not keeps_length:
        raise GraphNotUnderstood("a convolution changes the number of frames")
    return max(width - pads[0], pads[0]), stride


def _before(nodes: Sequence[Node], names: Iterable[str]) -> list[Node]:
    """The nodes on which these tensors depend."""
    needed = set(names)
    found: list[Node] = []
    for node in reversed(nodes):
        if not needed.isdisjoint(node.outputs):
            needed.update(node.inputs)
            found.append(node)
    return found[::-1]


def _behind(nodes: Sequence[Node], name: str) -> list[Node]:
    """The nodes that depend on this tensor."""
    reached = {name}
    found: list[Node] = []
    for node in nodes:
        if not reached.isdisjoint(node.inputs):
            reached.update(node.outputs)
            found.append(node)
    return found

"""As much of the ONNX file format as cutting a graph into parts needs.

Read and written as bytes, by hand: the `onnx` package would be a large dependency that copies every weight to
find out the names of the nodes. Field numbers are those of onnx.proto.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_MODEL_GRAPH = 7
_GRAPH_NODE, _GRAPH_NAME, _GRAPH_WEIGHT, _GRAPH_INPUT, _GRAPH_OUTPUT = 1, 2, 5, 11, 12
_NODE_INPUT, _NODE_OUTPUT, _NODE_OP, _NODE_ATTRIBUTE = 1, 2, 4, 5
_ATTRIBUTE_NAME, _ATTRIBUTE_INTS = 1, 8
_WEIGHT_NAME = 8
_VALUE_NAME, _VALUE_TYPE = 1, 2
_FLOAT_TENSOR = b"\x0a\x02\x08\x01"  # TypeProto{tensor_type{elem_type: FLOAT}}, of any shape

_VARINT, _BYTES = 0, 2
_FIXED_BYTES = {1: 8, 5: 4}


@dataclass(frozen=True, slots=True)
class Node:
    """One operation; `field` is the node as it stands in its graph."""

    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    field: memoryview
    _attributes: tuple[memoryview, ...] = ()

    def ints(self, name: str) -> tuple[int, ...]:
        """An attribute that is a list of numbers; empty when there is none of that name."""
        for attribute in self._attributes:
            if _name(attribute, _ATTRIBUTE_NAME) == name:
                values = (value for number, value, _ in _fields(attribute) if number == _ATTRIBUTE_INTS)
                return tuple(_ints(values))
        return ()


@dataclass(frozen=True, slots=True)
class Graph:
    """A model's nodes, in an order in which they can be run, and everything else by its name."""

    nodes: tuple[Node, ...]
    weights: dict[str, memoryview]
    inputs: dict[str, memoryview]
    outputs: dict[str, memoryview]
    _head: tuple[memoryview, ...]

    @classmethod
    def parse(cls, model: memoryview) -> Graph:
        """Read a file's bytes. Raises ValueError when they are no ONNX model."""
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

    def part(self, nodes: Sequence[Node], inputs: Iterable[str], outputs: Iterable[str]) -> list[memoryview]:
        """A model of some of the nodes, as the pieces of its file.

        Inputs and outputs that the whole has not are taken for numbers with a fraction, of any shape.
        """
        needed = {name for node in nodes for name in node.inputs}
        pieces = [node.field for node in nodes]
        pieces += [field for name, field in self.weights.items() if name in needed]
        pieces += [self.inputs.get(name) or _value(_GRAPH_INPUT, name) for name in inputs]
        pieces += [self.outputs.get(name) or _value(_GRAPH_OUTPUT, name) for name in outputs]
        pieces.append(_field(_GRAPH_NAME, b"part"))
        size = sum(len(piece) for piece in pieces)
        return [*self._head, memoryview(_tag(_MODEL_GRAPH, size)), *pieces]


def _node(encoded: memoryview, field: memoryview) -> Node:
    inputs: list[str] = []
    outputs: list[str] = []
    attributes: list[memoryview] = []
    op = ""
    for number, value, _ in _fields(encoded):
        if not isinstance(value, memoryview):
            continue
        if number == _NODE_INPUT:
            inputs.append(str(value, "utf-8"))
        elif number == _NODE_OUTPUT:
            outputs.append(str(value, "utf-8"))
        elif number == _NODE_OP:
            op = str(value, "utf-8")
        elif number == _NODE_ATTRIBUTE:
            attributes.append(value)
    return Node(op, tuple(inputs), tuple(outputs), field, tuple(attributes))


def _name(encoded: memoryview, name_field: int) -> str:
    for number, value, _ in _fields(encoded):
        if number == name_field and isinstance(value, memoryview):
            return str(value, "utf-8")
    return ""


def _ints(values: Iterable[int | memoryview]) -> Iterator[int]:
    """A list of numbers, written one by one or packed."""
    for value in values:
        if isinstance(value, int):
            yield value
            continue
        position = 0
        while position < len(value):
            number, position = _varint(value, position)
            yield number


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview, memoryview]]:
    """A message's fields: number, value, and the bytes of both. Raises ValueError."""
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
    # Nearly all of them are this short, and there are tens of thousands in a voice.
    if position < len(message) and message[position] < 0x80:
        return message[position], position + 1
    value = 0
    for length, byte in enumerate(message[position : position + 10]):
        value |= (byte & 0x7F) << 7 * length
        if byte < 0x80:
            return value, position + length + 1
    raise ValueError("the file ends inside a number")


def _tag(number: int, size: int) -> bytes:
    return _encoded_varint(number << 3 | 2) + _encoded_varint(size)


def _encoded_varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _field(number: int, content: bytes) -> memoryview:
    return memoryview(_tag(number, len(content)) + content)


def _value(number: int, name: str) -> memoryview:
    content = bytes(_field(_VALUE_NAME, name.encode())) + bytes(_field(_VALUE_TYPE, _FLOAT_TENSOR))
    return _field(number, content)

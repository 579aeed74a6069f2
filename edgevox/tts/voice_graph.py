"""Where a Piper voice can be cut, found by its structure.

A voice is a VITS model in one graph: a front that reads the phonemes and draws the noise, a flow, and a
HiFi-GAN decoder that makes the samples. Flow and decoder are convolutions: what they make of a frame depends
on a few frames around it and on nothing else, so they can work through a sentence window by window
(docs/adr/0015-voices-in-three-parts.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from edgevox.tts.onnx_file import Graph, Node

_NOISE_OPS = ("RandomNormalLike", "RandomNormal")
_SCALING_OPS = ("Mul", "Add")
# Operations on each frame by itself. Those on an axis are meant for the channels; a voice is tried before it
# is trusted (edgevox/tts/vits.py).
_FRAMEWISE_OPS = {
    *("Add", "Sub", "Mul", "Div", "Neg", "Exp", "Tanh", "Sigmoid", "Relu", "LeakyRelu", "Cast", "Identity"),
    *("Slice", "Split", "Concat", "Unsqueeze", "Squeeze", "Shape", "ConstantOfShape", "Expand"),
}


class GraphNotUnderstood(ValueError):
    """The graph is not built like a voice that can be cut."""


@dataclass(frozen=True, slots=True)
class Front:
    """The part that is run once for a sentence; `outputs` is what the others need, the frames first."""

    model: list[memoryview]
    outputs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Window:
    """How a part is run window by window: on frames of `stream`, with the tensors `beside` it.

    What it makes of a frame depends on `reach_frames` frames to either side, and is `growth` values long.
    """

    stream: str
    beside: tuple[str, ...]
    reach_frames: int
    growth: int


@dataclass(frozen=True, slots=True)
class WindowedPart:
    """A part that can be run window by window."""

    model: list[memoryview]
    window: Window


@dataclass(frozen=True, slots=True)
class VoiceParts:
    """A voice, cut. Each windowed part reads what the one before it makes."""

    front: Front
    windowed: tuple[WindowedPart, ...]


def cut_voice(graph: Graph) -> VoiceParts:
    """The parts of a voice. Raises GraphNotUnderstood."""
    if not graph.outputs:
        raise GraphNotUnderstood("the graph has no output")
    sound = next(iter(graph.outputs))
    latent = _decoder_entry(graph, sound)
    entry = _flow_entry(graph, latent)
    cuts = [(entry, latent), (latent, sound)] if entry else [(latent, sound)]
    spans = [_Span.between(graph, *cut) for cut in cuts]
    inside = {name for span in spans for node in span.nodes for name in node.outputs}
    outputs = [cuts[0][0]]
    for span in spans:
        outputs += [name for name in span.beside if name not in outputs]
    if inside & set(outputs):
        raise GraphNotUnderstood("a part needs more than one result of the part before it")
    nodes = _before(graph.nodes, outputs)
    front = Front(graph.part(nodes, graph.inputs, outputs), tuple(outputs))
    return VoiceParts(front, tuple(span.part(graph) for span in spans))


@dataclass(frozen=True, slots=True)
class _Span:
    """The nodes from one tensor to another; `beside` is what else they need."""

    start: str
    end: str
    nodes: tuple[Node, ...]
    constants: tuple[Node, ...]
    beside: tuple[str, ...]

    @classmethod
    def between(cls, graph: Graph, start: str, end: str) -> _Span:
        nodes = _before(_behind(graph.nodes, start), [end])
        needed = {name for node in nodes for name in node.inputs if name}
        made = {name for node in nodes for name in node.outputs}
        foreign = needed - made - graph.weights.keys() - {start}
        constants = tuple(
            node for node in graph.nodes if node.op == "Constant" and not foreign.isdisjoint(node.outputs)
        )
        foreign -= {name for node in constants for name in node.outputs}
        return cls(start, end, tuple(nodes), constants, tuple(sorted(foreign)))

    def part(self, graph: Graph) -> WindowedPart:
        reach, growth = _reach(self.nodes, self.start, self.end)
        model = graph.part((*self.constants, *self.nodes), (self.start, *self.beside), [self.end])
        return WindowedPart(model, Window(self.start, self.beside, math.ceil(reach), growth))


def _decoder_entry(graph: Graph, sound: str) -> str:
    """What the decoder reads: the input of the convolution before the first one that makes frames longer."""
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
        # The other convolution there is the speaker's, which is as wide as one frame.
        elif math.prod(node.ints("kernel_shape")) > 1:
            found.append(node)
    if len(found) != 1:
        raise GraphNotUnderstood(f"{len(found)} convolutions may be the decoder's first one")
    return found[0].inputs[0]


def _flow_entry(graph: Graph, latent: str) -> str | None:
    """What the flow reads: the last noise that is drawn, scaled and added. None when there is no noise."""
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
    """How many frames to either side `end` depends on, and how many values it has for each."""
    reach, growth = {start: Fraction(0)}, {start: 1}
    for node in nodes:
        known = [name for name in node.inputs if name in reach]
        seen, rate = max(reach[name] for name in known), max(growth[name] for name in known)
        match node.op:
            case "Conv":
                left, right, _ = _extent(node)
                seen += Fraction(max(left, right), rate)
            case "ConvTranspose":
                left, right, stride = _extent(node)
                seen += Fraction(max(left, right), stride * rate)
                rate *= stride
            case op if op not in _FRAMEWISE_OPS:
                raise GraphNotUnderstood(f"there is a {op} among the convolutions")
        for name in node.outputs:
            reach[name], growth[name] = seen, rate
    return reach[end], growth[end]


def _extent(node: Node) -> tuple[int, int, int]:
    """Over how many values a convolution reaches to the left and to the right, and its stride."""
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
    return width - pads[0], pads[0], stride


def _before(nodes: Sequence[Node], names: Iterable[str]) -> list[Node]:
    """Those nodes that are needed for these tensors."""
    needed = set(names)
    found: list[Node] = []
    for node in reversed(nodes):
        if not needed.isdisjoint(node.outputs):
            needed.update(node.inputs)
            found.append(node)
    return found[::-1]


def _behind(nodes: Sequence[Node], name: str) -> list[Node]:
    """Those nodes that depend on this tensor."""
    reached = {name}
    found: list[Node] = []
    for node in nodes:
        if not reached.isdisjoint(node.inputs):
            reached.update(node.outputs)
            found.append(node)
    return found

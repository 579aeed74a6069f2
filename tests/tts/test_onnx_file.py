"""Reading an ONNX file as bytes, and writing parts of it."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from edgevox.tts.onnx_graph import Graph
from tests.tts.small_voice import attribute, message, small_voice, text, varint

VOICE = small_voice()


def test_nodes_weights_and_ends_are_found_by_name() -> None:
    graph = Graph.parse(memoryview(VOICE))
    assert [node.op for node in graph.nodes[:2]] == ["Identity", "Concat"]
    assert graph.nodes[0].inputs == ("input",)
    assert graph.nodes[0].outputs == ("phonemes",)
    assert "conv_pre.weight" in graph.weights
    assert [*graph.inputs] == ["input", "scales"]
    assert [*graph.outputs] == ["output"]


def test_attributes_are_read_packed_or_one_by_one() -> None:
    packed = text(1, "pads") + message(8, varint(3) + varint(300))
    nodes = [message(1, text(4, "Conv") + message(5, each)) for each in (attribute("pads", [3, 300]), packed)]
    for node in Graph.parse(memoryview(message(7, b"".join(nodes)))).nodes:
        assert node.ints("pads") == (3, 300)
        assert node.ints("strides") == ()


def test_a_part_holds_its_nodes_and_the_weights_they_need() -> None:
    graph = Graph.parse(memoryview(VOICE))
    nodes = [node for node in graph.nodes if node.outputs == ("conv_pre",)]
    part = Graph.parse(memoryview(b"".join(graph.part(nodes, ["latent"], ["conv_pre"]))))
    assert [node.field for node in part.nodes] == [node.field for node in nodes]
    assert [*part.weights] == ["conv_pre.weight"]
    assert [*part.inputs] == ["latent"]
    assert [*part.outputs] == ["conv_pre"]


@pytest.mark.parametrize("length", [1, 3, 200, len(VOICE) - 1])
def test_a_file_that_was_cut_short_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match="ends inside"):
        Graph.parse(memoryview(VOICE[:length]))


@given(st.binary(max_size=300))
def test_bytes_that_are_no_model_are_a_value_error_at_most(content: bytes) -> None:
    with suppress(ValueError):
        Graph.parse(memoryview(message(7, content)))

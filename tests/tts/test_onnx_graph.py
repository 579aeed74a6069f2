"""Where voices are cut, and which are left whole."""

from __future__ import annotations

import pytest

from edgevox.tts.onnx_graph import Graph, GraphNotUnderstood, Window, cut_voice
from tests.tts.small_voice import SAMPLES_PER_FRAME, ModelWriter, small_voice


def graph(voice: bytes) -> Graph:
    return Graph.parse(memoryview(voice))


def test_a_voice_is_cut_before_its_flow_and_before_its_decoder() -> None:
    parts = cut_voice(graph(small_voice()))
    assert parts.front_outputs == ("drawn", "mask")
    assert [window for _, window in parts.windowed] == [
        Window("drawn", ("mask",), reach_frames=4, growth=1),
        Window("latent", (), reach_frames=7, growth=SAMPLES_PER_FRAME),
    ]


def test_the_speaker_goes_beside_the_frames() -> None:
    parts = cut_voice(graph(small_voice(speakers=True)))
    assert parts.front_outputs == ("drawn", "mask", "cond")
    assert parts.windowed[1][1].beside == ("cond",)


def test_no_weight_is_in_two_parts() -> None:
    parts = cut_voice(graph(small_voice()))
    models = [parts.front, *(model for model, _ in parts.windowed)]
    weights = [name for model in models for name in graph(b"".join(model)).weights]
    names = [name for name in weights if name.endswith(".weight")]
    assert sorted(names) == sorted({*names})
    assert len(names) == 6


@pytest.mark.parametrize(
    ("voice", "reason"),
    [
        (small_voice(flow_op="Softmax"), "Softmax"),
        (small_voice(decoder_stride=2), "number of frames"),
        (ModelWriter().file({"input": 1}, "input"), "no decoder"),
        (b"", "no output"),
    ],
)
def test_a_graph_that_is_built_otherwise_is_not_understood(voice: bytes, reason: str) -> None:
    with pytest.raises(GraphNotUnderstood, match=reason):
        cut_voice(graph(voice))

"""Speech embeddings: streaming equals whole recordings, and the file of the network is checked."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

from edgevox.audio.wake_features import (
    DIMENSIONS,
    STEP_SAMPLES,
    WINDOW_SAMPLES,
    EmbeddingNetwork,
    EmbeddingStream,
    Floats,
    embed,
)
from edgevox.core.errors import ModelError
from tests.audio.sounds import noise

# Of speech_embedding: the channels of its convolutions, which are wide in time and in frequency in turn.
_CHANNELS = [1, *[24] * 3, *[48] * 4, *[72] * 4, *[96] * 9]


def network() -> EmbeddingNetwork:
    """The layers of speech_embedding, with weights by chance."""
    random, layers = np.random.default_rng(3), []
    for number, (inputs, outputs) in enumerate(itertools.pairwise(_CHANNELS)):
        shape = (3, 3) if not number else (3, 1) if number % 2 == 0 or number == 19 else (1, 3)
        weights = random.standard_normal((*shape, inputs, outputs)) / np.sqrt(inputs * shape[0] * shape[1])
        layers.append((weights.astype(np.float32), np.zeros(outputs, np.float32)))
    return EmbeddingNetwork(tuple(layers))


@pytest.mark.parametrize("sizes", [(320,), (1, 4000, 159)])
def test_any_chunking_of_the_audio_gives_the_same_embeddings(sizes: tuple[int, ...]) -> None:
    net, samples = network(), noise(2.5, 0.1)
    whole, stream, start = embed(net, samples), EmbeddingStream(net), 0
    parts: list[Floats] = []
    while start < len(samples):
        size = sizes[len(parts) % len(sizes)]
        parts.append(stream.feed(samples[start : start + size]))
        start += size
    np.testing.assert_allclose(np.concatenate(parts), whole, rtol=1e-3, atol=1e-3)
    assert whole.shape == (1 + (len(samples) - WINDOW_SAMPLES) // STEP_SAMPLES, DIMENSIONS)


def test_an_embedding_depends_on_its_window_alone() -> None:
    net, samples = network(), noise(1.5, 0.1)
    later = samples[5 * STEP_SAMPLES :]
    np.testing.assert_allclose(embed(net, samples)[5:], embed(net, later), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("content", [b"", b"no model at all", b"\x3a\x7f"])
def test_a_file_that_is_not_the_network_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "embedding_model.onnx"
    path.write_bytes(content)
    with pytest.raises(ModelError, match=r"embedding_model\.onnx cannot be read"):
        EmbeddingNetwork.read(path)

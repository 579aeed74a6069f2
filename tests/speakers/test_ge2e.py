"""The voice encoder with its real weights."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest

from edgevox.core.errors import ModelError
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.models import ModelStore
from edgevox.speakers.ge2e import DIMENSIONS, MODEL_ID, Ge2eEngine

# By torch.nn.LSTM with the same weights and features.
EXPECTED = {168: 0.22, 122: 0.24, 246: 0.32}


def test_an_utterance_has_the_embedding_of_the_published_encoder(store: ModelStore) -> None:
    store.ensure([MODEL_ID], lambda _progress: None)
    engine = Ge2eEngine(store.path(MODEL_ID))
    engine.load()
    at_s = np.arange(2 * SAMPLE_RATE_HZ) / SAMPLE_RATE_HZ
    tones = sum(np.sin(2 * np.pi * 140 * n * at_s) / n for n in range(1, 20)) * (1 + np.sin(2 * np.pi * 4 * at_s))
    audio = Audio((0.05 * tones).astype(np.float32), SAMPLE_RATE_HZ)
    (embedding,) = engine.run(audio, CancelFlag())
    assert embedding.vector.shape == (DIMENSIONS,)
    assert np.linalg.norm(embedding.vector) == pytest.approx(1, abs=1e-4)
    loudest = np.argsort(embedding.vector)[-3:]
    assert {int(index): round(float(embedding.vector[index]), 2) for index in loudest} == EXPECTED
    (short,) = engine.run(Audio(audio.samples[:4000], SAMPLE_RATE_HZ), CancelFlag())
    assert not len(short.vector)


def test_a_checkpoint_that_holds_code_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pretrained.pt"
    path.write_bytes(pickle.dumps(print))
    with pytest.raises(ModelError):
        Ge2eEngine(path).load()

"""Speech embeddings of people who say no wake word: 8-bit numbers in negatives.npz, which script/wake_negatives makes.

Synthesised speech alone teaches a classifier too little of how people sound (docs/adr/0059-trained-wake-words.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from edgevox.audio.wake_features import Floats

FILE = Path(__file__).with_name("negatives.npz")
_MOST = 127


def save(recordings: Sequence[Floats]) -> None:
    joined = np.concatenate(recordings)
    scale = np.abs(joined).max(axis=0) / _MOST
    np.savez_compressed(
        FILE,
        embeddings=np.round(joined / scale).astype(np.int8),
        scale=scale.astype(np.float32),
        lengths=np.array([len(recording) for recording in recordings], np.int32),
    )


def load() -> list[Floats]:
    """The embeddings of each recording."""
    with np.load(FILE, allow_pickle=False) as file:
        joined, lengths = file["embeddings"] * file["scale"], file["lengths"]
    return np.split(joined, np.cumsum(lengths)[:-1])

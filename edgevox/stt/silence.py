"""What the encoder makes of silence: as much work as a full window, so it is kept beside the model."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

import numpy as np
from ctranslate2 import StorageView
from ctranslate2.models import Whisper
from numpy.typing import NDArray

from edgevox.stt.ladder import FULL_WINDOW_S

FRAMES_PER_S = 100
POSITIONS_PER_S = 50
# Features span 8 powers of ten below the loudest, mapped by (x + 4) / 4. Every utterance is shifted to the
# same loudest value: then silence has one value too, and its encoding can be computed once.
LOUDEST = (1.5 + 4.0) / 4.0
SILENCE = LOUDEST - 8.0 / 4.0

_KEPT = "silence-"


def encoded_silence(model: Whisper, folder: Path) -> NDArray[np.float32]:
    """A window of silence, encoded: as it lies in the model's folder, else computed and put there."""
    kept = folder / f"{_KEPT}{_digest(folder / 'model.bin')}.npy"
    if (found := _read(kept)) is not None:
        return found
    frames = np.full((1, model.n_mels, FULL_WINDOW_S * FRAMES_PER_S), SILENCE, np.float32)
    encoded = np.array(model.encode(StorageView.from_array(frames)))
    # Without room for it, it is computed at every start.
    with suppress(OSError):
        _keep(encoded, kept)
    return encoded


def _read(kept: Path) -> NDArray[np.float32] | None:
    try:
        found = np.load(kept, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    is_whole = found.ndim == 3 and found.shape[:2] == (1, FULL_WINDOW_S * POSITIONS_PER_S)
    return found if is_whole and found.dtype == np.float32 and np.isfinite(found).all() else None


def _keep(encoded: NDArray[np.float32], kept: Path) -> None:
    for old in kept.parent.glob(f"{_KEPT}*"):
        old.unlink()
    written = kept.with_suffix(f".{os.getpid()}")
    try:
        with written.open("wb") as file:
            np.save(file, encoded)
        written.rename(kept)
    finally:
        written.unlink(missing_ok=True)


def _digest(model: Path) -> str:
    """Another one for a model that was fetched again."""
    found = model.stat()
    return hashlib.sha256(f"{found.st_size} {found.st_mtime_ns}".encode()).hexdigest()[:12]

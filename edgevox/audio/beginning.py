"""The beginning of a reply, heard once more: by then a canceller knows the room, and takes less away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.levels import dbfs
from edgevox.audio.webrtc import LATENCY_SAMPLES, FrameCanceller, cancelled
from edgevox.types import WHISPER_RATE_HZ

HeardAgain: TypeAlias = tuple[NDArray[np.float32], NDArray[np.float32]]
"""A block without the echo, and as it was."""

# As long as a canceller takes more of a person away than of an echo, and a short command beside it.
_SECONDS = 2.0
# What is left of an echo alone in the quieter moments: between words, or where it is taken away well.
_USUAL_SHARE = 20
_LEAST_USUAL_DBFS, _MOST_USUAL_DBFS = -60.0, -45.0


class Beginning:
    """What was played and heard since a reply began, up to a length. `new_frames` makes a canceller.

    A spoilt one is never whole: sound was lost, and what is heard for a while does not fit what is played.
    """

    def __init__(self, new_frames: Callable[[], FrameCanceller], *, is_spoilt: bool = False) -> None:
        self._new_frames = new_frames
        self._blocks: list[tuple[NDArray[np.float32], NDArray[np.float32]]] = []
        self._samples = 0
        self._is_spoilt = is_spoilt

    @property
    def has_begun(self) -> bool:
        return bool(self._blocks)

    @property
    def is_whole(self) -> bool:
        return self._samples >= _SECONDS * WHISPER_RATE_HZ and not self._is_spoilt

    def add(self, played: NDArray[np.float32], heard: NDArray[np.float32]) -> None:
        """The next block, unless it is whole."""
        if not self.is_whole and not self._is_spoilt:
            self._blocks.append((played, heard))
            self._samples += len(heard)

    def heard_again(self) -> list[HeardAgain]:
        """Every block: about 0.15 s of work."""
        frames = self._new_frames()
        for _ in range(2):  # to learn, and then to hear
            cleaned = [cancelled(frames, played, heard) for played, heard in self._blocks]
        late = np.concatenate([np.zeros(LATENCY_SAMPLES, np.float32), *(heard for _, heard in self._blocks)])
        ends = np.cumsum([len(block) for block in cleaned])
        return [(block, late[end - len(block) : end]) for block, end in zip(cleaned, ends, strict=True)]


def usual_left_dbfs(cleaned: Sequence[NDArray[np.float32]]) -> float:
    """What is left of an echo alone, as far as that can be told from blocks in which somebody may speak."""
    usual = float(np.percentile([dbfs(block) for block in cleaned], _USUAL_SHARE))
    return min(_MOST_USUAL_DBFS, max(_LEAST_USUAL_DBFS, usual))

"""Long sound in pieces that end where it is quiet: between two of them, the person in the room is heard."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from edgevox.types import Audio

MAX_PIECE_S = 28.0
"""Whisper hears half a minute at once, and cannot be stopped inside it."""

_SEARCHED_S = 6.0
_BLOCK_S = 0.05


def pieces(audio: Audio, max_s: float = MAX_PIECE_S) -> Iterator[Audio]:
    """The sound in order, nothing of it lost, in pieces of at most `max_s`."""
    rate, samples = audio.rate_hz, audio.samples
    longest, searched = int(max_s * rate), int(min(_SEARCHED_S, max_s / 2) * rate)
    start = 0
    while len(samples) - start > longest:
        cut = (
            start
            + longest
            - searched
            + _quietest(samples[start + longest - searched : start + longest], rate)
        )
        yield Audio(samples[start:cut], rate)
        start = cut
    yield Audio(samples[start:], rate)


def _quietest(samples: np.typing.NDArray[np.float32], rate_hz: int) -> int:
    """The middle of the quietest block."""
    block = max(1, int(_BLOCK_S * rate_hz))
    blocks = samples[: len(samples) // block * block].reshape(-1, block)
    return int(np.argmin(np.square(blocks).sum(axis=1))) * block + block // 2

"""How long the chunks of a sentence are: a short one first, which is heard soon, then longer ones.

Each chunk must have been made when the one before it has been played, or there is a hole in a word.
"""

from __future__ import annotations

from collections.abc import Iterator

FIRST_CHUNK_S = 0.35
# Each one more costs the frames that two neighbours both need.
MOST_CHUNKS = 4
_FIRST_GROWTH = 2.0
_MOST_GROWTH = 4.0
# How much of a chunk's playing time the next one may take: the machine can get busier meanwhile.
_RESERVE = 0.6


class Pace:
    """How fast sound is made here, as the last piece of speech showed."""

    def __init__(self) -> None:
        self.growth = _FIRST_GROWTH
        """How many times as long as the last chunk the next one may be; less than 1 on a slow machine."""

    def note(self, work_s: float, sound_s: float) -> None:
        """Sound of `sound_s` took `work_s` to make."""
        self.growth = min(_MOST_GROWTH, _RESERVE * sound_s / work_s)


def chunk_ends(frames: int, frames_per_s: float, growth: float) -> Iterator[int]:
    """Where each chunk of a sentence ends; the last one ends at `frames`."""
    shortest = FIRST_CHUNK_S * frames_per_s
    size = max(shortest, frames / sum(growth**number for number in range(MOST_CHUNKS)))
    end = 0.0
    # What would be left for a chunk of its own may be too little for one.
    while frames - end > size + shortest / 2:
        end += size
        yield round(end)
        size = max(shortest, size * growth)
    if frames:
        yield frames

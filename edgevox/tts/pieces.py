"""Texts and phonemes in pieces that one run can synthesize, shared by the engines."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

# The time and the memory of a run grow with its audio: this much is about 12 s at normal speed.
MAX_PIECE_PHONEMES = 240
MAX_PIECE_CHARS = 400

SLOWEST, FASTEST = 0.25, 4.0
# Synthesized when a voice is loaded, to measure its level.
PROBE = "Good morning."
# The level to which every voice is scaled; the peaks of speech are about seven times this.
_LEVEL = 0.1
_MOST_GAIN = 10.0

SliceT = TypeVar("SliceT", bound=Sequence[str])


def printable(text: str) -> str:
    """The text without characters that engines reject (NUL, lone surrogates) or read as phonemes ([[...]])."""
    return "".join(" " if char in "[]" or unicodedata.category(char) in {"Cc", "Cs"} else char for char in text)


def text_pieces(text: str) -> Iterator[str]:
    """The printable text in pieces that hold a letter or a digit."""
    for piece in pieces(printable(text), MAX_PIECE_CHARS):
        if any(char.isalnum() for char in piece):
            yield piece


def pieces(whole: SliceT, longest: int) -> Iterator[SliceT]:
    """Slices of at most `longest`, cut after a space if possible."""
    start = 0
    while len(whole) - start > longest:
        end = start + longest
        while end > start and whole[end - 1] != " ":
            end -= 1
        if end == start:
            end = start + longest
        yield whole[start:end]  # type: ignore[misc]  # a slice of a str or a list is of its type
        start = end
    yield whole[start:]  # type: ignore[misc]


def clamped_speed(speed: float) -> float:
    return min(max(speed, SLOWEST), FASTEST)


def level_gain(probe: NDArray[np.float32]) -> float:
    """The gain that brings a voice to the common level, from its audio of PROBE."""
    return _LEVEL / max(float(np.sqrt(np.mean(probe**2))), _LEVEL / _MOST_GAIN)

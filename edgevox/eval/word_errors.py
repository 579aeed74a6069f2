"""How many words were heard wrong."""

from __future__ import annotations

from collections.abc import Sequence

from edgevox.stt.spoken_words import words_of

__all__ = ["word_errors", "words_of"]


def word_errors(said: Sequence[str], heard: Sequence[str]) -> int:
    """Count the words to insert, delete or replace to get from one to the other."""
    row = list(range(len(heard) + 1))
    for i, expected in enumerate(said, start=1):
        diagonal, row[0] = row[0], i
        for j, got in enumerate(heard, start=1):
            best = min(row[j] + 1, row[j - 1] + 1, diagonal + (expected != got))
            diagonal, row[j] = row[j], best
    return row[-1]

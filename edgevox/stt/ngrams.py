"""Word n-gram language models, read from one small file.

An n-gram is found by the CRC-32 of its words, so the file holds no words: six bytes for each n-gram. About 1
of 25,000 lookups finds an n-gram that is not there. `training/rescoring` writes the file.
"""

from __future__ import annotations

import math
import zlib
from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edgevox.errors import ModelError

START, END, UNKNOWN = "<s>", "</s>", "<unk>"

# Natural logarithms are kept in steps of this size, from 0 down to -20.4.
LOG_STEP = 0.08
_HINT = "the file belongs to the installation: install EdgeVox again"


@dataclass(frozen=True, slots=True)
class NgramTable:
    """The n-grams of one order: sorted keys, log probabilities, and log backoff weights as a context."""

    keys: array[int]
    probabilities: bytes
    backoffs: bytes

    def find(self, key: int) -> int | None:
        """Where the n-gram with this key stands."""
        place = bisect_left(self.keys, key)
        return place if place < len(self.keys) and self.keys[place] == key else None


@dataclass(frozen=True, slots=True)
class NgramModel:
    """A backoff model; `tables` holds the single words first."""

    tables: tuple[NgramTable, ...]

    @property
    def order(self) -> int:
        return len(self.tables)

    def knows(self, word: str) -> bool:
        """Whether it has seen this word."""
        return self.tables[0].find(ngram_key((word,))) is not None

    def log_probability(self, words: Sequence[str], *, order: int | None = None) -> float:
        """The natural logarithm of the probability of the sentence, its end included.

        `order` is how many words are looked at together, by default all that it can; 1 forgets their order.
        """
        order = self.order if order is None else order
        known = [word if self.knows(word) else UNKNOWN for word in words]
        sentence = [START, *known, END]
        return math.fsum(
            self.log_next(sentence[max(0, place + 1 - order) : place], sentence[place])
            for place in range(1, len(sentence))
        )

    def log_next(self, context: Sequence[str], word: str) -> float:
        """The natural logarithm of the probability of a word behind others, fewer than the order."""
        backoff = 0.0
        for start in range(len(context) + 1):
            shorter = (*context[start:], word)
            table = self.tables[len(shorter) - 1]
            if (place := table.find(ngram_key(shorter))) is not None:
                return backoff - LOG_STEP * table.probabilities[place]
            if start < len(context):
                table = self.tables[len(context) - start - 1]
                if (place := table.find(ngram_key(context[start:]))) is not None:
                    backoff -= LOG_STEP * table.backoffs[place]
        raise AssertionError("every model holds the unknown word")


def ngram_key(words: Sequence[str]) -> int:
    return zlib.crc32(" ".join(words).encode())


def read_ngrams(path: Path) -> dict[str, NgramModel]:
    """The models in a file, by name. Raises ModelError."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return _models({name: arrays[name] for name in arrays.files})
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(f"the language model {path.name} cannot be read: {error}", hint=_HINT) from error


def write_ngrams(path: Path, models: Mapping[str, NgramModel]) -> None:
    """Keep models in a file that `read_ngrams` reads."""
    arrays: dict[str, NDArray[np.uint32] | NDArray[np.uint8]] = {}
    for name, model in models.items():
        for order, table in enumerate(model.tables, start=1):
            arrays[f"{name}.{order}.keys"] = np.array(table.keys, dtype=np.uint32)
            arrays[f"{name}.{order}.probabilities"] = np.frombuffer(table.probabilities, dtype=np.uint8)
            arrays[f"{name}.{order}.backoffs"] = np.frombuffer(table.backoffs, dtype=np.uint8)
    with path.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def _models(arrays: Mapping[str, NDArray[np.generic]]) -> dict[str, NgramModel]:
    names = dict.fromkeys(key.split(".")[0] for key in arrays)
    models: dict[str, NgramModel] = {}
    for name in names:
        tables: list[NgramTable] = []
        while (prefix := f"{name}.{len(tables) + 1}") + ".keys" in arrays:
            keys = array("I", arrays[f"{prefix}.keys"].astype(np.uint32).tobytes())
            probabilities = arrays[f"{prefix}.probabilities"].tobytes()
            backoffs = arrays[f"{prefix}.backoffs"].tobytes()
            if not len(keys) == len(probabilities) == len(backoffs):
                raise ValueError("its tables differ in length")
            tables.append(NgramTable(keys, probabilities, backoffs))
        models[name] = NgramModel(tuple(tables))
    return models

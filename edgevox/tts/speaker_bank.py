"""Short phrases in the voices of many speakers, to train wake words with: Kokoro-82M's styles, mixed, and hibari.

English only. Loads onnxruntime on construction: for a process that trains, not for the assistant.
"""

from __future__ import annotations

import gzip
import json
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edgevox.core.errors import ModelError
from edgevox.core.types import Audio
from edgevox.tts.kokoro import _RATE_HZ, _EnglishPhonemes, _HibariVoice, _KokoroVoice

MODEL_ID = "kokoro-speakers"


class SpeakerBank:
    """The speakers of the style files in `kokoro`, a folder, and the one of `hibari`, a file. Raises ModelError."""

    def __init__(self, kokoro: Path, hibari: Path, *, threads: int) -> None:
        from hibari import g2p

        from edgevox.tts.vits import ONNX_ERRORS, StopSwitch

        styles, (network, *_) = sorted(kokoro.glob("*.bin")), sorted(kokoro.glob("*.onnx"))
        unusable: tuple[type[Exception], ...] = (*ONNX_ERRORS, OSError, ValueError, LookupError)
        try:
            self._kokoro = _KokoroVoice(network, styles[0], threads, StopSwitch())
            self._styles = [np.fromfile(path, np.float32).reshape(-1, 1, 256) for path in styles]
            self._hibari = _HibariVoice(hibari, threads, StopSwitch())
            self._ids: dict[str, int] = json.loads(Path(g2p.ASSETS, "vocab.json").read_text(encoding="utf-8"))
        except unusable as error:
            raise ModelError(
                f"the voices in {kokoro} cannot be used: {error}",
                hint=f"edgevox models pull {MODEL_ID} downloads them again",
            ) from error
        self._lexicon = Path(g2p.ASSETS, "lexicon_us_gold.json.gz")
        self._phonemes = _EnglishPhonemes(g2p.G2P())

    def __len__(self) -> int:
        return len(self._styles)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of hibari's lexicon."""
        with gzip.open(self._lexicon) as file:
            return tuple(word for word in json.load(file) if word.isascii() and word.isalpha() and word.islower())

    def phonemes(self, text: str) -> str:
        return self._phonemes.of(text)

    def speak(self, phonemes: str, first: int, second: int, share: float, speed: float) -> Audio:
        """Synthesise phonemes by two speakers' mixed style, `share` of it the second's."""
        ids = self._encoded(phonemes)
        row = len(ids) - 2
        style = (1 - share) * self._styles[first][row] + share * self._styles[second][row]
        return Audio(self._kokoro.styled(ids, style, speed), _RATE_HZ)

    def speak_fast(self, phonemes: str, pitch: float, speed: float) -> Audio:
        """Synthesise phonemes by hibari's one speaker, at so many times the pitch: 30 times faster."""
        return Audio(self._hibari.sound(self._encoded(phonemes), speed, pitch), _RATE_HZ)

    def _encoded(self, phonemes: str) -> list[int]:
        return [0, *(self._ids[phoneme] for phoneme in phonemes if phoneme in self._ids), 0]


def edited_phonemes(phonemes: str, edits: int, random: np.random.Generator, known: NDArray[np.str_]) -> str:
    """The phonemes with so many of them replaced or left out: what sounds like the phrase and is not."""
    made = list(phonemes)
    places = [place for place, phoneme in enumerate(made) if phoneme.isalpha()]
    for place in random.choice(places, min(edits, len(places)), replace=False):
        made[place] = "" if random.random() < 0.25 else str(random.choice(known))
    return "".join(made)

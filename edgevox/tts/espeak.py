"""Phonemes of espeak-ng, which is GPL and part of Piper's package.

The voices of Piper, sano and Kokoro (but for English) read them. Like piper.py, this file imports piper only in the
process that synthesizes (docs/adr/0004-piper-behind-its-own-process.md).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# espeak's names where they are not the language code: its own "pt" is European, and our voices are Brazilian.
_VOICES: Mapping[str, str] = {"pt": "pt-br", "en": "en-us"}


class EspeakPhonemizer:
    """Reads texts of one language. Loads espeak-ng when it is made."""

    def __init__(self, language: str) -> None:
        from piper.phonemize_espeak import EspeakPhonemizer as Phonemizer

        self._phonemizer: Any = Phonemizer()
        self._voice = _VOICES.get(language, language)

    def sentences(self, text: str) -> list[list[str]]:
        """The phonemes of each sentence as single code points, decomposed (NFD), with punctuation marks."""
        sentences: list[list[str]] = self._phonemizer.phonemize(self._voice, text)
        return sentences


def piper_ids(phonemes: list[str]) -> list[int]:
    """The ids of phonemes in Piper's common table, with pads between them."""
    from piper.phoneme_ids import phonemes_to_ids

    ids: list[int] = phonemes_to_ids(phonemes)
    return ids

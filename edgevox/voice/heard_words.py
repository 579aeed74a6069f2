"""How much of a reply was heard, in its words: the sound is counted, the words are taken in proportion."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edgevox.languages import ENGLISH
from edgevox.types import Audio

# How long a character takes, as long as no sentence of the reply says so itself.
_CHAR_S = 0.065
# A voice falls silent up to 0.4 s before its sound ends: whoever heard all but that has heard the sentence.
_AUDIBLE = 0.01
# Devices say no more exactly than this what has been heard.
_INEXACT_S = 0.03


@dataclass(slots=True, eq=False)
class SpokenSentence:
    """A sentence of the reply on its way through the mouth."""

    text: str
    made_s: float = 0.0
    """How much of its sound has been made."""
    ends_s: float = 0.0
    """Where in that the last of it is to be heard."""
    is_made: bool = False
    """Whether that is all."""
    heard_s: float = 0.0
    language: str = ENGLISH

    def add(self, sound: Audio) -> None:
        """This much more was made."""
        audible = np.flatnonzero(np.abs(sound.samples) > _AUDIBLE)
        if len(audible):
            self.ends_s = self.made_s + (int(audible[-1]) + 1) / sound.rate_hz
        self.made_s += sound.duration_s

    @property
    def is_heard(self) -> bool:
        """One in which there is nothing to say is heard when those before it are."""
        return self.is_made and self.heard_s >= self.ends_s - _INEXACT_S


def heard_words(written: str, sentences: Sequence[SpokenSentence]) -> str:
    """The beginning of `written` that was heard: whole sentences, then whole words.

    The sentences are those of `written`, in their order; white space may have changed.
    """
    heard_chars = 0
    for sentence in sentences:
        if not sentence.is_heard:
            heard_chars += _chars_in(_words_in_part(sentence, _char_s(sentences)))
            break
        heard_chars += _chars_in(sentence.text)
    end = 0
    for found in re.finditer(r"\S", written):
        if not heard_chars:
            break
        heard_chars -= 1
        end = found.end()
    return written[:end].strip()


def _words_in_part(sentence: SpokenSentence, char_s: float) -> str:
    """The words that were heard to their end, of a sentence that was not."""
    text = sentence.text
    whole_s = sentence.ends_s if sentence.is_made else max(sentence.ends_s, len(text) * char_s)
    heard_to = len(text) * sentence.heard_s / whole_s if whole_s else 0.0
    ends = [word.end() for word in re.finditer(r"\S+", text) if word.end() <= heard_to]
    return text[: ends[-1]] if ends else ""


def _char_s(sentences: Sequence[SpokenSentence]) -> float:
    made = [sentence for sentence in sentences if sentence.is_made and sentence.ends_s]
    chars = sum(len(sentence.text) for sentence in made)
    return sum(sentence.ends_s for sentence in made) / chars if chars else _CHAR_S


def _chars_in(text: str) -> int:
    return len("".join(text.split()))

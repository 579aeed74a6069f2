"""Endpointing as in the voice loop, but in audio time instead of real time.

The transcript of a pause is available as long after its beginning as transcription took, and the reply as
long as it took to be ready.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from edgevox.audio.endpointing import Endpointer, PossibleEnd, SpeechResumed, SpeechSegment
from edgevox.audio.vad import BLOCK_SAMPLES
from edgevox.config import AudioSettings
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, Transcript
from edgevox.dialogue.turn_completion import completion_of, hangovers

_BLOCK_S = BLOCK_SAMPLES / SAMPLE_RATE_HZ


@dataclass(frozen=True, slots=True)
class Words:
    """What was understood at a pause, and how long after its beginning the words and the reply were there."""

    heard: Transcript
    words_s: float
    reply_s: float


@dataclass(frozen=True, slots=True)
class Ended:
    """An utterance, and its words where they were there before its end; `by_pause` unless the sound ended."""

    utterance: SpeechSegment
    words: Words | None
    by_pause: bool = True


class Transcription(Protocol):
    """What is made of a pause."""

    async def words(self, audio: Audio) -> Words: ...


class OfflineEndpointer:
    """Without an `understanding` the hangover is fixed; with a `pace` of 0 nothing takes time."""

    def __init__(self, settings: AudioSettings, understanding: Transcription | None, *, pace: float = 1.0) -> None:
        self._settings = settings
        self._understanding = understanding
        self._pace = pace

    async def utterances(self, sound: Audio) -> AsyncGenerator[Ended, None]:
        endpointer = Endpointer(self._settings)
        words: Words | None = None
        begun_s = free_s = 0.0
        for number in range(len(sound.samples) // BLOCK_SAMPLES):
            now_s = number * _BLOCK_S
            if words is not None:
                endpointer.end_after(self._hangovers(words, now_s - begun_s))
            block = sound.samples[number * BLOCK_SAMPLES : (number + 1) * BLOCK_SAMPLES]
            match endpointer.feed(Audio(block, sound.rate_hz)):
                case PossibleEnd(audio=audio) if self._understanding is not None:
                    words = await self._understanding.words(audio)
                    # One at a time, as in the loop.
                    begun_s = max(now_s, free_s)
                    free_s = begun_s + self._pace * words.words_s
                case SpeechResumed():
                    words = None
                    free_s = begun_s if now_s < begun_s else free_s  # what was not begun takes no time
                case SpeechSegment() as utterance:
                    yield Ended(utterance, words)
                    words = None
                case _:
                    pass
        if isinstance(rest := endpointer.finish(), SpeechSegment):
            yield Ended(rest, words, by_pause=False)

    def _hangovers(self, words: Words, after_s: float) -> float:
        is_transcribing = after_s < self._pace * words.words_s
        return hangovers(
            None if is_transcribing else completion_of(words.heard),
            is_transcribing=is_transcribing,
            is_ready=after_s >= self._pace * words.reply_s,
        )

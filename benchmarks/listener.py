"""The ends of what is said, found as the voice loop finds them, but in the time of the sound.

Nobody waits while somebody speaks: the words of a pause are there as long after its beginning as they took to
be written, and the reply as long as it took to be ready.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Protocol

from edgevox.audio.segmenter import Paused, Resumed, Segmenter, Utterance
from edgevox.audio.vad import BLOCK_SAMPLES
from edgevox.settings import AudioSettings
from edgevox.types import WHISPER_RATE_HZ, Audio, Transcript
from edgevox.voice.patience import completeness, hangovers

_BLOCK_S = BLOCK_SAMPLES / WHISPER_RATE_HZ


@dataclass(frozen=True, slots=True)
class Words:
    """What was understood at a pause, and how long after its beginning the words and the reply were there."""

    heard: Transcript
    words_s: float
    reply_s: float


@dataclass(frozen=True, slots=True)
class Ended:
    """An utterance, and its words where they were there before its end; `by_pause` unless the sound ended."""

    utterance: Utterance
    words: Words | None
    by_pause: bool = True


class Understanding(Protocol):
    """What is made of a pause."""

    async def words(self, audio: Audio) -> Words: ...


class Listener:
    """Without an `understanding` the hangover is fixed; with a `pace` of 0 nothing takes time."""

    def __init__(
        self, settings: AudioSettings, understanding: Understanding | None, *, pace: float = 1.0
    ) -> None:
        self._settings = settings
        self._understanding = understanding
        self._pace = pace

    async def utterances(self, sound: Audio) -> AsyncGenerator[Ended, None]:
        segmenter = Segmenter(self._settings)
        words: Words | None = None
        paused_s = free_s = 0.0
        for number in range(len(sound.samples) // BLOCK_SAMPLES):
            now_s = number * _BLOCK_S
            if words is not None:
                segmenter.end_after(self._hangovers(words, now_s - paused_s))
            block = sound.samples[number * BLOCK_SAMPLES : (number + 1) * BLOCK_SAMPLES]
            match segmenter.feed(Audio(block, sound.rate_hz)):
                # One at a time, as in the loop.
                case Paused(audio=audio) if self._understanding is not None and now_s >= free_s:
                    words = await self._understanding.words(audio)
                    paused_s = now_s
                    free_s = now_s + self._pace * words.words_s
                case Resumed():
                    words = None
                case Utterance() as utterance:
                    yield Ended(utterance, words)
                    words = None
                case _:
                    pass
        if isinstance(rest := segmenter.finish(), Utterance):
            yield Ended(rest, words, by_pause=False)

    def _hangovers(self, words: Words, after_s: float) -> float:
        is_transcribing = after_s < self._pace * words.words_s
        return hangovers(
            None if is_transcribing else completeness(words.heard),
            is_transcribing=is_transcribing,
            is_ready=after_s >= self._pace * words.reply_s,
        )

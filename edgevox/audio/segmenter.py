"""Where an utterance begins and ends in a stream of blocks. Time is counted in samples: no clock is read."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from edgevox.audio.vad import BLOCK_MS, VoiceDetector
from edgevox.settings.model import AudioSettings
from edgevox.types import WHISPER_RATE_HZ, Audio

_BLOCK_S = BLOCK_MS / 1000
# Speech begins where so many of the last blocks are a voice (a click is two or three) …
_ONSET_WINDOW = 12
_ONSET_VOICED = 7
# … and its loudness jumps from block to block, as syllables do and fans, hum and rain do not.
_ONSET_JUMPS = 3
_JUMP_DB = 3.0
# A pause this long is mostly the end: of 328 utterances 39 had one inside, and none had more than two
# (docs/adr/0016-transcribe-while-waiting.md).
_PAUSE_MS = 200
_MOST_PAUSES_TOLD = 3


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """Somebody seems to speak since `at_s`; an Utterance or a FalseStart follows."""

    at_s: float


@dataclass(frozen=True, slots=True)
class FalseStart:
    """It was too short to be speech."""

    at_s: float


@dataclass(frozen=True, slots=True)
class Paused:
    """Whoever spoke has paused: `audio` is all of it should nothing follow. It ends or is Resumed."""

    audio: Audio


@dataclass(frozen=True, slots=True)
class Resumed:
    """The voice went on: what was Paused is only a part."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """What was said, from a moment before it until the end of the pause behind it.

    All times are seconds since the first sample that was fed; `audio` is what lies between `started_at_s`
    and `ended_at_s`. `cut` when it went on beyond the longest utterance: the rest is in the next one.
    """

    audio: Audio
    started_at_s: float
    last_voiced_at_s: float
    ended_at_s: float
    cut: bool


SegmentEvent: TypeAlias = SpeechStarted | FalseStart | Paused | Resumed | Utterance


class Segmenter:
    """Given every block of a stream, says when somebody started and stopped speaking."""

    def __init__(self, settings: AudioSettings) -> None:
        self._detector = VoiceDetector(settings.vad_aggressiveness)
        self._pre_roll = _blocks(settings.pre_roll_ms)
        self._hangover = _blocks(settings.hangover_ms)
        self._pause = _blocks(_PAUSE_MS)
        self._least_voiced = _blocks(settings.min_speech_ms)
        self._longest = _blocks(settings.max_utterance_s * 1000)
        self._fed = 0
        self._recent: deque[_Heard] = deque(maxlen=self._pre_roll + _ONSET_WINDOW)
        self._speech: _Speech | None = None

    @property
    def is_in_speech(self) -> bool:
        return self._speech is not None

    def feed(self, block: Audio) -> SegmentEvent | None:
        """Take the next block: BLOCK_MS of sound at 16 kHz."""
        judged = self._detector.judge(block)
        self._fed += 1
        heard = _Heard(block, judged.is_voice, judged.level_db)
        if self._speech is None:
            self._recent.append(heard)
            return self._begin() if self._is_onset() else None
        self._speech.add(heard)
        if self._speech.silent_blocks >= self._hangover:
            return self._end(cut=False)
        if len(self._speech.blocks) >= self._longest:
            return self._end(cut=True)
        return self._paused_or_resumed(self._speech)

    def finish(self) -> Utterance | FalseStart | None:
        """What was being said when the stream ended, if anything."""
        return self._end(cut=False) if self._speech else None

    def reset(self) -> None:
        """Forget what was being said, but not how loud the room is."""
        self._speech = None
        self._recent.clear()

    def _is_onset(self) -> bool:
        window = list(self._recent)[-_ONSET_WINDOW:]
        if sum(heard.is_voice for heard in window) < _ONSET_VOICED:
            return False
        jumps = sum(
            before.is_voice and after.is_voice and abs(after.level_db - before.level_db) >= _JUMP_DB
            for before, after in pairwise(window)
        )
        return jumps >= _ONSET_JUMPS

    def _begin(self) -> SpeechStarted:
        recent = list(self._recent)
        first_voice = next(
            place
            for place, heard in enumerate(recent)
            if heard.is_voice and place >= len(recent) - _ONSET_WINDOW
        )
        self._speech = _Speech()
        for heard in recent[max(0, first_voice - self._pre_roll) :]:
            self._speech.add(heard)
        self._recent.clear()
        return SpeechStarted((self._fed - len(recent) + first_voice) * _BLOCK_S)

    def _paused_or_resumed(self, speech: _Speech) -> Paused | Resumed | None:
        if speech.is_paused and not speech.silent_blocks:
            speech.is_paused = False
            return Resumed()
        if (
            speech.silent_blocks == self._pause
            and speech.voiced_blocks >= self._least_voiced
            and speech.pauses_told < _MOST_PAUSES_TOLD
        ):
            speech.is_paused = True
            speech.pauses_told += 1
            return Paused(speech.audio())
        return None

    def _end(self, *, cut: bool) -> Utterance | FalseStart:
        assert self._speech is not None
        speech, self._speech = self._speech, None
        ended_at_s = self._fed * _BLOCK_S
        if speech.voiced_blocks < self._least_voiced:
            return FalseStart(ended_at_s)
        return Utterance(
            audio=speech.audio(),
            started_at_s=ended_at_s - len(speech.blocks) * _BLOCK_S,
            last_voiced_at_s=ended_at_s - speech.silent_blocks * _BLOCK_S,
            ended_at_s=ended_at_s,
            cut=cut,
        )


@dataclass(frozen=True, slots=True)
class _Heard:
    block: Audio
    is_voice: bool
    level_db: float


class _Speech:
    """An utterance while it grows."""

    def __init__(self) -> None:
        self.blocks: list[Audio] = []
        self.voiced_blocks = 0
        self.silent_blocks = 0
        """How many there were since the last voice."""
        self.is_paused = False
        """Whether a pause was told and still lasts."""
        self.pauses_told = 0

    def add(self, heard: _Heard) -> None:
        self.blocks.append(heard.block)
        self.voiced_blocks += heard.is_voice
        self.silent_blocks = 0 if heard.is_voice else self.silent_blocks + 1

    def audio(self) -> Audio:
        return Audio(np.concatenate([block.samples for block in self.blocks]), WHISPER_RATE_HZ)


def _blocks(duration_ms: float) -> int:
    return round(duration_ms / BLOCK_MS)

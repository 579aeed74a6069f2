"""Endpointing: finds the start and the end of speech in a stream of audio blocks.

Time is counted in samples, so a file and a microphone give the same result.
"""

from __future__ import annotations

from bisect import insort
from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

from edgevox.audio.dsp import SILENCE_DBFS
from edgevox.audio.vad import BLOCK_MS, VadResult, VoiceActivityDetector
from edgevox.config.settings import AudioSettings
from edgevox.core.types import Audio

_BLOCK_S = BLOCK_MS / 1000
# For a quiet speaker or a low microphone level (docs/adr/0025-endpointing.md).
_MOST_GAIN_DB = 40.0
# Speech begins where this many of the last blocks are voiced (a click is two or three) …
_ONSET_WINDOW = 12
_ONSET_VOICED = 7
# … and the level jumps from block to block, as with syllables but not with fans, hum and rain.
_ONSET_JUMPS = 3
_JUMP_DB = 3.0
# With background talk, a block continues the utterance if its level is at least this part of the way from the
# talk up to the speaker's own level (docs/adr/0025-endpointing.md) …
_TALK_VARIES_DB = 6.0
_FAINT_BELOW_DB = 35.0
_PART_OF_THE_WAY = 0.45
_LOUD = 0.9
# … there also is background "talk" where this share of the audio between utterances is voiced: quiet music
# is voiced on every beat …
_SOUNDING_SHARE = 0.12
_LEAST_OUTSIDE = 75
_MOST_OUTSIDE = 400
# … the quiet starts and ends of words fall below that, which lengthens a pause by this much …
_UNHEARD_MS = 160
# … and after _GAP silent blocks, speech resumes where _WORD_VOICED of _WORD blocks are the speaker's.
_GAP = 6
_WORD = 6
_WORD_VOICED = 4
# A pause this long is mostly the end, and adds to the latency: at 40 ms four times as many are not the end
# (docs/adr/0025-endpointing.md). Speakers who think while they speak have more pauses.
_PAUSE_MS = 60
_MOST_REPORTED_PAUSES = 8


@dataclass(frozen=True, slots=True)
class SpeechStarted:
    """Speech began at `at_s`; a SpeechSegment or a FalseStart follows."""

    at_s: float


@dataclass(frozen=True, slots=True)
class FalseStart:
    """The sound was too short to be speech."""

    at_s: float


@dataclass(frozen=True, slots=True)
class PossibleEnd:
    """The speaker paused; `audio` is the utterance so far. A SpeechSegment or SpeechResumed follows."""

    audio: Audio


@dataclass(frozen=True, slots=True)
class SpeechResumed:
    """Speech continued after a PossibleEnd."""


@dataclass(frozen=True, slots=True)
class SpeechSegment:
    """An utterance with pre-roll and the silence that ended it.

    All times are seconds since the first sample; `audio` is from `started_at_s` to `ended_at_s`. `cut` if it
    reached the longest utterance: the rest is in the next segment.
    """

    audio: Audio
    started_at_s: float
    last_voiced_at_s: float
    ended_at_s: float
    cut: bool


EndpointEvent: TypeAlias = SpeechStarted | FalseStart | PossibleEnd | SpeechResumed | SpeechSegment


class Endpointer:
    """Finds the start and the end of utterances in a stream of blocks."""

    def __init__(self, settings: AudioSettings) -> None:
        self._detector = VoiceActivityDetector(settings.vad_aggressiveness, most_gain_db=_MOST_GAIN_DB)
        self._pre_roll = _blocks(settings.pre_roll_ms)
        self._hangover_ms = settings.hangover_ms
        self._pause = _blocks(_PAUSE_MS)
        self._least_voiced = _blocks(settings.min_speech_ms)
        self._longest = _blocks(settings.max_utterance_s * 1000)
        self._fed = 0
        self._recent: deque[_Heard] = deque(maxlen=self._pre_roll + _ONSET_WINDOW)
        self._outside: deque[bool] = deque(maxlen=_MOST_OUTSIDE)
        """Whether each block outside utterances was voiced."""
        self._speech: _Speech | None = None

    @property
    def is_in_speech(self) -> bool:
        return self._speech is not None

    def feed(self, block: Audio) -> EndpointEvent | None:
        """Process the next block of BLOCK_MS at 16 kHz."""
        judged = self._detector.judge(block)
        self._fed += 1
        if self._speech is None:
            self._recent.append(_Heard(block, judged.is_voice, judged.level_db))
            self._outside.append(judged.is_voice)
            return self._begin() if self._is_onset() else None
        self._speech.judge(block, judged)
        unheard_ms = _UNHEARD_MS if self._speech.is_in_talk else 0
        if self._speech.silent_blocks >= _blocks(self._hangover_ms * self._speech.hangovers + unheard_ms):
            return self._end(cut=False)
        if len(self._speech.blocks) >= self._longest:
            return self._end(cut=True)
        return self._paused_or_resumed(self._speech)

    def end_after(self, hangovers: float) -> None:
        """End the utterance after this many hangovers of the current silence, until speech resumes.

        If the silence is already longer, the next block ends it.
        """
        if self._speech is not None and self._speech.silent_blocks:
            self._speech.hangovers = hangovers

    def finish(self) -> SpeechSegment | FalseStart | None:
        """End the current utterance, if any, at the end of the stream."""
        return self._end(cut=False) if self._speech else None

    def reset(self) -> None:
        """Drop the current utterance but keep the noise floor."""
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
            place for place, heard in enumerate(recent) if heard.is_voice and place >= len(recent) - _ONSET_WINDOW
        )
        self._speech = _Speech(is_room_sounding=self._is_room_sounding())
        for heard in recent[max(0, first_voice - self._pre_roll) :]:
            self._speech.add(heard)
        self._recent.clear()
        return SpeechStarted((self._fed - len(recent) + first_voice) * _BLOCK_S)

    def _is_room_sounding(self) -> bool:
        before = list(self._outside)[:-_ONSET_WINDOW]
        return len(before) >= _LEAST_OUTSIDE and sum(before) >= _SOUNDING_SHARE * len(before)

    def _paused_or_resumed(self, speech: _Speech) -> PossibleEnd | SpeechResumed | None:
        if speech.is_paused and not speech.silent_blocks:
            speech.is_paused = False
            return SpeechResumed()
        if (
            speech.silent_blocks == self._pause
            and speech.voiced_blocks >= self._least_voiced
            and speech.reported_pauses < _MOST_REPORTED_PAUSES
        ):
            speech.is_paused = True
            speech.forget_talk(self._pre_roll)
            speech.reported_pauses += 1
            return PossibleEnd(speech.audio())
        return None

    def _end(self, *, cut: bool) -> SpeechSegment | FalseStart:
        assert self._speech is not None
        speech, self._speech = self._speech, None
        ended_at_s = self._fed * _BLOCK_S
        if speech.voiced_blocks < self._least_voiced:
            return FalseStart(ended_at_s)
        speech.forget_talk(self._pre_roll)
        return SpeechSegment(
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

    def __init__(self, *, is_room_sounding: bool) -> None:
        self._is_room_sounding = is_room_sounding
        self.blocks: list[_Heard] = []
        self.voiced_blocks = 0
        self.hangovers = 1.0
        """How many of them the pause that lasts now must be long to be the end."""
        self.silent_blocks = 0
        """How many there were since the last voice."""
        self.is_paused = False
        """Whether a PossibleEnd was reported and the pause still lasts."""
        self.reported_pauses = 0
        self._loudnesses: list[float] = []
        self._least_db = SILENCE_DBFS
        """Blocks below this level are background talk; SILENCE_DBFS without any."""

    def judge(self, block: Audio, judged: VadResult) -> None:
        """Add the next block; it is voiced only if it is above the background talk."""
        self._least_db = SILENCE_DBFS
        loud_db = self._loudnesses[int(_LOUD * len(self._loudnesses))]
        is_talk = judged.is_talk and judged.room_db > loud_db - _FAINT_BELOW_DB
        if (is_talk or self._is_room_sounding) and judged.room_db > SILENCE_DBFS:
            talk_db = judged.room_db + _TALK_VARIES_DB
            self._least_db = talk_db + _PART_OF_THE_WAY * max(0.0, loud_db - talk_db)
        is_voice = judged.is_voice and judged.level_db >= self._least_db
        self.add(_Heard(block, is_voice, judged.level_db))

    def add(self, heard: _Heard) -> None:
        self.blocks.append(heard)
        if heard.is_voice:
            self.voiced_blocks += 1
            insort(self._loudnesses, heard.level_db)
        if heard.is_voice and (self.silent_blocks < _GAP or self._is_heard(self.blocks[-_WORD:])):
            self.silent_blocks = 0
            self.hangovers = 1.0
        else:
            self.silent_blocks += 1

    @property
    def is_in_talk(self) -> bool:
        return self._least_db > SILENCE_DBFS

    def forget_talk(self, pre_roll: int) -> None:
        """Drop background talk from before the utterance, except for the pre-roll."""
        if not self.is_in_talk:
            return
        for start in range(len(self.blocks)):
            if self._is_heard(self.blocks[start : start + _WORD]):
                if start > pre_roll:
                    del self.blocks[: start - pre_roll]
                    self.reported_pauses = 0
                return

    def _is_heard(self, blocks: list[_Heard]) -> bool:
        """Whether the blocks are more than a knock or a loud word in the background."""
        if not self.is_in_talk:
            return True
        loud = sum(heard.is_voice and heard.level_db >= self._least_db for heard in blocks)
        return loud >= _WORD_VOICED

    def audio(self) -> Audio:
        return Audio.joined([heard.block for heard in self.blocks])


def _blocks(duration_ms: float) -> int:
    return round(duration_ms / BLOCK_MS)

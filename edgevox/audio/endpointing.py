"""Endpointing: finds the start and the end of speech in a stream of audio blocks.

Time is counted in samples, so a file and a microphone give the same result.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from typing import TypeAlias

from edgevox.audio.dsp import SILENCE_DBFS, decibels
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
# A television pauses as a person does, so that neither its quietest moment nor its share of the time shows it. Here
# the levels are means of _SMOOTH blocks, which vary less than single ones. Each second with enough speech has the
# level of its louder blocks; a low quantile of those before the speaker's first loud block is the level of the talk
# (an earlier utterance of the speaker may be among them). The least level of the speaker is half of the way up from
# it, less where the talk's seconds hardly differ (babble), and a few dB below the loud blocks: words differ by that
# much (docs/adr/0025-endpointing.md).
_SMOOTH = 16
_SECOND = 50
_LEAST_VOICED_OF_SECOND = 12
_TALK_SECONDS = 12
_LEAST_SECONDS = 5
# It is a television only if it goes on for longer than a request takes, without a longer pause: the speaker, too, may
# have spoken before, or get louder.
_LONGEST_PAUSE_OF_TALK = 2 * _SECOND
_QUIET_SECOND = 0.3
_FIRST_LOUD_DB = 1.0
_LAST_LOUD_DB = 4.0
_LEAST_SECONDS_AFTER = 2
_LEAST_APART_DB = 4.0
_UP_FROM_TALK = 0.5
_EVEN_TALK_DB = 4.0
_DOWN_PER_DB = 0.05
_BELOW_LOUD_DB = 4.0
_LOUD_MEMORY = 300
_RELEARN = 10
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

    def __init__(self, settings: AudioSettings, hangover_scale: Callable[[], float] = lambda: 1.0) -> None:
        """`hangover_scale` is asked with each block: a client may change it."""
        self._detector = VoiceActivityDetector(settings.vad_aggressiveness, most_gain_db=_MOST_GAIN_DB)
        self._pre_roll = _blocks(settings.pre_roll_ms)
        self._hangover_ms = settings.hangover_ms
        self._hangover_scale = hangover_scale
        self._pause = _blocks(_PAUSE_MS)
        self._least_voiced = _blocks(settings.min_speech_ms)
        self._longest = _blocks(settings.max_utterance_s * 1000)
        self._fed = 0
        self._recent: deque[_Heard] = deque(maxlen=self._pre_roll + _ONSET_WINDOW)
        self._outside: deque[bool] = deque(maxlen=_MOST_OUTSIDE)
        """Whether each block outside utterances was voiced."""
        self._talk = _TalkLevel()
        self._speech: _Speech | None = None

    @property
    def is_in_speech(self) -> bool:
        return self._speech is not None

    def feed(self, block: Audio) -> EndpointEvent | None:
        """Process the next block of BLOCK_MS at 16 kHz."""
        judged = self._detector.judge(block)
        self._fed += 1
        smooth_db = self._talk.add(judged)
        if self._speech is None:
            self._recent.append(_Heard(block, judged.is_voice, judged.level_db, smooth_db))
            self._outside.append(judged.is_voice)
            return self._begin() if self._is_onset() else None
        if len(self._speech.blocks) % _RELEARN == 0:
            talk = self._talk.before(self._speech.blocks_since_loud())
            if talk is None:
                talk = self._talk.after(self._speech.blocks_after_loud())
            self._speech.learn_talk(talk)
        self._speech.judge(block, judged, smooth_db)
        unheard_ms = _UNHEARD_MS if self._speech.is_in_talk else 0
        hangover_ms = self._hangover_ms * self._hangover_scale() * self._speech.hangovers
        if self._speech.silent_blocks >= _blocks(hangover_ms + unheard_ms):
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
class _Talk:
    """Background talk: its level, and by how much its quietest second is below the median one."""

    level_db: float
    spread_db: float = _EVEN_TALK_DB

    def below_speaker_db(self, loud_db: float) -> float:
        """The level above which a block is the speaker's, who is at `loud_db`."""
        up = _UP_FROM_TALK - _DOWN_PER_DB * max(0.0, _EVEN_TALK_DB - self.spread_db)
        return self.level_db + up * (loud_db - self.level_db)


@dataclass(frozen=True, slots=True)
class _Heard:
    block: Audio
    is_voice: bool
    level_db: float
    smooth_db: float
    """The mean level of the last _SMOOTH blocks."""


class _TalkLevel:
    """How loud the speech of the last seconds was, second by second."""

    def __init__(self) -> None:
        self._fed = 0
        self._powers: deque[float] = deque(maxlen=_SMOOTH)
        self._second_db: list[float] = []
        self._seconds: deque[tuple[int, float]] = deque(maxlen=_TALK_SECONDS)
        """The number of the last block, and the level, of each second with enough speech."""

    def add(self, judged: VadResult) -> float:
        """Add the next block; returns the mean level of the last blocks."""
        self._fed += 1
        self._powers.append(10 ** (judged.level_db / 10))
        smooth_db = decibels(sum(self._powers) / len(self._powers))
        if judged.is_voice:
            self._second_db.append(smooth_db)
        if self._fed % _SECOND == 0:
            if len(self._second_db) >= _LEAST_VOICED_OF_SECOND:
                self._seconds.append((self._fed, _loud_of(sorted(self._second_db))))
            self._second_db.clear()
        return smooth_db

    def before(self, blocks_ago: int) -> _Talk | None:
        """The talk that goes on before that block; None if too few seconds held speech."""
        earliest, latest = self._fed - _TALK_SECONDS * _SECOND, self._fed - blocks_ago
        spoken_db: list[float] = []
        following = latest
        for last, level_db in reversed(self._seconds):
            if last > latest:
                continue
            if last < earliest or following - last > _LONGEST_PAUSE_OF_TALK:
                break
            insort(spoken_db, level_db)
            following = last
        if len(spoken_db) < _LEAST_SECONDS:
            return None
        spread_db = spoken_db[len(spoken_db) // 2] - spoken_db[0]
        return _Talk(spoken_db[int(_QUIET_SECOND * len(spoken_db))], spread_db)

    def after(self, blocks_ago: int) -> _Talk | None:
        """The talk since that block; None if it is not the same for long enough."""
        spoken_db = [level_db for last, level_db in self._seconds if last - _SECOND >= self._fed - blocks_ago]
        return _Talk(max(spoken_db)) if len(spoken_db) >= _LEAST_SECONDS_AFTER else None


def _loud_of(levels_db: list[float]) -> float:
    """The level of the louder ones; they are sorted."""
    return levels_db[int(_LOUD * len(levels_db))]


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
        self._talk: _Talk | None = None
        self._smooth_db: deque[float] = deque()
        self._sorted_smooth_db: list[float] = []
        self._least_smooth_db = SILENCE_DBFS
        """The same for the mean levels."""

    def learn_talk(self, talk: _Talk | None) -> None:
        """Take the talk before the speaker's first loud block, if there was any."""
        self._talk = talk

    def judge(self, block: Audio, judged: VadResult, smooth_db: float) -> None:
        """Add the next block; it is voiced only if it is above the background talk."""
        self._least_smooth_db = self._above_talk_db()
        self._least_db = SILENCE_DBFS
        loud_db = _loud_of(self._loudnesses)
        is_talk = judged.is_talk and judged.room_db > loud_db - _FAINT_BELOW_DB
        is_known = self._least_smooth_db > SILENCE_DBFS
        if not is_known and (is_talk or self._is_room_sounding) and judged.room_db > SILENCE_DBFS:
            talk_db = judged.room_db + _TALK_VARIES_DB
            self._least_db = talk_db + _PART_OF_THE_WAY * max(0.0, loud_db - talk_db)
        heard = _Heard(block, judged.is_voice, judged.level_db, smooth_db)
        self.add(replace(heard, is_voice=self._is_above_talk(heard)))

    def _above_talk_db(self) -> float:
        """The least mean level of the speaker; SILENCE_DBFS where the talk is unknown or as loud."""
        loud_db = _loud_of(self._sorted_smooth_db)
        if self._talk is None or loud_db - self._talk.level_db < _LEAST_APART_DB:
            return SILENCE_DBFS
        return min(self._talk.below_speaker_db(loud_db), loud_db - _BELOW_LOUD_DB)

    def _is_above_talk(self, heard: _Heard) -> bool:
        is_loud = heard.level_db >= self._least_db and heard.smooth_db >= self._least_smooth_db
        return heard.is_voice and is_loud

    def add(self, heard: _Heard) -> None:
        self.blocks.append(heard)
        if heard.is_voice:
            self.voiced_blocks += 1
            insort(self._loudnesses, heard.level_db)
            insort(self._sorted_smooth_db, heard.smooth_db)
            self._smooth_db.append(heard.smooth_db)
            if len(self._smooth_db) > _LOUD_MEMORY:
                del self._sorted_smooth_db[bisect_left(self._sorted_smooth_db, self._smooth_db.popleft())]
        if heard.is_voice and (self.silent_blocks < _GAP or self._is_heard(self.blocks[-_WORD:])):
            self.silent_blocks = 0
            self.hangovers = 1.0
        else:
            self.silent_blocks += 1

    def blocks_since_loud(self) -> int:
        """How many blocks ago the first one was that is as loud as the speaker."""
        least_db = _loud_of(self._sorted_smooth_db) - _FIRST_LOUD_DB
        loud = (place for place, heard in enumerate(self.blocks) if heard.is_voice and heard.smooth_db >= least_db)
        return len(self.blocks) - next(loud, 0)

    def blocks_after_loud(self) -> int:
        """How many blocks ago the last one was that is nearly as loud as the speaker."""
        least_db = _loud_of(self._sorted_smooth_db) - _LAST_LOUD_DB
        quiet = takewhile(lambda heard: heard.smooth_db < least_db, reversed(self.blocks))
        return sum(1 for _ in quiet)

    @property
    def is_in_talk(self) -> bool:
        return self._least_db > SILENCE_DBFS or self._least_smooth_db > SILENCE_DBFS

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
        loud = sum(map(self._is_above_talk, blocks))
        return loud >= _WORD_VOICED

    def audio(self) -> Audio:
        return Audio.joined([heard.block for heard in self.blocks])


def _blocks(duration_ms: float) -> int:
    return round(duration_ms / BLOCK_MS)

"""Whether somebody speaks over the assistant: heard in what is left when its own voice is taken out."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.beginning import Beginning, HeardAgain, usual_left_dbfs
from edgevox.audio.echo import EchoLevel
from edgevox.audio.levels import dbfs
from edgevox.audio.vad import BLOCK_MS, BLOCK_SAMPLES, VoiceDetector
from edgevox.types import WHISPER_RATE_HZ, Audio

Verdict: TypeAlias = Literal["duck", "resume", "stop"]

# Blocks that may be a person: so many of the last five, and the reply becomes quieter. A click is fewer.
_DUCK_WINDOW, _DUCK_BLOCKS = 5, 4
# So many of half a second, a part of them with a pitch, and it stops: a cough is shorter, and mostly a hiss.
_STOP_WINDOW, _STOP_BLOCKS = 25, 11
_STOP_PITCHED = 6
# In a beginning that is heard again: an echo alone has 7 blocks at most (220 replies), a short command 10.
_MISSED_BLOCKS, _MISSED_PITCHED = 9, 5
# Whoever began later than this was heard by a canceller that had learnt: it was a cough.
_LEARNT_BLOCKS = 55
# After so many blocks of which none is one, it was nothing: the reply goes on.
_QUIET_BLOCKS = 15
# … unless it was a word, which has a vowel.
_WORD_PITCHED = 4
# What the recogniser gets from before the first of them, so that the first syllable is whole.
_BEFORE_BLOCKS = 15
_LONGEST_BLOCKS = 250

# As long as the canceller has learnt too little, an echo is told from a person by how much it takes of it.
_UNLEARNT_LOST_DB = 10.0
_FAINT_DBFS = -50.0
# A beginning that is heard again is heard by a canceller that knows it.
_KNOWN_ERLE_DB, _KNOWN_S = 30.0, 60.0

# Voices, from deep men to children; two blocks hold more than two periods of the deepest.
_LOWEST_HZ, _HIGHEST_HZ = 75, 400
_LAGS = slice(WHISPER_RATE_HZ // _HIGHEST_HZ, WHISPER_RATE_HZ // _LOWEST_HZ + 1)
_PITCHED = 0.5


@dataclass(frozen=True, slots=True)
class _Heard:
    is_person: bool
    has_pitch: bool


class Interruption:
    """Given every block that is heard while the assistant sounds, says what its mouth should do.

    `level` says how the last block went through the canceller; without it a device cancels the echo, and all
    that is left is somebody else's.
    """

    def __init__(
        self,
        level: Callable[[], EchoLevel | None] | None = None,
        aggressiveness: int = 2,
        beginning: Callable[[], Beginning | None] = lambda: None,
        hears_itself: Callable[[], bool] = lambda: False,
    ) -> None:
        """`beginning` is that of the reply which sounds: it can be heard once more.

        `hears_itself` is asked before a reply is stopped: whether what was heard is that very reply.
        """
        self._level = level
        self._beginning = beginning
        self._hears_itself = hears_itself
        self._aggressiveness = aggressiveness
        self.reset()

    def reset(self) -> None:
        """The assistant begins to sound, or has fallen silent."""
        self._detector = VoiceDetector(self._aggressiveness)
        self._recent: deque[_Heard] = deque(maxlen=_STOP_WINDOW)
        self._blocks: deque[Audio] = deque(maxlen=_LONGEST_BLOCKS)
        self._last_samples = np.zeros(BLOCK_SAMPLES, dtype=np.float32)
        self._quiet = 0
        self._suspected_pitched = 0
        self._is_ducked = False
        self._has_doubted = self._is_in_doubt = False
        beginning = self._beginning()
        self._of_another = beginning if beginning is not None and beginning.has_begun else None
        """The beginning of the reply before: whoever spoke then has had their say."""

    @property
    def is_suspected(self) -> bool:
        """Whether somebody may have begun to speak."""
        return self._is_ducked

    @property
    def was_word(self) -> bool:
        """Whether what was heard last, and did not go on, may have been a word: "stop" is short."""
        return self._suspected_pitched >= _WORD_PITCHED

    def heard(self) -> tuple[Audio, ...]:
        """What was heard since somebody may have begun to speak, and a moment before it."""
        return tuple(self._blocks)

    def feed(self, block: Audio) -> Verdict | None:
        """Take the next block: BLOCK_MS of sound at 16 kHz, without the echo."""
        is_person = self._detector.judge(block).is_voice and self._is_somebody_else()
        has_pitch = is_person and _pitch_strength(self._last_samples, block.samples) >= _PITCHED
        self._last_samples = block.samples
        self._recent.append(_Heard(is_person, has_pitch))
        self._blocks.append(block)
        self._quiet = 0 if is_person else self._quiet + 1
        if not self._is_ducked:
            while len(self._blocks) > _BEFORE_BLOCKS + _DUCK_WINDOW and not self._is_in_doubt:
                self._blocks.popleft()
            return self._ducked() if self._persons(_DUCK_WINDOW) >= _DUCK_BLOCKS else None
        self._suspected_pitched += has_pitch
        if self._has_spoken(_STOP_BLOCKS, _STOP_PITCHED):
            return "stop" if not self._hears_itself() else self._dismissed()
        if self._quiet >= _QUIET_BLOCKS:
            self._is_ducked = False
            return "resume"
        return None

    def doubts(self) -> Beginning | None:
        """The beginning of the reply, once, when it is whole and nobody is suspected: was somebody missed?

        Have it heard again, and `reconsider`. Until then all that is heard is kept.
        """
        beginning = self._beginning()
        if beginning is None or beginning is self._of_another or not beginning.is_whole:
            return None
        if self._has_doubted or self._is_ducked:
            return None
        self._has_doubted = self._is_in_doubt = True
        self._blocks.clear()
        return beginning

    def reconsider(self, again: Sequence[HeardAgain]) -> bool:
        """Whether somebody spoke in the beginning after all; what they said is then in `heard`."""
        self._is_in_doubt = False
        said = _said_in(again, self._aggressiveness)
        if not said or self._is_ducked or self._hears_itself():
            return False
        self._blocks.extendleft(reversed(said))
        return True

    def _ducked(self) -> Verdict:
        self._is_ducked = True
        self._suspected_pitched = sum(heard.has_pitch for heard in list(self._recent)[-_DUCK_WINDOW:])
        return "duck"

    def _dismissed(self) -> Verdict:
        self._recent.clear()
        self._is_ducked = False
        self._suspected_pitched = 0
        return "resume"

    def _persons(self, window: int) -> int:
        return sum(heard.is_person for heard in list(self._recent)[-window:])

    def _has_spoken(self, blocks: int, pitched: int) -> bool:
        has_pitch = sum(heard.has_pitch for heard in self._recent)
        return self._persons(_STOP_WINDOW) >= blocks and has_pitch >= pitched

    def _is_somebody_else(self) -> bool:
        level = self._level() if self._level else None
        if level is None:
            return True
        if level.is_learnt:
            return level.has_others
        if level.losses:
            return False
        return level.left_dbfs >= max(_FAINT_DBFS, level.heard_dbfs - _UNLEARNT_LOST_DB)


def _said_in(again: Sequence[HeardAgain], aggressiveness: int) -> list[Audio]:
    """What is heard from where somebody begins to interrupt to the end; nothing where nobody does."""
    usual_dbfs = usual_left_dbfs([cleaned for cleaned, _ in again])
    level: EchoLevel | None = None
    judge = Interruption(lambda: level, aggressiveness)
    blocks = [Audio(cleaned, WHISPER_RATE_HZ) for cleaned, _ in again]
    for number, (cleaned, heard) in enumerate(again, 1):
        level = EchoLevel(dbfs(heard), dbfs(cleaned), _KNOWN_ERLE_DB, usual_dbfs, _KNOWN_S)
        judge.feed(blocks[number - 1])
        if judge._has_spoken(_MISSED_BLOCKS, _MISSED_PITCHED):
            is_person = [each.is_person for each in judge._recent]
            began = number - len(is_person) + is_person.index(True)
            if began > _LEARNT_BLOCKS:
                return []
            return blocks[max(0, began - _BEFORE_BLOCKS) :]
    return []


def _pitch_strength(before: NDArray[np.float32], now: NDArray[np.float32]) -> float:
    """How much two blocks repeat themselves as a voice does: 0 for noise, 1 for a steady vowel."""
    sound = np.concatenate((before, now))
    sound = (sound - sound.mean()) * _WINDOW
    power = np.abs(np.fft.rfft(sound, 2 * len(sound))) ** 2
    likeness = np.fft.irfft(power)
    if likeness[0] <= 0:
        return 0.0
    return float(np.max(likeness[_LAGS] / _WINDOW_LIKENESS) / likeness[0])


_WINDOW = np.hanning(2 * BLOCK_SAMPLES).astype(np.float32)


def _likeness_of_window() -> NDArray[np.float64]:
    """How much the window makes two blocks less alike, at each lag."""
    likeness = np.fft.irfft(np.abs(np.fft.rfft(_WINDOW, 4 * BLOCK_SAMPLES)) ** 2)
    return np.asarray(likeness[_LAGS] / likeness[0])


_WINDOW_LIKENESS = _likeness_of_window()

assert BLOCK_MS == 20, "the numbers of blocks above are for blocks of 20 ms"

"""Detects speech over the assistant's own voice, and the part of a reply that was spoken before it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.aec.canceller import AecWarmupReplay, EchoLevel, ReplayedBlock, residual_floor_dbfs
from edgevox.audio.dsp import dbfs
from edgevox.audio.vad import BLOCK_MS, BLOCK_SAMPLES, VoiceActivityDetector
from edgevox.core.languages import ENGLISH
from edgevox.core.types import SAMPLE_RATE_HZ, Audio

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
_LAGS = slice(SAMPLE_RATE_HZ // _HIGHEST_HZ, SAMPLE_RATE_HZ // _LOWEST_HZ + 1)
_PITCHED = 0.5


@dataclass(frozen=True, slots=True)
class _Heard:
    is_person: bool
    has_pitch: bool


class BargeInDetector:
    """Given every block that is heard while the assistant sounds, says what its mouth should do.

    `level` says how the last block went through the canceller; without it a device cancels the echo, and all
    that is left is somebody else's.
    """

    def __init__(
        self,
        level: Callable[[], EchoLevel | None] | None = None,
        aggressiveness: int = 2,
        warmup_replay: Callable[[], AecWarmupReplay | None] = lambda: None,
        hears_itself: Callable[[], bool] = lambda: False,
    ) -> None:
        """`warmup_replay` is that of the reply which sounds: it can be heard once more.

        `hears_itself` is asked before a reply is stopped: whether what was heard is that very reply.
        """
        self._level = level
        self._warmup_replay = warmup_replay
        self._hears_itself = hears_itself
        self._aggressiveness = aggressiveness
        self.reset()

    def reset(self) -> None:
        """The assistant begins to sound, or has fallen silent."""
        self._detector = VoiceActivityDetector(self._aggressiveness)
        self._recent: deque[_Heard] = deque(maxlen=_STOP_WINDOW)
        self._blocks: deque[Audio] = deque(maxlen=_LONGEST_BLOCKS)
        self._last_samples = np.zeros(BLOCK_SAMPLES, dtype=np.float32)
        self._quiet = 0
        self._suspected_pitched = 0
        self._is_ducked = False
        self._has_doubted = self._is_in_doubt = False
        warmup_replay = self._warmup_replay()
        self._of_another = warmup_replay if warmup_replay is not None and warmup_replay.has_begun else None
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

    def doubts(self) -> AecWarmupReplay | None:
        """The beginning of the reply, once, when it is whole and nobody is suspected: was somebody missed?

        Have it heard again, and `reconsider`. Until then all that is heard is kept.
        """
        warmup_replay = self._warmup_replay()
        if warmup_replay is None or warmup_replay is self._of_another or not warmup_replay.is_whole:
            return None
        if self._has_doubted or self._is_ducked:
            return None
        self._has_doubted = self._is_in_doubt = True
        self._blocks.clear()
        return warmup_replay

    def reconsider(self, again: Sequence[ReplayedBlock]) -> bool:
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
        if level.is_converged:
            return level.has_near_end_sound
        if level.losses:
            return False
        return level.residual_dbfs >= max(_FAINT_DBFS, level.heard_dbfs - _UNLEARNT_LOST_DB)


def _said_in(again: Sequence[ReplayedBlock], aggressiveness: int) -> list[Audio]:
    """What is heard from where somebody begins to interrupt to the end; nothing where nobody does."""
    usual_dbfs = residual_floor_dbfs([cleaned for cleaned, _ in again])
    level: EchoLevel | None = None
    judge = BargeInDetector(lambda: level, aggressiveness)
    blocks = [Audio(cleaned, SAMPLE_RATE_HZ) for cleaned, _ in again]
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


def spoken_prefix(written: str, sentences: Sequence[SpokenSentence]) -> str:
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

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
class _BlockResult:
    is_speech: bool
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
        is_own_echo: Callable[[], bool] = lambda: False,
    ) -> None:
        """`warmup_replay` is that of the reply which sounds: it can be heard once more.

        `is_own_echo` is asked before a reply is stopped: whether what was heard is that very reply.
        """
        self._level = level
        self._warmup_replay = warmup_replay
        self._is_own_echo = is_own_echo
        self._aggressiveness = aggressiveness
        self.reset()

    def reset(self) -> None:
        """The assistant begins to sound, or has fallen silent."""
        self._detector = VoiceActivityDetector(self._aggressiveness)
        self._recent: deque[_BlockResult] = deque(maxlen=_STOP_WINDOW)
        self._blocks: deque[Audio] = deque(maxlen=_LONGEST_BLOCKS)
        self._last_samples = np.zeros(BLOCK_SAMPLES, dtype=np.float32)
        self._quiet = 0
        self._suspected_pitched = 0
        self._is_ducked = False
        self._has_requested_replay = self._awaits_replay = False
        warmup_replay = self._warmup_replay()
        self._previous_replay = warmup_replay if warmup_replay is not None and warmup_replay.has_begun else None
        """The beginning of the reply before: whoever spoke then has had their say."""

    @property
    def is_suspected(self) -> bool:
        """Whether somebody may have begun to speak."""
        return self._is_ducked

    @property
    def may_be_word(self) -> bool:
        """Whether what was heard last, and did not go on, may have been a word: "stop" is short."""
        return self._suspected_pitched >= _WORD_PITCHED

    def buffered(self) -> tuple[Audio, ...]:
        """What was heard since somebody may have begun to speak, and a moment before it."""
        return tuple(self._blocks)

    def feed(self, block: Audio) -> Verdict | None:
        """Take the next block: BLOCK_MS of sound at 16 kHz, without the echo."""
        is_speech = self._detector.judge(block).is_voice and self._is_near_end()
        has_pitch = is_speech and _pitch_strength(self._last_samples, block.samples) >= _PITCHED
        self._last_samples = block.samples
        self._recent.append(_BlockResult(is_speech, has_pitch))
        self._blocks.append(block)
        self._quiet = 0 if is_speech else self._quiet + 1
        if not self._is_ducked:
            while len(self._blocks) > _BEFORE_BLOCKS + _DUCK_WINDOW and not self._awaits_replay:
                self._blocks.popleft()
            return self._duck() if self._speech_blocks(_DUCK_WINDOW) >= _DUCK_BLOCKS else None
        self._suspected_pitched += has_pitch
        if self._has_spoken(_STOP_BLOCKS, _STOP_PITCHED):
            return "stop" if not self._is_own_echo() else self._dismiss()
        if self._quiet >= _QUIET_BLOCKS:
            self._is_ducked = False
            return "resume"
        return None

    def request_replay(self) -> AecWarmupReplay | None:
        """The beginning of the reply, once, when it is whole and nobody is suspected: was somebody missed?

        Have it heard again, and `check_replay`. Until then all that is heard is kept.
        """
        warmup_replay = self._warmup_replay()
        if warmup_replay is None or warmup_replay is self._previous_replay or not warmup_replay.is_whole:
            return None
        if self._has_requested_replay or self._is_ducked:
            return None
        self._has_requested_replay = self._awaits_replay = True
        self._blocks.clear()
        return warmup_replay

    def check_replay(self, again: Sequence[ReplayedBlock]) -> bool:
        """Whether somebody spoke in the beginning after all; what they said is then in `heard`."""
        self._awaits_replay = False
        said = _speech_in(again, self._aggressiveness)
        if not said or self._is_ducked or self._is_own_echo():
            return False
        self._blocks.extendleft(reversed(said))
        return True

    def _duck(self) -> Verdict:
        self._is_ducked = True
        self._suspected_pitched = sum(heard.has_pitch for heard in list(self._recent)[-_DUCK_WINDOW:])
        return "duck"

    def _dismiss(self) -> Verdict:
        self._recent.clear()
        self._is_ducked = False
        self._suspected_pitched = 0
        return "resume"

    def _speech_blocks(self, window: int) -> int:
        return sum(heard.is_speech for heard in list(self._recent)[-window:])

    def _has_spoken(self, blocks: int, pitched: int) -> bool:
        has_pitch = sum(heard.has_pitch for heard in self._recent)
        return self._speech_blocks(_STOP_WINDOW) >= blocks and has_pitch >= pitched

    def _is_near_end(self) -> bool:
        level = self._level() if self._level else None
        if level is None:
            return True
        if level.is_converged:
            return level.has_near_end_sound
        if level.losses:
            return False
        return level.residual_dbfs >= max(_FAINT_DBFS, level.heard_dbfs - _UNLEARNT_LOST_DB)


def _speech_in(again: Sequence[ReplayedBlock], aggressiveness: int) -> list[Audio]:
    """What is heard from where somebody begins to interrupt to the end; nothing where nobody does."""
    usual_dbfs = residual_floor_dbfs([cleaned for cleaned, _ in again])
    level: EchoLevel | None = None
    detector = BargeInDetector(lambda: level, aggressiveness)
    blocks = [Audio(cleaned, SAMPLE_RATE_HZ) for cleaned, _ in again]
    for number, (cleaned, heard) in enumerate(again, 1):
        level = EchoLevel(dbfs(heard), dbfs(cleaned), _KNOWN_ERLE_DB, usual_dbfs, _KNOWN_S)
        detector.feed(blocks[number - 1])
        if detector._has_spoken(_MISSED_BLOCKS, _MISSED_PITCHED):
            is_speech = [each.is_speech for each in detector._recent]
            began = number - len(is_speech) + is_speech.index(True)
            if began > _LEARNT_BLOCKS:
                return []
            return blocks[max(0, began - _BEFORE_BLOCKS) :]
    return []


def _pitch_strength(before: NDArray[np.float32], now: NDArray[np.float32]) -> float:
    """How much two blocks repeat themselves as a voice does: 0 for noise, 1 for a steady vowel."""
    sound = np.concatenate((before, now))
    sound = (sound - sound.mean()) * _WINDOW
    power = np.abs(np.fft.rfft(sound, 2 * len(sound))) ** 2
    autocorrelation = np.fft.irfft(power)
    if autocorrelation[0] <= 0:
        return 0.0
    return float(np.max(autocorrelation[_LAGS] / _WINDOW_AUTOCORRELATION) / autocorrelation[0])


_WINDOW = np.hanning(2 * BLOCK_SAMPLES).astype(np.float32)


def _window_autocorrelation() -> NDArray[np.float64]:
    """How much the window makes two blocks less alike, at each lag."""
    autocorrelation = np.fft.irfft(np.abs(np.fft.rfft(_WINDOW, 4 * BLOCK_SAMPLES)) ** 2)
    return np.asarray(autocorrelation[_LAGS] / autocorrelation[0])


_WINDOW_AUTOCORRELATION = _window_autocorrelation()

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
    synthesized_s: float = 0.0
    """How much of its sound has been made."""
    audible_s: float = 0.0
    """Where in that the last of it is to be heard."""
    is_synthesized: bool = False
    """Whether that is all."""
    heard_s: float = 0.0
    language: str = ENGLISH

    def add(self, sound: Audio) -> None:
        """This much more was made."""
        audible = np.flatnonzero(np.abs(sound.samples) > _AUDIBLE)
        if len(audible):
            self.audible_s = self.synthesized_s + (int(audible[-1]) + 1) / sound.rate_hz
        self.synthesized_s += sound.duration_s

    @property
    def is_heard(self) -> bool:
        """One in which there is nothing to say is heard when those before it are."""
        return self.is_synthesized and self.heard_s >= self.audible_s - _INEXACT_S


def spoken_prefix(written: str, sentences: Sequence[SpokenSentence]) -> str:
    """The beginning of `written` that was heard: whole sentences, then whole words.

    The sentences are those of `written`, in their order; white space may have changed.
    """
    heard_chars = 0
    for sentence in sentences:
        if not sentence.is_heard:
            heard_chars += _chars_in(_spoken_words(sentence, _char_s(sentences)))
            break
        heard_chars += _chars_in(sentence.text)
    end = 0
    for found in re.finditer(r"\S", written):
        if not heard_chars:
            break
        heard_chars -= 1
        end = found.end()
    return written[:end].strip()


def _spoken_words(sentence: SpokenSentence, char_s: float) -> str:
    """The words that were heard to their end, of a sentence that was not."""
    text = sentence.text
    whole_s = sentence.audible_s if sentence.is_synthesized else max(sentence.audible_s, len(text) * char_s)
    heard_to = len(text) * sentence.heard_s / whole_s if whole_s else 0.0
    ends = [word.end() for word in re.finditer(r"\S+", text) if word.end() <= heard_to]
    return text[: ends[-1]] if ends else ""


def _char_s(sentences: Sequence[SpokenSentence]) -> float:
    made = [sentence for sentence in sentences if sentence.is_synthesized and sentence.audible_s]
    chars = sum(len(sentence.text) for sentence in made)
    return sum(sentence.audible_s for sentence in made) / chars if chars else _CHAR_S


def _chars_in(text: str) -> int:
    return len("".join(text.split()))

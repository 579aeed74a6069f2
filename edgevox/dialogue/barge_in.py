"""Detects barge-in during playback, and computes the part of a reply that was spoken before it."""

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

Verdict: TypeAlias = Literal["duck", "resume", "hold", "word", "stop"]
"""`hold` makes the reply pause for a person; `stop` follows if they go on speaking, `word` if they do not."""

# Speech blocks among the last five that duck the reply. A click has fewer.
_DUCK_WINDOW, _DUCK_BLOCKS = 5, 4
# Speech blocks, and pitched ones, in half a second that stop it: a cough is shorter and mostly unpitched.
_STOP_WINDOW, _STOP_BLOCKS = 25, 11
_STOP_PITCHED = 6
# A paused reply is stopped by speech that is still going on so many blocks after its start: "mhm" and "right" are
# over by then.
_BACKCHANNEL_BLOCKS = 45
# In an AEC warm-up replay: an echo alone has 7 blocks at most (220 replies), a short command 10.
_MISSED_BLOCKS, _MISSED_PITCHED = 9, 5
# Speech that began later than this passed a converged canceller: it was a cough.
_CONVERGED_BLOCKS = 55
# The reply resumes after this many blocks without speech …
_QUIET_BLOCKS = 15
# … unless they followed a word, which has a vowel.
_WORD_PITCHED = 4
# Audio kept from before the first speech block, for a whole first syllable.
_BEFORE_BLOCKS = 15
_LONGEST_BLOCKS = 250

# Before convergence, sound that the canceller attenuates by more than this is echo.
_UNCONVERGED_LOSS_DB = 10.0
_FAINT_DBFS = -50.0
# A replay passes a converged canceller.
_KNOWN_ERLE_DB, _KNOWN_S = 30.0, 60.0

# The pitch of voices, deep men to children; two blocks hold more than two periods of the lowest.
_LOWEST_HZ, _HIGHEST_HZ = 75, 400
_LAGS = slice(SAMPLE_RATE_HZ // _HIGHEST_HZ, SAMPLE_RATE_HZ // _LOWEST_HZ + 1)
_PITCHED = 0.5


@dataclass(frozen=True, slots=True)
class _BlockResult:
    is_speech: bool
    has_pitch: bool


class BargeInDetector:
    """Decides for each block recorded during playback whether to duck, resume or stop the reply.

    `level` returns the canceller's levels of the last block; without it the device cancels the echo.
    """

    def __init__(
        self,
        level: Callable[[], EchoLevel | None] | None = None,
        aggressiveness: int = 2,
        warmup_replay: Callable[[], AecWarmupReplay | None] = lambda: None,
        is_own_echo: Callable[[], bool] = lambda: False,
        *,
        can_pause: bool = True,
    ) -> None:
        """`warmup_replay` returns that of the current reply; `is_own_echo` is checked before a reply is stopped.

        A loudspeaker that cannot pause is stopped by the first word, a backchannel included.
        """
        self._can_pause = can_pause
        self._level = level
        self._warmup_replay = warmup_replay
        self._is_own_echo = is_own_echo
        self._aggressiveness = aggressiveness
        self.reset()

    def reset(self) -> None:
        self._detector = VoiceActivityDetector(self._aggressiveness)
        self._recent: deque[_BlockResult] = deque(maxlen=_STOP_WINDOW)
        self._blocks: deque[Audio] = deque(maxlen=_LONGEST_BLOCKS)
        self._last_samples = np.zeros(BLOCK_SAMPLES, dtype=np.float32)
        self._quiet = 0
        self._suspected_pitched = 0
        self.is_suspected = False
        self.is_held = False
        """Whether the reply pauses for a person; the caller ends it with `release` or `reset`."""
        self._suspected_blocks = 0
        self._is_word_over = False
        self._has_requested_replay = self._awaits_replay = False
        warmup_replay = self._warmup_replay()
        self._previous_replay = warmup_replay if warmup_replay is not None and warmup_replay.has_begun else None
        """The replay of the previous reply, already handled."""

    @property
    def may_be_word(self) -> bool:
        """Whether the speech that ended in "resume" may be a word: "stop" is short."""
        return self._suspected_pitched >= _WORD_PITCHED

    def buffered(self) -> tuple[Audio, ...]:
        """The blocks since speech may have begun, and a moment before."""
        return tuple(self._blocks)

    def feed(self, block: Audio) -> Verdict | None:
        """Process the next echo-cancelled block of BLOCK_MS at 16 kHz."""
        is_speech = self._detector.judge(block).is_voice and self._is_near_end()
        has_pitch = is_speech and _pitch_strength(self._last_samples, block.samples) >= _PITCHED
        self._last_samples = block.samples
        self._recent.append(_BlockResult(is_speech, has_pitch))
        self._blocks.append(block)
        self._quiet = 0 if is_speech else self._quiet + 1
        if not self.is_suspected:
            while len(self._blocks) > _BEFORE_BLOCKS + _DUCK_WINDOW and not self._awaits_replay:
                self._blocks.popleft()
            if self._speech_blocks(_DUCK_WINDOW) < _DUCK_BLOCKS:
                return None
            self.is_suspected = True
            self._suspected_blocks = _DUCK_WINDOW
            self._suspected_pitched = sum(result.has_pitch for result in list(self._recent)[-_DUCK_WINDOW:])
            return "duck"
        self._suspected_pitched += has_pitch
        self._suspected_blocks += 1
        has_spoken = self._has_spoken(_STOP_BLOCKS, _STOP_PITCHED)
        if self.is_held:
            return self._judge_held(has_spoken=has_spoken)
        if has_spoken:
            if self._is_own_echo():
                self.release()
                return "resume"
            if not self._can_pause:
                return "stop"
            self.is_held = True
            return "hold"
        if self._quiet >= _QUIET_BLOCKS:
            self.is_suspected = False
            return "resume"
        return None

    def _judge_held(self, *, has_spoken: bool) -> Verdict | None:
        if has_spoken and self._suspected_blocks >= _BACKCHANNEL_BLOCKS:
            return "stop"
        if self._quiet < _QUIET_BLOCKS or self._is_word_over:
            return None
        self._is_word_over = True
        return "word"

    def release(self) -> None:
        """Take what was heard so far as nothing: the reply goes on."""
        self._recent.clear()
        self._suspected_pitched = 0
        self.is_suspected = self.is_held = self._is_word_over = False

    def request_replay(self) -> AecWarmupReplay | None:
        """The warm-up replay, once, when it is complete and no speech is suspected; pass its result to `check_replay`.

        Until then all blocks are kept.
        """
        warmup_replay = self._warmup_replay()
        if warmup_replay is None or warmup_replay is self._previous_replay or not warmup_replay.is_whole:
            return None
        if self._has_requested_replay or self.is_suspected:
            return None
        self._has_requested_replay = self._awaits_replay = True
        self._blocks.clear()
        return warmup_replay

    def check_replay(self, replayed: Sequence[ReplayedBlock]) -> bool:
        """Whether the replay holds missed speech, which is then in `buffered`; the reply is to be held if it can be."""
        self._awaits_replay = False
        missed = _speech_in(replayed, self._aggressiveness)
        if not missed or self.is_suspected or self._is_own_echo():
            return False
        self._blocks.extendleft(reversed(missed))
        if self._can_pause:
            self.is_suspected = self.is_held = self._is_word_over = True
            self._suspected_blocks = _BACKCHANNEL_BLOCKS
        return True

    def _speech_blocks(self, window: int) -> int:
        return sum(result.is_speech for result in list(self._recent)[-window:])

    def _has_spoken(self, blocks: int, pitched: int) -> bool:
        has_pitch = sum(result.has_pitch for result in self._recent)
        return self._speech_blocks(_STOP_WINDOW) >= blocks and has_pitch >= pitched

    def _is_near_end(self) -> bool:
        level = self._level() if self._level else None
        if level is None:
            return True
        if level.is_converged:
            return level.has_near_end_sound
        if level.losses:
            return False
        return level.residual_dbfs >= max(_FAINT_DBFS, level.heard_dbfs - _UNCONVERGED_LOSS_DB)


def _speech_in(replayed: Sequence[ReplayedBlock], aggressiveness: int) -> list[Audio]:
    """The blocks from the start of speech to the end; empty without speech."""
    usual_dbfs = residual_floor_dbfs([cleaned for cleaned, _ in replayed])
    level: EchoLevel | None = None
    detector = BargeInDetector(lambda: level, aggressiveness)
    blocks = [Audio(cleaned, SAMPLE_RATE_HZ) for cleaned, _ in replayed]
    for number, (cleaned, heard) in enumerate(replayed, 1):
        level = EchoLevel(dbfs(heard), dbfs(cleaned), _KNOWN_ERLE_DB, usual_dbfs, _KNOWN_S)
        detector.feed(blocks[number - 1])
        if detector._has_spoken(_MISSED_BLOCKS, _MISSED_PITCHED):
            is_speech = [each.is_speech for each in detector._recent]
            began = number - len(is_speech) + is_speech.index(True)
            if began > _CONVERGED_BLOCKS:
                return []
            return blocks[max(0, began - _BEFORE_BLOCKS) :]
    return []


def _autocorrelation(sound: NDArray[np.float32]) -> NDArray[np.float64]:
    return np.fft.irfft(np.abs(np.fft.rfft(sound, 2 * len(sound))) ** 2)


_WINDOW = np.hanning(2 * BLOCK_SAMPLES).astype(np.float32)
_WINDOW_AUTOCORRELATION = _autocorrelation(_WINDOW)[_LAGS] / _autocorrelation(_WINDOW)[0]


def _pitch_strength(before: NDArray[np.float32], now: NDArray[np.float32]) -> float:
    """The normalized autocorrelation peak in the pitch range: 0 for noise, 1 for a steady vowel."""
    sound = np.concatenate((before, now))
    autocorrelation = _autocorrelation((sound - sound.mean()) * _WINDOW)
    if autocorrelation[0] <= 0:
        return 0.0
    return float(np.max(autocorrelation[_LAGS] / _WINDOW_AUTOCORRELATION) / autocorrelation[0])


assert BLOCK_MS == 20, "the numbers of blocks above are for blocks of 20 ms"


# The duration of a character, until a sentence of the reply is synthesized.
_CHAR_S = 0.065
# Synthesized audio ends with up to 0.4 s of silence, which does not count.
_AUDIBLE = 0.01
# The precision of a device's playback position.
_INEXACT_S = 0.03


@dataclass(slots=True, eq=False)
class SpokenSentence:
    """A sentence of the reply, and how much of it was synthesized and played."""

    text: str
    synthesized_s: float = 0.0
    audible_s: float = 0.0
    """Where its last audible sample is."""
    is_synthesized: bool = False
    """Whether synthesis is complete."""
    heard_s: float = 0.0
    language: str = ENGLISH

    def add(self, sound: Audio) -> None:
        audible = np.flatnonzero(np.abs(sound.samples) > _AUDIBLE)
        if len(audible):
            self.audible_s = self.synthesized_s + (int(audible[-1]) + 1) / sound.rate_hz
        self.synthesized_s += sound.duration_s

    @property
    def is_heard(self) -> bool:
        """Whether all of it was played; always true of a sentence without audible sound."""
        return self.is_synthesized and self.heard_s >= self.audible_s - _INEXACT_S


def spoken_prefix(written: str, sentences: Sequence[SpokenSentence]) -> str:
    """The part of `written` that was played: whole sentences, then whole words.

    `sentences` are those of `written`, in order; white space may differ.
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
    """The words of a partly played sentence that were played to their end."""
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

"""Voice activity detection (VAD) per 20 ms block: WebRTC VAD plus an adaptive noise floor.

Fast and without a neural model; biased towards false positives. Silero, slower and more accurate, decides
again before transcription (edgevox/stt/silero_vad.py).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
import webrtcvad
from numpy.typing import NDArray

from edgevox.audio.dsp import SILENCE_DBFS, decibels
from edgevox.core.types import SAMPLE_RATE_HZ, Audio

BLOCK_MS = 20
BLOCK_SAMPLES = SAMPLE_RATE_HZ * BLOCK_MS // 1000

# Where the power of speech is, and that of hum and rumble is not.
_LOWEST_HZ, _HIGHEST_HZ = 300, 4000
_BIN_HZ = SAMPLE_RATE_HZ / BLOCK_SAMPLES
_BAND = slice(round(_LOWEST_HZ / _BIN_HZ), round(_HIGHEST_HZ / _BIN_HZ) + 1)
# Every vowel has more of its power than this in the band; a mains hum has only what leaks into it.
_LEAST_IN_BAND_DB = -20.0
# The quietest moment of so long is the room without a voice: people pause for breath, fans do not.
_ROOM_MEMORY_S = 3.0
_ABOVE_ROOM_DB = 6.0
# webrtcvad has a least energy: it misses a quiet voice, however far above the room that is. Where no block of
# the same seconds has this level, a second one is given the sound with the loudest raised to it. One alone
# would learn amplified noise, and miss quiet ends of words once the gain falls (ADR 25).
_SPEECH_DBFS = -30.0
# Where nearly all of so long sounds like a voice, others talk or music plays: whoever speaks to us does not
# fill it. The quietest moment in it is how loud that is; a moment is longer than the gaps between words.
_TALK_MEMORY = 400
_LEAST_TALK = 150
_TALK_SHARE = 0.6
_MOMENT = 8


@dataclass(frozen=True, slots=True)
class VadResult:
    """What one block is; levels are those of the band in which people speak.

    `room_db` is that of the quietest moment of the last seconds; `is_talk` where most of them may be voices.
    """

    is_voice: bool
    level_db: float
    room_db: float
    is_talk: bool


class VoiceActivityDetector:
    """Judges one block after the other, knowing how loud the room is. 0 is lenient, 3 is strict.

    Sound without a loud moment is judged amplified as well, by `most_gain_db` at most.
    """

    def __init__(self, aggressiveness: int = 2, *, most_gain_db: float = 0.0) -> None:
        self._most_gain_db = most_gain_db
        self._webrtc = webrtcvad.Vad(aggressiveness)
        self._amplified = webrtcvad.Vad(aggressiveness)
        self._window = np.hanning(BLOCK_SAMPLES).astype(np.float32)
        # So that a full-scale sine has the same level in the spectrum as in the samples.
        self._scale = 2 / (BLOCK_SAMPLES * float(np.dot(self._window, self._window)))
        self._recent_db: deque[float] = deque(maxlen=round(_ROOM_MEMORY_S * 1000 / BLOCK_MS))
        self._totals_db: deque[float] = deque(maxlen=self._recent_db.maxlen)
        self._moment: deque[float] = deque(maxlen=_MOMENT)
        self._moments_db: deque[float] = deque(maxlen=_TALK_MEMORY)
        self._voices: deque[bool] = deque(maxlen=_TALK_MEMORY)

    def judge(self, block: Audio) -> VadResult:
        """Say what the next block is; it must be BLOCK_MS of sound at 16 kHz."""
        samples = block.samples
        if len(samples) != BLOCK_SAMPLES or block.rate_hz != SAMPLE_RATE_HZ:
            raise ValueError(f"{len(samples)} samples at {block.rate_hz} Hz are not {BLOCK_MS} ms at 16 kHz")
        spectrum = np.fft.rfft(samples * self._window)[_BAND]
        power = float(np.vdot(spectrum, spectrum).real) * self._scale
        level_db = decibels(power)
        total_db = decibels(float(np.dot(samples, samples)) / BLOCK_SAMPLES)
        self._recent_db.append(level_db)
        self._totals_db.append(total_db)
        sounds_like_voice = self._sounds_like_voice(samples)
        is_voice = (
            sounds_like_voice
            and level_db > SILENCE_DBFS
            and level_db - total_db >= _LEAST_IN_BAND_DB
            and level_db - min(self._recent_db) >= _ABOVE_ROOM_DB
        )
        self._moment.append(power)
        self._moments_db.append(decibels(sum(self._moment) / len(self._moment)))
        self._voices.append(sounds_like_voice)
        heard = len(self._voices)
        is_talk = heard >= _LEAST_TALK and sum(self._voices) >= _TALK_SHARE * heard
        return VadResult(is_voice, level_db, min(self._moments_db), is_talk)

    def _sounds_like_voice(self, samples: NDArray[np.float32]) -> bool:
        is_speech = _is_speech(self._webrtc, samples)
        gain_db = min(_SPEECH_DBFS - max(self._totals_db), self._most_gain_db)
        if gain_db <= 0:
            return is_speech
        return _is_speech(self._amplified, samples * np.float32(10 ** (gain_db / 20))) or is_speech


def _is_speech(detector: webrtcvad.Vad, samples: NDArray[np.float32]) -> bool:
    pcm = (np.clip(samples, -1.0, 1.0) * 32_767).astype("<i2").tobytes()
    return bool(detector.is_speech(pcm, SAMPLE_RATE_HZ))

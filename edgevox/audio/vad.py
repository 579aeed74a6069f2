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

# The speech band, without hum and rumble.
_LOWEST_HZ, _HIGHEST_HZ = 300, 4000
_BIN_HZ = SAMPLE_RATE_HZ / BLOCK_SAMPLES
_BAND = slice(round(_LOWEST_HZ / _BIN_HZ), round(_HIGHEST_HZ / _BIN_HZ) + 1)
# Every vowel has a larger share of its power in the band; of mains hum only leakage is in it.
_LEAST_IN_BAND_DB = -20.0
# The minimum over this time is the noise floor: speakers pause for breath, fans do not.
_ROOM_MEMORY_S = 3.0
_ABOVE_ROOM_DB = 6.0
# webrtcvad has a minimum energy and misses quiet speech, however far above the noise floor. While no recent
# block reaches this level, a second detector gets the audio amplified to it. A single detector would adapt to
# amplified noise, and miss quiet word endings once the gain falls (ADR 25).
_SPEECH_DBFS = -30.0
# If most of this many blocks are voiced, there is background talk or music: a single speaker does not fill them.
# The quietest moment gives its level; a moment is longer than the gaps between words.
_TALK_MEMORY = 400
_LEAST_TALK = 150
_TALK_SHARE = 0.6
_MOMENT = 8


@dataclass(frozen=True, slots=True)
class VadResult:
    """The classification of one block; levels are those of the speech band.

    `room_db` is the quietest moment of the last seconds; `is_talk` if most of them are voiced.
    """

    is_voice: bool
    level_db: float
    room_db: float
    is_talk: bool


class VoiceActivityDetector:
    """Classifies blocks relative to the noise floor. `aggressiveness` 0 is lenient, 3 is strict.

    Quiet audio is also tested with up to `most_gain_db` of gain.
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
        """Classify the next block, which must be BLOCK_MS at 16 kHz."""
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

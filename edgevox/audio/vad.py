"""Whether a block of sound may be a voice: quick, without a model, and rather once too often than not.

Silero, which is slower and surer, has the last word later, where Whisper runs (edgevox/stt/speech_gate.py).
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
import webrtcvad

from edgevox.audio.levels import SILENCE_DBFS, decibels
from edgevox.types import WHISPER_RATE_HZ, Audio

BLOCK_MS = 20
BLOCK_SAMPLES = WHISPER_RATE_HZ * BLOCK_MS // 1000

# Where the power of speech is, and that of hum and rumble is not.
_LOWEST_HZ, _HIGHEST_HZ = 300, 4000
_BIN_HZ = WHISPER_RATE_HZ / BLOCK_SAMPLES
_BAND = slice(round(_LOWEST_HZ / _BIN_HZ), round(_HIGHEST_HZ / _BIN_HZ) + 1)
# Every vowel has more of its power than this in the band; a mains hum has only what leaks into it.
_LEAST_IN_BAND_DB = -20.0
# The quietest moment of so long is the room without a voice: people pause for breath, fans do not.
_ROOM_MEMORY_S = 3.0
_ABOVE_ROOM_DB = 6.0
# Where nearly all of so long sounds like a voice, others talk or music plays: whoever speaks to us does not
# fill it. The quietest moment in it is how loud that is; a moment is longer than the gaps between words.
_TALK_MEMORY = 400
_LEAST_TALK = 150
_TALK_SHARE = 0.6
_MOMENT = 8


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one block is; levels are those of the band in which people speak.

    `room_db` is that of the quietest moment of the last seconds; `is_talk` where most of them may be voices.
    """

    is_voice: bool
    level_db: float
    room_db: float
    is_talk: bool


class VoiceDetector:
    """Judges one block after the other, knowing how loud the room is. 0 is lenient, 3 is strict."""

    def __init__(self, aggressiveness: int = 2) -> None:
        self._webrtc = webrtcvad.Vad(aggressiveness)
        self._window = np.hanning(BLOCK_SAMPLES).astype(np.float32)
        # So that a full-scale sine has the same level in the spectrum as in the samples.
        self._scale = 2 / (BLOCK_SAMPLES * float(np.dot(self._window, self._window)))
        self._recent_db: deque[float] = deque(maxlen=round(_ROOM_MEMORY_S * 1000 / BLOCK_MS))
        self._moment: deque[float] = deque(maxlen=_MOMENT)
        self._moments_db: deque[float] = deque(maxlen=_TALK_MEMORY)
        self._voices: deque[bool] = deque(maxlen=_TALK_MEMORY)

    def judge(self, block: Audio) -> Judgement:
        """Say what the next block is; it must be BLOCK_MS of sound at 16 kHz."""
        samples = block.samples
        if len(samples) != BLOCK_SAMPLES or block.rate_hz != WHISPER_RATE_HZ:
            raise ValueError(f"{len(samples)} samples at {block.rate_hz} Hz are not {BLOCK_MS} ms at 16 kHz")
        spectrum = np.fft.rfft(samples * self._window)[_BAND]
        power = float(np.vdot(spectrum, spectrum).real) * self._scale
        level_db = decibels(power)
        total_db = decibels(float(np.dot(samples, samples)) / BLOCK_SAMPLES)
        self._recent_db.append(level_db)
        pcm = (np.clip(samples, -1.0, 1.0) * 32_767).astype("<i2").tobytes()
        sounds_like_voice = self._webrtc.is_speech(pcm, WHISPER_RATE_HZ)
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
        return Judgement(is_voice, level_db, min(self._moments_db), is_talk)

"""How well a wake word is told from everything else: false accepts per hour, and misses, on given sounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.vad import BLOCK_MS, BLOCK_SAMPLES
from edgevox.audio.wake_word import Trigger, WakeWordDetector
from edgevox.settings.wake_section import WakeWordName
from edgevox.types import WHISPER_RATE_HZ, Audio

TARGET_FALSE_PER_HOUR = 0.5
"""What openWakeWord asks of its models …"""
TARGET_MISSED = 0.05
"""… with this share of missed words at most."""

# A recording begins with its first word: the room before it is made.
_ROOM_BEFORE_S = 2.0
_ROOM_AFTER_S = 1.0
_ROOM_LEVEL = 0.0003
_CERTAINTY = 0.95


@dataclass(frozen=True, slots=True)
class Heard:
    """One recording as the model heard it: how sure it was, block after block."""

    name: str
    confidences: NDArray[np.float32]
    duration_s: float

    def accepts_s(self, cutoff: float) -> list[float]:
        """When, in the recording, the word would have been detected."""
        trigger = Trigger(cutoff)
        blocks = [number for number, sure in enumerate(self.confidences, 1) if trigger.feed(float(sure))]
        return [max(0.0, number * BLOCK_MS / 1000 - _ROOM_BEFORE_S) for number in blocks]


@dataclass(frozen=True, slots=True)
class Score:
    """What came of a trial at one cut-off."""

    cutoff: float
    false_accepts: int
    hours: float
    missed: int
    words: int

    @property
    def false_per_hour(self) -> float | None:
        """None where there was nothing to hear wrongly."""
        return self.false_accepts / self.hours if self.hours else None

    @property
    def false_per_hour_at_most(self) -> float | None:
        """With 95 % certainty, from so few hours: none in two hours may still be 1.5 per hour."""
        return _most_expected(self.false_accepts) / self.hours if self.hours else None

    @property
    def missed_share(self) -> float | None:
        return self.missed / self.words if self.words else None


def listen(word: WakeWordName | Path, name: str, audio: Audio) -> Heard:
    """Let the word's model hear a recording at 16 kHz, in a quiet room. Raises ConfigError."""
    detector = WakeWordDetector(word)
    samples = np.concatenate([_room(_ROOM_BEFORE_S), audio.samples, _room(_ROOM_AFTER_S)])
    confidences = [
        detector.judge(Audio(samples[start : start + BLOCK_SAMPLES], audio.rate_hz))
        for start in range(0, len(samples) - BLOCK_SAMPLES + 1, BLOCK_SAMPLES)
    ]
    return Heard(name, np.array(confidences, np.float32), audio.duration_s)


def score(words: Sequence[Heard], others: Sequence[Heard], cutoff: float) -> Score:
    """`words` are recordings with the wake word in them, `others` those without."""
    return Score(
        cutoff=cutoff,
        false_accepts=sum(len(heard.accepts_s(cutoff)) for heard in others),
        hours=sum(heard.duration_s for heard in others) / 3600,
        missed=sum(not heard.accepts_s(cutoff) for heard in words),
        words=len(words),
    )


def _room(seconds: float) -> NDArray[np.float32]:
    hiss = np.random.default_rng(5).standard_normal(round(seconds * WHISPER_RATE_HZ))
    return (_ROOM_LEVEL * hiss).astype(np.float32)


def _most_expected(count: int) -> float:
    """The highest mean of a Poisson process of which `count` is still no surprise."""
    low, high = 0.0, 10.0 + 3.0 * count
    while high - low > 1e-6:
        middle = (low + high) / 2
        terms = (math.exp(k * math.log(middle) - middle - math.lgamma(k + 1)) for k in range(count + 1))
        low, high = (middle, high) if sum(terms) > 1 - _CERTAINTY else (low, middle)
    return high

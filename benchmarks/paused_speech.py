"""Utterances with a pause inside, as of people who think while they speak.

What Piper and espeak-ng say has it at a place of chance between two words, and both halves are spoken apart,
so that the first sounds like one. Recordings get it where they are quietest, with hiss as loud as their room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.speech_test_set import (
    ESPEAK_VOICES,
    RECORDED_AUDIBLE_DB,
    SENTENCES,
    SpeechCache,
    recorded,
    say_by_espeak,
    say_by_piper,
    trimmed,
)
from edgevox.core.types import SAMPLE_RATE_HZ, Audio
from edgevox.tts.piper import PiperEngine

PAUSES_S = (0.3, 0.7)
_LEAST_WORDS = 4
_PLACES_IN_A_RECORDING = 3
_ESPEAK_WORDS_PER_MINUTE = (140, 165, 190)
_FRAME_S = 0.01
_FRAME = round(_FRAME_S * SAMPLE_RATE_HZ)
_WORD_END_S = 0.15
_APART_S = 0.25
_WORDS_POWER = 0.06
_LEAST_WORDS_S = 0.2


@dataclass(frozen=True, slots=True)
class Said:
    """One utterance with a pause in it, without silence around it."""

    voice: str
    text: str
    audio: Audio
    pause_s: float
    room: float = 0.0
    """How loud the hiss is in which it was recorded."""


def spoken_by_piper(piper: PiperEngine, cache: SpeechCache, random: np.random.Generator, count: int) -> Iterator[Said]:
    speak = partial(say_by_piper, piper, 1.0)
    for text in _texts(random, count):
        first, second = _split(text, random)
        parts = [trimmed(cache.spoken("piper 1.0", part, speak)) for part in (first, second)]
        yield _with_pause("piper", f"{first} | {second}", parts, random)


def spoken_by_espeak(cache: SpeechCache, random: np.random.Generator, count: int) -> Iterator[Said]:
    for number, text in enumerate(_texts(random, count)):
        voice = ESPEAK_VOICES[number % len(ESPEAK_VOICES)]
        pace = _ESPEAK_WORDS_PER_MINUTE[number % len(_ESPEAK_WORDS_PER_MINUTE)]
        first, second = _split(text, random)
        speak = partial(say_by_espeak, voice, pace)
        parts = [trimmed(cache.spoken(f"espeak {voice} {pace}", part, speak)) for part in (first, second)]
        yield _with_pause(f"espeak {voice}", f"{first} | {second}", parts, random)


def from_recordings(folder: Path, random: np.random.Generator) -> Iterator[Said]:
    for utterance in recorded(folder):
        samples = _up_to_last_word(trimmed(utterance.audio, RECORDED_AUDIBLE_DB))
        for place in _quiet_places(samples)[:_PLACES_IN_A_RECORDING]:
            text = f"{utterance.text or utterance.source} | at {place / SAMPLE_RATE_HZ:.2f} s"
            parts = [samples[:place], samples[place:]]
            yield _with_pause("recorded", text, parts, random, room=_quietest(utterance.audio.samples))


def _texts(random: np.random.Generator, count: int) -> list[str]:
    long_enough = [text for text in SENTENCES if len(text.split()) >= _LEAST_WORDS]
    return [long_enough[place] for place in random.permutation(len(long_enough))[:count]]


def _split(text: str, random: np.random.Generator) -> tuple[str, str]:
    words = text.split()
    place = int(random.integers(1, len(words)))
    return " ".join(words[:place]), " ".join(words[place:])


def _with_pause(
    voice: str, text: str, parts: Sequence[NDArray[np.float32]], random: np.random.Generator, *, room: float = 0.0
) -> Said:
    pause_s = float(random.uniform(*PAUSES_S))
    first, second = parts
    silence = room * random.standard_normal(round(pause_s * SAMPLE_RATE_HZ)).astype(np.float32)
    sound = Audio(np.concatenate([first, silence, second]), SAMPLE_RATE_HZ)
    return Said(voice, text, sound, pause_s, room)


def _quiet_places(samples: NDArray[np.float32]) -> list[int]:
    """Where in a recording a word may end, the quietest first, with words on both sides."""
    power, loud = _loudness(samples)
    inner = [
        place for place in np.argsort(power) if min(loud[:place].sum(), loud[place:].sum()) * _FRAME_S >= _LEAST_WORDS_S
    ]
    chosen: list[int] = []
    for place in inner:
        if all(abs(int(place) - other) > _APART_S / _FRAME_S for other in chosen):
            chosen.append(int(place))
    return [place * _FRAME for place in chosen]


def _up_to_last_word(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    _power, loud = _loudness(samples)
    return samples[: (np.flatnonzero(loud)[-1] + 1) * _FRAME + round(_WORD_END_S * SAMPLE_RATE_HZ)]


def _loudness(samples: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The power of each frame, and where it is that of words, which are loud for a while, unlike a noise."""
    frames = samples[: len(samples) // _FRAME * _FRAME].reshape(-1, _FRAME)
    power = np.convolve(np.mean(np.square(frames, dtype=np.float64), axis=1), np.ones(6) / 6, mode="same")
    return power, power > power.max() * _WORDS_POWER


def _quietest(samples: NDArray[np.float32]) -> float:
    """How loud the quietest tenth of a second is, mostly before or behind the words."""
    length = SAMPLE_RATE_HZ // 10
    pieces = samples[: len(samples) // length * length].reshape(-1, length)
    return float(np.sqrt(np.mean(np.square(pieces), axis=1).min()))

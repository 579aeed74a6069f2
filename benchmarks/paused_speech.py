"""Utterances with a pause inside, as of people who think while they speak.

What Piper and espeak-ng say has it at a place of chance between two words, and both halves are spoken apart,
so that the first sounds like one. Recordings get it where they are quietest, filled with their own room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.speech_set import (
    ESPEAK_VOICES,
    SENTENCES,
    SpeechCache,
    recorded,
    say_by_espeak,
    say_by_piper,
    trimmed,
)
from edgevox.tts.piper import PiperEngine
from edgevox.types import WHISPER_RATE_HZ, Audio

PAUSES_S = (0.3, 0.7)
_LEAST_WORDS = 4
_PLACES_IN_A_RECORDING = 3
_ESPEAK_WORDS_PER_MINUTE = (140, 165, 190)
_FRAME_S = 0.01
_APART_S = 0.25
_NOTHING = np.zeros(1, np.float32)


@dataclass(frozen=True, slots=True)
class Said:
    """One utterance with a pause in it, without silence around it."""

    voice: str
    text: str
    audio: Audio
    pause_s: float


def spoken_by_piper(
    piper: PiperEngine, cache: SpeechCache, random: np.random.Generator, count: int
) -> Iterator[Said]:
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
        samples = trimmed(utterance.audio)
        for place in _quiet_places(samples)[:_PLACES_IN_A_RECORDING]:
            text = f"{utterance.text or utterance.source} | at {place / WHISPER_RATE_HZ:.2f} s"
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
    voice: str,
    text: str,
    parts: Sequence[NDArray[np.float32]],
    random: np.random.Generator,
    *,
    room: NDArray[np.float32] = _NOTHING,
) -> Said:
    pause_s = float(random.uniform(*PAUSES_S))
    first, second = parts
    silence = np.resize(np.concatenate([room, room[::-1]]), round(pause_s * WHISPER_RATE_HZ))
    return Said(voice, text, Audio(np.concatenate([first, silence, second]), WHISPER_RATE_HZ), pause_s)


def _quiet_places(samples: NDArray[np.float32]) -> list[int]:
    """Where in a recording a word may end, the quietest first: not at its edges, nor twice at one place."""
    frame = round(_FRAME_S * WHISPER_RATE_HZ)
    frames = samples[: len(samples) // frame * frame].reshape(-1, frame)
    power = np.convolve(np.mean(np.square(frames, dtype=np.float64), axis=1), np.ones(6) / 6, mode="same")
    inner = [place for place in np.argsort(power) if 0.2 < place / len(power) < 0.8]
    chosen: list[int] = []
    for place in inner:
        if all(abs(int(place) - other) > _APART_S / _FRAME_S for other in chosen):
            chosen.append(int(place))
    return [place * frame for place in chosen]


def _quietest(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """The room of a recording: its quietest tenth of a second, mostly before or behind the words."""
    length = WHISPER_RATE_HZ // 10
    pieces = samples[: len(samples) // length * length].reshape(-1, length)
    return np.asarray(pieces[np.argmin(np.mean(np.square(pieces), axis=1))])

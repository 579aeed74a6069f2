"""Makes synthesised phrases sound like a room: other pitch, reverberation, microphones, noise, level, speech around."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from edgevox.audio.dsp import Resampler
from edgevox.audio.wake_features import Floats
from edgevox.audio.wake_head import WINDOW_S
from edgevox.core.types import SAMPLE_RATE_HZ, Audio

# Samples under this share of the peak, before the first and after the last sound, are silence.
_SILENCE = 0.03
_PITCHES = (0.88, 1.14)
_SPEECH_LEVEL = 0.05
# A phrase ends this long before the end of its clip.
AFTER_S = 0.72
_BEFORE_S = WINDOW_S + 0.3
_GAP_S = 0.5


@dataclass(frozen=True, slots=True)
class Clip:
    """A phrase in a room; `begin_s` and `end_s` are those of the phrase."""

    samples: Floats
    begin_s: float
    end_s: float


def speech_of(audio: Audio) -> Floats:
    """The speech at 16 kHz and at one level, without silence before and after it."""
    samples = audio.samples
    if audio.rate_hz != SAMPLE_RATE_HZ:
        resampler = Resampler(audio.rate_hz, SAMPLE_RATE_HZ)
        samples = np.concatenate([resampler.feed(samples), resampler.finish()])
    loud = np.flatnonzero(np.abs(samples) > _SILENCE * np.abs(samples).max(initial=1e-6))
    samples = samples[loud[0] : loud[-1] + 1] if len(loud) else samples
    return np.asarray(samples * (_SPEECH_LEVEL / (_level(samples) + 1e-9)), np.float32)


class Augmenter:
    """Puts speech into rooms by chance. `others` is speech without the phrase, for before, after and behind it."""

    def __init__(self, others: Sequence[Floats], random: np.random.Generator) -> None:
        self._others = others
        self._random = random

    def phrase(self, speech: Floats) -> Clip:
        """The phrase with other speech or silence around it, in a room."""
        random = self._random
        speech = _at_pitch(speech, random.uniform(*_PITCHES))
        before = self._quiet_or_speech(0.35)
        after = self._quiet_or_speech(0.5)
        start = round(_BEFORE_S * SAMPLE_RATE_HZ)
        rest = round(AFTER_S * SAMPLE_RATE_HZ)
        samples = np.zeros(start + rest, np.float32)
        begin = max(0, start - len(speech))
        samples[begin:start] = speech[-(start - begin) :]
        end_before = max(0, begin - self._gap())
        part = before[-end_before:] if end_before else before[:0]
        samples[end_before - len(part) : end_before] = part
        begin_after = start + self._gap(0.25)
        part = after[: max(0, len(samples) - begin_after)]
        samples[begin_after : begin_after + len(part)] = part
        return Clip(self.in_room(samples), begin / SAMPLE_RATE_HZ, start / SAMPLE_RATE_HZ)

    def talk(self, pieces: Sequence[Floats]) -> Floats:
        """Speech without the phrase, with short pauses, in a room."""
        pause = [np.zeros(self._gap(), np.float32) for _ in pieces]
        varied = [_at_pitch(piece, self._random.uniform(*_PITCHES)) for piece in pieces]
        return self.in_room(np.concatenate([part for pair in zip(varied, pause, strict=True) for part in pair]))

    def in_room(self, samples: Floats) -> Floats:
        """The same through a room and a microphone, with noise, at a level by chance."""
        random = self._random
        size = 1 << (len(samples) + SAMPLE_RATE_HZ // 2).bit_length()
        spectrum = np.fft.rfft(samples, size) * self._microphone(size)
        if random.random() < 0.7:
            spectrum = spectrum * np.fft.rfft(self._reverberation(), size)
        heard = np.fft.irfft(spectrum, size)[: len(samples)].astype(np.float32)
        heard *= _SPEECH_LEVEL / (_level(heard) + 1e-6)
        if random.random() < 0.8:
            heard = heard + self._noise(len(samples)) * _SPEECH_LEVEL * 10 ** (-random.uniform(3, 30) / 20)
        heard = heard * np.float32(10 ** (random.uniform(-26, 10) / 20))
        heard += 0.0003 * 10 ** random.uniform(-0.7, 0.3) * random.standard_normal(len(heard))
        return np.asarray(np.clip(heard, -1, 1), np.float32)

    def _quiet_or_speech(self, share: float) -> Floats:
        if not self._others or self._random.random() > share:
            return np.zeros(0, np.float32)
        return self._others[int(self._random.integers(len(self._others)))]

    def _gap(self, most_s: float = _GAP_S) -> int:
        return round(self._random.uniform(0.0, most_s) * SAMPLE_RATE_HZ)

    def _microphone(self, size: int) -> Floats:
        """The response of a microphone and a distance: a smooth curve over the logarithm of the frequency."""
        points = self._random.normal(0.0, 4.0, 6)
        bins = np.log(np.arange(1, size // 2 + 2))
        decibels = np.interp(bins, np.linspace(np.log(size / 200), bins[-1], 6), points)
        return np.asarray(10 ** (decibels / 20), np.float32)

    def _reverberation(self) -> Floats:
        """The impulse response of a room: the direct sound, and noise that decays."""
        random = self._random
        decay_s = random.uniform(0.1, 0.6)
        times = np.arange(round(0.8 * decay_s * SAMPLE_RATE_HZ)) / SAMPLE_RATE_HZ
        tail = random.standard_normal(len(times)) * np.exp(-6.9 * times / decay_s)
        tail *= 10 ** (random.uniform(-14, 2) / 20) / (np.linalg.norm(tail) + 1e-9)
        tail[0] += 1.0
        return np.asarray(tail, np.float32)

    def _noise(self, count: int) -> Floats:
        """Noise of one colour, or several voices at once, at a level of 1."""
        random = self._random
        if self._others and random.random() < 0.4:
            noise = np.zeros(count, np.float32)
            for number in random.integers(len(self._others), size=random.integers(1, 5)):
                noise += np.resize(np.roll(self._others[number], random.integers(SAMPLE_RATE_HZ)), count)
        else:
            spectrum = np.fft.rfft(random.standard_normal(count))
            slope = random.uniform(0.0, 1.2)
            shape = np.maximum(np.arange(len(spectrum)), count / 400) ** slope
            noise = np.fft.irfft(spectrum / shape, count).astype(np.float32)
        return np.asarray(noise / (_level(noise) + 1e-9), np.float32)


def _at_pitch(speech: Floats, factor: float) -> Floats:
    """Faster and higher by the factor. The embeddings use what is under 3.8 kHz: interpolation is good enough."""
    places = np.arange(0, len(speech) - 1, factor)
    return np.asarray(np.interp(places, np.arange(len(speech)), speech), np.float32)


def _level(samples: Floats) -> float:
    return float(np.sqrt(np.mean(samples**2))) if len(samples) else 0.0

"""Synthetic test speech: the voices that say a suite's utterances, and noise at a signal-to-noise ratio."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from edgevox.audio.dsp import Resampler
from edgevox.audio.files import read_audio
from edgevox.core.errors import AudioError, ConfigError
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, TtsService
from edgevox.dialogue.speech_output import Synthesizer
from edgevox.tts.normalize import normalize_text

ESPEAK = "espeak-ng"
_ESPEAK_WORDS_PER_MINUTE = 165
_ESPEAK_TIMEOUT_S = 30.0


class EvalVoice(Protocol):
    """A voice. `name` is for the table."""

    name: str

    async def say(self, text: str, speed: float) -> Audio:
        """The sound of `text`, at the recogniser's rate. Raises AudioError and EngineFailed."""


class AssistantVoice:
    """The voice of the assistant."""

    name = "piper"

    def __init__(self, synthesizer: TtsService) -> None:
        self._synthesizer = synthesizer

    async def say(self, text: str, speed: float) -> Audio:
        sound = await Synthesizer(self._synthesizer, speed=speed).sound_of(text)
        resampler = Resampler(sound.rate_hz, SAMPLE_RATE_HZ)
        samples = np.concatenate([resampler.feed(sound.samples), resampler.finish()])
        return Audio(samples, SAMPLE_RATE_HZ)


class EspeakVoice:
    """The program espeak-ng. Raises ConfigError where it is not installed."""

    name = "espeak"

    def __init__(self) -> None:
        found = shutil.which(ESPEAK)
        if found is None:
            raise ConfigError(f"there is no {ESPEAK} here", hint="install it, or choose --voices piper")
        self._program = found

    async def say(self, text: str, speed: float) -> Audio:
        pace = str(round(_ESPEAK_WORDS_PER_MINUTE * speed))
        with tempfile.TemporaryDirectory(prefix="edgevox-eval-") as folder:
            path = Path(folder) / "said.wav"
            process = await asyncio.create_subprocess_exec(
                self._program, "-v", "en-us", "-s", pace, "-w", str(path), "--", normalize_text(text)
            )
            try:
                async with asyncio.timeout(_ESPEAK_TIMEOUT_S):
                    await process.wait()
            except TimeoutError as error:
                process.kill()
                raise AudioError(f"{ESPEAK} does not end", hint="choose --voices piper") from error
            return read_audio(path)


NoiseKind: TypeAlias = Literal["babble", "music", "white"]
NOISE_KINDS: tuple[NoiseKind, ...] = get_args(NoiseKind)

_TALKERS = 6
# A band: a chord that decays on every half second, another one every two seconds, a bass and a drum below.
_BEAT_S = 0.5
_BEATS_PER_CHORD = 4
_CHORDS_HZ = ((220.0, 277.2, 329.6), (293.7, 370.0, 440.0), (246.9, 311.1, 370.0), (196.0, 246.9, 293.7))
_OVERTONES = 6
# What the segmenter leaves around an utterance: the pre-roll, and the pause that ended it.
_BEFORE_S, _AFTER_S = 0.3, 0.5
_LOUDEST = 0.99


class Noise:
    """Noise of one kind; babble is several of `talk` at once, music a band without a singer."""

    def __init__(self, kind: NoiseKind, talk: Sequence[Audio], *, seed: int = 0) -> None:
        self._kind = kind
        self._talk = tuple(sound.samples for sound in talk)
        self._seed = seed

    def behind(
        self,
        sound: Audio,
        snr_db: float | None,
        key: str,
        *,
        before_s: float = _BEFORE_S,
        after_s: float = _AFTER_S,
    ) -> Audio:
        """The sound in noise, or in silence where `snr_db` is None; equal keys give equal noise."""
        around = [np.zeros(round(seconds * sound.rate_hz), np.float32) for seconds in (before_s, after_s)]
        clean = np.concatenate([around[0], sound.samples, around[1]])
        if snr_db is None:
            return Audio(clean, sound.rate_hz)
        random = np.random.default_rng([self._seed, zlib.crc32(key.encode())])
        noise = self._noise(len(clean), sound.rate_hz, random)
        gain = _level(sound.samples) / (_level(noise) * 10 ** (snr_db / 20))
        mixed = clean + gain * noise
        loudest = float(np.abs(mixed).max())
        return Audio((mixed * min(1.0, _LOUDEST / loudest)).astype(np.float32), sound.rate_hz)

    def _noise(self, samples: int, rate_hz: int, random: np.random.Generator) -> NDArray[np.float32]:
        if self._kind == "music":
            return _music(samples, rate_hz, random)
        if self._kind == "white" or not self._talk:
            return random.standard_normal(samples).astype(np.float32)
        noise = np.zeros(samples, np.float32)
        for _talker in range(_TALKERS):
            voice = self._talk[random.integers(len(self._talk))]
            start = int(random.integers(len(voice)))
            # It goes on from the beginning: nobody in the background pauses for long.
            noise += np.resize(np.roll(voice, -start), samples)
        return noise


def _music(samples: int, rate_hz: int, random: np.random.Generator) -> NDArray[np.float32]:
    t_s = np.arange(samples) / rate_hz + random.uniform(0, _BEAT_S)
    beat, since_s = np.floor(t_s / _BEAT_S).astype(int), t_s % _BEAT_S
    chords = random.integers(len(_CHORDS_HZ), size=beat[-1] // _BEATS_PER_CHORD + 1)
    played = np.array(_CHORDS_HZ)[chords[beat // _BEATS_PER_CHORD]]
    # On each beat one of the chord's notes is played an octave higher: that is the tune.
    tune_hz = 2 * played[np.arange(samples), random.integers(3, size=beat[-1] + 1)[beat]]
    music = 0.8 * _tone(tune_hz, since_s) + 0.5 * _tone(played[:, 0] / 2, since_s)
    for note in range(3):
        music += 0.4 * _tone(played[:, note], since_s)
    music += 0.5 * random.standard_normal(samples) * np.exp(-40 * since_s)
    return music.astype(np.float32)


def _tone(hz: NDArray[np.float64], since_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """A string that was plucked so long ago."""
    tone = np.zeros(len(hz))
    for overtone in range(1, _OVERTONES + 1):
        tone += np.sin(2 * np.pi * overtone * hz * since_s) / overtone
    return np.asarray(tone * np.exp(-3 * since_s))


def _level(samples: NDArray[np.float32]) -> float:
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64)))) + 1e-9

"""Synthetic test speech: voices for the utterances of a suite, and noise at a signal-to-noise ratio."""

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
from edgevox.core.languages import ENGLISH
from edgevox.core.platform import kill_child
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, TtsService
from edgevox.dialogue.speech_output import Synthesizer
from edgevox.tts.normalize import normalize_text

ESPEAK = "espeak-ng"
_ESPEAK_WORDS_PER_MINUTE = 165
_ESPEAK_TIMEOUT_S = 30.0
_ESPEAK_VOICES = {"en": "en-us", "pt": "pt-br"}


class EvalVoice(Protocol):
    """A TTS voice; `name` is shown in the table."""

    name: str

    async def synthesize(self, text: str, speed: float) -> Audio:
        """Synthesize `text` at the sample rate of STT. Raises AudioError and EngineFailed."""


class AssistantVoice:
    """The assistant's TTS engine."""

    def __init__(self, synthesizer: TtsService, name: str = "piper", language: str = ENGLISH) -> None:
        self.name = name
        self._synthesizer = synthesizer
        self._language = language

    async def synthesize(self, text: str, speed: float) -> Audio:
        sound = await Synthesizer(self._synthesizer, speed=speed).sound_of(text, self._language)
        resampler = Resampler(sound.rate_hz, SAMPLE_RATE_HZ)
        samples = np.concatenate([resampler.feed(sound.samples), resampler.finish()])
        return Audio(samples, SAMPLE_RATE_HZ)


class EspeakVoice:
    """The program espeak-ng. Raises ConfigError if it is not installed."""

    name = "espeak"

    def __init__(self, language: str = ENGLISH) -> None:
        self._language = language
        found = shutil.which(ESPEAK)
        if found is None:
            raise ConfigError(f"{ESPEAK} is not installed", hint="install it, or use --voices piper")
        self._program = found

    async def synthesize(self, text: str, speed: float) -> Audio:
        pace = str(round(_ESPEAK_WORDS_PER_MINUTE * speed))
        voice = _ESPEAK_VOICES.get(self._language, self._language)
        with tempfile.TemporaryDirectory(prefix="edgevox-eval-") as folder:
            path = Path(folder) / "said.wav"
            process = await asyncio.create_subprocess_exec(
                self._program, "-v", voice, "-s", pace, "-w", str(path), "--", normalize_text(text, self._language)
            )
            try:
                async with asyncio.timeout(_ESPEAK_TIMEOUT_S):
                    await process.wait()
            except TimeoutError as error:
                kill_child(process)
                raise AudioError(f"{ESPEAK} timed out", hint="use --voices piper") from error
            return read_audio(path)


NoiseKind: TypeAlias = Literal["babble", "music", "white"]
NOISE_KINDS: tuple[NoiseKind, ...] = get_args(NoiseKind)

_TALKERS = 6
# Synthetic music: a decaying chord every half second, a new chord every two seconds, bass and drum.
_BEAT_S = 0.5
_BEATS_PER_CHORD = 4
_CHORDS_HZ = ((220.0, 277.2, 329.6), (293.7, 370.0, 440.0), (246.9, 311.1, 370.0), (196.0, 246.9, 293.7))
_OVERTONES = 6
# Silence that the endpointer leaves around an utterance: the pre-roll, and the pause that ended it.
_BEFORE_S, _AFTER_S = 0.3, 0.5
_LOUDEST = 0.99


class Noise:
    """Noise of one kind; babble mixes several of `talk`, music is instrumental."""

    def __init__(self, kind: NoiseKind, talk: Sequence[Audio]) -> None:
        self._kind = kind
        self._talk = tuple(sound.samples for sound in talk)

    def mix(
        self, sound: Audio, snr_db: float | None, key: str, *, before_s: float = _BEFORE_S, after_s: float = _AFTER_S
    ) -> Audio:
        """Pad the sound and add noise (none if `snr_db` is None); equal keys give equal noise."""
        around = [np.zeros(round(seconds * sound.rate_hz), np.float32) for seconds in (before_s, after_s)]
        clean = np.concatenate([around[0], sound.samples, around[1]])
        if snr_db is None:
            return Audio(clean, sound.rate_hz)
        random = np.random.default_rng([0, zlib.crc32(key.encode())])
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
            # Wraps around to the start, so that the background has no long pauses.
            noise += np.resize(np.roll(voice, -start), samples)
        return noise


def _music(samples: int, rate_hz: int, random: np.random.Generator) -> NDArray[np.float32]:
    t_s = np.arange(samples) / rate_hz + random.uniform(0, _BEAT_S)
    beat, since_s = np.floor(t_s / _BEAT_S).astype(int), t_s % _BEAT_S
    chords = random.integers(len(_CHORDS_HZ), size=beat[-1] // _BEATS_PER_CHORD + 1)
    played = np.array(_CHORDS_HZ)[chords[beat // _BEATS_PER_CHORD]]
    # The melody is one note of the chord per beat, an octave higher.
    tune_hz = 2 * played[np.arange(samples), random.integers(3, size=beat[-1] + 1)[beat]]
    music = 0.8 * _tone(tune_hz, since_s) + 0.5 * _tone(played[:, 0] / 2, since_s)
    for note in range(3):
        music += 0.4 * _tone(played[:, note], since_s)
    music += 0.5 * random.standard_normal(samples) * np.exp(-40 * since_s)
    return music.astype(np.float32)


def _tone(hz: NDArray[np.float64], since_s: NDArray[np.float64]) -> NDArray[np.float64]:
    """A plucked string, `since_s` after the pluck."""
    tone = np.zeros(len(hz))
    for overtone in range(1, _OVERTONES + 1):
        tone += np.sin(2 * np.pi * overtone * hz * since_s) / overtone
    return np.asarray(tone * np.exp(-3 * since_s))


def _level(samples: NDArray[np.float32]) -> float:
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64)))) + 1e-9

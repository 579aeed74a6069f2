"""The voices that say a suite's utterances: the assistant's own, and espeak-ng's."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Protocol

import numpy as np

from edgevox.audio.files import read_audio
from edgevox.audio.resample import Resampler
from edgevox.errors import AudioError, ConfigError
from edgevox.tts.speakable import speakable
from edgevox.types import WHISPER_RATE_HZ, Audio, Synthesizer
from edgevox.voice.voice import Voice

ESPEAK = "espeak-ng"
_ESPEAK_WORDS_PER_MINUTE = 165
_ESPEAK_TIMEOUT_S = 30.0


class Speaking(Protocol):
    """A voice. `name` is for the table."""

    name: str

    async def say(self, text: str, speed: float) -> Audio:
        """The sound of `text`, at the recogniser's rate. Raises AudioError and EngineFailed."""


class PiperSpeaking:
    """The voice of the assistant."""

    name = "piper"

    def __init__(self, synthesizer: Synthesizer) -> None:
        self._synthesizer = synthesizer

    async def say(self, text: str, speed: float) -> Audio:
        sound = await Voice(self._synthesizer, speed=speed).sound_of(text)
        resampler = Resampler(sound.rate_hz, WHISPER_RATE_HZ)
        samples = np.concatenate([resampler.feed(sound.samples), resampler.finish()])
        return Audio(samples, WHISPER_RATE_HZ)


class EspeakSpeaking:
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
                self._program, "-v", "en-us", "-s", pace, "-w", str(path), "--", speakable(text)
            )
            try:
                async with asyncio.timeout(_ESPEAK_TIMEOUT_S):
                    await process.wait()
            except TimeoutError as error:
                process.kill()
                raise AudioError(f"{ESPEAK} does not end", hint="choose --voices piper") from error
            return read_audio(path)

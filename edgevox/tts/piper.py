"""Piper as an engine: one sentence of speakable text in, pieces of sound out.

This is the only file that imports piper, which is GPL. It does so in `load`, which the daemon calls in a
child process of its own (docs/adr/0004-piper-behind-its-own-process.md).
"""

from __future__ import annotations

import json
import logging
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from edgevox.errors import ModelError, ModelMissing
from edgevox.turn import CancelFlag
from edgevox.types import Audio, SynthesisRequest

# One run's working memory grows with its sound: this much is about 12 s and 250 MB at normal speed.
MAX_PIECE_PHONEMES = 240
MAX_PIECE_CHARS = 400

_SLOWEST, _FASTEST = 0.25, 4.0
# Spoken to nobody when a voice is loaded: as loud as speech is on the whole, and long enough for two chunks.
_PROBE = "Good morning."
# How loud every voice is, whatever its own level; the peaks of speech are about seven times this.
_LEVEL = 0.1
_MOST_GAIN = 10.0
_KNEE = 0.7


class PiperEngine:
    """A Piper voice: an ONNX file, and its settings in a file of the same name with `.json` behind it.

    A second thread nearly halves the time while a core is idle (benchmarks/results/tts.md).
    """

    def __init__(self, voice_path: Path, *, threads: int = 1) -> None:
        self.voice_path = voice_path
        self.threads = threads
        self._voice: Any = None
        self._speech: Any = None
        self._switch: Any = None
        self._gain = 1.0

    @property
    def config_path(self) -> Path:
        return self.voice_path.with_name(f"{self.voice_path.name}.json")

    def load(self) -> None:
        """Read the voice and say a word to nobody. Raises ModelMissing or ModelError."""
        for path in (self.voice_path, self.config_path):
            if not path.is_file():
                raise ModelMissing(f"there is no voice file {path}", hint="edgevox models pull fetches it")

        # Not at the top of the file: only the process that speaks may carry GPL code and onnxruntime.
        from piper.config import PiperConfig, SynthesisConfig
        from piper.voice import PiperVoice

        from edgevox.tts.onnx_session import ONNX_ERRORS, StopSwitch
        from edgevox.tts.vits import open_speech

        logging.getLogger("piper").setLevel(logging.ERROR)
        try:
            config = PiperConfig.from_dict(json.loads(self.config_path.read_text(encoding="utf-8")))
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as err:
            raise _broken(self.config_path, err) from err
        # A file that is a model but no voice, or a language espeak has not, only shows when a word is spoken.
        unusable: tuple[type[Exception], ...] = (*ONNX_ERRORS, OSError, RuntimeError, ValueError, TypeError)
        try:
            voice = PiperVoice(config=config, session=_Inputs())
            silent = SynthesisConfig(noise_scale=0.0, noise_w_scale=0.0)
            probe = [phoneme for sentence in voice.phonemize(_PROBE) for phoneme in sentence]
            switch = StopSwitch()
            speech, sound = open_speech(
                self.voice_path,
                rate_hz=config.sample_rate,
                threads=self.threads,
                switch=switch,
                probe=_inputs(voice, probe, silent),
            )
        except unusable as err:
            raise _broken(self.voice_path, err) from err
        self._gain = _LEVEL / max(float(np.sqrt(np.mean(sound**2))), _LEVEL / _MOST_GAIN)
        self._voice, self._speech, self._switch = voice, speech, switch

    def run(self, request: SynthesisRequest, cancel: CancelFlag) -> Iterator[Audio]:
        """Speak one sentence, chunk by chunk. A text without a letter or a digit gives no sound.

        Raises ModelError when the voice was not loaded.
        """
        voice = self._voice
        if voice is None:
            raise ModelError("the voice is not loaded", hint="call load() before run()")
        from piper.config import SynthesisConfig

        from edgevox.tts.onnx_session import RunStopped

        speed = min(max(request.speed, _SLOWEST), _FASTEST)
        config = SynthesisConfig(length_scale=voice.config.length_scale / speed)
        with self._switch.thrown_by(cancel), suppress(RunStopped):
            for phonemes in self._phonemes(request.text, int(MAX_PIECE_PHONEMES * min(speed, 1.0))):
                if cancel.is_set():
                    return
                for samples in self._speech.chunks(_inputs(voice, phonemes, config)):
                    if cancel.is_set():
                        return
                    yield Audio(_loud(samples, self._gain), voice.config.sample_rate)

    def _phonemes(self, text: str, longest: int) -> Iterator[Sequence[str]]:
        """What is to be spoken, in pieces of at most `longest` phonemes."""
        for piece in _pieces(_printable(text), MAX_PIECE_CHARS):
            if not any(char.isalnum() for char in piece):
                continue
            for sentence in self._voice.phonemize(piece):
                for phonemes in _pieces(sentence, longest):
                    if any(phoneme.isalpha() for phoneme in phonemes):
                        yield phonemes


def _broken(path: Path, err: Exception) -> ModelError:
    reason = str(err).strip().splitlines()
    return ModelError(
        f"the voice file {path} cannot be used: {reason[0] if reason else type(err).__name__}",
        hint="edgevox models verify finds damaged files, edgevox models pull fetches them again",
    )


def _printable(text: str) -> str:
    """The text without what espeak refuses (NUL, lone surrogates) or takes for raw phonemes ([[...]])."""
    return "".join(
        " " if char in "[]" or unicodedata.category(char) in {"Cc", "Cs"} else char for char in text
    )


def _pieces(whole: Sequence[str], longest: int) -> Iterator[Any]:
    """Slices of at most `longest`, cut behind a space where there is one."""
    start = 0
    while len(whole) - start > longest:
        end = start + longest
        while end > start and whole[end - 1] != " ":
            end -= 1
        if end == start:
            end = start + longest
        yield whole[start:end]
        start = end
    yield whole[start:]


class _Inputs:
    """Stands where Piper expects its session, and keeps what Piper gives it."""

    def __init__(self) -> None:
        self.last: Mapping[str, Any] = {}

    def run(self, output_names: None, inputs: Mapping[str, Any]) -> list[NDArray[np.float32]]:
        self.last = inputs
        return [np.zeros(0, dtype=np.float32)]


def _inputs(voice: Any, phonemes: Sequence[str], config: Any) -> Mapping[str, Any]:  # noqa: ANN401 (piper's)
    """What Piper would have its session make sound of."""
    voice.phoneme_ids_to_audio(voice.phonemes_to_ids(phonemes), config)
    inputs: Mapping[str, Any] = voice.session.last
    return inputs


def _loud(samples: NDArray[np.float32], gain: float) -> NDArray[np.float32]:
    """The same gain for every sentence, and for every chunk; what would be too loud is bent, not cut off."""
    loud = samples * np.float32(gain)
    size = np.abs(loud)
    bent = _KNEE + (1 - _KNEE) * np.tanh((size - _KNEE) / (1 - _KNEE))
    return np.where(size > _KNEE, np.copysign(bent, loud), loud).astype(np.float32)

"""Piper as an engine: one sentence of speakable text in, pieces of sound out.

This is the only file that imports piper, which is GPL. It does so in `load`, which the daemon calls in a
child process of its own (docs/adr/0004-piper-behind-its-own-process.md).
"""

from __future__ import annotations

import json
import logging
import unicodedata
from collections.abc import Iterator, Sequence
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


class PiperEngine:
    """A Piper voice: an ONNX file, and its settings in a file of the same name with `.json` behind it.

    A second thread nearly halves the time while a core is idle (benchmarks/results/tts.md).
    """

    def __init__(self, voice_path: Path, *, threads: int = 1) -> None:
        self.voice_path = voice_path
        self.threads = threads
        self._voice: Any = None

    @property
    def config_path(self) -> Path:
        return self.voice_path.with_name(f"{self.voice_path.name}.json")

    def load(self) -> None:
        """Read the voice and say a word to nobody. Raises ModelMissing or ModelError."""
        for path in (self.voice_path, self.config_path):
            if not path.is_file():
                raise ModelMissing(f"there is no voice file {path}", hint="edgevox models pull fetches it")

        # Not at the top of the file: only the process that speaks may carry GPL code and onnxruntime.
        from piper.config import PiperConfig
        from piper.voice import PiperVoice

        from edgevox.tts.onnx_session import ONNX_ERRORS, StoppableSession

        logging.getLogger("piper").setLevel(logging.ERROR)
        try:
            config = PiperConfig.from_dict(json.loads(self.config_path.read_text(encoding="utf-8")))
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as err:
            raise _broken(self.config_path, err) from err
        # A file that is a model but no voice, or a language espeak has not, only shows when a word is spoken.
        unusable: tuple[type[Exception], ...] = (*ONNX_ERRORS, OSError, RuntimeError, ValueError, TypeError)
        try:
            session = StoppableSession(self.voice_path, threads=self.threads)
            self._voice = PiperVoice(config=config, session=session)
            for _ in self.run(SynthesisRequest("Hello."), CancelFlag()):
                pass
        except unusable as err:
            self._voice = None
            raise _broken(self.voice_path, err) from err

    def run(self, request: SynthesisRequest, cancel: CancelFlag) -> Iterator[Audio]:
        """Speak one sentence. A text without a letter or a digit gives no sound.

        Raises ModelError when the voice was not loaded.
        """
        voice = self._voice
        if voice is None:
            raise ModelError("the voice is not loaded", hint="call load() before run()")
        from piper.config import SynthesisConfig

        speed = min(max(request.speed, _SLOWEST), _FASTEST)
        config = SynthesisConfig(length_scale=voice.config.length_scale / speed)
        with voice.session.stopped_by(cancel):
            for phonemes in self._phonemes(request.text, int(MAX_PIECE_PHONEMES * min(speed, 1.0))):
                if cancel.is_set():
                    return
                samples = voice.phoneme_ids_to_audio(voice.phonemes_to_ids(phonemes), config)
                if cancel.is_set():
                    return
                yield Audio(_full_scale(samples), voice.config.sample_rate)

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


def _full_scale(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """Every piece equally loud: the model's own level wanders from sentence to sentence."""
    peak = float(np.max(np.abs(samples), initial=0.0))
    return np.ascontiguousarray(samples / max(peak, 1e-8), dtype=np.float32)

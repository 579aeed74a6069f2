"""The Piper engine: one normalized sentence in, chunks of audio out.

This is the only file that imports piper, which is GPL. It does so in `load`, which the daemon calls in a
child process of its own (docs/adr/0004-piper-behind-its-own-process.md).
"""

from __future__ import annotations

import json
import logging
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from edgevox.core.errors import ModelError, ModelMissing
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, SynthesisRequest
from edgevox.tts.pieces import MAX_PIECE_PHONEMES, PROBE, clamped_speed, level_gain, pieces, text_pieces

if TYPE_CHECKING:  # the child process does without the settings: 20 MB
    from edgevox.tts.engines import TtsContext

# A voice takes some 80 MB: the least recently used one is dropped, and loaded again when needed.
MOST_VOICES = 3


class PiperEngine:
    """Piper voices: an ONNX file each, with its settings in the same name plus `.json`.

    `others` are voices by language; `voice_path` is for all other languages. A second thread nearly halves the
    time while a core is idle (benchmarks/results/tts.md).
    """

    def __init__(self, voice_path: Path, *, others: Mapping[str, Path] | None = None, threads: int = 1) -> None:
        self.voice_path = voice_path
        self.others = dict(others or {})
        self.threads = threads
        self._switch: Any = None
        self._loaded: OrderedDict[Path, _Voice] = OrderedDict()
        """The loaded voices, the most recently used last."""

    def load(self) -> None:
        """Load and warm up the first voice. Raises ModelMissing or ModelError.

        The files of the other voices must exist; they are loaded on first use.
        """
        for path in (self.voice_path, *self.others.values()):
            for file in (path, _config_path(path)):
                if not file.is_file():
                    raise ModelMissing(f"there is no voice file {file}", hint="edgevox models pull fetches it")
        # Imported late: only the TTS process may load GPL code and onnxruntime.
        from edgevox.tts.vits import StopSwitch

        logging.getLogger("piper").setLevel(logging.ERROR)
        switch = StopSwitch()
        self._loaded[self.voice_path] = _Voice(self.voice_path, threads=self.threads, switch=switch)
        self._switch = switch

    def run(self, request: SynthesisRequest, cancel: CancelFlag) -> Iterator[Audio]:
        """Synthesize one sentence in chunks; a text without a letter or a digit gives none.

        Raises ModelError if the engine is not loaded, or the voice of the language cannot be loaded.
        """
        if self._switch is None:
            raise ModelError("the voice is not loaded", hint="call load() before run()")
        from edgevox.tts.vits import RunStopped

        voice = self._voice(self.others.get(request.language, self.voice_path))
        speed = clamped_speed(request.speed)
        with self._switch.thrown_by(cancel), suppress(RunStopped):
            is_first = True
            for phonemes in voice.phonemes(request.text, int(MAX_PIECE_PHONEMES * min(speed, 1.0))):
                if cancel.is_set():
                    return
                for audio in voice.sound(phonemes, speed):
                    if cancel.is_set():
                        return
                    yield audio.without_leading_silence() if is_first else audio
                    is_first = False

    def _voice(self, path: Path) -> _Voice:
        voice = self._loaded.get(path)
        if voice is None:
            if len(self._loaded) >= MOST_VOICES:
                self._loaded.popitem(last=False)
            voice = self._loaded[path] = _Voice(path, threads=self.threads, switch=self._switch)
        self._loaded.move_to_end(path)
        return voice


class _Voice:
    """A loaded voice. Raises ModelError."""

    def __init__(self, path: Path, *, threads: int, switch: Any) -> None:  # noqa: ANN401 (not imported yet)
        from piper.config import PiperConfig, SynthesisConfig
        from piper.voice import PiperVoice

        from edgevox.tts.vits import ONNX_ERRORS, open_vits

        try:
            config = PiperConfig.from_dict(json.loads(_config_path(path).read_text(encoding="utf-8")))
        except (OSError, ValueError, LookupError, TypeError, AttributeError) as err:
            raise _broken(_config_path(path), err) from err
        # A model that is not a voice, or a language unknown to espeak, fails only on synthesis.
        unusable: tuple[type[Exception], ...] = (*ONNX_ERRORS, OSError, RuntimeError, ValueError, TypeError)
        try:
            self._piper = PiperVoice(config=config, session=_Inputs())
            silent = SynthesisConfig(noise_scale=0.0, noise_w_scale=0.0)
            probe = [phoneme for sentence in self._piper.phonemize(PROBE) for phoneme in sentence]
            self._speech, sound = open_vits(
                path,
                rate_hz=config.sample_rate,
                threads=threads,
                switch=switch,
                probe=_inputs(self._piper, probe, silent),
            )
        except unusable as err:
            raise _broken(path, err) from err
        self._gain = level_gain(sound)

    def phonemes(self, text: str, longest: int) -> Iterator[Sequence[str]]:
        """The phonemes in pieces of at most `longest`."""
        for piece in text_pieces(text):
            for sentence in self._piper.phonemize(piece):
                for phonemes in pieces(sentence, longest):
                    if any(phoneme.isalpha() for phoneme in phonemes):
                        yield phonemes

    def sound(self, phonemes: Sequence[str], speed: float) -> Iterator[Audio]:
        """Synthesize one piece in chunks. Raises RunStopped."""
        from piper.config import SynthesisConfig

        config = SynthesisConfig(length_scale=self._piper.config.length_scale / speed)
        for samples in self._speech.chunks(_inputs(self._piper, phonemes, config)):
            yield Audio(samples, self._piper.config.sample_rate).amplified(self._gain)


def _config_path(voice_path: Path) -> Path:
    return voice_path.with_name(f"{voice_path.name}.json")


def _broken(path: Path, err: Exception) -> ModelError:
    reason = str(err).strip().splitlines()
    return ModelError(
        f"the voice file {path} cannot be used: {reason[0] if reason else type(err).__name__}",
        hint="edgevox models verify finds damaged files, edgevox models pull fetches them again",
    )


class _Inputs:
    """Replaces Piper's onnxruntime session and records its inputs."""

    def __init__(self) -> None:
        self.last: Mapping[str, Any] = {}

    def run(self, output_names: None, inputs: Mapping[str, Any]) -> list[NDArray[np.float32]]:
        self.last = inputs
        return [np.zeros(0, dtype=np.float32)]


def _inputs(voice: Any, phonemes: Sequence[str], config: Any) -> Mapping[str, Any]:  # noqa: ANN401 (piper's)
    """The inputs that Piper would pass to its session."""
    voice.phoneme_ids_to_audio(voice.phonemes_to_ids(phonemes), config)
    inputs: Mapping[str, Any] = voice.session.last
    return inputs


def create(context: TtsContext) -> PiperEngine:
    # The voice that most replies need is loaded at once, and speaks for languages that have none.
    first = context.files.get(context.language, next(iter(context.files.values())))
    return PiperEngine(first, others=context.files, threads=context.threads)

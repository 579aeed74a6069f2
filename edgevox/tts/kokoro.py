"""Voices of the Kokoro family: Kokoro-82M, and hibari, which was distilled from it, is 30 times faster and English.

Both read the same phonemes. hibari's package has the rules for English, and the signal processing that its voices
need; espeak-ng reads the other languages. Both and onnxruntime are imported in `load`, so only the process that
synthesizes does it.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from edgevox.core.errors import ModelError, ModelMissing
from edgevox.core.files import packaged_toml
from edgevox.core.languages import ENGLISH
from edgevox.core.turn import CancelFlag
from edgevox.core.types import Audio, SynthesisRequest
from edgevox.tts.mixed import MixedEngine
from edgevox.tts.pieces import MAX_PIECE_PHONEMES, PROBE, clamped_speed, level_gain, pieces, text_pieces

if TYPE_CHECKING:  # the child process does without the settings
    from edgevox.tts.engines import TtsContext
    from edgevox.tts.vits import StopSwitch

_RATE_HZ = 24_000
# Rows of a Kokoro voice: one for each number of phonemes.
_STYLE_SHAPE = (-1, 1, 256)
# The voices end a sentence with nearly half a second of silence, which would delay the end of the turn.
_PAUSE_S = 0.25
# Longer numbers are read digit by digit.
_LONG_NUMBER = re.compile(r"\d{16,}")


class _Voice(Protocol):
    def sound(self, ids: list[int], speed: float, pitch: float) -> NDArray[np.float32]:
        """Synthesize phoneme ids at so many times the pitch. Raises RunStopped and ONNX_ERRORS."""


class KokoroEngine:
    """One voice: an ONNX file. Beside that of Kokoro-82M is a style file (`af_heart.bin`), hibari's has none.

    Names of files follow Kokoro's convention: those of British voices begin with "b". Only hibari's have a pitch.
    """

    def __init__(
        self, voice_path: Path, language: str = ENGLISH, *, threads: int = 1, pitch_semitones: float = 0.0
    ) -> None:
        self.voice_path = voice_path
        self.language = language
        self.threads = threads
        self.pitch_semitones = pitch_semitones
        self._switch: StopSwitch | None = None
        self._voice: _Voice
        self._phonemes: Callable[[str], str]
        self._ids: Mapping[str, int] = {}
        self._gain = 1.0

    def load(self) -> None:
        """Load the rules for phonemes and the voice. Raises ModelMissing or ModelError."""
        if not self.voice_path.is_file():
            raise ModelMissing(f"there is no voice file {self.voice_path}", hint="edgevox models pull fetches it")
        # Imported late: see above.
        from hibari import g2p

        from edgevox.tts.vits import ONNX_ERRORS, StopSwitch

        style_path = next(iter(sorted(self.voice_path.parent.glob("*.bin"))), None)
        is_british = (style_path or self.voice_path).name.startswith("b")
        self._ids = json.loads(Path(g2p.ASSETS, "vocab.json").read_text(encoding="utf-8"))
        self._phonemes = (
            _EnglishPhonemes(g2p.G2P(british=is_british)).of
            if self.language == ENGLISH
            else _EspeakPhonemes(self.language, self._ids).of
        )
        switch = StopSwitch()
        unusable: tuple[type[Exception], ...] = (*ONNX_ERRORS, OSError, ValueError, LookupError)
        try:
            self._voice = (
                _KokoroVoice(self.voice_path, style_path, self.threads, switch)
                if style_path
                else _HibariVoice(self.voice_path, self.threads, switch)
            )
            self._gain = level_gain(
                np.concatenate([self._voice.sound(ids, 1.0, 1.0) for ids in self._phoneme_ids(PROBE)])
            )
        except unusable as err:
            reason = str(err).strip().splitlines()
            raise ModelError(
                f"the voice file {self.voice_path} cannot be used: {reason[0] if reason else type(err).__name__}",
                hint="edgevox models verify finds damaged files, edgevox models pull fetches them again",
            ) from err
        self._switch = switch

    def run(self, request: SynthesisRequest, cancel: CancelFlag) -> Iterator[Audio]:
        """Synthesize one sentence; a text without a word of the language gives nothing.

        Raises ModelError if the engine is not loaded.
        """
        if self._switch is None:
            raise ModelError("the voice is not loaded", hint="call load() before run()")
        from edgevox.tts.vits import RunStopped

        speed = clamped_speed(request.speed)
        semitones = self.pitch_semitones if request.pitch_semitones is None else request.pitch_semitones
        pitch = 2 ** (semitones / 12)
        with self._switch.thrown_by(cancel), suppress(RunStopped):
            is_first = True
            for ids in self._phoneme_ids(request.text, int(MAX_PIECE_PHONEMES * min(speed, 1.0))):
                if cancel.is_set():
                    return
                audio = Audio(self._voice.sound(ids, speed, pitch), _RATE_HZ).amplified(self._gain)
                if cancel.is_set():
                    return
                audio = audio.with_trailing_silence(_PAUSE_S)
                yield audio.without_leading_silence() if is_first else audio
                is_first = False

    def _phoneme_ids(self, text: str, longest: int = MAX_PIECE_PHONEMES) -> Iterator[list[int]]:
        """The phonemes in pieces of at most `longest`, each between two pauses."""
        for piece in text_pieces(text):
            for phonemes in pieces(self._phonemes(piece), longest):
                if any(phoneme.isalpha() for phoneme in phonemes):
                    yield [0, *(self._ids[phoneme] for phoneme in phonemes if phoneme in self._ids), 0]


class _EnglishPhonemes:
    def __init__(self, rules: Callable[[str], object]) -> None:
        self._rules = rules

    def of(self, text: str) -> str:
        return str(self._rules(_readable(text)))


# Kokoro has one letter for each of these pairs.
_JOINED = {"dʒ": "ʤ", "tʃ": "ʧ", "ts": "ʦ", "dz": "ʣ", "aɪ": "I", "aʊ": "W", "eɪ": "A", "oʊ": "O", "ɔɪ": "Y"}
_PAIR = re.compile("|".join(_JOINED))


class _EspeakPhonemes:
    """espeak's phonemes in the letters that Kokoro was trained with."""

    def __init__(self, language: str, known: Collection[str]) -> None:
        # GPL: see espeak.py.
        from edgevox.tts.espeak import EspeakPhonemizer

        self._phonemizer = EspeakPhonemizer(language)
        self._known = known

    def of(self, text: str) -> str:
        sentences = (unicodedata.normalize("NFC", "".join(sentence)) for sentence in self._phonemizer.sentences(text))
        joined = _PAIR.sub(lambda pair: _JOINED[pair[0]], " ".join(sentences))
        return "".join(char if char in self._known else unicodedata.normalize("NFD", char) for char in joined)


@cache
def _pronunciations() -> tuple[re.Pattern[str], Mapping[str, str]]:
    """The words with a pronunciation of their own, as a pattern and with their phonemes."""
    phonemes = packaged_toml("tts/pronunciations.toml")
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, phonemes))})(?!\w)", re.IGNORECASE), phonemes


def _readable(text: str) -> str:
    """The text with digits that the rules for numbers can read, and with the phonemes of words that they cannot.

    "²" and "①" are digits, but no numbers to them.
    """
    plain = "".join(str(unicodedata.digit(char)) if char.isdigit() else char for char in text.replace("’", "'"))
    plain = _LONG_NUMBER.sub(lambda number: " ".join(number[0]), plain)
    words, phonemes = _pronunciations()
    return words.sub(lambda word: f"[{word[0]}](/{phonemes[word[0].casefold()]}/)", plain)


class _HibariVoice:
    """Predicts a spectrum; hibari's signal processing makes the waveform."""

    def __init__(self, path: Path, threads: int, switch: StopSwitch) -> None:
        from hibari import dsp

        from edgevox.tts.vits import StoppableSession

        self._session = StoppableSession(path, threads=threads, switch=switch)
        self._dsp = dsp
        self._noise = np.random.default_rng(0)

    def sound(self, ids: list[int], speed: float, pitch: float) -> NDArray[np.float32]:
        inputs: dict[str, NDArray[Any]] = {"ids": np.array([ids], np.int64), "speed": np.array([speed], np.float32)}
        *spectrum, pitch_hz = (part[0] for part in self._session.run(inputs))
        made: NDArray[np.float32] = self._dsp.synth(*spectrum, pitch_hz * np.float32(pitch), self._noise)
        return made


class _KokoroVoice:
    """Predicts the waveform."""

    def __init__(self, path: Path, style_path: Path, threads: int, switch: StopSwitch) -> None:
        from edgevox.tts.vits import StoppableSession

        self._session = StoppableSession(path, threads=threads, switch=switch)
        self._styles = np.fromfile(style_path, np.float32).reshape(_STYLE_SHAPE)

    def sound(self, ids: list[int], speed: float, pitch: float) -> NDArray[np.float32]:  # this has no pitch
        return self.styled(ids, self._styles[len(ids) - 2], speed)

    def styled(self, ids: list[int], style: NDArray[np.float32], speed: float) -> NDArray[np.float32]:
        inputs: dict[str, NDArray[Any]] = {
            "tokens": np.array([ids], np.int64),
            "style": style,
            "speed": np.array([speed], np.float32),
        }
        made: NDArray[np.float32] = self._session.run(inputs)[0].ravel()
        return made


def create(context: TtsContext) -> KokoroEngine | MixedEngine:
    pitch = context.settings.pitch_semitones
    engines = {
        language: KokoroEngine(path, language, threads=context.threads, pitch_semitones=pitch)
        for language, path in context.files.items()
    }
    most = context.language if context.language in engines else next(iter(engines))
    return engines[most] if len(engines) == 1 else MixedEngine(engines, most)

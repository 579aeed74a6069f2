"""A loaded Whisper model: encodes a short window and decodes it.

The encoder takes most of the time, and a command fills a tenth of Whisper's 30 s. Only the speech and a
margin are encoded; the encoder's output for silence, computed once and kept beside the model, stands for
the rest (docs/adr/0003-whisper-without-the-padding.md). Importing this module loads CTranslate2, so only
the process that transcribes does it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from ctranslate2 import StorageView
from ctranslate2.models import Whisper, WhisperGenerationResult
from faster_whisper.feature_extractor import FeatureExtractor
from faster_whisper.tokenizer import Tokenizer
from faster_whisper.transcribe import get_suppressed_tokens
from numpy.typing import NDArray
from tokenizers import Tokenizer as Tokens

from edgevox.core.errors import ConfigError, ModelError, ModelMissing
from edgevox.core.languages import ENGLISH
from edgevox.core.types import SAMPLE_RATE_HZ
from edgevox.stt.decoding import DEFAULT_DECODE_OPTIONS, FULL_WINDOW_S, DecodeOptions, Decoding, Hypothesis, Window
from edgevox.stt.whisper_adapter import adapted_folder, decode_options_of, read_tokens

FRAMES_PER_S = 100
POSITIONS_PER_S = 50
# Features span 8 powers of ten below the maximum, mapped by (x + 4) / 4. Every utterance is shifted to the same
# maximum: silence then has one value too, and its encoding can be computed once.
LOUDEST = (1.5 + 4.0) / 4.0
SILENCE = LOUDEST - 8.0 / 4.0

_KEPT = "silence-"


def encoded_silence(model: Whisper, folder: Path) -> NDArray[np.float32]:
    """The encoder output for silence, cached in the model's folder."""
    model_bin = (folder / "model.bin").stat()  # changes with a new download of the model
    digest = hashlib.sha256(f"{model_bin.st_size} {model_bin.st_mtime_ns}".encode()).hexdigest()[:12]
    kept = folder / f"{_KEPT}{digest}.npy"
    if (found := _read(kept)) is not None:
        return found
    frames = np.full((1, model.n_mels, FULL_WINDOW_S * FRAMES_PER_S), SILENCE, np.float32)
    encoded = np.array(model.encode(StorageView.from_array(frames)))
    # On a full disk it is computed at every start.
    with suppress(OSError):
        _keep(encoded, kept)
    return encoded


def _read(kept: Path) -> NDArray[np.float32] | None:
    try:
        found = np.load(kept, allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    is_whole = found.ndim == 3 and found.shape[:2] == (1, FULL_WINDOW_S * POSITIONS_PER_S)
    return found if is_whole and found.dtype == np.float32 and np.isfinite(found).all() else None


def _keep(encoded: NDArray[np.float32], kept: Path) -> None:
    for old in kept.parent.glob(f"{_KEPT}*"):
        old.unlink()
    written = kept.with_suffix(f".{os.getpid()}")
    try:
        with written.open("wb") as file:
            np.save(file, encoded)
        written.rename(kept)
    finally:
        written.unlink(missing_ok=True)


class WindowEncoder:
    """Encodes 16 kHz speech for Whisper's decoder."""

    def __init__(self, model: Whisper, folder: Path) -> None:
        self._model = model
        self._folder = folder
        self._features = FeatureExtractor(feature_size=model.n_mels)

    @cached_property
    def silence(self) -> NDArray[np.float32]:
        """The encoder output for silence; takes seconds the first time."""
        return encoded_silence(self._model, self._folder)

    def encode(self, samples: NDArray[np.float32], window: Window) -> StorageView:
        """Encode at most 30 s of speech in the given window."""
        features = self._features(samples)
        features = features + (LOUDEST - features.max())
        frames = min(round(window.encoded_s * FRAMES_PER_S), FULL_WINDOW_S * FRAMES_PER_S)
        frames += frames % 2  # the encoder halves the rate
        missing = max(0, frames - features.shape[1])
        features = np.pad(features[:, :frames], ((0, 0), (0, missing)), constant_values=SILENCE)
        batch = np.ascontiguousarray(features[None], dtype=np.float32)
        encoded = self._model.encode(StorageView.from_array(batch))
        positions = round(window.attended_s * POSITIONS_PER_S)
        if frames >= positions * 2:
            return encoded
        tail = self.silence[:, frames // 2 : positions]
        return StorageView.from_array(np.concatenate([np.array(encoded), tail], axis=1))


# About five tokens a second are spoken at most; a loop is cut off here instead of at 224.
_TOKENS_PER_S = 7
_FREE_TOKENS = 16
_MOST_NEW_TOKENS = 220
# Ten beams contain the correct words in 26 of 31 commands, the first beam in 14.
_HYPOTHESES = 10
# After a bare list Whisper writes lists. With a command after it, 7 of 68 words of real commands were wrong;
# 21 with the list alone, and 17 without names.
_COMMANDS = {
    ENGLISH: " Turn it off, please.",
    "de": " Schalte es bitte aus.",
    "fr": " Éteins-la, s'il te plaît.",
    "es": " Apágala, por favor.",
    "it": " Spegnila, per favore.",
    "nl": " Zet het uit, alsjeblieft.",
    "pt": " Desligue, por favor.",
}
_HINT = "`edgevox models verify` checks the files; `edgevox models pull` fetches them again"


@dataclass(frozen=True, slots=True)
class _DecoderPrompt:
    """The decoder's input besides the speech."""

    tokenizer: Tokenizer
    prompt: list[int]
    most_new_tokens: int

    def text(self, tokens: Sequence[int]) -> str:
        written = [token for token in tokens if token < self.tokenizer.eot]
        return str(self.tokenizer.decode(written)).strip()

    def least_word_logprob(self, tokens: Sequence[int], logits: Sequence[StorageView]) -> float:
        """Of the least certain token, without punctuation and timestamps."""
        least = 0.0
        for token, step in zip(tokens, logits, strict=False):
            if token < self.tokenizer.eot and re.search(r"\w", self.tokenizer.decode([token])):
                values = np.array(step, dtype=np.float32).ravel()
                highest = values.max()
                total = highest + np.log(np.exp(values - highest).sum())
                least = min(least, float(values[token] - total))
        return least


class WhisperDecoder:
    """Whisper through CTranslate2, with the short windows of edgevox.stt.whisper_decoder."""

    def __init__(
        self, model: Whisper, tokens: Tokens, encoder: WindowEncoder, *, adapter_options: DecodeOptions, beam_size: int
    ) -> None:
        self._model = model
        self._tokens = tokens
        self._encoder = encoder
        self._adapter_options = adapter_options
        self._beam_size = beam_size
        self._tokenizers: dict[str, Tokenizer] = {}
        self._encoded: tuple[NDArray[np.float32], Window, StorageView] | None = None

    @classmethod
    def load(cls, model_dir: Path, *, threads: int, beam_size: int, adapter: Path | None = None) -> WhisperDecoder:
        """Raises ModelMissing if a file is missing, ModelError if the files cannot be used."""
        _check_files(model_dir)
        try:
            with adapted_folder(model_dir, adapter) as folder:
                model = Whisper(str(folder), device="cpu", compute_type="int8", intra_threads=threads)
                tokens = read_tokens(folder / "tokenizer.json")
        except (RuntimeError, ValueError) as error:
            raise ModelError(f"Whisper cannot load {model_dir.name}: {error}", hint=_HINT) from error
        encoder, adapter_options = WindowEncoder(model, folder), decode_options_of(adapter)
        if adapter_options.has_tail:
            # At load time, not during the first utterance.
            _ = encoder.silence
        return cls(model, tokens, encoder, adapter_options=adapter_options, beam_size=beam_size)

    def decode_options(self, language: str | None) -> DecodeOptions:
        """The decode options; adapters are trained for English only."""
        return self._adapter_options if language == ENGLISH else DEFAULT_DECODE_OPTIONS

    def detect_language(self, samples: NDArray[np.float32], window: Window, among: Collection[str] = ()) -> str:
        """The likeliest language, of those in `among` if there are any; English if the model knows no other.

        The encoding of the window is kept for `attempt`: detection costs one step of the decoder.
        """
        if not self._model.is_multilingual:
            return ENGLISH
        ranked = (token[2:-2] for token, _ in self._model.detect_language(self._encode(samples, window))[0])
        return str(next(language for language in ranked if not among or language in among))

    def attempt(
        self, samples: NDArray[np.float32], window: Window, *, language: str, names: Sequence[str] = ()
    ) -> Decoding:
        """Decode one piece of speech at 16 kHz. Raises ConfigError for a language the model does not know."""
        decoding = self._decoding(samples, language, names)
        result = self._generate(samples, window, decoding, beam_size=self._beam_size)
        tokens = result.sequences_ids[0]
        return Decoding(
            text=decoding.text(tokens),
            ended=len(tokens) < decoding.most_new_tokens,
            mean_logprob=result.scores[0] * len(tokens) / (len(tokens) + 1),
            no_speech_probability=result.no_speech_prob,
            speech_s=len(samples) / SAMPLE_RATE_HZ,
            window_s=window.encoded_s,
            least_word_logprob=decoding.least_word_logprob(tokens, result.logits[0]),
        )

    def hypotheses(
        self, samples: NDArray[np.float32], window: Window, *, language: str, names: Sequence[str] = ()
    ) -> list[Hypothesis]:
        """The most probable hypotheses of a piece of speech; the last encoding is reused."""
        decoding = self._decoding(samples, language, names)
        result = self._generate(samples, window, decoding, beam_size=_HYPOTHESES, hypotheses=_HYPOTHESES)
        return [
            Hypothesis(decoding.text(tokens), score * len(tokens), len(tokens))
            for tokens, score in zip(result.sequences_ids, result.scores, strict=True)
            if len(tokens) < decoding.most_new_tokens
        ]

    def _decoding(self, samples: NDArray[np.float32], language: str, names: Sequence[str]) -> _DecoderPrompt:
        tokenizer, decode_options = self._tokenizer(language), self.decode_options(language)
        hotwords = hotword_prompt(tokenizer, names, language, most_tokens=decode_options.name_tokens)
        # Timestamps keep the decoder from repeating itself; a trained adapter can do without.
        untimed = [] if decode_options.timestamps else [tokenizer.no_timestamps]
        most_new = min(_MOST_NEW_TOKENS, _FREE_TOKENS + round(_TOKENS_PER_S * len(samples) / SAMPLE_RATE_HZ))
        return _DecoderPrompt(tokenizer, [*hotwords, *tokenizer.sot_sequence, *untimed], most_new)

    def _generate(
        self,
        samples: NDArray[np.float32],
        window: Window,
        decoding: _DecoderPrompt,
        *,
        beam_size: int,
        hypotheses: int = 1,
    ) -> WhisperGenerationResult:
        prompt, most_new = decoding.prompt, decoding.most_new_tokens
        (result,) = self._model.generate(
            self._encode(samples, window),
            [prompt],
            beam_size=beam_size,
            num_hypotheses=hypotheses,
            # CTranslate2 generates at most half of this, and at most what the prompt leaves of it.
            max_length=max(2 * most_new, len(prompt) + most_new),
            return_scores=True,
            return_logits_vocab=hypotheses == 1,
            return_no_speech_prob=True,
            suppress_tokens=get_suppressed_tokens(decoding.tokenizer, [-1]),
        )
        return result

    def _encode(self, samples: NDArray[np.float32], window: Window) -> StorageView:
        """Encode, or reuse the encoding from language detection."""
        last = self._encoded
        if last is None or last[0] is not samples or last[1] != window:
            last = self._encoded = (samples, window, self._encoder.encode(samples, window))
        return last[2]

    def _tokenizer(self, language: str) -> Tokenizer:
        if language not in self._tokenizers:
            multilingual = self._model.is_multilingual
            known = 'a code such as "en"' if multilingual else '"en", or a model without .en in its name'
            refused = ConfigError(f"this Whisper model does not know the language {language!r}", hint=f"use {known}")
            if not multilingual and language != ENGLISH:
                raise refused
            try:
                self._tokenizers[language] = Tokenizer(self._tokens, multilingual, task="transcribe", language=language)
            except ValueError as error:
                raise refused from error
        return self._tokenizers[language]


class TwoModelDecoder:
    """Decodes English with the adapted model, and the other languages with the plain one.

    The adapted model detects the language: its windows are shorter, and English is then encoded once.
    """

    def __init__(self, adapted: WhisperDecoder, plain: WhisperDecoder) -> None:
        self._adapted = adapted
        self._plain = plain

    def decode_options(self, language: str | None) -> DecodeOptions:
        return self._of(language or ENGLISH).decode_options(language or ENGLISH)

    def detect_language(self, samples: NDArray[np.float32], window: Window, among: Collection[str] = ()) -> str:
        return self._adapted.detect_language(samples, window, among)

    def attempt(
        self, samples: NDArray[np.float32], window: Window, *, language: str, names: Sequence[str] = ()
    ) -> Decoding:
        return self._of(language).attempt(samples, window, language=language, names=names)

    def hypotheses(
        self, samples: NDArray[np.float32], window: Window, *, language: str, names: Sequence[str] = ()
    ) -> list[Hypothesis]:
        return self._of(language).hypotheses(samples, window, language=language, names=names)

    def _of(self, language: str) -> WhisperDecoder:
        return self._adapted if language == ENGLISH else self._plain


def hotword_prompt(tokenizer: Tokenizer, names: Sequence[str], language: str, *, most_tokens: int) -> list[int]:
    """The hotword prompt: as many whole names as fit."""
    tokens: list[int] = []
    spelt = map(_as_in_a_sentence, names) if language == ENGLISH else names
    for name in dict.fromkeys(stripped for name in spelt if (stripped := name.strip())):
        more = tokenizer.encode(f", {name}" if tokens else f" {name}")
        if len(tokens) + len(more) > most_tokens:
            break
        tokens += more
    if not tokens:
        return []
    return [tokenizer.sot_prev, *tokens, *tokenizer.encode(f".{_COMMANDS.get(language, '')}")]


def _as_in_a_sentence(name: str) -> str:
    """Lower case except for "LED" and "EcoBee": after a list in title case Whisper writes title case."""
    return " ".join(word.lower() if word[1:] == word[1:].lower() else word for word in name.split(" "))


def _check_files(model_dir: Path) -> None:
    for name in ("model.bin", "config.json", "tokenizer.json"):
        if not (model_dir / name).is_file():
            raise ModelMissing(f"there is no Whisper model in {model_dir}: {name} is not there", hint=_HINT)
    if not any(model_dir.glob("vocabulary.*")):
        raise ModelMissing(f"there is no Whisper model in {model_dir}: the vocabulary is not there", hint=_HINT)
    try:
        json.loads((model_dir / "config.json").read_bytes())
    except ValueError as error:
        raise ModelError(f"config.json in {model_dir} is damaged: {error}", hint=_HINT) from error

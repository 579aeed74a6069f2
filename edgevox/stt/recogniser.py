"""A loaded Whisper model: one window of speech in, one decoding out.

Importing this module loads CTranslate2, so only the process that transcribes does it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from ctranslate2 import StorageView
from ctranslate2.models import Whisper, WhisperGenerationResult
from faster_whisper.tokenizer import Tokenizer
from faster_whisper.transcribe import get_suppressed_tokens
from numpy.typing import NDArray
from tokenizers import Tokenizer as Tokens

from edgevox.errors import ConfigError, ModelError, ModelMissing
from edgevox.stt.adapter import adapted_folder, asking_of
from edgevox.stt.attempt import Attempt
from edgevox.stt.hypotheses import Hypothesis
from edgevox.stt.ladder import UNTAUGHT, Asking, Window
from edgevox.stt.vocabulary import read_tokens
from edgevox.stt.windows import WindowEncoder
from edgevox.types import WHISPER_RATE_HZ

_ENGLISH = "en"
# About five tokens a second are spoken at most; a loop is cut off here instead of at 224.
_TOKENS_PER_S = 7
_FREE_TOKENS = 16
_MOST_NEW_TOKENS = 220
# Ten beams hold the words that were said in 26 of 31 commands where the first one holds them in 14.
_HYPOTHESES = 10
# After a bare list Whisper writes lists. With a command behind it, 7 of 68 words of real commands were wrong;
# 21 with the list alone, and 17 without names.
_COMMANDS = {_ENGLISH: " Turn it off, please."}
_HINT = "`edgevox models verify` checks the files; `edgevox models pull` fetches them again"


@dataclass(frozen=True, slots=True)
class _Decoding:
    """What the decoder is given besides the speech."""

    tokenizer: Tokenizer
    prompt: list[int]
    most_new_tokens: int

    def text(self, tokens: Sequence[int]) -> str:
        written = [token for token in tokens if token < self.tokenizer.eot]
        return str(self.tokenizer.decode(written)).strip()

    def least_word_logprob(self, tokens: Sequence[int], logits: Sequence[StorageView]) -> float:
        """Of the token that was least sure; marks and times are none that a word hangs on."""
        least = 0.0
        for token, step in zip(tokens, logits, strict=False):
            if token < self.tokenizer.eot and re.search(r"\w", self.tokenizer.decode([token])):
                values = np.array(step, dtype=np.float32).ravel()
                highest = values.max()
                total = highest + np.log(np.exp(values - highest).sum())
                least = min(least, float(values[token] - total))
        return least


class Recogniser:
    """Whisper through CTranslate2, with the short windows of edgevox.stt.windows."""

    def __init__(
        self, model: Whisper, tokens: Tokens, encoder: WindowEncoder, *, taught: Asking, beam_size: int
    ) -> None:
        self._model = model
        self._tokens = tokens
        self._encoder = encoder
        self._taught = taught
        self._beam_size = beam_size
        self._tokenizers: dict[str, Tokenizer] = {}
        self._encoded: tuple[NDArray[np.float32], Window, StorageView] | None = None

    @classmethod
    def load(
        cls, model_dir: Path, *, threads: int, beam_size: int, adapter: Path | None = None
    ) -> Recogniser:
        """Raises ModelMissing when a file is not there, ModelError when the files cannot be used."""
        _check_files(model_dir)
        try:
            with adapted_folder(model_dir, adapter) as folder:
                model = Whisper(str(folder), device="cpu", compute_type="int8", intra_threads=threads)
                tokens = read_tokens(folder / "tokenizer.json")
        except (RuntimeError, ValueError) as error:
            raise ModelError(f"Whisper cannot load {model_dir.name}: {error}", hint=_HINT) from error
        encoder, taught = WindowEncoder(model, folder), asking_of(adapter)
        if taught.has_tail:
            # Now, and not while somebody waits for what they have said.
            _ = encoder.silence
        return cls(model, tokens, encoder, taught=taught, beam_size=beam_size)

    def asking(self, language: str | None) -> Asking:
        """How to ask: what an adapter has taught is English."""
        return self._taught if language == _ENGLISH else UNTAUGHT

    def detect_language(self, samples: NDArray[np.float32], window: Window) -> str:
        """Hear which language is spoken; English where the model knows no other."""
        if not self._model.is_multilingual:
            return _ENGLISH
        ((likeliest, _), *_) = self._model.detect_language(self._encode(samples, window))[0]
        return str(likeliest).removeprefix("<|").removesuffix("|>")

    def attempt(
        self, samples: NDArray[np.float32], window: Window, *, language: str, names: Sequence[str] = ()
    ) -> Attempt:
        """Decode one piece of speech at 16 kHz. Raises ConfigError for a language the model does not know."""
        decoding = self._decoding(samples, language, names)
        result = self._generate(samples, window, decoding, beam_size=self._beam_size)
        tokens = result.sequences_ids[0]
        return Attempt(
            text=decoding.text(tokens),
            ended=len(tokens) < decoding.most_new_tokens,
            mean_logprob=result.scores[0] * len(tokens) / (len(tokens) + 1),
            no_speech_probability=result.no_speech_prob,
            speech_s=len(samples) / WHISPER_RATE_HZ,
            window_s=window.encoded_s,
            least_word_logprob=decoding.least_word_logprob(tokens, result.logits[0]),
        )

    def hypotheses(
        self, samples: NDArray[np.float32], window: Window, *, language: str, names: Sequence[str] = ()
    ) -> list[Hypothesis]:
        """The likeliest readings of a piece of speech; one that was just decoded is not encoded again."""
        decoding = self._decoding(samples, language, names)
        result = self._generate(samples, window, decoding, beam_size=_HYPOTHESES, hypotheses=_HYPOTHESES)
        return [
            Hypothesis(decoding.text(tokens), score * len(tokens), len(tokens))
            for tokens, score in zip(result.sequences_ids, result.scores, strict=True)
            if len(tokens) < decoding.most_new_tokens
        ]

    def _decoding(self, samples: NDArray[np.float32], language: str, names: Sequence[str]) -> _Decoding:
        tokenizer, asking = self._tokenizer(language), self.asking(language)
        told = names_prompt(tokenizer, names, language, most_tokens=asking.name_tokens)
        # A decoder that says when the speech ends does not start it again; one can be taught that without.
        untimed = [] if asking.timestamps else [tokenizer.no_timestamps]
        most_new = min(_MOST_NEW_TOKENS, _FREE_TOKENS + round(_TOKENS_PER_S * len(samples) / WHISPER_RATE_HZ))
        return _Decoding(tokenizer, [*told, *tokenizer.sot_sequence, *untimed], most_new)

    def _generate(
        self,
        samples: NDArray[np.float32],
        window: Window,
        decoding: _Decoding,
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
            # CTranslate2 writes at most half of this, and at most what the prompt leaves of it.
            max_length=max(2 * most_new, len(prompt) + most_new),
            return_scores=True,
            return_logits_vocab=hypotheses == 1,
            return_no_speech_prob=True,
            suppress_tokens=get_suppressed_tokens(decoding.tokenizer, [-1]),
        )
        return result

    def _encode(self, samples: NDArray[np.float32], window: Window) -> StorageView:
        """What is heard for its language is encoded once, and then read."""
        last = self._encoded
        if last is None or last[0] is not samples or last[1] != window:
            last = self._encoded = (samples, window, self._encoder.encode(samples, window))
        return last[2]

    def _tokenizer(self, language: str) -> Tokenizer:
        if language not in self._tokenizers:
            multilingual = self._model.is_multilingual
            known = 'a code such as "en"' if multilingual else '"en", or a model without .en in its name'
            refused = ConfigError(
                f"this Whisper model does not know the language {language!r}", hint=f"use {known}"
            )
            if not multilingual and language != _ENGLISH:
                raise refused
            try:
                self._tokenizers[language] = Tokenizer(
                    self._tokens, multilingual, task="transcribe", language=language
                )
            except ValueError as error:
                raise refused from error
        return self._tokenizers[language]


def names_prompt(tokenizer: Tokenizer, names: Sequence[str], language: str, *, most_tokens: int) -> list[int]:
    """Make the names into what was said before: whole names, as many as fit."""
    tokens: list[int] = []
    spelt = map(_as_in_a_sentence, names) if language == _ENGLISH else names
    for name in dict.fromkeys(stripped for name in spelt if (stripped := name.strip())):
        more = tokenizer.encode(f", {name}" if tokens else f" {name}")
        if len(tokens) + len(more) > most_tokens:
            break
        tokens += more
    if not tokens:
        return []
    return [tokenizer.sot_prev, *tokens, *tokenizer.encode(f".{_COMMANDS.get(language, '')}")]


def _as_in_a_sentence(name: str) -> str:
    """Small letters, but "LED" and "EcoBee": after a list of titles Whisper writes titles."""
    return " ".join(word.lower() if word[1:] == word[1:].lower() else word for word in name.split(" "))


def _check_files(model_dir: Path) -> None:
    for name in ("model.bin", "config.json", "tokenizer.json"):
        if not (model_dir / name).is_file():
            raise ModelMissing(f"there is no Whisper model in {model_dir}: {name} is not there", hint=_HINT)
    if not any(model_dir.glob("vocabulary.*")):
        raise ModelMissing(
            f"there is no Whisper model in {model_dir}: the vocabulary is not there", hint=_HINT
        )
    try:
        json.loads((model_dir / "config.json").read_bytes())
    except ValueError as error:
        raise ModelError(f"config.json in {model_dir} is damaged: {error}", hint=_HINT) from error

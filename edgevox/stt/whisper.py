"""The Whisper engine: one utterance in, one transcript out.

An utterance is cut to its speech, decoded in the shortest window that fits, and again in longer ones
where the result looks like a loop or a hallucination. Importing this module does not load CTranslate2.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from edgevox.core.errors import ModelError, ModelMissing
from edgevox.core.languages import ENGLISH
from edgevox.core.turn import CancelFlag
from edgevox.core.types import SAMPLE_RATE_HZ, Audio, TranscribeRequest, Transcript
from edgevox.engines.threads import limit_omp_spin
from edgevox.stt import decoding
from edgevox.stt.rescoring import Rescorer, TextScorer

if TYPE_CHECKING:  # the child process does without the settings: 20 MB
    from edgevox.stt.engines import SttContext


class Decoder(Protocol):
    """Implemented by WhisperDecoder and TwoModelDecoder of edgevox.stt.whisper_decoder."""

    def decode_options(self, language: str | None) -> decoding.DecodeOptions: ...

    def detect_language(
        self, samples: NDArray[np.float32], window: decoding.Window, among: Collection[str] = ()
    ) -> str: ...

    def attempt(
        self, samples: NDArray[np.float32], window: decoding.Window, *, language: str, names: Sequence[str]
    ) -> decoding.Decoding: ...

    def hypotheses(
        self, samples: NDArray[np.float32], window: decoding.Window, *, language: str, names: Sequence[str]
    ) -> Sequence[decoding.Hypothesis]: ...


class SpeechDetector(Protocol):
    """Implemented by edgevox.stt.silero_vad.SileroVad."""

    def pieces(self, audio: Audio) -> Iterable[NDArray[np.float32]]: ...


@dataclass(slots=True)
class UtteranceDecoder:
    """Transcribes one request. `language` None detects it, among `languages` if there are any."""

    request: TranscribeRequest
    gate: SpeechDetector
    decoder: Decoder
    language: str | None
    rescorer: Rescorer | None = None
    languages: tuple[str, ...] = ()
    _attempts: int = 0

    def transcript(self, cancel: CancelFlag) -> Transcript | None:
        """Transcribe; None once `cancel` is set. Raises ConfigError for an unknown language."""
        believed: list[decoding.Decoding] = []
        dropped = decoding.NO_SPEECH
        for piece in self.gate.pieces(self.request.audio):
            tried = self._try(piece, cancel)
            if cancel.is_set():
                return None
            if (best := decoding.best_decoding(tried)) is not None:
                believed.append(best)
            else:
                dropped = (
                    decoding.NO_WORDS if any(attempt.is_no_speech() for attempt in tried) else decoding.UNINTELLIGIBLE
                )
        return Transcript(
            text=" ".join(attempt.text for attempt in believed),
            language=self.language or ENGLISH,
            duration_s=self.request.audio.duration_s,
            mean_logprob=min((attempt.mean_logprob for attempt in believed), default=0.0),
            window_s=max((attempt.window_s for attempt in believed), default=0.0),
            attempts=self._attempts,
            dropped=None if believed else dropped,
            confidence=math.prod(attempt.confidence for attempt in believed),
            alternatives=believed[0].alternatives if len(believed) == 1 else (),
        )

    def _try(self, piece: NDArray[np.float32], cancel: CancelFlag) -> list[decoding.Decoding]:
        """Decode a piece of speech in increasing windows until the result is plausible."""
        tried: list[decoding.Decoding] = []
        speech_s = len(piece) / SAMPLE_RATE_HZ
        if self.language is None and not cancel.is_set():
            window = next(self.decoder.decode_options(None).windows_for(speech_s))
            self.language = self.decoder.detect_language(piece, window, self.languages)
        for window in self.decoder.decode_options(self.language).windows_for(speech_s):
            if cancel.is_set() or self.language is None:
                break
            attempt = self._attempt(piece, window, self.language, cancel)
            tried.append(attempt)
            if attempt.fault() is None:
                break
        self._attempts += len(tried)
        return tried

    def _attempt(
        self, piece: NDArray[np.float32], window: decoding.Window, language: str, cancel: CancelFlag
    ) -> decoding.Decoding:
        """Decode a piece of speech, and rescore more hypotheses if the decoder is unsure."""
        names = self.request.names
        attempt = self.decoder.attempt(piece, window, language=language, names=names).without_repetition()
        if not attempt.is_unsure() or cancel.is_set():
            return attempt
        hypotheses = self.decoder.hypotheses(piece, window, language=language, names=names)
        if self.rescorer is None or language != ENGLISH:
            return attempt.read_as(hypotheses, decoding.choose)
        rescorer = self.rescorer
        return attempt.read_as(hypotheses, lambda sane: rescorer.choose(sane, names))


_LONGEST_PIECE_S = decoding.FULL_WINDOW_S - 2.0


@dataclass(eq=False)
class WhisperEngine:
    """An Engine[TranscribeRequest, Transcript] on a folder that holds a CTranslate2 model.

    `language` is the default for requests; None detects it per utterance, among `languages` if there are any.
    `adapter` is a LoRA adapter for English; with `languages` it gets a model of its own beside the plain one. With
    `rescoring`, uncertain English utterances are rescored as home commands, with a `text_scorer` if given.
    """

    model_dir: Path
    _: KW_ONLY
    threads: int = 2
    language: str | None = None
    languages: tuple[str, ...] = ()
    beam_size: int = 1
    adapter: Path | None = None
    rescoring: bool = False
    text_scorer: TextScorer | None = None
    _rescorer: Rescorer | None = field(default=None, init=False)
    _decoder: Decoder | None = field(default=None, init=False)
    _gate: SpeechDetector | None = field(default=None, init=False)

    def load(self) -> None:
        """Load the model. Raises ModelMissing if a file is missing, ModelError if it cannot be used."""
        limit_omp_spin()
        # Imported late: the process that builds this object need not load CTranslate2.
        from edgevox.stt.silero_vad import SileroVad
        from edgevox.stt.whisper_decoder import TwoModelDecoder, WhisperDecoder

        self._gate = SileroVad(_LONGEST_PIECE_S)
        if self.rescoring:
            if self.text_scorer is not None:
                self.text_scorer.load()
            self._rescorer = Rescorer.load(text_scorer=self.text_scorer)
        load = partial(WhisperDecoder.load, self.model_dir, threads=self.threads, beam_size=self.beam_size)
        decoder = load(adapter=self.adapter)
        self._decoder = TwoModelDecoder(decoder, load()) if self.adapter and self.languages else decoder

    def run(self, request: TranscribeRequest, cancel: CancelFlag) -> Iterator[Transcript]:
        """Yield one transcript, nothing once `cancel` is set. Raises ConfigError for an unknown language."""
        if self._decoder is None or self._gate is None:
            raise ModelError("Whisper has not been loaded", hint="call load() before run()")
        language = request.language or self.language
        utterance = UtteranceDecoder(request, self._gate, self._decoder, language, self._rescorer, self.languages)
        # A window cannot be interrupted: cancellation takes effect after the current one.
        if (transcript := utterance.transcript(cancel)) is not None:
            yield transcript


def create(context: SttContext) -> WhisperEngine:
    """Raises ModelMissing if the setting names no model of Whisper."""
    if context.model is None:
        raise ModelMissing(
            f"there is no Whisper model {context.settings.model}", hint="edgevox models list shows all; set stt.model"
        )
    return WhisperEngine(
        context.model,
        threads=context.threads,
        languages=context.languages,
        adapter=context.adapter,
        rescoring=context.settings.rescoring,
        text_scorer=context.text_scorer,
    )
